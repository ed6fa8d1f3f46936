//! The report's list of large clusters, with passages that their documents share.

use std::cmp::Reverse;

use minwise::Observer;
use minwise_corpus::Output;
use serde::Serialize;

use super::write_large_cluster;
use crate::decide::Removed;
use crate::error::{Error, ErrorKind};
use crate::output::Findings;
use crate::output::findings::SHORT_BYTES;
use crate::parallel;
use crate::verify::compare::compare;

/// Number of members per cluster that are compared with the keeper to find passages.
const COMPARED: usize = 3;
/// Number of clusters, the largest first, whose passages are shown. The number is bounded because each cluster takes as
/// long as reading a few documents.
const WITH_PASSAGES: usize = 1000;
/// Maximum number of characters of a passage that are shown.
const SHOWN: usize = 400;

/// Passage that the keeper shares with a member.
#[derive(Serialize)]
pub(super) struct SharedText {
    member: String,
    text: String,
}

/// Part of a large cluster's line that describes the shared passages.
pub(super) struct LargeClusterSummary {
    pub(super) passages: Vec<SharedText>,
    /// The reason why no passages were searched for.
    pub(super) no_passages: Option<String>,
}

impl LargeClusterSummary {
    /// Makes a summary without passages, for the reason given.
    fn without(reason: String) -> Self {
        Self { passages: vec![], no_passages: Some(reason) }
    }
}

/// Writes one line per large cluster, in the order of the keepers.
pub(super) fn write(
    findings: &Findings<'_>,
    spared_by_keeper: &[&Removed],
    observer: &dyn Observer,
    out: &mut Output,
) -> Result<(), Error> {
    let clusters: Vec<&[&Removed]> = spared_by_keeper.chunk_by(|a, b| a.of == b.of).collect();
    let mut largest: Vec<usize> = (0..clusters.len()).collect();
    largest.sort_by_key(|&number| Reverse(clusters[number].len()));
    largest.truncate(WITH_PASSAGES);
    largest.sort_unstable();
    let work = |(): &mut (), number: usize| -> Result<_, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let shown = match largest.binary_search(&number) {
            Ok(_) => passages(findings, clusters[number])?,
            Err(_) => LargeClusterSummary::without(format!(
                "passages are looked for in the {WITH_PASSAGES} largest clusters only"
            )),
        };
        Ok((number, shown))
    };
    let write = |(number, shown): (usize, LargeClusterSummary)| {
        write_large_cluster(findings, clusters[number], &shown, out)
    };
    parallel::in_order(clusters.len(), findings.plan.threads, || (), work, write)
}

/// Finds the longest passages that the keeper shares with members from the start, the middle and the end of a cluster.
fn passages(findings: &Findings<'_>, cluster: &[&Removed]) -> Result<LargeClusterSummary, Error> {
    let too_long = || {
        LargeClusterSummary::without(format!(
            "passages are not looked for in documents of more than {} MiB",
            SHORT_BYTES >> 20
        ))
    };
    let Some(keeper) = findings.short_text(cluster[0].of)? else { return Ok(too_long()) };
    let mut chosen: Vec<usize> =
        (0..COMPARED).map(|nth| (cluster.len() - 1) * nth / (COMPARED - 1)).collect();
    chosen.dedup();
    let (mut found, mut compared): (Vec<SharedText>, bool) = (vec![], false);
    for member in chosen.into_iter().map(|at| cluster[at]) {
        let Some(other) = findings.short_text(member.document)? else { continue };
        compared = true;
        let plan = findings.plan;
        let comparison = compare(&keeper, &other, &plan.spec, &plan.weighing)?;
        let Some(longest) = comparison.passages.first() else { continue };
        let shared: String = keeper[longest.left.clone()].chars().take(SHOWN).collect();
        if found.iter().all(|before| before.text != shared) {
            let member = findings.id(member.document)?.into_owned();
            found.push(SharedText { member, text: shared });
        }
    }
    Ok(if compared { LargeClusterSummary { passages: found, no_passages: None } } else { too_long() })
}
