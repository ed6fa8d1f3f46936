//! Whether everything in an index is as it was written.
//!
//! Every row is read and its checksum compared; every document is read whole, its text hashed and its shingles made again;
//! the postings that follow from all documents and those that are there are compared by the sums of their digests.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::acknowledge::Pending;
use crate::add::{post, put_postings};
use crate::error::Result;
use crate::index::Index;
use crate::postings::{self, Row};
use crate::prepare::Prepared;
use crate::query::InPlaceOfText;
use crate::record::Record;
use crate::settings::Texts;
use crate::store::{Damage, Space, View};
use crate::watch::{Watch, go_on};

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The document it concerns, if it is one.
    pub id: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// What was looked at, and what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Documents.
    pub documents: u64,
    /// Rows of all keyspaces.
    pub rows: u64,
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
}

/// Findings of one kind that are listed one by one.
const LISTED: usize = 100;
/// Documents whose postings are written together when they are made again.
const TOGETHER: usize = 1 << 14;

impl Checked {
    fn find(&mut self, id: Option<&str>, what: impl Into<String>) {
        if self.findings.len() < LISTED {
            self.findings.push(Finding { id: id.map(str::to_owned), what: what.into() });
        }
    }
}

/// Looks at the checksums of all rows.
fn check_rows(view: &View<'_>, checked: &mut Checked) -> Result<()> {
    for space in Space::ALL {
        let mut damaged = 0u64;
        view.inspect(space, |_, payload| {
            checked.rows += 1;
            damaged += u64::from(payload == Err(Damage));
            Ok(())
        })?;
        if damaged > 0 {
            let what = format!("{damaged} rows of `{}` do not have their checksum", space.name());
            checked.find(None, what);
        }
    }
    Ok(())
}

impl Index {
    /// Looks at everything in the index.
    pub fn check(&self, watch: &dyn Watch) -> Result<Checked> {
        // No change comes in between.
        let writer = self.write();
        let view = self.store.view();
        let mut checked = Checked::default();
        check_rows(&view, &mut checked)?;
        let numbers = self.numbers_by_id(&view, &mut checked)?;
        let mut sums = [0u64; 2];
        let state = writer.state;
        let (mut found, mut bytes) = (0, 0);
        let mut prepared = Prepared::default();
        let mut records = vec![];
        view.inspect(Space::Records, |key, payload| {
            if let (Ok(number), Ok(payload)) = (self.number_of(key), payload) {
                records.push((number, Record::from_bytes(payload)));
            }
            Ok(())
        })?;
        for (number, record) in records {
            go_on(watch)?;
            watch.progress(found, state.documents);
            found += 1;
            let Some(record) = record else {
                checked.find(None, format!("the record of document number {number} cannot be read"));
                continue;
            };
            bytes += record.bytes;
            if numbers.get(record.id.as_str()) != Some(&number) {
                checked.find(Some(&record.id), "its id does not lead to it");
            }
            if number >= state.next {
                checked.find(Some(&record.id), format!("its number {number} was never given"));
            }
            if let Err(what) = self.check_document(&view, number, &record, &mut prepared) {
                checked.find(Some(&record.id), what);
            }
            for (sum, own) in sums.iter_mut().zip(record.postings) {
                *sum = sum.wrapping_add(u64::from_le_bytes(own));
            }
        }
        checked.documents = found;
        if numbers.len() as u64 != found {
            checked.find(None, format!("there are {} ids and {found} documents", numbers.len()));
        }
        if (found, bytes) != (state.documents, state.text_bytes) {
            let counted = format!("{} documents of {} bytes", state.documents, state.text_bytes);
            checked.find(None, format!("{counted} were counted, and {found} of {bytes} are there"));
        }
        for (space, sum) in [Space::Bands, Space::Fingerprints].into_iter().zip(sums) {
            if self.sum_of_postings(&view, space)? != Some(sum) {
                checked.find(None, format!("`{}` does not have the postings of the documents", space.name()));
            }
        }
        if self.stored_frequencies(&view).is_err() {
            checked.find(None, "the table of frequencies cannot be read");
        }
        Ok(checked)
    }

