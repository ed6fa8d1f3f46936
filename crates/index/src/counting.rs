//! Document frequencies of shingles.
//!
//! The table on disk counts the documents with numbers below `IndexCounts::counted`. [`Index::frequencies`]
//! counts later documents on demand, and caches the result until the next change.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use crate::error::Result;
use crate::frequencies::CommonFrequencies;
use crate::index::Index;
use crate::sets::SetReader;
use crate::store::{KeyspaceName, View};

impl Index {
    /// Returns the document frequencies of common shingles. Rare shingles are not counted.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the operating system reports an error, and with
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if stored data are damaged.
    pub fn frequencies(&self) -> Result<Arc<CommonFrequencies>> {
        let view = self.store.view();
        let state = view.state()?;
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((sequence, table)) = &*counted
            && *sequence == state.sequence
        {
            return Ok(Arc::clone(table));
        }
        let table = self.stored_frequencies(&view)?;
        let (documents, shingles) = self.shingles_from(&view, state.counted, state.next)?;
        let table = Arc::new(if documents == 0 { table } else { table.with(documents, shingles) });
        *counted = Some((state.sequence, Arc::clone(&table)));
        Ok(table)
    }

    pub(crate) fn stored_frequencies(&self, view: &View<'_>) -> Result<CommonFrequencies> {
        let mut parts: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        view.each(KeyspaceName::Frequencies, b"", |key, part| {
            parts.insert(key.to_vec(), part.to_vec());
            Ok(true)
        })?;
        CommonFrequencies::from_parts(parts.values().map(Vec::as_slice))
            .ok_or_else(|| self.damaged("the table of frequencies cannot be read"))
    }

    /// Counts the documents from number `first` to `end`, exclusive, and returns the count with the distinct
    /// shingles of each document.
    pub(crate) fn shingles_from(&self, view: &View<'_>, first: u32, end: u32) -> Result<(u64, Vec<u64>)> {
        let (mut documents, mut all) = (0, vec![]);
        let mut reader = SetReader::new(self, view);
        for number in first..end {
            if let Some(record) = self.record(view, number)? {
                documents += 1;
                all.extend_from_slice(reader.read(number, &record)?.as_slice());
            }
        }
        Ok((documents, all))
    }
}
