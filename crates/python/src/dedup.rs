//! Runs of the engine: `dedup`, `dedup_files` and `pairs`.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use minwise::Spec;
use minwise_corpus::{ErrorKind as CorpusKind, FileProblem};
use minwise_engine::{
    Arguments, Dedup, DedupOptions, Deduplicated, Destination, Error, ErrorKind, FoundPairs, InMemory, Input,
    Inputs, Outputs, Pairs, PairsOptions, WorkOptions,
};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyInt, PyList, PyTuple};

use crate::arrow::{Arrived, export_stream, import};
use crate::column::{Column, SharedNumbers};
use crate::comparison::{ComparedText, PyComparison};
use crate::error::{Exception, OrRaise, Raise, spelled};
use crate::run::{Hooks, SUPERVISED_BYTES, Watch, abandonable, supervise};
use crate::shared::PySpec;
use crate::texts::{Place, PyTexts, Surrogates, count, string, type_name, utf8, whole};

/// The data and the options of one run, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PyJob<'py> {
    /// Sources: `("texts", texts, ids, name)`, `("table", table, ids)`, `("path", path)` or `("file", path)`. Messages
    /// call the texts `name`, such as `data['body']`. If `name` is `None`, messages use the name of the argument.
    inputs: Vec<Bound<'py, PyTuple>>,
    against: Vec<Bound<'py, PyTuple>>,
    ignore_text: Vec<Bound<'py, PyTuple>>,
    /// Shingles that are left out of every document: 8 bytes per shingle, little-endian.
    ignore_shingles: Bound<'py, PyBytes>,
    /// The names of options and their values as text.
    options: Vec<(String, String)>,
    spec: Option<Bound<'py, PyAny>>,
    weights: Option<PathBuf>,
    /// The name of the column for texts that come without a column name.
    text_column: String,
    /// The name of the column for ids.
    id_column: String,
    errors: String,
    progress: Option<Bound<'py, PyAny>>,
    cancel: Option<Bound<'py, PyAny>>,
}

/// A run that is ready to start. `repaired` counts the texts whose lone surrogates were replaced.
struct Ready<'py> {
    inputs: Inputs,
    arguments: Arguments,
    hooks: Hooks<'py>,
    repaired: u64,
}

impl<'py> PyJob<'py> {
    fn ready(self, py: Python<'py>) -> PyResult<Ready<'py>> {
        let mut arguments = Arguments::new();
        for (setting, text) in &self.options {
            if !arguments.set(setting, text) {
                return Err(PyTypeError::new_err(format!("there is no option `{setting}`")));
            }
        }
        if let Some(spec) = &self.spec {
            arguments.set_whole_spec(PySpec::from_object(py, Some(spec))?.spec);
        }
        let mut sources = Sources {
            text_column: &self.text_column,
            id_column: &self.id_column,
            surrogates: Surrogates::from_errors(&self.errors)?,
            repaired: 0,
        };
        let mut opened = |all: &[Bound<'py, PyTuple>], name: &str| -> PyResult<Vec<Input>> {
            all.iter().map(|source| sources.input(source, name)).collect()
        };
        let inputs = Inputs::default()
            .inputs(opened(&self.inputs, "data")?)
            .against(opened(&self.against, "against")?)
            .ignore_text(opened(&self.ignore_text, "ignore_text")?)
            .ignore_shingles(shingles(self.ignore_shingles.as_bytes()))
            .options(arguments.read_options())
            .weights(self.weights.clone());
        let repaired = sources.repaired;
        let hooks = Hooks { progress: self.progress, cancel: self.cancel };
        Ok(Ready { inputs, arguments, hooks, repaired })
    }
}

/// Reads shingles from bytes: 8 bytes per shingle, little-endian.
pub fn shingles(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect()
}

/// Converts sources of Python into inputs of a run, and counts repaired texts.
struct Sources<'a> {
    text_column: &'a str,
    id_column: &'a str,
    surrogates: Surrogates,
    repaired: u64,
}

