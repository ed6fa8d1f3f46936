//! Decodes record batches of an Arrow file, each read at its offset.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Block, Message};
use arrow_schema::ArrowError;

use super::blocks::message;
use super::dictionaries::KnownDictionaries;
use super::{ArrowFile, lengths};
use crate::container::table::{
    Cells, ColumnEnd, ColumnRoute, Step, TableRows, cells, end_of, guarded, has_dictionary,
};
use crate::error::Result;
use crate::source::SourceReader;

/// Decoder of record batches. A decoder holds the dictionaries that come before the last batch that it decoded.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoder {
    known: KnownDictionaries,
    /// The values of the dictionaries, by id.
    values: HashMap<i64, ArrayRef>,
}

impl Decoder {
    /// Returns a copy of the decoder with all of the first `before` dictionaries of a file; `None` if no dictionary
    /// is missing.
    fn advanced(&self, file: &ArrowFile, reader: &SourceReader, before: usize) -> Result<Option<Self>> {
        let mut next = self.clone();
        let missing = file.dictionaries.missing(&mut next.known, before);
        for number in &missing {
            let Some(block) = file.dictionaries.blocks.get(*number) else { continue };
            let bytes = load(reader, block)?;
            let read = guarded(|| {
                let (message, body) = parts(block, &bytes)?;
                let batch = message.header_as_dictionary_batch().ok_or_else(changed)?;
                read_dictionary(&body, batch, &file.schema, &mut next.values, &message.version())
            });
            read.map_err(|error| error.at(reader.name(), format!("dictionary {number}")))?;
        }
        Ok((!missing.is_empty()).then_some(next))
    }

    fn batch(
        &self,
        file: &ArrowFile,
        reader: &SourceReader,
        number: usize,
        projection: Option<&[usize]>,
    ) -> Result<RecordBatch> {
        let place = || format!("record batch {number}");
        let batch = file.batches.get(number).ok_or_else(|| reader.bad(place(), "it is not there"))?;
        let bytes = load(reader, &batch.block)?;
        let decoded = guarded(|| {
            let (message, body) = parts(&batch.block, &bytes)?;
            let found = message.header_as_record_batch().ok_or_else(changed)?;
            let schema = Arc::clone(&file.schema);
            let decoded =
                read_record_batch(&body, found, schema, &self.values, projection, &message.version())?;
            if decoded.num_rows() as u64 != batch.rows {
                return Err(changed());
            }
            Ok(decoded)
        });
        decoded.map_err(|error| error.at(reader.name(), place()))
    }
}

/// Makes the error that a message has changed since the file was opened.
fn changed() -> ArrowError {
    ArrowError::IpcError("it has not the rows that it says".to_owned())
}

/// Splits a message into its header and its body, and checks that the buffers can be decompressed without harm.
fn parts<'b>(block: &Block, bytes: &'b Buffer) -> Result<(Message<'b>, Buffer), ArrowError> {
    let message = message(bytes)?;
    let body = bytes.slice(block.metaDataLength() as usize);
    lengths::check(&message, &body)?;
    Ok((message, body))
}

/// Reads the bytes of a message. The place of the message was checked when the file was opened.
fn load(reader: &SourceReader, block: &Block) -> Result<Buffer> {
    let len = block.metaDataLength() as usize + block.bodyLength() as usize;
    let mut bytes = MutableBuffer::from_len_zeroed(len);
    reader.read_exact_at(block.offset() as u64, &mut bytes)?;
    Ok(bytes.into())
}

impl ArrowFile {
    /// Decodes the wanted columns of a record batch.
    pub(super) fn rows(&self, reader: &SourceReader, number: usize, first_row: u64) -> Result<TableRows> {
        let roots: Vec<usize> = self.roots().into_iter().collect();
        let decoder = self.decoder(reader, number, &roots)?;
        let decoded = decoder.batch(self, reader, number, Some(&roots))?;
        let no_such = || reader.bad(format!("record batch {number}"), "it is not there");
        let column = |column: usize| -> Option<Cells> {
            let ColumnRoute { root, steps } = self.ways.get(column)?;
            let at = roots.iter().position(|known| known == root)?;
            follow(decoded.columns().get(at)?, steps)
        };
        let texts: Option<Vec<Cells>> = self.columns.text.iter().map(|text| column(*text)).collect();
        let texts = texts.ok_or_else(no_such)?;
        let values: Option<Vec<Cells>> = self.columns.values.iter().map(|value| column(*value)).collect();
        let values = values.ok_or_else(no_such)?;
        Ok(TableRows { first_row, texts, id: self.columns.id.and_then(column), values })
    }

    /// Returns the top-level columns that contain the wanted columns.
    fn roots(&self) -> BTreeSet<usize> {
        self.columns.all().filter_map(|column| Some(self.ways.get(column)?.root)).collect()
    }

    /// Returns the decoder of the wanted columns. All threads share the decoder, so that dictionaries are not read
    /// once per batch.
    fn decoder(&self, reader: &SourceReader, number: usize, roots: &[usize]) -> Result<Arc<Decoder>> {
        // If no wanted column has a dictionary, no dictionary is read at all.
        let fields = self.schema.fields();
        let needed = roots
            .iter()
            .filter_map(|root| fields.get(*root))
            .any(|field| has_dictionary(field.data_type()) || field.data_type().is_nested());
        if !needed {
            return Ok(Arc::default());
        }
        let mut shared = self.decoder.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(next) = shared.advanced(self, reader, self.dictionaries_before(number))? {
            *shared = Arc::new(next);
        }
        Ok(Arc::clone(&shared))
    }

    /// Decodes all columns of a record batch. `decoder` still has the dictionaries of the previous batch.
    pub(super) fn whole(
        &self,
        reader: &SourceReader,
        number: usize,
        decoder: &mut Decoder,
    ) -> Result<RecordBatch> {
        if let Some(next) = decoder.advanced(self, reader, self.dictionaries_before(number))? {
            *decoder = next;
        }
        decoder.batch(self, reader, number, None)
    }

    /// Returns the number of dictionaries before a batch.
    fn dictionaries_before(&self, number: usize) -> usize {
        self.batches.get(number).map_or(0, |batch| batch.dictionaries)
    }
}

/// Returns the values at the end of a route into a column.
fn follow(column: &ArrayRef, steps: &[Step]) -> Option<Cells> {
    let ColumnEnd { array, nulls, levels } = end_of(column, steps)?;
    Some(cells(&*array, nulls.as_ref()).in_lists(levels))
}