    fn numbers_by_id(&self, view: &View<'_>, checked: &mut Checked) -> Result<HashMap<String, u32>> {
        let mut numbers = HashMap::new();
        view.inspect(Space::Ids, |key, payload| {
            let number = payload.ok().and_then(|payload| self.number_of(payload).ok());
            match (String::from_utf8(key.to_vec()), number) {
                (Ok(id), Some(number)) => {
                    numbers.insert(id, number);
                }
                (id, _) => checked.find(id.ok().as_deref(), "the number of this id cannot be read"),
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    /// What is wrong with a document, in words.
    fn check_document(
        &self,
        view: &View<'_>,
        number: u32,
        record: &Record,
        prepared: &mut Prepared,
    ) -> std::result::Result<(), String> {
        let says = |error: crate::Error| error.to_string();
        if record.metadata().is_none() {
            return Err("its metadata cannot be read".to_owned());
        }
        let sketch = view.get(Space::Sketches, &number.to_be_bytes()).map_err(says)?;
        let sketch = sketch.ok_or("it has no sketch")?;
        let stored = match self.text(view, number, record).map_err(says)? {
            Some(text) => {
                if xxh3_64(text.as_bytes()).to_le_bytes() != record.content {
                    return Err("its text is not the one that was added".to_owned());
                }
                self.preparation.prepare(&text, prepared);
                if crate::add::words_to_bytes(&self.preparation.row(prepared)) != sketch {
                    return Err("its sketch is not that of its text".to_owned());
                }
                let (bands, fingerprints) = (prepared.bands.clone(), prepared.fingerprints.clone());
                InPlaceOfText { set: prepared.set.clone(), bands, fingerprints }
            }
            None => self.reader(view).stored(number, record).map_err(says)?,
        };
        if stored.set.len() != record.shingles as usize {
            return Err("it does not have as many shingles as were counted".to_owned());
        }
        if post(number, &stored.bands, &stored.fingerprints, &mut vec![], &mut vec![]) != record.postings {
            return Err("its postings are not those of its shingles".to_owned());
        }
        Ok(())
    }

    /// What follows from a document whose text, or what is kept in its place, is the one that was added.
    fn remade(
        &self,
        view: &View<'_>,
        number: u32,
        record: &Record,
        prepared: &mut Prepared,
    ) -> Option<InPlaceOfText> {
        record.metadata()?;
        if self.settings.texts == Texts::LeftOut {
            return self
                .check_document(view, number, record, prepared)
                .ok()
                .and_then(|()| self.reader(view).stored(number, record).ok());
        }
        let text = self.text(view, number, record).ok()??;
        if xxh3_64(text.as_bytes()).to_le_bytes() != record.content {
            return None;
        }
        self.preparation.prepare(&text, prepared);
        let (bands, fingerprints) = (prepared.bands.clone(), prepared.fingerprints.clone());
        Some(InPlaceOfText { set: prepared.set.clone(), bands, fingerprints })
    }

    /// The sum of the digests of all postings of documents that are there; nothing, if a row cannot be read.
    fn sum_of_postings(&self, view: &View<'_>, space: Space) -> Result<Option<u64>> {
        let live = self.live()?;
        let end = view.state()?.next;
        let mut sum = Some(0u64);
        view.inspect(space, |key, payload| {
            let row = payload.ok().and_then(Row::decode).zip(key.first_chunk::<2>());
            let Some((row, prefix)) = row else {
                sum = None;
                return Ok(());
            };
            for (rest, posting) in row.iter() {
                if posting.document >= end {
                    sum = None;
                } else if live.has(posting.document) {
                    sum = sum.map(|sum| sum.wrapping_add(postings::digest(*prefix, rest, posting)));
                }
            }
            Ok(())
        })?;
        Ok(sum)
    }

    /// Takes out the documents whose texts cannot be read, and makes sketches, ids, postings, frequencies and counters of the others anew.
    /// What was found beforehand is returned; the documents that are lost are among it.
    pub fn repair(&self, watch: &dyn Watch) -> Result<Checked> {
        let checked = self.check(watch)?;
        if checked.findings.is_empty() {
            return Ok(checked);
        }
        let mut writer = self.write();
        let view = self.store.view();
        let mut state = writer.state;
        (state.documents, state.text_bytes, state.stored_bytes, state.shingles) = (0, 0, 0, 0);
        (state.removed, state.counted) = (0, 0);
        state.sequence += 1;
        // First everything that is made of documents goes, so that nothing of it is left over.
        let mut change = self.store.change();
        for space in [Space::Ids, Space::Bands, Space::Fingerprints, Space::Frequencies] {
            view.inspect(space, |key, _| {
                change.remove(space, key);
                Ok(())
            })?;
        }
        let mut prepared = Prepared::default();
        let (mut bands, mut fingerprints, mut since) = (vec![], vec![], 0);
        let mut rows = vec![];
        view.inspect(Space::Records, |key, payload| {
            rows.push((key.to_vec(), payload.ok().and_then(Record::from_bytes)));
            Ok(())
        })?;
        for (key, record) in rows {
            go_on(watch)?;
            let number = self.number_of(&key).ok();
            let whole = record.zip(number).and_then(|(record, number)| {
                let stored = self.remade(&view, number, &record, &mut prepared)?;
                Some((record, number, stored))
            });
            let Some((mut record, number, stored)) = whole else {
                for space in [Space::Records, Space::Texts, Space::Sketches, Space::Sets] {
                    change.remove(space, &key);
                }
                continue;
            };
            record.shingles = stored.set.len() as u32;
            record.postings =
                post(number, &stored.bands, &stored.fingerprints, &mut bands, &mut fingerprints);
            if self.settings.texts == Texts::Kept {
                let row = self.preparation.row(&prepared);
                change.put(Space::Sketches, &key, crate::add::words_to_bytes(&row));
            }
            change.put(Space::Records, &key, record.to_bytes());
            change.put(Space::Ids, record.id.as_bytes(), key.clone());
            state.next = state.next.max(number + 1);
            state.documents += 1;
            state.text_bytes += record.bytes;
            state.stored_bytes += view.get(Space::Texts, &key)?.map_or(0, |text| text.len() as u64);
            state.shingles += u64::from(record.shingles);
            since += 1;
            if since == TOGETHER {
                put_postings(&mut change, Space::Bands, state.sequence, std::mem::take(&mut bands));
                put_postings(
                    &mut change,
                    Space::Fingerprints,
                    state.sequence,
                    std::mem::take(&mut fingerprints),
                );
                (state.sequence, since) = (state.sequence + 1, 0);
            }
        }
        put_postings(&mut change, Space::Bands, state.sequence, bands);
        put_postings(&mut change, Space::Fingerprints, state.sequence, fingerprints);
        self.acknowledge(&mut writer, change, state, Pending::Dropped)?;
        drop(writer);
        self.count_again(0, watch)?;
        Ok(checked)
    }
}

#[doc(hidden)]
impl Index {
    /// Makes the text of a document another one, behind the back of everything that would notice.
    pub fn damage_for_tests(&self, id: &str) {
        let view = self.store.view();
        let mut change = self.store.change();
        if let Ok(Some(number)) = self.number(&view, id) {
            change.put(Space::Texts, &number.to_be_bytes(), b"\x00something else".to_vec());
        }
        let _ = change.commit(&self.write().state);
    }
}
