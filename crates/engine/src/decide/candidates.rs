//! Lists the pairs that share a band. Documents are not compared, and shelves have no limit.

use minwise::Observer;
use minwise_corpus::Corpus;

use super::pairs::with_ids;
use crate::candidate;
use crate::candidate::order::KeeperOrder;
use crate::error::{Error, ErrorKind};
use crate::read::Reading;
use crate::read::documents::{RowChoice, RowReader};
use crate::settings::Plan;

/// Number of pairs between two checks whether the observer has cancelled.
const PAIRS_BETWEEN: u64 = 1 << 16;

/// Visits every pair that shares a band, once, with the numbers of all shared bands, counted from 1. Pairs come in the
/// order of their first shared band. With `of`, only the pairs of these documents are visited.
pub(crate) fn for_each_candidate(
    corpus: &Corpus,
    reading: &Reading,
    of: Option<&[String]>,
    plan: &Plan,
    observer: &dyn Observer,
    mut visit: impl FnMut([u32; 2], &[usize]) -> Result<(), Error>,
) -> Result<(), Error> {
    let documents = &reading.documents;
    let wanted = of.map(|ids| with_ids(ids, corpus, reading)).transpose()?.map(|found| {
        let mut wanted = vec![false; documents.len()];
        for document in found {
            wanted[document as usize] = true;
        }
        wanted
    });
    let is_wanted = |document: u32| wanted.as_ref().is_none_or(|wanted| wanted[document as usize]);
    // In input order, the place of a document is its number.
    let order = KeeperOrder::of_input(documents.len());
    let groups =
        candidate::by_bands(documents, |document| documents.has_shingles(document), &order, plan, observer)?;
    let (layout, bands) = (plan.rows()?, plan.banding.bands());
    let mut rows = RowReader::new(documents, RowChoice::Sketch);
    let mut shared = vec![];
    let mut looked_at = 0_u64;
    let mut list = |band: usize, first: u32, second: u32| -> Result<(), Error> {
        looked_at += 1;
        if looked_at.is_multiple_of(PAIRS_BETWEEN) && observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let (a, b) = rows.pair(first, second)?;
        let agree = |band: &usize| layout.key(*band, a) == layout.key(*band, b);
        if (0..band).any(|earlier| agree(&earlier)) {
            return Ok(());
        }
        shared.clear();
        shared.extend((band..bands).filter(agree).map(|band| band + 1));
        visit([first, second], &shared)
    };
    let mut wanted_here = vec![];
    let mut list_group = |band: usize, group: &[u32]| -> Result<(), Error> {
        wanted_here.clear();
        for (at, &second) in group.iter().enumerate() {
            let is_second_wanted = is_wanted(second);
            let firsts = if is_second_wanted { &group[..at] } else { &wanted_here };
            firsts.iter().try_for_each(|&first| list(band, first, second))?;
            if is_second_wanted {
                wanted_here.push(second);
            }
        }
        Ok(())
    };
    let mut result = Ok(());
    groups.for_each(|band, group| {
        if result.is_ok() {
            result = list_group(band as usize, group);
        }
    })?;
    result
}
