//! Checked settings of a run.

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

/// Checked settings of a run, with all dependent values filled in.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The spec by which documents become sketches.
    pub(crate) spec: Spec,
    /// The weight tables that the spec needs.
    pub(crate) weighing: WeightTables,
    /// The measure whose exact value is compared with the threshold.
    pub(crate) measure: Measure,
    /// The lowest exact similarity of near-duplicates, by `measure`.
    pub(crate) threshold: f64,
    /// The alignment share below which two similar documents count as reordered instead of near-duplicates.
    pub(crate) order: Option<f64>,
    /// The method that finds candidates.
    pub(crate) search: Search,
    /// The division of sketches into bands.
    pub(crate) banding: Banding,
    /// The recall at the threshold that the bands were chosen for; `None` if the user chose the bands.
    pub(crate) wanted_recall: Option<f64>,
    /// Number of bits that are kept per register once its band keys are computed; `None` keeps all bits.
    pub(crate) bits: Option<Bits>,
    /// The share of pairs at the threshold that the filter may reject by mistake; `None` turns the filter off.
    pub(crate) filter: Option<f64>,
    /// The looks of the filter, as numbers of registers; `None` for the default looks.
    pub(crate) looks: Option<Vec<usize>>,
    /// The share for each look. If it is set, `filter` has the same value, and also applies to each look.
    pub(crate) error_per_look: Option<f64>,
    /// The number of documents that a shelf takes, N in the documentation ([`SHELF`](crate::rows::SHELF)).
    pub(crate) shelf: usize,
    /// The policy that chooses the kept document of a cluster.
    pub(crate) keep: KeepPolicy,
    pub(crate) cluster: Clustering,
    /// The largest number of documents in a cluster from which documents are removed.
    pub(crate) max_cluster: Option<u64>,
    /// The number of kept documents that are audited to measure the recall.
    pub(crate) audit: Option<AuditSize>,
    /// The number of bands that an audit draws, even if the corpus is small.
    pub(crate) audit_bands: Option<u32>,
    pub(crate) threads: usize,
    /// The maximum number of rejected records.
    pub(crate) max_rejects: Option<u64>,
    /// The folder for intermediate results that do not fit into memory.
    pub(crate) temporary: Option<PathBuf>,
    pub(crate) memory: MemoryLimit,
    /// The work folder of the run, in which the run can be resumed.
    pub(crate) work: Option<Arc<WorkFolder>>,
}

impl Plan {
    /// Returns the spec by which documents become sketches, with the fingerprints of its weight tables.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the measure whose exact value is compared with the threshold.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Returns the lowest exact similarity of near-duplicates.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Returns the alignment share below which two similar documents count as reordered instead of near-duplicates.
    #[must_use]
    pub fn order(&self) -> Option<f64> {
        self.order
    }

    /// Returns the method that finds candidates.
    #[must_use]
    pub fn search(&self) -> Search {
        self.search
    }

    /// Returns the division of sketches into bands.
    #[must_use]
    pub fn banding(&self) -> Banding {
        self.banding
    }

    /// Returns the policy that chooses the kept document of a cluster.
    #[must_use]
    pub fn keep(&self) -> &KeepPolicy {
        &self.keep
    }

    /// Returns the number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the memory limit.
    #[must_use]
    pub fn memory(&self) -> MemoryLimit {
        self.memory
    }

    /// Sets the folder in which the run saves its progress.
    #[must_use]
    pub fn in_folder(self, work: Arc<WorkFolder>) -> Self {
        Self { work: Some(work), ..self }
    }

    /// Sets the number of documents that a shelf takes, so that tests can fill shelves with small corpora.
    #[doc(hidden)]
    #[must_use]
    pub fn with_shelf(self, shelf: usize) -> Self {
        Self { shelf, ..self }
    }

    /// Sets the number of bands that an audit draws, so that tests with small corpora do not compare all documents.
    #[doc(hidden)]
    #[must_use]
    pub fn with_audit_bands(self, bands: u32) -> Self {
        Self { audit_bands: Some(bands), ..self }
    }

    /// Returns the part of the plan that the read stage needs.
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

    /// Reduces the number of threads to the number that fits into memory beside `documents` documents.
    pub(crate) fn fit_threads(&mut self, documents: usize) {
        self.threads = self.memory.fitting_threads(self.threads, documents, self.keep.words());
    }

