//! Read stage: reads, shingles and sketches every document, and keeps one row of columns per document.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use minwise::Spec;
use minwise::figure::{counted, grouped, subject};
use minwise::keep::KeepPolicy;
use minwise::shingle::Shingling;
use minwise::{Observer, Stage, Warning, escape_control};
use minwise_corpus::{
    Chunk, Corpus, Document, FieldPath, Format, Nulls, ReadOptions, RecordPlace, Reject, RejectReason,
    Scratch,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, SettingProblem};
use crate::memory::MemoryLimit;
use crate::parallel;
use crate::read::documents::segment::{Medium, SegmentSection};
use crate::read::documents::{
    ComparisonKind, DocumentColumns, Documents, NewRow, RepeatedIds, RowShape, Spill,
};
use crate::read::placed::PositionSketcher;
use crate::read::prepare::{Preparation, Prepared};
use crate::read::ranks::Ranks;
use crate::read::rejected::RejectedRecords;
use crate::read::rejects::{Rejected, Rejects};
use crate::rows::RowLayout;
use crate::settings::{ReadKey, ReadPlan};
use crate::storage::work::{self, WorkFile, WorkFolder};
use crate::turn::LargeDocumentLock;

pub(crate) mod documents;
pub(crate) mod placed;
pub(crate) mod prepare;
pub(crate) mod ranks;
pub(crate) mod rejected;
pub(crate) mod rejects;
mod spots;

/// Number of bytes of a single file that must be read before the number of its documents is estimated from these bytes.
const SAMPLE_BYTES: u64 = 16 << 20;
/// Largest number of bytes per chunk, which one thread reads at a time. Chunks are large enough that handing them out
/// costs little, and small enough that all threads finish at about the same time.
const CHUNK_BYTES: u64 = 2 << 20;
const LEAST_CHUNK_BYTES: u64 = 64 << 10;
/// Minimum number of chunks whose bytes fit into the memory for documents that wait to be collected.
const CHUNKS_WAITING: u64 = 32;
/// Approximate number of segments in the work folder, unless segments would be smaller than `LEAST_SEGMENT_BYTES`.
const SEGMENTS: u64 = 256;
const LEAST_SEGMENT_BYTES: u64 = 1 << 20;
/// Number of records at the start of the input. At least one of these records must have the text field.
const SOUGHT_IN: u64 = 1000;
/// The reject code of a record whose text is null.
const NULL: &str = "null";
/// The reject code of a file that cannot be read.
const UNREADABLE: &str = "unreadable";
/// The section of a segment that holds its rejected records.
const REJECTS: &str = "rejects";

/// Result of the read stage.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The documents of references and inputs.
    pub documents: Documents,
    /// The rejected records.
    pub rejected: Rejects,
    /// Number of documents of references, which come before all other documents.
    pub references: u32,
    /// Number of documents in which lone surrogates were replaced.
    pub repaired: u64,
    /// Counts of the documents that the keeper policy could not rank.
    pub(crate) ranks: Ranks,
    /// The settings that the documents were read with.
    pub(crate) key: ReadKey,
}

/// Position that the read stage has reached, for a run that is resumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ReadProgress {
    /// Number of bytes per chunk. A resumed run cuts its inputs into the same chunks as the process before it, because
    /// progress is counted in chunks.
    chunk_bytes: u64,
    /// Number of chunks that are done.
    chunks: usize,
    /// The source of the last chunk that is done, and the number of its lines read so far. Lines are numbered per
    /// source.
    source: u32,
    lines: u64,
}

/// Header of a segment in the folder of a run.
#[derive(Debug, Serialize, Deserialize)]
struct SegmentHeader {
    documents: usize,
    rejected: u64,
    rejected_of_references: u64,
    repaired: u64,
    ranks: Ranks,
    after: ReadProgress,
}

/// Refuses a keeper policy that uses a field which the corpus does not read, because the policy would rank nothing.
fn check_fields(corpus: &Corpus, plan: &ReadPlan) -> Result<(), Error> {
    let opened: Vec<String> = corpus.options().value_fields.iter().map(ToString::to_string).collect();
    let keep = &plan.key.keep;
    match keep.fields().find(|field| !opened.iter().any(|opened| opened == field)) {
        None => Ok(()),
        Some(field) => {
            let reason = format!("the corpus was opened without the field `{}`", escape_control(field));
            Err(SettingProblem::new("keep", keep, reason).into())
        }
    }
}

