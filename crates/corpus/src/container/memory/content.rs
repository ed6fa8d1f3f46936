//! Reads documents in memory, as the content of a source.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

use super::columns::{ColumnValues, MemoryColumn};
use crate::container::Opening;
use crate::container::table::{
    ColumnRoute, Foreign, TableRow, TextColumn, WantedColumns, chosen_rows, column_difference, end_of,
    guarded, selections, wanted,
};
use crate::document::{Document, DocumentText, RecordPlace};
use crate::error::{Error, Result};
use crate::field::FieldPath;
use crate::memory::{HeldDocuments, TextBlock};
use crate::options::ReadOptions;
use crate::problem::FileProblem;
use crate::reject::Reject;
use crate::scratch::Scratch;
use crate::source::Source;
use crate::sources::{
    Content, CutPoints, LoadTurns, PieceSize, RecordVisitor, ScannedLines, SourceHandle, SourcePart,
    TakeBatch,
};

/// Minimum size of a piece in bytes, unless the piece ends its batch.
const PIECE_BYTES: u64 = 1 << 20;
/// Number of bytes that a row counts besides its text, so that many short texts are more than one piece.
const ROW_BYTES: u64 = 32;

/// The rows of a source in memory.
#[derive(Debug)]
pub(super) struct MemoryRows {
    batches: Vec<MemoryBatch>,
    pieces: Vec<BatchPiece>,
    /// The number of rows.
    count: u64,
    text_bytes: u64,
    /// The schema of a table; `None` for a list of texts.
    schema: Option<SchemaRef>,
}

/// The rows of one record batch.
#[derive(Debug)]
struct MemoryBatch {
    first_row: u64,
    rows: usize,
    /// The column of each text field.
    texts: Vec<MemoryColumn>,
    id: Option<MemoryColumn>,
    /// The column of each value field; `None` if there is no such field.
    values: Vec<Option<MemoryColumn>>,
    /// All columns.
    whole: RecordBatch,
}

/// Rows of a batch that are scanned together.
#[derive(Debug, Clone)]
struct BatchPiece {
    batch: usize,
    rows: Range<usize>,
    text_bytes: u64,
}

impl MemoryRows {
    /// Finds the columns of a source, and the places at which its rows can be cut.
    pub(super) fn open(opening: &Opening<'_>) -> Result<Self> {
        let (name, options) = (opening.source.name(), opening.options);
        let mut rows = Self { batches: vec![], pieces: vec![], count: 0, text_bytes: 0, schema: None };
        let held = opening.source.memory().ok_or_else(|| Error::inside(name, FileProblem::NoBytes))?.held();
        match held {
            HeldDocuments::Texts(blocks) => {
                for block in blocks.iter() {
                    rows.add_texts(name, block, options)?;
                }
            }
            HeldDocuments::Batches { schema, batches } => {
                let wanted = wanted(name, schema, options)?;
                for (number, batch) in batches.iter().enumerate() {
                    rows.add_batch(name, number, batch, schema, &wanted)?;
                }
                rows.schema = Some(Arc::clone(schema));
            }
        }
        Ok(rows)
    }

    /// Adds a block of texts. The text field and the id field of `options` are ignored, because a list of texts has
    /// no fields. A value field can only be the text or the id.
    fn add_texts(&mut self, name: &str, block: &TextBlock, options: &ReadOptions) -> Result<()> {
        let text = || MemoryColumn::of_array(Arc::new(block.texts.clone()));
        let id = || block.ids.as_ref().map(|ids| MemoryColumn::of_array(Arc::new(ids.clone())));
        let defaults = ReadOptions::default();
        let value = |field: &FieldPath| match field {
            field if defaults.text_fields.contains(field) => Some(text()),
            field if defaults.id_field == *field => id(),
            _ => None,
        };
        let (rows, first_row) = (arrow_array::Array::len(&block.texts), self.count);
        let values = options.value_fields.iter().map(value).collect();
        let ids = block.ids.iter().map(|ids| Arc::new(ids.clone()) as ArrayRef);
        let columns = ids.chain([Arc::new(block.texts.clone()) as ArrayRef]).collect();
        let whole = RecordBatch::try_new(text_schema(block.ids.is_some()), columns)
            .map_err(|error| Foreign::from(error).at(name, "its texts"))?;
        self.add(MemoryBatch { first_row, rows, texts: vec![text()], id: id(), values, whole });
        Ok(())
    }

