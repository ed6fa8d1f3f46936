//! Which pairs the run had as candidates.
//!
//! Two documents met if they share a band whose shelf was never split, or one whose shelf was, and agree in what it asked
//! for besides. Shelves split by the documents that were put there, so what a shelf asked for is found by putting them
//! there again, in keeper order, and looking when the later document of a pair comes. The earlier one may have been
//! removed by then and not be there; it counts as met where the shelf asked for nothing in which the two differ, for
//! the decision about it was made by another pair. What the filters of the run put aside was not met.

use minwise::candidate::shelf::{Limits, Shelf};
use minwise::cluster::Cluster;

use super::Run;
use crate::candidate::neighbourhood::Candidates;
use crate::candidate::screen::{OrderScreen, Screen, Screened};
use crate::error::Error;
use crate::read::documents::{RowReader, Which};
use crate::rows::{CONNECTED, KEPT, Rows};

/// A pair, by places in keeper order.
struct Pair {
    earlier: u32,
    later: u32,
    /// Bands that it shares and whose shelves are not known to be crowded, ascending.
    bands: Vec<u32>,
    /// Whether it met on a crowded shelf.
    met: bool,
}

impl Pair {
    fn has_met(&self) -> bool {
        self.met || !self.bands.is_empty()
    }
}

/// For each pair of documents that stand for their equals, whether it was a candidate.
pub(super) fn met(
    run: &Run<'_>,
    candidates: &Candidates,
    is_duplicate: impl Fn(u32) -> bool,
    pairs: &[(u32, u32)],
) -> Result<Vec<bool>, Error> {
    let Run { reading, order, plan, .. } = *run;
    let rows = plan.rows()?;
    let filters = Filters::new(run, &rows)?;
    let mut reader = RowReader::new(&reading.documents, Which::Sketch);
    let mut placed_reader = RowReader::new(&reading.documents, Which::Placed);
    let mut looked_at = Vec::with_capacity(pairs.len());
    for &(a, b) in pairs {
        let (row_a, row_b) = reader.pair(a, b)?;
        let same = |&band: &u32| rows.key(band as usize, row_a) == rows.key(band as usize, row_b);
        let mut bands: Vec<u32> = (0..rows.bands() as u32).filter(same).collect();
        if filters.reject(&rows, [row_a, row_b], || placed_reader.pair(a, b))? {
            bands.clear();
        }
        let [a, b] = [a, b].map(|document| order.place(document));
        looked_at.push(Pair { earlier: a.min(b), later: a.max(b), bands, met: false });
    }
    let mut shelves = Shelves {
        limits: rows.limits(if plan.cluster == Cluster::Star { KEPT } else { CONNECTED }),
        // By components, all documents are put on their shelves.
        is_put: |place: u32| plan.cluster == Cluster::Components || !is_duplicate(order.document(place)),
        split_key: |band: u32, place: u32, split: usize| -> Result<u64, Error> {
            Ok(rows.split_key(band as usize, split, reader.row(order.document(place))?))
        },
    };
    shelves.visit_crowded(|visit| candidates.for_each_group(visit), &mut looked_at)?;
    Ok(looked_at.iter().map(Pair::has_met).collect())
}

/// What a run puts candidates aside by.
struct Filters {
    screen: Screen,
    order: Option<OrderScreen>,
}

impl Filters {
    fn new(run: &Run<'_>, rows: &Rows) -> Result<Self, Error> {
        let placed = run.reading.documents.shape().placed_words.is_some();
        let order = if placed { OrderScreen::new(run.plan)? } else { None };
        Ok(Self { screen: Screen::new(run.plan, rows)?, order })
    }

