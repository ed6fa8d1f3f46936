//! Repairs of files that cannot be read and of wrong numbers in the file `acknowledged`, and interrupted
//! repairs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use fs_err as fs;
use minwise_index::{ErrorKind, FindingKind, Index, IndexSettings, NewDocument, Observer, Texts, Unobserved};
use xxhash_rust::xxh3::xxh3_64;

use crate::crash::{copy_folder, files, folder_in_memory};
use crate::support::{document, text};

/// Creates an index of 300 documents whose rows are in files of the storage engine, and returns its contents.
fn index(path: &Path, texts: Texts) -> BTreeMap<String, Vec<u64>> {
    let index = Index::create(path, &IndexSettings::default().texts(texts)).unwrap();
    let documents: Vec<NewDocument> = (0..300).map(|n| document(&format!("d{n}"), &text(n, 120))).collect();
    index.add(&documents, 7, 2).unwrap();
    index.compact(&Unobserved).unwrap();
    contents(&index)
}

/// Returns, for each id, the time of addition, the length, and the numbers of tokens and shingles of the
/// document.
fn contents(index: &Index) -> BTreeMap<String, Vec<u64>> {
    let entry = |id: &String| index.get(id).unwrap().unwrap().entry;
    let ids = index.ids().unwrap();
    let facts = |id: &String| {
        let entry = entry(id);
        vec![entry.added, entry.bytes, entry.characters, entry.tokens.into(), entry.shingles.into()]
    };
    ids.iter().map(|id| (id.clone(), facts(id))).collect()
}

fn tables(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![];
    files(&path.join("store"), &mut all);
    // The first keyspace is left out, because it describes the other keyspaces: without it, the storage
    // engine opens nothing.
    let is_ours = |folder: &Path| folder.ends_with("tables") && !folder.ends_with("keyspaces/0/tables");
    all.retain(|file| file.parent().is_some_and(is_ours));
    all.sort();
    all
}

#[test]
fn what_the_storage_engine_cannot_read_is_found_and_the_rest_is_saved() {
    for texts in [Texts::Kept, Texts::LeftOut] {
        let folder = folder_in_memory();
        let (path, copy) = (folder.path().join("index"), folder.path().join("copy"));
        let truth = index(&path, texts);
        let tables = tables(&path);
        assert!(tables.len() >= 7, "{tables:?}");
        let (mut unreadable, mut lost) = (0, 0);
        for table in &tables {
            copy_folder(&path, &copy);
            let damaged = copy.join(table.strip_prefix(&path).unwrap());
            let mut bytes = fs::read(&damaged).unwrap();
            // The byte lies in the first block of rows, with which the file begins.
            bytes[40] ^= 0x10;
            fs::write(&damaged, bytes).unwrap();
            let checked = Index::examine(&copy, &Unobserved)
                .unwrap_or_else(|error| panic!("{}: {error}", table.display()));
            assert!(checked.found() > 0, "{}", table.display());
            unreadable += checked.counts.get(&FindingKind::Unreadable).copied().unwrap_or(0);
            let repaired = Index::repair(&copy, &Unobserved).unwrap();
            assert_eq!(repaired.findings, checked.findings);
            let index = Index::open(&copy).unwrap();
            assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, [], "{}", table.display());
            let left = contents(&index);
            assert_eq!(left.len() as u64 + repaired.taken_out, 300, "{}", table.display());
            assert!(left.iter().all(|(id, facts)| truth.get(id) == Some(facts)));
            // A damaged block loses only some documents, although a file of a keyspace has rows of all
            // documents.
            assert!(repaired.taken_out < 200, "{} of {}", repaired.taken_out, table.display());
            lost += repaired.taken_out;
            assert_eq!(index.frequencies().unwrap().documents(), left.len() as u64);
        }
        assert!(unreadable >= 6 && lost > 0, "{unreadable} could not be read, {lost} lost");
    }
}

