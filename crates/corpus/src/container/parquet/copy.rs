//! Copies rows from one Parquet file to another.
//!
//! With several threads, each thread copies a column of a row group to memory, and the calling thread writes these
//! columns in order. The bytes of the output are those of a copy with one thread. Row groups that do not fit into the
//! memory are copied page by page.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::iter::Peekable;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl, get_column_writer};
use ::parquet::data_type::DataType;
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::properties::WriterPropertiesPtr;
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::file::writer::{
    SerializedFileWriter, SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite,
};
use ::parquet::schema::types::SchemaDescriptor;
use bytes::Bytes;

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
    let mut writer = SerializedFileWriter::new(out, schema, properties).map_err(writing)?;
    let part_of = |source, row| file(sources, source).map_or(0, |file| file.group_of(row));
    let selections = selections(places.map(|place| (place, ())), part_of);
    copy_groups(sources, selections, &mut writer, room, |_, _| Ok(()))?;
    writer.close().map_err(writing)?;
    Ok(())
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

    /// Estimates the bytes of the copy of a row group, if all rows are copied.
    fn group_bytes<T>(self, sources: &Sources, selection: &Selection<T>) -> Result<u64> {
        // A missing row group counts nothing, because the copy itself reports it.
        let group = file(sources, selection.source)?.metadata.row_groups().get(selection.part);
        let bytes = group.map_or(&[][..], |group| group.columns()).iter().map(|chunk| {
            let bytes = if self.keeps { chunk.compressed_size() } else { chunk.uncompressed_size() };
            bytes.max(0).cast_unsigned()
        });
        Ok(bytes.sum())
    }

    /// Takes the next selections whose copies fit into the memory together, and at least one selection. Returns the
    /// selections and the number of bytes of their copies.
    fn round<T>(
        self,
        sources: &Sources,
        selections: &mut Peekable<impl Iterator<Item = Selection<T>>>,
    ) -> Result<(Vec<Selection<T>>, u64)> {
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
        Ok((round, bytes))
    }
}

/// Copies each selection to a row group. `add` appends the columns that the sources do not have.
pub(super) fn copy_groups<T: Sync>(
    sources: &Sources,
    selections: impl Iterator<Item = Selection<T>>,
    writer: &mut SerializedFileWriter<&mut Output>,
    room: CopyRoom,
    add: impl Fn(&Selection<T>, &mut SerializedRowGroupWriter<'_, &mut Output>) -> Result<()>,
) -> Result<()> {
    let mut selections = selections.peekable();
    loop {
        let (round, bytes) = room.round(sources, &mut selections)?;
        if round.is_empty() {
            return Ok(());
        }
        if room.threads > 1 && bytes <= room.bytes {
            copy_round(sources, &round, writer, room, &add)?;
            continue;
        }
        for selection in &round {
            let mut group = writer.next_row_group().map_err(writing)?;
            copy_columns(sources, selection, &mut group)?;
            add(selection, &mut group)?;
            group.close().map_err(writing)?;
        }
    }
}

/// Number of bytes of the columns of a round that are in memory, and its limit.
///
/// The size of a column is only estimated before, because the compression of the output is that of the first file, and
/// because the values of a dictionary unfold in a column without one.
struct RoundMemory {
    held: AtomicU64,
    most: u64,
}

/// Bytes of a column in memory. If the columns of the round do not fit into the memory, writing fails and sets
/// `is_full`.
struct ColumnBytes<'r> {
    bytes: Vec<u8>,
    round: &'r RoundMemory,
    is_full: &'r AtomicBool,
}

impl Write for ColumnBytes<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let len = part.len() as u64;
        if self.round.held.fetch_add(len, Ordering::Relaxed) + len > self.round.most {
            self.round.held.fetch_sub(len, Ordering::Relaxed);
            self.is_full.store(true, Ordering::Relaxed);
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ColumnBytes<'_> {
    fn drop(&mut self) {
        self.round.held.fetch_sub(self.bytes.len() as u64, Ordering::Relaxed);
    }
}

