//! The passages that two documents share.
//!
//! - **Idea.** A passage is a maximal run of equal shingles in both documents. A place is the index of a shingle in its
//!   document. The shingles of one document are looked up by value, every match is extended as far as possible, and the
//!   longest run is taken. The search then continues after this run. Passages may be in another order in the other
//!   document, which an edit script could not show. Adjoining passages may be two parts of a longer run. In that case a
//!   second search finds the longest run of all, and the other passages are found on both sides of it.
//! - **Cost.** O(n log n) for texts without much repetition. A frequent shingle is followed from only a few of its
//!   places. The longest run takes O(n log² n), for texts with any repetition.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::hash::fmix64;
use crate::sort::sort_mixed;

/// Greatest number of places of one shingle that are followed.
const FOLLOWED: usize = 16;

/// A stretch of shingles found in both documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// Index of the first shingle of the passage in the left document.
    pub left: usize,
    /// Index of the first shingle of the passage in the right document.
    pub right: usize,
    /// Number of consecutive shingles in the passage.
    pub shingles: usize,
}

impl Passage {
    /// Makes a passage of `shingles` shingles that begins at these indices of the two documents.
    #[must_use]
    pub fn new(left: usize, right: usize, shingles: usize) -> Self {
        Self { left, right, shingles }
    }
}

/// Returns the passages that two documents share, in the order of the left document. Passages do not overlap in the
/// left document.
///
/// The passages cover every shingle of the left document that the right document also has. The longest run that both
/// documents have is one of the passages. The arguments are the shingles in document order, as
/// [`Shingles::hashes`](crate::shingle::Shingles::hashes) returns them.
#[must_use]
pub fn shared_passages(left: &[u64], right: &[u64]) -> Vec<Passage> {
    let mut places: Vec<(u64, u32)> = right.iter().zip(0..).map(|(&hash, at)| (hash, at)).collect();
    sort_mixed(&mut places, &mut vec![]);

    let mut passages = vec![];
    walk(left, right, &places, 0..left.len(), &mut passages);
    let longest = passages.iter().map(|passage| passage.shingles).max();
    // A run cannot extend beyond adjoining passages, because the next shingle is not in the other document.
    let bound = passages
        .chunk_by(|a, b| a.left + a.shingles == b.left)
        .map(|adjoining| adjoining.iter().map(|passage| passage.shingles).sum())
        .max();
    if bound > longest
        && let Some(run) = longest_run(left, right).filter(|run| Some(run.shingles) > longest)
    {
        passages.clear();
        walk(left, right, &places, 0..run.left, &mut passages);
        passages.push(run);
        walk(left, right, &places, run.left + run.shingles..left.len(), &mut passages);
    }
    passages
}

/// Appends the passages of a part of the left document: the longest passage that begins with its first shingle, then
/// the longest one that begins after it, and so on.
fn walk(left: &[u64], right: &[u64], places: &[(u64, u32)], part: Range<usize>, passages: &mut Vec<Passage>) {
    let left = &left[..part.end];
    let mut at = part.start;
    while let Some(&hash) = left.get(at) {
        let first = places.partition_point(|place| place.0 < hash);
        // The place after the last passage is followed first. If several runs are equally long, the run that continues
        // the last passage is thus taken.
        let next = passages.last().map(|passage| passage.right + passage.shingles);
        let hits = places[first..].iter().take_while(|place| place.0 == hash).map(|place| place.1 as usize);
        let longest = hits
            .take(FOLLOWED)
            .map(|right_at| Passage {
                left: at,
                right: right_at,
                shingles: run(&left[at..], &right[right_at..]),
            })
            .max_by_key(|passage| {
                (passage.shingles, Some(passage.right) == next, usize::MAX - passage.right)
            });
        at += longest.map_or(1, |passage| passage.shingles);
        passages.extend(longest);
    }
}

/// Returns the longest run that two documents share, and the first one if several are equally long. Returns `None` if
/// the documents share no shingle.
///
/// The length is doubled as long as the documents share a run of this length. Bisection then finds the exact length.
/// Names identify runs of one length, and the names of its beginning and its end identify a run of up to twice that
/// length.
fn longest_run(left: &[u64], right: &[u64]) -> Option<Passage> {
    let mut names = Names::of(left.iter().copied().map(Some), right.iter().copied().map(Some))?;
    let mut shingles = 1;
    while let Some(longer) = names.of_two(shingles) {
        names = longer;
        shingles *= 2;
    }
    let (mut best, mut more, mut too_many) = (None, 0, shingles);
    while too_many - more > 1 {
        let apart = more.midpoint(too_many);
        match names.of_two(apart) {
            Some(longer) => (best, more) = (Some(longer), apart),
            None => too_many = apart,
        }
    }
    let Names { left, right } = best.unwrap_or(names);
    let (left_at, name) = left.iter().enumerate().find(|(_, name)| name.is_some())?;
    let right_at = right.iter().position(|other| other == name)?;
    Some(Passage { left: left_at, right: right_at, shingles: shingles + more })
}

