//! A look at all documents of an index: when they were added, and some of them drawn by lot.

use std::collections::{BTreeMap, BinaryHeap};

use minwise::Observer;
use minwise::calendar::DAY_SECONDS;
use minwise::hash::fmix64;

use crate::error::Result;
use crate::index::Index;
use crate::progress::go_on;
use crate::store::KeyspaceName;

/// Documents between two looks at whether to go on.
const OFTEN: u64 = 1 << 12;

/// What a look at all documents found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survey {
    /// Ids of documents that were drawn, in the order in which they were added.
    pub drawn: Vec<String>,
    /// How many documents were added on which day since 1970-01-01.
    pub added: BTreeMap<u64, u64>,
}

impl Index {
    /// Counts documents by the day they were added on, and draws `draws` of them, each with the same chance. The same seed
    /// draws the same documents.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) if the observer cancels, with
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the operating system refuses something, and with
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if stored data are not what was written.
    pub fn survey(&self, draws: usize, seed: u64, observer: &dyn Observer) -> Result<Survey> {
        // Those with the least hash values of their numbers, the greatest on top.
        let mut drawn: BinaryHeap<(u64, u32, String)> = BinaryHeap::new();
        let mut added = BTreeMap::new();
        let view = self.store.view();
        let mut seen = 0;
        view.each_after(KeyspaceName::Records, None, |key, payload| {
            if seen % OFTEN == 0 {
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