/// Copied column of a row group, in memory.
struct WrittenColumn {
    bytes: Bytes,
    close: ColumnCloseResult,
}

/// Copies selections with several threads.
fn copy_round<T: Sync>(
    sources: &Sources,
    round: &[Selection<T>],
    writer: &mut SerializedFileWriter<&mut Output>,
    room: CopyRoom,
    add: &impl Fn(&Selection<T>, &mut SerializedRowGroupWriter<'_, &mut Output>) -> Result<()>,
) -> Result<()> {
    let mut columns = vec![];
    for selection in round {
        let schema = file(sources, selection.source)?.metadata.file_metadata().schema_descr();
        columns.extend((0..schema.num_columns()).map(|number| (selection, number)));
    }
    let target = (writer.schema_descr().clone(), Arc::clone(writer.properties()));
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let memory = RoundMemory { held: AtomicU64::new(0), most: room.bytes };
    let (send, receive) = channel();
    thread::scope(|scope| {
        let mut workers = vec![];
        for _ in 0..room.threads.min(columns.len()) {
            let (send, columns, target, next, stop) = (send.clone(), &columns, &target, &next, &stop);
            let memory = &memory;
            workers.push(scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    let Some((selection, number)) = columns.get(task) else { return };
                    // `send` fails only after an error, because the receiver is dropped then.
                    if send.send((task, written_column(sources, selection, *number, target, memory))).is_err()
                    {
                        return;
                    }
                }
            }));
        }
        drop(send);
        let mut written = WrittenColumns { receive, next: 0, waiting: BTreeMap::new() };
        let ended = round.iter().try_for_each(|selection| {
            let mut group = writer.next_row_group().map_err(writing)?;
            let schema = file(sources, selection.source)?.metadata.file_metadata().schema_descr();
            for number in 0..schema.num_columns() {
                let Some(WrittenColumn { bytes, close }) = written.next()? else {
                    copy_one(sources, selection, number, &mut group)?;
                    continue;
                };
                let len = bytes.len() as u64;
                group.append_column(&bytes, close).map_err(writing)?;
                drop(bytes);
                memory.held.fetch_sub(len, Ordering::Relaxed);
            }
            add(selection, &mut group)?;
            group.close().map_err(writing)?;
            Ok(())
        });
        stop.store(true, Ordering::Relaxed);
        drop(written);
        // A scope that joins by itself replaces the message of a worker that panicked by one of its own.
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        ended
    })
}

/// Copied columns, which `next` returns in the order of the output.
struct WrittenColumns {
    receive: Receiver<(usize, Result<Option<WrittenColumn>>)>,
    next: usize,
    /// Columns that threads finished before an earlier column.
    waiting: BTreeMap<usize, Result<Option<WrittenColumn>>>,
}

impl WrittenColumns {
    fn next(&mut self) -> Result<Option<WrittenColumn>> {
        loop {
            if let Some(column) = self.waiting.remove(&self.next) {
                self.next += 1;
                return column;
            }
            let Ok((task, column)) = self.receive.recv() else {
                // `recv` fails only if a thread panicked, and then joining the thread resumes the panic.
                return Err(writing(ParquetError::General("a thread ended early".to_owned())));
            };
            self.waiting.insert(task, column);
        }
    }
}