/// Reads and sketches a corpus.
///
/// # Errors
/// Fails with:
/// - [`ErrorKind::Corpus`] if an input cannot be read, and [`ErrorKind::File`] if a file of the run cannot be read or
///   written;
/// - [`ErrorKind::Settings`] if the keeper policy uses a field that the corpus does not read, and
///   [`ErrorKind::NoSuchField`] if no document has that field, or if none has the field that the settings name for ids;
/// - [`ErrorKind::NoTextField`] if none of the first thousand records has the text field, [`ErrorKind::AllRejected`] if
///   no record is a document, [`ErrorKind::TooManyRejects`] if the plan allows fewer rejects, and
///   [`ErrorKind::NullText`] if a text is null and the plan treats nulls as errors;
/// - [`ErrorKind::TooManyDocuments`] or [`ErrorKind::TooLittleMemory`] if the corpus is too large;
/// - [`ErrorKind::Changed`] if the inputs of a resumed run have changed;
/// - [`ErrorKind::Cancelled`] if the observer cancels.
pub fn read(corpus: &Corpus, plan: &ReadPlan, observer: &dyn Observer) -> Result<Reading, Error> {
    check_fields(corpus, plan)?;
    observer.begin(Stage::Read, corpus.size_bytes());

    let tools = SketchTools::new(plan)?;
    let spill = Spill::new(tools.rows.as_ref(), plan.temporary.as_deref());
    let mut desk = Desk::new(corpus, plan, &tools, &spill)?;
    let (chunks, from) = (corpus.chunks(desk.progress.chunk_bytes), desk.progress.chunks);
    desk.bytes_read = chunks.iter().take(from).map(Chunk::size_bytes).sum();
    observer.advance(desk.bytes_read);
    if from == 0 {
        desk.check_estimate()?;
    } else {
        // The size is checked again, because this process may have a lower memory limit than the process that began the
        // run.
        desk.check_size()?;
    }
    let Some(chunks) = chunks.get(from..) else {
        let before = subject(from as u64, "chunk", ["was", "were"]);
        let reason = format!("{before} read before, and the inputs have {}", grouped(chunks.len() as u64));
        return Err(ErrorKind::Changed { setting: None, reason }.into());
    };
    let prepare = || Worker::new(plan, &tools);
    let work = |worker: &mut Worker<'_>, chunk: &Chunk, columns: DocumentColumns| -> Result<_, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        spill.help()?;
        let part = worker.read(corpus, chunk, columns)?;
        observer.advance(chunk.size_bytes());
        Ok(part)
    };
    if plan.threads == 1 {
        let (mut worker, mut columns) = (prepare(), DocumentColumns::new(tools.shape(&plan.key.keep)));
        for chunk in chunks {
            desk.reading.documents.lend_rows(&mut columns);
            let part = work(&mut worker, chunk, columns)?;
            columns = desk.take_in(chunk, part)?;
        }
    } else {
        read_in_parallel(chunks, &mut desk, prepare, work)?;
    }
    let mut reading = desk.finish()?;

    observer.begin(Stage::Ids, reading.documents.len() as u64);
    check_id_field(corpus, &reading.documents)?;
    let room = plan.memory.room(plan.threads, reading.documents.len());
    reading.references = reading.documents.partition_point(|place| place.source < corpus.references())?;
    let warned = reading.documents.find_repeated_ids(corpus, room, plan.threads, reading.references)?;
    let are_numbered = reading.documents.number_repeated_ids(corpus, &plan.key.keep, reading.references)?;
    if let Some(RepeatedIds { documents: count, example: pair }) = warned.filter(|_| !are_numbered) {
        let documents = &reading.documents;
        let place = |document: u32| documents.place_name(document, corpus).map(Cow::into_owned);
        observer.warn(&Warning::RepeatedIds {
            documents: count,
            example: documents.raw_id(pair[0])?.into_owned(),
            places: [place(pair[0])?, place(pair[1])?],
        });
    }
    if reading.repaired > 0 {
        observer.warn(&Warning::Repaired { documents: reading.repaired });
    }
    reading.ranks.check(&plan.key.keep, &reading.documents, reading.references, corpus, observer)?;
    Ok(reading)
}

/// Refuses an id field that was set explicitly if no document has it. Only JSONL needs this check, because tables and
/// CSV files are refused when they are opened.
fn check_id_field(corpus: &Corpus, documents: &Documents) -> Result<(), Error> {
    let field = &corpus.options().id_field;
    let is_default = *field == ReadOptions::default().id_field;
    if is_default || documents.is_empty() || corpus.format() != Some(Format::JSONL) {
        return Ok(());
    }
    let mut is_found = false;
    documents.for_each_raw_id(|_, id| is_found |= !id.is_empty())?;
    if is_found {
        return Ok(());
    }
    let fields = corpus.field_names(&documents.place(0)?, &mut Scratch::new())?;
    Err(ErrorKind::NoSuchField { field: field.to_string(), fields }.into())
}

