//! Copies rows from one Parquet file to another.
//!
//! Columns of long texts are copied in parts, most of them page by page without decoding ([`parts`](super::parts)). All
//! other columns are decoded and encoded as a whole, so that they have statistics.
//!
//! With several threads, each thread copies a column or a part to memory, and the calling thread writes them in order.
//! The bytes of the output are those of a copy with one thread. Columns that do not fit into the memory are written by
//! the calling thread.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::iter::Peekable;
use std::ops::Range;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl, get_column_writer};
use ::parquet::data_type::DataType;
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use ::parquet::file::page_index::offset_index::PageLocation;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use ::parquet::file::reader::ChunkReader;
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::SchemaDescPtr;
use flate2::Crc;

use super::pages::StoredPage;
use super::parts::{ChunkPlan, Part, plan};
use super::target::{TableFile, WrittenPages};
use super::write::properties;
use super::{ParquetFile, place};
use crate::container::table::{Foreign, OpenTable, Selection, guarded, selections};
use crate::document::RecordPlace;
use crate::error::{Error, Result};
use crate::output::{Output, TableCompression};
use crate::source::SourceReader;
use crate::sources::Sources;

/// Number of bytes of one column that are decoded together.
const BATCH_BYTES: u64 = 1 << 20;
/// Maximum number of rows that are decoded together.
pub(super) const BATCH_ROWS: usize = 1024;

/// Writes the rows at `places` as one Parquet file, in the form of the first of `sources`.
pub(super) fn copy(
    sources: &Sources,
    numbers: Range<u32>,
    places: &mut dyn Iterator<Item = RecordPlace>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let first = model(sources, numbers)?;
    let about = first.metadata.file_metadata();
    let properties = properties(&first.metadata, about.key_value_metadata().cloned(), compression);
    let schema = about.schema_descr().root_schema_ptr();
    let room = CopyRoom::of(out, compression);
    let mut target = TableFile::new(out, schema, properties).map_err(writing)?;
    let part_of = |source, row| file(sources, source).map_or(0, |file| file.group_of(row));
    let selections = selections(places.map(|place| (place, ())), part_of);
    copy_groups(sources, selections, &mut target, room, |_, _| Ok(()))?;
    target.finish().map_err(writing)
}

/// Number of threads of a copy, and its memory limit.
#[derive(Clone, Copy)]
pub(super) struct CopyRoom {
    threads: usize,
    /// Maximum number of bytes of columns in memory.
    bytes: u64,
    /// Whether columns keep their compression, so that their compressed size is known.
    keeps: bool,
}

impl CopyRoom {
    pub(super) fn of(out: &Output, compression: TableCompression) -> Self {
        let keeps = compression == TableCompression::Keep;
        Self { threads: out.threads(), bytes: out.buffer_bytes(), keeps }
    }

    /// Estimates the bytes of the copy of a column, if all rows are copied.
    fn column_bytes(self, chunk: &ColumnChunkMetaData) -> u64 {
        let bytes = if self.keeps { chunk.compressed_size() } else { chunk.uncompressed_size() };
        bytes.max(0).cast_unsigned()
    }

    /// Estimates the bytes of the copy of a row group, if all rows are copied.
    fn group_bytes<T>(self, sources: &Sources, selection: &Selection<T>) -> Result<u64> {
        // A missing row group counts nothing, because the copy itself reports it.
        let group = file(sources, selection.source)?.metadata.row_groups().get(selection.part);
        Ok(group
            .map_or(&[][..], RowGroupMetaData::columns)
            .iter()
            .map(|chunk| self.column_bytes(chunk))
            .sum())
    }

