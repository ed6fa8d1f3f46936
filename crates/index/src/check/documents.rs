//! The part of an integrity check that reads every document with all of its rows.

use minwise::figure::grouped;
use minwise::{Observer, Stage};
use xxhash_rust::xxh3::xxh3_64;

use super::{FindingKind, IntegrityReport, end};
use crate::add::{post, words_to_bytes};
use crate::compact::Live;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::prepare::PreparedEntry;
use crate::progress::Reached;
use crate::record::DocumentRow;
use crate::store::{IndexCounts, KeyspaceName, View};

/// Totals over all documents, with which an integrity check compares the stored rows.
pub(super) struct Sums {
    /// Set of the existing documents.
    pub(super) live: Live,
    /// Sums of the posting digests of all documents, for bands and for fingerprints; `None` if a record
    /// cannot be read.
    pub(super) postings: Option<[u64; 2]>,
    /// Number of existing documents that the table of frequencies should count.
    pub(super) counted: u64,
}

impl Index {
    /// Checks documents in the order of their numbers, so that an unreadable record does not hide later
    /// documents.
    pub(super) fn check_documents(
        &self,
        view: &View<'_>,
        state: &IndexCounts,
        checked: &mut IntegrityReport,
        observer: &dyn Observer,
    ) -> Result<Sums> {
        let end = end(view, state);
        let mut sums = Sums { live: Live::none(end), postings: Some([0; 2]), counted: 0 };
        let mut counted = IndexCounts { documents: 0, text_bytes: 0, stored_bytes: 0, shingles: 0, ..*state };
        let mut prepared = PreparedEntry::default();
        let progress = Reached::begin(observer, Stage::Check, state.documents);
        for number in 0..end {
            progress.go_on()?;
            progress.reach(checked.documents);
            let record = match self.record(view, number) {
                Ok(None) => continue,
                Ok(Some(record)) => record,
                Err(error) => {
                    let what =
                        format!("the record of document number {number} cannot be read: {}", error.what());
                    checked.find(FindingKind::Document, None, what);
                    checked.documents += 1;
                    sums.live.add(number);
                    sums.postings = None;
                    continue;
                }
            };
            checked.documents += 1;
            sums.live.add(number);
            sums.counted += u64::from(number < state.counted);
            let mut find = |what: String| checked.find(FindingKind::Document, Some(&record.id), what);
            match self.number(view, &record.id) {
                Ok(Some(found)) if found == number => {}
                Ok(_) => find("the table of ids does not lead to it".to_owned()),
                Err(error) => find(format!("its id cannot be read: {}", error.what())),
            }
            if number >= state.next {
                find(format!("its number {number} was never assigned"));
            }
            match self.check_document(view, number, &record, &mut prepared) {
                Ok(stored) => counted.stored_bytes += stored,
                Err(what) => find(what),
            }
            counted.documents += 1;
            counted.text_bytes += record.bytes;
            counted.shingles += u64::from(record.shingles);
            for (sum, own) in sums.postings.iter_mut().flatten().zip(record.postings) {
                *sum = sum.wrapping_add(u64::from_le_bytes(own));
            }
        }
        // If a document cannot be read, the counted totals are too low, so they are not compared.
        if !checked.counts.contains_key(&FindingKind::Document) {
            compare(state, &counted, checked);
        }
        Ok(sums)
    }

    /// Checks a document, and returns the number of stored bytes of its text, or a description of the damage.
    fn check_document(
        &self,
        view: &View<'_>,
        number: u32,
        record: &DocumentRow,
        prepared: &mut PreparedEntry,
    ) -> std::result::Result<u64, String> {
        let says = |error: Error| error.what();
        let key = number.to_be_bytes();
        if record.metadata().is_none() {
            return Err("its metadata cannot be read".to_owned());
        }
        let sketch = view.get(KeyspaceName::Sketches, &key).map_err(says)?.ok_or("it has no sketch")?;
        let stored = if let Some(text) = self.text(view, number, record).map_err(says)? {
            if xxh3_64(text.as_bytes()).to_le_bytes() != record.content {
                return Err("its text is not the one that was added".to_owned());
            }
            self.preparation.prepare(&text, prepared);
            view.get(KeyspaceName::Texts, &key).map_err(says)?.map_or(0, |text| text.len() as u64)
        } else {
            let kept = self.in_place_of_text(view, number, record).map_err(says)?;
            self.preparation.prepare_set(kept.set, record.wordless, prepared);
            if kept.bands != prepared.bands {
                return Err("its bands are not those of its shingles".to_owned());
            }
            prepared.fingerprints = kept.fingerprints;
            0
        };
        if words_to_bytes(&self.preparation.row(prepared)) != sketch {
            return Err("its sketch is not that of its shingles".to_owned());
        }
        if prepared.set.len() != record.shingles as usize {
            return Err("it has another number of shingles than was stored".to_owned());
        }
        if post(number, &prepared.bands, &prepared.fingerprints, &mut vec![], &mut vec![]) != record.postings
        {
            return Err("its postings are not those of its shingles".to_owned());
        }
        Ok(stored)
    }
}

/// Compares the stored counters with the totals of the documents.
fn compare(state: &IndexCounts, counted: &IndexCounts, checked: &mut IntegrityReport) {
    for (what, was, is) in [
        ("documents", state.documents, counted.documents),
        ("bytes of text", state.text_bytes, counted.text_bytes),
        ("bytes of stored text", state.stored_bytes, counted.stored_bytes),
        ("shingles", state.shingles, counted.shingles),
    ] {
        if was != is {
            let what = format!("its counter of {what} is {}, but it has {}", grouped(was), grouped(is));
            checked.find(FindingKind::Counters, None, what);
        }
    }
    if state.counted > state.next {
        let (counted, assigned) = (grouped(state.counted.into()), grouped(state.next.into()));
        let what = format!("frequencies count {counted} document numbers, but {assigned} were assigned");
        checked.find(FindingKind::Counters, None, what);
    }
}
