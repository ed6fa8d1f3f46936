//! The settings of a job.

use std::path::PathBuf;

use minwise::filter::{ErrorBudget, Filter, default_looks};
use minwise::keep::Ranking;
use minwise::weight::MostDocuments;
use minwise::{Spec, Unobserved, WeightSpec};
use minwise_engine::weigh::FrequencyTable;
use minwise_engine::{Arguments, FILTER_ERROR, Input, Inputs, KeepPolicy, Measure, Search, WeightTables};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};

use crate::error::{OrRaise, setting_error};
use crate::shared::PySpec;

/// Settings of a job that all its tasks share. The driver computes them once, and tasks do not compute them again,
/// because two machines may round the mathematical functions behind the thresholds of filters differently.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobPlan {
    pub spec: String,
    pub threshold: f64,
    pub bands: usize,
    pub rows: usize,
    pub filter: Option<String>,
    /// Error of the filter over all looks. Only the summary uses `filter_error`, `looks` and `error_per_look`.
    pub filter_error: Option<f64>,
    pub looks: Option<Vec<usize>>,
    pub error_per_look: Option<f64>,
    /// Probability that a pair whose similarity is the threshold is found.
    pub found_at_threshold: f64,
    /// Filter of the audit. Its error is [`FILTER_ERROR`], as in the command's audit, whatever the settings of the job
    /// are.
    pub audit_filter: Option<String>,
    pub keep: String,
    pub cluster: String,
    pub max_cluster: Option<u64>,
    pub max_df: Option<String>,
    pub null: String,
    /// Largest number of bytes of a text. Longer texts are rejected.
    pub max_record: u64,
    pub recall: Option<f64>,
}