    /// Takes the next selections whose copies fit into the memory together, and at least one selection.
    fn round<T>(
        self,
        sources: &Sources,
        selections: &mut Peekable<impl Iterator<Item = Selection<T>>>,
    ) -> Result<Vec<Selection<T>>> {
        /// Maximum number of row groups per thread, because the row numbers of each selection take memory, too.
        const PER_THREAD: usize = 4;
        let (mut round, mut bytes) = (vec![], 0);
        while let Some(next) = selections.peek() {
            let more = self.group_bytes(sources, next)?;
            if !round.is_empty() && (bytes + more > self.bytes || round.len() >= PER_THREAD * self.threads) {
                break;
            }
            bytes += more;
            round.extend(selections.next());
        }
        Ok(round)
    }
}

/// Copies each selection to a row group. `add` appends the columns that the sources do not have.
pub(super) fn copy_groups<T: Sync>(
    sources: &Sources,
    selections: impl Iterator<Item = Selection<T>>,
    target: &mut TableFile<'_>,
    room: CopyRoom,
    add: impl Fn(&Selection<T>, &mut TableFile<'_>) -> Result<()>,
) -> Result<()> {
    let mut selections = selections.peekable();
    loop {
        let round = room.round(sources, &mut selections)?;
        if round.is_empty() {
            return Ok(());
        }
        let (_, properties) = target.form();
        let mut columns = vec![];
        for selection in &round {
            columns.push(column_copies(sources, selection, &properties)?);
        }
        copy_round(&Round { sources, selections: &round, columns: &columns, room }, target, &add)?;
    }
}

/// Copy of a column of a row group.
struct ColumnCopy {
    number: usize,
    /// The parts of the column; `None` if the column is copied as a whole.
    plan: Option<ChunkPlan>,
}

/// Plans the copies of the columns of a selection.
fn column_copies<T>(
    sources: &Sources,
    selection: &Selection<T>,
    properties: &WriterPropertiesPtr,
) -> Result<Vec<ColumnCopy>> {
    let schema = file(sources, selection.source)?.metadata.file_metadata().schema_descr();
    let copies = (0..schema.num_columns()).map(|number| {
        let plan = copying(sources, selection, number, |column| {
            let compression = properties.compression(column.chunk.column_path());
            plan(&column.reader, column.chunk, column.group_rows, &column.rows(selection), compression)
        })?;
        Ok(ColumnCopy { number, plan })
    });
    copies.collect()
}

/// Selections that are copied together.
struct Round<'r, T> {
    sources: &'r Sources,
    selections: &'r [Selection<T>],
    /// The columns of each selection.
    columns: &'r [Vec<ColumnCopy>],
    room: CopyRoom,
}

/// Work of one thread: a column or a part of a column.
struct CopyTask<'r, T> {
    selection: &'r Selection<T>,
    number: usize,
    part: Option<(&'r ChunkPlan, &'r Part)>,
    /// Estimated bytes of the result.
    bytes: u64,
}

/// Result of a task.
enum Copied {
    Column(WrittenColumn),
    Pages(WrittenPages),
    /// The column does not fit into the memory, and has to be written directly.
    Direct,
}

/// Copied column of a row group, in memory.
struct WrittenColumn {
    bytes: Vec<u8>,
    closed: ColumnCloseResult,
}

