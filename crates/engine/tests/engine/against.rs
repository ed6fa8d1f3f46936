//! Tests of inputs that are compared with references, against brute force.

use std::collections::BTreeSet;

use minwise::cluster::Clustering;
use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::Unobserved;
use minwise_engine::stages::{dedup, read};
use minwise_engine::{Decided, Removed};

use crate::oracle::{Oracle, corpus};
use crate::support::settings;

/// Returns the removed documents by brute force. Stars take the first `references` documents as kept. Components
/// connect two references only through inputs.
fn expected(oracle: &Oracle, references: usize, order: &[usize], cluster: Clustering) -> Vec<Removed> {
    match cluster {
        Clustering::Star => {
            let mut kept: Vec<usize> = (0..references).collect();
            let mut removed = vec![];
            for &document in order {
                let similar = kept.iter().map(|&of| (of, oracle.jaccard(document, of)));
                let best = similar.filter(|pair| pair.1 >= 0.5).reduce(|a, b| if b.1 > a.1 { b } else { a });
                match best {
                    Some((of, similarity)) => {
                        removed.push(Removed::new(document as u32, of as u32, similarity));
                    }
                    None => kept.push(document),
                }
            }
            removed.sort_by_key(|one| one.document);
            removed
        }
        Clustering::Components => {
            let everyone: Vec<usize> = (0..references).chain(order.iter().copied()).collect();
            let pairs = oracle.pairs(0.5);
            // Equal documents count as one document. An input that equals a reference stands for that reference, and
            // must not connect it with others.
            let stands_for: Vec<usize> = (0..everyone.len())
                .map(|document| {
                    (0..document).find(|&other| oracle.are_equal(other, document)).unwrap_or(document)
                })
                .collect();
            let joined = |&&(a, b, _): &&(u32, u32, f64)| {
                let [a, b] = [a, b].map(|document| stands_for[document as usize]);
                a == b || a.max(b) >= references
            };
            let mut first: Vec<usize> = vec![usize::MAX; everyone.len()];
            for &keeper in &everyone {
                let mut todo = vec![keeper];
                while let Some(document) = todo.pop() {
                    if first[document] != usize::MAX {
                        continue;
                    }
                    first[document] = keeper;
                    for &(a, b, _) in pairs.iter().filter(joined) {
                        let (a, b) = (a as usize, b as usize);
                        todo.extend(
                            [(a, b), (b, a)].iter().filter(|pair| pair.0 == document).map(|pair| pair.1),
                        );
                    }
                }
            }
            (references..everyone.len())
                .filter(|&document| first[document] != document)
                .map(|document| {
                    let similarity = oracle.jaccard(document, first[document]);
                    Removed::new(document as u32, first[document] as u32, similarity)
                })
                .collect()
        }
        other => panic!("the oracle does not know {other}"),
    }
}

#[test]
fn inputs_go_for_references_and_references_stay() {
    let texts = corpus(11);
    let oracle = Oracle::new(&texts, 3);
    let folder = tempfile::tempdir().unwrap();
    let line = |text: &String| format!("{}\n", serde_json::json!({ "text": text }));
    for references in [0, 150, 400] {
        let paths = ["ref.jsonl", "in.jsonl"].map(|name| folder.path().join(name));
        fs_err::write(&paths[0], texts[..references].iter().map(line).collect::<String>()).unwrap();
        fs_err::write(&paths[1], texts[references..].iter().map(line).collect::<String>()).unwrap();
        let [reference, input] = paths.map(|path| [path.into()]);
        let corpus = Corpus::open_against(&reference, &input, &ReadOptions::default(), &Unobserved).unwrap();
        for cluster in [Clustering::Star, Clustering::Components] {
            for keep in ["first", "last"] {
                let mut settings = settings("words:3", 0.5, 160, 3);
                (settings.keep, settings.cluster) = (Some(keep.parse().unwrap()), cluster);
                let mut order: Vec<usize> = (references..texts.len()).collect();
                if keep == "last" {
                    order.reverse();
                }
                let expected = expected(&oracle, references, &order, cluster);
                for threads in [1, 3] {
                    settings.threads = Some(threads);
                    let reading = read(&corpus, &settings.plan().unwrap().reading(), &Unobserved).unwrap();
                    assert_eq!(reading.references as usize, references);
                    let mut told = BTreeSet::new();
                    let tell = |decided: Decided| told.extend(decided.removed);
                    let decisions =
                        dedup(&corpus, &reading, &settings.plan().unwrap(), &Unobserved, tell).unwrap();
                    assert_eq!(decisions.removed, expected, "{cluster} {keep} {references}");
                    assert_eq!(told, expected.iter().map(|one| one.document).collect());
                }
            }
        }
    }
}
