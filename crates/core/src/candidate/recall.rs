//! The recall of a run, estimated from the pairs that it found.
//!
//! - **Idea.** A pair at similarity s is found with a known probability P(s), so each found pair stands for 1/P(s)
//!   pairs of the corpus (Horvitz and Thompson, 1952). Of n found pairs, the estimated recall is n / Σ 1/P(sᵢ).
//! - **Differs.** The mean of P over the found pairs would be too high, because pairs with a small P are rare among the
//!   found pairs.
//! - **Families.** A family is a group of documents that are near-duplicates of one another. The pairs of a family are
//!   found or missed together, because all pairs meet the same hash functions. Pairs that only one band found show how
//!   many pairs were missed in this run. If the two documents of a pair agree in a band with probability q, exactly one
//!   band finds the pair with probability b q (1 − q)ᵇ⁻¹, and no band with probability (1 − q)ᵇ. So each pair that only
//!   one band found stands for (1 − q) / (b q) missed pairs. The estimate gives these pairs more weight if they are
//!   spread less evenly over the bands.
//! - **Bound.** [`ExpectedRecall::low`] takes the larger of the two estimates of missed pairs and adds a margin that
//!   chance exceeds in at most 2 of 100 runs (Bernstein's inequality). The margin uses the variance of a jackknife over
//!   the bands, which are independent draws. On average, a jackknife variance is not too small (Efron and Stein, 1981).
//! - **Stars.** A missed document is kept, so later documents are compared with it. The registers in which it differs
//!   from its family hide it from these documents too, so one missed pair may cause many ([`Followers`]).
//! - **Components.** For clusters by components, a run compares only enough pairs to connect the documents, and these
//!   pairs are easy to find. The bound is then that of pairs at the threshold ([`ExpectedRecall::with_least`]).
//!
//! `cargo x bench recall` compares the expected recall with the true recall on 25 kinds of corpora, and fails if the
//! expected recall is wrong.

use std::collections::BTreeMap;

use super::tune::Curve;

/// Probability that [`ExpectedRecall::low`] is above the true recall.
const RISK: f64 = 0.02;
/// Number of values in [`ExpectedRecall::sums`] before the values of the single bands.
const SUMS: usize = 9;

/// Estimate of the recall: sums over the found pairs, from which their share of all pairs is estimated.
#[derive(Debug, Clone)]
pub struct ExpectedRecall {
    curve: Curve,
    /// Probability that the filter does not reject a near-duplicate pair.
    passing: f64,
    /// Probability of finding the pair that is hardest to find; `None` if the added pairs are a fair sample of all
    /// pairs.
    least: Option<f64>,
    found: f64,
    there: f64,
    /// Number of found pairs that might have been missed.
    chancy: f64,
    /// Estimated number of missed pairs, computed from the pairs that exactly one band found.
    missed: f64,
    /// For each band, the number of pairs that no other band found; empty if every pair was found by several bands.
    alone: Vec<f64>,
    /// Sum of `pairs`² over the calls of [`add`](Self::add) for a pair that exactly one band found.
    alone_squares: f64,
    /// Variance of `there` if pairs are found or missed independently.
    variance: f64,
    /// Expected number of missed decisions. Pairs that are found or missed together count once.
    misses: f64,
    /// Largest number of pairs that are found or missed together.
    largest: f64,
    /// Variance added by the pairs that missed documents hide from later documents ([`Followers`]).
    followers: f64,
}

impl ExpectedRecall {
    /// Creates an estimate without pairs, for candidates found along `curve`.
    #[must_use]
    pub fn new(curve: Curve) -> Self {
        Self {
            curve,
            passing: 1.0,
            least: None,
            found: 0.0,
            there: 0.0,
            chancy: 0.0,
            missed: 0.0,
            alone: vec![],
            alone_squares: 0.0,
            variance: 0.0,
            misses: 0.0,
            largest: 0.0,
            followers: 0.0,
        }
    }

    /// Sets the largest share of candidates that a filter rejects by mistake.
    #[must_use]
    pub fn with_loss(self, share: f64) -> Self {
        Self { passing: self.passing * (1.0 - share), ..self }
    }