impl<'r, T> Round<'r, T> {
    /// Returns all tasks, in the order of the output.
    fn tasks(&self) -> Result<Vec<CopyTask<'r, T>>> {
        let mut tasks = vec![];
        for (selection, columns) in self.selections.iter().zip(self.columns) {
            let group = file(self.sources, selection.source)?.metadata.row_groups().get(selection.part);
            for ColumnCopy { number, plan } in columns {
                let number = *number;
                let Some(plan) = plan else {
                    let chunk = group.and_then(|group| group.columns().get(number));
                    let bytes = chunk.map_or(0, |chunk| self.room.column_bytes(chunk));
                    tasks.push(CopyTask { selection, number, part: None, bytes });
                    continue;
                };
                tasks.extend(plan.parts.iter().map(|part| CopyTask {
                    selection,
                    number,
                    part: Some((plan, part)),
                    bytes: part.bytes(),
                }));
            }
        }
        Ok(tasks)
    }

    /// Writes all selections. `next` returns the result of the next task.
    fn write(
        &self,
        target: &mut TableFile<'_>,
        add: &impl Fn(&Selection<T>, &mut TableFile<'_>) -> Result<()>,
        mut next: impl FnMut(&mut dyn FnMut(Copied) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        for (selection, columns) in self.selections.iter().zip(self.columns) {
            for ColumnCopy { number, plan } in columns {
                let Some(plan) = plan else {
                    next(&mut |copied| match copied {
                        Copied::Column(WrittenColumn { bytes, closed }) => {
                            target.append_column(&bytes, closed).map_err(writing)
                        }
                        Copied::Pages(_) | Copied::Direct => {
                            copy_directly(self.sources, selection, *number, target)
                        }
                    })?;
                    continue;
                };
                let mut column = copying(self.sources, selection, *number, |column| {
                    let codec = column.chunk.compression_codec();
                    let dictionary = plan.dictionary.map(|page| column.stored(&[page])).transpose()?;
                    let dictionary = dictionary.as_ref().map(|page| (&*page.bytes, page.unfolded_bytes));
                    target.begin_paged(codec, plan.encodings.clone(), dictionary)
                })?;
                for _ in &plan.parts {
                    next(&mut |copied| match copied {
                        Copied::Pages(pages) => target.write_pages(&mut column, pages).map_err(writing),
                        Copied::Column(_) | Copied::Direct => Err(ended_early()),
                    })?;
                }
                target.end_paged(column).map_err(writing)?;
            }
            add(selection, target)?;
            target.end_group().map_err(writing)?;
        }
        Ok(())
    }
}

/// Copies selections, with several threads if there are some.
fn copy_round<T: Sync>(
    round: &Round<'_, T>,
    target: &mut TableFile<'_>,
    add: &impl Fn(&Selection<T>, &mut TableFile<'_>) -> Result<()>,
) -> Result<()> {
    let tasks = round.tasks()?;
    let (schema, properties) = target.form();
    let form = (&schema, &properties);
    let threads = round.room.threads.min(tasks.len());
    if threads < 2 {
        let mut tasks = tasks.iter();
        return round.write(target, add, |take| match tasks.next().map(|task| (task, task.part)) {
            Some((task, Some((plan, part)))) => {
                take(Copied::Pages(copied_part(round.sources, task, plan, part, &properties)?))
            }
            _ => take(Copied::Direct),
        });
    }
    let gate = Gate::new(round.room.bytes);
    let (send, receive) = channel();
    thread::scope(|scope| {
        let mut workers = vec![];
        for _ in 0..threads {
            let (send, tasks, gate) = (send.clone(), &tasks, &gate);
            workers.push(scope.spawn(move || {
                let _open = OpenOnPanic(gate);
                while let Some((number, task)) = gate.next(tasks) {
                    let copied = match task.part {
                        Some((plan, part)) => {
                            copied_part(round.sources, task, plan, part, form.1).map(Copied::Pages)
                        }
                        None => copied_column(round.sources, (number, task), form, gate),
                    };
                    // `send` fails only after an error, because the receiver is dropped then.
                    if send.send((number, copied)).is_err() {
                        return;
                    }
                }
            }));
        }
        drop(send);
        let mut results = Results { receive, next: 0, waiting: BTreeMap::new() };
        let ended = round.write(target, add, |take| {
            let number = results.next;
            let copied = results.next()?;
            take(copied)?;
            gate.release(number);
            Ok(())
        });
        gate.open();
        drop(results);
        // A scope that joins by itself replaces the message of a worker that panicked by one of its own.
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        ended
    })
}

/// Hands out tasks in order, and bounds the bytes of results that are not yet written.
struct Gate {
    most_bytes: u64,
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    next: usize,
    /// Bytes of each task that is being worked on or waits to be written.
    held: BTreeMap<usize, u64>,
    /// Sum of `held`.
    held_bytes: u64,
    /// Whether no more tasks are handed out.
    is_over: bool,
}

impl Gate {
    fn new(most_bytes: u64) -> Self {
        Self { most_bytes, state: Mutex::default(), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        // A panic under the lock leaves valid data, because no change under the lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the result of the next task fits into the memory, and returns the task; `None` at the end. The first
    /// task that is not yet written always fits, because otherwise nothing would go on.
    fn next<'t, 'r, T>(&self, tasks: &'t [CopyTask<'r, T>]) -> Option<(usize, &'t CopyTask<'r, T>)> {
        let mut state = self.state();
        loop {
            let number = state.next;
            let task = tasks.get(number).filter(|_| !state.is_over)?;
            if state.held.is_empty() || state.held_bytes + task.bytes <= self.most_bytes {
                state.next += 1;
                state.held.insert(number, task.bytes);
                state.held_bytes += task.bytes;
                return Some((number, task));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reports whether a result may have `bytes` bytes, which are more than were estimated.
    fn grow(&self, number: usize, bytes: u64) -> bool {
        let mut state = self.state();
        let before = state.held.get(&number).copied().unwrap_or(0);
        let all = state.held_bytes - before + bytes;
        if all > self.most_bytes {
            return false;
        }
        state.held.insert(number, bytes);
        state.held_bytes = all;
        true
    }

    /// Ends a task whose result was written.
    fn release(&self, number: usize) {
        let mut state = self.state();
        state.held_bytes -= state.held.remove(&number).unwrap_or(0);
        self.changed.notify_all();
    }

    /// Hands out no more tasks.
    fn open(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }
}

/// Opens the gate if a thread panics, so that no other thread waits for its result.
struct OpenOnPanic<'g>(&'g Gate);

impl Drop for OpenOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.open();
        }
    }
}

/// Results of tasks, which `next` returns in the order of the output.
struct Results {
    receive: Receiver<(usize, Result<Copied>)>,
    next: usize,
    /// Results that threads finished before an earlier result.
    waiting: BTreeMap<usize, Result<Copied>>,
}

impl Results {
    fn next(&mut self) -> Result<Copied> {
        loop {
            if let Some(copied) = self.waiting.remove(&self.next) {
                self.next += 1;
                return copied;
            }
            // `recv` fails only if a thread panicked, and then joining the thread resumes the panic.
            let (number, copied) = self.receive.recv().map_err(|_| ended_early())?;
            self.waiting.insert(number, copied);
        }
    }
}

fn ended_early() -> Error {
    writing(ParquetError::General("a thread ended early".to_owned()))
}

/// Bytes of a column in memory. If the column does not fit into the memory, writing fails and sets `is_full`.
struct ColumnBytes<'g> {
    bytes: Vec<u8>,
    gate: &'g Gate,
    number: usize,
    reserved: u64,
    is_full: &'g mut bool,
}

impl Write for ColumnBytes<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let len = (self.bytes.len() + part.len()) as u64;
        if len > self.reserved {
            if !self.gate.grow(self.number, len) {
                *self.is_full = true;
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            self.reserved = len;
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies a column of the selected rows to memory, if the column fits.
fn copied_column<T>(
    sources: &Sources,
    (number, task): (usize, &CopyTask<'_, T>),
    (schema, properties): (&SchemaDescPtr, &WriterPropertiesPtr),
    gate: &Gate,
) -> Result<Copied> {
    if task.bytes > gate.most_bytes {
        return Ok(Copied::Direct);
    }
    let mut is_full = false;
    let copied = copying(sources, task.selection, task.number, |column| {
        let bytes = ColumnBytes { bytes: vec![], gate, number, reserved: task.bytes, is_full: &mut is_full };
        let mut sink = TrackedWrite::new(bytes);
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut to = get_column_writer(schema.column(task.number), Arc::clone(properties), pages);
        column.copy(&column.rows(task.selection), &mut to)?;
        let closed = to.close()?;
        Ok(WrittenColumn { bytes: sink.into_inner()?.bytes, closed })
    });
    match copied {
        Err(_) if is_full => Ok(Copied::Direct),
        copied => copied.map(Copied::Column),
    }
}

/// Copies a part of a column to memory.
fn copied_part<T>(
    sources: &Sources,
    task: &CopyTask<'_, T>,
    plan: &ChunkPlan,
    part: &Part,
    properties: &WriterPropertiesPtr,
) -> Result<WrittenPages> {
    copying(sources, task.selection, task.number, |column| match part {
        Part::Stored { pages } => column.stored(pages),
        Part::Decoded { rows, .. } => {
            let properties = WriterProperties::builder()
                .set_compression(properties.compression(column.chunk.column_path()))
                .set_encoding(plan.encoding)
                .set_dictionary_enabled(false)
                .set_statistics_enabled(EnabledStatistics::None)
                .build();
            let mut sink = TrackedWrite::new(vec![]);
            let pages = Box::new(SerializedPageWriter::new(&mut sink));
            let mut to = get_column_writer(column.chunk.column_descr_ptr(), Arc::new(properties), pages);
            column.copy_part(plan, rows, &mut to)?;
            let closed = to.close()?;
            let missing = || ParquetError::General("a column has no places of pages".to_owned());
            Ok(WrittenPages {
                locations: closed.offset_index.ok_or_else(missing)?.page_locations,
                rows: i64::try_from(closed.rows_written)?,
                unfolded_bytes: closed.metadata.uncompressed_size(),
                bytes: sink.into_inner()?,
            })
        }
    })
}

/// Converts an error of the writer. The error is our own, or is one that no input can cause.
pub(super) fn writing(error: ParquetError) -> Error {
    Foreign::from(error).while_writing("the row group being written")
}

/// Returns the open Parquet file of a source.
pub(super) fn file(sources: &Sources, source: u32) -> Result<&ParquetFile> {
    Ok(&sources.content_as::<OpenTable<ParquetFile>>(source)?.form)
}

/// Returns the file whose form the output takes: the first that has rows, because only row groups state compression
/// and encodings.
pub(super) fn model(sources: &Sources, numbers: Range<u32>) -> Result<&ParquetFile> {
    let has_rows = |source: &u32| file(sources, *source).is_ok_and(|file| file.metadata.num_row_groups() > 0);
    // A source that cannot be read has no form, so it is skipped.
    let is_table = |source: &u32| file(sources, *source).is_ok();
    let model = numbers.clone().find(has_rows).or_else(|| numbers.clone().find(is_table));
    file(sources, model.unwrap_or(numbers.start))
}

/// Copies a column of the selected rows to the output, page by page.
fn copy_directly<T>(
    sources: &Sources,
    selection: &Selection<T>,
    number: usize,
    target: &mut TableFile<'_>,
) -> Result<()> {
    copying(sources, selection, number, |column| {
        target.write_column(|to| column.copy(&column.rows(selection), to))
    })
}

/// Calls `copy` with a column of a selection. Errors name the file, the row group and the column.
fn copying<T, C>(
    sources: &Sources,
    selection: &Selection<T>,
    number: usize,
    copy: impl FnOnce(&SourceColumn<'_>) -> ParquetResult<C>,
) -> Result<C> {
    let file = file(sources, selection.source)?;
    let reader = sources.reader(selection.source)?;
    let copied = guarded(|| {
        let no_group = || ParquetError::General("there is no such row group".to_owned());
        let rows = &file.groups.get(selection.part).ok_or_else(no_group)?.rows;
        let chunk = file.metadata.row_group(selection.part).column(number);
        let (first_row, group_rows) = (rows.start, rows.end - rows.start);
        copy(&SourceColumn { reader: reader.clone(), chunk, first_row, group_rows })
    });
    copied.map_err(|error| {
        let column = file.metadata.file_metadata().schema_descr().column(number);
        error.at(reader.name(), place(selection.part, &column.path().string()))
    })
}

/// Column chunk that rows are copied from.
struct SourceColumn<'f> {
    reader: SourceReader,
    chunk: &'f ColumnChunkMetaData,
    /// Number of the first row of the row group in its file.
    first_row: u64,
    group_rows: u64,
}

impl SourceColumn<'_> {
    /// Returns the rows of a selection as ranges of rows of the row group.
    fn rows<T>(&self, selection: &Selection<T>) -> Vec<Range<u64>> {
        let rows = selection.rows.iter();
        rows.map(|rows| rows.start - self.first_row..rows.end - self.first_row).collect()
    }

    /// Returns adjacent pages as they are stored.
    fn stored(&self, pages: &[StoredPage]) -> ParquetResult<WrittenPages> {
        let begin = pages.first().map_or(0, |page| page.offset);
        let end = pages.last().map_or(0, |page| page.bytes().end);
        let mut bytes = vec![0; usize::try_from(end - begin)?];
        self.reader
            .read_exact_at(begin, &mut bytes)
            .map_err(|error| ParquetError::External(Box::new(error)))?;
        let mut written = WrittenPages {
            bytes: vec![],
            locations: Vec::with_capacity(pages.len()),
            rows: 0,
            unfolded_bytes: 0,
        };
        for page in pages {
            let location = page.location(written.rows.cast_unsigned())?;
            let offset = location.offset - begin.cast_signed();
            let header_bytes = page.header.header_bytes as usize;
            let content = bytes.get(offset as usize..).and_then(|bytes| bytes.get(header_bytes..));
            let content = content.and_then(|content| content.get(..page.header.stored_bytes as usize));
            if let (Some(checksum), Some(content)) = (page.header.checksum, content) {
                let mut crc = Crc::new();
                crc.update(content);
                if crc.sum() != checksum {
                    return Err(ParquetError::General("a page does not fit its checksum".to_owned()));
                }
            }
            written.locations.push(PageLocation { offset, ..location });
            written.rows += page.rows().cast_signed();
            written.unfolded_bytes += (page.header.header_bytes + page.header.unfolded_bytes).cast_signed();
        }
        written.bytes = bytes;
        Ok(written)
    }

    /// Copies rows of a part.
    fn copy_part(
        &self,
        plan: &ChunkPlan,
        rows: &[Range<u64>],
        to: &mut ColumnWriter<'_>,
    ) -> ParquetResult<()> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
        let all = usize::try_from(first.start)?..usize::try_from(last.end)?;
        let source = Arc::new(self.reader.clone());
        let (pages, skipped) = plan.pages.open(source, self.chunk, all, usize::try_from(self.group_rows)?)?;
        self.transfer(pages, first.start - skipped as u64, rows, to)
    }

    /// Copies rows, given as ranges of rows of the row group.
    fn copy(&self, rows: &[Range<u64>], to: &mut ColumnWriter<'_>) -> ParquetResult<()> {
        let source = Arc::new(self.reader.clone());
        let group_rows = usize::try_from(self.group_rows)?;
        let pages = SerializedPageReader::new(source, self.chunk, group_rows, None)?;
        self.transfer(pages, 0, rows, to)
    }

    /// Copies rows from `pages`, which begin with the row `begin` of the row group.
    fn transfer<R: ChunkReader + 'static>(
        &self,
        pages: SerializedPageReader<R>,
        begin: u64,
        rows: &[Range<u64>],
        column: &mut ColumnWriter<'_>,
    ) -> ParquetResult<()> {
        let chunk = self.chunk;
        let row_bytes = chunk.uncompressed_size().max(1) as u64 / self.group_rows.max(1);
        let transfer = Transfer {
            begin,
            rows,
            batch: usize::try_from(BATCH_BYTES / row_bytes.max(1))?.clamp(1, BATCH_ROWS),
            definition: chunk.column_descr().max_def_level() > 0,
            repetition: chunk.column_descr().max_rep_level() > 0,
        };
        match (get_column_reader(chunk.column_descr_ptr(), Box::new(pages)), column) {
            (ColumnReader::BoolColumnReader(from), ColumnWriter::BoolColumnWriter(to)) => {
                transfer.run(from, to)
            }
            (ColumnReader::Int32ColumnReader(from), ColumnWriter::Int32ColumnWriter(to)) => {
                transfer.run(from, to)
            }
            (ColumnReader::Int64ColumnReader(from), ColumnWriter::Int64ColumnWriter(to)) => {
                transfer.run(from, to)
            }
            (ColumnReader::Int96ColumnReader(from), ColumnWriter::Int96ColumnWriter(to)) => {
                transfer.run(from, to)
            }
            (ColumnReader::FloatColumnReader(from), ColumnWriter::FloatColumnWriter(to)) => {
                transfer.run(from, to)
            }
            (ColumnReader::DoubleColumnReader(from), ColumnWriter::DoubleColumnWriter(to)) => {
                transfer.run(from, to)
            }
            (ColumnReader::ByteArrayColumnReader(from), ColumnWriter::ByteArrayColumnWriter(to)) => {
                transfer.run(from, to)
            }
            (
                ColumnReader::FixedLenByteArrayColumnReader(from),
                ColumnWriter::FixedLenByteArrayColumnWriter(to),
            ) => transfer.run(from, to),
            _ => Err(ParquetError::General("the output has another type there".to_owned())),
        }
    }
}

/// Settings for copying some rows of a column.
struct Transfer<'a> {
    /// Row of the row group that the reader begins with.
    begin: u64,
    /// Rows to copy, as ranges of rows of the row group.
    rows: &'a [Range<u64>],
    /// Number of rows that are decoded together.
    batch: usize,
    /// Whether the column has definition levels.
    definition: bool,
    /// Whether the column has repetition levels.
    repetition: bool,
}