/// Returns the number of bytes per chunk.
///
/// Each thread holds the columns of one chunk's documents. If every record has only seven bytes, the columns take
/// eighty times the bytes of the chunk. A low memory limit therefore makes chunks small.
fn chunk_bytes(plan: &ReadPlan) -> u64 {
    let share = plan.memory.room(plan.threads, 0).waiting() / CHUNKS_WAITING;
    share.clamp(LEAST_CHUNK_BYTES, CHUNK_BYTES)
}

/// Reads chunks on several threads.
fn read_in_parallel<'a>(
    chunks: &[Chunk],
    desk: &mut Desk<'_>,
    prepare: impl Fn() -> Worker<'a> + Sync,
    work: impl Fn(&mut Worker<'a>, &Chunk, DocumentColumns) -> Result<(ReadChunk, u64), Error> + Sync,
) -> Result<(), Error> {
    // Columns are used again for later chunks. The allocator returns freed memory only after a while, so new columns
    // for every chunk took 60 MiB more than the run uses.
    let spare = Mutex::new(Vec::<DocumentColumns>::new());
    let (plan, shape) = (desk.plan, desk.tools.shape(&desk.plan.key.keep));
    let work = |worker: &mut Worker<'a>, chunk: usize| {
        let emptied = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let columns = emptied.unwrap_or_else(|| DocumentColumns::new(shape));
        Ok((chunk, work(worker, &chunks[chunk], columns)?))
    };
    // The memory of waiting chunks is bounded, because sketches of short documents take more memory than their texts. A
    // chunk of 2 MiB becomes 40 MB if every record has fifty bytes. A thread that the system does not schedule would
    // otherwise keep many such chunks waiting.
    let most_waiting = plan.memory.room(plan.threads, 0).waiting();
    let size = |(_, (part, _)): &(usize, (ReadChunk, u64))| part.size_bytes();
    let receive = |(chunk, part): (usize, (ReadChunk, u64))| {
        let emptied = desk.take_in(&chunks[chunk], part)?;
        spare.lock().unwrap_or_else(PoisonError::into_inner).push(emptied);
        Ok(())
    };
    parallel::in_order_within(most_waiting, size, chunks.len(), plan.threads, prepare, work, receive)
}

/// Collector of the chunks that threads have read. If the documents take too much memory, the collector writes them to
/// disk.
struct Desk<'a> {
    corpus: &'a Corpus,
    plan: &'a ReadPlan,
    tools: &'a SketchTools,
    spill: &'a Spill<'a>,
    reading: Reading,
    progress: ReadProgress,
    /// Number of segments in the folder of the run.
    segments: usize,
    /// Number of bytes of all chunks that were read, including the chunks that an earlier process read.
    bytes_read: u64,
    /// Counts for the next segment, which is not written yet.
    pending: PendingSegment,
    /// Number of bytes above which documents in memory are written to disk.
    most_bytes: u64,
    field: FieldSought,
}

/// Search for a record that has the text field. The search ends with the first such record.
#[derive(Debug, Default)]
struct FieldSought {
    /// Whether a record has the field, or an earlier process has read the first records.
    is_found: bool,
    /// Number of records that were searched, all without the field.
    records: u64,
    /// First searched record that could be parsed.
    example: Option<RecordPlace>,
}

impl FieldSought {
    /// Searches the records of the next chunk for the text field. Fails after a thousand records without the field.
    fn look(&mut self, part: &ReadChunk, corpus: &Corpus) -> Result<(), Error> {
        if self.is_found {
            return Ok(());
        }
        // If the field is in a list, only a document with shingles proves that the field exists, because the list may
        // be empty.
        let first = if corpus.options().text_fields.iter().any(FieldPath::has_lists) {
            part.columns.first_shingled()
        } else {
            part.columns.first_place()
        };
        let first_document = first.map(|place| place.line);
        let is_before = |rejected: &Rejected| first_document.is_none_or(|line| rejected.line <= line);
        // An unreadable file is ignored, because it shows nothing about the fields of records.
        let mut records = part.rejected.iter().filter(|rejected| rejected.reason != UNREADABLE).peekable();
        let mut without = 0;
        while records.next_if(|rejected| is_before(rejected) && lacks_field(rejected)).is_some() {
            without += 1;
        }
        self.records += without;
        self.example = self.example.or(part.without_field);
        if self.records >= SOUGHT_IN {
            return self.fail(SOUGHT_IN, corpus);
        }
        self.is_found = first_document.is_some() || records.peek().is_some();
        Ok(())
    }

