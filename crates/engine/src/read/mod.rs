//! The first stage: every document read, shingled and sketched, and little of it remembered.

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
use crate::read::documents::{ComparisonKind, DocumentColumns, Documents, NewRow, RepeatedIds, RowShape};
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

/// Bytes of one file from which on the number of its documents is estimated.
const SAMPLE_BYTES: u64 = 16 << 20;
/// Bytes that one thread reads at a time: enough that handing out work costs nothing, few enough that all threads
/// finish together.
const CHUNK_BYTES: u64 = 2 << 20;
const LEAST_CHUNK_BYTES: u64 = 64 << 10;
/// Chunks that the memory for waiting documents has room for, by the bytes of their files.
const CHUNKS_WAITING: u64 = 32;
/// Segments that a run has in its folder, about, if none of them is smaller than the least.
const SEGMENTS: u64 = 256;
const LEAST_SEGMENT_BYTES: u64 = 1 << 20;
/// Records among which one must have the field that is to hold the text.
const SOUGHT_IN: u64 = 1000;
/// The code of a record whose text is null.
const NULL: &str = "null";
/// The code of a file that cannot be read.
const UNREADABLE: &str = "unreadable";
/// The section of a segment that has its rejected records.
const REJECTS: &str = "rejects";

/// What the first stage found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The documents.
    pub documents: Documents,
    /// The records that were not taken in.
    pub rejected: Rejects,
    /// How many of the first documents are of references.
    pub references: u32,
    /// Documents in which lone surrogates were replaced.
    pub repaired: u64,
    /// What could not be ranked.
    pub(crate) ranks: Ranks,
    /// By what the documents were read.
    pub(crate) key: ReadKey,
}

/// How far reading has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ReadProgress {
    /// Bytes of a chunk. A run that is resumed cuts its inputs as the process before it did, because chunks are counted.
    chunk_bytes: u64,
    /// Chunks that are done.
    chunks: usize,
    /// The source of the last of them, and its lines so far: lines are numbered within a source.
    source: u32,
    lines: u64,
}

/// What a segment in the folder of a run says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct SegmentHeader {
    documents: usize,
    rejected: u64,
    rejected_of_references: u64,
    repaired: u64,
    ranks: Ranks,
    after: ReadProgress,
}