impl Transfer<'_> {
    fn run<T: DataType>(
        &self,
        mut from: ColumnReaderImpl<T>,
        to: &mut ColumnWriterImpl<'_, T>,
    ) -> ParquetResult<()> {
        let mut held =
            HeldRows { values: Vec::new(), definitions: Vec::new(), repetitions: Vec::new(), rows: 0 };
        let mut at = self.begin;
        for rows in self.rows {
            let skipped = from.skip_records((rows.start - at) as usize)? as u64;
            if skipped != rows.start - at {
                return Err(cut_short(at + skipped));
            }
            at = rows.start;
            while at < rows.end {
                let wanted = ((rows.end - at) as usize).min(self.batch - held.rows);
                let HeldRows { values, definitions, repetitions, .. } = &mut held;
                let (read, ..) = from.read_records(wanted, Some(definitions), Some(repetitions), values)?;
                if read == 0 {
                    return Err(cut_short(at));
                }
                at += read as u64;
                held.rows += read;
                if held.rows >= self.batch {
                    self.write(&mut held, to)?;
                }
            }
        }
        self.write(&mut held, to)
    }

    fn write<T: DataType>(
        &self,
        held: &mut HeldRows<T::T>,
        to: &mut ColumnWriterImpl<'_, T>,
    ) -> ParquetResult<()> {
        let definitions = self.definition.then_some(held.definitions.as_slice());
        let repetitions = self.repetition.then_some(held.repetitions.as_slice());
        to.write_batch(&held.values, definitions, repetitions)?;
        held.values.clear();
        held.definitions.clear();
        held.repetitions.clear();
        held.rows = 0;
        Ok(())
    }
}

fn cut_short(row: u64) -> ParquetError {
    ParquetError::EOF(format!("it ends before row {row} of its row group"))
}

/// Rows that were read and are not yet written.
struct HeldRows<V> {
    values: Vec<V>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    rows: usize,
}
