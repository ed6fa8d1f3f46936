//! Converts records of other formats to one file.
//!
//! Every conversion goes through Arrow record batches. Each format can convert its records to batches and write
//! batches, so no format depends on another. Only JSONL lines that are written to JSONL stay as they are.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

use super::columns::{check, columns};
use crate::annotation::{Annotation, MEMBER};
use crate::container::table::{Foreign, annotation_column, annotation_field, fit, plain, slices, unfolded};
use crate::container::{self, Container, OutputColumns};
use crate::corpus::Corpus;
use crate::document::RecordPlace;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::output::{Output, OutputVerdict, TableCompression};
use crate::unconverted::Unconverted;

/// Refuses inputs whose records cannot be written to a file of a format, if this is known before the records are
/// read. After the records are read, [`check_conversion`] refuses the remaining inputs that do not fit.
///
/// # Errors
/// Fails with one of these kinds:
/// - [`ErrorKind::Conversion`]: records of an input cannot be written in the format.
/// - [`ErrorKind::Inside`]: a column cannot be written in the format.
/// - [`ErrorKind::MissingFeature`]: the program was built without the format.
pub fn refuse_conversion(corpus: &Corpus, format: Format) -> Result<()> {
    let to = container::of(format)?;
    to.check()?;
    for (handle, content) in corpus.sources.iter_inputs() {
        let from = handle.source.format();
        if handle.source.unreadable().is_some() {
            continue;
        }
        if from == format && corpus.has_only(corpus.input_numbers(), format)? {
            continue;
        }
        if from == format && to.columns().is_none() {
            // This input needs no conversion. Another input does, and the error names that one.
            continue;
        }
        if to.columns().is_none() || !container::of(from)?.is_converted() {
            let name = handle.source.name().to_owned();
            return Err(Error::new(ErrorKind::Conversion(Unconverted::NoConversion {
                name,
                from,
                to: format,
            })));
        }
        check(&handle, content, to)?;
    }
    if to.columns().is_some_and(|columns| columns != OutputColumns::Own) {
        corpus.sources.shared().shapes.want_from(corpus.sources.references());
    }
    Ok(())
}

/// Refuses inputs whose records do not fit into one file of a format. The caller has read all records before.
///
/// # Errors
/// Fails with one of these kinds:
/// - [`ErrorKind::Conversion`]: the columns or types of two sources do not fit one file.
/// - [`ErrorKind::Inside`]: a column cannot be converted.
/// - [`ErrorKind::NoSuchPlace`]: one of these numbers belongs to no source.
pub fn check_conversion(
    corpus: &Corpus,
    sources: Range<u32>,
    format: Format,
    has_annotations: bool,
) -> Result<()> {
    if corpus.has_only(sources.clone(), format)? {
        return Ok(());
    }
    columns(corpus, sources, container::of(format)?, has_annotations).map(|_| ())
}

/// Writes records of the sources with these numbers to `out` as one file of `format`, in the order of `places`. At
/// least one of the sources has another format. If there are no records, an output without records is written.
/// [`refuse_conversion`] checks beforehand whether the records can be converted.
///
/// # Errors
/// Fails as [`check_conversion`] does, or with one of these kinds:
/// - [`ErrorKind::Io`]: a source cannot be read, or the output cannot be written.
/// - [`ErrorKind::Changed`]: a source has changed since the corpus was opened.
/// - [`ErrorKind::Inside`]: the content of a source is damaged.
pub fn convert_records(
    corpus: &Corpus,
    sources: Range<u32>,
    places: impl Iterator<Item = RecordPlace>,
    format: Format,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let conversion = Conversion { corpus, numbers: sources, to: container::of(format)?, compression };
    conversion.write(places.map(|place| (place, None)), false, out)
}

