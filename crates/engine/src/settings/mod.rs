//! What a run is asked to do, and the plan that follows from it.
//!
//! [`RunSettings`] are plain values that nobody has checked. [`RunSettings::plan`] checks every one of them and all their
//! combinations, reports all problems at once, and fills in what follows from the others. Every stage of a run takes
//! the [`Plan`], so that none of them can meet settings that do not go together.

mod plan;
mod spec;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;

use minwise::candidate::{Banding, tune};
use minwise::cluster::Clustering;
use minwise::keep::{KeepPolicy, Ranking};
use minwise::sketch::{Bits, Method};
use minwise::verify::Measure;
use minwise::{Error as CoreError, Sentence, Spec, WeightSpec};
use minwise_corpus::FieldPath;

use crate::error::{Error, ErrorKind, SettingProblem};
use crate::memory::MemoryLimit;
use crate::rows::{RowLayout, SHELF};
use crate::setters::setters;
use crate::weigh::WeightTables;

pub(crate) use plan::ReadKey;
pub use plan::{Plan, ReadPlan};
pub use spec::SpecOptions;
pub(crate) use spec::check_spec;

/// The share of pairs at the threshold that the filter may put aside by mistake, unless said otherwise.
pub const FILTER_ERROR: f64 = 1e-6;
/// The probability of finding a pair at the threshold, unless said otherwise.
pub const RECALL: f64 = 0.99;

/// How many kept documents are audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AuditSize {
    /// As many kept documents as a twentieth of the run or a fifth of a second allow, mostly all, by bands of the audit's own.
    #[default]
    Affordable,
    /// This many kept documents, each compared with all others, however long it takes.
    Documents(u64),
}

/// How candidates are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Search {
    /// By bands that agree.
    #[default]
    Banding,
    /// By shingles that are shared, counted.
    SortMerge,
    /// By registers that are shared, counted.
    SortMergeSketch,
    /// Every pair.
    All,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Banding => "banding",
            Self::SortMerge => "sort-merge",
            Self::SortMergeSketch => "sort-merge,sketch",
            Self::All => "all",
        })
    }
}

impl FromStr for Search {
    type Err = CoreError;

    fn from_str(text: &str) -> Result<Self, CoreError> {
        let all = [Self::Banding, Self::SortMerge, Self::SortMergeSketch, Self::All];
        all.into_iter().find(|search| search.to_string() == text).ok_or_else(|| {
            let expected = "`banding`, `sort-merge`, `sort-merge,sketch` or `all`";
            CoreError::parse("way to find candidates", text, expected)
        })
    }
}

/// How sketches are cut into bands.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Bands {
    /// The engine chooses bands and rows such that a pair exactly at the threshold is found with this probability.
    ForRecall(f64),
    /// The caller chooses the number of bands and rows.
    Given {
        /// How many bands there are.
        bands: usize,
        /// How many rows each band has.
        rows: usize,
    },
}

impl Default for Bands {
    fn default() -> Self {
        Self::ForRecall(RECALL)
    }
}