    fn add_batch(
        &mut self,
        name: &str,
        number: usize,
        batch: &RecordBatch,
        schema: &SchemaRef,
        wanted: &WantedColumns,
    ) -> Result<()> {
        let bad = |message: String| {
            let place = format!("record batch {number}");
            Error::inside(name, FileProblem::Content { place, message })
        };
        if let Some(difference) = difference(batch.schema().fields(), schema.fields()) {
            return Err(bad(format!("it is not of the schema that was given: {difference}")));
        }
        let column = |column: usize| -> Option<MemoryColumn> {
            let ColumnRoute { root, steps } = wanted.ways.get(column)?;
            Some(MemoryColumn::new(end_of(batch.columns().get(*root)?, steps)?))
        };
        let gone = || bad("one of its columns is not there".to_owned());
        let columns = &wanted.columns;
        let texts = columns.text.iter().map(|text| column(*text)).collect::<Option<_>>().ok_or_else(gone)?;
        let values = columns.values.iter().map(|value| column(*value)).collect();
        let (first_row, rows, whole) = (self.count, batch.num_rows(), batch.clone());
        self.add(MemoryBatch { first_row, rows, texts, id: columns.id.and_then(column), values, whole });
        Ok(())
    }

    /// Cuts a batch into pieces, and adds it.
    fn add(&mut self, batch: MemoryBatch) {
        let number = self.batches.len();
        let (mut start, mut text_bytes) = (0, 0);
        for row in 0..batch.rows {
            text_bytes += batch.text_bytes(row);
            let is_full = text_bytes + ROW_BYTES * (row + 1 - start) as u64 >= PIECE_BYTES;
            if is_full || row + 1 == batch.rows {
                self.pieces.push(BatchPiece { batch: number, rows: start..row + 1, text_bytes });
                self.text_bytes += text_bytes;
                (start, text_bytes) = (row + 1, 0);
            }
        }
        self.count += batch.rows as u64;
        self.batches.push(batch);
    }

    /// Returns the number of the batch that a row lies in.
    fn batch_of(&self, row: u64) -> usize {
        self.batches.partition_point(|batch| batch.first_row + batch.rows as u64 <= row)
    }

    /// Returns the value for a null: empty in a table, because its rows have the field, and `None` in a list of
    /// texts, because its records lack the field.
    fn null(&self) -> Option<Cow<'static, str>> {
        self.schema.is_some().then_some(Cow::Borrowed(""))
    }
}

/// Returns the columns of a list of texts.
fn text_schema(has_ids: bool) -> SchemaRef {
    let id = has_ids.then(|| Field::new("id", DataType::LargeUtf8, true));
    Arc::new(Schema::new(
        id.into_iter().chain([Field::new("text", DataType::LargeUtf8, true)]).collect::<Fields>(),
    ))
}

/// Returns the reason why rows of one schema do not fit into another; `None` if they fit.
fn difference(first: &Fields, second: &Fields) -> Option<String> {
    // The metadata of fields is left out, because it does not change their values.
    let plain = |fields: &Fields| {
        let plain = |field: &arrow_schema::FieldRef| field.as_ref().clone().with_metadata([].into());
        fields.iter().map(plain).map(|field| field.with_nullable(true)).collect::<Vec<_>>()
    };
    let nullable = |(first, second): &(&arrow_schema::FieldRef, &arrow_schema::FieldRef)| {
        first.is_nullable() && !second.is_nullable()
    };
    column_difference(&plain(first), &plain(second), |field| field.name()).or_else(|| {
        let (field, _) = first.iter().zip(second).find(nullable)?;
        Some(format!("the column `{}` may be null in one of them only", field.name()))
    })
}