/// Refuses a keeper policy whose fields the corpus was not opened for: it would rank nothing.
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
/// Fails with
/// - [`ErrorKind::Corpus`] if an input cannot be read, and [`ErrorKind::File`] if a file of the run cannot be read or written;
/// - [`ErrorKind::Settings`] if the keeper policy looks at a field that the corpus was opened without, and
///   [`ErrorKind::NoSuchField`] if no document has it, or has the field that was given for ids;
/// - [`ErrorKind::NoTextField`] if none of the first thousand records has the field of the text, [`ErrorKind::AllRejected`] if
///   no record is a document, [`ErrorKind::TooManyRejects`] if more are rejected than the plan allows, and
///   [`ErrorKind::NullText`] if a text is null and nulls are to be errors;
/// - [`ErrorKind::TooManyDocuments`] or [`ErrorKind::TooLittleMemory`] if the corpus is too large;
/// - [`ErrorKind::Changed`] if a run that is resumed had other inputs;
/// - [`ErrorKind::Cancelled`] if the observer cancels.
pub fn read(corpus: &Corpus, plan: &ReadPlan, observer: &dyn Observer) -> Result<Reading, Error> {
    check_fields(corpus, plan)?;
    observer.begin(Stage::Read, corpus.size_bytes());

    let tools = SketchTools::new(plan)?;
    let mut desk = Desk::new(corpus, plan, &tools)?;
    let (chunks, from) = (corpus.chunks(desk.progress.chunk_bytes), desk.progress.chunks);
    desk.bytes_read = chunks.iter().take(from).map(Chunk::size_bytes).sum();
    observer.advance(desk.bytes_read);
    if from > 0 {
        // This process may have less memory than the one before it.
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

    check_id_field(corpus, &reading.documents)?;
    let room = plan.memory.room(plan.threads, reading.documents.len());
    reading.references = reading.documents.partition_point(|place| place.source < corpus.references())?;
    let warned = reading.documents.find_repeated_ids(corpus, room, reading.references)?;
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

/// Refuses a field of ids that was asked for and that no document has. Tables and CSV are refused when they are opened.
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

/// The bytes of a chunk.
///
/// Each thread holds what is remembered of the documents of one chunk, which may be eighty times its bytes if every record has
/// seven. So little memory makes small chunks.
fn chunk_bytes(plan: &ReadPlan) -> u64 {
    let share = plan.memory.room(plan.threads, 0).waiting() / CHUNKS_WAITING;
    share.clamp(LEAST_CHUNK_BYTES, CHUNK_BYTES)
}

/// Reads chunks with several threads.
fn read_in_parallel<'a>(
    chunks: &[Chunk],
    desk: &mut Desk<'_>,
    prepare: impl Fn() -> Worker<'a> + Sync,
    work: impl Fn(&mut Worker<'a>, &Chunk, DocumentColumns) -> Result<(ReadChunk, u64), Error> + Sync,
) -> Result<(), Error> {
    // The columns of a chunk go from hand to hand. The allocator gives freed memory back after a while only, and new columns
    // for every chunk took 60 MiB more than the run uses.
    let spare = Mutex::new(Vec::<DocumentColumns>::new());
    let (plan, shape) = (desk.plan, desk.tools.shape(&desk.plan.key.keep));
    let work = |worker: &mut Worker<'a>, chunk: usize| {
        let emptied = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let columns = emptied.unwrap_or_else(|| DocumentColumns::new(shape));
        Ok((chunk, work(worker, &chunks[chunk], columns)?))
    };
    // Sketches of short documents take more memory than their texts: a chunk of 2 MiB becomes 40 MB if every record has fifty
    // bytes. A thread that the system does not let run would otherwise keep many such chunks waiting.
    let most_waiting = plan.memory.room(plan.threads, 0).waiting();
    let size = |(_, (part, _)): &(usize, (ReadChunk, u64))| part.size_bytes();
    let receive = |(chunk, part): (usize, (ReadChunk, u64))| {
        let emptied = desk.take_in(&chunks[chunk], part)?;
        spare.lock().unwrap_or_else(PoisonError::into_inner).push(emptied);
        Ok(())
    };
    parallel::in_order_within(most_waiting, size, chunks.len(), plan.threads, prepare, work, receive)
}

/// Where the parts that threads have read are put together, and put away when they are too many.
struct Desk<'a> {
    corpus: &'a Corpus,
    plan: &'a ReadPlan,
    tools: &'a SketchTools,
    reading: Reading,
    progress: ReadProgress,
    /// Segments in the folder of the run.
    segments: usize,
    /// Bytes of the chunks that were read, also by an earlier process.
    bytes_read: u64,
    /// What has not gone into a segment yet.
    pending: PendingSegment,
    /// Bytes in memory from which on they are put away.
    most_bytes: u64,
    field: FieldSought,
}

/// The look for the field that is to hold the text, until one record has it.
#[derive(Debug, Default)]
struct FieldSought {
    /// Whether a record has the field, or an earlier process has read the first ones.
    is_found: bool,
    /// Records that were looked at, none of which has it.
    records: u64,
    /// The first of them that could be read.
    example: Option<RecordPlace>,
}