/// Copies a column of the selected rows to memory. Returns `None` if the column does not fit.
fn written_column<T>(
    sources: &Sources,
    selection: &Selection<T>,
    number: usize,
    (schema, properties): &(SchemaDescriptor, WriterPropertiesPtr),
    memory: &RoundMemory,
) -> Result<Option<WrittenColumn>> {
    let is_full = AtomicBool::new(false);
    let copied = copying(sources, selection, number, |file, reader| {
        let mut sink = TrackedWrite::new(ColumnBytes { bytes: vec![], round: memory, is_full: &is_full });
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut column = get_column_writer(schema.column(number), Arc::clone(properties), pages);
        copy_column(file, reader, selection, number, &mut column)?;
        let close = column.close()?;
        Ok(WrittenColumn { bytes: std::mem::take(&mut sink.into_inner()?.bytes).into(), close })
    });
    match copied {
        Err(_) if is_full.load(Ordering::Relaxed) => Ok(None),
        copied => copied.map(Some),
    }
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

/// Copies the columns of the selected rows to the row group that is written, page by page.
fn copy_columns<T>(
    sources: &Sources,
    selection: &Selection<T>,
    group: &mut SerializedRowGroupWriter<'_, &mut Output>,
) -> Result<()> {
    let schema = file(sources, selection.source)?.metadata.file_metadata().schema_descr();
    (0..schema.num_columns()).try_for_each(|number| copy_one(sources, selection, number, group))
}

/// Copies a column of the selected rows to the row group that is written, page by page.
fn copy_one<T>(
    sources: &Sources,
    selection: &Selection<T>,
    number: usize,
    group: &mut SerializedRowGroupWriter<'_, &mut Output>,
) -> Result<()> {
    copying(sources, selection, number, |file, reader| {
        let missing = || ParquetError::General("the output has no such column".to_owned());
        let mut column = group.next_column()?.ok_or_else(missing)?;
        copy_column(file, reader, selection, number, column.untyped())?;
        column.close()
    })
}

/// Calls `copy` with the file of a selection. Errors name the file, the row group and the column.
fn copying<T, C>(
    sources: &Sources,
    selection: &Selection<T>,
    number: usize,
    copy: impl FnOnce(&ParquetFile, &SourceReader) -> ParquetResult<C>,
) -> Result<C> {
    let file = file(sources, selection.source)?;
    let reader = sources.reader(selection.source)?;
    guarded(|| copy(file, &reader)).map_err(|error| {
        let column = file.metadata.file_metadata().schema_descr().column(number);
        error.at(reader.name(), place(selection.part, &column.path().string()))
    })
}

fn copy_column<T>(
    file: &ParquetFile,
    reader: &SourceReader,
    selection: &Selection<T>,
    number: usize,
    column: &mut ColumnWriter<'_>,
) -> ParquetResult<()> {
    let from = file.metadata.row_group(selection.part);
    let chunk = from.column(number);
    let rows = usize::try_from(from.num_rows())?;
    let pages = SerializedPageReader::new(Arc::new(reader.clone()), chunk, rows, None)?;
    let no_group = || ParquetError::General("there is no such row group".to_owned());
    let first_row = file.groups.get(selection.part).ok_or_else(no_group)?.rows.start;
    let row_bytes = chunk.uncompressed_size().max(1) as u64 / from.num_rows().max(1) as u64;
    let transfer = Transfer {
        first_row,
        rows: &selection.rows,
        batch: usize::try_from(BATCH_BYTES / row_bytes.max(1))?.clamp(1, BATCH_ROWS),
        definition: chunk.column_descr().max_def_level() > 0,
        repetition: chunk.column_descr().max_rep_level() > 0,
    };
    match (get_column_reader(chunk.column_descr_ptr(), Box::new(pages)), column) {
        (ColumnReader::BoolColumnReader(from), ColumnWriter::BoolColumnWriter(to)) => transfer.run(from, to),
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

/// Settings for copying some rows of a column.
struct Transfer<'a> {
    /// Number of the first row of the row group in its file.
    first_row: u64,
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
        let mut at = self.first_row;
        for rows in self.rows {
            let skipped = from.skip_records((rows.start - at) as usize)? as u64;
            if skipped != rows.start - at {
                return Err(cut_short(at + skipped - self.first_row));
            }
            at = rows.start;
            while at < rows.end {
                let wanted = ((rows.end - at) as usize).min(self.batch - held.rows);
                let HeldRows { values, definitions, repetitions, .. } = &mut held;
                let (read, ..) = from.read_records(wanted, Some(definitions), Some(repetitions), values)?;
                if read == 0 {
                    return Err(cut_short(at - self.first_row));
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
