//! Acknowledgement of a change. All changes come here, because the order of the steps decides what a crash leaves.
//!
//! 1. The change and the counters are synced to disk together. If that fails, the index is unchanged.
//! 2. The counters in memory become those of the change, even if the next step fails, because the change is in the store.
//! 3. The number of the change is written outside of the store. This number is never ahead of the store, because an index that finds it
//!    ahead reports that acknowledged changes are lost.

use crate::error::Result;
use crate::index::{Index, WriteState};
use crate::store::{Change, IndexCounts};

/// The effect of a change on the shingles that are not in the table of frequencies yet.
pub(crate) enum PendingCounts {
    /// The shingles stay.
    Same,
    /// These shingles are appended.
    More(Vec<u64>),
    /// The shingles are dropped from memory. Those of documents that are not counted are read again when they are needed.
    Dropped,
}

impl Index {
    /// Commits a change. When this returns, the change is on disk and acknowledged.
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