#[test]
fn a_note_that_is_damaged_or_ahead_is_a_finding_and_is_mended() {
    let note =
        |sequence: u64| [sequence.to_le_bytes(), xxh3_64(&sequence.to_le_bytes()).to_le_bytes()].concat();
    for (note, says) in [
        (
            vec![7; 16],
            "the number of the last acknowledged change cannot be read, so changes after 1 may be lost",
        ),
        (
            vec![7; 40],
            "the number of the last acknowledged change cannot be read, so changes after 1 may be lost",
        ),
        (vec![], "the number of the last acknowledged change cannot be read, so changes after 1 may be lost"),
        (
            note(9),
            "change 9 was acknowledged, but the newest change that is stored is 1: those after it are lost",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let index = Index::create(&path, &IndexSettings::default()).unwrap();
        index.add(&[document("a", &text(1, 50))], 0, 1).unwrap();
        drop(index);
        fs::write(path.join("acknowledged"), &note).unwrap();
        assert!(matches!(Index::open(&path).unwrap_err().kind(), ErrorKind::Damaged { .. }));
        let checked = Index::examine(&path, &Unobserved).unwrap();
        assert_eq!(checked.counts, [(FindingKind::Acknowledged, 1)].into());
        assert!(checked.findings[0].what.starts_with(says), "{:?}", checked.findings);
        assert!(Index::open(&path).is_err(), "looking at it mends nothing");
        assert_eq!(Index::repair(&path, &Unobserved).unwrap(), checked);
        let index = Index::open(&path).unwrap();
        assert_eq!(index.ids().unwrap(), ["a"]);
        assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
    }
}

// The store has lost its newest changes and is damaged, too. Changes of the repaired store must get higher
// numbers than the lost changes, or an index would take them for the lost changes.
#[test]
fn a_repair_counts_on_behind_what_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let index = Index::create(&path, &IndexSettings::default()).unwrap();
    index.add(&[document("a", &text(1, 50)), document("b", &text(2, 50))], 0, 1).unwrap();
    index.damage_for_tests("b");
    drop(index);
    let noted = 1000u64.to_le_bytes();
    fs::write(path.join("acknowledged"), [noted, xxh3_64(&noted).to_le_bytes()].concat()).unwrap();
    let repaired = Index::repair(&path, &Unobserved).unwrap();
    assert_eq!((repaired.counts.len(), repaired.taken_out), (2, 1));
    let index = Index::open(&path).unwrap();
    assert_eq!(index.ids().unwrap(), ["a"]);
    assert!(index.statistics().unwrap().changes > 1000);
}

/// Observer that cancels after a given number of questions.
struct Patience(AtomicU64);

impl Observer for Patience {
    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 0
    }
}

#[test]
fn a_repair_that_is_interrupted_has_changed_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let index = Index::create(&path, &IndexSettings::default()).unwrap();
    let documents: Vec<NewDocument> = (0..30).map(|n| document(&format!("d{n}"), &text(n, 50))).collect();
    index.add(&documents, 0, 2).unwrap();
    index.damage_for_tests("d7");
    let before = index.check_integrity(&Unobserved).unwrap();
    drop(index);
    // The check asks the observer once per document and once per row, and the repair asks once more per
    // document.
    let asked = before.documents + before.rows;
    for patience in [0, asked - 1, asked, asked + 12, asked + 29] {
        let error = Index::repair(&path, &Patience(AtomicU64::new(patience))).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Interrupted), "{patience}: {error}");
        let index = Index::open(&path).unwrap();
        assert_eq!(index.check_integrity(&Unobserved).unwrap(), before, "{patience}");
        assert!(!path.join("repair").exists());
    }
    assert_eq!(Index::repair(&path, &Unobserved).unwrap().taken_out, 1);
    assert_eq!(Index::open(&path).unwrap().check_integrity(&Unobserved).unwrap().found(), 0);
}