    /// Fails if no record has the field, and at least one record could be parsed.
    fn fail(&self, records: u64, corpus: &Corpus) -> Result<(), Error> {
        let Some(example) = self.example.filter(|_| !self.is_found) else { return Ok(()) };
        let field =
            corpus.options().text_fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let fields = corpus.field_names(&example, &mut Scratch::new())?;
        Err(ErrorKind::NoTextField { field, records, fields }.into())
    }
}

/// Reports whether a record was rejected because its text field is missing or because the record could not be parsed.
fn lacks_field(rejected: &Rejected) -> bool {
    matches!(&*rejected.reason, "missing_field" | "invalid_json" | "not_an_object" | "invalid_utf8")
}

/// Counts for the segment that grows in memory.
#[derive(Debug, Default)]
struct PendingSegment {
    rejected: u64,
    rejected_of_references: u64,
    repaired: u64,
    ranks: Ranks,
    /// Number of chunks, including chunks without documents, because a resumed run must not read them again.
    chunks: usize,
}

impl PendingSegment {
    fn new(plan: &ReadPlan) -> Self {
        Self { ranks: Ranks::new(&plan.key.keep), ..Self::default() }
    }
}

impl<'a> Desk<'a> {
    fn new(
        corpus: &'a Corpus,
        plan: &'a ReadPlan,
        tools: &'a SketchTools,
        spill: &'a Spill<'a>,
    ) -> Result<Self, Error> {
        let reading = Reading {
            documents: Documents::new(tools.shape(&plan.key.keep)),
            rejected: Rejects::default(),
            references: 0,
            repaired: 0,
            ranks: Ranks::new(&plan.key.keep),
            key: plan.key.clone(),
        };
        let room = plan.memory.room(plan.threads, 0);
        let mut desk = Self {
            corpus,
            plan,
            tools,
            spill,
            reading,
            progress: ReadProgress { chunk_bytes: chunk_bytes(plan), ..ReadProgress::default() },
            segments: 0,
            bytes_read: 0,
            pending: PendingSegment::new(plan),
            most_bytes: room.reading(),
            field: FieldSought::default(),
        };
        if let Some(work) = plan.work.as_deref() {
            let share = (corpus.size_bytes() / SEGMENTS).max(LEAST_SEGMENT_BYTES);
            desk.most_bytes = share.min(room.segment());
            desk.take_up(work)?;
        }
        Ok(desk)
    }

    /// Loads the segments that an earlier process has written.
    fn take_up(&mut self, work: &WorkFolder) -> Result<(), Error> {
        while work.has(WorkFile::Segment(self.segments)) {
            let file = work.open_piece(WorkFile::Segment(self.segments))?;
            let mut about: SegmentHeader = work::about(&file)?;
            let [rejects] = file.ranges([REJECTS])?;
            let before = self.reading.documents.len() as u32;
            let medium = {
                let bands = self.tools.rows.as_ref().map_or(0, RowLayout::bands);
                let sources = self.corpus.sources().len() as u32;
                self.reading.documents.append_stored(file, about.documents, bands, sources)?
            };
            let of_references = about.rejected_of_references;
            self.reading.rejected.append_stored(medium, rejects, about.rejected, of_references)?;
            self.reading.ranks.append(&mut about.ranks, before);
            self.reading.repaired += about.repaired;
            self.progress = about.after;
            self.segments += 1;
            self.field.is_found = true;
        }
        self.check_rejects()
    }