/// The settings of a run. Nothing is checked until [`plan`](Self::plan).
///
/// `None` means the default that follows from the other settings.
///
/// ```
/// use minwise_engine::RunSettings;
///
/// let plan = RunSettings::default().threshold(0.9).plan()?;
/// assert_eq!(plan.search().to_string(), "banding");
///
/// let wrong = RunSettings::default().threshold(1.7).threads(0);
/// let problems: Vec<&str> = wrong.plan().unwrap_err().problems().iter().map(|p| p.setting).collect();
/// assert_eq!(problems, ["threshold", "threads"]);
/// # Ok::<(), minwise_engine::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunSettings {
    /// How texts are normalised, cut into shingles and sketched. Default: `nfkc+casefold / words:5 / minhash:128 / seed:1`.
    pub spec: Spec,
    /// The tables that the weights of the spec need. Default: none.
    pub weighing: WeightTables,
    /// The measure that is compared with the threshold. Default: Jaccard similarity.
    pub measure: Measure,
    /// The exact similarity, by that measure, from which on two documents are near-duplicates: above 0 and at most 1. Default:
    /// 0.8.
    pub threshold: f64,
    /// The alignment share, above 0 and at most 1, below which two similar documents are reordered and no near-duplicates.
    /// Default: the order does not matter.
    pub order: Option<f64>,
    /// How candidates are found. Default: banding; sort-merge for containment.
    pub search: Option<Search>,
    /// How sketches are cut into bands, where bands find candidates. Default: for a recall of 0.99 at the threshold.
    pub bands: Bands,
    /// Bits that are kept of each register once its bands are known. Default: all 32.
    pub bits: Option<Bits>,
    /// The share of pairs at the threshold that the filter may reject by mistake, from 1e-200 to 0.5; `None` turns the filter
    /// off. Default: 1e-6.
    pub filter_error: Option<f64>,
    /// The looks of the filter: ascending numbers of registers. Default: those of
    /// [`default_looks`](minwise::filter::default_looks).
    pub looks: Option<Vec<usize>>,
    /// The share of pairs at the threshold that each look of the filter may reject by mistake, from 1e-200 to 0.5, instead of
    /// `filter_error` for all looks together. The error of n looks is then at most n times this share. Default: `filter_error`
    /// counts.
    pub error_per_look: Option<f64>,
    /// Which document of a cluster stays. Default: the first; the longest for containment.
    pub keep: Option<KeepPolicy>,
    /// How documents form clusters. Default: stars.
    pub cluster: Clustering,
    /// The largest cluster, in documents, from which documents are removed. Larger clusters are kept whole. Default: no
    /// limit.
    pub max_cluster: Option<u64>,
    /// The kept documents that are compared with all others to measure the recall; `None` for no measurement. It changes nothing
    /// but the report. Default: as many as 5 % of the run time or 0.2 s allow, usually all.
    pub audit: Option<AuditSize>,
    /// Number of threads. Default: one per core, or fewer if `memory` is too small for that many.
    pub threads: Option<usize>,
    /// The maximum number of rejected records; one more stops the run. Default: no limit.
    pub max_rejects: Option<u64>,
    /// Memory limit, at least 128 MiB. Default: half of the machine's memory.
    pub memory: Option<MemoryLimit>,
    /// The folder for intermediate results that do not fit into memory. Default: the system's folder for temporary files.
    pub temporary: Option<PathBuf>,
}

setters!(RunSettings {
    /// How texts are normalised, cut into shingles and sketched. Default: `nfkc+casefold / words:5 / minhash:128 / seed:1`.
    spec: Spec,
    /// The tables that the weights of the spec need. Default: none.
    weighing: WeightTables,
    /// The measure that is compared with the threshold. Default: Jaccard similarity.
    measure: Measure,
    /// The exact similarity, by that measure, from which on two documents are near-duplicates: above 0 and at most 1. Default:
    /// 0.8.
    threshold: f64,
    /// How sketches are cut into bands, where bands find candidates. Default: for a recall of 0.99 at the threshold.
    bands: Bands,
    /// How documents form clusters. Default: stars.
    cluster: Clustering,
    ;
    /// The alignment share, above 0 and at most 1, below which two similar documents are reordered and no near-duplicates.
    /// Default: the order does not matter.
    order: Option<f64>,
    /// How candidates are found. Default: banding; sort-merge for containment.
    search: Option<Search>,
    /// Bits that are kept of each register once its bands are known. Default: all 32.
    bits: Option<Bits>,
    /// The share of pairs at the threshold that the filter may reject by mistake, from 1e-200 to 0.5; `None` turns the filter
    /// off. Default: 1e-6.
    filter_error: Option<f64>,
    /// The looks of the filter: ascending numbers of registers. Default: those of
    /// [`default_looks`](minwise::filter::default_looks).
    looks: Option<Vec<usize>>,
    /// The share of pairs at the threshold that each look of the filter may reject by mistake, from 1e-200 to 0.5, instead of
    /// `filter_error` for all looks together. The error of n looks is then at most n times this share. Default: `filter_error`
    /// counts.
    error_per_look: Option<f64>,
    /// Which document of a cluster stays. Default: the first; the longest for containment.
    keep: Option<KeepPolicy>,
    /// The largest cluster, in documents, from which documents are removed. Larger clusters are kept whole. Default: no
    /// limit.
    max_cluster: Option<u64>,
    /// The kept documents that are compared with all others to measure the recall; `None` for no measurement. It changes nothing
    /// but the report. Default: as many as 5 % of the run time or 0.2 s allow, usually all.
    audit: Option<AuditSize>,
    /// Number of threads. Default: one per core, or fewer if `memory` is too small for that many.
    threads: Option<usize>,
    /// The maximum number of rejected records; one more stops the run. Default: no limit.
    max_rejects: Option<u64>,
    /// Memory limit, at least 128 MiB. Default: half of the machine's memory.
    memory: Option<MemoryLimit>,
    /// The folder for intermediate results that do not fit into memory. Default: the system's folder for temporary files.
    temporary: Option<PathBuf>,
});

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            spec: Spec::default(),
            weighing: WeightTables::default(),
            measure: Measure::default(),
            threshold: 0.8,
            order: None,
            search: None,
            bands: Bands::default(),
            bits: None,
            filter_error: Some(FILTER_ERROR),
            looks: None,
            error_per_look: None,
            keep: None,
            cluster: Clustering::default(),
            max_cluster: None,
            audit: Some(AuditSize::default()),
            threads: None,
            max_rejects: None,
            memory: None,
            temporary: None,
        }
    }
}

