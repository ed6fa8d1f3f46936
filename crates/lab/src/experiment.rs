//! Runs an experiment, which consists of a definition and a function.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use minwise_engine::parallel;
use serde::de::DeserializeOwned;

use crate::check::Check;
use crate::definition::{self, Definition};
use crate::plot::Chart;
use crate::table::Table;

/// Findings of an experiment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExperimentFindings {
    /// Tables of numbers.
    pub tables: Vec<Table>,
    /// Charts, with their file names without an extension.
    pub charts: Vec<(String, Chart)>,
    /// Checks from which the verdict follows.
    pub checks: Vec<Check>,
    /// Notes about omitted parts, with the reasons.
    pub notes: Vec<String>,
}

impl ExperimentFindings {
    /// Adds a table.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// Adds a chart.
    #[must_use]
    pub fn chart(mut self, name: &str, chart: Chart) -> Self {
        self.charts.push((name.to_owned(), chart));
        self
    }

    /// Adds checks.
    #[must_use]
    pub fn checks(mut self, checks: impl IntoIterator<Item = Check>) -> Self {
        self.checks.extend(checks);
        self
    }

    /// Adds notes.
    #[must_use]
    pub fn notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }
}

/// Function that runs an experiment.
pub type Runner = fn(&Context<'_>) -> Result<ExperimentFindings>;

/// Experiment with its definition and its function.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Name in the form `source/place`, such as `002/figure-1`.
    pub name: &'static str,
    /// Definition of the experiment.
    pub definition: Definition,
    /// Function that runs the experiment.
    pub runner: Runner,
}

impl Experiment {
    /// Returns the source of the experiment.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.name.split_once('/').map_or(self.name, |(source, _)| source)
    }

    /// Reports whether `name` is the name of this experiment or of its source.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.source() == name.trim_end_matches('/')
    }

    /// Returns the files and folders that the experiment needs and the data folder does not have.
    #[must_use]
    pub fn missing(&self, data: Option<&Path>) -> Vec<&str> {
        let has = |need: &str| data.is_some_and(|data| data.join(need).exists());
        self.definition.needs.iter().map(String::as_str).filter(|need| !has(need)).collect()
    }
}

/// Options for running experiments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentOptions {
    /// Whether to run fewer trials.
    pub quick: bool,
    /// Folder of outside data.
    pub data: Option<PathBuf>,
    /// Python interpreter with other engines installed.
    pub peers: Option<PathBuf>,
    /// Number of threads. The results do not depend on the number.
    pub threads: usize,
}

/// Definition and options that a runner receives.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    definition: &'a Definition,
    options: &'a ExperimentOptions,
}

impl<'a> Context<'a> {
    pub(crate) fn new(definition: &'a Definition, options: &'a ExperimentOptions) -> Self {
        Self { definition, options }
    }

    /// Returns the varied and fixed parameters.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        definition::typed(self.definition.settings(self.options.quick), "settings")
    }

    /// Returns the published values of the definition, which the source prints.
    pub fn published<T: DeserializeOwned>(&self) -> Result<T> {
        definition::typed(self.definition.published.clone(), "published values")
    }

    /// Returns the expected values of the definition, which follow from theory.
    pub fn expected<T: DeserializeOwned>(&self) -> Result<T> {
        definition::typed(self.definition.expected.clone(), "expected values")
    }

    /// Returns the seed of all random numbers.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.definition.seed
    }

    /// Returns the number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.options.threads
    }

    /// Runs `work` on every item with the threads of the run, and returns the results in the order of the items.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let mut results = Vec::with_capacity(items.len());
        let work = |(): &mut (), at: usize| Ok::<R, Infallible>(work(&items[at]));
        let receive = |result: R| {
            results.push(result);
            Ok(())
        };
        let Ok(()) = parallel::in_order(items.len(), self.threads(), || (), work, receive);
        results
    }

    /// Returns the Python interpreter with other engines, if one was given.
    #[must_use]
    pub fn peers(&self) -> Option<&Path> {
        self.options.peers.as_deref()
    }

    /// Returns the path of a file or folder that the definition needs.
    pub fn data(&self, name: &str) -> Result<PathBuf> {
        let folder =
            self.options.data.as_ref().with_context(|| format!("`{name}` is needed, with `--data`"))?;
        Ok(folder.join(name))
    }

    /// Returns the path of a file or folder of the data, if it exists.
    #[must_use]
    pub fn data_if_there(&self, name: &str) -> Option<PathBuf> {
        self.options.data.as_ref().map(|folder| folder.join(name)).filter(|path| path.exists())
    }
}
