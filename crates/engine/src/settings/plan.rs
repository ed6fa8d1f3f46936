//! Settings that were checked.

use std::path::PathBuf;
use std::sync::Arc;

use minwise::candidate::{Banding, Curve};
use minwise::cluster::Clustering;
use minwise::filter::{ErrorBudget, bit_looks, default_looks};
use minwise::keep::KeepPolicy;
use minwise::sketch::Bits;
use minwise::verify::Measure;
use minwise::weight::Weighting;
use minwise::{Error as CoreError, Spec};
use minwise_corpus::FieldPath;

use super::{AuditSize, ResourceLimits, Search};
use crate::error::{Error, ErrorKind};
use crate::memory::MemoryLimit;
use crate::rows::RowLayout;
use crate::storage::work::WorkFolder;
use crate::weigh::WeightTables;

/// The settings of a run, checked, with everything filled in that follows from them.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How documents become sketches.
    pub(crate) spec: Spec,
    /// The tables that its weights ask for.
    pub(crate) weighing: WeightTables,
    /// The exact number that decides.
    pub(crate) measure: Measure,
    /// The exact similarity, by that measure, from which on two documents are near-duplicates.
    pub(crate) threshold: f64,
    /// The alignment share below which two documents are reordered and no near-duplicates.
    pub(crate) order: Option<f64>,
    /// How candidates are found.
    pub(crate) search: Search,
    /// How sketches are cut into bands.
    pub(crate) banding: Banding,
    /// The recall at the threshold that the bands were chosen for, if they were.
    pub(crate) wanted_recall: Option<f64>,
    /// Bits that are kept of each register once its bands are known; all of them without it.
    pub(crate) bits: Option<Bits>,
    /// The share of pairs at the threshold that the filter may put aside by mistake; without it there is no filter.
    pub(crate) filter: Option<f64>,
    /// The looks of the filter, in registers, instead of those that it has otherwise.
    pub(crate) looks: Option<Vec<usize>>,
    /// If given, `filter` is this share, and is for each look.
    pub(crate) error_per_look: Option<f64>,
    /// N: documents that a shelf takes ([`SHELF`](crate::rows::SHELF)).
    pub(crate) shelf: usize,
    /// Which document of a cluster stays.
    pub(crate) keep: KeepPolicy,
    /// What a cluster is.
    pub(crate) cluster: Clustering,
    /// The largest cluster, in documents, from which documents are removed.
    pub(crate) max_cluster: Option<u64>,
    /// Kept documents that are looked at again to measure the recall.
    pub(crate) audit: Option<AuditSize>,
    /// Bands that an audit draws, however small the corpus is.
    pub(crate) audit_bands: Option<u32>,
    /// Threads to work with.
    pub(crate) threads: usize,
    /// Rejected records that are put up with.
    pub(crate) max_rejects: Option<u64>,
    /// Where intermediate results go that do not fit into memory.
    pub(crate) temporary: Option<PathBuf>,
    /// The most memory to take.
    pub(crate) memory: MemoryLimit,
    /// The folder of the run, from which it can be taken up again.
    pub(crate) work: Option<Arc<WorkFolder>>,
}

impl Plan {
    /// How documents become sketches, with the fingerprints of the tables that its weights ask for.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The exact number that decides.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The exact similarity from which on two documents are near-duplicates.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The alignment share below which two documents are reordered and no near-duplicates.
    #[must_use]
    pub fn order(&self) -> Option<f64> {
        self.order
    }

    /// How candidates are found.
    #[must_use]
    pub fn search(&self) -> Search {
        self.search
    }

    /// How sketches are cut into bands.
    #[must_use]
    pub fn banding(&self) -> Banding {
        self.banding
    }

    /// Which document of a cluster stays.
    #[must_use]
    pub fn keep(&self) -> &KeepPolicy {
        &self.keep
    }

    /// Threads to work with.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The most memory to take.
    #[must_use]
    pub fn memory(&self) -> MemoryLimit {
        self.memory
    }

    /// The same plan for a run whose progress is kept in a folder.
    #[must_use]
    pub fn in_folder(self, work: Arc<WorkFolder>) -> Self {
        Self { work: Some(work), ..self }
    }

    /// The same plan with shelves that take so many documents, so that small corpora can fill them.
    #[doc(hidden)]
    #[must_use]
    pub fn with_shelf(self, shelf: usize) -> Self {
        Self { shelf, ..self }
    }

    /// The same plan with an audit that looks up so many bands, so that small corpora are not compared whole.
    #[doc(hidden)]
    #[must_use]
    pub fn with_audit_bands(self, bands: u32) -> Self {
        Self { audit_bands: Some(bands), ..self }
    }

    /// What reading needs to know of the plan.
    #[must_use]
    pub fn reading(&self) -> ReadPlan {
        ReadPlan {
            key: ReadKey {
                spec: self.spec,
                keep: self.keep.clone(),
                banding: (self.bits.is_some() || self.search == Search::Banding).then_some(self.banding),
                bits: self.bits,
                places: self.asks_places(),
            },
            weighing: self.weighing.clone(),
            threads: self.threads,
            max_rejects: self.max_rejects,
            memory: self.memory,
            temporary: self.temporary.clone(),
            work: self.work.clone(),
        }
    }

    /// Leaves out threads for which there is no memory beside so many documents.
    pub(crate) fn fit_threads(&mut self, documents: usize) {
        self.threads = self.memory.fitting_threads(self.threads, documents, self.keep.words());
    }

    /// The fields that the keeper policy looks at.
    #[must_use]
    pub fn value_fields(&self) -> Vec<FieldPath> {
        // Every field was parsed when the plan was made.
        self.keep.fields().filter_map(|field| field.parse().ok()).collect()
    }

