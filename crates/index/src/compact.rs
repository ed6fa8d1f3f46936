//! Compaction: merges the rows of postings of many changes, and removes the data of removed documents from the files.

use minwise::{Observer, Stage};

use crate::acknowledge::PendingCounts;
use crate::error::Result;
use crate::frequencies::{CommonFrequencies, WINDOW};
use crate::index::Index;
use crate::postings::{self, PREFIXES, Posting, PostingRow};
use crate::progress::{Reached, go_on};
use crate::sets::SetReader;
use crate::store::{Change, IndexCounts, KeyspaceName, View};

/// Number of prefixes of postings that are merged per change. Other threads may write between two changes.
const PREFIXES_PER_CHANGE: u32 = 1 << 10;

/// The set of existing documents.
pub(crate) struct Live {
    bits: Vec<u64>,
    /// First number after the set. Documents from `end` on were added later and count as existing.
    end: u32,
}

impl Live {
    /// Returns a set without any document below `end`.
    pub(crate) fn none(end: u32) -> Self {
        Self { bits: vec![0; end.div_ceil(64) as usize], end }
    }

    pub(crate) fn add(&mut self, number: u32) {
        if let Some(bits) = self.bits.get_mut(number as usize / 64) {
            *bits |= 1 << (number % 64);
        }
    }

    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        number >= self.end
            || self.bits.get(number as usize / 64).is_some_and(|bits| bits >> (number % 64) & 1 == 1)
    }
}

impl Index {
    pub(crate) fn live(&self) -> Result<Live> {
        let view = self.store.view();
        let mut live = Live::none(view.state()?.next);
        view.each_after(KeyspaceName::Records, None, |key, _| {
            live.add(self.number_of(key)?);
            Ok(true)
        })?;
        Ok(live)
    }

    /// Merges the posting rows of many changes, and drops the postings of removed documents. If documents
    /// were removed, `compact` also counts the document frequencies again.
    ///
    /// The journal of the storage engine, of up to 64 MB, stays and can hold data of removed documents.
    /// [`rewrite`](Self::rewrite) leaves neither, but closes the index.
    ///
    /// Other threads can check texts during a compaction. A change waits only until the current part is
    /// merged.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) if the observer cancels, after
    ///   which the index is intact and partly compacted.
    /// - Fails with [`ErrorKind::DiskFull`](crate::ErrorKind::DiskFull) if the disk is full.
    /// - Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if something cannot be written for another
    ///   reason.
    /// - Fails with [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if stored data are damaged.
    pub fn compact(&self, observer: &dyn Observer) -> Result<()> {
        let removed = self.store.view().state()?.removed;
        let live = self.live()?;
        let steps = u64::from(2 * PREFIXES / PREFIXES_PER_CHANGE) + 2;
        let progress = Reached::begin(observer, Stage::Compact, steps);
        let mut done = 0;
        for space in [KeyspaceName::Bands, KeyspaceName::Fingerprints] {
            for first in (0..PREFIXES).step_by(PREFIXES_PER_CHANGE as usize) {
                go_on(observer)?;
                self.merge_rows(space, first, &live)?;
                done += 1;
                progress.reach(done);
            }
        }
        if removed > 0 {
            self.count_again(removed, observer)?;
        }
        progress.reach(done + 1);
        self.store.compact()?;
        progress.reach(steps);
        Ok(())
    }

    /// Merges the rows of `PREFIXES_PER_CHANGE` prefixes, beginning with `first`, into one row per prefix
    /// without the postings of removed documents.
    fn merge_rows(&self, space: KeyspaceName, first: u32, live: &Live) -> Result<()> {
        let mut writer = self.write();
        let view = self.store.view();
        let mut change = self.store.change();
        for prefix in first..first + PREFIXES_PER_CHANGE {
            let prefix = (prefix as u16).to_be_bytes();
            let (mut keys, mut merged, mut gone) = (vec![], vec![], false);
            view.each(space, &prefix, |key, payload| {
                let row = PostingRow::decode(payload)
                    .ok_or_else(|| self.damaged(format!("a row of `{}` cannot be read", space.name())))?;
                keys.push(key.to_vec());
                let before = merged.len();
                merged.extend(row.iter().filter(|(_, posting)| live.has(posting.document)));
                gone |= merged.len() - before < row.len();
                Ok(true)
            })?;
            if keys.len() > 1 || gone {
                replace_rows(&mut change, space, &keys, merged);
            }
        }
        if change.len() > 0 {
            let mut state = writer.state;
            state.sequence += 1;
            // The change need not be on disk yet, because a crash leaves either the old rows or the new row,
            // and both states are correct.
            change.commit_lazily(&state)?;
            writer.state = state;
        }
        Ok(())
    }

    /// Counts the document frequencies of shingles again, over all existing documents.
    pub(crate) fn count_again(&self, removed: u64, observer: &dyn Observer) -> Result<()> {
        let view = self.store.view();
        let end = view.state()?.next;
        let table = self.frequencies_below(&view, end, observer)?;
        let mut writer = self.write();
        let mut state = IndexCounts { counted: end, ..writer.state };
        state.sequence += 1;
        state.removed = state.removed.saturating_sub(removed);
        let mut change = self.store.change();
        self.put_frequencies(&mut change, &table)?;
        self.acknowledge(&mut writer, change, state, PendingCounts::Dropped)
    }

    /// Returns the document frequencies of the shingles of the existing documents with numbers below `end`.
    pub(crate) fn frequencies_below(
        &self,
        view: &View<'_>,
        end: u32,
        observer: &dyn Observer,
    ) -> Result<CommonFrequencies> {
        let mut table = CommonFrequencies::default();
        let (mut documents, mut shingles) = (0, vec![]);
        let mut reader = SetReader::new(self, view);
        for number in 0..end {
            if let Some(record) = self.record(view, number)? {
                shingles.extend_from_slice(reader.read(number, &record)?.as_slice());
                documents += 1;
            }
            if shingles.len() >= WINDOW {
                go_on(observer)?;
                table.count_window(std::mem::take(&mut documents), &[&shingles], 1);
                shingles.clear();
            }
        }
        Ok(if documents == 0 { table } else { table.with(documents, shingles) })
    }
}

/// Replaces the rows with `keys` by one row with `postings`, or by no row if there are no postings.
fn replace_rows(
    change: &mut Change<'_>,
    space: KeyspaceName,
    keys: &[Vec<u8>],
    mut postings: Vec<(u32, Posting)>,
) {
    postings.sort_unstable();
    let last = if postings.is_empty() { None } else { keys.last() };
    for key in keys {
        if Some(key) != last {
            change.remove(space, key);
        }
    }
    if let Some(key) = last {
        change.put(space, key, postings::encode(&postings));
    }
}