    /// Whether a pair was put aside, given its rows, and the other ones if they are asked for.
    fn reject<'r>(
        &self,
        rows: &Rows,
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

/// The shelves of a run, put up again as far as they were crowded.
struct Shelves<P, K> {
    limits: Limits,
    /// Whether the document at a place was put on its shelves.
    is_put: P,
    /// The key of a band, for a place and a split.
    split_key: K,
}

impl<P: Fn(u32) -> bool, K: FnMut(u32, u32, usize) -> Result<u64, Error>> Shelves<P, K> {
    /// Goes through the groups of documents that share a band, and takes the bands of crowded shelves from the pairs that
    /// share them; those that met there all the same are noted.
    fn visit_crowded(
        &mut self,
        for_each_group: impl FnOnce(&mut dyn FnMut(u32, &[u32])) -> Result<(), Error>,
        pairs: &mut [Pair],
    ) -> Result<(), Error> {
        let mut by_later: Vec<u32> = (0..pairs.len() as u32).collect();
        by_later.sort_unstable_by_key(|&pair| pairs[pair as usize].later);
        let mut failed = Ok(());
        for_each_group(&mut |band, group| {
            // A shelf is split by more documents than this, all of them of the group.
            if failed.is_ok() && group.len() > self.limits.most {
                failed = self.visit_shelf(band, group, &by_later, pairs);
            }
        })?;
        failed
    }

    fn visit_shelf(
        &mut self,
        band: u32,
        group: &[u32],
        by_later: &[u32],
        pairs: &mut [Pair],
    ) -> Result<(), Error> {
        let Self { limits, is_put, split_key } = self;
        // Of a family of near-copies few are put on a shelf, and it is not crowded.
        if group.iter().filter(|&&place| is_put(place)).nth(limits.most).is_none() {
            return Ok(());
        }
        let mut shelf = Shelf::default();
        let mut rest = by_later;
        for &later in group {
            rest = &rest[rest.partition_point(|&pair| pairs[pair as usize].later < later)..];
            if rest.is_empty() {
                break;
            }
            for &at in rest {
                let pair = &mut pairs[at as usize];
                if pair.later != later {
                    break;
                }
                let Ok(shared) = pair.bands.binary_search(&band) else { continue };
                pair.bands.remove(shared);
                let (there, asked) = shelf.visit(limits, |split| split_key(band, later, split))?;
                pair.met |= if is_put(pair.earlier) {
                    there.contains(&pair.earlier)
                } else {
                    let splits = asked.map_or(0, |asked| asked.registers as usize / limits.registers);
                    let mut agree = true;
                    for split in 0..splits {
                        agree &= split_key(band, pair.earlier, split)? == split_key(band, later, split)?;
                    }
                    agree
                };
            }
            if is_put(later) {
                shelf.put(later, limits, |place, split| split_key(band, place, split))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred documents in one band, split by the digits of their places when there are more than three.
    fn meet(earlier: u32, later: u32, bands: &[u32], is_put: impl Fn(u32) -> bool) -> Pair {
        let limits = Limits { most: 3, splits: 1, registers: 2, full: 3 };
        let split_key = |_: u32, place: u32, _: usize| Ok(u64::from(place % 10));
        let mut pairs = [Pair { earlier, later, bands: bands.to_vec(), met: false }];
        let group: Vec<u32> = (0..100).collect();
        Shelves { limits, is_put, split_key }
            .visit_crowded(
                |visit| {
                    visit(0, &group);
                    // Three documents are no crowd.
                    visit(1, &[1, 2, 3]);
                    Ok(())
                },
                &mut pairs,
            )
            .unwrap();
        let [pair] = pairs;
        pair
    }

    #[test]
    fn on_a_crowded_shelf_only_those_meet_that_agree_in_more() {
        assert!(meet(1, 11, &[0], |_| true).has_met());
        assert!(!meet(1, 12, &[0], |_| true).has_met());
        // Before it was split, they met.
        assert!(meet(1, 2, &[0], |_| true).has_met());
        // A band that they do not share is none in which they meet.
        assert!(!meet(1, 11, &[], |_| true).has_met());
    }

    #[test]
    fn few_that_are_put_do_not_split_a_shelf() {
        assert!(meet(1, 12, &[0], |place| place < 3).has_met());
        assert!(meet(40, 52, &[0], |place| place < 3).has_met());
        assert!(!meet(40, 52, &[0], |place| place < 4).has_met());
        assert!(meet(42, 52, &[0], |place| place < 4).has_met());
    }

    #[test]
    fn what_a_full_shelf_left_out_is_not_met() {
        // 1, 11 and 21 are there; 31 came to a shelf that was full.
        assert!(meet(21, 91, &[0], |_| true).has_met());
        assert!(!meet(31, 91, &[0], |_| true).has_met());
    }

    #[test]
    fn bands_that_are_not_crowded_stay() {
        assert_eq!(meet(1, 3, &[0, 1], |_| true).bands, [1]);
    }
}