/// For each place of two documents, the name of the run that begins there. All runs have the same length. Equal runs
/// have equal names. A run that is in only one document has no name.
struct Names {
    left: Vec<Option<u32>>,
    right: Vec<Option<u32>>,
}

impl Names {
    /// Gives names to the values, equal names to equal values; returns `None` if no value is in both documents.
    fn of(left: impl Iterator<Item = Option<u64>>, right: impl Iterator<Item = Option<u64>>) -> Option<Self> {
        let (left, mut names_left) = sorted(left);
        let (right, mut names_right) = sorted(right);
        let mut rest = &right[..];
        let mut next = 0;
        for here in left.chunk_by(|a, b| a.0 == b.0) {
            let value = here[0].0;
            rest = &rest[rest.iter().take_while(|place| place.0 < value).count()..];
            let there = rest.iter().take_while(|place| place.0 == value).count();
            if there > 0 {
                for place in here {
                    names_left[place.1 as usize] = Some(next);
                }
                for place in &rest[..there] {
                    names_right[place.1 as usize] = Some(next);
                }
                next += 1;
            }
        }
        (next > 0).then_some(Self { left: names_left, right: names_right })
    }

    /// Returns the names of the runs whose length is that of these runs plus `apart`. Such a run is covered by two of
    /// these runs, so `apart` must be at most their length.
    fn of_two(&self, apart: usize) -> Option<Self> {
        Self::of(pairs(&self.left, apart), pairs(&self.right, apart))
    }
}

/// Returns each name combined with the name `apart` places after it, as one value.
fn pairs(names: &[Option<u32>], apart: usize) -> impl Iterator<Item = Option<u64>> {
    // Where fewer than `apart` names follow, no run of the new length begins. Values are mixed, because mixed values
    // are sorted quickly, and mixing keeps different values different.
    names
        .iter()
        .zip(names.iter().skip(apart))
        .map(|(begin, end)| Some(fmix64(u64::from((*begin)?) << 32 | u64::from((*end)?))))
}

/// Returns the values with their places, in ascending order, and a list with room for one name per place.
fn sorted(values: impl Iterator<Item = Option<u64>>) -> (Vec<(u64, u32)>, Vec<Option<u32>>) {
    let (mut places, mut names) = (vec![], vec![]);
    for (value, at) in values.zip(0..) {
        places.extend(value.map(|value| (value, at)));
        names.push(None);
    }
    sort_mixed(&mut places, &mut vec![]);
    (places, names)
}

/// Reports for each passage whether it was moved, that is, whether it is out of the order of most of the shared text.
///
/// The passages that were not moved are the chain with the most shingles in which each passage comes after the previous
/// one in both documents. `passages` must be in the order of the left document, as [`shared_passages`] returns them.
#[must_use]
pub fn moved(passages: &[Passage]) -> Vec<bool> {
    // Map from an end in the right document to the best chain that ends there. A chain is kept only if it is better
    // than all chains that end earlier.
    let mut best: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut before: Vec<Option<usize>> = vec![];
    for (number, passage) in passages.iter().enumerate() {
        let chain = best.range(..=passage.right).next_back().map(|(_, &chain)| chain);
        let weight = chain.map_or(0, |chain| chain.0) + passage.shingles;
        before.push(chain.map(|chain| chain.1));
        let end = passage.right + passage.shingles;
        if best.range(..=end).next_back().is_some_and(|(_, other)| other.0 >= weight) {
            continue;
        }
        while let Some((&later, _)) = best.range(end..).next().filter(|(_, other)| other.0 <= weight) {
            best.remove(&later);
        }
        best.insert(end, (weight, number));
    }
    let mut moved = vec![true; passages.len()];
    let mut at = best.last_key_value().map(|(_, chain)| chain.1);
    while let Some(number) = at {
        moved[number] = false;
        at = before[number];
    }
    moved
}

