//! The counts of a run, together with the settings that produced them.

use minwise_corpus::Corpus;
use serde::Serialize;

use crate::audit::Audit;
use crate::decide::Decisions;
use crate::read::Reading;
use crate::read::ranks::UnrankedCount;
use crate::settings::Plan;

/// Counts of a run, where read = kept + removed + rejected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The spec in its text form.
    pub spec: String,
    /// The fingerprint of the spec, in hexadecimal.
    pub fingerprint: String,
    /// The similarity measure that decides whether two documents are near-duplicates.
    pub measure: String,
    /// The lowest similarity of near-duplicates, by the measure in `measure`.
    pub threshold: f64,
    /// The alignment share below which similar documents count as reordered.
    pub order: Option<f64>,
    /// The method that found the candidates.
    pub search: String,
    /// Number of bands.
    pub bands: usize,
    /// Number of rows per band.
    pub rows: usize,
    /// Bits that were kept per register; `None` if whole registers were kept.
    pub bits: Option<String>,
    /// The share of pairs at the threshold that the filter may reject by mistake; `None` without a filter.
    pub filter_error: Option<f64>,
    /// The looks of the filter that the settings asked for, as numbers of registers.
    pub looks: Option<Vec<usize>>,
    /// The share of pairs at the threshold that each look may reject by mistake, if the settings state it.
    /// `filter_error` is the share over all looks together.
    pub error_per_look: Option<f64>,
    /// The policy that chooses keepers.
    pub keep: String,
    /// Number of documents without a value, for each ranking of `keep` that lacks values. Such documents come last in
    /// that ranking.
    pub unranked: Vec<UnrankedCount>,
    /// The clustering, in its text form.
    pub cluster: String,
    /// The largest number of documents in a cluster from which documents are removed.
    pub max_cluster: Option<u64>,
    /// Number of records of the inputs that were read.
    pub read: u64,
    /// Number of documents of references, with which the inputs were compared.
    pub reference: u64,
    /// Number of records of references that were rejected.
    pub reference_rejected: u64,
    /// Number of kept documents.
    pub kept: u64,
    /// Number of removed documents.
    pub removed: u64,
    /// Number of removed documents whose shingles equal those of the kept document.
    pub removed_equal: u64,
    /// Whether the output has every document, with a mark on the documents that count as removed.
    pub annotated: bool,
    /// Number of records of the inputs that were rejected.
    pub rejected: u64,
    /// Number of files of inputs and references that were skipped because they are no documents. Skipped files are not
    /// written.
    pub skipped_files: u64,
    /// Number of records of the inputs that were skipped because they are no documents. Skipped records are written
    /// with the kept documents.
    pub skipped_records: u64,
    /// Number of documents whose text is null. These documents are kept, and compared with nothing.
    pub nulls: u64,
    /// Number of documents without shingles.
    pub without_shingles: u64,
    /// Number of documents in which lone surrogates were replaced.
    pub repaired: u64,
    /// Number of documents that share their id with another document.
    pub repeated_ids: u64,
    /// Number of clusters of more than one document.
    pub clusters: u64,
    /// Number of clusters that were spared because they have more than `max_cluster` documents.
    pub large_clusters: u64,
    /// Number of documents that stay because their cluster was spared, not counting keepers.
    pub spared: u64,
    /// Number of candidate pairs that were considered.
    pub candidates: u64,
    /// Number of candidate pairs that the filter rejected.
    pub filtered: u64,
    /// Number of registers that the filter compared; for rows of bits, the number of values of a few bits each. If the
    /// filter compared a few bits of many registers, the count is that of whole registers with as many bits.
    pub filter_compared: u64,
    /// Number of registers, or of values in rows of bits, of all pairs that the filter examined.
    pub filter_registers: u64,
    /// Number of pairs that were compared exactly.
    pub compared: u64,
    /// Number of exactly compared pairs that reach the threshold.
    pub verified: u64,
    /// Number of exactly compared pairs that reach the threshold and are reordered.
    pub reordered: u64,
    /// Number of pairs that were not compared exactly because their sketches show that they are reordered.
    pub reordered_estimated: u64,
    /// Number of shelves that left documents out because they were full.
    pub full_shelves: u64,
    /// Number of documents that full shelves left out. A document counts once per shelf.
    pub left_out: u64,
    /// The expected share of similar pairs that were found, computed from the banding. `None` if nothing was read, or
    /// if no pair was found although the search can miss pairs.
    pub expected_recall: Option<f64>,
    /// A lower bound of the true recall, which holds in at least 98 of 100 runs. `None` if nothing was read, if a
    /// shelf was full, or if no pair was found although the search can miss pairs.
    pub expected_recall_low: Option<f64>,
    /// The share of duplicates that were found, as measured by an audit of the kept documents.
    pub audit: Option<Audit>,
    /// Number of decompressed bytes of the inputs and references that were read.
    pub bytes: u64,
}

impl Summary {
    /// Computes the summary of a run.
    #[must_use]
    pub fn new(corpus: &Corpus, reading: &Reading, decisions: &Decisions, plan: &Plan) -> Self {
        let skipped_records = reading.documents.skipped(reading.references);
        let reference = u64::from(reading.references) + skipped_records - reading.documents.skipped(0);
        let documents = reading.documents.len() as u64 - u64::from(reading.references) - skipped_records;
        let reference_rejected = reading.rejected.of_references();
        let rejected = reading.rejected.len() - reference_rejected;
        let removed = decisions.removed.len() as u64;
        Self {
            spec: plan.spec.to_string(),
            fingerprint: format!("{:016x}", plan.spec.fingerprint()),
            measure: plan.measure.to_string(),
            threshold: plan.threshold,
            order: plan.order,
            search: plan.search.to_string(),
            bands: plan.banding.bands(),
            rows: plan.banding.rows(),
            bits: plan.bits.map(|bits| bits.to_string()),
            filter_error: plan.filter_error(),
            looks: plan.looks.clone(),
            error_per_look: plan.error_per_look,
            keep: plan.keep.to_string(),
            unranked: reading.ranks.unranked(&plan.keep),
            cluster: plan.cluster.to_string(),
            max_cluster: plan.max_cluster,
            read: documents + rejected,
            reference,
            reference_rejected,
            kept: documents - removed,
            removed,
            removed_equal: decisions.equal,
            annotated: false,
            rejected,
            skipped_files: corpus.skipped().len() as u64,
            skipped_records,
            nulls: reading.documents.nulls(reading.references),
            without_shingles: reading.documents.without_shingles(reading.references),
            repaired: reading.repaired,
            repeated_ids: reading.documents.repeated_ids(),
            clusters: decisions.clusters,
            large_clusters: decisions.large_clusters,
            spared: decisions.spared.len() as u64,
            candidates: decisions.verification.candidates,
            filtered: decisions.verification.screened.pairs,
            filter_compared: decisions.verification.screened.compared,
            filter_registers: decisions.verification.screened.registers,
            compared: decisions.verification.compared,
            verified: decisions.verification.verified,
            reordered: decisions.verification.reordered,
            reordered_estimated: decisions.verification.reordered_estimated,
            full_shelves: decisions.verification.full_shelves.shelves,
            left_out: decisions.verification.full_shelves.left_out,
            expected_recall: decisions.verification.known_recall().filter(|_| documents > 0),
            expected_recall_low: decisions.verification.expected_recall_low().filter(|_| documents > 0),
            audit: decisions.audit,
            bytes: corpus.size_bytes(),
        }
    }
}
