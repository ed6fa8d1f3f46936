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
use crate::index::{Index, PendingSets, WriteState};
use crate::postings::{self, Posting};
use crate::prepare::{PreparedEntry, posted};
use crate::progress::go_on;
use crate::record::{DocumentRow, NewDocument, metadata_text};
use crate::settings::Texts;
use crate::store::{Change, IndexCounts, KeyspaceName, SealedRow, View};
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

impl DocumentWrite {
    /// Returns the number of bytes that are stored for the text.
    fn stored_bytes(&self) -> u64 {
        (self.text.len() + self.set.len()) as u64
    }
}

/// Number of documents that a thread takes at a time.
const PORTION: usize = 16;
/// Maximum number of parts into which the range of hashes is split, so that threads sort their postings in parallel.
const MOST_PARTS: usize = 16;

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

/// Number of new documents, or of bytes of compressed texts, from which a change
/// [loads](crate::store::Store::load) their rows. Each load syncs several files, which takes longer than writing
/// the rows of few documents to the journal.
// Unit tests load the rows of few documents.
const LOADED: usize = if cfg!(test) { 32 } else { 1 << 12 };
const LOADED_BYTES: u64 = 16 << 20;

/// Rows and postings of some documents, each with a hash and a packed [`Posting`].
#[derive(Default)]
struct PortionRows {
    ids: Vec<SealedRow>,
    /// The rows in each of [`KeyspaceName::NUMBERED`].
    numbered: [Vec<SealedRow>; KeyspaceName::NUMBERED.len()],
    bands: Vec<(u64, u64)>,
    fingerprints: Vec<(u64, u64)>,
}

