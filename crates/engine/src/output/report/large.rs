//! Large clusters, with what their documents have in common.

use std::cmp::Reverse;

use minwise::Observer;
use minwise_corpus::{Corpus, Output, Scratch};
use serde::Serialize;

use super::page::READ_BYTES;
use super::write_cluster;
use crate::decide::Removed;
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::read::Reading;
use crate::settings::Plan;
use crate::verify::compare::compare;

/// Members that the keeper is compared with for a passage.
const COMPARED: usize = 3;
/// Clusters, the largest ones, of which passages are shown: each takes as long as reading a few documents.
const WITH_PASSAGES: usize = 1000;
/// Characters of a passage that are shown.
const SHOWN: usize = 400;

/// What the keeper shares with a member.
#[derive(Serialize)]
pub(crate) struct SharedText {
    member: String,
    text: String,
}

/// What is said of a large cluster besides its members.
pub(crate) struct Shown {
    pub(crate) passages: Vec<SharedText>,
    /// Why none were looked for.
    pub(crate) no_passages: Option<String>,
}

impl Shown {
    /// No passages, since they were not looked for.
    fn without(reason: String) -> Self {
        Self { passages: vec![], no_passages: Some(reason) }
    }
}

/// Writes a line for each large cluster, by its keeper.
pub(crate) fn write(
    corpus: &Corpus,
    reading: &Reading,
    spared_by_keeper: &[&Removed],
    plan: &Plan,
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
            Ok(_) => passages(corpus, reading, plan, clusters[number])?,
            Err(_) => Shown::without(format!("looked for in the {WITH_PASSAGES} largest clusters only")),
        };
        Ok((number, shown))
    };
    let write =
        |(number, shown): (usize, Shown)| write_cluster(corpus, reading, clusters[number], Some(&shown), out);
    parallel::in_order(clusters.len(), plan.threads, || (), work, write)
}

/// The longest passages that the keeper shares with members from the start, the middle and the end of a cluster.
fn passages(corpus: &Corpus, reading: &Reading, plan: &Plan, cluster: &[&Removed]) -> Result<Shown, Error> {
    // None of a document that is too long to be looked through for the sake of a few lines.
    let text = |document: u32| -> Result<Option<String>, Error> {
        let place = reading.documents.place(document)?;
        if place.len > READ_BYTES {
            return Ok(None);
        }
        Ok(Some(corpus.read(&place, &mut Scratch::new())?.text.into_owned()))
    };
    let too_long =
        || Shown::without(format!("documents of more than {} MiB are not looked through", READ_BYTES >> 20));
    let Some(keeper) = text(cluster[0].of)? else { return Ok(too_long()) };
    let mut chosen: Vec<usize> =
        (0..COMPARED).map(|nth| (cluster.len() - 1) * nth / (COMPARED - 1)).collect();
    chosen.dedup();
    let (mut found, mut compared): (Vec<SharedText>, bool) = (vec![], false);
    for member in chosen.into_iter().map(|at| cluster[at]) {
        let Some(other) = text(member.document)? else { continue };
        compared = true;
        let comparison = compare(&keeper, &other, &plan.spec, &plan.weighing)?;
        let Some(longest) = comparison.passages.first() else { continue };
        let shared: String = keeper[longest.left.clone()].chars().take(SHOWN).collect();
        if found.iter().all(|before| before.text != shared) {
            let member = reading.documents.id(member.document, corpus)?.into_owned();
            found.push(SharedText { member, text: shared });
        }
    }
    Ok(if compared { Shown { passages: found, no_passages: None } } else { too_long() })
}
