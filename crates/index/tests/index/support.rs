//! Small indexes and texts for them.

use std::path::Path;

use minwise::hash::SplitMix64;
use minwise_index::{Index, IndexSettings, NewDocument};

/// A text of so many words, of a few hundred there are.
pub fn text(seed: u64, words: usize) -> String {
    let mut random = SplitMix64::new(seed);
    let word = |number: u64| format!("w{}", number % 700);
    (0..words).map(|_| word(random.next_u64())).collect::<Vec<_>>().join(" ")
}

pub fn document(id: &str, text: &str) -> NewDocument {
    NewDocument::new(id, text)
}

/// A new index in a folder.
pub fn create(folder: &Path) -> Index {
    Index::create(folder.join("index"), &IndexSettings::default()).unwrap()
}

/// The same index, opened again.
pub fn reopened(index: Index) -> Index {
    let path = index.path().to_owned();
    drop(index);
    Index::open(&path).unwrap()
}