impl RunSettings {
    /// Checks every setting and every combination, and fills in each default that depends on other settings.
    ///
    /// # Errors
    /// If any setting is invalid, fails with [`ErrorKind::Settings`], which lists all problems in the order of the settings.
    pub fn plan(&self) -> Result<Plan, Error> {
        let mut problems = vec![];
        let plan = self.outline(&mut problems);
        check_tables(&self.spec, &self.weighing, &mut problems);
        match plan {
            Some(plan) if problems.is_empty() => Ok(plan),
            _ => Err(ErrorKind::Settings(problems).into()),
        }
    }

    /// The plan but for the tables of weights, which may still have to be counted; `None` with a problem noted.
    pub(crate) fn outline(&self, problems: &mut Vec<SettingProblem>) -> Option<Plan> {
        let before = problems.len();
        self.check_similarity(problems);
        check_spec(&self.spec, problems);
        let search = self.chosen_search(problems);
        let banding = self.chosen_banding(search, before, problems);
        let keep = self.chosen_keep(problems);
        self.check_bits(search, banding, problems);
        check_filter_error(self.filter_error, problems);
        self.check_looks(search, problems);
        let limits = ResourceLimits::new(self.threads, self.memory, problems);
        if self.max_cluster == Some(0) {
            problems.push(SettingProblem::new("max-cluster", 0, "it must be at least 1"));
        }
        if problems.len() > before {
            return None;
        }
        Some(Plan {
            spec: self.spec,
            weighing: self.weighing.clone(),
            measure: self.measure,
            threshold: self.threshold,
            order: self.order,
            search,
            banding: banding?,
            wanted_recall: match self.bands {
                Bands::ForRecall(recall) if search == Search::Banding => Some(recall),
                _ => None,
            },
            bits: self.bits,
            filter: self.error_per_look.or(self.filter_error),
            looks: self.looks.clone(),
            error_per_look: self.error_per_look,
            shelf: SHELF,
            keep,
            cluster: self.cluster,
            max_cluster: self.max_cluster,
            audit: self.audit,
            audit_bands: None,
            threads: limits.threads,
            max_rejects: self.max_rejects,
            temporary: self.temporary.clone(),
            memory: limits.memory,
            work: None,
        })
    }

    /// The outline of a run that lists pairs, which may have a threshold of 0: then pairs are listed whatever they share.
    pub(crate) fn outline_of_pairs(&self, problems: &mut Vec<SettingProblem>) -> Option<Plan> {
        if self.threshold != 0.0 {
            return self.outline(problems);
        }
        let finds_any = match self.search {
            Some(Search::All) => true,
            None | Some(Search::Banding) => matches!(self.bands, Bands::Given { .. }),
            Some(_) => false,
        };
        if !finds_any {
            let reason = "no choice of bands finds pairs that share nothing";
            let hint = Sentence::new()
                .setting_to("candidates", "all")
                .text(" lists all pairs; ")
                .setting("bands")
                .text(" and ")
                .setting("rows")
                .text(" list the pairs that share a band");
            problems.push(SettingProblem::new("threshold", 0, reason).hint(hint));
            return None;
        }
        // Nothing else depends on the threshold if bands are not chosen by it, so that another one stands in.
        let mut plan = Self { threshold: 1.0, ..self.clone() }.outline(problems)?;
        plan.threshold = 0.0;
        Some(plan)
    }

    fn check_similarity(&self, problems: &mut Vec<SettingProblem>) {
        if let Err(error) = tune::check_threshold(self.threshold) {
            problems.push(SettingProblem::of("threshold", self.threshold, &error));
        }
        if let Some(share) = self.order
            && !(share > 0.0 && share <= 1.0)
        {
            let reason = format!("a share cannot be {share}: it must be above 0 and at most 1");
            problems.push(SettingProblem::new("order", share, reason));
        }
    }

