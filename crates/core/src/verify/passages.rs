//! The passages that two documents share.
//!
//! Idea       A passage is a maximal run of equal shingles in both documents. The shingles of one are looked up by
//!            value, every hit is followed as far as it goes, and the longest run wins; the search goes on behind it.
//!            Passages may be in another order in the other document, which an edit script could not show.
//! Cost       O(n log n) for texts without much repetition; a shingle that occurs often is followed from a few of its
//!            places only.

use std::collections::BTreeMap;

use crate::sort::sort_mixed;

/// Places of one shingle that are followed. A text that repeats itself more often than this gains nothing from more.
const FOLLOWED: usize = 16;

/// A stretch of shingles found in both documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Index of its first shingle in the left document.
    pub left: usize,
    /// Index of its first shingle in the right document.
    pub right: usize,
    /// How many shingles it has in a row.
    pub shingles: usize,
}

/// The passages that two documents share, in the order of the left one, where they do not overlap.
///
/// The arguments are the shingles in order, as [`Shingles::hashes`](crate::shingle::Shingles::hashes) gives them.
#[must_use]
pub fn shared_passages(left: &[u64], right: &[u64]) -> Vec<Passage> {
    let mut places: Vec<(u64, u32)> = right.iter().zip(0..).map(|(&hash, at)| (hash, at)).collect();
    sort_mixed(&mut places, &mut vec![]);

    let mut passages: Vec<Passage> = vec![];
    let mut at = 0;
    while let Some(&hash) = left.get(at) {
        let first = places.partition_point(|place| place.0 < hash);
        // Where the passage before went on is followed first, so that equal runs do not jump about.
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
    passages
}

/// For each passage, whether it was moved: whether it stands out of the order that most shared text is in.
///
/// That order is the chain of passages, each behind the one before in both documents, that has the most shingles. `passages`
/// are in the order of the left document, as [`shared_passages`] gives them.
#[must_use]
pub fn moved(passages: &[Passage]) -> Vec<bool> {
    // By the place on the right, the best chain that ends there: only those that are better than all before them.
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
        // The same place on the right twice: it can be in its order only once.
        assert_eq!(moved(&[passage(0, 5, 2), passage(7, 5, 2)]), [false, true]);
        assert!(moved(&[]).is_empty());
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
        }
    }
}