    /// Appends the result of one thread for the next chunk, and returns its columns emptied, for reuse.
    fn take_in(
        &mut self,
        chunk: &Chunk,
        (mut part, scanned): (ReadChunk, u64),
    ) -> Result<DocumentColumns, Error> {
        if chunk.source() != self.progress.source {
            self.progress = ReadProgress { source: chunk.source(), lines: 0, ..self.progress };
        }
        self.field.look(&part, self.corpus)?;
        if self.reading.documents.is_empty() && chunk.size_bytes() >= self.progress.chunk_bytes / 2 {
            // Memory for all expected documents is reserved at once, because growing step by step would copy the
            // columns several times and need twice the memory meanwhile. Reserved memory that is never touched costs
            // nothing. If a limit forbids reserving it, the columns grow as needed.
            let share = self.corpus.size_bytes() as f64 / chunk.size_bytes() as f64;
            let expected = part.columns.len() as f64 * share * 1.1;
            let bytes = part.columns.size_bytes() as f64 / part.columns.len().max(1) as f64;
            let most = (self.most_bytes as f64 / bytes.max(1.0)) * 1.1;
            self.reading.documents.reserve(expected.min(most) as usize);
        }
        // `Ranks` keep the number of an example document. In the pending segment, this number counts from the start of
        // the segment; in the reading, from the first document.
        let (held, before) = (self.reading.documents.held_len(), self.reading.documents.len());
        self.pending.ranks.append(&mut part.ranks.clone(), held as u32);
        self.reading.ranks.append(&mut part.ranks, before as u32);
        if self.plan.threads > 1 {
            self.reading.documents.touch_ahead(part.columns.len(), self.plan.threads);
        }
        self.reading.documents.append(&mut part.columns, self.progress.lines);
        part.columns.clear();
        for mut rejected in part.rejected {
            rejected.line += self.progress.lines;
            if rejected.reason == NULL && self.corpus.options().nulls == Nulls::Error {
                return Err(ErrorKind::NullText { record: rejected.describe(self.corpus) }.into());
            }
            let of_reference = rejected.source < self.corpus.references();
            self.reading.rejected.push(rejected, of_reference);
            self.pending.rejected += 1;
            self.pending.rejected_of_references += u64::from(of_reference);
        }
        self.reading.repaired += part.repaired;
        self.pending.repaired += part.repaired;
        self.pending.chunks += 1;
        self.progress.chunks += 1;
        self.progress.lines += scanned;
        self.bytes_read += chunk.size_bytes();
        self.check_size()?;
        self.check_rejects()?;
        if self.held_bytes() > self.most_bytes {
            self.put_away()?;
        }
        Ok(part.columns)
    }

    fn held_bytes(&self) -> u64 {
        self.reading.documents.held_bytes() + self.reading.rejected.held().len() as u64
    }

    /// Moves the documents and rejects in memory to temporary files.
    fn spill(&mut self) -> Result<(), Error> {
        let Reading { documents, rejected, .. } = &mut self.reading;
        if !rejected.held().is_empty() {
            let (file, begin) = self.spill.append(rejected.held())?;
            let end = begin + rejected.held().len() as u64;
            rejected.now_stored(Medium::Temporary(file), begin..end);
        }
        self.pending = PendingSegment::new(self.plan);
        if documents.held_len() == 0 {
            return Ok(());
        }
        let empty = || DocumentColumns::new(self.tools.shape(&self.plan.key.keep));
        let room = self.plan.memory.room(self.plan.threads, documents.len());
        if documents.is_stored() {
            let held = documents.held_len();
            let columns = documents.take_held(empty());
            // A list of two segments and the documents that are being collected take about as much memory as all
            // documents before the first ones were written. A single chunk of many tiny records may be larger than a
            // segment should be, and does not wait on the list.
            let segment = room.segment();
            let most_bytes = if self.plan.threads == 1 { 0 } else { segment + segment / 4 };
            match self.spill.put(columns, most_bytes)?.or_else(|| self.spill.spare()) {
                Some(emptied) => documents.fill_again(emptied),
                None => documents.reserve(held + held / 8),
            }
        } else {
            // The first documents take as much memory as two segments on their way to disk, so they are written before
            // others are taken in.
            let share = room.segment() as f64 / self.most_bytes as f64;
            let expected = (documents.held_len() as f64 * share * 1.1) as usize;
            let columns = documents.take_held(empty());
            self.spill.write(columns, self.plan.threads)?;
            // From now on all documents are moved to disk, and smaller segments leave more memory for later stages.
            documents.reserve(expected);
        }
        self.most_bytes = self.most_bytes.min(room.segment());
        Ok(())
    }

    /// Moves the documents and rejects in memory to disk.
    fn put_away(&mut self) -> Result<(), Error> {
        let Some(work) = self.plan.work.as_deref() else { return self.spill() };
        let Reading { documents, rejected, .. } = &mut self.reading;
        let rows = self.tools.rows.as_ref();
        let piece = WorkFile::Segment(self.segments);
        let mut writer = work.create(piece)?;
        let mut open: Option<SegmentSection> = None;
        let mut begun = vec![];
        let documents_here = documents.write_held(rows, self.plan.threads, |section, bytes| {
            if open != Some(section) {
                writer.begin(section.name())?;
                begun.push(section);
                open = Some(section);
            }
            writer.write(bytes)
        })?;
        for section in SegmentSection::ALL.into_iter().filter(|section| !begun.contains(section)) {
            writer.begin(section.name())?;
        }
        writer.begin(REJECTS)?;
        writer.write(rejected.held())?;
        let about = SegmentHeader {
            documents: documents_here,
            rejected: self.pending.rejected,
            rejected_of_references: self.pending.rejected_of_references,
            repaired: self.pending.repaired,
            ranks: std::mem::take(&mut self.pending.ranks),
            after: self.progress,
        };
        writer.finish(&about)?;
        let file = work.reopen(piece)?;
        let [rejects] = file.ranges([REJECTS])?;
        let medium = documents.now_stored(file)?;
        rejected.now_stored(medium, rejects);
        self.segments += 1;
        self.pending = PendingSegment::new(self.plan);
        Ok(())
    }