    /// Declares that the added pairs are not a fair sample of all pairs. The lower bound then assumes that each added
    /// pair stands for pairs whose registers agree only with probability `p`, the smallest possible.
    #[must_use]
    pub fn with_least(self, p: f64) -> Self {
        Self { least: Some(self.passing * self.curve.probability(p)), ..self }
    }

    /// Adds a found pair whose registers agree with probability `p`, and returns its odds: the expected number of
    /// missed pairs per found pair of this kind.
    ///
    /// `shares` has an element for each full shelf of the later document: the share of the documents put on this shelf
    /// that the shelf took ([`Shelves::share`](super::shelf::Shelves::share)).
    ///
    /// `alone` is the band that found the pair, if no other band did.
    ///
    /// `pairs` is the number of pairs that are found or missed together, because documents with equal shingles share
    /// one sketch.
    ///
    /// # Panics
    /// Panics if `alone` is not a band of the curve.
    pub fn add(&mut self, p: f64, shares: &[f64], alone: Option<usize>, pairs: u64) -> f64 {
        let band = self.curve.band_on_full_shelves(p, shares);
        let probability = self.passing * self.curve.probability_of_bands(band);
        let odds = 1.0 / probability - 1.0;
        let pairs = pairs as f64;
        self.found += pairs;
        self.there += pairs / probability;
        self.chancy += pairs;
        self.variance += pairs * pairs * odds / probability;
        self.misses += odds;
        self.largest = self.largest.max(pairs);
        if let Some(alone) = alone {
            let bands = self.curve.bands();
            self.alone.resize(bands as usize, 0.0);
            self.alone[alone] += pairs;
            self.alone_squares += pairs * pairs;
            self.missed += pairs * (1.0 - band) / (bands * band);
        }
        odds
    }

    /// Adds pairs that any banding finds, such as documents with equal shingles.
    pub fn add_certain(&mut self, pairs: u64) {
        self.found += pairs as f64;
        self.there += pairs as f64;
    }

    /// Adds the variance of the pairs that missed documents hide from later documents.
    pub fn add_followers(&mut self, followers: &Followers) {
        self.followers += followers.variance();
    }

    /// Adds the sums of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.found += other.found;
        self.there += other.there;
        self.chancy += other.chancy;
        self.missed += other.missed;
        self.alone_squares += other.alone_squares;
        self.variance += other.variance;
        self.misses += other.misses;
        self.largest = self.largest.max(other.largest);
        self.followers += other.followers;
        self.alone.resize(self.alone.len().max(other.alone.len()), 0.0);
        for (sum, alone) in self.alone.iter_mut().zip(&other.alone) {
            *sum += alone;
        }
    }

    /// Returns all sums, to be stored. The first is the number of found pairs.
    #[must_use]
    pub fn sums(&self) -> Vec<f64> {
        let sums: [f64; SUMS] = [
            self.found,
            self.there,
            self.chancy,
            self.missed,
            self.alone_squares,
            self.variance,
            self.misses,
            self.largest,
            self.followers,
        ];
        [&sums[..], &self.alone].concat()
    }

    /// Replaces all sums by stored `sums`. Returns `false`, and changes nothing, if their number does not fit the
    /// curve.
    #[must_use]
    pub fn set_sums(&mut self, sums: &[f64]) -> bool {
        let Some((&sums, alone)) = sums.split_first_chunk::<SUMS>() else { return false };
        if !alone.is_empty() && alone.len() != self.curve.bands() as usize {
            return false;
        }
        [
            self.found,
            self.there,
            self.chancy,
            self.missed,
            self.alone_squares,
            self.variance,
            self.misses,
            self.largest,
            self.followers,
        ] = sums;
        self.alone = alone.to_vec();
        true
    }

    /// Returns the estimated share of all pairs that was found; 1 if no pair was added.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.share(self.expected_missed())
    }

    /// Reports whether the share can be estimated, because pairs were found or no pair can be missed.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.found > 0.0 || self.curve == Curve::CERTAIN
    }

    /// Returns a lower bound of the share, above which the true share lies in at least 98 of 100 runs. Returns `None`
    /// if no pair was found although the search can miss pairs.
    #[must_use]
    pub fn low(&self) -> Option<f64> {
        if self.found == 0.0 {
            return (self.curve == Curve::CERTAIN).then_some(1.0);
        }
        let missed = (self.there - self.found).max(self.missed);
        if self.misses < RISK {
            // Very probably no pair was missed, so no margin is added.
            return Some(self.share(missed));
        }
        let least = self.least.map_or(0.0, |least| self.chancy * (1.0 / least - 1.0));
        let missed = missed.max(least);
        let log = -RISK.ln();
        let spread = (2.0 * log * self.spread()).sqrt();
        Some(self.share(missed + spread + self.largest * log / 3.0))
    }

    /// Returns the standard error of [`value`](Self::value).
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.value() - self.share(self.expected_missed() + self.spread().sqrt())
    }

    fn share(&self, missed: f64) -> f64 {
        if self.found > 0.0 { self.found / (self.found + missed) } else { 1.0 }
    }

    /// Returns the expected number of missed pairs: the estimate by the curve, moved towards the estimate by pairs that
    /// one band alone found, as far as pairs were found together.
    fn expected_missed(&self) -> f64 {
        let by_curve = self.there - self.found;
        let (variance, bands) = (self.jackknife(), self.curve.bands());
        if variance == 0.0 {
            return by_curve;
        }
        // The variance of independent pairs.
        let independent = self.alone_squares * ((bands - 1.0) / bands).powi(2);
        by_curve + (1.0 - independent / variance).max(0.0) * (self.missed - by_curve)
    }

    /// Returns the variance of the number of missed pairs.
    fn spread(&self) -> f64 {
        self.variance.max(self.jackknife()) + self.followers
    }

    /// Returns the jackknife variance of the number of found pairs. The jackknife leaves out one band after the other.
    fn jackknife(&self) -> f64 {
        let bands = self.curve.bands();
        if bands < 2.0 {
            // With one band there is no second draw to compare with, so the largest possible variance is returned.
            return self.alone.iter().map(|alone| alone * alone).sum();
        }
        let mean = self.alone.iter().sum::<f64>() / bands;
        let squares: f64 = self.alone.iter().map(|alone| (alone - mean).powi(2)).sum();
        squares * (bands - 1.0) / bands
    }
}

