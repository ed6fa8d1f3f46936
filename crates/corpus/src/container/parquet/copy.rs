//! Copies rows from one Parquet file to another.
//!
//! Columns of long texts are copied in parts, most of them page by page without decoding ([`parts`](super::parts)). All
//! other columns are decoded and encoded as a whole, so that they have statistics.
//!
//! With several threads, each thread copies a column or a part to memory, and the calling thread writes them in order.
//! The bytes of the output are those of a copy with one thread. Columns that do not fit into the memory are written by
//! the calling thread.

use std::io::{self, Write};
use std::iter::Peekable;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use ::parquet::column::writer::{ColumnCloseResult, get_column_writer};
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::SchemaDescPtr;

use super::gate::{Gate, OpenOnPanic, Results};
use super::parts::{ChunkPlan, Part, plan};
use super::target::{TableFile, WrittenPages};
use super::transfer::SourceColumn;
use super::write::properties;
use super::{ParquetFile, place};
use crate::container::table::{Foreign, OpenTable, Selection, guarded, selections};
use crate::document::RecordPlace;
use crate::error::{Error, Result};
use crate::output::{Output, TableCompression};
use crate::sources::Sources;

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
    Column(Box<WrittenColumn>),
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
                        Copied::Column(column) => {
                            let WrittenColumn { bytes, closed } = *column;
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
    let gate = Gate::new(tasks.iter().map(|task| task.bytes).collect(), round.room.bytes);
    let (send, receive) = channel();
    thread::scope(|scope| {
        let mut workers = vec![];
        for _ in 0..threads {
            let (send, tasks, gate) = (send.clone(), &tasks, &gate);
            workers.push(scope.spawn(move || {
                let _open = OpenOnPanic(gate);
                while let Some((number, task)) =
                    gate.next().and_then(|number| Some((number, tasks.get(number)?)))
                {
                    let copied = match task.part {
                        Some((plan, part)) => {
                            copied_part(round.sources, task, plan, part, form.1).map(Copied::Pages)
                        }
                        None => copied_column(round, (number, task), form, gate),
                    };
                    // `send` fails only after an error, because the receiver is dropped then.
                    if send.send((number, copied)).is_err() {
                        return;
                    }
                }
            }));
        }
        drop(send);
        let mut results = Results::new(receive);
        let ended = round.write(target, add, |take| {
            let (number, copied) = results.next().ok_or_else(ended_early)?;
            take(copied?)?;
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

/// Returns the error that a thread panicked. Joining the thread resumes the panic, so nobody sees the error.
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
    round: &Round<'_, T>,
    (number, task): (usize, &CopyTask<'_, T>),
    (schema, properties): (&SchemaDescPtr, &WriterPropertiesPtr),
    gate: &Gate,
) -> Result<Copied> {
    if task.bytes > round.room.bytes {
        return Ok(Copied::Direct);
    }
    let mut is_full = false;
    let copied = copying(round.sources, task.selection, task.number, |column| {
        let bytes = ColumnBytes { bytes: vec![], gate, number, reserved: task.bytes, is_full: &mut is_full };
        let mut sink = TrackedWrite::new(bytes);
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut to = get_column_writer(schema.column(task.number), Arc::clone(properties), pages);
        column.copy(&column.rows(task.selection), &mut to)?;
        let closed = to.close()?;
        Ok(Box::new(WrittenColumn { bytes: sink.into_inner()?.bytes, closed }))
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