/// Makes a document of a row with one text field, and borrows the text from the batch. The text is not checked,
/// because Arrow has checked that it is UTF-8. A second check, and a list of the texts of each row, took a tenth of
/// the time of a run over short texts.
fn lent<'r>(texts: &'r [MemoryColumn], row: usize, id: Option<&'r [u8]>, limit: u64) -> Option<Document<'r>> {
    let [column] = texts else { return None };
    let text = column.lent(row).filter(|text| text.len() as u64 <= limit)?;
    let id = match id {
        None | Some([]) => None,
        Some(id) => Some(Cow::Borrowed(str::from_utf8(id).ok()?)),
    };
    Some(Document { id, text: Cow::Borrowed(text), repaired: false, values: vec![], about: None })
}

impl MemoryBatch {
    /// Returns the size of the text of a row in bytes.
    fn text_bytes(&self, row: usize) -> u64 {
        self.texts.iter().map(|text| text.text_bytes(row)).sum()
    }

    /// Returns some rows, with their ids and values written as texts.
    fn stretch(&self, rows: Range<usize>) -> BatchRows<'_> {
        BatchRows {
            batch: self,
            id: self.id.as_ref().map(|id| id.values(rows.clone())),
            values: self
                .values
                .iter()
                .map(|value| value.as_ref().map(|value| value.values(rows.clone())))
                .collect(),
            rows,
        }
    }
}

/// Range of rows of a batch, with the columns that hold their ids and values.
struct BatchRows<'b> {
    batch: &'b MemoryBatch,
    rows: Range<usize>,
    id: Option<ColumnValues<'b>>,
    values: Vec<Option<ColumnValues<'b>>>,
}

impl BatchRows<'_> {
    /// Returns the size of the text of a row in bytes, and the document of the row, or the reason why the row is no
    /// document. Rows are counted from 0.
    fn document(&self, at: usize, options: &ReadOptions) -> (u64, std::result::Result<Document<'_>, Reject>) {
        let limit = options.record_limit();
        if let Some(document) = lent(&self.batch.texts, self.rows.start + at, self.id(at), limit) {
            return (document.text.len() as u64, Ok(document));
        }
        let row = self.row(at, limit);
        (row.text_bytes, row.document(options))
    }

    /// Returns the row with the index `at`, from 0.
    fn row(&self, at: usize, limit: u64) -> TableRow<'_> {
        TableRow::of(&self.batch.texts, self.rows.start + at, self.id(at), limit)
    }

    fn id(&self, at: usize) -> Option<&[u8]> {
        self.id.as_ref()?.get(at)
    }

    /// Returns the values of a row. `null` is the value for a null.
    fn values<'v>(&'v self, at: usize, null: Option<&Cow<'v, str>>) -> Vec<Option<Cow<'v, str>>> {
        let value = |value: &'v Option<ColumnValues<'_>>| {
            let found = value.as_ref().and_then(|value| value.get(at)).map(String::from_utf8_lossy);
            found.or_else(|| null.cloned())
        };
        self.values.iter().map(value).collect()
    }
}

impl Content for MemoryRows {
    fn cuts(&self, _source: &Source) -> CutPoints {
        let size = |piece: &BatchPiece| PieceSize {
            decoded_bytes: piece.text_bytes + ROW_BYTES * piece.rows.len() as u64,
            stored_bytes: piece.text_bytes,
        };
        CutPoints::Pieces(self.pieces.iter().map(size).collect())
    }

