//! Removes documents from an index.

use crate::acknowledge::PendingCounts;
use crate::error::{ErrorKind, Result};
use crate::index::Index;
use crate::store::{Change, IndexCounts, KeyspaceName, View};

impl Index {
    /// Removes all documents with these ids, or none of them if an error occurs. Returns the number of
    /// removed documents once the change is on disk.
    ///
    /// [`rewrite`](Index::rewrite) deletes the data of removed documents from all files.
    /// [`compact`](Index::compact) deletes these data from all files except the journal of the storage
    /// engine. The journal begins anew after 64 MB.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::NoSuchDocument`] if one of the ids belongs to no document.
    /// - Fails with [`ErrorKind::DiskFull`] if the disk is full.
    /// - Fails with [`ErrorKind::Io`] if something cannot be written for another reason.
    /// - Fails with [`ErrorKind::Stopped`] if an earlier write failed.
    /// - Fails with [`ErrorKind::Damaged`] if stored data are damaged.
    ///
    /// After an error, the index is unchanged.
    pub fn remove(&self, ids: &[&str]) -> Result<u64> {
        let mut writer = self.write();
        let view = self.store.view();
        let mut change = self.store.change();
        let mut state = writer.state;
        state.sequence += 1;
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        for id in &ids {
            let Some(number) = self.number(&view, id)? else {
                return Err(ErrorKind::NoSuchDocument { id: (*id).to_owned() }.into());
            };
            change.remove(KeyspaceName::Ids, id.as_bytes());
            self.drop_rows(&view, &mut change, &mut state, number)?;
        }
        if !ids.is_empty() {
            self.acknowledge(&mut writer, change, state, PendingCounts::Same)?;
        }
        Ok(ids.len() as u64)
    }

    /// Removes the rows of a document except its id and its postings. Look-ups ignore the postings, because
    /// their document has no record.
    pub(crate) fn drop_rows(
        &self,
        view: &View<'_>,
        change: &mut Change<'_>,
        state: &mut IndexCounts,
        number: u32,
    ) -> Result<()> {
        let key = number.to_be_bytes();
        let Some(record) = self.record(view, number)? else {
            return Err(self.damaged(format!("document number {number} has an id and no record")));
        };
        let stored = view.get(KeyspaceName::Texts, &key)?.map_or(0, |text| text.len());
        for space in [KeyspaceName::Records, KeyspaceName::Texts, KeyspaceName::Sketches, KeyspaceName::Sets]
        {
            change.remove(space, &key);
        }
        state.removed += 1;
        state.documents = state.documents.saturating_sub(1);
        state.text_bytes = state.text_bytes.saturating_sub(record.bytes);
        state.stored_bytes = state.stored_bytes.saturating_sub(stored as u64);
        state.shingles = state.shingles.saturating_sub(u64::from(record.shingles));
        Ok(())
    }
}