impl Sources<'_> {
    fn input(&mut self, source: &Bound<'_, PyTuple>, name: &str) -> PyResult<Input> {
        let kind: String = source.get_item(0)?.extract()?;
        let data = source.get_item(1)?;
        match kind.as_str() {
            "file" => {
                let path: PathBuf = data.extract()?;
                Ok(Input::from_word(path.as_os_str()))
            }
            "path" => Ok(Input::NamedFile { path: data.extract()?, name: name.to_owned() }),
            "texts" => {
                let ids = ids(&source.get_item(2)?)?;
                let shown: Option<String> = source.get_item(3)?.extract()?;
                Ok(self.texts(&data, ids, shown.as_deref().unwrap_or(name))?.named(name).into())
            }
            _ => {
                let ids = ids(&source.get_item(2)?)?;
                Ok(self.table(&data, ids, name)?.named(name).into())
            }
        }
    }

    /// Returns the text of an item, or `None` if the item is null, and counts the text if it was repaired.
    fn text<'i>(&mut self, item: &'i Bound<'_, PyAny>, place: Place<'_>) -> PyResult<Option<Cow<'i, str>>> {
        if item.is_none() {
            return Ok(None);
        }
        let (text, is_repaired) = utf8(string(item, place)?, self.surrogates, place)?;
        self.repaired += u64::from(is_repaired);
        Ok(Some(text))
    }

    fn texts(&mut self, data: &Bound<'_, PyAny>, ids: Option<Ids>, name: &str) -> PyResult<InMemory> {
        let py = data.py();
        match PyTexts::from_object(data, name)? {
            PyTexts::Items(items) => {
                check_ids(ids.as_deref(), items.len())?;
                let id = |at: usize| ids.as_ref()?.get(at)?.as_deref();
                let mut failed = None;
                let mut text = |at: usize, item| {
                    // Signals are handled, because copying the texts of a large list takes seconds.
                    if at.is_multiple_of(4096) {
                        py.check_signals()?;
                    }
                    self.text(item, Place(name, at))
                };
                let records = items.iter().enumerate().map_while(|(at, item)| match text(at, item) {
                    Ok(text) => Some((id(at), text)),
                    Err(error) => {
                        failed = Some(error);
                        None
                    }
                });
                let held = InMemory::records(records);
                failed.map_or(Ok(held), Err)
            }
            PyTexts::Chunks(chunks) => {
                let text = |chunk: &ArrayRef| Field::new(self.text_column, chunk.data_type().clone(), true);
                let batches = chunks
                    .iter()
                    .map(|chunk| {
                        let schema = Arc::new(Schema::new(vec![text(chunk)]));
                        RecordBatch::try_new(schema, vec![Arc::clone(chunk)]).map_err(|error| bad(&error))
                    })
                    .collect::<PyResult<Vec<_>>>()?;
                let none = Schema::new(vec![Field::new(self.text_column, DataType::Utf8, true)]);
                let schema = batches.first().map_or(Arc::new(none), RecordBatch::schema);
                self.with_ids(schema, batches, ids.as_deref())
            }
        }
    }

    fn table(&mut self, data: &Bound<'_, PyAny>, ids: Option<Ids>, name: &str) -> PyResult<InMemory> {
        match import(data)? {
            Some(Arrived::Table { schema, batches }) => self.with_ids(schema, batches, ids.as_deref()),
            _ => Err(PyTypeError::new_err(format!("{name} is {}: it must be a table", type_name(data)))),
        }
    }

    /// Returns a table whose column of ids is replaced by `ids`. Without `ids`, the table is unchanged.
    fn with_ids(
        &self,
        schema: Arc<Schema>,
        batches: Vec<RecordBatch>,
        ids: Option<&[Option<String>]>,
    ) -> PyResult<InMemory> {
        check_ids(ids, batches.iter().map(RecordBatch::num_rows).sum())?;
        let Some(ids) = ids else { return Ok(InMemory::batches(schema, batches)) };
        let field = Arc::new(Field::new(self.id_column, DataType::LargeUtf8, true));
        let others: Vec<usize> =
            (0..schema.fields().len()).filter(|&at| schema.field(at).name() != self.id_column).collect();
        let fields: Vec<_> =
            others.iter().map(|&at| Arc::clone(&schema.fields()[at])).chain([field]).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut begin = 0;
        let batches = batches
            .iter()
            .map(|batch| {
                let end = begin + batch.num_rows();
                let ids: ArrayRef = Arc::new(LargeStringArray::from_iter(&ids[begin..end]));
                begin = end;
                let columns = others.iter().map(|&at| Arc::clone(batch.column(at))).chain([ids]).collect();
                RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|error| bad(&error))
            })
            .collect::<PyResult<Vec<_>>>()?;
        Ok(InMemory::batches(schema, batches))
    }
}

