//! The run that estimates similarities from files of sketches.

use std::path::PathBuf;

use minwise::filter::ErrorBudget;
use minwise::{Observer, Spec, escape_field, visible_json};
use serde_json::json;

use super::{Destination, PairFormat, overwrite, refuse};
use crate::error::{Error, SettingProblem};
use crate::estimate::sketch_file::SketchFile;
use crate::estimate::{Compared, EstimateRequest, EstimatedPair, for_each_pair};
use crate::setters::setters;
use crate::settings::{
    FILTER_ERROR, all_cores, check_error_per_look, check_filter_error, check_looked, check_looks,
};

/// The options of an [`EstimateRun`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EstimateOptions {
    /// A file of sketches.
    pub first: PathBuf,
    /// A second file of sketches. Default: the documents of the first file are compared with one another.
    pub second: Option<PathBuf>,
    /// Ids of documents; only pairs that contain one of these documents are listed. Default: all pairs are listed.
    pub of: Option<Vec<String>>,
    /// The lowest estimate of listed pairs, from 0 to 1. Default: 0.8.
    pub threshold: f64,
    /// The share of pairs at the threshold that the filter may reject by mistake, from 1e-200 to 0.5; `None` turns the
    /// filter off. Default: 1e-6.
    pub filter_error: Option<f64>,
    /// The looks of the filter, as ascending numbers of registers. Default: those of
    /// [`default_looks`](minwise::filter::default_looks).
    pub looks: Option<Vec<usize>>,
    /// The share of pairs at the threshold that each look may reject by mistake, from 1e-200 to 0.5. This share
    /// replaces `filter_error`, which is the share over all looks together. Default: `filter_error` is used.
    pub error_per_look: Option<f64>,
    /// Number of threads. Default: one per core.
    pub threads: Option<usize>,
    /// The destination of the pairs. Default: they are not written.
    pub output: Option<Destination>,
    /// The format in which pairs are written. Default: separated by tabs.
    pub format: PairFormat,
    /// Whether an existing output is replaced. Default: false.
    pub overwrite: bool,
}

setters!(EstimateOptions {
    /// The lowest estimate of listed pairs, from 0 to 1. Default: 0.8.
    threshold: f64,
    /// The format in which pairs are written. Default: separated by tabs.
    format: PairFormat,
    /// Whether an existing output is replaced. Default: false.
    overwrite: bool,
    ;
    /// A file of sketches.
    first: PathBuf,
    /// A second file of sketches. Default: the documents of the first file are compared with one another.
    second: Option<PathBuf>,
    /// Ids of documents; only pairs that contain one of these documents are listed. Default: all pairs are listed.
    of: Option<Vec<String>>,
    /// The share of pairs at the threshold that the filter may reject by mistake, from 1e-200 to 0.5; `None` turns the
    /// filter off. Default: 1e-6.
    filter_error: Option<f64>,
    /// The looks of the filter, as ascending numbers of registers. Default: those of
    /// [`default_looks`](minwise::filter::default_looks).
    looks: Option<Vec<usize>>,
    /// The share of pairs at the threshold that each look may reject by mistake, from 1e-200 to 0.5. This share
    /// replaces `filter_error`, which is the share over all looks together. Default: `filter_error` is used.
    error_per_look: Option<f64>,
    /// Number of threads. Default: one per core.
    threads: Option<usize>,
    /// The destination of the pairs. Default: they are not written.
    output: Option<Destination>,
});

impl EstimateOptions {
    /// Makes the options for the pairs of one file, with the defaults of all other fields.
    #[must_use]
    pub fn new(first: impl Into<PathBuf>) -> Self {
        Self {
            first: first.into(),
            second: None,
            of: None,
            threshold: 0.8,
            filter_error: Some(FILTER_ERROR),
            looks: None,
            error_per_look: None,
            threads: None,
            output: None,
            format: PairFormat::default(),
            overwrite: false,
        }
    }
}

/// Run that estimates similarities, with checked settings.
#[derive(Debug)]
pub struct EstimateRun {
    options: EstimateOptions,
    threads: usize,
}

/// Result of a run that estimates similarities.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EstimateOutcome {
    /// The spec by which the sketches were made.
    pub spec: Spec,
    /// The counts of compared pairs.
    pub compared: Compared,
    /// Number of pairs whose estimate reaches the threshold.
    pub pairs: u64,
}