    /// Returns the fields that the keeper policy uses.
    #[must_use]
    pub fn value_fields(&self) -> Vec<FieldPath> {
        // Parsing cannot fail, because the plan was made with fields that parse.
        self.keep.fields().filter_map(|field| field.parse().ok()).collect()
    }

    /// Returns the probability of finding a pair as a function of its similarity.
    #[must_use]
    pub fn curve(&self) -> Curve {
        match self.search {
            Search::Banding => self.banding.into(),
            // A pair is found if it shares at least one register, as if each register were a band.
            Search::SortMergeSketch => {
                let registers = self.spec.method.registers();
                Banding::new(registers, 1, registers).map_or(Curve::CERTAIN, Curve::from)
            }
            Search::SortMerge | Search::All => Curve::CERTAIN,
        }
    }

    /// Reports whether sketches of positions reject pairs before their exact comparison. Such sketches ignore weights,
    /// and cannot estimate containment.
    pub(crate) fn asks_places(&self) -> bool {
        let plain = self.spec.weights.weighting == Weighting::None && self.measure == Measure::Jaccard;
        self.order.is_some() && self.filter.is_some() && plain
    }

    /// Returns the share of pairs at the threshold that the filter may reject by mistake, over all looks together;
    /// `None` without a filter.
    #[must_use]
    pub fn filter_error(&self) -> Option<f64> {
        Some(self.budget()?.total(self.count_looks()))
    }

    /// Returns the error that the filter may make; `None` if the filter is not used.
    pub(crate) fn budget(&self) -> Option<ErrorBudget> {
        // At a threshold of 1, only equal documents are near-duplicates, and they are never rejected. At a threshold of
        // 0, no pair is rejected.
        let asked = self.search != Search::SortMerge
            && self.measure == Measure::Jaccard
            && self.threshold > 0.0
            && self.threshold < 1.0;
        let budget = if self.error_per_look.is_some() { ErrorBudget::PerLook } else { ErrorBudget::Exact };
        self.filter.filter(|_| asked).map(budget)
    }

    /// Returns the maximum number of looks. If rows have bits, the number is the sum over all groups of bits.
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

    /// Returns the looks that the settings ask for, as numbers of registers.
    #[must_use]
    pub fn looks(&self) -> Option<&[usize]> {
        self.looks.as_deref()
    }

    /// Returns the share of pairs at the threshold that each look may reject by mistake, if the settings state it.
    #[must_use]
    pub fn error_per_look(&self) -> Option<f64> {
        self.error_per_look
    }

    /// Returns the layout of the row that is kept of each document's sketch.
    pub(crate) fn rows(&self) -> Result<RowLayout, CoreError> {
        RowLayout::new(&self.spec, self.banding, self.bits)
    }

    /// Returns the bytes that are kept of each document's sketch.
    ///
    /// # Errors
    /// Fails with [`minwise::ErrorKind::OutOfRange`] if the registers of the sketch cannot be packed into the bits that
    /// the plan keeps. A checked plan never fails.
    pub fn row_bytes(&self) -> Result<usize, CoreError> {
        let words = self.rows()?.words();
        Ok(words * size_of::<u32>())
    }
}

/// Part of a plan that the read stage needs.
#[derive(Debug, Clone)]
pub struct ReadPlan {
    /// The settings that two readings must share to give the same documents.
    pub(crate) key: ReadKey,
    /// The weight tables that the spec needs.
    pub(crate) weighing: WeightTables,
    pub(crate) threads: usize,
    /// The maximum number of rejected records.
    pub(crate) max_rejects: Option<u64>,
    pub(crate) memory: MemoryLimit,
    /// The folder for data that do not fit into memory.
    pub(crate) temporary: Option<PathBuf>,
    /// The work folder of the run, in which the run can be resumed.
    pub(crate) work: Option<Arc<WorkFolder>>,
}

impl ReadPlan {
    /// Makes the plan for reading whole sketches without band keys.
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

/// Settings that determine what the read stage keeps. A plan can decide about documents only if its own key is equal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadKey {
    pub(crate) spec: Spec,
    /// The policy that chooses kept documents. The policy is part of the key, because ranks are computed while
    /// documents are read.
    pub(crate) keep: KeepPolicy,
    /// The banding whose keys later stages will ask for.
    pub(crate) banding: Option<Banding>,
    /// Number of bits that are kept per register beside the band keys; `None` keeps whole registers.
    pub(crate) bits: Option<Bits>,
    /// Whether sketches of positions are kept.
    pub(crate) places: bool,
}

impl ReadKey {
    /// Refuses `plan` if the documents were read with another key.
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
