//! Size and opening time of an archive. `cargo x bench` measures both with a million documents.

use std::path::Path;
use std::time::Instant;

use minwise_index::{Index, NewDocument, Unobserved};

use crate::crash::files;
use crate::support::{create, document, text};

/// Number of documents, each of about 2 kB.
const DOCUMENTS: u64 = 5000;

#[test]
fn an_archive_takes_little_more_than_its_texts_and_is_open_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let all: Vec<NewDocument> = (0..DOCUMENTS).map(|n| document(&format!("d{n}"), &text(n, 420))).collect();
    // All documents are added in one change, because `index add` would also write these 5,000 documents in
    // one change.
    let begun = Instant::now();
    index.add(&all, 0, 2).unwrap();
    let added = begun.elapsed();
    index.compact(&Unobserved).unwrap();
    let path = index.path().to_owned();
    drop(index);
    // The fastest of five openings counts, because other work on the machine only makes an opening slower.
    let open = |_| {
        let begun = Instant::now();
        Index::open(&path).unwrap();
        begun.elapsed()
    };
    let opened = (0..5).map(open).min().unwrap();
    let index = Index::open(&path).unwrap();
    let statistics = index.statistics().unwrap();
    assert_eq!(statistics.documents, DOCUMENTS);
    assert!((1900..2200).contains(&(statistics.text_bytes / DOCUMENTS)), "{statistics:?}");
    // The journal of the engine has the newest changes a second time, at most 64 MB for archives of any size.
    let (journal, rest): (Vec<_>, Vec<_>) = {
        let mut all = vec![];
        files(&path, &mut all);
        all.into_iter().partition(|file| file.extension().is_some_and(|extension| extension == "jnl"))
    };
    let bytes = |files: &[std::path::PathBuf]| files.iter().map(|file| length(file)).sum::<u64>();
    let most = 3 * statistics.stored_text_bytes / 2 + 1024 * DOCUMENTS;
    assert!(bytes(&rest) < most, "{statistics:?}, {most} allowed");
    assert!(bytes(&journal) <= 64 << 20, "{}", bytes(&journal));
    // The limit is the time of adding, because both depend on how busy the machine is. If opening read all
    // texts, it would take as long as adding. Opening takes a third of that time, most of it for the journal.
    assert!(opened < added, "opened in {opened:?}, added in {added:?}");
}

fn length(file: &Path) -> u64 {
    fs_err::metadata(file).unwrap().len()
}
