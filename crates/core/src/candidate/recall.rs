//! The recall that a run implies.
//!
//! Idea       A pair at similarity s is found with a known probability P(s), so each pair that was found stands for
//!            1/P(s) pairs that were there (Horvitz and Thompson, 1952). Of n found pairs, n / Σ 1/P(sᵢ) is the share
//!            found of all there are, which corrects for the pairs that were never seen.
//! Differs    Averaging P over the found pairs instead would be too high: pairs that are hard to find are rare among
//!            them because they are hard to find.

use super::tune::Curve;

/// Adds up found pairs and tells the share of all pairs that they are.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedRecall {
    curve: Curve,
    /// The share of candidates that is not put aside by mistake.
    passing: f64,
    found: f64,
    there: f64,
}

impl ExpectedRecall {
    /// No pairs yet, for candidates found along `curve`.
    #[must_use]
    pub fn new(curve: Curve) -> Self {
        Self { curve, passing: 1.0, found: 0.0, there: 0.0 }
    }

    /// The same for candidates of which a filter puts aside this share by mistake, at most.
    #[must_use]
    pub fn with_loss(self, share: f64) -> Self {
        Self { passing: self.passing * (1.0 - share), ..self }
    }

    /// A found pair whose registers agree with probability `p`.
    ///
    /// `shares` has, for each full shelf of the pair, the share of its documents that stand there
    /// ([`Shelves::share`](super::shelf::Shelves::share)).
    ///
    /// `pairs` says how many pairs stand or fall with it: documents with equal shingles share one sketch.
    pub fn add(&mut self, p: f64, shares: &[f64], pairs: u64) {
        self.found += pairs as f64;
        self.there += pairs as f64 / (self.passing * self.curve.probability_on_full_shelves(p, shares));
    }

    /// Pairs that are found whatever the bands, such as documents with equal shingles.
    pub fn add_certain(&mut self, pairs: u64) {
        self.found += pairs as f64;
        self.there += pairs as f64;
    }

    /// Takes in what another one has added up.
    pub fn merge(&mut self, other: &Self) {
        self.found += other.found;
        self.there += other.there;
    }

    /// What was added up so far, to be set down.
    #[must_use]
    pub fn sums(&self) -> [f64; 2] {
        [self.found, self.there]
    }

    /// Goes on from what was added up before.
    pub fn set_sums(&mut self, [found, there]: [f64; 2]) {
        (self.found, self.there) = (found, there);
    }

    /// The share of all pairs that was found; 1 when there was nothing to find.
    #[must_use]
    pub fn value(&self) -> f64 {
        if self.there > 0.0 { self.found / self.there } else { 1.0 }
    }
}

impl Curve {
    /// The probability that a pair meets, if some of its shelves are full and hold these shares of their documents.
    ///
    /// A shelf is full because its rows fell on what many documents share, and there the pair agrees more often than
    /// elsewhere; so it is taken to agree wherever a shelf is full, as far as its similarity allows. That is the cautious
    /// side: full shelves lose the more, the more of the agreement lies in them.
    #[must_use]
    pub fn probability_on_full_shelves(&self, p: f64, shares: &[f64]) -> f64 {
        if shares.is_empty() {
            return self.probability(p);
        }
        let taken = shares.iter().sum::<f64>() / shares.len() as f64;
        let agrees = self.band_probability(p);
        let full = agrees.min(shares.len() as f64 / self.bands());
        self.probability_of_bands(agrees - full * (1.0 - taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Banding;

    fn curve() -> Curve {
        Banding::new(16, 6, 128).unwrap().into()
    }

    #[test]
    fn pairs_that_are_hard_to_find_count_for_more() {
        let mut recall = ExpectedRecall::new(curve());
        assert_eq!(recall.value(), 1.0);
        recall.add(1.0, &[], 1);
        assert_eq!(recall.value(), 1.0);
        recall.add(0.6, &[], 1);
        let p = curve().probability(0.6);
        assert!((recall.value() - 2.0 / (1.0 + 1.0 / p)).abs() < 1e-12);
        recall.add_certain(98);
        assert!((recall.value() - 100.0 / (99.0 + 1.0 / p)).abs() < 1e-12);
    }

    #[test]
    fn what_a_filter_loses_is_counted() {
        let mut recall = ExpectedRecall::new(curve()).with_loss(0.1).with_loss(0.2);
        recall.add(1.0, &[], 3);
        assert!((recall.value() - 0.72).abs() < 1e-12);
        // What is found without the filter is not lost to it.
        recall.add_certain(3);
        assert!((recall.value() - 6.0 / (3.0 + 3.0 / 0.72)).abs() < 1e-12);
    }

    #[test]
    fn full_shelves_are_counted() {
        let curve = curve();
        let all = curve.probability(0.8);
        let one = curve.probability_on_full_shelves(0.8, &[0.25]);
        let expected = 1.0 - (1.0 - (0.8f64.powi(6) - 0.75 / 16.0)).powi(16);
        assert!((one - expected).abs() < 1e-12);
        assert!(one < all);
        let half = curve.probability_on_full_shelves(0.8, &[0.5; 16]);
        assert!((half - (1.0 - (1.0 - 0.5 * 0.8f64.powi(6)).powi(16))).abs() < 1e-12);
    }

    #[test]
    fn the_estimate_is_right_on_pairs_that_are_there() {
        // 200 000 pairs at similarities from 0.8 to 1, each found with its own probability.
        let mut random = crate::hash::SplitMix64::new(5);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let curve: Curve = Banding::new(9, 13, 128).unwrap().into();
        let mut recall = ExpectedRecall::new(curve);
        let mut found = 0.0;
        for _ in 0..200_000 {
            let s = 0.8 + 0.2 * uniform();
            if uniform() < curve.probability(s) {
                recall.add(s, &[], 1);
                found += 1.0;
            }
        }
        let truth = found / 200_000.0;
        // The estimator's own spread here is below 0.002.
        assert!((recall.value() - truth).abs() < 0.008, "{} against {truth}", recall.value());
    }
}