impl FieldSought {
    /// Looks at the next records. Fails if there have been a thousand without the field.
    fn look(&mut self, part: &ReadChunk, corpus: &Corpus) -> Result<(), Error> {
        if self.is_found {
            return Ok(());
        }
        // An empty list has no element that could lack the field.
        let first = if corpus.options().text_fields.iter().any(FieldPath::has_lists) {
            part.columns.first_shingled()
        } else {
            part.columns.first_place()
        };
        let first_document = first.map(|place| place.line);
        let is_before = |rejected: &Rejected| first_document.is_none_or(|line| rejected.line <= line);
        // A file that cannot be read says nothing about the fields of records.
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

    /// Fails if every record could be read and lacks the field.
    fn fail(&self, records: u64, corpus: &Corpus) -> Result<(), Error> {
        let Some(example) = self.example.filter(|_| !self.is_found) else { return Ok(()) };
        let field =
            corpus.options().text_fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let fields = corpus.field_names(&example, &mut Scratch::new())?;
        Err(ErrorKind::NoTextField { field, records, fields }.into())
    }
}

/// Whether a rejected record does not have the field that is to hold the text.
fn lacks_field(rejected: &Rejected) -> bool {
    matches!(&*rejected.reason, "missing_field" | "invalid_json" | "not_an_object" | "invalid_utf8")
}

/// What is counted for a segment while it grows.
#[derive(Debug, Default)]
struct PendingSegment {
    rejected: u64,
    rejected_of_references: u64,
    repaired: u64,
    ranks: Ranks,
    /// Chunks, since even one without documents need not be read again.
    chunks: usize,
}

impl PendingSegment {
    fn new(plan: &ReadPlan) -> Self {
        Self { ranks: Ranks::new(&plan.key.keep), ..Self::default() }
    }
}

impl<'a> Desk<'a> {
    fn new(corpus: &'a Corpus, plan: &'a ReadPlan, tools: &'a SketchTools) -> Result<Self, Error> {
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

    /// Takes in what an earlier process has read.
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

    /// Takes in what one thread found in the next chunk, and gives the columns back, which are empty then.
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
            // Growing step by step would copy everything several times and need twice the memory while it does. Memory
            // that is reserved and never used costs nothing; where there is a limit on it, growing must do.
            let share = self.corpus.size_bytes() as f64 / chunk.size_bytes() as f64;
            let expected = part.columns.len() as f64 * share * 1.1;
            let bytes = part.columns.size_bytes() as f64 / part.columns.len().max(1) as f64;
            let most = (self.most_bytes as f64 / bytes.max(1.0)) * 1.1;
            self.reading.documents.reserve(expected.min(most) as usize);
        }
        // An example is told by its number within a segment there, and by that among all documents here.
        let (held, before) = (self.reading.documents.held_len(), self.reading.documents.len());
        self.pending.ranks.append(&mut part.ranks.clone(), held as u32);
        self.reading.ranks.append(&mut part.ranks, before as u32);
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

