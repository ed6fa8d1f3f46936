//! The settings of a run, and the plan that is made of them.
//!
//! [`RunSettings`] are plain values that nobody has checked. [`RunSettings::plan`] checks all settings and their
//! combinations, reports all problems at once, and fills in the values that depend on other settings. Every stage of a
//! run takes the resulting [`Plan`], so no stage can see settings that contradict each other.

mod plan;
mod spec;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;

use minwise::candidate::{Banding, tune};
use minwise::cluster::Clustering;
use minwise::figure::grouped;
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

/// The default share of pairs at the threshold that the filter may reject by mistake.
pub const FILTER_ERROR: f64 = 1e-6;
/// The default probability of finding a pair at the threshold.
pub const RECALL: f64 = 0.99;

/// Number of kept documents that are audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AuditSize {
    /// The number of kept documents that can be audited within 5 % of the run time, or within 0.2 s if that is more; in
    /// a small corpus, all kept documents. Near documents are looked up in bands that the audit draws.
    #[default]
    Affordable,
    /// This number of kept documents, each compared with all other kept documents, however long that takes.
    Documents(u64),
}

/// Method that finds candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Search {
    /// Pairs that share a band.
    #[default]
    Banding,
    /// Pairs that share enough shingles, found by sort-merge.
    SortMerge,
    /// Pairs that share enough registers, found by sort-merge.
    SortMergeSketch,
    /// All pairs.
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

/// Division of sketches into bands.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Bands {
    /// The engine chooses bands and rows such that a pair exactly at the threshold is found with this probability.
    ForRecall(f64),
    /// The caller chooses the number of bands and rows.
    Given {
        /// The number of bands.
        bands: usize,
        /// The number of rows per band.
        rows: usize,
    },
}

impl Default for Bands {
    fn default() -> Self {
        Self::ForRecall(RECALL)
    }
}

/// Settings of a run. Nothing is checked until [`plan`](Self::plan).
///
/// `None` stands for a default that may depend on other settings.
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
    /// The spec by which texts are normalised, cut into shingles and sketched. Default: `nfkc+casefold / words:5 /
    /// minhash:128 / seed:1`.
    pub spec: Spec,
    /// The tables that the weights of the spec need. Default: none.
    pub weighing: WeightTables,
    /// The measure that is compared with the threshold. Default: Jaccard similarity.
    pub measure: Measure,
    /// The lowest exact similarity of near-duplicates, by `measure`: above 0 and at most 1. Default: 0.8.
    pub threshold: f64,
    /// The alignment share, above 0 and at most 1, below which two similar documents count as reordered instead of
    /// near-duplicates. Default: the order of shingles is ignored.
    pub order: Option<f64>,
    /// The method that finds candidates. Default: banding; sort-merge for containment.
    pub search: Option<Search>,
    /// The division of sketches into bands, if candidates are found by banding. Default: a recall of 0.99 at the
    /// threshold.
    pub bands: Bands,
    /// Number of bits that are kept per register once its band keys are computed. Default: all 32.
    pub bits: Option<Bits>,
    /// The share of pairs at the threshold that the filter may reject by mistake, from 1e-200 to 0.5; `None` turns the
    /// filter off. Default: 1e-6.
    pub filter_error: Option<f64>,
    /// The looks of the filter, as ascending numbers of registers. Default: those of
    /// [`default_looks`](minwise::filter::default_looks).
    pub looks: Option<Vec<usize>>,
    /// The share of pairs at the threshold that each look of the filter may reject by mistake, from 1e-200 to 0.5. This
    /// share replaces `filter_error`, which is the share over all looks together. The error of n looks is then at most
    /// n times this share. Default: `filter_error` is used.
    pub error_per_look: Option<f64>,
    /// The policy that chooses the kept document of a cluster. Default: the first document; the longest for
    /// containment.
    pub keep: Option<KeepPolicy>,
    /// The clustering. Default: stars.
    pub cluster: Clustering,
    /// The largest number of documents in a cluster from which documents are removed. Larger clusters are kept whole.
    /// Default: no limit.
    pub max_cluster: Option<u64>,
    /// The number of kept documents that are audited to measure the recall; `None` for no audit. An audit changes only
    /// the report. Default: as many documents as an audit can compare in 5 % of the run time, and at least for
    /// 0.2 s. In a small corpus, an audit compares all documents.
    pub audit: Option<AuditSize>,
    /// Number of threads. Default: one per core, or fewer if `memory` is too small for one per core.
    pub threads: Option<usize>,
    /// The maximum number of rejected records; one more stops the run. Default: no limit.
    pub max_rejects: Option<u64>,
    /// Memory limit, at least 128 MiB. Default: half of the machine's memory.
    pub memory: Option<MemoryLimit>,
    /// The folder for intermediate results that do not fit into memory. Default: the system's folder for temporary
    /// files.
    pub temporary: Option<PathBuf>,
}

