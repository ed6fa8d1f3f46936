//! Copies rows from one Arrow IPC file or stream to another.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Schema};

use super::decode::Decoder;
use super::{ArrowFile, ArrowLayout};
use crate::container::WriteBatch;
use crate::container::table::{Foreign, OpenTable, Selection, chosen_rows, guarded, selections};
use crate::document::RecordPlace;
use crate::error::{Error, Result};
use crate::output::{Output, TableCompression};
use crate::source::SourceReader;
use crate::sources::Sources;

/// Writes the rows at `places` as one file or stream, in the form of the first source of `numbers` that has rows.
pub(super) fn copy(
    sources: &Sources,
    numbers: Range<u32>,
    places: &mut dyn Iterator<Item = RecordPlace>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let first = model(sources, numbers)?;
    let mut writer = ArrowFileWriter::new(first, &first.schema, compression, out)?;
    let mut batches = Batches::default();
    let part_of = |source, row| file(sources, source).map_or(0, |file| file.batch_of(row));
    for selection in selections(places.map(|place| (place, ())), part_of) {
        writer.write(&batches.of_source(sources, &selection)?)?;
    }
    writer.finish()
}

/// Returns the open file or stream of a source.
pub(super) fn file(sources: &Sources, source: u32) -> Result<&ArrowFile> {
    Ok(&sources.content_as::<OpenTable<ArrowFile>>(source)?.form)
}

/// Returns the file or stream whose form the output takes: the first that has rows, because only record batches state
/// the compression.
pub(super) fn model(sources: &Sources, numbers: Range<u32>) -> Result<&ArrowFile> {
    let has_rows = |source: &u32| file(sources, *source).is_ok_and(|file| !file.batches.is_empty());
    // A source that cannot be read has no form, so it is skipped.
    let is_table = |source: &u32| file(sources, *source).is_ok();
    let model = numbers.clone().find(has_rows).or_else(|| numbers.clone().find(is_table));
    file(sources, model.unwrap_or(numbers.start))
}

/// Decodes batches that are read one after the other.
#[derive(Default)]
pub(super) struct Batches {
    /// The source of the previous batch, and the decoder with the dictionaries of that source.
    before: Option<(u32, Decoder)>,
}

impl Batches {
    /// Returns the selected rows of a batch of one of the sources, with all columns.
    pub(super) fn of_source<T>(
        &mut self,
        sources: &Sources,
        selection: &Selection<T>,
    ) -> Result<RecordBatch> {
        self.selected(file(sources, selection.source)?, &sources.reader(selection.source)?, selection)
    }

    /// Returns the selected rows of a batch, with all columns.
    pub(super) fn selected<T>(
        &mut self,
        file: &ArrowFile,
        reader: &SourceReader,
        selection: &Selection<T>,
    ) -> Result<RecordBatch> {
        let before = self.before.take().filter(|(source, _)| *source == selection.source);
        let mut decoder = before.map(|before| before.1).unwrap_or_default();
        let batch = file.whole(reader, selection.part, &mut decoder)?;
        self.before = Some((selection.source, decoder));
        let no_batch = || reader.bad(format!("record batch {}", selection.part), "there is no such batch");
        let first_row = file.batches.get(selection.part).ok_or_else(no_batch)?.first_row;
        guarded(|| chosen_rows(&batch, first_row, &selection.rows))
            .map_err(|error| error.at(reader.name(), format!("record batch {}", selection.part)))
    }
}

/// A file or a stream that is being written.
pub(in crate::container) enum ArrowFileWriter<'o> {
    File(Box<FileWriter<&'o mut Output>>),
    Stream(Box<StreamWriter<&'o mut Output>>),
}

impl<'o> ArrowFileWriter<'o> {
    /// Begins a file or, on standard output, a stream, because a reader of standard output cannot seek to the footer
    /// of a file.
    pub(super) fn of_schema(
        schema: &Arc<Schema>,
        compression: TableCompression,
        out: &'o mut Output,
    ) -> Result<Self> {
        let options = IpcWriteOptions::default();
        let options = options.try_with_compression(of_batches(compression, None)).map_err(writing)?;
        Ok(if out.is_stdout() {
            Self::Stream(Box::new(StreamWriter::try_new_with_options(out, schema, options).map_err(writing)?))
        } else {
            Self::File(Box::new(FileWriter::try_new_with_options(out, schema, options).map_err(writing)?))
        })
    }

    /// Begins a file or stream in the form of `like`, with this schema.
    pub(super) fn new(
        like: &ArrowFile,
        schema: &Arc<Schema>,
        compression: TableCompression,
        out: &'o mut Output,
    ) -> Result<Self> {
        let before = like.batches.first().and_then(|batch| batch.compression);
        let options = IpcWriteOptions::default();
        let options = options.try_with_compression(of_batches(compression, before)).map_err(writing)?;
        Ok(match like.shape {
            ArrowLayout::File => {
                let mut writer = FileWriter::try_new_with_options(out, schema, options).map_err(writing)?;
                for (key, value) in &like.remarks {
                    writer.write_metadata(key, value);
                }
                Self::File(Box::new(writer))
            }
            ArrowLayout::Stream => Self::Stream(Box::new(
                StreamWriter::try_new_with_options(out, schema, options).map_err(writing)?,
            )),
        })
    }
}

impl WriteBatch for ArrowFileWriter<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::File(writer) => writer.write(batch),
            Self::Stream(writer) => writer.write(batch),
        }
        .map_err(writing)
    }

    fn finish(&mut self) -> Result<()> {
        match self {
            Self::File(writer) => writer.finish(),
            Self::Stream(writer) => writer.finish(),
        }
        .map_err(writing)
    }
}

/// Returns the compression of the record batches of an output. `before` is the compression that the batches have in
/// the input.
fn of_batches(compression: TableCompression, before: Option<CompressionType>) -> Option<CompressionType> {
    match compression {
        TableCompression::Lz4 => Some(CompressionType::LZ4_FRAME),
        TableCompression::Zstd => Some(CompressionType::ZSTD),
        TableCompression::None => None,
        TableCompression::Keep | TableCompression::Snappy | TableCompression::Gzip => before,
    }
}

/// Converts an error of the writer. Its cause is our `Output`, or a second dictionary of a column, because an Arrow
/// file can have only one dictionary per column.
fn writing(error: ArrowError) -> Error {
    Foreign::from(error).while_writing("the record batch being written")
}
