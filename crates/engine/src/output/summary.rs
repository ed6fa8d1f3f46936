//! The counts of a run, with the settings that they were counted under.

use minwise_corpus::Corpus;
use serde::Serialize;

use crate::audit::Audit;
use crate::decide::Decisions;
use crate::read::Reading;
use crate::read::ranks::UnrankedCount;
use crate::settings::Plan;

/// The counts of a run. They add up: read = kept + removed + rejected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The spec in its text form.
    pub spec: String,
    /// Its fingerprint, in hexadecimal.
    pub fingerprint: String,
    /// The measure that decides.
    pub measure: String,
    /// The least similarity of near-duplicates, by that measure.
    pub threshold: f64,
    /// The alignment share below which similar documents are reordered.
    pub order: Option<f64>,
    /// How candidates were found.
    pub search: String,
    /// Bands.
    pub bands: usize,
    /// Rows of a band.
    pub rows: usize,
    /// Bits that were kept of each register; all of them without it.
    pub bits: Option<String>,
    /// The share of pairs at the threshold that the filter may put aside by mistake, if there was a filter.
    pub filter_error: Option<f64>,
    /// The looks of the filter that were asked for, in registers.
    pub looks: Option<Vec<usize>>,
    /// The share of pairs at the threshold that each look may put aside by mistake, if that was asked for; `filter_error` is
    /// for all looks together.
    pub error_per_look: Option<f64>,
    /// The keeper policy.
    pub keep: String,
    /// For each ranking of it that found no value in some documents, which then come last: how many they are.
    pub unranked: Vec<UnrankedCount>,
    /// The clustering.
    pub cluster: String,
    /// The most documents of a cluster of which any is removed.
    pub max_cluster: Option<u64>,
    /// Records of the inputs that were read.
    pub read: u64,
    /// Documents of references, with which they were compared.
    pub reference: u64,
    /// Records of references that were not taken in.
    pub reference_rejected: u64,
    /// Documents that stay.
    pub kept: u64,
    /// Documents that do not.
    pub removed: u64,
    /// Those of them whose shingles equal the kept one's.
    pub removed_equal: u64,
    /// Whether every document was written, with a mark on those that count as removed.
    pub annotated: bool,
    /// Records of the inputs that were not taken in.
    pub rejected: u64,
    /// Files of inputs and references that were skipped because they are no documents. Nothing of them is written.
    pub skipped_files: u64,
    /// Records of the inputs that were skipped because they are no documents. They stay beside the kept documents.
    pub skipped_records: u64,
    /// Documents whose text is null, which stay and are compared with nothing.
    pub nulls: u64,
    /// Documents without shingles.
    pub without_shingles: u64,
    /// Documents in which lone surrogates were replaced.
    pub repaired: u64,
    /// Documents that share their id with another.
    pub repeated_ids: u64,
    /// Clusters of more than one document.
    pub clusters: u64,
    /// Clusters that were spared because they are larger.
    pub large_clusters: u64,
    /// Documents that stay because their cluster was spared, its keeper not among them.
    pub spared: u64,
    /// Pairs that share a band and were looked at.
    pub candidates: u64,
    /// Pairs of them that the filter put aside.
    pub filtered: u64,
    /// Registers, or values of bits, that the filter compared. If it compared a few bits of several registers, those that have
    /// as many bits.
    pub filter_compared: u64,
    /// Registers, or values of bits, that the pairs it saw have.
    pub filter_registers: u64,
    /// Pairs that were compared exactly.
    pub compared: u64,
    /// Pairs of them that reach the threshold.
    pub verified: u64,
    /// Pairs that exactly reach the threshold and are reordered.
    pub reordered: u64,
    /// Pairs that were not compared exactly because by their sketches they are reordered.
    pub reordered_estimated: u64,
    /// Shelves that left documents out because they were full.
    pub full_shelves: u64,
    /// Documents that full shelves left out; a document counts once per shelf.
    pub left_out: u64,
    /// The share of similar pairs that was found, as the banding implies it. None if it is not known: nothing was read, or
    /// nothing was found where something could be missed.
    pub expected_recall: Option<f64>,
    /// A share that the true one is not below, in 98 of 100 runs at least; none if nothing was found, or if shelves were full.
    pub expected_recall_low: Option<f64>,
    /// The share of duplicates that was found, as an audit of the kept documents measured it.
    pub audit: Option<Audit>,
    /// Bytes of the inputs and references that were read, decompressed.
    pub bytes: u64,
}

impl Summary {
    /// Adds up a run.
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
