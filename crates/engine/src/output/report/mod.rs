//! What a run did, as files.
//!
//! | file | holds |
//! |---|---|
//! | `index.html` | all of it for people, as numbers, charts and samples |
//! | `summary.json` | the settings and the counts |
//! | `pairs.tsv` | a line for each removed document: its id, the id of the kept one, their similarity |
//! | `clusters.jsonl` | a line for each cluster of more than one document |
//! | `large-clusters.jsonl` | a line for each cluster that was spared because it is too large: its members, and passages that they share |
//! | `reordered.tsv` | a line for each reordered pair, the first million of them: the two ids, similarity and its standard error, alignment share and its standard error; an error of 0 says that the value is exact |
//! | `rejects.jsonl` | a line for each record that was not taken in |
//!
//! None of them depends on the machine, the clock or the number of threads, but for the part of `index.html` that says how
//! this very run went ([`ThisRun`]).

mod charts;
mod clusters;
mod html;
mod large;
mod least;
mod page;
mod pairs;
mod sources;
mod strange;

use std::path::Path;

use minwise::Observer;
use minwise_corpus::{CompleteOutput, Corpus, Output, Overwrite, escape_control};
use serde::Serialize;

use self::large::Shown;
use self::page::{Run, page};
use crate::audit::Audit;
use crate::decide::{Decisions, Removed};
use crate::error::Error;
use crate::read::Reading;
use crate::read::ranks::UnrankedCount;
use crate::read::rejects::{Rejected, Rejects};
use crate::settings::Plan;

pub use page::{Extras, MeasuredRecall, THIS_RUN, ThisRun};

/// The counts of a run. They add up: read = kept + removed + rejected.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Records of the inputs that were not taken in.
    pub rejected: u64,
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
    /// Registers, or values of bits, that the filter compared.
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
    /// The share of similar pairs that was found, as the banding implies it.
    pub expected_recall: f64,
    /// The share that was found of the pairs of a sample, if one was compared without bands.
    pub audit: Option<Audit>,
    /// Bytes that were read, decompressed.
    pub bytes: u64,
}

impl Summary {
    /// Adds up a run.
    #[must_use]
    pub fn new(corpus: &Corpus, reading: &Reading, decisions: &Decisions, plan: &Plan) -> Self {
        let reference = u64::from(reading.references);
        let documents = reading.documents.len() as u64 - reference;
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
            rejected,
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
            expected_recall: decisions.verification.expected_recall.value(),
            audit: decisions.audit,
            bytes: corpus.size_bytes(),
        }
    }
}

/// The files of a report, open under temporary names.
#[derive(Debug)]
pub struct Report {
    page: Output,
    summary: Output,
    pairs: Output,
    clusters: Output,
    large_clusters: Output,
    reordered: Output,
    rejects: Output,
}

#[derive(Serialize)]
pub(crate) struct MemberOfCluster {
    pub id: String,
    pub similarity: f64,
}

#[derive(Serialize)]
struct RejectLine<'a> {
    file: &'a str,
    line: u64,
    id: Option<&'a str>,
    reason: &'a str,
    message: &'a str,
}

impl Report {
    /// The name of its page.
    pub const PAGE: &'static str = "index.html";

    /// The names of its files.
    pub const FILES: [&'static str; 7] = [
        Self::PAGE,
        "summary.json",
        "pairs.tsv",
        "clusters.jsonl",
        "large-clusters.jsonl",
        "reordered.tsv",
        "rejects.jsonl",
    ];

    /// Opens the files of a report in `folder`, which must exist; those that are there already are refused unless they
    /// may be overwritten.
    pub fn create(folder: &Path, overwrite: Overwrite) -> Result<Self, Error> {
        let [page, summary, pairs, clusters, large_clusters, reordered, rejects] =
            Self::FILES.map(|name| Output::create(&folder.join(name), overwrite));
        Ok(Self {
            page: page?,
            summary: summary?,
            pairs: pairs?,
            clusters: clusters?,
            large_clusters: large_clusters?,
            reordered: reordered?,
            rejects: rejects?,
        })
    }

    /// Writes everything; [`finish`](Self::finish) puts the files in place.
    ///
    /// # Panics
    /// Never: what is written consists of strings and finite numbers.
    #[expect(clippy::too_many_arguments, reason = "the run, what came out of it, and whoever looks on")]
    pub fn write(
        &mut self,
        corpus: &Corpus,
        reading: &Reading,
        decisions: &Decisions,
        plan: &Plan,
        summary: &Summary,
        extras: &Extras,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(summary).expect("a summary can always be written as JSON");
        text.push(b'\n');
        self.summary.write_bytes(&text)?;
        write_pairs(corpus, reading, decisions, &mut self.pairs)?;
        let (by_keeper, spared_by_keeper) = (by_keeper(&decisions.removed), by_keeper(&decisions.spared));
        for cluster in by_keeper.chunk_by(|a, b| a.of == b.of) {
            write_cluster(corpus, reading, cluster, None, &mut self.clusters)?;
        }
        large::write(corpus, reading, &spared_by_keeper, plan, observer, &mut self.large_clusters)?;
        write_reordered(corpus, reading, decisions, &mut self.reordered)?;
        write_rejects(corpus, &reading.rejected, &mut self.rejects)?;
        let run = Run {
            corpus,
            reading,
            decisions,
            plan,
            summary,
            by_keeper: &by_keeper,
            spared_by_keeper: &spared_by_keeper,
        };
        self.page.write_bytes(page(&run, extras)?.as_bytes())?;
        Ok(())
    }

