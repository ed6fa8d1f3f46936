//! Record batches at their places.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer, NullBuffer};
use arrow_ipc::Block;
use arrow_ipc::reader::FileDecoder;
use arrow_schema::ArrowError;

use super::values::{cells, has_dictionary};
use super::{Batch, File};
use crate::error::Result;
use crate::source::Reader;
use crate::table::cells::Cells;
use crate::table::error::guarded;
use crate::table::rows::Rows;

/// Decodes batches that have the same dictionaries before them.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    /// How many dictionaries it knows.
    dictionaries: usize,
    inside: Arc<FileDecoder>,
}

impl Decoder {
    /// Reads the first `dictionaries` dictionaries of a file; a later one may replace or extend an earlier one.
    fn new(
        file: &File,
        reader: &Reader,
        dictionaries: usize,
        projection: Option<Vec<usize>>,
    ) -> Result<Self> {
        let mut inside = FileDecoder::new(Arc::clone(&file.schema), file.version);
        if let Some(projection) = projection {
            inside = inside.with_projection(projection);
        }
        for (number, block) in file.dictionaries.iter().take(dictionaries).enumerate() {
            let bytes = load(reader, block)?;
            guarded(|| inside.read_dictionary(block, &bytes))
                .map_err(|error| error.at(reader.name(), format!("dictionary {number}")))?;
        }
        Ok(Self { dictionaries, inside: Arc::new(inside) })
    }

    fn batch(&self, reader: &Reader, number: usize, batch: &Batch) -> Result<RecordBatch> {
        let bytes = load(reader, &batch.block)?;
        let decoded = guarded(|| {
            let decoded = self.inside.read_record_batch(&batch.block, &bytes)?;
            decoded
                .filter(|decoded| decoded.num_rows() as u64 == batch.rows)
                .ok_or_else(|| ArrowError::IpcError("it has not the rows that it says".to_owned()))
        });
        decoded.map_err(|error| error.at(reader.name(), format!("record batch {number}")))
    }
}

/// The bytes of a message, whose place was checked when the file was opened.
fn load(reader: &Reader, block: &Block) -> Result<Buffer> {
    let len = block.metaDataLength() as usize + block.bodyLength() as usize;
    let mut bytes = MutableBuffer::from_len_zeroed(len);
    reader.read_exact_at(block.offset() as u64, &mut bytes)?;
    Ok(bytes.into())
}

impl File {
    /// Decodes the wanted columns of a record batch.
    pub(in crate::table) fn load(&self, reader: &Reader, number: usize, first_row: u64) -> Result<Rows> {
        let no_such = || reader.bad(format!("record batch {number}"), "it is not there");
        let batch = self.batches.get(number).ok_or_else(no_such)?;
        let roots: Vec<usize> = self.roots().into_iter().collect();
        let decoded = self.decoder(reader, batch, roots.clone())?.batch(reader, number, batch)?;
        let column = |column: usize| -> Option<Cells> {
            let (root, members) = self.paths.get(column)?.split_first()?;
            let at = roots.iter().position(|known| known == root)?;
            let (array, nulls) = follow(decoded.columns().get(at)?, members)?;
            Some(cells(&*array, nulls.as_ref()))
        };
        let texts: Option<Vec<Cells>> = self.columns.text.iter().map(|text| column(*text)).collect();
        let texts = texts.ok_or_else(no_such)?;
        let values: Option<Vec<Cells>> = self.columns.values.iter().map(|value| column(*value)).collect();
        let values = values.ok_or_else(no_such)?;
        Ok(Rows { first_row, texts, id: self.columns.id.and_then(column), values })
    }

    /// The columns at the top that hold the wanted ones.
    fn roots(&self) -> BTreeSet<usize> {
        self.columns.all().filter_map(|column| self.paths.get(column)?.first().copied()).collect()
    }

    /// The decoder of the wanted columns. It is shared, so that dictionaries are read once and not for each batch.
    fn decoder(&self, reader: &Reader, batch: &Batch, roots: Vec<usize>) -> Result<Decoder> {
        // Dictionaries of columns that nobody asks for are not read at all.
        let fields = self.schema.fields();
        let needed = roots.iter().filter_map(|root| fields.get(*root)).any(|field| {
            has_dictionary(field.data_type())
                || matches!(field.data_type(), arrow_schema::DataType::Struct(_))
        });
        let dictionaries = if needed { batch.dictionaries } else { 0 };
        let mut shared = self.decoder.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match &*shared {
            Some(decoder) if decoder.dictionaries == dictionaries => Ok(decoder.clone()),
            _ => Ok(shared.insert(Decoder::new(self, reader, dictionaries, Some(roots))?).clone()),
        }
    }

    /// Decodes all columns of a record batch; `decoder` is what the batch before left.
    pub(super) fn whole(
        &self,
        reader: &Reader,
        number: usize,
        decoder: &mut Option<Decoder>,
    ) -> Result<RecordBatch> {
        let no_such = || reader.bad(format!("record batch {number}"), "it is not there");
        let batch = self.batches.get(number).ok_or_else(no_such)?;
        let fits = decoder.take().filter(|decoder| decoder.dictionaries == batch.dictionaries);
        let fits = match fits {
            Some(decoder) => decoder,
            None => Decoder::new(self, reader, batch.dictionaries, None)?,
        };
        decoder.insert(fits).batch(reader, number, batch)
    }
}

/// The array at the end of a path of struct members, and where one of the structs is null.
fn follow(column: &ArrayRef, members: &[usize]) -> Option<(ArrayRef, Option<NullBuffer>)> {
    let (mut array, mut nulls) = (Arc::clone(column), None);
    for member in members {
        nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
        array = Arc::clone(array.as_struct_opt()?.columns().get(*member)?);
    }
    Some((array, nulls))
}
