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

use std::fmt;
use std::path::Path;
use std::time::Duration;

use minwise::figure::{interval, probability};
use minwise::{Observer, escape_field};
use minwise_corpus::{CompleteOutput, Corpus, Output, Overwrite, RunTag};
use serde::Serialize;

use self::large::LargeClusterSummary;
use self::page::page;
use crate::decide::{Decisions, Removed};
use crate::error::Error;
use crate::output::{Findings, not_cancelled};
use crate::read::rejects::Rejects;

pub use self::page::THIS_RUN;
pub use crate::output::summary::Summary;

/// What the page shows besides what was decided.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Extras {
    /// The recall that an audit measured.
    pub measured_recall: Option<MeasuredRecall>,
    /// How this very run went.
    pub this_run: Option<ThisRun>,
    /// Whether near-duplicates are marked in the output and not removed from it.
    pub annotates: bool,
}

impl Extras {
    /// Sets the recall that an audit measured.
    #[must_use]
    pub fn measured_recall(mut self, recall: MeasuredRecall) -> Self {
        self.measured_recall = Some(recall);
        self
    }

    /// Sets what differs from run to run.
    #[must_use]
    pub fn this_run(mut self, this_run: ThisRun) -> Self {
        self.this_run = Some(this_run);
        self
    }

    /// Sets whether near-duplicates are marked in the output and not removed from it.
    #[must_use]
    pub fn annotates(mut self, annotates: bool) -> Self {
        self.annotates = annotates;
        self
    }

    /// The words for documents that stay and for near-duplicates.
    fn fates(&self) -> [&'static str; 2] {
        if self.annotates { ["unmarked", "marked"] } else { ["kept", "removed"] }
    }
}

/// A recall that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MeasuredRecall {
    /// Of the documents that repeat a kept one, the share that was removed.
    pub value: f64,
    /// The low end of its interval.
    pub low: f64,
    /// The high end of its interval.
    pub high: f64,
}

impl MeasuredRecall {
    /// A recall with the ends of its interval.
    #[must_use]
    pub fn new(value: f64, low: f64, high: f64) -> Self {
        Self { value, low, high }
    }
}

/// The recall in percent, with its interval unless it is exact.
impl fmt::Display for MeasuredRecall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&probability(self.value))?;
        interval(self.low, self.high).map_or(Ok(()), |interval| write!(f, " ({interval})"))
    }
}

/// What differs from run to run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThisRun {
    /// The command, as a shell would take it.
    pub command: String,
    /// The names of its stages and how long they took, one after the other.
    pub stages: Vec<(&'static str, Duration)>,
}

impl ThisRun {
    /// A run by this command, with the names and times of its stages.
    pub fn new(command: impl Into<String>, stages: Vec<(&'static str, Duration)>) -> Self {
        Self { command: command.into(), stages }
    }
}

/// The near-duplicates of a run, sorted by keeper, so that those of one cluster stand together.
struct ByKeeper<'a> {
    /// The removed documents.
    removed: Vec<&'a Removed>,
    /// The documents of clusters that are so large that nothing of them was removed.
    spared: Vec<&'a Removed>,
}

impl<'a> ByKeeper<'a> {
    fn new(decisions: &'a Decisions) -> Self {
        let sorted = |list: &'a [Removed]| {
            let mut sorted: Vec<&Removed> = list.iter().collect();
            sorted.sort_by_key(|removed| (removed.of, removed.document));
            sorted
        };
        Self { removed: sorted(&decisions.removed), spared: sorted(&decisions.spared) }
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
struct MemberOfCluster {
    id: String,
    similarity: f64,
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
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if `folder` does not exist, if a file exists and `overwrite`
    /// refuses to replace it, or if a file cannot be made.
    pub fn create(folder: &Path, overwrite: Overwrite) -> Result<Self, Error> {
        Self::create_for(folder, overwrite, None)
    }