    /// How candidates are found; containment has one way that bands do not offer.
    fn chosen_search(&self, problems: &mut Vec<SettingProblem>) -> Search {
        let search = self.search.unwrap_or(match self.measure {
            Measure::Containment => Search::SortMerge,
            _ => Search::Banding,
        });
        let sees = match search {
            Search::Banding | Search::SortMergeSketch => self.measure == Measure::Jaccard,
            Search::SortMerge | Search::All => true,
        };
        if !sees {
            problems.push(
                SettingProblem::new("candidates", search, format!("`{search}` does not see containment"))
                    .hint("`sort-merge` finds every pair, and so does `all`"),
            );
        }
        search
    }

    fn chosen_banding(
        &self,
        search: Search,
        before: usize,
        problems: &mut Vec<SettingProblem>,
    ) -> Option<Banding> {
        let method = self.spec.method;
        let registers = method.registers();
        match search {
            Search::Banding | Search::SortMergeSketch if method.bandable().is_none() => {
                let hint = if matches!(method, Method::Weighted(_)) {
                    Sentence::from(
                        "candidates are found by `dart`, `icws` or `cws`, or otherwise than by bands with ",
                    )
                    .setting("candidates")
                } else {
                    "candidates are found by `minhash`, `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`".into()
                };
                let reason = format!("`{method}` has no registers that candidates could share");
                problems.push(SettingProblem::new("sketch", method, reason).hint(hint));
                return None;
            }
            Search::Banding => {}
            // No band is looked at.
            Search::SortMerge | Search::SortMergeSketch | Search::All => {
                return Banding::new(1, 1, registers)
                    .map_err(|error| problems.push(SettingProblem::of("registers", registers, &error)))
                    .ok();
            }
        }
        match self.bands {
            Bands::Given { bands, rows } => Banding::new(bands, rows, registers)
                .map_err(|error| problems.push(SettingProblem::of("bands", bands, &error)))
                .ok(),
            Bands::ForRecall(recall) => {
                if let Err(error) = tune::check_recall(recall) {
                    problems.push(SettingProblem::of("recall", recall, &error));
                }
                if problems.len() > before {
                    // What could be chosen depends on what is wrong.
                    return None;
                }
                // Registers that can be banded agree with the probability of the similarity itself.
                tune::choose(self.threshold, recall, registers, |similarity| similarity)
                    .map_err(|error| problems.push(SettingProblem::of("recall", recall, &error)))
                    .ok()
            }
        }
    }

    fn chosen_keep(&self, problems: &mut Vec<SettingProblem>) -> KeepPolicy {
        let Some(keep) = &self.keep else {
            return match self.measure {
                // The longer document has all that the shorter one would keep.
                Measure::Containment => Ranking::Longest.into(),
                _ => KeepPolicy::default(),
            };
        };
        for field in keep.fields() {
            if let Err(error) = field.parse::<FieldPath>().and_then(|field| field.check_one_value()) {
                problems.push(SettingProblem::new("keep", keep, error.to_string()));
            }
        }
        keep.clone()
    }

    fn check_looks(&self, search: Search, problems: &mut Vec<SettingProblem>) {
        check_error_per_look(self.error_per_look, problems);
        let Some(looks) = &self.looks else { return };
        let problem = |reason: Sentence| SettingProblem::new("looks", list(looks), reason);
        check_looked(looks, self.filter_error.or(self.error_per_look), problems);
        if matches!(search, Search::SortMerge | Search::SortMergeSketch) {
            let reason = Sentence::new()
                .setting_to("candidates", search.to_string())
                .text(" counts what is shared, and looks at no register");
            let hint =
                Sentence::new().setting_to("candidates", "all").text(" and `banding` compare look by look");
            problems.push(problem(reason).hint(hint));
        }
        check_looks(looks, Some(self.spec.method.registers()), problems);
    }

    fn check_bits(&self, search: Search, banding: Option<Banding>, problems: &mut Vec<SettingProblem>) {
        let Some(bits) = self.bits else { return };
        if search == Search::SortMergeSketch {
            let reason =
                Sentence::new().setting_to("candidates", "sort-merge,sketch").text(" needs whole registers");
            problems.push(SettingProblem::new("bits", bits, reason));
        }
        if let Some(banding) = banding
            && let Err(error) = RowLayout::new(&self.spec, banding, self.bits)
        {
            problems.push(SettingProblem::of("bits", bits, &error));
        }
    }
}