    /// Moves what is in memory to disk.
    fn put_away(&mut self) -> Result<(), Error> {
        let Reading { documents, rejected, .. } = &mut self.reading;
        let rows = self.tools.rows.as_ref();
        let Some(work) = self.plan.work.as_deref() else {
            let held = documents.held_len();
            let file = documents.spill(rows, self.plan.temporary.as_deref())?;
            let begin = file.append(rejected.held())?;
            let end = begin + rejected.held().len() as u64;
            rejected.now_stored(Medium::Temporary(file), begin..end);
            // From here on everything is on disk sooner or later, and smaller pieces leave more room for other things.
            let room = self.plan.memory.room(self.plan.threads, documents.len());
            if room.segment() <= self.most_bytes / 2 {
                let share = room.segment() as f64 / self.most_bytes as f64;
                documents.give_back_room();
                documents.reserve((held as f64 * share * 1.1) as usize);
            }
            self.most_bytes = self.most_bytes.min(room.segment());
            self.pending = PendingSegment::new(self.plan);
            return Ok(());
        };
        let piece = WorkFile::Segment(self.segments);
        let mut writer = work.create(piece)?;
        let mut open: Option<SegmentSection> = None;
        let mut begun = vec![];
        let documents_here = documents.write_held(rows, |section, bytes| {
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
        self.check_documents()?;
        // What is found out later needs the memory, and a run that is taken up again must find everything.
        let unfinished = self.plan.work.is_some() && self.pending.chunks > 0;
        if unfinished || self.reading.documents.is_stored() && self.held_bytes() > 0 {
            self.put_away()?;
        }
        if self.reading.documents.is_stored() {
            self.reading.documents.give_back_room();
        }
        Ok(self.reading)
    }

    fn check_size(&self) -> Result<(), Error> {
        let documents = self.reading.documents.len();
        // The last number is left free to mean "none".
        if documents >= u32::MAX as usize {
            return Err(ErrorKind::TooManyDocuments.into());
        }
        let (allowed, asked) = (self.plan.memory, self.plan.threads);
        let rank_words = self.plan.key.keep.words();
        let fits = |threads, documents| {
            MemoryLimit::least(threads, documents, rank_words).bytes() <= allowed.bytes()
        };
        // Threads shrink as documents grow, unless there is no memory for them from the beginning.
        let is_first = self.progress.chunks <= 1;
        let expected = self.expected_documents();
        // A part of one file tells of the rest. The files of a corpus may differ too much.
        let is_known = self.corpus.sources().len() == 1
            && self.bytes_read >= SAMPLE_BYTES.min(self.corpus.size_bytes() / 64);
        let is_hopeless = is_known && !fits(1, expected / 2);
        if fits(if is_first { asked } else { 1 }, documents) && !is_hopeless {
            return Ok(());
        }
        // Later documents may be shorter than the first ones.
        let expected =
            if self.bytes_read < self.corpus.size_bytes() { expected + expected / 10 } else { documents };
        let threads = (1..asked).rev().find(|&threads| fits(threads, expected));
        let needed = MemoryLimit::least(asked, expected, rank_words);
        let parts = MemoryLimit::parts(asked, expected, rank_words);
        let [program, of_threads, of_documents] = parts.map(MemoryLimit::rounded_up);
        let (asked, documents) = (counted(asked as u64, "thread"), counted(expected as u64, "document"));
        let reason = format!(
            "the program needs {program} of memory, {asked} {of_threads}, and {documents} {of_documents} or more"
        );
        Err(ErrorKind::TooLittleMemory { allowed, needed, reason, threads }.into())
    }

    /// About how many documents there are in all, told by those that were read so far.
    fn expected_documents(&self) -> usize {
        let documents = self.reading.documents.len();
        let share = self.corpus.size_bytes() as f64 / self.bytes_read.max(1) as f64;
        (documents as f64 * share.max(1.0)) as usize
    }

    /// Refuses inputs of which every record was rejected. Inputs without records are fine.
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
        // The one that is too many, whatever else the same chunk held, so that the message is always the same.
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

/// What one thread found in one chunk.
#[derive(Debug)]
struct ReadChunk {
    columns: DocumentColumns,
    rejected: Vec<Rejected>,
    repaired: u64,
    ranks: Ranks,
    /// The first record that could be read and does not have the field of the text.
    without_field: Option<RecordPlace>,
}

impl ReadChunk {
    /// Bytes of the documents and of the rejected records.
    fn size_bytes(&self) -> u64 {
        self.columns.size_bytes() + self.rejected.iter().map(Rejected::size_bytes).sum::<u64>()
    }
}

/// What all threads sketch with.
struct SketchTools {
    preparation: Preparation,
    /// The bands whose keys will be asked for.
    rows: Option<RowLayout>,
    /// Whether rows are something else than registers.
    bits: bool,
    placed: Option<PositionSketcher>,
    /// For documents that are cut whole though they are too large for it.
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

    /// Writes what is remembered of a sketch.
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

/// One thread's room to work in.
struct Worker<'a> {
    spec: Spec,
    keep: &'a KeepPolicy,
    tools: &'a SketchTools,
    prepared: Prepared,
    registers: Vec<u32>,
    scratch: Scratch,
    /// Documents of the chunk before, as a guess at those of the next.
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

    /// Reads one chunk into empty columns; gives how many lines it has too.
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