/// Converts records as [`convert_records`] does, each with its annotation.
///
/// # Errors
/// Fails as [`convert_records`] does.
pub fn convert_annotated<'a>(
    corpus: &Corpus,
    sources: Range<u32>,
    annotated: impl Iterator<Item = (RecordPlace, Annotation<'a>)>,
    format: Format,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let conversion = Conversion { corpus, numbers: sources, to: container::of(format)?, compression };
    conversion.write(annotated.map(|(place, annotation)| (place, Some(annotation))), true, out)
}

/// A conversion of records to a file of another format.
struct Conversion<'c> {
    corpus: &'c Corpus,
    numbers: Range<u32>,
    to: &'static dyn Container,
    compression: TableCompression,
}

impl Conversion<'_> {
    /// Writes records, in the order of their sources.
    fn write<'a>(
        &self,
        records: impl Iterator<Item = (RecordPlace, Option<Annotation<'a>>)>,
        has_annotations: bool,
        out: &mut Output,
    ) -> Result<()> {
        let schema = columns(self.corpus, self.numbers.clone(), self.to, has_annotations)?;
        let mut records = records.peekable();
        // The last column holds the annotations, and no source has this column.
        let of_sources = schema.fields().len() - usize::from(has_annotations);
        let bare = Schema::new_with_metadata(
            schema.fields().iter().take(of_sources).cloned().collect::<Fields>(),
            schema.metadata().clone(),
        );
        let bare = Arc::new(bare);
        if self.to.columns() == Some(OutputColumns::Own) {
            return self.write_own(&bare, &mut records, out);
        }
        let mut writer = self.to.writer(&schema, out, self.compression)?;
        for number in self.numbers.clone() {
            let of_source = std::iter::from_fn(|| records.next_if(|(place, _)| place.source == number));
            self.convert(number, &bare, of_source, &mut |batch| writer.write(&batch))?;
        }
        writer.finish()
    }

    /// Writes records to a file in which each record names its own fields.
    fn write_own<'a>(
        &self,
        schema: &SchemaRef,
        records: &mut std::iter::Peekable<impl Iterator<Item = (RecordPlace, Option<Annotation<'a>>)>>,
        out: &mut Output,
    ) -> Result<()> {
        for number in self.numbers.clone() {
            let mut of_source = std::iter::from_fn(|| records.next_if(|(place, _)| place.source == number));
            let (handle, _) = self.corpus.sources.get(number)?;
            if handle.source.unreadable().is_some() {
                continue;
            }
            if handle.source.format() != self.to.format() {
                let mut writer = self.to.writer(schema, out, self.compression)?;
                self.convert(number, schema, of_source, &mut |batch| writer.write(&batch))?;
                writer.finish()?;
                continue;
            }
            let mut last = None;
            let mut of_source = of_source.by_ref().inspect(|(place, _)| last = Some(*place)).peekable();
            let (sources, numbers) = (&self.corpus.sources, number..number + 1);
            if of_source.peek().is_some_and(|(_, annotation)| annotation.is_some()) {
                let mut annotated = of_source.filter_map(|(place, annotation)| Some((place, annotation?)));
                self.to.annotate(sources, numbers, &mut annotated, out, self.compression)?;
            } else {
                let mut places = of_source.map(|(place, _)| place);
                self.to.copy(sources, numbers, &mut places, OutputVerdict::Kept, out, self.compression)?;
            }
            // The last line of a file may have no line end, so a line end is added.
            if let Some(place) = last {
                let mut end = [0];
                sources.read_span(number, place.offset + u64::from(place.len) - 1, &mut end)?;
                if end != *b"\n" {
                    out.write_bytes(b"\n")?;
                }
            }
        }
        Ok(())
    }

    /// Converts records of one source. `bare` has the columns of the output without the column of annotations.
    fn convert<'a>(
        &self,
        number: u32,
        bare: &SchemaRef,
        records: impl Iterator<Item = (RecordPlace, Option<Annotation<'a>>)>,
        take: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let (handle, content) = self.corpus.sources.get(number)?;
        if handle.source.unreadable().is_some() {
            return Ok(());
        }
        let misfit = |error| Foreign::from(error).at(handle.source.name(), "its records");
        // The source reads the places of a whole batch in advance, so annotations wait here for their rows.
        let waiting: RefCell<VecDeque<Annotation<'a>>> = RefCell::default();
        let mut places = records.map(|(place, annotation)| {
            waiting.borrow_mut().extend(annotation);
            place
        });
        let kind = self.to.columns();
        let mut take_slice = |batch: RecordBatch| {
            let batch = match kind {
                Some(OutputColumns::Texts) => as_texts(&batch, bare).map_err(misfit)?,
                Some(OutputColumns::Typed) => fit(&batch, bare).map_err(misfit)?,
                Some(OutputColumns::Own) | None => {
                    fit(&batch, &unfolded(batch.schema_ref())).map_err(misfit)?
                }
            };
            let mut waiting = waiting.borrow_mut();
            let rows = batch.num_rows().min(waiting.len());
            let annotations: Vec<Annotation<'_>> = waiting.drain(..rows).collect();
            if annotations.is_empty() {
                return take(batch);
            }
            let (field, column) = match kind {
                Some(OutputColumns::Texts) => {
                    let texts =
                        annotations.iter().map(|annotation| Ok(annotation.to_json()?.get().to_owned()));
                    let texts: Vec<String> = texts.collect::<Result<_>>()?;
                    let column: ArrayRef = Arc::new(StringArray::from(texts));
                    (Field::new(MEMBER, DataType::Utf8, true), column)
                }
                _ => (annotation_field(), annotation_column(&annotations)),
            };
            let mut fields = batch.schema_ref().fields().to_vec();
            fields.push(Arc::new(field));
            let mut columns = batch.columns().to_vec();
            columns.push(column);
            let schema = Schema::new_with_metadata(fields, batch.schema_ref().metadata().clone());
            take(RecordBatch::try_new(Arc::new(schema), columns).map_err(misfit)?)
        };
        content.batches(&handle, bare, &mut places, &mut |batch| {
            slices(&batch).into_iter().try_for_each(|rows| take_slice(batch.slice(rows.start, rows.len())))
        })
    }
}