/// Sums for the variance that missed documents of a star add.
///
/// If no pair of a near-duplicate with its keeper is found, the document is missed, and so it is kept. Later documents
/// near its keeper may be near the missed document, too. These pairs are probably missed as well, because they would
/// have to agree in registers in which the missed document differs from its keeper. If n later documents are near the
/// missed document, any number of missed pairs from 0 to n is assumed to be equally probable, so the mean square is
/// n²/3. With n²/10 the bound held in 96 of 100 runs only.
#[derive(Debug, Clone, Default)]
pub struct Followers {
    keepers: BTreeMap<u32, Keeper>,
    /// Removed document whose pairs are being added.
    now: Option<RemovedDocument>,
}

/// Sums over the documents that were removed as duplicates of one kept document. For each of them, `o` stands for the
/// odds of missing it, and n for the number of pairs added after it.
#[derive(Debug, Clone, Copy, Default)]
struct Keeper {
    /// Σ o.
    odds: f64,
    /// Σ o·n.
    once: f64,
    /// Σ o·n².
    twice: f64,
}

/// A removed document, with the kept document for which a miss was least likely.
#[derive(Debug, Clone, Copy)]
struct RemovedDocument {
    document: u32,
    keeper: u32,
    odds: f64,
}

impl Followers {
    /// Adds a pair of a removed document and a kept document. `odds` is the value that [`ExpectedRecall::add`] returned
    /// for the pair. All pairs of one removed document must be added in consecutive calls, without pairs of another
    /// document between them.
    pub fn add(&mut self, document: u32, keeper: u32, odds: f64, pairs: u64) {
        let removed = RemovedDocument { document, keeper, odds };
        match &mut self.now {
            Some(now) if now.document == document => {
                if odds < now.odds {
                    *now = removed;
                }
            }
            now => {
                // The previous document has no more pairs, so its odds count for the pairs of later documents.
                if let Some(before) = now.replace(removed) {
                    self.keepers.entry(before.keeper).or_default().odds += before.odds;
                }
            }
        }
        let n = pairs as f64;
        let sums = self.keepers.entry(keeper).or_default();
        sums.twice += n * (2.0 * sums.once + n * sums.odds);
        sums.once += n * sums.odds;
    }

