//! Documents drawn with equal chances, without replacement.

use std::collections::BTreeSet;
use std::ops::Range;

use minwise::hash::{SplitMix64, fmix64};

/// Keeps the sequence apart from those that hash functions are made of.
const PURPOSE: u64 = 0x61_7564_6974;

/// `size` documents of a range, ascending; all of them if they are no more.
///
/// Floyd's way: every subset is as likely, in as many steps as there are documents to draw.
pub(super) fn draw(documents: Range<u32>, size: usize, seed: u64) -> Vec<u32> {
    let mut random = SplitMix64::new(fmix64(seed ^ PURPOSE));
    let all = documents.len();
    let mut drawn = BTreeSet::new();
    for last in all.saturating_sub(size)..all {
        // The upper half of a product: even but for one part in 2³².
        let any = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as u32;
        if !drawn.insert(documents.start + any) {
            drawn.insert(documents.start + last as u32);
        }
    }
    drawn.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_asked_for_and_none_twice() {
        for size in [0, 1, 7, 49, 50, 51, 1000] {
            let drawn = draw(100..150, size, 3);
            assert_eq!(drawn.len(), size.min(50));
            assert!(drawn.is_sorted_by(|a, b| a < b));
            assert!(drawn.iter().all(|document| (100..150).contains(document)));
        }
    }

    #[test]
    fn every_document_and_every_pair_of_them_is_as_likely() {
        let (mut single, mut both) = ([0u32; 10], [[0u32; 10]; 10]);
        for seed in 0..30_000 {
            let drawn = draw(0..10, 3, seed);
            for &a in &drawn {
                single[a as usize] += 1;
                for &b in &drawn {
                    both[a as usize][b as usize] += 1;
                }
            }
        }
        // Five standard deviations of a binomial count.
        let near = |count: u32, p: f64| {
            (f64::from(count) - 30_000.0 * p).abs() < 5.0 * (30_000.0 * p * (1.0 - p)).sqrt()
        };
        assert!(single.iter().all(|&count| near(count, 0.3)), "{single:?}");
        for (a, row) in both.iter().enumerate() {
            assert!(row.iter().enumerate().all(|(b, &count)| a == b || near(count, 1.0 / 15.0)), "{row:?}");
        }
    }
}