    fn finish(mut self) -> Result<Reading, Error> {
        self.reading.documents.put_back(self.spill.finish(self.plan.threads)?);
        self.check_documents()?;
        // Later stages need the memory, and a resumed run must find all documents in its folder.
        let unfinished = self.plan.work.is_some() && self.pending.chunks > 0;
        if unfinished || self.reading.documents.is_stored() && self.held_bytes() > 0 {
            self.put_away()?;
            self.reading.documents.put_back(self.spill.finish(self.plan.threads)?);
        }
        if self.reading.documents.is_stored() {
            self.reading.documents.give_back_room();
        }
        Ok(self.reading)
    }

    /// Reports whether a run with `threads` threads over `documents` documents fits into memory.
    fn fits(&self, threads: usize, documents: usize) -> bool {
        let least = MemoryLimit::least(threads, documents, self.plan.key.keep.words());
        least.bytes() <= self.plan.memory.bytes()
    }

    /// Refuses before anything is read a corpus that does not fit into memory by far.
    fn check_estimate(&self) -> Result<(), Error> {
        // A record takes at least two bytes, so nothing is read from a corpus that fits in any case.
        if self.fits(1, usize::try_from(self.corpus.size_bytes() / 2).unwrap_or(usize::MAX)) {
            return Ok(());
        }
        match spots::lines(self.corpus) {
            // Some lines may be blank, and the spots may have more lines than other places, so only half of the lines
            // are counted.
            Some(lines) if !self.fits(1, lines / 2) => Err(self.too_little_memory(lines + lines / 10)),
            _ => Ok(()),
        }
    }

    fn check_size(&self) -> Result<(), Error> {
        let documents = self.reading.documents.len();
        // Document numbers must be below `u32::MAX`, because that value stands for "none".
        if documents >= u32::MAX as usize {
            return Err(ErrorKind::TooManyDocuments.into());
        }
        // Later the number of threads may be reduced as the documents take more memory, but all requested threads must
        // fit at the start.
        let is_first = self.progress.chunks <= 1;
        let expected = self.expected_documents();
        // The estimate is used only for a single file, because the documents of several files may differ too much in
        // size.
        let is_known = self.corpus.sources().len() == 1
            && self.bytes_read >= SAMPLE_BYTES.min(self.corpus.size_bytes() / 64);
        // Later records may be longer than the first ones, so only half of the documents still expected are counted.
        let is_hopeless = is_known && !self.fits(1, documents + expected.saturating_sub(documents) / 2);
        if self.fits(if is_first { self.plan.threads } else { 1 }, documents) && !is_hopeless {
            return Ok(());
        }
        // The estimate is raised by a tenth, because later documents may be shorter than the first ones.
        let expected =
            if self.bytes_read < self.corpus.size_bytes() { expected + expected / 10 } else { documents };
        Err(self.too_little_memory(expected))
    }

    /// Makes the error that `expected` documents do not fit into memory.
    fn too_little_memory(&self, expected: usize) -> Error {
        let (allowed, asked) = (self.plan.memory, self.plan.threads);
        let rank_words = self.plan.key.keep.words();
        let threads = (1..asked).rev().find(|&threads| self.fits(threads, expected));
        let needed = MemoryLimit::least(asked, expected, rank_words);
        let parts = MemoryLimit::parts(asked, expected, rank_words);
        let [program, of_threads, of_documents] = parts.map(|part| part.rounded_up().in_words());
        let (asked, documents) = (counted(asked as u64, "thread"), counted(expected as u64, "document"));
        let reason = format!(
            "the program needs {program} of memory, {asked} {of_threads}, and {documents} {of_documents} or more"
        );
        ErrorKind::TooLittleMemory { allowed, needed, reason, threads }.into()
    }

    /// Estimates the total number of documents from the documents that were read so far.
    fn expected_documents(&self) -> usize {
        let documents = self.reading.documents.len();
        let share = self.corpus.size_bytes() as f64 / self.bytes_read.max(1) as f64;
        (documents as f64 * share.max(1.0)) as usize
    }