impl EstimateRun {
    /// Checks all settings.
    ///
    /// # Errors
    /// If any setting is invalid, fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings), which lists all
    /// problems.
    pub fn new(options: EstimateOptions) -> Result<Self, Error> {
        let mut problems = vec![];
        let threshold = options.threshold;
        if !(0.0..=1.0).contains(&threshold) {
            let reason = format!("an estimate cannot be {threshold}: it must be from 0 to 1");
            problems.push(SettingProblem::new("threshold", threshold, reason));
        }
        let threads = all_cores(options.threads, &mut problems);
        check_filter_error(options.filter_error, &mut problems);
        check_error_per_look(options.error_per_look, &mut problems);
        if let Some(looks) = &options.looks {
            check_looked(looks, options.filter_error.or(options.error_per_look), &mut problems);
            check_looks(looks, None, &mut problems);
        }
        refuse(problems)?;
        Ok(Self { options, threads })
    }

    /// Estimates the similarities of the pairs, and writes the pairs that reach the threshold.
    ///
    /// # Errors
    /// Fails with:
    /// - [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if a sketch
    ///   file cannot be read or is damaged, or if the two files have different specs;
    /// - [`ErrorKind::Settings`](crate::ErrorKind::Settings) if a look needs more registers than the sketches have;
    /// - [`ErrorKind::NoSuchId`](crate::ErrorKind::NoSuchId) if an id in [`of`](EstimateOptions::of) belongs to no
    ///   document;
    /// - [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if the output cannot be written;
    /// - [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the observer cancels.
    pub fn execute(self, observer: &dyn Observer) -> Result<EstimateOutcome, Error> {
        self.execute_with(observer, |_, _, _| Ok(()))
    }

    /// Works as [`execute`](Self::execute) does, and passes each written pair to `visit` with the ids of its documents.
    ///
    /// # Errors
    /// Fails under the same conditions as [`execute`](Self::execute), and returns the first error of `visit`.
    pub fn execute_with(
        self,
        observer: &dyn Observer,
        mut visit: impl FnMut(&EstimatedPair, &str, &str) -> Result<(), Error> + Send,
    ) -> Result<EstimateOutcome, Error> {
        let Self { options, threads } = self;
        let first = SketchFile::open(&options.first)?;
        let second = options.second.as_deref().map(SketchFile::open).transpose()?;
        if let Some(looks) = &options.looks {
            let mut problems = vec![];
            check_looks(looks, Some(first.spec().method.registers()), &mut problems);
            refuse(problems)?;
        }
        let mut out =
            options.output.as_ref().map(|output| output.open(overwrite(options.overwrite))).transpose()?;
        let request = EstimateRequest {
            first: &first,
            second: second.as_ref(),
            of: options.of.as_deref(),
            threshold: options.threshold,
            filter: match options.error_per_look {
                Some(error) => Some(ErrorBudget::PerLook(error)),
                None => options.filter_error.map(ErrorBudget::Exact),
            },
            looks: options.looks.as_deref(),
            threads,
        };
        let right = second.as_ref().unwrap_or(&first);
        let mut pairs = 0;
        let compared = for_each_pair(&request, observer, |pair| {
            let (a, b) = (first.id(pair.first), right.id(pair.second));
            pairs += 1;
            if let Some(out) = &mut out {
                out.write_bytes(line(options.format, pair, a, b).as_bytes())?;
            }
            visit(pair, a, b)
        })?;
        if let Some(out) = out {
            out.finish()?;
        }
        Ok(EstimateOutcome { spec: *first.spec(), compared, pairs })
    }
}

fn line(format: PairFormat, pair: &EstimatedPair, first: &str, second: &str) -> String {
    let estimate = &pair.estimate;
    match format {
        PairFormat::Tsv => format!(
            "{}\t{}\t{:.6}\t{:.6}\n",
            escape_field(first),
            escape_field(second),
            estimate.value,
            estimate.standard_error
        ),
        PairFormat::Jsonl => {
            let pair = json!({
                "first": first,
                "second": second,
                "estimate": estimate.value,
                "standard_error": estimate.standard_error,
                "interval": [estimate.interval.0, estimate.interval.1],
            });
            format!("{}\n", visible_json(&pair.to_string()))
        }
    }
}
