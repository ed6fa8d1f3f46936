//! Small indexes and texts for the tests.

use std::path::Path;

use minwise::hash::SplitMix64;
use minwise_index::{Index, IndexSettings, NewDocument};

/// Returns a text of `words` words from a vocabulary of 700.
pub fn text(seed: u64, words: usize) -> String {
    let mut random = SplitMix64::new(seed);
    let word = |number: u64| format!("w{}", number % 700);
    (0..words).map(|_| word(random.next_u64())).collect::<Vec<_>>().join(" ")
}

pub fn document(id: &str, text: &str) -> NewDocument {
    NewDocument::new(id, text)
}

/// Creates a new index in a folder.
pub fn create(folder: &Path) -> Index {
    Index::create(folder.join("index"), &IndexSettings::default()).unwrap()
}

/// Closes an index and opens it again.
pub fn reopened(index: Index) -> Index {
    let path = index.path().to_owned();
    drop(index);
    Index::open(&path).unwrap()
}