    /// Refuses inputs if all of their records were rejected. Inputs without records are accepted.
    fn check_documents(&self) -> Result<(), Error> {
        let Reading { documents, rejected, .. } = &self.reading;
        let references = self.corpus.references();
        let records = rejected.len() - rejected.of_references();
        let of_references = documents.partition_point(|place| place.source < references)?;
        let of_inputs = documents.len() as u64 - u64::from(of_references) - documents.skipped(of_references);
        if of_inputs > 0 || records == 0 {
            return Ok(());
        }
        self.field.fail(records, self.corpus)?;
        let first = rejected.first().iter().find(|rejected| rejected.source >= references);
        let first = first.map(|rejected| rejected.describe(self.corpus)).unwrap_or_default();
        let hint = RejectedRecords::new(documents, rejected, self.corpus).hint;
        Err(ErrorKind::AllRejected { records, first, hint }.into())
    }

    fn check_rejects(&self) -> Result<(), Error> {
        let Some(allowed) = self.plan.max_rejects else { return Ok(()) };
        if self.reading.rejected.len() <= allowed {
            return Ok(());
        }
        // The message names the first reject above the limit instead of the last one in the chunk, so that the message
        // is the same on every run.
        let mut left = allowed;
        let mut last = None;
        self.reading.rejected.for_each(|rejected| {
            if left == 0 && last.is_none() {
                last = Some(rejected.describe(self.corpus));
            }
            left = left.saturating_sub(1);
            Ok(())
        })?;
        let last = last.unwrap_or_default();
        Err(ErrorKind::TooManyRejects { allowed, last }.into())
    }
}

/// Result of one thread for one chunk.
#[derive(Debug)]
struct ReadChunk {
    columns: DocumentColumns,
    rejected: Vec<Rejected>,
    repaired: u64,
    ranks: Ranks,
    /// The first record that could be parsed but lacks the text field.
    without_field: Option<RecordPlace>,
}

impl ReadChunk {
    /// Returns the number of bytes that the documents and the rejected records take.
    fn size_bytes(&self) -> u64 {
        self.columns.size_bytes() + self.rejected.iter().map(Rejected::size_bytes).sum::<u64>()
    }
}

/// Sketching tools that all threads share.
struct SketchTools {
    preparation: Preparation,
    /// The banding, if later stages will ask for band keys.
    rows: Option<RowLayout>,
    /// Whether rows hold band keys and bits instead of registers.
    bits: bool,
    placed: Option<PositionSketcher>,
    /// Lock for documents that must be cut whole although they are too large for the memory of one thread.
    turns: LargeDocumentLock,
}

impl SketchTools {
    fn new(plan: &ReadPlan) -> Result<Self, Error> {
        let spec = &plan.key.spec;
        Ok(Self {
            preparation: Preparation::of_checked(spec, &plan.weighing)?,
            rows: plan.key.banding.map(|banding| RowLayout::new(spec, banding, plan.key.bits)).transpose()?,
            bits: plan.key.bits.is_some(),
            placed: plan.key.places.then(|| PositionSketcher::new(spec.seed)).transpose()?,
            turns: LargeDocumentLock::default(),
        })
    }

    fn shape(&self, keep: &KeepPolicy) -> RowShape {
        let words = match &self.rows {
            Some(rows) if self.bits => rows.words(),
            _ => self.preparation.words(),
        };
        let placed_words = self.placed.as_ref().map(PositionSketcher::words);
        RowShape { words, placed_words, rank_words: keep.words() }
    }

    /// Writes the row of a document and, if the `order` setting needs it, its row of positions.
    fn sketch(
        &self,
        prepared: &Prepared,
        registers: &mut [u32],
        row: &mut [u32],
        placed: Option<&mut [u32]>,
    ) {
        match &self.rows {
            Some(rows) if self.bits => {
                self.preparation.write_sketch(prepared, registers);
                rows.store(registers, row);
            }
            _ => self.preparation.write_sketch(prepared, row),
        }
        if let (Some(tool), Some(out)) = (&self.placed, placed) {
            tool.sketch_into(self.preparation.in_order(prepared), out);
        }
    }
}

/// Buffers of one thread.
struct Worker<'a> {
    spec: Spec,
    keep: &'a KeepPolicy,
    tools: &'a SketchTools,
    prepared: Prepared,
    registers: Vec<u32>,
    scratch: Scratch,
    /// Number of documents in the previous chunk, as an estimate for the next chunk.
    before: usize,
}

impl<'a> Worker<'a> {
    fn new(plan: &'a ReadPlan, tools: &'a SketchTools) -> Self {
        Self {
            spec: plan.key.spec,
            keep: &plan.key.keep,
            tools,
            prepared: Prepared::default(),
            registers: vec![0; tools.preparation.words()],
            scratch: Scratch::new(),
            before: 0,
        }
    }

