//! Reads and copies files of records, with the code of the command.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{Int64Builder, LargeStringBuilder};
use minwise::Unobserved;
use minwise_corpus::{
    Chunk, Corpus, FieldPath, Input, Layout, Nulls, Output, OutputVerdict, Overwrite, RejectReason, Scratch,
    TableCompression, copy_records,
};
use minwise_engine::Arguments;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::batch::{PySparkBatch, made};
use crate::error::{OrRaise, setting_error};

/// A file of records that a task reads and copies.
#[pyclass(frozen, name = "SparkFile", module = "minwise._minwise")]
pub struct PySparkFile {
    corpus: Corpus,
    chunks: Vec<Chunk>,
    nulls: Nulls,
    fields: usize,
}

/// Number of bytes of one chunk of a file.
const CHUNK_BYTES: u64 = 8 << 20;

#[pymethods]
impl PySparkFile {
    /// Opens a file with options of the command. `fields` are the fields that the keeper policy reads.
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        options: Vec<(String, String)>,
        fields: Vec<String>,
    ) -> PyResult<Self> {
        let mut arguments = Arguments::new();
        for (setting, text) in &options {
            if !arguments.set(setting, text) {
                return Err(PyTypeError::new_err(format!("there is no option `{setting}`")));
            }
        }
        let read = arguments.read_options();
        arguments.built(Ok(())).or_raise(py)?;
        let paths: Vec<FieldPath> =
            fields.iter().map(|field| field.parse::<FieldPath>()).collect::<Result<_, _>>().or_raise(py)?;
        let nulls = read.nulls;
        let read = read.value_fields(paths);
        let corpus =
            py.detach(|| Corpus::open(&[Input::from(path.as_path())], &read, &Unobserved)).or_raise(py)?;
        if corpus.layout() != Layout::Records {
            let message = format!("{} is one document: the Spark job reads files of records", path.display());
            return Err(setting_error(py, &message, Some("`minwise dedup` takes folders of documents")));
        }
        // WARC files are refused, because the command keeps records without text, such as pictures, and the job has no
        // rows for them.
        if corpus.format().is_some_and(|format| format.name() == "warc") {
            let message = format!("{} is a WARC file, which the Spark job does not read", path.display());
            return Err(setting_error(py, &message, Some("`minwise dedup` reads WARC files")));
        }
        let chunks = corpus.chunks(CHUNK_BYTES);
        Ok(Self { corpus, chunks, nulls, fields: fields.len() })
    }

    /// Returns the number of chunks of the file.
    fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the records of a chunk, and the number of its lines. A record has `row` (the byte or row at which it
    /// begins), `line` (within the chunk), `id`, `text`, and the values of the fields (`v0`, `v1`, …). A rejected
    /// record has `code` and `message`.
    fn scan(&self, py: Python<'_>, chunk: usize) -> PyResult<(PySparkBatch, u64)> {
        let (mut rows, mut lines) = (Int64Builder::new(), Int64Builder::new());
        let [mut ids, mut texts, mut codes, mut messages]: [LargeStringBuilder; 4] = Default::default();
        let mut values: Vec<LargeStringBuilder> =
            (0..self.fields).map(|_| LargeStringBuilder::new()).collect();
        let scanned = py.detach(|| {
            self.corpus.scan(&self.chunks[chunk], &mut Scratch::new(), &mut |place, document| {
                rows.append_value(place.offset.cast_signed());
                lines.append_value(place.line.cast_signed());
                match document {
                    Ok(document) => {
                        ids.append_option(document.id);
                        texts.append_value(document.text);
                        codes.append_null();
                        messages.append_null();
                        for (at, out) in values.iter_mut().enumerate() {
                            out.append_option(document.values.get(at).and_then(Option::as_deref));
                        }
                    }
                    Err(reject) => {
                        let is_null = matches!(reject.reason, RejectReason::Null { .. });
                        ids.append_option(reject.id.as_deref());
                        texts.append_null();
                        // A null text gets no code, because the setting `null` decides whether it is rejected.
                        codes.append_option((!is_null).then(|| reject.reason.code()));
                        messages.append_option((!is_null).then(|| reject.reason.to_string()));
                        values.iter_mut().for_each(LargeStringBuilder::append_null);
                    }
                }
            })
        });
        let scanned = scanned.or_raise(py)?;
        let mut columns: Vec<(String, ArrayRef)> = vec![
            ("row".to_owned(), Arc::new(rows.finish())),
            ("line".to_owned(), Arc::new(lines.finish())),
            ("id".to_owned(), Arc::new(ids.finish())),
            ("text".to_owned(), Arc::new(texts.finish())),
            ("code".to_owned(), Arc::new(codes.finish())),
            ("message".to_owned(), Arc::new(messages.finish())),
        ];
        for (at, mut value) in values.into_iter().enumerate() {
            columns.push((format!("v{at}"), Arc::new(value.finish())));
        }
        let batch = made(columns.iter().map(|(name, array)| (name.as_str(), Arc::clone(array))).collect())?;
        Ok((batch, scanned.0))
    }

    /// Returns the name of a record without an id.
    fn place_name(&self, line: u64) -> String {
        self.corpus.place_name(0, line)
    }

    /// Copies the records to another file, except rejected records and the records whose `row` is in `removed`.
    fn copy(&self, py: Python<'_>, output: PathBuf, removed: Vec<i64>) -> PyResult<u64> {
        let gone: BTreeSet<u64> = removed.into_iter().map(i64::cast_unsigned).collect();
        let copied = py.detach(|| -> Result<u64, minwise_corpus::Error> {
            let mut places = vec![];
            for chunk in &self.chunks {
                self.corpus.scan(chunk, &mut Scratch::new(), &mut |place, document| {
                    let stays = match &document {
                        Ok(_) => true,
                        Err(reject) => {
                            matches!(reject.reason, RejectReason::Null { .. }) && self.nulls == Nulls::Keep
                        }
                    };
                    if stays && !gone.contains(&place.offset) {
                        places.push(place);
                    }
                })?;
            }
            let number = places.len() as u64;
            if let (Some(source), Some(format)) = (self.corpus.sources().first(), self.corpus.format())
                && source.unreadable().is_none()
            {
                let mut out = Output::create(&output, Overwrite::Allow)?;
                let all = self.corpus.input_numbers();
                let compression = TableCompression::default();
                copy_records(
                    &self.corpus,
                    all,
                    places.into_iter(),
                    OutputVerdict::Kept,
                    format,
                    &mut out,
                    compression,
                )?;
                out.finish()?;
            }
            Ok(number)
        });
        copied.or_raise(py)
    }
}