setters!(RunSettings {
    /// The spec by which texts are normalised, cut into shingles and sketched. Default: `nfkc+casefold / words:5 /
    /// minhash:128 / seed:1`.
    spec: Spec,
    /// The tables that the weights of the spec need. Default: none.
    weighing: WeightTables,
    /// The measure that is compared with the threshold. Default: Jaccard similarity.
    measure: Measure,
    /// The lowest exact similarity of near-duplicates, by `measure`: above 0 and at most 1. Default: 0.8.
    threshold: f64,
    /// The division of sketches into bands, if candidates are found by banding. Default: a recall of 0.99 at the
    /// threshold.
    bands: Bands,
    /// The clustering. Default: stars.
    cluster: Clustering,
    ;
    /// The alignment share, above 0 and at most 1, below which two similar documents count as reordered instead of
    /// near-duplicates. Default: the order of shingles is ignored.
    order: Option<f64>,
    /// The method that finds candidates. Default: banding; sort-merge for containment.
    search: Option<Search>,
    /// Number of bits that are kept per register once its band keys are computed. Default: all 32.
    bits: Option<Bits>,
    /// The share of pairs at the threshold that the filter may reject by mistake, from 1e-200 to 0.5; `None` turns the
    /// filter off. Default: 1e-6.
    filter_error: Option<f64>,
    /// The looks of the filter, as ascending numbers of registers. Default: those of
    /// [`default_looks`](minwise::filter::default_looks).
    looks: Option<Vec<usize>>,
    /// The share of pairs at the threshold that each look of the filter may reject by mistake, from 1e-200 to 0.5. This
    /// share replaces `filter_error`, which is the share over all looks together. The error of n looks is then at most
    /// n times this share. Default: `filter_error` is used.
    error_per_look: Option<f64>,
    /// The policy that chooses the kept document of a cluster. Default: the first document; the longest for
    /// containment.
    keep: Option<KeepPolicy>,
    /// The largest number of documents in a cluster from which documents are removed. Larger clusters are kept whole.
    /// Default: no limit.
    max_cluster: Option<u64>,
    /// The number of kept documents that are audited to measure the recall; `None` for no audit. An audit changes only
    /// the report. Default: as many documents as an audit can compare in 5 % of the run time, and at least for
    /// 0.2 s. In a small corpus, an audit compares all documents.
    audit: Option<AuditSize>,
    /// Number of threads. Default: one per core, or fewer if `memory` is too small for one per core.
    threads: Option<usize>,
    /// The maximum number of rejected records; one more stops the run. Default: no limit.
    max_rejects: Option<u64>,
    /// Memory limit, at least 128 MiB. Default: half of the machine's memory.
    memory: Option<MemoryLimit>,
    /// The folder for intermediate results that do not fit into memory. Default: the system's folder for temporary
    /// files.
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
    /// If any setting is invalid, fails with [`ErrorKind::Settings`], which lists all problems in the order of the
    /// settings.
    pub fn plan(&self) -> Result<Plan, Error> {
        let mut problems = vec![];
        let plan = self.outline(&mut problems);
        check_tables(&self.spec, &self.weighing, &mut problems);
        match plan {
            Some(plan) if problems.is_empty() => Ok(plan),
            _ => Err(ErrorKind::Settings(problems).into()),
        }
    }

    /// Makes the plan without its weight tables, because the document frequencies in them may still have to be counted.
    /// If a setting is invalid, adds a problem and returns `None`.
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

    /// Makes the plan of a run that lists pairs. Unlike other runs, it may have a threshold of 0, which lists all
    /// candidates.
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
        // A placeholder threshold of 1 passes the checks: bands are not chosen by the threshold in this case, and no
        // other value depends on it.
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

    /// Returns the method that finds candidates. Refuses a method that cannot find pairs by containment, if containment
    /// is the measure.
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
            // These searches use no bands, so any valid banding is accepted.
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
                    // No bands are chosen, because the choice would depend on settings that are wrong.
                    return None;
                }
                // The closure is the identity, because the registers of a sketch with bands agree with a probability
                // equal to the similarity.
                tune::choose(self.threshold, recall, registers, |similarity| similarity)
                    .map_err(|error| problems.push(SettingProblem::of("recall", recall, &error)))
                    .ok()
            }
        }
    }

    fn chosen_keep(&self, problems: &mut Vec<SettingProblem>) -> KeepPolicy {
        let Some(keep) = &self.keep else {
            return match self.measure {
                // The longer document is kept, because it contains most of the shorter one.
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

/// Refuses weight tables that are missing, or whose fingerprints differ from those that the spec states.
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

/// Makes the problem of a missing or wrong table, for the setting that needs the table.
pub(crate) fn table_problem(weights: &WeightSpec, reason: impl Into<Sentence>) -> SettingProblem {
    match weights.most_documents {
        Some(most) if !weights.weighting.needs_frequencies() => SettingProblem::new("max-df", most, reason),
        _ => SettingProblem::new("weight", weights.weighting, reason),
    }
}

/// Refuses a filter error outside of the range that the filter supports.
pub(crate) fn check_filter_error(error: Option<f64>, problems: &mut Vec<SettingProblem>) {
    if let Some(error) = error
        && !(1e-200..=0.5).contains(&error)
    {
        let reason = format!("the share cannot be {error}: it must be from 1e-200 to 0.5, or `off`");
        problems.push(SettingProblem::new("filter-error", error, reason));
    }
}

/// Refuses an error per look outside of the range that the filter supports.
pub(crate) fn check_error_per_look(error: Option<f64>, problems: &mut Vec<SettingProblem>) {
    if let Some(error) = error
        && !(1e-200..=0.5).contains(&error)
    {
        let reason = format!("the share cannot be {error}: it must be from 1e-200 to 0.5");
        problems.push(SettingProblem::new("error-per-look", error, reason));
    }
}

/// Refuses looks that are not ascending, or that need more registers than a sketch has.
pub(crate) fn check_looks(looks: &[usize], registers: Option<usize>, problems: &mut Vec<SettingProblem>) {
    let problem = |reason: String| SettingProblem::new("looks", list(looks), reason);
    let hint = || Sentence::new().setting_to("looks", "16,32,64,128").text(" looks four times");
    let Some(&last) = looks.last() else {
        problems.push(problem("there must be at least one look".to_owned()).hint(hint()));
        return;
    };
    let before = [0].into_iter().chain(looks.iter().copied());
    if let Some((before, look)) = before.zip(looks).find(|(before, look)| before >= look) {
        let reason = if before == 0 {
            "a look cannot be at 0 registers: it must be at 1 or more".to_owned()
        } else {
            let (look, before) = (grouped(*look as u64), grouped(before as u64));
            format!("{look} follows {before}: each look must be at more registers than the one before it")
        };
        problems.push(problem(reason).hint(hint()));
    } else if let Some(registers) = registers.filter(|&registers| last > registers) {
        let reason = format!(
            "a look cannot be at {} registers: a sketch has {}",
            grouped(last as u64),
            grouped(registers as u64)
        );
        let hint =
            Sentence::from("sketches with ").setting_to("registers", last.to_string()).text(" have as many");
        problems.push(problem(reason).hint(hint));
    }
}

/// Refuses looks if the filter is turned off.
pub(crate) fn check_looked(looks: &[usize], filter: Option<f64>, problems: &mut Vec<SettingProblem>) {
    if filter.is_none() {
        let hint = Sentence::from("leave out ").setting_to("filter-error", "off");
        let reason = "there is no filter that could look";
        problems.push(SettingProblem::new("looks", list(looks), reason).hint(hint));
    }
}

/// Formats looks as they are typed.
pub(crate) fn list(looks: &[usize]) -> String {
    looks.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Returns the requested number of threads, or one per core.
pub(crate) fn all_cores(threads: Option<usize>, problems: &mut Vec<SettingProblem>) -> usize {
    if threads == Some(0) {
        problems.push(SettingProblem::new("threads", 0, "it must be at least 1"));
    }
    threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from))
}

/// Number of threads and memory limit, checked and with defaults filled in.
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
        // A requested number of threads is not reduced; the run fails instead if its memory is too small.
        let threads = threads.map_or(all.min(memory.most_threads()), |_| all);
        Self { threads, memory }
    }
}