/// Returns the columns of a batch as texts, in the order of a schema's names.
fn as_texts(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let batch = fit(batch, &unfolded(batch.schema_ref()))?;
    let column = |field: &Arc<Field>| -> ArrayRef {
        match batch.column_by_name(field.name()) {
            Some(column) => {
                Arc::new((0..column.len()).map(|row| plain(&**column, row)).collect::<StringArray>())
            }
            None => Arc::new(StringArray::new_null(batch.num_rows())),
        }
    };
    RecordBatch::try_new(Arc::clone(schema), schema.fields().iter().map(column).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::scratch::Scratch;
    use crate::{ReadOptions, Unobserved};

    #[test]
    fn types_of_references_are_not_inferred() {
        let folder = tempfile::tempdir().unwrap();
        let line = "{\"text\":\"a\"}\n";
        let input = |name: &str| {
            let path = folder.path().join(name);
            fs_err::write(&path, line).unwrap();
            Input::from(path)
        };
        let (references, inputs) = ([input("seen.jsonl")], [input("in.jsonl")]);
        let corpus =
            Corpus::open_against(&references, &inputs, &ReadOptions::default(), &Unobserved).unwrap();
        refuse_conversion(&corpus, Format::PARQUET).unwrap();
        for chunk in corpus.chunks(1 << 20) {
            corpus.scan(&chunk, &mut Scratch::new(), &mut |_, _| {}).unwrap();
        }
        let is_noted = |source| corpus.sources.shared().shapes.of(source, line.len() as u64).is_some();
        assert_eq!([0, 1].map(is_noted), [false, true]);
    }
}