    /// Opens the files of the report of a run, by whose tag a later process finds them if this one is killed.
    ///
    /// # Errors
    /// Fails as [`create`](Self::create) does.
    pub fn create_for(folder: &Path, overwrite: Overwrite, tag: Option<RunTag>) -> Result<Self, Error> {
        let [page, summary, pairs, clusters, large_clusters, reordered, rejects] = Self::FILES.map(|name| {
            // The page has the times of the run, so that it differs from run to run. If the other files are the same, it may
            // be replaced; they are put in place before it.
            let is_page_of_report = name == Self::PAGE && folder.join("summary.json").exists();
            let overwrite = match overwrite {
                Overwrite::Same if is_page_of_report => Overwrite::Allow,
                overwrite => overwrite,
            };
            Output::create_for(&folder.join(name), overwrite, tag)
        });
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
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if a file cannot be written or a source cannot be read again
    /// for its passages, with [`ErrorKind::File`](crate::ErrorKind::File) if ids that lie on disk cannot be read, and with
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the observer cancels.
    ///
    /// # Panics
    /// Never: what is written consists of strings and finite numbers.
    pub fn write(
        &mut self,
        findings: &Findings<'_>,
        extras: &Extras,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let mut text =
            serde_json::to_vec_pretty(findings.summary).expect("a summary can always be written as JSON");
        text.push(b'\n');
        self.summary.write_bytes(&text)?;
        write_pairs(findings, observer, &mut self.pairs)?;
        let by_keeper = ByKeeper::new(findings.decisions);
        for cluster in by_keeper.removed.chunk_by(|a, b| a.of == b.of) {
            not_cancelled(observer)?;
            write_cluster(findings, cluster, None, &mut self.clusters)?;
        }
        large::write(findings, &by_keeper.spared, observer, &mut self.large_clusters)?;
        write_reordered(findings, &mut self.reordered)?;
        write_rejects(findings.corpus, &findings.reading.rejected, &mut self.rejects)?;
        self.page.write_bytes(page(findings, &by_keeper, extras)?.as_bytes())?;
        // The files are not put in place yet, so that a report that was cancelled leaves nothing.
        not_cancelled(observer)
    }

    /// Completes all files but for their names.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if a file cannot be written or put on the disk.
    pub fn complete(self) -> Result<Vec<CompleteOutput>, Error> {
        let Self { page, summary, pairs, clusters, large_clusters, reordered, rejects } = self;
        let files = [summary, pairs, clusters, large_clusters, reordered, rejects, page];
        files.into_iter().map(|file| Ok(file.complete()?)).collect()
    }

    /// Puts the files in place, once all are complete.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if a file cannot be written, put on the disk or renamed.
    pub fn finish(self) -> Result<(), Error> {
        for file in self.complete()? {
            file.put_in_place()?;
        }
        Ok(())
    }
}

fn write_pairs(findings: &Findings<'_>, observer: &dyn Observer, out: &mut Output) -> Result<(), Error> {
    for Removed { document, of, similarity } in &findings.decisions.removed {
        not_cancelled(observer)?;
        let id = findings.id(*document)?;
        let of = findings.id(*of)?;
        let line = format!("{}\t{}\t{similarity:.6}\n", escape_field(&id), escape_field(&of));
        out.write_bytes(line.as_bytes())?;
    }
    Ok(())
}

fn write_reordered(findings: &Findings<'_>, out: &mut Output) -> Result<(), Error> {
    for pair in &findings.decisions.verification.reordered_pairs {
        let first = findings.id(pair.first)?;
        let second = findings.id(pair.second)?;
        let line = format!(
            "{}\t{}\t{:.6}\t{:.6}\t{:.6}\t{:.6}\n",
            escape_field(&first),
            escape_field(&second),
            pair.similarity,
            pair.similarity_error,
            pair.alignment,
            pair.alignment_error
        );
        out.write_bytes(line.as_bytes())?;
    }
    Ok(())
}

/// The line of a cluster. Members are written one by one: it may have as many as there are documents.
fn write_cluster(
    findings: &Findings<'_>,
    cluster: &[&Removed],
    shown: Option<&LargeClusterSummary>,
    out: &mut Output,
) -> Result<(), Error> {
    let keeper = findings.id(cluster[0].of)?;
    let size = cluster.len() + 1;
    out.write_bytes(format!("{{\"cluster\":{},\"size\":{size},\"members\":[", json(&*keeper)).as_bytes())?;
    for (at, removed) in cluster.iter().enumerate() {
        let id = findings.id(removed.document)?.into_owned();
        let member = json(&MemberOfCluster { id, similarity: removed.similarity });
        out.write_bytes(if at == 0 { b"" } else { b"," })?;
        out.write_bytes(member.as_bytes())?;
    }
    out.write_bytes(b"]")?;
    if let Some(LargeClusterSummary { passages, no_passages }) = shown {
        out.write_bytes(format!(",\"passages\":{}", json(passages)).as_bytes())?;
        if let Some(reason) = no_passages {
            out.write_bytes(format!(",\"no_passages\":{}", json(reason)).as_bytes())?;
        }
    }
    out.write_bytes(b"}\n")?;
    Ok(())
}

fn write_rejects(corpus: &Corpus, rejects: &Rejects, out: &mut Output) -> Result<(), Error> {
    rejects.for_each(|rejected| write_json_line(&rejected.line(corpus), out))
}

fn write_json_line(value: &impl Serialize, out: &mut Output) -> Result<(), Error> {
    let mut line = json(value);
    line.push('\n');
    out.write_bytes(line.as_bytes())?;
    Ok(())
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("strings and finite numbers can always be written as JSON")
}