fn run(left: &[u64], right: &[u64]) -> usize {
    left.iter().zip(right).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passage(left: usize, right: usize, shingles: usize) -> Passage {
        Passage { left, right, shingles }
    }

    #[test]
    fn equal_documents_share_one_passage() {
        assert_eq!(shared_passages(&[1, 2, 3], &[1, 2, 3]), [passage(0, 0, 3)]);
        assert_eq!(shared_passages(&[5; 100], &[5; 100]), [passage(0, 0, 100)]);
    }

    #[test]
    fn moved_passages_are_found_where_they_went() {
        assert_eq!(
            shared_passages(&[1, 2, 3, 4, 5, 6], &[4, 5, 6, 9, 1, 2, 3]),
            [passage(0, 4, 3), passage(3, 0, 3)]
        );
    }

    #[test]
    fn the_longest_of_several_runs_is_taken() {
        assert_eq!(shared_passages(&[1, 2, 3, 4], &[1, 2, 9, 1, 2, 3, 4]), [passage(0, 3, 4)]);
    }

    #[test]
    fn a_run_that_begins_within_another_is_not_cut_off() {
        let left: Vec<u64> = (1..=26).collect();
        let right: Vec<u64> = (1..=8).chain([100]).chain(6..=26).chain([101]).collect();
        assert_eq!(shared_passages(&left, &right), [passage(0, 0, 5), passage(5, 9, 21)]);
    }

    #[test]
    fn a_run_is_found_however_often_its_beginning_is_there() {
        let run: Vec<u64> = (1..=21).collect();
        let before = (0..2 * FOLLOWED as u64).flat_map(|other| [1, 100 + other]);
        let right: Vec<u64> = before.chain(run.iter().copied()).collect();
        assert_eq!(shared_passages(&run, &right), [passage(0, 4 * FOLLOWED, 21)]);
    }

    #[test]
    fn texts_that_repeat_themselves_take_no_longer_than_others() {
        let mut random = crate::hash::SplitMix64::new(1);
        let mut bits = |count: usize| (0..count).map(|_| random.next_u64() % 2).collect::<Vec<u64>>();
        let (shared, left, right) = (bits(500), bits(100_000), bits(100_000));
        let left = [&left[..70_001], &shared, &left[70_001..]].concat();
        let right = [&right[..30_003], &shared, &right[30_003..]].concat();
        let longest = shared_passages(&left, &right).into_iter().max_by_key(|passage| passage.shingles);
        assert!(longest.is_some_and(|longest| longest.shingles >= 500), "{longest:?}");
    }

    #[test]
    fn nothing_in_common() {
        assert!(shared_passages(&[1, 2], &[3, 4]).is_empty());
        assert!(shared_passages(&[], &[3, 4]).is_empty());
        assert!(shared_passages(&[1], &[]).is_empty());
    }

    #[test]
    fn what_is_out_of_order_was_moved() {
        assert_eq!(moved(&[passage(0, 4, 2), passage(3, 0, 3)]), [true, false]);
        assert_eq!(moved(&[passage(0, 0, 2), passage(2, 9, 3), passage(6, 3, 2)]), [false, false, true]);
        assert_eq!(moved(&[passage(0, 0, 9), passage(9, 9, 1)]), [false, false]);
        // Both passages are at the same place on the right, so only one of them can be in order.
        assert_eq!(moved(&[passage(0, 5, 2), passage(7, 5, 2)]), [false, true]);
        assert!(moved(&[]).is_empty());
    }

    fn longest(passages: &[Passage]) -> usize {
        passages.iter().map(|passage| passage.shingles).max().unwrap_or(0)
    }

    /// Returns the length of the longest common run, by comparing every place with every other place.
    fn longest_by_all_places(left: &[u64], right: &[u64]) -> usize {
        let mut ending = vec![0; right.len() + 1];
        let mut longest = 0;
        for here in left {
            for (at, there) in right.iter().enumerate().rev() {
                ending[at + 1] = if here == there { ending[at] + 1 } else { 0 };
                longest = longest.max(ending[at + 1]);
            }
        }
        longest
    }

    proptest! {
        #[test]
        fn the_heaviest_chain_stays(
            runs in proptest::collection::vec((0usize..30, 1usize..5), 0..9),
        ) {
            let mut left = 0;
            let passages: Vec<Passage> = runs.iter().map(|&(right, shingles)| {
                let passage = passage(left, right, shingles);
                left += shingles;
                passage
            }).collect();
            let weight = |chosen: &dyn Fn(usize) -> bool| {
                let chain: Vec<&Passage> =
                    passages.iter().enumerate().filter(|(i, _)| chosen(*i)).map(|(_, p)| p).collect();
                let in_order = chain.windows(2).all(|two| two[0].right + two[0].shingles <= two[1].right);
                in_order.then(|| chain.iter().map(|p| p.shingles).sum::<usize>())
            };
            let moved = moved(&passages);
            let found = weight(&|i| !moved[i]);
            let best = (0..1usize << passages.len()).filter_map(|mask| weight(&|i| mask >> i & 1 == 1)).max();
            prop_assert_eq!(found, best);
        }

        #[test]
        fn passages_are_true_and_cover_every_shared_shingle(
            left in proptest::collection::vec(0u64..12, 0..40),
            right in proptest::collection::vec(0u64..12, 0..40),
        ) {
            let passages = shared_passages(&left, &right);
            let mut covered = vec![false; left.len()];
            for p in &passages {
                prop_assert!(p.shingles > 0);
                prop_assert_eq!(&left[p.left..p.left + p.shingles], &right[p.right..p.right + p.shingles]);
                for flag in &mut covered[p.left..p.left + p.shingles] {
                    prop_assert!(!*flag);
                    *flag = true;
                }
            }
            for (hash, covered) in left.iter().zip(covered) {
                prop_assert_eq!(covered, right.contains(hash));
            }
            prop_assert_eq!(longest(&passages), longest_by_all_places(&left, &right));
        }

        #[test]
        fn the_longest_run_is_there_however_much_is_repeated(
            left in proptest::collection::vec(0u64..3, 0..150),
            right in proptest::collection::vec(0u64..3, 0..150),
        ) {
            let found = longest_by_all_places(&left, &right);
            prop_assert_eq!(longest(&shared_passages(&left, &right)), found);
            prop_assert_eq!(longest_run(&left, &right).map_or(0, |run| run.shingles), found);
        }
    }
}
