//! What a run is asked to do.

use std::thread::available_parallelism;

use minwise::candidate::{Banding, Curve, tune};
use minwise::cluster::Cluster;
use minwise::keep::Keep;
use minwise::sketch::Bits;
use minwise::{Error, Spec};

use crate::rows::Rows;

/// The share of pairs at the threshold that the filter may put aside by mistake, unless said otherwise.
pub const FILTER_ERROR: f64 = 1e-6;

/// What reading a corpus needs to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadSettings {
    /// How documents become sketches.
    pub spec: Spec,
    /// Which document of a cluster stays, because that may depend on lengths.
    pub keep: Keep,
    /// Bits that are kept of each register, besides the keys of these bands; without them, registers are kept whole.
    pub bits: Option<(Bits, Banding)>,
    /// Whether it matters where shingles stand.
    pub places: bool,
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
    /// Bits that are kept of each register once its bands are known; all of them without it.
    pub bits: Option<Bits>,
    /// The share of pairs at the threshold that the filter may put aside by mistake; without it there is no filter.
    pub filter: Option<f64>,
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
        // Registers that can be banded agree with the probability of the similarity itself.
        let banding = tune::choose(threshold, recall, spec.method.registers(), |similarity| similarity)?;
        Ok(Self {
            spec,
            threshold,
            order: None,
            banding,
            bits: None,
            filter: Some(FILTER_ERROR),
            keep: Keep::default(),
            cluster: Cluster::default(),
            threads: available_parallelism().map_or(1, usize::from),
            max_rejects: None,
        })
    }

    /// What reading needs to know of them.
    #[must_use]
    pub fn reading(&self) -> ReadSettings {
        let Self { spec, keep, threads, max_rejects, banding, .. } = *self;
        let places = self.order.is_some() && self.filter.is_some();
        ReadSettings { spec, keep, bits: self.bits.map(|bits| (bits, banding)), places, threads, max_rejects }
    }

    /// The probability of finding a pair, by similarity.
    #[must_use]
    pub fn curve(&self) -> Curve {
        self.banding.into()
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
