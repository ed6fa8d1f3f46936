//! The report of a run, as a folder of files.
//!
//! | file | holds |
//! |---|---|
//! | `index.html` | the whole report for people, as numbers, charts and samples |
//! | `summary.json` | the settings and the counts |
//! | `pairs.tsv` | one line per removed document: its id, the id of the kept document, and their similarity |
//! | `clusters.jsonl` | one line per cluster of more than one document |
//! | `large-clusters.jsonl` | one line per cluster that was spared because it is too large: its members, and passages that they share |
//! | `reordered.tsv` | one line per reordered pair, for at most the first million pairs: the two ids, similarity with standard error, alignment share with standard error; a standard error of 0 marks an exact value |
//! | `rejects.jsonl` | one line per rejected record |
//!
//! No file depends on the machine, the clock or the number of threads, except the part of `index.html` that describes
//! one particular run ([`ThisRun`]).

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

/// Data that the page shows besides the findings.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Extras {
    /// The recall that an audit measured.
    pub measured_recall: Option<MeasuredRecall>,
    /// The command and the times of the run that makes the report.
    pub this_run: Option<ThisRun>,
    /// Whether near-duplicates are marked in the output instead of removed from it.
    pub annotates: bool,
}

impl Extras {
    /// Sets the recall that an audit measured.
    #[must_use]
    pub fn measured_recall(mut self, recall: MeasuredRecall) -> Self {
        self.measured_recall = Some(recall);
        self
    }

    /// Sets the command and the times of this particular run.
    #[must_use]
    pub fn this_run(mut self, this_run: ThisRun) -> Self {
        self.this_run = Some(this_run);
        self
    }

    /// Sets whether near-duplicates are marked in the output instead of removed from it.
    #[must_use]
    pub fn annotates(mut self, annotates: bool) -> Self {
        self.annotates = annotates;
        self
    }

    /// Returns the words for documents that stay and for near-duplicates.
    fn fates(&self) -> [&'static str; 2] {
        if self.annotates { ["unmarked", "marked"] } else { ["kept", "removed"] }
    }
}

/// Recall that an audit measured, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MeasuredRecall {
    /// Share of the duplicates of kept documents that were removed.
    pub value: f64,
    /// The lower end of the confidence interval.
    pub low: f64,
    /// The upper end of the confidence interval.
    pub high: f64,
}

impl MeasuredRecall {
    /// Makes a measured recall from its value and the ends of its interval.
    #[must_use]
    pub fn new(value: f64, low: f64, high: f64) -> Self {
        Self { value, low, high }
    }
}

/// Formats the recall in percent, followed by its interval unless the recall is exact.
impl fmt::Display for MeasuredRecall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&probability(self.value))?;
        interval(self.low, self.high).map_or(Ok(()), |interval| write!(f, " ({interval})"))
    }
}

/// Part of the report that differs from run to run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThisRun {
    /// The command, quoted as a shell accepts it.
    pub command: String,
    /// Name and duration of each stage, in the order of the stages.
    pub stages: Vec<(&'static str, Duration)>,
}

impl ThisRun {
    /// Makes the description of a run from its command and the durations of its stages.
    pub fn new(command: impl Into<String>, stages: Vec<(&'static str, Duration)>) -> Self {
        Self { command: command.into(), stages }
    }
}

/// Near-duplicates of a run, sorted by keeper, so that the documents of one cluster are adjacent.
struct ByKeeper<'a> {
    /// The removed documents, sorted by keeper.
    removed: Vec<&'a Removed>,
    /// The documents of spared clusters. Spared clusters are larger than `max_cluster`.
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
    /// The name of the page.
    pub const PAGE: &'static str = "index.html";

    /// The names of all files of a report; the page is the first.
    pub const FILES: [&'static str; 7] = [
        Self::PAGE,
        "summary.json",
        "pairs.tsv",
        "clusters.jsonl",
        "large-clusters.jsonl",
        "reordered.tsv",
        "rejects.jsonl",
    ];

    /// Opens the files of a report in `folder`, which must exist. If a file exists, `overwrite` decides whether it may
    /// be replaced.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if `folder` does not exist, if `overwrite` forbids
    /// replacing an existing file, or if a file cannot be created.
    pub fn create(folder: &Path, overwrite: Overwrite) -> Result<Self, Error> {
        Self::create_for(folder, overwrite, None)
    }

    /// Opens the files of a report under temporary names that hold `tag`. If this process is killed, a later process of
    /// the run finds the files by the tag.
    ///
    /// # Errors
    /// Fails as [`create`](Self::create) does.
    pub fn create_for(folder: &Path, overwrite: Overwrite, tag: Option<RunTag>) -> Result<Self, Error> {
        let [page, summary, pairs, clusters, large_clusters, reordered, rejects] = Self::FILES.map(|name| {
            // `Overwrite::Same` would refuse every page, because a page holds the times of its run. A page beside a
            // `summary.json` may be replaced: the other files are put in place first, and refuse if they differ.
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

    /// Writes all files under their temporary names; [`finish`](Self::finish) puts them in place.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if a file cannot be written or a source cannot be
    /// read again for its passages, with [`ErrorKind::File`](crate::ErrorKind::File) if ids on disk cannot be read, and
    /// with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the observer cancels.
    ///
    /// # Panics
    /// Never panics, because all data that are written are strings and finite numbers.
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
        // A cancelled report leaves nothing behind, because the files still have temporary names.
        not_cancelled(observer)
    }

    /// Completes all files, which keep their temporary names.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if a file cannot be written or synced to disk.
    pub fn complete(self) -> Result<Vec<CompleteOutput>, Error> {
        let Self { page, summary, pairs, clusters, large_clusters, reordered, rejects } = self;
        let files = [summary, pairs, clusters, large_clusters, reordered, rejects, page];
        files.into_iter().map(|file| Ok(file.complete()?)).collect()
    }

    /// Completes all files, then puts them in place.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if a file cannot be written, synced to disk or
    /// renamed.
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

/// Writes the line of a cluster. Members are written one by one, because a cluster can have as many members as there
/// are documents.
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
