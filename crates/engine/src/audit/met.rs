//! Which pairs the run had as candidates.
//!
//! Two documents met if they share a band and the earlier one stands on the shelf, among the first that the shelf took. The
//! earlier one may have been removed and not be there; it counts as met if the shelf had room for it when it came, because
//! another pair decided about it. Pairs that the filters of the run rejected did not meet.

use minwise::cluster::Clustering;

use super::AuditedRun;
use crate::candidate::neighbourhood::Candidates;
use crate::candidate::screen::{OrderScreen, Screen, Screened};
use crate::error::Error;
use crate::read::documents::{RowChoice, RowReader};
use crate::rows::RowLayout;

/// A pair, by the place of its earlier document in keeper order.
struct MetPair {
    earlier: u32,
    /// Bands that it shares, ascending, but for those whose shelf was full when the earlier document came.
    bands: Vec<u32>,
}

/// For each pair of documents that stand for their equals, whether it was a candidate.
pub(super) fn met(
    run: &AuditedRun<'_>,
    candidates: &Candidates,
    is_duplicate: impl Fn(u32) -> bool,
    pairs: &[(u32, u32)],
) -> Result<Vec<bool>, Error> {
    let AuditedRun { reading, order, plan, .. } = *run;
    let rows = plan.rows()?;
    let filters = Filters::new(run, &rows)?;
    let mut reader = RowReader::new(&reading.documents, RowChoice::Sketch);
    let mut placed_reader = RowReader::new(&reading.documents, RowChoice::Placed);
    let mut looked_at = Vec::with_capacity(pairs.len());
    for &(a, b) in pairs {
        let (row_a, row_b) = reader.pair(a, b)?;
        let same = |&band: &u32| rows.key(band as usize, row_a) == rows.key(band as usize, row_b);
        let mut bands: Vec<u32> = (0..rows.bands() as u32).filter(same).collect();
        if filters.reject(&rows, [row_a, row_b], || placed_reader.pair(a, b))? {
            bands.clear();
        }
        let [a, b] = [a, b].map(|document| order.place(document));
        looked_at.push(MetPair { earlier: a.min(b), bands });
    }
    // By components, all documents are put on their shelves.
    let is_put = |place: u32| plan.cluster == Clustering::Components || !is_duplicate(order.document(place));
    let mut by_earlier: Vec<&mut MetPair> = looked_at.iter_mut().collect();
    by_earlier.sort_unstable_by_key(|pair| pair.earlier);
    candidates.for_each_group(|band, group| leave_full(band, group, plan.shelf, is_put, &mut by_earlier))?;
    drop(by_earlier);
    Ok(looked_at.iter().map(|pair| !pair.bands.is_empty()).collect())
}

/// Takes a band from the pairs whose earlier document came to a full shelf there. `pairs` are in order of that document.
fn leave_full(
    band: u32,
    group: &[u32],
    most: usize,
    is_put: impl Fn(u32) -> bool,
    pairs: &mut [&mut MetPair],
) {
    let Some(last) = group.iter().copied().filter(|&place| is_put(place)).nth(most.saturating_sub(1)) else {
        return;
    };
    let late = pairs.partition_point(|pair| pair.earlier <= last);
    for pair in &mut pairs[late..] {
        if group.binary_search(&pair.earlier).is_ok() {
            pair.bands.retain(|&other| other != band);
        }
    }
}

/// What a run puts candidates aside by.
struct Filters {
    screen: Screen,
    order: Option<OrderScreen>,
}

impl Filters {
    fn new(run: &AuditedRun<'_>, rows: &RowLayout) -> Result<Self, Error> {
        let placed = run.reading.documents.shape().placed_words.is_some();
        let order = if placed { OrderScreen::new(run.plan)? } else { None };
        Ok(Self { screen: Screen::new(run.plan, rows)?, order })
    }

    /// Whether a pair was put aside, given its rows, and the other ones if they are asked for.
    fn reject<'r>(
        &self,
        rows: &RowLayout,
        [a, b]: [&[u32]; 2],
        placed: impl FnOnce() -> Result<(&'r [u32], &'r [u32]), Error>,
    ) -> Result<bool, Error> {
        if self.screen.rejects(rows, a, b, &mut Screened::default()) {
            return Ok(true);
        }
        let Some(order) = &self.order else { return Ok(false) };
        let (a, b) = placed()?;
        Ok(order.rejects(a, b).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bands that are left to a pair whose earlier document is on a shelf of a hundred in band 0, which takes three.
    fn bands(earlier: u32, is_put: impl Fn(u32) -> bool) -> Vec<u32> {
        let group: Vec<u32> = (0..100).collect();
        let mut pair = MetPair { earlier, bands: vec![0, 1] };
        leave_full(0, &group, 3, is_put, &mut [&mut pair]);
        // Three documents do not fill a shelf.
        leave_full(1, &[1, 2], 3, |_| true, &mut [&mut pair]);
        pair.bands
    }

    #[test]
    fn on_a_full_shelf_only_the_first_are_met() {
        assert_eq!(bands(2, |_| true), [0, 1]);
        assert_eq!(bands(3, |_| true), [1]);
        assert_eq!(bands(99, |_| true), [1]);
    }

    #[test]
    fn few_that_are_put_do_not_fill_a_shelf() {
        assert_eq!(bands(99, |place| place < 2), [0, 1]);
        assert_eq!(bands(50, |place| place % 50 == 0 || place == 70), [0, 1]);
        // The third that was put came before it.
        assert_eq!(bands(71, |place| place % 50 == 0 || place == 70), [1]);
    }

    #[test]
    fn other_shelves_of_the_band_do_not_matter() {
        let mut pair = MetPair { earlier: 200, bands: vec![0] };
        leave_full(0, &(0..100).collect::<Vec<_>>(), 3, |_| true, &mut [&mut pair]);
        assert_eq!(pair.bands, [0]);
    }
}