/// Refuses tables that are not those of the spec.
pub(crate) fn check_tables(spec: &Spec, weighing: &WeightTables, problems: &mut Vec<SettingProblem>) {
    let weights = &spec.weights;
    let wrong = match &weighing.frequencies {
        None if weights.need_table() => {
            Some("document frequencies are needed, and there is no table of them".to_owned())
        }
        Some(table) if weights.need_table() => match table.check(spec) {
            Err(error) => Some(error.to_string()),
            Ok(()) if weights.table != Some(table.fingerprint()) => {
                Some("the spec has the fingerprint of another table".to_owned())
            }
            Ok(()) => None,
        },
        Some(_) | None => None,
    };
    if let Some(reason) = wrong {
        problems.push(table_problem(weights, reason));
    }
    let ignored = &weighing.ignored;
    let fingerprint = (!ignored.is_empty()).then(|| WeightSpec::fingerprint_of_ignored(ignored));
    if weights.ignored != fingerprint {
        let reason = "the spec has the fingerprint of other shingles than those that are left out";
        problems.push(SettingProblem::new("ignore-text", ignored.len(), reason));
    }
}

/// A problem with the table that weights need, by the setting that needs it.
pub(crate) fn table_problem(weights: &WeightSpec, reason: impl Into<Sentence>) -> SettingProblem {
    match weights.most_documents {
        Some(most) if !weights.weighting.needs_frequencies() => SettingProblem::new("max-df", most, reason),
        _ => SettingProblem::new("weight", weights.weighting, reason),
    }
}

/// Refuses a share that the filter cannot keep to.
pub(crate) fn check_filter_error(error: Option<f64>, problems: &mut Vec<SettingProblem>) {
    if let Some(error) = error
        && !(1e-200..=0.5).contains(&error)
    {
        let reason = format!("the share cannot be {error}: it must be from 1e-200 to 0.5, or `off`");
        problems.push(SettingProblem::new("filter-error", error, reason));
    }
}

/// Refuses a share that a look of the filter cannot keep to.
pub(crate) fn check_error_per_look(error: Option<f64>, problems: &mut Vec<SettingProblem>) {
    if let Some(error) = error
        && !(1e-200..=0.5).contains(&error)
    {
        let reason = format!("the share cannot be {error}: it must be from 1e-200 to 0.5");
        problems.push(SettingProblem::new("error-per-look", error, reason));
    }
}

/// Refuses looks that are not ascending, or that sketches of so many registers do not have.
pub(crate) fn check_looks(looks: &[usize], registers: Option<usize>, problems: &mut Vec<SettingProblem>) {
    let problem = |reason: String| SettingProblem::new("looks", list(looks), reason);
    let hint = || Sentence::new().setting_to("looks", "16,32,64,128").text(" looks four times");
    let Some(&last) = looks.last() else {
        problems.push(problem("there must be at least one look".to_owned()).hint(hint()));
        return;
    };
    let before = [0].into_iter().chain(looks.iter().copied());
    if let Some((before, look)) = before.zip(looks).find(|(before, look)| before >= look) {
        let reason = match before {
            0 => "a look cannot be at 0 registers: it must be at 1 or more".to_owned(),
            _ => {
                format!("{look} follows {before}: each look must be at more registers than the one before it")
            }
        };
        problems.push(problem(reason).hint(hint()));
    } else if let Some(registers) = registers.filter(|&registers| last > registers) {
        let reason = format!("a look cannot be at {last} registers: a sketch has {registers}");
        let hint =
            Sentence::from("sketches with ").setting_to("registers", last.to_string()).text(" have as many");
        problems.push(problem(reason).hint(hint));
    }
}

/// Refuses looks of a filter that is not there.
pub(crate) fn check_looked(looks: &[usize], filter: Option<f64>, problems: &mut Vec<SettingProblem>) {
    if filter.is_none() {
        let hint = Sentence::from("leave out ").setting_to("filter-error", "off");
        let reason = "there is no filter that could look";
        problems.push(SettingProblem::new("looks", list(looks), reason).hint(hint));
    }
}

/// Looks as they are written.
pub(crate) fn list(looks: &[usize]) -> String {
    looks.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Threads as asked for, or one per core.
pub(crate) fn all_cores(threads: Option<usize>, problems: &mut Vec<SettingProblem>) -> usize {
    if threads == Some(0) {
        problems.push(SettingProblem::new("threads", 0, "it must be at least 1"));
    }
    threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from))
}

/// Threads and memory, checked and filled in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceLimits {
    pub(crate) threads: usize,
    pub(crate) memory: MemoryLimit,
}

impl ResourceLimits {
    pub(crate) fn new(
        threads: Option<usize>,
        memory: Option<MemoryLimit>,
        problems: &mut Vec<SettingProblem>,
    ) -> Self {
        let memory = memory.unwrap_or_default();
        let all = all_cores(threads, problems);
        // Threads that were asked for are not taken away; the run refuses them if the memory is too small.
        let threads = threads.map_or(all.min(memory.most_threads()), |_| all);
        Self { threads, memory }
    }
}