/// If a rewrite fails, the index is unchanged. A rewrite copies damaged documents, so that a check still lists them.
#[test]
fn an_index_that_is_rewritten_has_the_same_documents_and_nothing_else() {
    for texts in [Texts::Kept, Texts::LeftOut] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let index = Index::create(&path, &IndexSettings::default().texts(texts)).unwrap();
        let documents: Vec<NewDocument> = (0..30).map(|n| document(&format!("d{n}"), &text(n, 50))).collect();
        index.add(&documents, 7, 2).unwrap();
        index.remove(&["d3", "d29"]).unwrap();
        let (truth, before) = (contents(&index), index.statistics().unwrap());
        let error = index.rewrite(&Patience(AtomicU64::new(12))).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Interrupted), "{error}");
        let index = Index::open(&path).unwrap();
        assert_eq!((contents(&index), index.statistics().unwrap().removed), (truth.clone(), 2));
        index.rewrite(&Unobserved).unwrap();
        let index = Index::open(&path).unwrap();
        let after = index.statistics().unwrap();
        assert_eq!((contents(&index), after.removed), (truth, 0));
        assert!(
            after.disk_bytes < before.disk_bytes && after.changes > before.changes,
            "{after:?} {before:?}"
        );
        assert_eq!(index.check_integrity(&Unobserved).unwrap().found(), 0);
        if texts == Texts::Kept {
            index.damage_for_tests("d7");
            index.remove(&["d8"]).unwrap();
            index.rewrite(&Unobserved).unwrap();
            let index = Index::open(&path).unwrap();
            assert_eq!(index.ids().unwrap().len(), 27);
            let findings = index.check_integrity(&Unobserved).unwrap().findings;
            assert!(
                matches!(&findings[..], [finding] if finding.id.as_deref() == Some("d7")),
                "{findings:?}"
            );
        }
    }
}

/// Documents are added in several changes, then replaced and removed. Compaction in place copied the journal to files
/// and kept it, so that an index of 8,000 documents grew by a third.
#[test]
fn a_rewrite_never_makes_an_index_larger() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let mut index = Index::create(&path, &IndexSettings::default()).unwrap();
    let first: Vec<NewDocument> = (0..3000).map(|n| document(&format!("d{n}"), &text(n, 60))).collect();
    let changed: Vec<NewDocument> =
        (0..900).map(|n| document(&format!("d{n}"), &text(n + 7000, 60))).collect();
    let rewritten = |index: Index| {
        let before = (contents(&index), index.statistics().unwrap());
        index.rewrite(&Unobserved).unwrap();
        let index = Index::open(&path).unwrap();
        let after = index.statistics().unwrap();
        assert_eq!((contents(&index), after.removed), (before.0, 0));
        assert!(after.disk_bytes <= before.1.disk_bytes, "{after:?}, {:?} before", before.1);
        assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
        (index, after.disk_bytes)
    };
    for part in first.chunks(1000) {
        index.add(part, 7, 2).unwrap();
    }
    let (once, size) = rewritten(index);
    let changes = once.statistics().unwrap().changes;
    let (twice, same) = rewritten(once);
    assert_eq!((same, twice.statistics().unwrap().changes), (size, changes), "nothing was left to do");
    index = twice;
    for part in changed.chunks(300) {
        index.add(part, 8, 2).unwrap();
    }
    index.remove(&["d5", "d2999"]).unwrap();
    let (index, _) = rewritten(index);
    let (index, _) = rewritten(index);
    assert_eq!(index.frequencies().unwrap().documents(), 2998);
    drop(index);
    let mut all = vec![];
    files(&path, &mut all);
    let journals = all.iter().filter(|file| file.extension().is_some_and(|extension| extension == "jnl"));
    let written = |file: &PathBuf| fs::read(file).unwrap().iter().rposition(|byte| *byte != 0).unwrap_or(0);
    assert!(journals.map(written).sum::<usize>() < 1 << 16, "the journal is almost empty");
}