/// A part of the work of a change that one thread does.
enum ChangeTask {
    /// Loads rows.
    Load(KeyspaceName, Vec<Vec<SealedRow>>),
    /// Sorts the postings in this part of the range of hashes, and makes their rows.
    Post(KeyspaceName, u64),
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
        drop_repeats(&mut documents);
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
        for (mut document, fate) in documents.into_iter().zip(fates) {
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
            pending.push(std::mem::take(&mut document.shingles));
            numbered.push((number, document));
        }
        if state.next == writer.state.next {
            return Ok(added);
        }
        // Rows of replaced documents are removed by the journal. The engine would merge these removals with loaded rows
        // again and again.
        let bytes: u64 = numbered.iter().map(|(_, document)| document.stored_bytes()).sum();
        let is_loaded = added.replaced == 0 && (numbered.len() >= LOADED || bytes >= LOADED_BYTES);
        let portions = in_portions(owned_portions(numbered), threads, |portion| {
            go_on(observer)?;
            Ok(vec![self.rows_of(portion)])
        })?;
        go_on(observer)?;
        let written = self
            .write_rows(&mut change, portions, state.sequence, is_loaded, threads)
            .and_then(|()| self.acknowledge_and_count(&mut writer, &view, change, state, pending, threads));
        if written.is_err() && is_loaded {
            // The first error is returned. If this removal fails, too, the next opening of the index repeats it.
            let _ = self.store.discard_unassigned(&writer.state);
        }
        written.map(|()| added)
    }

    /// Appends the rows of new documents to a change. If `is_loaded`, the rows whose keys are numbers are loaded
    /// instead.
    fn write_rows(
        &self,
        change: &mut Change<'_>,
        mut portions: Vec<PortionRows>,
        sequence: u64,
        is_loaded: bool,
        threads: usize,
    ) -> Result<()> {
        let mut tasks = vec![];
        for (at, space) in KeyspaceName::NUMBERED.into_iter().enumerate() {
            let rows = portions.iter_mut().map(|portion| std::mem::take(&mut portion.numbered[at]));
            if is_loaded {
                tasks.push(ChangeTask::Load(space, rows.collect()));
            } else {
                rows.flatten().for_each(|row| change.push(row));
            }
        }
        let bits = threads.clamp(1, MOST_PARTS).next_power_of_two().ilog2();
        for space in [KeyspaceName::Bands, KeyspaceName::Fingerprints] {
            tasks.extend((0..1 << bits).map(|part| ChangeTask::Post(space, part)));
        }
        for row in portions.iter_mut().flat_map(|portion| std::mem::take(&mut portion.ids)) {
            change.push(row);
        }
        let done = in_portions(tasks, threads, |task| match task {
            ChangeTask::Load(space, rows) => {
                self.store.load(space, rows.into_iter().flatten())?;
                Ok(vec![])
            }
            ChangeTask::Post(space, part) => {
                let is_of_part = |hash: u64| u128::from(hash) << bits >> 64 == u128::from(part);
                let mut postings = vec![];
                for portion in &portions {
                    let all =
                        if space == KeyspaceName::Bands { &portion.bands } else { &portion.fingerprints };
                    postings.extend(all.iter().filter(|(hash, _)| is_of_part(*hash)));
                }
                Ok(posting_rows(space, sequence, postings))
            }
        });
        for row in done? {
            change.push(row);
        }
        Ok(())
    }

    /// Commits a change that adds documents. If the pending documents fill a window with these documents, counts the
    /// window, too.
    fn acknowledge_and_count(
        &self,
        writer: &mut WriteState,
        view: &View<'_>,
        change: Change<'_>,
        state: IndexCounts,
        mut pending: Vec<Vec<u64>>,
        threads: usize,
    ) -> Result<()> {
        if writer.pending.shingles() + pending.iter().map(Vec::len).sum::<usize>() < WINDOW {
            return self.acknowledge(writer, change, state, PendingCounts::More(pending));
        }
        let mut window = std::mem::take(&mut writer.pending);
        window.sets.append(&mut pending);
        // The window is counted during the commit, because both take about the same time.
        let counted = thread::scope(|scope| -> Result<_> {
            let count = || self.table_with(view, &state, &window, threads);
            let counting = if threads > 1 { Ok(scope.spawn(count)) } else { Err(count) };
            let acknowledged = self.acknowledge(writer, change, state, PendingCounts::Dropped);
            if acknowledged.is_err() {
                // The next count reads the sets from the store.
                writer.pending = PendingSets::from(writer.state.next);
            }
            acknowledged?;
            Ok(match counting {
                Ok(running) => running.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(count) => count(),
            })
        })?;
        // A failure to count is ignored, because the documents are acknowledged and the next change counts them.
        if counted.and_then(|table| self.replace_frequencies(writer, &table)).is_err() {
            writer.pending = window;
        }
        Ok(())
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
            let DocumentWrite { mut record, mut text, mut sketch, mut set, bands, fingerprints, .. } =
                document;
            record.postings = post(number, &bands, &fingerprints, &mut made.bands, &mut made.fingerprints);
            let key = number.to_be_bytes();
            made.ids.push(SealedRow::new(KeyspaceName::Ids, record.id.as_bytes(), key.to_vec()));
            for (space, rows) in KeyspaceName::NUMBERED.into_iter().zip(&mut made.numbered) {
                let payload = match space {
                    KeyspaceName::Records => record.to_bytes(),
                    KeyspaceName::Sketches => std::mem::take(&mut sketch),
                    KeyspaceName::Texts if self.settings.texts == Texts::Kept => std::mem::take(&mut text),
                    KeyspaceName::Sets if self.settings.texts == Texts::LeftOut => std::mem::take(&mut set),
                    _ => continue,
                };
                rows.push(SealedRow::new(space, &key, payload));
            }
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

    /// Returns the stored table of frequencies with a window: all uncounted documents below `state.next`.
    fn table_with(
        &self,
        view: &View<'_>,
        state: &IndexCounts,
        window: &PendingSets,
        threads: usize,
    ) -> Result<CommonFrequencies> {
        let mut table = self.stored_frequencies(view)?;
        // Documents that were added before the index was opened are not in `window`, so they are read from the store.
        let (before, mut shingles) = self.shingles_from(view, state.counted, window.first)?;
        sort_mixed(&mut shingles, &mut vec![]);
        let mut sets: Vec<&[u64]> = window.sets.iter().map(Vec::as_slice).collect();
        sets.push(&shingles);
        table.count_window(before + u64::from(state.next - window.first), &sets, threads);
        Ok(table)
    }

    /// Commits a table of frequencies that counts all documents.
    fn replace_frequencies(&self, writer: &mut WriteState, table: &CommonFrequencies) -> Result<()> {
        let mut state = writer.state;
        state.counted = state.next;
        state.sequence += 1;
        let mut change = self.store.change();
        self.put_frequencies(&mut change, table)?;
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

/// Drops every document whose id a later document has.
fn drop_repeats(documents: &mut Vec<DocumentWrite>) {
    fn id(document: &DocumentWrite) -> &str {
        &document.record.id
    }
    let last: HashMap<&str, usize> =
        documents.iter().enumerate().map(|(at, document)| (id(document), at)).collect();
    if last.len() < documents.len() {
        let are_last: Vec<bool> =
            documents.iter().enumerate().map(|(at, document)| last[id(document)] == at).collect();
        let mut are_last = are_last.into_iter();
        documents.retain(|_| are_last.next().unwrap_or(true));
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

    fn documents(count: usize) -> Vec<NewDocument> {
        (0..count).map(|n| NewDocument::new(format!("d{n}"), format!("the words of document {n}"))).collect()
    }

    #[test]
    fn rows_of_an_unfinished_change_are_hidden_and_discarded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let index = Index::create(&path, &crate::IndexSettings::default()).unwrap();
        index.add(&documents(3), 0, 1).unwrap();
        // A change that loads its rows, and then ends before its batch is committed.
        let load = |index: &Index, first: u32| {
            let batch = index.prepare(&documents(LOADED), 0, 1).unwrap().0;
            let rows = index.rows_of((first..).zip(batch).collect());
            for (space, rows) in KeyspaceName::NUMBERED.into_iter().zip(rows.numbered) {
                index.store.load(space, rows).unwrap();
            }
        };
        let ids = |index: &Index| {
            let newest = crate::Listing::new().newest_first(true);
            for (listing, expected) in [
                (newest.clone(), vec!["d2", "d1", "d0"]),
                (newest.clone().after(Some(20)), vec!["d2", "d1", "d0"]),
                (newest.after(Some(2)), vec!["d1", "d0"]),
                (crate::Listing::new(), vec!["d0", "d1", "d2"]),
                (crate::Listing::new().after(Some(1)), vec!["d2"]),
                (crate::Listing::new().after(Some(2)), vec![]),
                (crate::Listing::new().after(Some(20)), vec![]),
            ] {
                let found: Vec<_> =
                    index.list(&listing).unwrap().entries.into_iter().map(|entry| entry.id).collect();
                assert_eq!(found, expected, "{listing:?}");
            }
            index.ids().unwrap()
        };
        load(&index, 3);
        assert_eq!(ids(&index), ["d0", "d1", "d2"]);
        let rows = |index: &Index| index.check_integrity(&Unobserved).unwrap();
        assert_eq!(rows(&index).documents, 3 + LOADED as u64, "the rows are there");
        drop(index);
        let index = Index::open(&path).unwrap();
        assert_eq!((ids(&index).len(), rows(&index).documents, rows(&index).findings), (3, 3, vec![]));
        // The numbers are assigned again, by a change of few rows and by one of many.
        load(&index, 3);
        let others: Vec<_> = documents(LOADED + 4).split_off(3);
        index.add(&others[..1], 0, 1).unwrap();
        index.add(&others[1..], 0, 2).unwrap();
        assert_eq!((rows(&index).documents, rows(&index).findings), (LOADED as u64 + 4, vec![]));
        load(&index, LOADED as u32 + 4);
        drop(index);
        assert_eq!(Index::examine(&path, &Unobserved).unwrap().findings, []);
    }

    #[test]
    fn loaded_documents_are_those_of_small_changes() {
        let folder = tempfile::tempdir().unwrap();
        let create = |name: &str, texts| {
            let settings = crate::IndexSettings { texts, ..crate::IndexSettings::default() };
            Index::create(folder.path().join(name), &settings).unwrap()
        };
        let mut all = documents(3 * LOADED);
        all[7].text.clear();
        for texts in [Texts::Kept, Texts::LeftOut] {
            let name = |name: &str| format!("{name} {texts:?}");
            let small = create(&name("small"), texts);
            for few in all.chunks(LOADED - 1) {
                small.add(few, 0, 1).unwrap();
            }
            let export = |index: &Index| {
                let mut out = vec![];
                index.export(&mut out, &Unobserved).unwrap();
                out
            };
            for threads in [1, 2, 7] {
                let large = create(&name(&threads.to_string()), texts);
                assert_eq!(large.add(&all, 0, threads).unwrap().new, all.len() as u64);
                assert_eq!(large.check_integrity(&Unobserved).unwrap().findings, []);
                assert!(export(&large) == export(&small), "{threads} threads");
                assert_eq!(large.add(&all, 1, threads).unwrap().unchanged, all.len() as u64);
                let changed: Vec<_> =
                    all.iter().map(|document| NewDocument::new(document.id.clone(), "other words")).collect();
                assert_eq!(large.add(&changed, 2, threads).unwrap().replaced, all.len() as u64);
                let path = large.path().to_owned();
                drop(large);
                let large = Index::open(&path).unwrap();
                assert_eq!(large.check_integrity(&Unobserved).unwrap().findings, []);
                assert_eq!(large.statistics().unwrap().documents, all.len() as u64);
            }
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
            assert_eq!(index.write().pending.sets, Vec::<Vec<u64>>::new());
            index.frequencies().unwrap()
        });
        assert!(tables[0] == tables[1]);
        assert_eq!((tables[0].short_by(), tables[0].documents()), (3, 120));
    }
}