/// Checks the settings of a job and returns them as JSON.
#[pyfunction]
#[pyo3(signature = (options, spec = None, weights = None))]
pub fn spark_plan(
    py: Python<'_>,
    options: Vec<(String, String)>,
    spec: Option<Bound<'_, PyAny>>,
    weights: Option<PathBuf>,
) -> PyResult<String> {
    let mut arguments = Arguments::new();
    for (setting, text) in &options {
        if !arguments.set(setting, text) {
            return Err(PyTypeError::new_err(format!("there is no option `{setting}`")));
        }
    }
    if let Some(spec) = &spec {
        arguments.set_whole_spec(PySpec::from_object(py, Some(spec))?.spec);
    }
    let mut settings = arguments.settings();
    // `max-df` is taken out of the settings: Spark counts document frequencies later, and each task gets the list of
    // frequent shingles to leave out.
    let max_df = settings.spec.weights.most_documents.take();
    let mut tables = WeightTables::default();
    if settings.spec.weights.weighting.needs_frequencies() {
        let Some(path) = &weights else {
            let message = "`weight`: the Spark job does not count the frequencies of all shingles";
            let hint = "count them with `minwise weights` and pass the file, below 1 GiB, as `weights`";
            return Err(setting_error(py, message, Some(hint)));
        };
        let table = FrequencyTable::open(path).or_raise(py)?;
        table.check(&settings.spec).or_raise(py)?;
        tables = tables.with_frequencies(table);
        settings.spec = tables.fill(&settings.spec);
    }
    let settings = settings.weighing(tables);
    let read = arguments.read_options();
    let (null, max_record) = (read.nulls.to_string(), read.max_record_bytes);
    let plan = arguments.built(settings.plan()).or_raise(py)?;
    let refused = |setting: &str, value: String, hint: &str| {
        setting_error(py, &format!("`{setting}`: the Spark job does not do `{value}`"), Some(hint))
    };
    if plan.measure() != Measure::Jaccard {
        let hint = "`minwise.dedup` does containment on one machine";
        return Err(refused("measure", plan.measure().to_string(), hint));
    }
    if plan.search() != Search::Banding {
        let hint =
            "use `banding`, whose recall `recall` sets; `minwise.dedup` compares all pairs on one machine";
        return Err(refused("candidates", plan.search().to_string(), hint));
    }
    let method = plan.spec().method;
    let budget = match (plan.error_per_look(), plan.filter_error()) {
        (Some(error), Some(_)) => Some(ErrorBudget::PerLook(error)),
        (None, Some(error)) => Some(ErrorBudget::Exact(error)),
        (_, None) => None,
    };
    let filter = match budget {
        Some(budget) => {
            let looks = plan.looks().map_or_else(|| default_looks(method.registers()), <[usize]>::to_vec);
            Filter::of(method, plan.threshold(), 1, &looks, budget).or_raise(py)?
        }
        None => None,
    };
    // At a threshold of 1 only equal documents are near-duplicates. The job finds all of them, so the audit needs no
    // filter.
    let audit_filter = if plan.threshold() < 1.0 {
        let (looks, budget) = (default_looks(method.registers()), ErrorBudget::Exact(FILTER_ERROR));
        Filter::of(method, plan.threshold(), 1, &looks, budget).or_raise(py)?
    } else {
        None
    };
    let option =
        |name: &str| options.iter().find(|(setting, _)| setting == name).map(|(_, text)| text.as_str());
    let recall = option("bands")
        .is_none()
        .then(|| option("recall").and_then(|text| text.parse().ok()).unwrap_or(0.99));
    let plan = JobPlan {
        spec: plan.spec().to_string(),
        threshold: plan.threshold(),
        bands: plan.banding().bands(),
        rows: plan.banding().rows(),
        filter: filter.map(|filter| filter.to_string()),
        filter_error: plan.filter_error(),
        looks: plan.looks().map(<[usize]>::to_vec),
        error_per_look: plan.error_per_look(),
        found_at_threshold: plan.curve().probability(plan.threshold()),
        audit_filter: audit_filter.map(|filter| filter.to_string()),
        keep: plan.keep().to_string(),
        cluster: option("cluster").unwrap_or("star").to_owned(),
        max_cluster: option("max-cluster").and_then(|text| text.parse().ok()),
        max_df: max_df.map(|most| most.to_string()),
        null,
        max_record,
        recall,
    };
    serde_json::to_string(&plan).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the shingles of the texts in files and folders, 8 bytes per shingle. The files are read as the command reads
/// them.
#[pyfunction]
#[pyo3(signature = (spec, paths, text_field = None))]
pub fn spark_ignored<'py>(
    py: Python<'py>,
    spec: &str,
    paths: Vec<PathBuf>,
    text_field: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut spec: Spec = spec.parse().or_raise(py)?;
    // Weights are left out of the spec: they would need tables, and shingles do not depend on them.
    spec.weights = WeightSpec::default();
    let mut arguments = Arguments::new();
    if let Some(field) = text_field {
        arguments.set("text-field", field);
    }
    let options = arguments.read_options();
    arguments.built(Ok(())).or_raise(py)?;
    let texts: Vec<Input> = paths.iter().map(|path| Input::from_word(path.as_os_str())).collect();
    let inputs = Inputs::default().ignore_text(texts).options(options);
    let tables = py.detach(|| inputs.weigh(&mut spec, None, 1, &Unobserved)).or_raise(py)?;
    let bytes: Vec<u8> = tables.ignored.iter().flat_map(|shingle| shingle.to_le_bytes()).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// Returns the rankings of a keeper policy, each with its number of bytes in a rank key, and whether it reads a field.
#[pyfunction]
pub fn spark_rules(py: Python<'_>, keep: &str) -> PyResult<Vec<(String, usize, bool)>> {
    let keep: KeepPolicy = keep.parse().or_raise(py)?;
    let rule = |rule: &Ranking| (rule.to_string(), size_of::<u64>() * rule.words(), rule.field().is_some());
    Ok(keep.rankings().iter().map(rule).collect())
}

/// Returns the greatest document frequency that a limit such as `0.1` or `500` allows, given the number of all
/// documents.
#[pyfunction]
pub fn spark_allowed(py: Python<'_>, max_df: &str, documents: u64) -> PyResult<u64> {
    let most: MostDocuments = max_df.parse().or_raise(py)?;
    // The limit is searched with `allows`, the comparison of the command, so that both round a share alike.
    let (mut allowed, mut refused) = (0, i64::MAX.cast_unsigned());
    while allowed + 1 < refused {
        let middle = allowed.midpoint(refused);
        if most.allows(middle, documents) { allowed = middle } else { refused = middle }
    }
    Ok(allowed)
}
