//! Least ranks of two sets under a random permutation of a small range.
//!
//! If sets fill a large part of the permuted range, bits of the least ranks agree more often than bits of mixed hash
//! values. The formulas of Yuan 2012, (5) to (9), have terms for this. The library mixes its hash values, so the effect
//! of these terms does not occur in its sketches; only this simulation has it.

use super::Random;

/// Two sets in a range, by the count of numbers in both, in one only, and in neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Universe {
    both: u64,
    only_a: u64,
    only_b: u64,
    range: u64,
}

impl Universe {
    /// Returns sets that fill the shares `a` and `b` of a range and have this similarity, up to rounding to whole
    /// numbers. Returns `None` if the range is too small.
    pub fn new(range: u64, a: f64, b: f64, similarity: f64) -> Option<Self> {
        let size = |share: f64| (share * range as f64).round() as u64;
        let (a, b) = (size(a), size(b));
        let both = (similarity / (1.0 + similarity) * (a + b) as f64).round() as u64;
        let fits = both <= a.min(b) && a + b - both <= range && both > 0;
        fits.then(|| Self { both, only_a: a - both, only_b: b - both, range })
    }

    /// Returns the similarity of the sets.
    pub fn similarity(&self) -> f64 {
        self.both as f64 / (self.both + self.only_a + self.only_b) as f64
    }

    /// Returns the share of the range that each set fills.
    pub fn shares(&self) -> (f64, f64) {
        let share = |only: u64| (self.both + only) as f64 / self.range as f64;
        (share(self.only_a), share(self.only_b))
    }

    /// Returns the least rank of each set under one permutation. The permutation is drawn only up to the larger of the
    /// two ranks.
    pub fn minima(&self, random: &mut Random) -> (u64, u64) {
        let Self { mut both, mut only_a, mut only_b, .. } = *self;
        let (mut a, mut b) = (None, None);
        for rank in 0.. {
            let drawn = random.below(self.range - rank);
            if drawn < both {
                both -= 1;
                a = a.or(Some(rank));
                b = b.or(Some(rank));
            } else if drawn < both + only_a {
                only_a -= 1;
                a = a.or(Some(rank));
            } else if drawn < both + only_a + only_b {
                only_b -= 1;
                b = b.or(Some(rank));
            }
            if let (Some(a), Some(b)) = (a, b) {
                return (a, b);
            }
        }
        // Both sets have members, so the loop returns before the ranks are used up.
        (0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_ranks_agree_as_often_as_the_sets_are_similar() {
        let universe = Universe::new(1000, 0.5, 0.3, 1.0 / 3.0).unwrap();
        assert_eq!(universe.shares(), (0.5, 0.3));
        let mut random = Random::new(1, &[]);
        let n = 20_000;
        let ranks: Vec<(u64, u64)> = (0..n).map(|_| universe.minima(&mut random)).collect();
        let share = ranks.iter().filter(|(a, b)| a == b).count() as f64 / f64::from(n);
        let p = universe.similarity();
        assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt(), "{share} {p}");
        // The least of f of D ranks, counted from 0, has the mean (D − f)/(f + 1). Its variance is below the sum of the
        // mean and its square.
        let mean = ranks.iter().map(|&(a, _)| a as f64).sum::<f64>() / f64::from(n);
        let expected = 500.0 / 501.0;
        assert!((mean - expected).abs() < 5.0 * (2.0 / f64::from(n)).sqrt(), "{mean} {expected}");
    }

    #[test]
    fn there_must_be_room() {
        assert!(Universe::new(1000, 0.9, 0.9, 0.5).is_none());
        assert!(Universe::new(1000, 0.9, 0.9, 0.85).is_some());
        assert!(Universe::new(1000, 0.5, 0.1, 0.9).is_none());
    }
}