    /// Reads one chunk into empty columns; also returns the number of lines of the chunk.
    fn read(
        &mut self,
        corpus: &Corpus,
        chunk: &Chunk,
        columns: DocumentColumns,
    ) -> Result<(ReadChunk, u64), Error> {
        let mut part = ReadChunk {
            columns,
            rejected: vec![],
            repaired: 0,
            ranks: Ranks::new(self.keep),
            without_field: None,
        };
        part.columns.reserve(self.before + self.before / 8);
        let Self { spec, keep, tools, prepared, registers, scratch, .. } = self;
        let preparation = &tools.preparation;
        let nulls = corpus.options().nulls;
        let mut failed = None;
        let lines = corpus.scan_long(chunk, scratch, &mut |place, document| match document {
            Ok(document) => {
                let in_order = tools.placed.is_some();
                let turn = tools.turns.take(preparation.is_oversized(&document.text, in_order));
                let has_shingles = match preparation.prepare(&document.text, in_order, prepared) {
                    Ok(has_shingles) => has_shingles,
                    Err(error) => {
                        failed.get_or_insert(error);
                        return;
                    }
                };
                if preparation.shingler().refuses(prepared.units()) {
                    part.rejected.push(too_short(&place, &document, prepared.units(), &spec.shingling));
                } else {
                    part.repaired += u64::from(document.repaired);
                    let new = NewRow {
                        place,
                        id: document.id.as_deref(),
                        kind: if has_shingles { ComparisonKind::Shingled } else { ComparisonKind::Empty },
                        equality_key: prepared.equality_key(),
                    };
                    let number = part.columns.len() as u32;
                    let (row, placed) =
                        part.columns.add(&new, |out| part.ranks.add(keep, number, &document, out));
                    tools.sketch(prepared, registers, row, placed);
                }
                if turn.is_some() {
                    *prepared = Prepared::default();
                }
            }
            Err(Reject { reason: RejectReason::Null { .. }, id, .. }) if nulls == Nulls::Keep => {
                let new = NewRow { place, id: id.as_deref(), kind: ComparisonKind::Null, equality_key: 0 };
                part.columns.add(&new, |out| Ranks::add_last(keep, out));
            }
            Err(Reject { reason: RejectReason::NotText { .. }, id, .. }) => {
                let new = NewRow { place, id: id.as_deref(), kind: ComparisonKind::Skipped, equality_key: 0 };
                part.columns.add(&new, |out| Ranks::add_last(keep, out));
            }
            Err(reject) => {
                if matches!(reject.reason, RejectReason::MissingField { .. }) {
                    part.without_field.get_or_insert(place);
                }
                part.rejected.push(Rejected::new(&place, reject));
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.before = part.columns.len();
        Ok((part, lines.0))
    }
}

fn too_short<T>(
    place: &RecordPlace,
    document: &Document<'_, T>,
    units: usize,
    shingling: &Shingling,
) -> Rejected {
    let units = counted(units as u64, shingling.unit().noun());
    Rejected {
        source: place.source,
        line: place.line + 1,
        id: document.id.as_deref().map(str::to_owned),
        reason: "too_short".to_owned(),
        message: format!("the text has {units}, and a shingle needs {}", shingling.size()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use minwise::Unobserved;

    use super::*;
    use crate::settings::RunSettings;

    #[derive(Default)]
    struct BytesRead(AtomicU64);

    impl Observer for BytesRead {
        fn advance(&self, amount: u64) {
            self.0.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// The figure of the message must be enough, so the test reads the same files again with it.
    #[test]
    fn many_files_that_do_not_fit_are_refused_before_they_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let inputs: Vec<minwise_corpus::Input> = (0..4)
            .map(|file| {
                let path = folder.path().join(format!("{file}.jsonl"));
                let lines: Vec<String> =
                    (0..50_000).map(|i| format!("{{\"text\":\"{file} {i}\"}}\n")).collect();
                fs_err::write(&path, lines.concat()).unwrap();
                path.into()
            })
            .collect();
        let corpus = Corpus::open(&inputs, &ReadOptions::default(), &Unobserved).unwrap();
        let read_with = |memory| {
            let settings = RunSettings { threads: Some(1), memory: Some(memory), ..RunSettings::default() };
            let observer = BytesRead::default();
            let reading = read(&corpus, &settings.plan().unwrap().reading(), &observer);
            (reading, observer.0.into_inner())
        };
        let (refused, bytes) = read_with(MemoryLimit::least(1, 0, 0));
        let error = refused.unwrap_err();
        let ErrorKind::TooLittleMemory { needed, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(bytes, 0, "bytes were read");
        let (reading, bytes) = read_with(*needed);
        assert_eq!((reading.unwrap().documents.len(), bytes), (200_000, corpus.size_bytes()));
    }
}