    /// Completes all files but for their names.
    pub fn complete(self) -> Result<Vec<CompleteOutput>, Error> {
        let Self { page, summary, pairs, clusters, large_clusters, reordered, rejects } = self;
        let files = [page, summary, pairs, clusters, large_clusters, reordered, rejects];
        files.into_iter().map(|file| Ok(file.complete()?)).collect()
    }

    /// Puts the files in place, once all are complete.
    pub fn finish(self) -> Result<(), Error> {
        for file in self.complete()? {
            file.put_in_place()?;
        }
        Ok(())
    }
}

fn write_pairs(
    corpus: &Corpus,
    reading: &Reading,
    decisions: &Decisions,
    out: &mut Output,
) -> Result<(), Error> {
    for Removed { document, of, similarity } in &decisions.removed {
        let id = reading.documents.id(*document, corpus)?;
        let of = reading.documents.id(*of, corpus)?;
        let line = format!("{}\t{}\t{similarity:.6}\n", escape_control(&id), escape_control(&of));
        out.write_bytes(line.as_bytes())?;
    }
    Ok(())
}

fn write_reordered(
    corpus: &Corpus,
    reading: &Reading,
    decisions: &Decisions,
    out: &mut Output,
) -> Result<(), Error> {
    for pair in &decisions.verification.reordered_pairs {
        let first = reading.documents.id(pair.first, corpus)?;
        let second = reading.documents.id(pair.second, corpus)?;
        let line = format!(
            "{}\t{}\t{:.6}\t{:.6}\t{:.6}\t{:.6}\n",
            escape_control(&first),
            escape_control(&second),
            pair.similarity,
            pair.similarity_error,
            pair.alignment,
            pair.alignment_error
        );
        out.write_bytes(line.as_bytes())?;
    }
    Ok(())
}

/// Documents that repeat another, by that one.
fn by_keeper(removed: &[Removed]) -> Vec<&Removed> {
    let mut by_keeper: Vec<&Removed> = removed.iter().collect();
    by_keeper.sort_by_key(|removed| (removed.of, removed.document));
    by_keeper
}

/// The line of a cluster. Members are written one by one: it may have as many as there are documents.
pub(crate) fn write_cluster(
    corpus: &Corpus,
    reading: &Reading,
    cluster: &[&Removed],
    shown: Option<&Shown>,
    out: &mut Output,
) -> Result<(), Error> {
    let keeper = reading.documents.id(cluster[0].of, corpus)?;
    let size = cluster.len() + 1;
    out.write_bytes(format!("{{\"cluster\":{},\"size\":{size},\"members\":[", json(&*keeper)).as_bytes())?;
    for (at, removed) in cluster.iter().enumerate() {
        let id = reading.documents.id(removed.document, corpus)?.into_owned();
        let member = json(&MemberOfCluster { id, similarity: removed.similarity });
        out.write_bytes(if at == 0 { b"" } else { b"," })?;
        out.write_bytes(member.as_bytes())?;
    }
    out.write_bytes(b"]")?;
    if let Some(Shown { passages, no_passages }) = shown {
        out.write_bytes(format!(",\"passages\":{}", json(passages)).as_bytes())?;
        if let Some(reason) = no_passages {
            out.write_bytes(format!(",\"no_passages\":{}", json(reason)).as_bytes())?;
        }
    }
    out.write_bytes(b"}\n")?;
    Ok(())
}

fn write_rejects(corpus: &Corpus, rejects: &Rejects, out: &mut Output) -> Result<(), Error> {
    rejects.for_each(|Rejected { source, line, id, code, message }| {
        let file = corpus.sources().get(source as usize).map_or("?", |source| source.name());
        let line = RejectLine { file, line, id: id.as_deref(), reason: &code, message: &message };
        write_json_line(&line, out)
    })
}

pub(crate) fn write_json_line(value: &impl Serialize, out: &mut Output) -> Result<(), Error> {
    let mut line = json(value);
    line.push('\n');
    out.write_bytes(line.as_bytes())?;
    Ok(())
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("strings and finite numbers can always be written as JSON")
}
