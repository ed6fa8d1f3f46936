//! What a run is asked to do.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::thread::available_parallelism;

use minwise::candidate::{Banding, Curve, tune};
use minwise::cluster::Cluster;
use minwise::keep::Keep;
use minwise::sketch::Bits;
use minwise::verify::Measure;
use minwise::weight::Weighting;
use minwise::{Error, Spec};

use crate::memory::Memory;
use crate::prepare::Weighing;
use crate::rows::Rows;
use crate::work::Work;

/// The share of pairs at the threshold that the filter may put aside by mistake, unless said otherwise.
pub const FILTER_ERROR: f64 = 1e-6;

/// How many documents are audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuditSize {
    /// Up to a thousand, fewer where that would take more than a twentieth of the run.
    #[default]
    Affordable,
    /// This many, however long it takes.
    Documents(u64),
}

/// How candidates are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let all = [Self::Banding, Self::SortMerge, Self::SortMergeSketch, Self::All];
        all.into_iter().find(|search| search.to_string() == text).ok_or_else(|| {
            let expected = "`banding`, `sort-merge`, `sort-merge,sketch` or `all`";
            Error::parse("way to find candidates", text, expected)
        })
    }
}

/// What reading a corpus needs to know.
#[derive(Debug, Clone)]
pub struct ReadSettings {
    /// How documents become sketches.
    pub spec: Spec,
    /// The tables that weights ask for.
    pub weighing: Weighing,
    /// Which document of a cluster stays, because that may depend on lengths and on the values of fields.
    pub keep: Keep,
    /// The bands whose keys will be asked for.
    pub banding: Option<Banding>,
    /// Bits that are kept of each register, besides the keys of its bands; without them, registers are kept whole.
    pub bits: Option<Bits>,
    /// Whether it matters where shingles stand.
    pub places: bool,
    /// Threads to work with.
    pub threads: usize,
    /// Rejected records that are put up with.
    pub max_rejects: Option<u64>,
    /// The most memory to take.
    pub memory: Memory,
    /// Where goes what does not fit into it.
    pub temporary: Option<PathBuf>,
    /// The folder of the run, from which it can be taken up again.
    pub work: Option<Arc<Work>>,
}

/// The settings of a run. All of them but the last five change its result and are part of its report.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How documents become sketches.
    pub spec: Spec,
    /// The tables that its weights ask for.
    pub weighing: Weighing,
    /// The exact number that decides.
    pub measure: Measure,
    /// The exact similarity, by that measure, from which on two documents are near-duplicates.
    pub threshold: f64,
    /// The alignment share below which two documents are reordered and no near-duplicates.
    pub order: Option<f64>,
    /// How candidates are found.
    pub search: Search,
    /// How sketches are cut into bands.
    pub banding: Banding,
    /// Bits that are kept of each register once its bands are known; all of them without it.
    pub bits: Option<Bits>,
    /// The share of pairs at the threshold that the filter may put aside by mistake; without it there is no filter.
    pub filter: Option<f64>,
    /// Which document of a cluster stays.
    pub keep: Keep,
    /// What a cluster is.
    pub cluster: Cluster,
    /// The most documents of a cluster of which any is removed.
    pub max_cluster: Option<u64>,
    /// Documents that are compared without bands to measure the recall; none without it. It changes nothing but the report.
    pub audit: Option<AuditSize>,
    /// Threads to work with.
    pub threads: usize,
    /// Rejected records that are put up with.
    pub max_rejects: Option<u64>,
    /// Where intermediate results go that do not fit into memory; where the system keeps such files without it.
    pub temporary: Option<PathBuf>,
    /// The most memory to take.
    pub memory: Memory,
    /// The folder of the run, from which it can be taken up again.
    pub work: Option<Arc<Work>>,
}

impl Settings {
    /// Settings for a spec and a threshold, with bands and rows that find a pair at the threshold with probability
    /// `recall`.
    pub fn new(spec: Spec, threshold: f64, recall: f64) -> Result<Self, Error> {
        // Registers that can be banded agree with the probability of the similarity itself.
        let banding = tune::choose(threshold, recall, spec.method.registers(), |similarity| similarity)?;
        Ok(Self {
            spec,
            weighing: Weighing::default(),
            measure: Measure::default(),
            threshold,
            order: None,
            search: Search::default(),
            banding,
            bits: None,
            filter: Some(FILTER_ERROR),
            keep: Keep::default(),
            cluster: Cluster::default(),
            max_cluster: None,
            audit: Some(AuditSize::default()),
            threads: available_parallelism().map_or(1, usize::from),
            max_rejects: None,
            temporary: None,
            memory: Memory::default(),
            work: None,
        })
    }

    /// What reading needs to know of them.
    #[must_use]
    pub fn reading(&self) -> ReadSettings {
        let Self { spec, bits, threads, max_rejects, memory, .. } = *self;
        ReadSettings {
            spec,
            weighing: self.weighing.clone(),
            keep: self.keep.clone(),
            banding: (bits.is_some() || self.search == Search::Banding).then_some(self.banding),
            bits,
            places: self.asks_places(),
            threads,
            max_rejects,
            memory,
            temporary: self.temporary.clone(),
            work: self.work.clone(),
        }
    }

    /// The probability of finding a pair, by similarity.
    #[must_use]
    pub fn curve(&self) -> Curve {
        match self.search {
            Search::Banding => self.banding.into(),
            Search::SortMerge | Search::SortMergeSketch | Search::All => Curve::CERTAIN,
        }
    }

    /// Whether sketches that know where shingles stand put pairs aside. They know nothing of weights or containment.
    pub(crate) fn asks_places(&self) -> bool {
        let plain = self.spec.weights.weighting == Weighting::None && self.measure == Measure::Jaccard;
        self.order.is_some() && self.filter.is_some() && plain
    }

    /// The share of pairs at the threshold that sketches may put aside by mistake, if they are asked.
    pub(crate) fn filter_error(&self) -> Option<f64> {
        // At a threshold of 1 only equal documents are left, and those are never put aside.
        let asked =
            self.search != Search::SortMerge && self.measure == Measure::Jaccard && self.threshold < 1.0;
        self.filter.filter(|_| asked)
    }

    /// What is kept of each document's sketch.
    pub(crate) fn rows(&self) -> Result<Rows, Error> {
        Rows::new(&self.spec, self.banding, self.bits)
    }

    /// Bytes that are kept of each document's sketch.
    pub fn row_bytes(&self) -> Result<usize, Error> {
        let words = self.rows()?.words();
        Ok(words * size_of::<u32>())
    }
}

/// Shelves are split when they hold more than the first number of documents, and take no more than the second.
///
/// 64 kept documents with one band key that are not near-duplicates of one another are a sign of boilerplate.
pub(crate) const KEPT: (usize, usize) = (64, 256);
/// The same for clusterings that stop comparing once a document is connected.
pub(crate) const CONNECTED: (usize, usize) = (256, 1024);
/// The same for runs that compare all with all.
pub(crate) const ALL: (usize, usize) = (4096, 16_384);