    /// Returns the variance of the pairs that follow missed documents.
    fn variance(&self) -> f64 {
        self.keepers.values().map(|keeper| keeper.twice).sum::<f64>() / 3.0
    }
}

impl Curve {
    /// Returns the probability that the two documents of a pair are compared because of one given band. `shares` has an
    /// element for each full shelf of the later document: the share of the documents put on this shelf that the shelf
    /// took.
    ///
    /// A shelf is full because many documents share its rows, and a pair agrees in such rows more often than in others.
    /// Therefore the pair is assumed to agree on all full shelves, as far as its similarity allows. This assumption is
    /// cautious: the more of the agreement lies on full shelves, the more of it is lost.
    fn band_on_full_shelves(&self, p: f64, shares: &[f64]) -> f64 {
        let agrees = self.band_probability(p);
        if shares.is_empty() {
            return agrees;
        }
        let taken = shares.iter().sum::<f64>() / shares.len() as f64;
        let full = agrees.min(shares.len() as f64 / self.bands());
        agrees - full * (1.0 - taken)
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
        recall.add(1.0, &[], None, 1);
        assert_eq!(recall.value(), 1.0);
        recall.add(0.6, &[], None, 1);
        let p = curve().probability(0.6);
        assert!((recall.value() - 2.0 / (1.0 + 1.0 / p)).abs() < 1e-12);
        recall.add_certain(98);
        assert!((recall.value() - 100.0 / (99.0 + 1.0 / p)).abs() < 1e-12);
    }

    #[test]
    fn what_a_filter_loses_is_counted() {
        let mut recall = ExpectedRecall::new(curve()).with_loss(0.1).with_loss(0.2);
        recall.add(1.0, &[], None, 3);
        assert!((recall.value() - 0.72).abs() < 1e-12);
        // The filter cannot reject pairs that are found without it.
        recall.add_certain(3);
        assert!((recall.value() - 6.0 / (3.0 + 3.0 / 0.72)).abs() < 1e-12);
    }

    #[test]
    fn full_shelves_are_counted() {
        let curve = curve();
        let all = curve.probability(0.8);
        let on_full = |shares: &[f64]| curve.probability_of_bands(curve.band_on_full_shelves(0.8, shares));
        let one = on_full(&[0.25]);
        let expected = 1.0 - (1.0 - (0.8f64.powi(6) - 0.75 / 16.0)).powi(16);
        assert!((one - expected).abs() < 1e-12);
        assert!(one < all);
        let half = on_full(&[0.5; 16]);
        assert!((half - (1.0 - (1.0 - 0.5 * 0.8f64.powi(6)).powi(16))).abs() < 1e-12);
    }

    #[test]
    fn the_estimate_is_right_on_pairs_that_are_there() {
        // 200,000 pairs at similarities from 0.8 to 1, each found with its own probability.
        let mut random = crate::hash::SplitMix64::new(5);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let curve: Curve = Banding::new(9, 13, 128).unwrap().into();
        let mut recall = ExpectedRecall::new(curve);
        let mut found = 0.0;
        for _ in 0..200_000 {
            let s = 0.8 + 0.2 * uniform();
            if uniform() < curve.probability(s) {
                recall.add(s, &[], None, 1);
                found += 1.0;
            }
        }
        let truth = found / 200_000.0;
        // The standard deviation of the estimate is below 0.002 for these pairs.
        assert!((recall.value() - truth).abs() < 0.008, "{} against {truth}", recall.value());
    }

    /// Adds pairs that are found independently of each other. Returns the estimate and the true recall.
    fn drawn(seed: u64, pairs: usize, together: u64) -> (ExpectedRecall, f64) {
        let mut random = crate::hash::SplitMix64::new(seed);
        let mut recall = ExpectedRecall::new(curve());
        let (mut found, q) = (0.0, 0.8f64.powi(6));
        for _ in 0..pairs {
            let agrees: Vec<usize> =
                (0..16).filter(|_| ((random.next_u64() >> 11) as f64) < q * (1u64 << 53) as f64).collect();
            if let Some(&first) = agrees.first() {
                recall.add(0.8, &[], (agrees.len() == 1).then_some(first), together);
                found += 1.0;
            }
        }
        (recall, found / pairs as f64)
    }

