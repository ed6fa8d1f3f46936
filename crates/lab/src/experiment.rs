//! An experiment: a definition, and the function that runs it.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use minwise_engine::parallel;
use serde::de::DeserializeOwned;

use crate::check::Check;
use crate::definition::{self, Definition};
use crate::plot::Chart;
use crate::table::Table;

/// What an experiment found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExperimentFindings {
    /// Numbers.
    pub tables: Vec<Table>,
    /// Pictures, by their file names without an extension.
    pub charts: Vec<(String, Chart)>,
    /// What the verdict is made of.
    pub checks: Vec<Check>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl ExperimentFindings {
    /// The same with this table.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// The same with this picture.
    #[must_use]
    pub fn chart(mut self, name: &str, chart: Chart) -> Self {
        self.charts.push((name.to_owned(), chart));
        self
    }

    /// The same with these checks.
    #[must_use]
    pub fn checks(mut self, checks: impl IntoIterator<Item = Check>) -> Self {
        self.checks.extend(checks);
        self
    }

    /// The same with these notes.
    #[must_use]
    pub fn notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }
}

/// Runs an experiment.
pub type Runner = fn(&Context<'_>) -> Result<ExperimentFindings>;

/// An experiment.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// `source/place`, such as `002/figure-1`.
    pub name: &'static str,
    /// What it is.
    pub definition: Definition,
    /// How it is run.
    pub runner: Runner,
}

impl Experiment {
    /// The source that it is from.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.name.split_once('/').map_or(self.name, |(source, _)| source)
    }

    /// Whether it is this one, or one of this source.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.source() == name.trim_end_matches('/')
    }

    /// What it needs and the data folder does not have.
    #[must_use]
    pub fn missing(&self, data: Option<&Path>) -> Vec<&str> {
        let has = |need: &str| data.is_some_and(|data| data.join(need).exists());
        self.definition.needs.iter().map(String::as_str).filter(|need| !has(need)).collect()
    }
}

/// How experiments are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentOptions {
    /// With fewer trials.
    pub quick: bool,
    /// Where outside data are.
    pub data: Option<PathBuf>,
    /// A Python that has other engines.
    pub peers: Option<PathBuf>,
    /// Threads to work with. What comes out does not depend on it.
    pub threads: usize,
}

/// What a runner is given.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    definition: &'a Definition,
    options: &'a ExperimentOptions,
}

impl<'a> Context<'a> {
    pub(crate) fn new(definition: &'a Definition, options: &'a ExperimentOptions) -> Self {
        Self { definition, options }
    }

    /// What is varied and what is fixed.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        definition::typed(self.definition.settings(self.options.quick), "settings")
    }

    /// Values of the source.
    pub fn published<T: DeserializeOwned>(&self) -> Result<T> {
        definition::typed(self.definition.published.clone(), "published values")
    }

    /// Values that theory gives.
    pub fn expected<T: DeserializeOwned>(&self) -> Result<T> {
        definition::typed(self.definition.expected.clone(), "expected values")
    }

    /// The seed of all that is drawn.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.definition.seed
    }

    /// Threads to work with.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.options.threads
    }

    /// Does `work` on every item with the threads of the run and returns the results in the order of the items.
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

    /// A Python that has other engines, if one was named.
    #[must_use]
    pub fn peers(&self) -> Option<&Path> {
        self.options.peers.as_deref()
    }

    /// A file or folder of the data, which the definition says it needs.
    pub fn data(&self, name: &str) -> Result<PathBuf> {
        let folder =
            self.options.data.as_ref().with_context(|| format!("`{name}` is needed, with `--data`"))?;
        Ok(folder.join(name))
    }

    /// A file or folder of the data, if it is there.
    #[must_use]
    pub fn data_if_there(&self, name: &str) -> Option<PathBuf> {
        self.options.data.as_ref().map(|folder| folder.join(name)).filter(|path| path.exists())
    }
}
