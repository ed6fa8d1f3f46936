//! Tests of clusters that are spared because they have more documents than `max_cluster`.

use std::collections::BTreeMap;

use minwise::cluster::Clustering;
use minwise_corpus::Overwrite;
use minwise_engine::Removed;
use minwise_engine::output::Findings;
use minwise_engine::report::{Extras, Report, Summary};
use minwise_engine::stages::dedup;
use minwise_engine::{Error, ErrorKind, Observer, RunSettings, Unobserved};

use crate::oracle::{Oracle, corpus};
use crate::support::{Documents, settings};

/// Divides the documents that brute force removes by the size of their clusters: at most `most` documents, and more.
fn divided(removed: Vec<Removed>, most: u64) -> (Vec<Removed>, Vec<Removed>) {
    let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
    for one in &removed {
        *sizes.entry(one.of).or_insert(1) += 1;
    }
    removed.into_iter().partition(|one| sizes[&one.of] <= most)
}

#[test]
fn larger_clusters_are_spared_and_nothing_else_changes() {
    let texts = corpus(9);
    let oracle = Oracle::new(&texts, 3);
    let documents = Documents::new(&texts);
    for cluster in [Clustering::Star, Clustering::Components] {
        for keep in ["first", "longest"] {
            let mut settings = settings("words:3", 0.5, 160, 3);
            (settings.keep, settings.cluster) = (Some(keep.parse().unwrap()), cluster);
            let unbounded = documents.dedup(&settings);
            for most in [1, 2, 4, 7, 1000] {
                let (expected, spared) =
                    divided(oracle.decide(0.5, settings.plan().unwrap().keep(), cluster), most);
                settings.max_cluster = Some(most);
                let mut told = vec![];
                let reading = documents.read(&settings);
                let tell = |decided: minwise_engine::Decided| told.extend(decided.removed);
                let decisions =
                    dedup(&documents.corpus, &reading, &settings.plan().unwrap(), &Unobserved, tell).unwrap();
                assert_eq!(decisions.removed, expected, "{cluster} {keep} {most}");
                assert_eq!(decisions.spared, spared);
                told.sort_unstable();
                assert_eq!(told, expected.iter().map(|one| one.document).collect::<Vec<_>>());
                let keepers: std::collections::BTreeSet<u32> = spared.iter().map(|one| one.of).collect();
                assert_eq!(decisions.large_clusters, keepers.len() as u64);
                assert_eq!(
                    decisions.verification.expected_recall.value(),
                    unbounded.verification.expected_recall.value()
                );
            }
        }
    }
}

/// Writes the report of a run, and returns the content of `large-clusters.jsonl`.
fn large_clusters(
    documents: &Documents,
    settings: &RunSettings,
    observer: &dyn Observer,
) -> Result<String, Error> {
    let folder = tempfile::tempdir().unwrap();
    let plan = settings.plan()?;
    let (reading, decisions) = (documents.read_by(&plan), documents.dedup_by(&plan));
    let summary = Summary::new(&documents.corpus, &reading, &decisions, &plan);
    let mut report = Report::create(folder.path(), Overwrite::Refuse).unwrap();
    let extras = Extras::default();
    let findings = Findings::new(&documents.corpus, &reading, &decisions, &plan, &summary);
    report.write(&findings, &extras, observer)?;
    report.finish().unwrap();
    Ok(fs_err::read_to_string(folder.path().join("large-clusters.jsonl")).unwrap())
}

#[test]
fn they_are_listed_the_same_by_any_number_of_threads() {
    let documents = Documents::new(corpus(9));
    let settings = settings("words:3", 0.5, 160, 3).max_cluster(1);
    let lines =
        |threads| large_clusters(&documents, &settings.clone().threads(threads), &Unobserved).unwrap();
    let one = lines(1);
    assert!(one.lines().count() > 10 && one.contains("\"passages\":[{"), "{one}");
    assert_eq!(lines(5), one);
}

#[test]
fn all_their_members_are_listed() {
    let words = |n: usize| (0..60).map(move |at| if at == 30 { format!("n{n}") } else { format!("w{at}") });
    let documents = Documents::new((0..1500).map(|n| words(n).collect::<Vec<_>>().join(" ")));
    let settings = settings("words:3", 0.8, 16, 6).max_cluster(1000);
    let lines = large_clusters(&documents, &settings, &Unobserved).unwrap();
    let line: serde_json::Value = serde_json::from_str(lines.trim_end()).unwrap();
    assert_eq!((line["members"].as_array().unwrap().len(), line["size"].as_u64()), (1499, Some(1500)));
}

/// Observer that cancels from the beginning.
struct Impatient;

impl Observer for Impatient {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn listing_them_can_be_interrupted() {
    let documents = Documents::new(corpus(9));
    let settings = settings("words:3", 0.5, 160, 3).max_cluster(1);
    let error = large_clusters(&documents, &settings, &Impatient).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
}
