//! Adds documents to an index.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, available_parallelism};
use std::time::{SystemTime, UNIX_EPOCH};

use minwise::candidate::Fingerprint;
use minwise::sort::sort_mixed;
use minwise::{Observer, Unobserved};
use xxhash_rust::xxh3::xxh3_64;

use crate::acknowledge::PendingCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::frequencies::{CommonFrequencies, WINDOW};
use crate::in_place::InPlaceOfText;
use crate::index::{Index, WriteState};
use crate::postings::{self, Posting};
use crate::prepare::{PreparedEntry, posted};
use crate::progress::go_on;
use crate::record::{DocumentRow, NewDocument, metadata_text};
use crate::settings::Texts;
use crate::store::{Change, KeyspaceName, SealedRow, View};
use crate::text::TextCompressor;

/// Maximum number of bytes of a text.
const MAX_TEXT_BYTES: usize = 1 << 30;

/// Number of documents from which a batch is full.
pub(crate) const FULL: usize = 1 << 14;
/// Number of bytes of text from which a batch is full.
pub(crate) const FULL_BYTES: u64 = 64 << 20;

/// Numbers of new, replaced and unchanged documents in one addition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Added {
    /// Number of documents whose ids were new.
    pub new: u64,
    /// Number of documents that replaced a document with the same id.
    pub replaced: u64,
    /// Number of documents that the index already had with the same text, title, metadata and marks. The
    /// index does not write these documents again.
    pub unchanged: u64,
}

impl AddAssign for Added {
    fn add_assign(&mut self, other: Self) {
        self.new += other.new;
        self.replaced += other.replaced;
        self.unchanged += other.unchanged;
    }
}

/// Prepared documents, ready to be written.
#[derive(Debug, Default)]
pub struct DocumentBatch(pub(crate) Vec<DocumentWrite>);

impl DocumentBatch {
    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Reports whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the documents of another batch.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Reports whether the batch is large enough to be committed. One change of many documents takes less
    /// time and disk space than many small changes.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() >= FULL || self.0.iter().map(|document| document.record.bytes).sum::<u64>() >= FULL_BYTES
    }

    /// Sets the id, title and metadata of document `at` of the batch to the values of `as_is`.
    ///
    /// # Panics
    /// Panics if `at` is not below the number of documents.
    pub fn describe(&mut self, at: usize, as_is: &NewDocument) {
        let record = &mut self.0[at].record;
        record.id.clone_from(&as_is.id);
        record.title.clone_from(&as_is.title);
        record.metadata = metadata_text(&as_is.metadata);
    }
}

/// A prepared document.
#[derive(Debug)]
pub(crate) struct DocumentWrite {
    pub(crate) record: DocumentRow,
    pub(crate) text: Vec<u8>,
    pub(crate) sketch: Vec<u8>,
    pub(crate) set: Vec<u8>,
    pub(crate) bands: Vec<u64>,
    pub(crate) fingerprints: Vec<Fingerprint>,
    pub(crate) shingles: Vec<u64>,
}

/// Number of documents that a thread takes at a time.
const PORTION: usize = 16;

/// Fate of a document of a batch.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// The document is added.
    New,
    /// The document replaces the document with this number.
    Replaces(u32),
    /// The document is not written, because the index has it.
    Unchanged,
}

/// Rows and postings of some documents. `put` sorts the postings of all documents of a change together.
#[derive(Default)]
struct PortionRows {
    rows: Vec<SealedRow>,
    bands: Vec<(u64, u64)>,
    fingerprints: Vec<(u64, u64)>,
}

/// Calls `work` with each portion, with several threads, and returns all results in order.
fn in_portions<P: Send, T: Send>(
    portions: Vec<P>,
    threads: usize,
    work: impl Fn(P) -> Result<Vec<T>> + Sync,
) -> Result<Vec<T>> {
    let count = portions.len();
    if threads <= 1 || count <= 1 {
        let made: Vec<Vec<T>> = portions.into_iter().map(work).collect::<Result<_>>()?;
        return Ok(made.into_iter().flatten().collect());
    }
    let next = Mutex::new(portions.into_iter().enumerate());
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut done = vec![];
        while let Some((at, portion)) = take() {
            let made = work(portion);
            if made.is_err() {
                // No further portion is begun. All earlier portions were taken, so the first error is among the
                // results.
                while take().is_some() {}
            }
            done.push((at, made));
        }
        done
    };
    let mut made: Vec<(usize, Result<Vec<T>>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(count)).map(|_| scope.spawn(run)).collect();
        let joined = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        workers.into_iter().flat_map(joined).collect()
    });
    made.sort_unstable_by_key(|(at, _)| *at);
    let made: Vec<Vec<T>> = made.into_iter().map(|(_, made)| made).collect::<Result<_>>()?;
    Ok(made.into_iter().flatten().collect())
}

