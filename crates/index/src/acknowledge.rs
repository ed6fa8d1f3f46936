//! How a change becomes one that was acknowledged: in one place, because the order is what a crash leaves behind.
//!
//! 1. The change and the counters go to disk together. If that fails, nothing has happened.
//! 2. Whoever writes next goes on from there. It has to, even if the next step fails: the change is in the store.
//! 3. The number of the change is noted outside of the store. A note is never ahead of the store, because an index with one
//!    that is has lost what it acknowledged.

use crate::error::Result;
use crate::index::{Index, WriteState};
use crate::store::{Change, IndexCounts};

/// What becomes of the shingles that are not in the frequencies yet.
pub(crate) enum PendingCounts {
    /// They stay.
    Same,
    /// These join them.
    More(Vec<u64>),
    /// They are not held any more: those of documents that are not counted are read when they are needed.
    Dropped,
}

impl Index {
    /// Makes a change, and returns when it is on disk and acknowledged.
    pub(crate) fn acknowledge(
        &self,
        writer: &mut WriteState,
        change: Change<'_>,
        state: IndexCounts,
        pending: PendingCounts,
    ) -> Result<()> {
        change.commit(&state)?;
        writer.state = state;
        match pending {
            PendingCounts::Same => {}
            PendingCounts::More(shingles) => writer.pending.1.extend(shingles),
            PendingCounts::Dropped => writer.pending = (state.next, vec![]),
        }
        self.folder.acknowledge(state.sequence)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Index, IndexSettings, NewDocument, Unobserved};

    fn document(id: &str) -> NewDocument {
        let text = format!("the words of a document that is called {id} and nothing else");
        NewDocument { id: id.to_owned(), text, ..NewDocument::default() }
    }

    // A disk that takes a change and not the note of it.
    #[test]
    fn what_writes_next_goes_on_from_what_is_in_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        let mut index = Index::create(&path, &IndexSettings::default()).unwrap();
        index.folder.refuse_notes();
        index.add(&[document("a"), document("b")], 0, 1).unwrap_err();
        index.remove(&["a"]).unwrap_err();
        index.compact(&Unobserved).unwrap_err();
        let state = index.store.view().state().unwrap();
        assert_eq!(index.write().state, state);
        assert_eq!((state.documents, state.next, state.counted), (1, 2, 2));
        assert_eq!(index.write().pending, (2, vec![]), "those that were counted are not counted again");
        index.add(&[document("c")], 0, 1).unwrap_err();
        assert_eq!(index.write().pending.1.len(), 8, "shingles of five of its twelve words");
        assert_eq!(index.frequencies().unwrap().documents(), 2);
        drop(index);
        // None of them was acknowledged, and all of them are there.
        let index = Index::open(&path).unwrap();
        assert_eq!(index.ids().unwrap(), ["b", "c"]);
        assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
    }
}
