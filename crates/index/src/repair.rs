//! Repair: adds all readable documents to a new store, which replaces the old store.
//!
//! A repair does not change the old store, because parts of this store may be damaged. Documents whose stored
//! data match their checksums are added to the new store, batch by batch, and their sketches, postings and
//! frequencies are computed again. The last step replaces the old store ([`Folder::replace_store`]), so a
//! repair that is interrupted earlier has no effect. A repair needs as much free disk space as the index
//! takes.
//!
//! [`Folder::replace_store`]: crate::folder::Folder::replace_store

use std::path::Path;

use minwise::{Observer, Stage};
use xxhash_rust::xxh3::xxh3_64;

use crate::acknowledge::PendingCounts;
use crate::add::{DocumentBatch, DocumentWrite, FULL, FULL_BYTES, post, words_to_bytes};
use crate::check::{FindingKind, IntegrityReport, end};
use crate::error::Result;
use crate::index::Index;
use crate::prepare::PreparedEntry;
use crate::progress::Reached;
use crate::record::{DocumentRow, NewDocument};
use crate::settings::Texts;
use crate::store::View;
use crate::text::TextCompressor;

impl Index {
    /// Repairs the index in a folder: drops documents whose data are damaged, and computes the sketches,
    /// postings and frequencies of all other documents again. Returns the findings from before the repair.
    ///
    /// The storage engine must be able to open its files, but need not be able to read all of them.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::NotAnIndex`](crate::ErrorKind::NotAnIndex) if the folder is not an index.
    /// - Fails with [`ErrorKind::Locked`](crate::ErrorKind::Locked) if another process has the index open.
    /// - Fails with [`ErrorKind::Version`](crate::ErrorKind::Version) if the index has another format
    ///   version.
    /// - Fails with [`ErrorKind::Unicode`](crate::ErrorKind::Unicode) if the index has another Unicode
    ///   version.
    /// - Fails with [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if the header of the index or the files
    ///   of the storage engine cannot be opened.
    /// - Fails with [`ErrorKind::DiskFull`](crate::ErrorKind::DiskFull) if the disk is full.
    /// - Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the new store cannot be written for another
    ///   reason.
    /// - Fails with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) if the observer cancels.
    ///
    /// After an error, the index is unchanged.
    pub fn repair(path: impl AsRef<Path>, observer: &dyn Observer) -> Result<IntegrityReport> {
        let (index, mut checked) = Self::open_as_it_is(path.as_ref())?;
        index.check_into(&mut checked, observer)?;
        if checked.counts.keys().any(|kind| *kind != FindingKind::Acknowledged) {
            let salvage = |old: &Self, new: &Self| {
                let there = old.salvage(new, observer)?;
                // Only damage can give two documents the same id. The later document replaces the earlier
                // document, which counts as lost.
                Ok(there - new.write().state.documents)
            };
            checked.taken_out = index.replace_if(salvage, |_| Ok(true))?;
        } else if checked.found() > 0 {
            let sequence = index.write().state.sequence;
            index.folder.acknowledge(sequence)?;
        }
        Ok(checked)
    }

    /// Replaces the store of this index by the store of a new index. `fill` gets this index and the new
    /// index, which is empty. The new store is discarded if `is_wanted` returns false for it.
    pub(crate) fn replace_if<T>(
        self,
        fill: impl FnOnce(&Self, &Self) -> Result<T>,
        is_wanted: impl FnOnce(&Self) -> Result<bool>,
    ) -> Result<T> {
        let room = self.folder.room_for_repair();
        let new = Self::create(&room, &self.settings)?;
        // A new change must have a higher number than all acknowledged changes, even if some of these are
        // lost.
        let noted = self.folder.acknowledged().unwrap_or(0);
        let mut writer = new.write();
        let mut state = writer.state;
        state.sequence = self.write().state.sequence.max(noted) + 1;
        new.acknowledge(&mut writer, new.store.change(), state, PendingCounts::Same)?;
        drop(writer);
        let filled = fill(&self, &new)?;
        let is_wanted = is_wanted(&new)?;
        let sequence = new.write().state.sequence;
        // Both stores must be closed before their files are moved.
        drop(new);
        let Self { store, folder, .. } = self;
        drop(store);
        if is_wanted {
            folder.replace_store()?;
            folder.acknowledge(sequence)?;
        } else {
            folder.end_repair()?;
        }
        Ok(filled)
    }

    /// Adds every undamaged document to the index `new`, in the same order. Returns the number of all documents.
    fn salvage(&self, new: &Self, observer: &dyn Observer) -> Result<u64> {
        let view = self.store.view();
        let end = end(&view, &self.write().state);
        let (mut prepared, mut packer) = (PreparedEntry::default(), TextCompressor::new());
        let (mut batch, mut bytes, mut there) = (DocumentBatch::default(), 0, 0);
        let progress = Reached::begin(observer, Stage::Repair, u64::from(end));
        for number in 0..end {
            progress.go_on()?;
            progress.reach(u64::from(number));
            let whole = match self.record(&view, number) {
                Ok(None) => continue,
                Ok(Some(record)) => self.remade(&view, number, record, &mut prepared, &mut packer),
                Err(_) => None,
            };
            there += 1;
            if let Some(written) = whole {
                bytes += written.record.bytes;
                batch.0.push(written);
            }
            if batch.len() >= FULL || bytes >= FULL_BYTES {
                new.commit(std::mem::take(&mut batch), 1)?;
                bytes = 0;
            }
        }
        new.commit(batch, 1)?;
        Ok(there)
    }

    /// Prepares a document again. Returns `None` if its stored data are damaged.
    fn remade(
        &self,
        view: &View<'_>,
        number: u32,
        record: DocumentRow,
        prepared: &mut PreparedEntry,
        packer: &mut TextCompressor,
    ) -> Option<DocumentWrite> {
        let metadata = record.metadata()?;
        Self::check_id(&record.id).ok()?;
        if self.settings.texts == Texts::Kept {
            let text = self.text(view, number, &record).ok()??;
            if xxh3_64(text.as_bytes()).to_le_bytes() != record.content {
                return None;
            }
            let DocumentRow { id, title, added, marks, .. } = record;
            let document = NewDocument { id, text, title, metadata, marks };
            return Some(self.written_of(&document, added, prepared, packer));
        }
        let kept = self.in_place_of_text(view, number, &record).ok()?;
        let set = kept.to_bytes();
        self.preparation.prepare_set(kept.set, record.wordless, prepared);
        let posted = post(number, &kept.bands, &kept.fingerprints, &mut vec![], &mut vec![]);
        let is_whole = kept.bands == prepared.bands
            && posted == record.postings
            && prepared.set.len() == record.shingles as usize;
        is_whole.then(|| DocumentWrite {
            record,
            text: vec![],
            sketch: words_to_bytes(&self.preparation.row(prepared)),
            set,
            bands: kept.bands,
            fingerprints: kept.fingerprints,
            shingles: prepared.set.as_slice().to_vec(),
        })
    }
}
