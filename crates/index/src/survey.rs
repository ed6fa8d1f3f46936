//! Survey: a pass over all documents of an index that counts them by day and draws a sample.

use std::collections::{BTreeMap, BinaryHeap};

use minwise::Observer;
use minwise::calendar::DAY_SECONDS;
use minwise::hash::fmix64;

use crate::error::Result;
use crate::index::Index;
use crate::progress::go_on;
use crate::store::KeyspaceName;

/// Number of documents between two checks whether the observer has cancelled.
const OBSERVED_EVERY: u64 = 1 << 12;

/// The result of a survey.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survey {
    /// The ids of the drawn documents, in the order in which they were added.
    pub drawn: Vec<String>,
    /// Number of documents per day on which they were added. Days count from 1970-01-01.
    pub added: BTreeMap<u64, u64>,
}

impl Index {
    /// Counts documents by the day on which they were added, and draws a sample of `draws` documents, in
    /// which every document is with equal probability. Two surveys of the same documents with the same seed
    /// draw the same sample.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) if the observer cancels, with
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the operating system reports an error, and with
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if stored data are damaged.
    pub fn survey(&self, draws: usize, seed: u64, observer: &dyn Observer) -> Result<Survey> {
        // The sample has the documents whose numbers have the lowest hash values. The highest of these values
        // is on top of the heap, so that a lower value can replace it.
        let mut drawn: BinaryHeap<(u64, u32, String)> = BinaryHeap::new();
        let mut added = BTreeMap::new();
        let view = self.store.view();
        let mut seen = 0;
        view.each_after(KeyspaceName::Records, None, |key, payload| {
            if seen % OBSERVED_EVERY == 0 {
                go_on(observer)?;
            }
            seen += 1;
            let number = self.number_of(key)?;
            let record = self.decoded(payload)?;
            *added.entry(record.added / DAY_SECONDS).or_insert(0) += 1;
            let lot = fmix64(u64::from(number) ^ fmix64(seed));
            if drawn.len() < draws {
                drawn.push((lot, number, record.id));
            } else if let Some(mut greatest) = drawn.peek_mut()
                && lot < greatest.0
            {
                *greatest = (lot, number, record.id);
            }
            Ok(true)
        })?;
        let mut drawn = drawn.into_vec();
        drawn.sort_unstable_by_key(|(_, number, _)| *number);
        Ok(Survey { drawn: drawn.into_iter().map(|(.., id)| id).collect(), added })
    }
}
