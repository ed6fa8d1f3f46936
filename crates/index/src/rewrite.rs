//! Rewriting: copies all rows to a new store, which replaces the old store.
//!
//! Rows are copied as they are, except postings: the rows of one prefix are merged, and postings of removed
//! documents are dropped. The new store gets its rows as files, without the journal of the storage engine.
//! Compaction in place ([`Index::compact`]) writes the rows of the journal to files and leaves the journal, so
//! an archive of 8,000 documents grew from 11.4 MB to 15.3 MB.

use minwise::{Observer, Stage};

use crate::acknowledge::PendingCounts;
use crate::compact::Live;
use crate::error::Result;
use crate::index::Index;
use crate::postings::{self, PREFIXES, PostingRow};
use crate::progress::Reached;
use crate::store::{IndexCounts, KeyspaceName, SealedRow, View};

/// Least share of the journal in the size of an index, as a divisor, that makes a rewrite worthwhile if nothing
/// was removed and no rows can be merged.
const JOURNAL_SHARE: u64 = 8;

/// Steps of progress per keyspace.
const STEPS: u64 = 1000;

impl Index {
    /// Copies all rows to a new store, which replaces the old store. The new store has one row of postings per
    /// prefix, no data of removed documents and an almost empty journal.
    ///
    /// If no document was removed and the new store would not be smaller, the index stays as it is, so a
    /// rewrite never makes an index larger for nothing. A rewrite needs as much free disk space as the index
    /// takes. If `rewrite` fails, the index is unchanged. [`compact`](Self::compact) needs less space and keeps
    /// the index open.
    ///
    /// ```
    /// use minwise_index::{Index, IndexSettings, NewDocument, Unobserved};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("archive");
    /// let index = Index::create(&path, &IndexSettings::default())?;
    /// index.add_now(&["a", "b"].map(|id| NewDocument::new(id, "a text")))?;
    /// index.remove(&["a"])?;
    /// index.rewrite(&Unobserved)?;
    /// let statistics = Index::open(&path)?.statistics()?;
    /// assert_eq!((statistics.documents, statistics.removed), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if a row does not match its checksum.
    /// - Fails with [`ErrorKind::DiskFull`](crate::ErrorKind::DiskFull) if the disk is full.
    /// - Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the new store cannot be written for another
    ///   reason.
    /// - Fails with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) if the observer cancels.
    pub fn rewrite(self, observer: &dyn Observer) -> Result<()> {
        let has_removed = self.store.view().state()?.removed > 0;
        let (journal, rest) = self.store.disk_bytes()?;
        if !has_removed && journal < (journal + rest) / JOURNAL_SHARE && self.is_merged(observer)? {
            return Ok(());
        }
        self.replace_if(
            |old, new| old.copy_rows(new, observer),
            |new| {
                let (new_journal, new_rest) = new.store.disk_bytes()?;
                Ok(has_removed || new_journal + new_rest < journal + rest)
            },
        )
    }

    /// Reports whether no prefix has several rows of postings.
    fn is_merged(&self, observer: &dyn Observer) -> Result<bool> {
        let view = self.store.view();
        let progress = Reached::begin(observer, Stage::Compact, 0);
        for space in [KeyspaceName::Bands, KeyspaceName::Fingerprints] {
            let (mut last, mut is_merged) = (None, true);
            view.each_after(space, None, |key, _| {
                progress.go_on()?;
                let prefix = key.first_chunk::<2>().copied();
                is_merged &= prefix != last;
                last = prefix;
                Ok(is_merged)
            })?;
            if !is_merged {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies all rows to the index `new`, which is empty.
    fn copy_rows(&self, new: &Self, observer: &dyn Observer) -> Result<()> {
        let (view, live) = (self.store.view(), self.live()?);
        let state = view.state()?;
        let spaces = [KeyspaceName::Ids].into_iter().chain(KeyspaceName::NUMBERED);
        let progress = Reached::begin(observer, Stage::Compact, 8 * STEPS);
        let mut done = 0;
        for space in spaces {
            let mut rows = 0;
            new.store.load_with(space, |write| {
                view.each_after(space, None, |key, payload| {
                    progress.go_on()?;
                    write(SealedRow::new(space, key, payload.to_vec()))?;
                    rows += 1;
                    progress.reach(done + (STEPS * rows / state.documents.max(1)).min(STEPS));
                    Ok(true)
                })
            })?;
            done += STEPS;
            progress.reach(done);
        }
        for space in [KeyspaceName::Bands, KeyspaceName::Fingerprints] {
            new.store.load_with(space, |write| {
                for prefix in 0..PREFIXES {
                    progress.go_on()?;
                    if let Some(row) = self.merged_row(&view, space, prefix as u16, &live)? {
                        write(row)?;
                    }
                    progress.reach(done + STEPS * u64::from(prefix) / u64::from(PREFIXES));
                }
                Ok(())
            })?;
            done += STEPS;
        }
        let space = KeyspaceName::Frequencies;
        new.store.load_with(space, |write| {
            if state.removed == 0 {
                return view.each_after(space, None, |key, payload| {
                    write(SealedRow::new(space, key, payload.to_vec()))?;
                    Ok(true)
                });
            }
            if state.counted == 0 {
                return Ok(());
            }
            // Only documents that the table has counted are counted again. A table of all 8,000 documents of an
            // archive of 7 MB took 7 MB more.
            let table = self.frequencies_below(&view, state.counted, observer)?;
            let mut parts = (0u32..).zip(table.to_parts());
            parts.try_for_each(|(part, bytes)| write(SealedRow::new(space, &part.to_be_bytes(), bytes)))
        })?;
        progress.reach(8 * STEPS);
        let mut writer = new.write();
        let sequence = writer.state.sequence.max(state.sequence) + 1;
        let state = IndexCounts { sequence, removed: 0, ..state };
        new.acknowledge(&mut writer, new.store.change(), state, PendingCounts::Dropped)
    }

    /// Merges the rows of a prefix into one row without the postings of removed documents. Returns `None` if
    /// there are no postings.
    fn merged_row(
        &self,
        view: &View<'_>,
        space: KeyspaceName,
        prefix: u16,
        live: &Live,
    ) -> Result<Option<SealedRow>> {
        let (mut merged, mut last, mut rows) = (vec![], vec![], 0);
        view.each(space, &prefix.to_be_bytes(), |key, payload| {
            let row = PostingRow::decode(payload)
                .ok_or_else(|| self.damaged(format!("a row of `{}` cannot be read", space.name())))?;
            merged.extend(row.iter().filter(|(_, posting)| live.has(posting.document)));
            last = key.to_vec();
            rows += 1;
            Ok(true)
        })?;
        if merged.is_empty() {
            return Ok(None);
        }
        if rows > 1 {
            merged.sort_unstable();
        }
        Ok(Some(SealedRow::new(space, &last, postings::encode(&merged))))
    }
}