    /// The probability of finding a pair, by similarity.
    #[must_use]
    pub fn curve(&self) -> Curve {
        match self.search {
            Search::Banding => self.banding.into(),
            // A pair must share one register, as if each register were a band of its own.
            Search::SortMergeSketch => {
                let registers = self.spec.method.registers();
                Banding::new(registers, 1, registers).map_or(Curve::CERTAIN, Curve::from)
            }
            Search::SortMerge | Search::All => Curve::CERTAIN,
        }
    }

    /// Whether sketches that know where shingles stand put pairs aside. They know nothing of weights or containment.
    pub(crate) fn asks_places(&self) -> bool {
        let plain = self.spec.weights.weighting == Weighting::None && self.measure == Measure::Jaccard;
        self.order.is_some() && self.filter.is_some() && plain
    }

    /// The share of pairs at the threshold that sketches may put aside by mistake, at all looks together, if they are asked.
    #[must_use]
    pub fn filter_error(&self) -> Option<f64> {
        Some(self.budget()?.total(self.count_looks()))
    }

    /// How large an error of the filter is allowed, if sketches are asked.
    pub(crate) fn budget(&self) -> Option<ErrorBudget> {
        // At a threshold of 1 only equal documents are left, and those are never put aside. At 0 no pair is put aside.
        let asked = self.search != Search::SortMerge
            && self.measure == Measure::Jaccard
            && self.threshold > 0.0
            && self.threshold < 1.0;
        let budget = if self.error_per_look.is_some() { ErrorBudget::PerLook } else { ErrorBudget::Exact };
        self.filter.filter(|_| asked).map(budget)
    }

    /// How many looks the filter has, at most: those of all groups of bits, if rows are bits.
    fn count_looks(&self) -> usize {
        let rows = self.rows().ok();
        let of = |registers: usize, default: fn(usize) -> Vec<usize>| {
            self.looks.as_ref().map_or_else(|| default(registers).len(), Vec::len)
        };
        match rows.as_ref().and_then(RowLayout::bit_rows) {
            _ if self.search == Search::SortMergeSketch => 1,
            Some(bits) => bits.laws(self.threshold).map(|(values, _)| of(values, bit_looks)).sum(),
            None => of(self.spec.method.registers(), default_looks),
        }
    }

    /// The looks that were asked for, in registers.
    #[must_use]
    pub fn looks(&self) -> Option<&[usize]> {
        self.looks.as_deref()
    }

    /// The share of pairs at the threshold that each look may put aside by mistake, if that was asked for.
    #[must_use]
    pub fn error_per_look(&self) -> Option<f64> {
        self.error_per_look
    }

    /// What is kept of each document's sketch.
    pub(crate) fn rows(&self) -> Result<RowLayout, CoreError> {
        RowLayout::new(&self.spec, self.banding, self.bits)
    }

    /// Bytes that are kept of each document's sketch.
    ///
    /// # Errors
    /// Fails with [`minwise::ErrorKind::OutOfRange`] if the registers of the sketch cannot be packed into the bits that the
    /// plan keeps. A plan that was checked never fails.
    pub fn row_bytes(&self) -> Result<usize, CoreError> {
        let words = self.rows()?.words();
        Ok(words * size_of::<u32>())
    }
}

/// What reading a corpus needs to know.
#[derive(Debug, Clone)]
pub struct ReadPlan {
    /// What two readings must share to be the same.
    pub(crate) key: ReadKey,
    /// The tables that weights ask for.
    pub(crate) weighing: WeightTables,
    /// Threads to work with.
    pub(crate) threads: usize,
    /// Rejected records that are put up with.
    pub(crate) max_rejects: Option<u64>,
    /// The most memory to take.
    pub(crate) memory: MemoryLimit,
    /// Where goes what does not fit into it.
    pub(crate) temporary: Option<PathBuf>,
    /// The folder of the run, from which it can be taken up again.
    pub(crate) work: Option<Arc<WorkFolder>>,
}

impl ReadPlan {
    /// For sketches as they are, of which no bands are asked.
    pub(crate) fn for_sketches(spec: Spec, limits: ResourceLimits) -> Self {
        let key = ReadKey { spec, keep: KeepPolicy::default(), banding: None, bits: None, places: false };
        Self {
            key,
            weighing: WeightTables::default(),
            threads: limits.threads,
            max_rejects: None,
            memory: limits.memory,
            temporary: None,
            work: None,
        }
    }
}

/// The part of a plan by which documents were read: a decision about them needs the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadKey {
    pub(crate) spec: Spec,
    /// Which document of a cluster stays, because that may depend on lengths and on the values of fields.
    pub(crate) keep: KeepPolicy,
    /// The bands whose keys will be asked for.
    pub(crate) banding: Option<Banding>,
    /// Bits that are kept of each register, besides the keys of its bands; without them, registers are kept whole.
    pub(crate) bits: Option<Bits>,
    /// Whether it matters where shingles stand.
    pub(crate) places: bool,
}

impl ReadKey {
    /// Refuses to decide with `plan` about documents that were read with another one.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), Error> {
        let ReadKey { spec, keep, banding, bits, places } = plan.reading().key;
        let field = if self.spec != spec {
            "spec"
        } else if self.keep != keep {
            "keeper policy"
        } else if self.banding != banding {
            "banding"
        } else if self.bits != bits {
            "number of bits"
        } else if self.places != places {
            "rule for the order of shingles"
        } else {
            return Ok(());
        };
        Err(ErrorKind::ReadOtherwise { field }.into())
    }
}
