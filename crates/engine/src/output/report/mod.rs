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

use std::borrow::Cow;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use minwise::figure::{interval, probability};
use minwise::{Observer, escape_field, visible_json};
use minwise_corpus::{CompleteOutput, Corpus, Output, Overwrite, RunTag};
use serde::Serialize;

use self::large::LargeClusterSummary;
use self::page::page;
use crate::decide::{Decisions, Removed};
use crate::error::Error;
use crate::output::{Findings, not_cancelled};
use crate::parallel;
use crate::read::rejects::Rejects;

pub use self::page::THIS_RUN;
pub use crate::output::summary::Summary;

/// Number of removed documents whose lines one thread writes at a time.
const BLOCK: usize = 4096;

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
            // The list is in the order of the documents, so the place in the list takes the role of the document.
            // Sorting integers takes a third of the time of sorting references by what they refer to.
            let mut keys: Vec<u64> =
                (0..).zip(list).map(|(at, removed): (u64, _)| u64::from(removed.of) << 32 | at).collect();
            keys.sort_unstable();
            keys.into_iter().map(|key| &list[key as u32 as usize]).collect()
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
struct MemberOfCluster<'a> {
    id: Cow<'a, str>,
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
        let by_keeper = ByKeeper::new(findings.decisions);
        let page = || page(findings, &by_keeper, extras);
        let page = if findings.plan.threads > 1 {
            thread::scope(|scope| {
                let page = scope.spawn(page);
                let lists = self.write_lists(findings, &by_keeper, observer);
                let page = page.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                lists.and(page)
            })?
        } else {
            self.write_lists(findings, &by_keeper, observer)?;
            page()?
        };
        self.page.write_bytes(page.as_bytes())?;
        // A cancelled report leaves nothing behind, because the files still have temporary names.
        not_cancelled(observer)
    }

    /// Writes all files that are lists.
    fn write_lists(
        &mut self,
        findings: &Findings<'_>,
        by_keeper: &ByKeeper<'_>,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        write_pairs(findings, observer, &mut self.pairs)?;
        write_clusters(findings, &by_keeper.removed, observer, &mut self.clusters)?;
        large::write(findings, &by_keeper.spared, observer, &mut self.large_clusters)?;
        write_reordered(findings, &mut self.reordered)?;
        write_rejects(findings.corpus, &findings.reading.rejected, &mut self.rejects)
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
    write_blocks(findings, &findings.decisions.removed, observer, out, |at, lines| {
        let Removed { document, of, similarity } = &findings.decisions.removed[at];
        let (id, of) = (findings.id(*document)?, findings.id(*of)?);
        write_to(lines, format_args!("{}\t{}\t{similarity:.6}\n", escape_field(&id), escape_field(&of)));
        Ok(())
    })
}

/// Writes the lines of all clusters. Blocks are cut at numbers of documents and not between clusters, because one
/// cluster can have as many members as there are documents.
fn write_clusters(
    findings: &Findings<'_>,
    by_keeper: &[&Removed],
    observer: &dyn Observer,
    out: &mut Output,
) -> Result<(), Error> {
    write_blocks(findings, by_keeper, observer, out, |at, lines| {
        let of = by_keeper[at].of;
        let is_first = at == 0 || by_keeper[at - 1].of != of;
        if is_first {
            let members = by_keeper[at..].partition_point(|removed| removed.of == of);
            begin_cluster(findings, of, members, lines)?;
        }
        add_member(findings, by_keeper[at], is_first, lines)?;
        if by_keeper.get(at + 1).is_none_or(|next| next.of != of) {
            lines.extend_from_slice(b"]}\n");
        }
        Ok(())
    })
}

/// Writes what `write` appends for each item, in the order of the items. Several threads write a block each.
fn write_blocks<T>(
    findings: &Findings<'_>,
    items: &[T],
    observer: &dyn Observer,
    out: &mut Output,
    write: impl Fn(usize, &mut Vec<u8>) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let items = items.len();
    let work = |(): &mut (), block: usize| -> Result<Vec<u8>, Error> {
        not_cancelled(observer)?;
        let mut lines = vec![];
        (block * BLOCK..items.min((block + 1) * BLOCK)).try_for_each(|at| write(at, &mut lines))?;
        Ok(lines)
    };
    let receive = |lines: Vec<u8>| Ok(out.write_bytes(&lines)?);
    parallel::in_order(items.div_ceil(BLOCK), findings.plan.threads, || (), work, receive)
}

fn write_to(lines: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    lines.write_fmt(text).expect("a vector takes all bytes");
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

/// Writes the line of a large cluster. Members are written one by one, because a cluster can have as many members as
/// there are documents.
fn write_large_cluster(
    findings: &Findings<'_>,
    cluster: &[&Removed],
    LargeClusterSummary { passages, no_passages }: &LargeClusterSummary,
    out: &mut Output,
) -> Result<(), Error> {
    let mut line = vec![];
    begin_cluster(findings, cluster[0].of, cluster.len(), &mut line)?;
    for (at, removed) in cluster.iter().enumerate() {
        add_member(findings, removed, at == 0, &mut line)?;
        out.write_bytes(&line)?;
        line.clear();
    }
    write_to(&mut line, format_args!("],\"passages\":{}", json(passages)));
    if let Some(reason) = no_passages {
        write_to(&mut line, format_args!(",\"no_passages\":{}", json(reason)));
    }
    line.extend_from_slice(b"}\n");
    Ok(out.write_bytes(&line)?)
}

/// Appends the line of a cluster up to its members.
fn begin_cluster(
    findings: &Findings<'_>,
    keeper: u32,
    members: usize,
    line: &mut Vec<u8>,
) -> Result<(), Error> {
    let (keeper, size) = (findings.id(keeper)?, members + 1);
    write_to(line, format_args!("{{\"cluster\":{},\"size\":{size},\"members\":[", json(&*keeper)));
    Ok(())
}

/// Appends a member to the line of its cluster.
fn add_member(
    findings: &Findings<'_>,
    removed: &Removed,
    is_first: bool,
    line: &mut Vec<u8>,
) -> Result<(), Error> {
    let member = MemberOfCluster { id: findings.id(removed.document)?, similarity: removed.similarity };
    line.extend_from_slice(if is_first { b"" } else { b"," });
    line.extend_from_slice(json(&member).as_bytes());
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

/// Returns JSON in which control characters and marks of direction are escaped, because ids can attack terminals.
fn json(value: &(impl Serialize + ?Sized)) -> String {
    let json =
        serde_json::to_string(value).expect("strings and finite numbers can always be written as JSON");
    visible_json(&json).into_owned()
}
