//! What a run is asked to do.

use std::thread::available_parallelism;

use minwise::candidate::shelf::Limits;
use minwise::candidate::{Banding, Curve, Splits, tune};
use minwise::cluster::Cluster;
use minwise::keep::Keep;
use minwise::{Error, Spec};

/// Registers that each split of a shelf asks for.
const SPLIT_REGISTERS: usize = 2;

/// What reading a corpus needs to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadSettings {
    /// How documents become sketches.
    pub spec: Spec,
    /// Which document of a cluster stays, because that may depend on lengths.
    pub keep: Keep,
    /// Threads to work with.
    pub threads: usize,
    /// Rejected records that are put up with.
    pub max_rejects: Option<u64>,
}

/// The settings of a run. All of them but `threads` and `max_rejects` change its result and are part of its report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How documents become sketches.
    pub spec: Spec,
    /// The exact similarity from which on two documents are near-duplicates.
    pub threshold: f64,
    /// The alignment share below which two documents are reordered and no near-duplicates.
    pub order: Option<f64>,
    /// How sketches are cut into bands.
    pub banding: Banding,
    /// Which document of a cluster stays.
    pub keep: Keep,
    /// What a cluster is.
    pub cluster: Cluster,
    /// Threads to work with.
    pub threads: usize,
    /// Rejected records that are put up with.
    pub max_rejects: Option<u64>,
}

impl Settings {
    /// Settings for a spec and a threshold, with bands and rows that find a pair at the threshold with probability
    /// `recall`.
    pub fn new(spec: Spec, threshold: f64, recall: f64) -> Result<Self, Error> {
        let banding = tune::choose(threshold, recall, spec.method.registers(), |similarity| {
            spec.method.match_probability(similarity)
        })?;
        Ok(Self {
            spec,
            threshold,
            order: None,
            banding,
            keep: Keep::default(),
            cluster: Cluster::default(),
            threads: available_parallelism().map_or(1, usize::from),
            max_rejects: None,
        })
    }

    /// What reading needs to know of them.
    #[must_use]
    pub fn reading(&self) -> ReadSettings {
        let Self { spec, keep, threads, max_rejects, .. } = *self;
        ReadSettings { spec, keep, threads, max_rejects }
    }

    /// The probability of finding a pair, by similarity.
    #[must_use]
    pub fn curve(&self) -> Curve {
        self.banding.into()
    }

    /// When shelves are split, for clusterings that compare with kept documents only.
    ///
    /// 64 kept documents with one band key that are not near-duplicates of one another are a sign of boilerplate.
    pub(crate) fn limits_of_kept(&self) -> Limits {
        self.limits(64, 256)
    }

    /// When shelves are split, for clusterings that stop comparing once a document is connected.
    pub(crate) fn limits_of_connected(&self) -> Limits {
        self.limits(256, 1024)
    }

    /// When shelves are split, for runs that compare all with all.
    pub(crate) fn limits_of_all(&self) -> Limits {
        self.limits(4096, 16_384)
    }

    /// The further registers by which shelves are split.
    pub(crate) fn splits(&self) -> Splits {
        self.banding.splits(self.spec.method.registers(), SPLIT_REGISTERS)
    }

    fn limits(&self, most: usize, full: usize) -> Limits {
        let splits = self.banding.most_splits(self.spec.method.registers(), SPLIT_REGISTERS);
        Limits { most, splits, registers: SPLIT_REGISTERS, full }
    }
}
