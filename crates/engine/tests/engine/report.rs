//! Tests of the lists of a report.

use minwise_corpus::Overwrite;
use minwise_engine::Unobserved;
use minwise_engine::output::Findings;
use minwise_engine::report::{Extras, Report, Summary};

use crate::support::{Documents, settings};

/// Several threads write a list in blocks of 4,096 documents. Neither the threads nor the ends of the blocks show, also
/// if a cluster has members in several blocks.
#[test]
fn lists_are_the_same_with_any_number_of_threads() {
    let text = |number: u32| match number {
        0..6000 => "one text of a large cluster".to_owned(),
        _ => format!("the text number {} of three copies", number % 1700),
    };
    let texts: Vec<String> = (0..11_100).map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let documents = Documents::new(&texts);
    let mut one = None;
    for threads in [1, 2, 7] {
        let settings = settings("words:3", 0.9, 160, 3).threads(threads);
        let plan = settings.plan().unwrap();
        let (reading, decisions) = (documents.read_by(&plan), documents.dedup_by(&plan));
        assert_eq!(decisions.removed.len(), 5999 + 3400);
        let summary = Summary::new(&documents.corpus, &reading, &decisions, &plan);
        let folder = tempfile::tempdir().unwrap();
        let mut report = Report::create(folder.path(), Overwrite::Refuse).unwrap();
        let findings = Findings::new(&documents.corpus, &reading, &decisions, &plan, &summary);
        report.write(&findings, &Extras::default(), &Unobserved).unwrap();
        report.finish().unwrap();
        let files = Report::FILES.map(|name| fs_err::read_to_string(folder.path().join(name)).unwrap());
        let [_, _, pairs, clusters, ..] = &files;
        let id = |document: u32| reading.documents.id(document, &documents.corpus).unwrap().into_owned();
        let expected: Vec<String> = decisions
            .removed
            .iter()
            .map(|one| format!("{}\t{}\t{:.6}\n", id(one.document), id(one.of), one.similarity))
            .collect();
        assert!(*pairs == expected.concat());
        let mut by_keeper = decisions.removed.clone();
        by_keeper.sort_by_key(|one| (one.of, one.document));
        let of_clusters = by_keeper.chunk_by(|a, b| a.of == b.of).map(|cluster| {
            let member = |one: &minwise_engine::Removed| serde_json::json!({"id": id(one.document), "similarity": one.similarity});
            let members: Vec<serde_json::Value> = cluster.iter().map(member).collect();
            serde_json::json!({"cluster": id(cluster[0].of), "size": cluster.len() + 1, "members": members})
        });
        let lines = clusters.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        assert!(lines.eq(of_clusters));
        assert!(*one.get_or_insert_with(|| files.clone()) == files, "{threads} threads");
    }
}
