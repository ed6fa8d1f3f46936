//! Acknowledgement of changes. All changes except the merges of a compaction go through
//! [`Index::acknowledge`], because the order of its steps decides which data survive a crash.
//!
//! 1. The change and the counters are synced to disk together. If this write fails, the index is unchanged.
//! 2. The counters in memory get the values of the change, even if the next step fails, because the store
//!    already has the change.
//! 3. The number of the change is written to the file `acknowledged`, outside of the store. This number is
//!    never ahead of the store, because an index with a number ahead of its store reports that acknowledged
//!    changes are lost.

use crate::error::Result;
use crate::index::{Index, PendingSets, WriteState};
use crate::store::{Change, IndexCounts};

/// Effect of a change on the pending sets, which the table of frequencies does not count yet.
pub(crate) enum PendingCounts {
    /// The pending sets do not change.
    Same,
    /// The change appends these sets.
    More(Vec<Vec<u64>>),
    /// The pending sets are dropped from memory. The next count reads the sets of uncounted documents from the
    /// store.
    Dropped,
}

impl Index {
    /// Commits a change, and returns once the change is on disk and acknowledged.
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
            PendingCounts::More(sets) => writer.pending.sets.extend(sets),
            PendingCounts::Dropped => writer.pending = PendingSets::from(state.next),
        }
        self.folder.acknowledge(state.sequence)
    }
}

#[cfg(test)]
mod tests {
    use crate::index::PendingSets;
    use crate::{Index, IndexSettings, NewDocument, Unobserved};

    fn document(id: &str) -> NewDocument {
        let text = format!("the words of a document that is called {id} and nothing else");
        NewDocument { id: id.to_owned(), text, ..NewDocument::default() }
    }

    // The disk accepts a change, but the write of its number to the file `acknowledged` fails.
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
        assert_eq!(
            index.write().pending,
            PendingSets::from(2),
            "those that were counted are not counted again"
        );
        index.add(&[document("c")], 0, 1).unwrap_err();
        assert_eq!(index.write().pending.shingles(), 8, "shingles of five of its twelve words");
        assert_eq!(index.frequencies().unwrap().documents(), 2);
        drop(index);
        // No change was acknowledged, but the store has every change.
        let index = Index::open(&path).unwrap();
        assert_eq!(index.ids().unwrap(), ["b", "c"]);
        assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
    }
}
