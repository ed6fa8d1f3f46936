//! The alignment share: whether two documents have their shared shingles at the same places.
//!
//! - **Paper.** The idea is that of Sectional `MinHash`, computed exactly.
//! - **Idea.** The place of a shingle is a number from 0 to 1: the position of its first occurrence over the number of
//!   positions. The alignment share of a pair is the share of its common shingles whose places differ by at most
//!   [`TOLERANCE`]. Light edits and insertions leave the share near 1. Paragraphs in another order reduce the share to
//!   about 0.19, which is the value for random places.
//! - **Differs.** [Hassanian-esfahani 2018](crate#sources), §4, cuts documents into sections, and an insertion moves
//!   shingles across the cuts (E-12). A tolerance for places has no cuts.
//! - **Use when** the same passages in another order are to count as another document.

use crate::sort::sort_mixed;

/// Greatest difference between the two places of a shingle that still counts as the same place.
pub const TOLERANCE: f64 = 0.1;

/// Returns the alignment share of two documents, given their shingles in document order. For documents that share no
/// shingle it is 1.
#[must_use]
pub fn alignment_share(a: &[u64], b: &[u64]) -> f64 {
    let (places_a, places_b) = (first_places(a), first_places(b));
    let (mut common, mut aligned) = (0usize, 0usize);
    let (mut i, mut j) = (0, 0);
    while let (Some(&(x, at_x)), Some(&(y, at_y))) = (places_a.get(i), places_b.get(j)) {
        if x == y {
            let place_x = f64::from(at_x) / a.len() as f64;
            let place_y = f64::from(at_y) / b.len() as f64;
            common += 1;
            aligned += usize::from((place_x - place_y).abs() <= TOLERANCE);
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    if common == 0 { 1.0 } else { aligned as f64 / common as f64 }
}

/// Returns every distinct shingle with the index of its first occurrence, sorted by shingle.
fn first_places(shingles: &[u64]) -> Vec<(u64, u32)> {
    let mut places: Vec<(u64, u32)> = shingles.iter().copied().zip(0..).collect();
    sort_mixed(&mut places, &mut vec![]);
    places.dedup_by_key(|place| place.0);
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{SplitMix64, fmix64};

    fn document(range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(fmix64).collect()
    }

    #[test]
    fn the_same_order_is_aligned() {
        assert_eq!(alignment_share(&document(0..500), &document(0..500)), 1.0);
        assert_eq!(alignment_share(&document(0..500), &document(600..700)), 1.0);
        assert_eq!(alignment_share(&[], &document(0..5)), 1.0);
    }

    #[test]
    fn a_tenth_inserted_in_front_does_not_hurt() {
        let mut longer = document(5000..5100);
        longer.extend(document(0..1000));
        assert_eq!(alignment_share(&document(0..1000), &longer), 1.0);
    }

    #[test]
    fn swapped_halves_are_not_aligned() {
        let swapped = [document(500..1000), document(0..500)].concat();
        assert_eq!(alignment_share(&document(0..1000), &swapped), 0.0);
    }

    /// Two random places differ by at most a tenth with probability 1 − 0.9² = 0.19.
    #[test]
    fn shuffled_passages_are_aligned_by_chance_only() {
        let mut random = SplitMix64::new(4);
        let mut passages: Vec<u64> = (0..200).collect();
        let mut sum = 0.0;
        for _ in 0..50 {
            for left in (1..passages.len()).rev() {
                passages.swap(left, (random.next_u64() % (left as u64 + 1)) as usize);
            }
            let shuffled: Vec<u64> = passages.iter().flat_map(|&p| document(p * 5..p * 5 + 5)).collect();
            sum += alignment_share(&document(0..1000), &shuffled);
        }
        let mean = sum / 50.0;
        // The standard deviation is 0.03 for one shuffle, and therefore 0.004 for the mean of 50.
        assert!((mean - 0.19).abs() < 0.017, "{mean}");
    }

    #[test]
    fn the_first_occurrence_counts() {
        let mut repeated = document(0..100);
        repeated.extend(document(0..100));
        // In the doubled text all places are halved. The first fifth of the shingles and one more therefore stay within
        // a tenth.
        assert_eq!(alignment_share(&document(0..100), &repeated), 0.21);
    }
}