    fn scan(
        &self,
        part: &SourcePart,
        handle: &SourceHandle<'_>,
        _turns: &LoadTurns<'_>,
        _scratch: &mut Scratch,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines> {
        let SourcePart::Pieces(pieces) = part else { return Err(handle.no_such_place(0)) };
        let pieces = self.pieces.get(pieces.clone()).ok_or_else(|| handle.no_such_place(0))?;
        let (source, options, null) = (handle.number, handle.options(), self.null());
        let mut line = 0;
        for piece in pieces {
            let batch = self.batches.get(piece.batch).ok_or_else(|| handle.no_such_place(0))?;
            let stretch = batch.stretch(piece.rows.clone());
            for at in 0..piece.rows.len() {
                let (text_bytes, document) = stretch.document(at, options);
                let offset = batch.first_row + (piece.rows.start + at) as u64;
                let len = u32::try_from(text_bytes).unwrap_or(u32::MAX);
                let document = document.map(|found| {
                    let values = stretch.values(at, null.as_ref());
                    Document { values, ..found }.with_text(DocumentText::Whole)
                });
                visit(RecordPlace { source, line, offset, len }, document);
                line += 1;
            }
        }
        Ok(ScannedLines(line))
    }

    fn read<'s>(
        &'s self,
        place: &RecordPlace,
        handle: &SourceHandle<'s>,
        scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>> {
        let no_such_place = || handle.no_such_place(place.offset);
        let batch = self.batches.get(self.batch_of(place.offset)).ok_or_else(no_such_place)?;
        let row = (place.offset - batch.first_row) as usize;
        let id = match batch.id.as_ref().map(|id| id.values(row..row + 1)) {
            Some(ColumnValues::Lent(column, row)) => column.lent(row).map(str::as_bytes),
            Some(ColumnValues::Written(cells)) => cells.get(0).map(|id| {
                scratch.bytes.clear();
                scratch.bytes.extend_from_slice(id);
                &*scratch.bytes
            }),
            None => None,
        };
        let options = handle.options();
        if let Some(document) = lent(&batch.texts, row, id, options.record_limit()) {
            return Ok(Ok(document));
        }
        Ok(TableRow::of(&batch.texts, row, id, options.record_limit()).document(options))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.count)
    }

    fn text_bytes(&self) -> Option<u64> {
        Some(self.text_bytes)
    }

    fn columns(&self) -> Option<Vec<&str>> {
        let schema = self.schema.as_ref()?;
        Some(schema.fields().iter().map(|field| field.name().as_str()).collect())
    }

    fn schema(&self, _handle: &SourceHandle<'_>) -> Result<Option<SchemaRef>> {
        let has_ids = self.batches.iter().any(|batch| batch.id.is_some());
        Ok(Some(self.schema.clone().unwrap_or_else(|| text_schema(has_ids))))
    }

    fn batches(
        &self,
        handle: &SourceHandle<'_>,
        _schema: &SchemaRef,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        for selection in selections(places.map(|place| (place, ())), |_, row| self.batch_of(row)) {
            let place = format!("record batch {}", selection.part);
            let batch = self.batches.get(selection.part).ok_or_else(|| handle.no_such_place(0))?;
            let chosen = guarded(|| chosen_rows(&batch.whole, batch.first_row, &selection.rows));
            take(chosen.map_err(|error| error.at(handle.source.name(), place))?)?;
        }
        Ok(())
    }

    fn hash_records(&self, take: &mut dyn FnMut(&[u8], u64) -> bool) -> Option<bool> {
        let mut bytes = vec![];
        for piece in &self.pieces {
            let batch = self.batches.get(piece.batch)?;
            let stretch = batch.stretch(piece.rows.clone());
            bytes.clear();
            for at in 0..piece.rows.len() {
                stretch.row(at, u64::MAX).push_to(&mut bytes);
                let values = stretch.values.iter().map(|value| value.as_ref()?.get(at).map(Cow::Borrowed));
                TableRow { texts: values.collect(), id: None, text_bytes: 0 }.push_to(&mut bytes);
            }
            if !take(&bytes, piece.text_bytes) {
                return Some(false);
            }
        }
        Some(true)
    }
}