    #[test]
    fn the_bound_holds_and_is_narrower_with_more_pairs() {
        let mut mean = vec![];
        for (pairs, together) in [(30, 1), (300, 1), (3000, 1), (300, 50)] {
            let runs: Vec<_> = (0..200).map(|seed| drawn(seed, pairs, together)).collect();
            let held = runs.iter().filter(|(recall, truth)| recall.low().unwrap() <= *truth).count();
            assert!(held >= 196, "held in {held} of 200 with {pairs} pairs");
            mean.push(runs.iter().map(|(recall, _)| recall.low().unwrap()).sum::<f64>() / 200.0);
        }
        assert!(mean[0] < mean[1] && mean[1] < mean[2], "{mean:?}");
        assert!(mean[2] > 0.98, "{mean:?}");
        // Several copies of one document give no more information than one copy.
        assert!((mean[1] - mean[3]).abs() < 1e-9, "{mean:?}");
    }

    #[test]
    fn pairs_that_one_band_alone_found_tell_of_those_that_none_did() {
        // In this family, band 3 alone finds three quarters of the pairs.
        let mut recall = ExpectedRecall::new(curve());
        for at in 0..1000 {
            recall.add(0.8, &[], (at % 4 > 0).then_some(3), 1);
        }
        let q = 0.8f64.powi(6);
        let by_one = 750.0 * (1.0 - q) / (16.0 * q);
        // Nearly all of these pairs were found by band 3, so the curve has nearly no weight in the estimate.
        assert!((recall.value() - 1000.0 / (1000.0 + by_one)).abs() < 1e-3, "{}", recall.value());
        assert!(recall.low().unwrap() < 0.4 && recall.standard_error() > 0.2);
    }

    #[test]
    fn an_unfair_sample_says_no_more_than_the_threshold() {
        let mut recall = ExpectedRecall::new(curve()).with_loss(0.1).with_least(0.7);
        let mut fair = ExpectedRecall::new(curve()).with_loss(0.1);
        for recall in [&mut recall, &mut fair] {
            for _ in 0..10_000 {
                recall.add(0.95, &[], None, 1);
            }
        }
        let least = 0.9 * curve().probability(0.7);
        assert_eq!(recall.value(), fair.value());
        assert!(recall.low().unwrap() < least && recall.low().unwrap() > least - 0.02);
        assert!(fair.low().unwrap() > 0.88);
    }

    #[test]
    fn what_is_certain_has_no_bound_below_it() {
        let mut recall = ExpectedRecall::new(Curve::CERTAIN);
        assert_eq!(recall.low(), Some(1.0));
        recall.add(0.8, &[], None, 5);
        assert_eq!((recall.value(), recall.low()), (1.0, Some(1.0)));
        let mut recall = ExpectedRecall::new(curve());
        assert_eq!(recall.low(), None);
        recall.add_certain(7);
        assert_eq!(recall.low(), Some(1.0));
    }

    #[test]
    fn a_missed_document_is_followed_by_those_behind_it() {
        let mut followers = Followers::default();
        // Documents 1 to 3 are near keeper 0, but document 2 is nearer to keeper 9.
        followers.add(1, 0, 0.1, 1);
        followers.add(2, 0, 0.2, 1);
        followers.add(2, 9, 0.05, 1);
        followers.add(3, 0, 0.1, 2);
        followers.add(4, 9, 0.1, 1);
        // Three pairs follow document 1, and one pair follows document 2.
        let expected = (0.1 * 9.0 + 0.05 * 1.0) / 3.0;
        assert!((followers.variance() - expected).abs() < 1e-12, "{}", followers.variance());
        let mut recall = drawn(1, 300, 1).0;
        let before = recall.low().unwrap();
        recall.add_followers(&followers);
        assert!(recall.low().unwrap() < before);
    }

    #[test]
    fn sums_can_be_set_down_and_merged() {
        let (mut one, other) = (drawn(1, 100, 1).0, drawn(2, 100, 3).0);
        let mut again = ExpectedRecall::new(curve());
        assert!(again.set_sums(&one.sums()));
        assert_eq!(again.sums(), one.sums());
        again.merge(&other);
        one.merge(&other);
        assert_eq!((again.value(), again.low()), (one.value(), one.low()));
        assert!(!again.set_sums(&[1.0; 8]) && !again.set_sums(&[1.0; 10]));
    }
}