/// Cuts documents into portions.
fn owned_portions<T>(documents: Vec<T>) -> Vec<Vec<T>> {
    let mut documents = documents.into_iter();
    std::iter::from_fn(|| {
        let portion: Vec<T> = documents.by_ref().take(PORTION).collect();
        (!portion.is_empty()).then_some(portion)
    })
    .collect()
}

/// Choice of the documents of a batch that `put` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteChoice {
    /// New and changed documents. Unchanged documents keep their time of addition.
    Changed,
    /// All documents, with the times of addition in the batch.
    All,
}

impl Index {
    /// Adds all documents, or none of them if an error occurs. When `add_now` returns, the documents are on
    /// disk. If several documents have the same id, only the last of them is added. A document that is
    /// already in the index with the same text, title, metadata and marks is not written again.
    ///
    /// The time of addition is the current time, and one thread per core prepares the documents.
    /// [`add`](Self::add) takes the time and the number of threads as arguments.
    ///
    /// ```
    /// use minwise_index::{Index, IndexSettings, NewDocument};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("archive");
    /// let index = Index::create(&path, &IndexSettings::default())?;
    /// let documents = [NewDocument::new("a", "a rose"), NewDocument::new("b", "a lily")];
    /// assert_eq!(index.add_now(&documents)?.new, 2);
    ///
    /// // The text of one document has changed.
    /// let documents = [NewDocument::new("a", "a rose is a rose"), NewDocument::new("b", "a lily")];
    /// let added = index.add_now(&documents)?;
    /// assert_eq!((added.new, added.replaced, added.unchanged), (0, 1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::BadId`] if an id is empty, has more than 1024 bytes or a control character.
    /// - Fails with [`ErrorKind::TextTooLong`] if a text has more than 1 GiB.
    /// - Fails with [`ErrorKind::DiskFull`] if the disk is full.
    /// - Fails with [`ErrorKind::Io`] if the documents cannot be written for another reason.
    /// - Fails with [`ErrorKind::Stopped`] if an earlier write failed.
    /// - Fails with [`ErrorKind::Damaged`] if stored data are damaged.
    ///
    /// After an error, the index is unchanged.
    pub fn add_now(&self, documents: &[NewDocument]) -> Result<Added> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.add(documents, now, available_parallelism().map_or(1, usize::from))
    }

    /// Adds documents as [`add_now`](Self::add_now) does. `added` is the time of addition, in seconds since
    /// the Unix epoch, and `threads` the number of threads that prepare the documents.
    ///
    /// # Errors
    /// Fails as [`add_now`](Self::add_now) does.
    pub fn add(&self, documents: &[NewDocument], added: u64, threads: usize) -> Result<Added> {
        self.add_observed(documents, added, threads, &Unobserved)
    }

    /// Adds documents as [`add`](Self::add) does. If the observer cancels, no document is added. The observer
    /// cannot interrupt the write to disk itself.
    ///
    /// # Errors
    /// Fails as [`add_now`](Self::add_now) does, and with [`ErrorKind::Interrupted`] if the observer cancels.
    pub fn add_observed(
        &self,
        documents: &[NewDocument],
        added: u64,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Added> {
        let batch = self.prepare_observed(documents, added, threads, observer)?;
        self.put(batch, WriteChoice::Changed, threads, observer)
    }

    /// Returns the error with which every index rejects this document, because of its id or the length of its
    /// text. Returns `None` if the document can be added.
    #[must_use]
    pub fn refuses(document: &NewDocument) -> Option<Error> {
        let (id, bytes) = (&document.id, document.text.len());
        let too_long =
            || (bytes > MAX_TEXT_BYTES).then(|| ErrorKind::TextTooLong { id: id.clone(), bytes }.into());
        Self::check_id(id).err().or_else(too_long)
    }

    /// Prepares documents: computes shingles, sketches and fingerprints, and compresses texts. `prepare` does
    /// not change the index, so several threads can prepare documents while another thread
    /// [commits](Self::commit) earlier documents. `added` is the time of addition, in seconds since the Unix
    /// epoch.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::TextTooLong`] if a text has more than 1 GiB. [`commit`](Self::commit) checks
    /// the ids.
    pub fn prepare(&self, documents: &[NewDocument], added: u64, threads: usize) -> Result<DocumentBatch> {
        self.prepare_observed(documents, added, threads, &Unobserved)
    }

    fn prepare_observed(
        &self,
        documents: &[NewDocument],
        added: u64,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<DocumentBatch> {
        if let Some(long) = documents.iter().find(|document| document.text.len() > MAX_TEXT_BYTES) {
            let (id, bytes) = (long.id.clone(), long.text.len());
            return Err(ErrorKind::TextTooLong { id, bytes }.into());
        }
        let prepared = in_portions(documents.chunks(PORTION).collect(), threads, |portion| {
            let (mut prepared, mut packer) = (PreparedEntry::default(), TextCompressor::new());
            let write = |document: &NewDocument| {
                go_on(observer)?;
                Ok(self.written_of(document, added, &mut prepared, &mut packer))
            };
            portion.iter().map(write).collect()
        })?;
        Ok(DocumentBatch(prepared))
    }

    pub(crate) fn written_of(
        &self,
        document: &NewDocument,
        added: u64,
        prepared: &mut PreparedEntry,
        packer: &mut TextCompressor,
    ) -> DocumentWrite {
        self.preparation.prepare(&document.text, prepared);
        let record = DocumentRow {
            id: document.id.clone(),
            title: document.title.clone(),
            metadata: metadata_text(&document.metadata),
            added,
            bytes: document.text.len() as u64,
            characters: document.text.chars().count() as u64,
            units: prepared.shingles.units() as u32,
            shingles: prepared.set.len() as u32,
            content: xxh3_64(document.text.as_bytes()).to_le_bytes(),
            wordless: prepared.wordless,
            postings: Default::default(),
            marks: document.marks.clone(),
        };
        let (text, set) = match self.settings.texts {
            Texts::Kept => (packer.pack(&document.text), vec![]),
            Texts::LeftOut => {
                let (bands, fingerprints) = (prepared.bands.clone(), prepared.fingerprints.clone());
                (vec![], InPlaceOfText { set: prepared.set.clone(), bands, fingerprints }.to_bytes())
            }
        };
        DocumentWrite {
            record,
            text,
            sketch: words_to_bytes(&self.preparation.row(prepared)),
            set,
            bands: prepared.bands.clone(),
            fingerprints: prepared.fingerprints.clone(),
            shingles: prepared.set.as_slice().to_vec(),
        }
    }

    /// Adds prepared documents, as [`Index::add`] does, with up to `threads` threads.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::BadId`] if an id is empty, has more than 1024 bytes or a control character.
    /// - Fails with [`ErrorKind::DiskFull`] if the disk is full.
    /// - Fails with [`ErrorKind::Io`] if the documents cannot be written for another reason.
    /// - Fails with [`ErrorKind::Stopped`] if an earlier write failed.
    /// - Fails with [`ErrorKind::Damaged`] if stored data are damaged.
    ///
    /// After an error, the index is unchanged.
    pub fn commit(&self, batch: DocumentBatch, threads: usize) -> Result<Added> {
        self.put(batch, WriteChoice::Changed, threads, &Unobserved)
    }

    pub(crate) fn put(
        &self,
        batch: DocumentBatch,
        which: WriteChoice,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Added> {
        let mut documents = batch.0;
        for document in &documents {
            Self::check_id(&document.record.id)?;
        }
        let last: HashMap<String, usize> =
            documents.iter().enumerate().map(|(at, document)| (document.record.id.clone(), at)).collect();
        if last.len() < documents.len() {
            let mut at = 0..;
            documents.retain(|document| at.next() == last.get(&document.record.id).copied());
        }
        if documents.is_empty() {
            return Ok(Added::default());
        }
        let mut writer = self.write();
        let view = self.store.view();
        let mut change = self.store.change();
        let mut state = writer.state;
        state.sequence += 1;
        let fates = in_portions(documents.chunks(PORTION).collect(), threads, |portion| {
            go_on(observer)?;
            portion.iter().map(|document| self.fate(&view, document, which)).collect()
        })?;
        let mut added = Added::default();
        let mut pending = vec![];
        let mut numbered = vec![];
        for (document, fate) in documents.into_iter().zip(fates) {
            match fate {
                Fate::Unchanged => {
                    added.unchanged += 1;
                    continue;
                }
                Fate::Replaces(old) => {
                    self.drop_rows(&view, &mut change, &mut state, old)?;
                    added.replaced += 1;
                }
                Fate::New => added.new += 1,
            }
            let number = state.next;
            let Some(next) = number.checked_add(1) else {
                return Err(self.damaged("it has used up its four billion numbers"));
            };
            state.next = next;
            state.documents += 1;
            state.text_bytes += document.record.bytes;
            state.stored_bytes += document.text.len() as u64;
            state.shingles += u64::from(document.record.shingles);
            pending.extend_from_slice(&document.shingles);
            numbered.push((number, document));
        }
        if state.next == writer.state.next {
            return Ok(added);
        }
        let made = in_portions(owned_portions(numbered), threads, |portion| {
            go_on(observer)?;
            Ok(vec![self.rows_of(portion)])
        })?;
        let (mut bands, mut fingerprints) = (vec![], vec![]);
        for portion in made {
            for row in portion.rows {
                change.push(row);
            }
            bands.extend(portion.bands);
            fingerprints.extend(portion.fingerprints);
        }
        let of_spaces = vec![(KeyspaceName::Bands, bands), (KeyspaceName::Fingerprints, fingerprints)];
        let postings = in_portions(of_spaces, threads, |(space, postings)| {
            Ok(posting_rows(space, state.sequence, postings))
        })?;
        for row in postings {
            change.push(row);
        }
        go_on(observer)?;
        // The window is sorted during the commit, because both take about the same time.
        let is_full = writer.pending.1.len() + pending.len() >= WINDOW;
        let window = is_full.then(|| [writer.pending.1.as_slice(), &pending].concat());
        let sorted = thread::scope(|scope| -> Result<_> {
            let sorter = window.map(|mut window| {
                let sort = move || {
                    sort_mixed(&mut window, &mut vec![]);
                    window
                };
                if threads > 1 { Ok(scope.spawn(sort)) } else { Err(sort) }
            });
            self.acknowledge(&mut writer, change, state, PendingCounts::More(pending))?;
            Ok(sorter.map(|sorter| match sorter {
                Ok(running) => running.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(sort) => sort(),
            }))
        })?;
        if let Some(window) = sorted {
            // A failure to count is ignored, because the documents are acknowledged and the next change counts them.
            let _ = self.count_window(&mut writer, window);
        }
        Ok(added)
    }

    /// Decides what becomes of a document.
    fn fate(&self, view: &View<'_>, document: &DocumentWrite, which: WriteChoice) -> Result<Fate> {
        let Some(old) = self.number(view, &document.record.id)? else { return Ok(Fate::New) };
        let keeps = which == WriteChoice::Changed && self.is_unchanged(view, old, document)?;
        Ok(if keeps { Fate::Unchanged } else { Fate::Replaces(old) })
    }

    /// Makes the rows of documents with these numbers.
    fn rows_of(&self, portion: Vec<(u32, DocumentWrite)>) -> PortionRows {
        let mut made = PortionRows::default();
        for (number, document) in portion {
            let DocumentWrite { mut record, text, sketch, set, bands, fingerprints, .. } = document;
            record.postings = post(number, &bands, &fingerprints, &mut made.bands, &mut made.fingerprints);
            let key = number.to_be_bytes();
            made.rows.push(SealedRow::new(KeyspaceName::Ids, record.id.as_bytes(), key.to_vec()));
            made.rows.push(SealedRow::new(KeyspaceName::Records, &key, record.to_bytes()));
            made.rows.push(SealedRow::new(KeyspaceName::Sketches, &key, sketch));
            made.rows.push(match self.settings.texts {
                Texts::Kept => SealedRow::new(KeyspaceName::Texts, &key, text),
                Texts::LeftOut => SealedRow::new(KeyspaceName::Sets, &key, set),
            });
        }
        made
    }

    /// Reports whether the stored document with this number is equal to `document`, except for the time of addition.
    fn is_unchanged(&self, view: &View<'_>, number: u32, document: &DocumentWrite) -> Result<bool> {
        let Some(there) = self.record(view, number)? else { return Ok(false) };
        let (said, new) = (&there, &document.record);
        if (said.content, said.bytes, &said.title, &said.metadata, &said.marks)
            != (new.content, new.bytes, &new.title, &new.metadata, &new.marks)
        {
            return Ok(false);
        }
        // Equal hashes do not prove that texts are equal, so the texts are compared.
        let (space, stored) = match self.settings.texts {
            Texts::Kept => (KeyspaceName::Texts, &document.text),
            Texts::LeftOut => (KeyspaceName::Sets, &document.set),
        };
        Ok(view.get(space, &number.to_be_bytes())?.as_ref() == Some(stored))
    }

    /// Adds the pending documents, whose sorted shingles are `window`, to the table of frequencies.
    fn count_window(&self, writer: &mut WriteState, mut window: Vec<u64>) -> Result<()> {
        let view = self.store.view();
        let mut table = self.stored_frequencies(&view)?;
        let mut state = writer.state;
        let first = writer.pending.0;
        // Documents that were added before the index was opened are not in `pending`, so they are read from the store.
        let (before, shingles) = self.shingles_from(&view, state.counted, first)?;
        if !shingles.is_empty() {
            window.extend(shingles);
            sort_mixed(&mut window, &mut vec![]);
        }
        table.count_window(before + u64::from(state.next - first), &window);
        state.counted = state.next;
        state.sequence += 1;
        let mut change = self.store.change();
        self.put_frequencies(&mut change, &table)?;
        self.acknowledge(writer, change, state, PendingCounts::Dropped)
    }

    /// Replaces the table of frequencies.
    pub(crate) fn put_frequencies(&self, change: &mut Change<'_>, table: &CommonFrequencies) -> Result<()> {
        let parts = table.to_parts();
        let end = parts.len() as u32;
        for (part, bytes) in (0u32..).zip(parts) {
            change.put(KeyspaceName::Frequencies, &part.to_be_bytes(), bytes);
        }
        self.store.view().each(KeyspaceName::Frequencies, b"", |key, _| {
            if self.number_of(key)? >= end {
                change.remove(KeyspaceName::Frequencies, key);
            }
            Ok(true)
        })
    }
}

/// Appends the postings of a document to the two lists. Returns two sums of digests: one over the band
/// postings, and one over the fingerprint postings.
pub(crate) fn post(
    document: u32,
    bands: &[u64],
    fingerprints: &[Fingerprint],
    band_postings: &mut Vec<(u64, u64)>,
    fingerprint_postings: &mut Vec<(u64, u64)>,
) -> [[u8; 8]; 2] {
    let mut sums = [0u64; 2];
    let mut note = |which: usize, postings: &mut Vec<(u64, u64)>, hash: u64, at: u32| {
        let posting = Posting { document, at };
        sums[which] = sums[which].wrapping_add(postings::digest_of(hash, posting));
        postings.push((hash, posting.packed()));
    };
    for &hash in bands {
        note(0, band_postings, hash, 0);
    }
    for fingerprint in fingerprints {
        note(1, fingerprint_postings, posted(fingerprint), fingerprint.at);
    }
    sums.map(u64::to_le_bytes)
}

/// Makes the rows of the postings of a change.
pub(crate) fn posting_rows(space: KeyspaceName, sequence: u64, postings: Vec<(u64, u64)>) -> Vec<SealedRow> {
    let mut rows = vec![];
    postings::write_rows(postings, |prefix, payload| {
        rows.push(SealedRow::new(space, &postings::key(prefix, sequence), payload));
    });
    rows
}

pub(crate) fn words_to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_keep_their_order_and_the_first_error_is_returned() {
        for threads in [1, 2, 7] {
            let twice = in_portions((0..100).collect(), threads, |n: usize| Ok(vec![n, n])).unwrap();
            assert_eq!(twice, (0..100).flat_map(|n| [n, n]).collect::<Vec<_>>());
            let work = |bytes: usize| {
                thread::sleep(std::time::Duration::from_micros(if bytes == 20 { 3000 } else { 10 }));
                if bytes < 20 {
                    Ok(vec![bytes])
                } else {
                    Err(ErrorKind::TextTooLong { id: String::new(), bytes }.into())
                }
            };
            let error = in_portions((0..1000).collect(), threads, work).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::TextTooLong { bytes: 20, .. }),
                "{threads} threads: {error}"
            );
        }
    }

    #[test]
    fn windows_are_counted_beside_the_commit() {
        let tables = [1, 4].map(|threads| {
            let folder = tempfile::tempdir().unwrap();
            let index = Index::create(folder.path().join("a"), &crate::IndexSettings::default()).unwrap();
            for batch in 0..3 {
                let text = |n: usize| {
                    (0..60).map(|at| format!("w{}x{at}", n % 4 + batch)).collect::<Vec<_>>().join(" ")
                };
                let documents: Vec<_> =
                    (0..40).map(|n| NewDocument::new(format!("{batch}-{n}"), text(n))).collect();
                index.add(&documents, 0, threads).unwrap();
            }
            assert_eq!(index.write().pending.1, Vec::<u64>::new());
            index.frequencies().unwrap()
        });
        assert!(tables[0] == tables[1]);
        assert_eq!((tables[0].short_by(), tables[0].documents()), (3, 120));
    }
}