fn bad(error: &arrow_schema::ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow data cannot be read: {error}"))
}

/// Ids of records; `None` for a record without an id.
type Ids = Vec<Option<String>>;

fn check_ids(ids: Option<&[Option<String>]>, rows: usize) -> PyResult<()> {
    match ids {
        Some(ids) if ids.len() != rows => {
            Err(PyValueError::new_err(format!("there are {} ids for {rows} rows", ids.len())))
        }
        _ => Ok(()),
    }
}

fn ids(value: &Bound<'_, PyAny>) -> PyResult<Option<Ids>> {
    if value.is_none() {
        return Ok(None);
    }
    let list = value.cast::<PyList>()?;
    let id = |(at, id): (usize, Bound<'_, PyAny>)| -> PyResult<Option<String>> {
        if id.is_none() {
            return Ok(None);
        }
        let place = Place("id", at);
        let (id, _): (Cow<'_, str>, bool) = utf8(string(&id, place)?, Surrogates::Repair, place)?;
        Ok(Some(id.into_owned()))
    };
    list.iter().enumerate().map(id).collect::<PyResult<_>>().map(Some)
}

/// Files that a run writes.
#[derive(FromPyObject, Default)]
#[pyo3(from_item_all)]
pub struct WrittenFiles {
    output: Option<String>,
    removed: Option<String>,
    annotate: bool,
    report: Option<PathBuf>,
    force: bool,
    work: Option<PathBuf>,
    resume: bool,
    keep_work: bool,
    command: Option<String>,
}

impl WrittenFiles {
    fn outputs(&self, arguments: &Arguments) -> Outputs {
        Outputs::default()
            .kept(self.output.as_deref().map(Destination::from))
            .removed(self.removed.as_deref().map(Destination::from))
            .annotate(self.annotate)
            .format(arguments.output_format())
            .compression(arguments.compression())
            .report(self.report.clone())
            .overwrite(self.force)
    }
}

/// Runs a deduplication.
#[pyfunction]
#[pyo3(signature = (job, files = None))]
pub fn run_dedup(py: Python<'_>, job: PyJob<'_>, files: Option<WrittenFiles>) -> PyResult<PyDeduplicated> {
    let Ready { inputs, mut arguments, hooks, repaired } = job.ready(py)?;
    let of_files = files.is_some();
    let files = files.unwrap_or_default();
    let settings = arguments.settings();
    let work =
        files.work.as_ref().map(|folder| WorkOptions::new(folder).resume(files.resume).keep(files.keep_work));
    let options = DedupOptions::default()
        .inputs(inputs)
        .settings(settings)
        .outputs(files.outputs(&arguments))
        .work(work)
        .command(files.command.clone());
    let run = arguments.built(Dedup::from(options.clone()).build()).or_raise(py)?;
    drop(run);
    let result = supervise(py, &hooks, repaired, |watch| Dedup::from(options).run_observed(watch))?;
    let result =
        if of_files { result.or_raise(py)? } else { result.map_err(|error| raise_of_data(py, &error))? };
    Ok(PyDeduplicated { result, repaired })
}

/// Makes the exception of a run over data in memory. Its message names a rejected record by the position, `data[6]`,
/// and not by the line, `data:7`. Its hint names `rejects` instead of a report, because `dedup` has no argument for a
/// report.
fn raise_of_data(py: Python<'_>, error: &Error) -> PyErr {
    let hint = match error.kind() {
        ErrorKind::TooManyRejects { .. } => {
            Some("without `max_rejects`, `rejects` of the result lists every rejected record".to_owned())
        }
        ErrorKind::AllRejected { .. } | ErrorKind::NullText { .. } => error.hint().as_ref().map(spelled),
        ErrorKind::Corpus(corpus)
            if matches!(
                corpus.kind(),
                CorpusKind::Inside { name, problem: FileProblem::ColumnType { .. } } if name == "data"
            ) =>
        {
            // The error is a `TypeError`, because a list with an item of another type raises one, too.
            let hint = error.hint().map(|hint| format!("; hint: {}", spelled(&hint))).unwrap_or_default();
            return PyTypeError::new_err(format!("{}{hint}", spelled(&error.message())));
        }
        _ => return error.raise(py),
    };
    let message = with_positions(&spelled(&error.message()));
    Exception::RejectedRecords.raise(py, &message, error.code(), hint.as_deref(), &[])
}

/// Replaces lines by positions in a message: `data:7` becomes `data[6]`.
fn with_positions(message: &str) -> String {
    let word = |word: &str| -> Option<String> {
        let (name, rest) = word.split_once(':')?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (line, rest) = rest.split_at(digits);
        let position = line.parse::<u64>().ok()?.checked_sub(1)?;
        ["data", "against", "ignore_text"].contains(&name).then(|| format!("{name}[{position}]{rest}"))
    };
    let words = message.split(' ').map(|text| word(text).map_or(Cow::Borrowed(text), Cow::Owned));
    words.collect::<Vec<_>>().join(" ")
}

/// Decisions of a deduplication, as the Python package reads them. Methods take and return the positions of documents
/// in the data.
#[pyclass(frozen, weakref, name = "Deduplicated", module = "minwise._minwise")]
pub struct PyDeduplicated {
    result: Deduplicated,
    repaired: u64,
}

#[pymethods]
impl PyDeduplicated {
    fn __len__(&self) -> usize {
        self.result.len()
    }

    /// Returns a boolean per record: whether the record is kept.
    fn kept_mask(&self) -> Column {
        Column::new(SharedNumbers::Bools(Arc::new(self.result.kept_mask())))
    }

    /// Returns three columns: the positions of removed documents, the positions of the documents kept in their stead,
    /// and the similarities.
    fn removed(&self) -> (Column, Column, Column) {
        let removed = self.result.removed();
        let integers = |of: fn(&minwise_engine::Duplicate) -> usize| {
            Column::new(SharedNumbers::I64(Arc::new(removed.iter().map(|one| of(one) as i64).collect())))
        };
        let similarities = removed.iter().map(|one| one.similarity).collect();
        (
            integers(|one| one.index),
            integers(|one| one.duplicate_of),
            Column::new(SharedNumbers::F64(Arc::new(similarities))),
        )
    }

    /// Returns the position (`None` in a reference), id, reason and message of each rejected record.
    fn rejects(&self, py: Python<'_>) -> PyResult<Vec<RejectRow>> {
        let outcome = self.result.outcome();
        rejects(py, outcome.rejects(), self.result.rejected().collect(), outcome.corpus())
    }

    /// Returns the counts of the run as JSON.
    fn summary(&self) -> PyResult<String> {
        let mut summary = self.result.summary().clone();
        summary.repaired += self.repaired;
        serde_json::to_string(&summary).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the ids of the records at the positions `indices`.
    fn ids(&self, py: Python<'_>, indices: Vec<usize>) -> PyResult<Ids> {
        let id = |index| Ok(self.result.id(index)?.map(Cow::into_owned));
        py.detach(|| indices.into_iter().map(id).collect::<Result<_, Error>>()).or_raise(py)
    }

    /// Returns the text of the record at a position.
    fn text(&self, py: Python<'_>, index: usize) -> PyResult<Option<String>> {
        py.detach(|| self.result.text(index)).or_raise(py)
    }

    /// Compares the documents at two positions.
    fn compare(
        &self,
        py: Python<'_>,
        left: usize,
        right: usize,
        passages: &Bound<'_, PyAny>,
    ) -> PyResult<PyComparison> {
        let passages = count(passages, "passages", 0)?;
        let text = |index| {
            let text = py.detach(|| self.result.text(index)).or_raise(py)?;
            text.ok_or_else(|| PyIndexError::new_err(format!("there is no text at position {index}")))
        };
        let (left, right) = (text(left)?, text(right)?);
        let preparation = self.result.outcome().plan().preparation().or_raise(py)?;
        let whole = |text| ComparedText { text, pairs: vec![] };
        let (left, right, comparison) = if left.len() + right.len() < SUPERVISED_BYTES {
            let comparison = py.detach(|| preparation.compare(&left, &right));
            (left, right, comparison)
        } else {
            abandonable(py, move || {
                let comparison = preparation.compare(&left, &right);
                (left, right, comparison)
            })?
        };
        PyComparison::new(py, &comparison, whole(left), whole(right), passages)
    }

    /// Writes the report of the run.
    fn write_report(&self, py: Python<'_>, folder: PathBuf, force: bool) -> PyResult<()> {
        let work = |watch: &Watch| self.result.outcome().write_report(&folder, force, watch);
        supervise(py, &Hooks::default(), 0, work)?.or_raise(py)
    }
}

type RejectRow = (Option<usize>, Option<String>, String, String);

fn rejects(
    py: Python<'_>,
    rejects: &minwise_engine::Rejects,
    positions: Vec<usize>,
    corpus: &minwise_corpus::Corpus,
) -> PyResult<Vec<RejectRow>> {
    let mut positions = positions.into_iter();
    let mut all = vec![];
    rejects
        .for_each(|rejected| {
            let position = if rejected.source < corpus.references() { None } else { positions.next() };
            all.push((position, rejected.id.clone(), rejected.reason.clone(), rejected.message.clone()));
            Ok(())
        })
        .or_raise(py)?;
    Ok(all)
}

/// Lists near-duplicate pairs.
#[pyfunction]
#[pyo3(signature = (job, of = None))]
pub fn run_pairs(py: Python<'_>, job: PyJob<'_>, of: Option<Vec<String>>) -> PyResult<PyFoundPairs> {
    let Ready { inputs, mut arguments, hooks, repaired } = job.ready(py)?;
    let options = PairsOptions::default().inputs(inputs).settings(arguments.settings()).of(of);
    drop(arguments.built(Pairs::from(options.clone()).build()).or_raise(py)?);
    let result = supervise(py, &hooks, repaired, |watch| Pairs::from(options).run_observed(watch))?;
    Ok(PyFoundPairs { result: result.map_err(|error| raise_of_data(py, &error))? })
}

/// Near-duplicate pairs. Methods take and return the positions of documents in the data.
#[pyclass(frozen, name = "FoundPairs", module = "minwise._minwise")]
pub struct PyFoundPairs {
    result: FoundPairs,
}

#[pymethods]
impl PyFoundPairs {
    /// Returns the number of records.
    fn records(&self) -> usize {
        self.result.records()
    }

    /// Returns three columns with one row per pair: the position of the first document, that of the second document,
    /// and the similarity.
    fn columns(&self) -> (Column, Column, Column) {
        let integers = |of: fn(&minwise_engine::FoundPair) -> usize| {
            Column::new(SharedNumbers::I64(Arc::new(
                self.result.iter().map(|pair| of(pair) as i64).collect(),
            )))
        };
        let similarities = self.result.iter().map(|pair| pair.similarity).collect();
        (
            integers(|pair| pair.first),
            integers(|pair| pair.second),
            Column::new(SharedNumbers::F64(Arc::new(similarities))),
        )
    }

    /// Returns the position, id, reason and message of each rejected record.
    fn rejects(&self, py: Python<'_>) -> PyResult<Vec<RejectRow>> {
        let outcome = self.result.outcome();
        rejects(py, outcome.rejects(), self.result.rejected().collect(), outcome.corpus())
    }

    /// Returns the ids of the records at the positions `indices`.
    fn ids(&self, py: Python<'_>, indices: Vec<usize>) -> PyResult<Ids> {
        let id = |index| Ok(self.result.id(index)?.map(Cow::into_owned));
        py.detach(|| indices.into_iter().map(id).collect::<Result<_, Error>>()).or_raise(py)
    }
}

/// Returns the fields that a keeper policy reads. If the policy cannot be parsed, the list is empty, because the run
/// reports this problem together with all other problems of its settings.
#[pyfunction]
pub fn keep_fields(keep: &str) -> Vec<String> {
    let keep = keep.parse::<minwise_engine::KeepPolicy>();
    keep.map(|keep| keep.fields().map(ToString::to_string).collect()).unwrap_or_default()
}

/// Chooses bands and rows for a threshold. Returns the number of bands, rows per band, recall at the threshold, half
/// point, steepest point, expected false candidates per document, and bytes per sketch.
#[pyfunction]
#[pyo3(signature = (threshold, recall, registers, bands, rows))]
#[allow(clippy::type_complexity, reason = "Python code takes the values apart")]
pub fn plan(
    py: Python<'_>,
    threshold: f64,
    recall: Option<f64>,
    registers: &Bound<'_, PyAny>,
    bands: Option<&Bound<'_, PyAny>>,
    rows: Option<&Bound<'_, PyAny>>,
) -> PyResult<(usize, usize, f64, f64, Option<f64>, f64, usize)> {
    use minwise::candidate::{Curve, tune};
    let mut arguments = Arguments::new();
    arguments.set("threshold", &threshold.to_string());
    if let Some(recall) = recall {
        arguments.set("recall", &recall.to_string());
    }
    for (setting, number) in [("registers", Some(registers)), ("bands", bands), ("rows", rows)] {
        if let Some(number) = number {
            arguments.set(setting, &whole(number, setting, 1)?.to_string());
        }
    }
    let settings = arguments.settings();
    let plan = arguments.built(settings.plan()).or_raise(py)?;
    let (banding, spec): (_, &Spec) = (plan.banding(), plan.spec());
    let curve = Curve::from(banding);
    let false_candidates = tune::expected_false_candidates(banding, threshold, |similarity| similarity);
    Ok((
        banding.bands(),
        banding.rows(),
        curve.probability(threshold),
        curve.half_point(),
        curve.steepest_point(),
        false_candidates,
        spec.method.size_bytes(),
    ))
}

/// Returns the capsule of an Arrow stream of decisions or pairs: two columns of ids, a column of similarities, and two
/// columns of positions.
#[pyfunction]
pub fn decision_stream<'py>(
    py: Python<'py>,
    names: [String; 5],
    ids: [Vec<Bound<'py, PyAny>>; 2],
    similarities: Vec<f64>,
    positions: [Vec<Option<i64>>; 2],
) -> PyResult<Bound<'py, PyCapsule>> {
    let [first, second] = ids;
    let [from, to] = positions;
    let columns: [ArrayRef; 5] = [
        id_column(&first)?,
        id_column(&second)?,
        Arc::new(Float64Array::from(similarities)),
        Arc::new(Int64Array::from(from)),
        Arc::new(Int64Array::from(to)),
    ];
    let fields: Vec<Field> = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(name, column.data_type().clone(), true))
        .collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into());
    export_stream(py, batch.map_err(|error| bad(&error))?)
}

/// Returns a column of integers if all ids are integers, and a column of texts otherwise.
fn id_column(ids: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let is_number = |id: &Bound<'_, PyAny>| id.is_exact_instance_of::<PyInt>();
    if ids.iter().all(is_number)
        && let Ok(numbers) = ids.iter().map(PyAnyMethods::extract).collect::<PyResult<Vec<i64>>>()
    {
        return Ok(Arc::new(Int64Array::from(numbers)));
    }
    let texts: Vec<String> = ids.iter().map(|id| Ok(id.str()?.to_string())).collect::<PyResult<_>>()?;
    Ok(Arc::new(LargeStringArray::from_iter_values(texts)))
}
