//! The share of duplicates that a run found, estimated from a sample of the documents that it kept.
//!
//! - **Paper.** Clopper and Pearson, 1934 (limits by inverting binomial tails); Horvitz and Thompson, 1952 (weights by
//!   known probabilities, and their variance); Seber, *The Estimation of Animal Abundance*, 1982, 3 (counts with a
//!   known probability of capture).
//! - **Idea.** The number of duplicates that the run removed is known; the number of duplicates that it kept is not. A
//!   sample of kept documents is drawn, and for each drawn document a search looks for a kept document that it repeats.
//!   A missed duplicate is seen if it is drawn and its search succeeds; the probabilities of both are known. If
//!   searches succeed independently of each other, the number of seen duplicates is a binomial count of the missed
//!   ones. Otherwise this number has a larger variance, which follows from the probabilities that two searches succeed
//!   together.
//! - **Symbols.** D → `found`; c → number of misses that were seen; f → `drawn`; πᵢ → `seen`; φ → the mean probability
//!   of seeing a miss; M → the number of misses.
//! - **Formula.** M̂ = Σ 1/(f πᵢ); the recall is D / (D + M̂). π₀ is `least`, and φ = f (c + 1) / (Σ 1/πᵢ + 1/π₀). The
//!   largest M is the M with P(Bin(M, φ) ≤ c) = 0.025. The smallest M is the M with P(Bin(M, f) ≥ c) = 0.025, but at
//!   least c, because misses that were seen are certain. The variance of M̂ is V = Σ (1 − f πᵢ)/(f πᵢ)² + C/f², where C
//!   is `covariance`; the largest M is at least M̂ exp(1.96 √V/M̂).
//! - **Error.** The interval is a 95 % confidence interval. `kinds::the_measured_recall_is_right` of the engine counts
//!   how often it contains the truth. If every document was drawn and every search succeeds, c is the truth and the
//!   interval is a point.
//! - **Differs.** The tails are computed for real M, so that D / (D + M) has no steps. One miss with probability π₀ is
//!   added to the seen misses, so that φ is known if there are none. Searches that did not end count as misses in the
//!   largest M only.

use super::Z_95;

/// Probability of each of the two tails.
const TAIL: f64 = 0.025;
/// Largest count for which binomial tails are summed. For larger counts the normal distribution is right to a
/// thousandth.
const SUMMED: u64 = 2000;
/// Number of steps of a bisection: more than the 53 bits of a double.
const STEPS: usize = 60;

/// Result of the searches for missed duplicates.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "the counts of a formula, which callers construct")]
pub struct SampledMisses<'a> {
    /// Number of duplicates that the run found.
    pub found: u64,
    /// For each missed duplicate that was seen: the probability that a search for it succeeds.
    pub seen: &'a [f64],
    /// Number of drawn documents whose search did not end, so that they may be missed duplicates.
    pub open: u64,
    /// Σ (πᵢⱼ − πᵢπⱼ)/(πᵢⱼπᵢπⱼ) over all ordered pairs of different misses that were seen, where πᵢⱼ is the probability
    /// that both searches succeed; 0 if searches succeed independently of each other.
    pub covariance: f64,
    /// Number of drawn documents as a share of all kept documents.
    pub drawn: f64,
    /// Probability that the search for a miss succeeds, for the misses that are hardest to find.
    pub least: f64,
}

/// A share, with its confidence interval from a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Share {
    /// Share of duplicates that was found; 1 if there are no duplicates.
    pub value: f64,
    /// Ends of the 95 % confidence interval.
    pub interval: (f64, f64),
}

impl SampledMisses<'_> {
    /// Returns the share of duplicates that was found.
    #[must_use]
    pub fn share_found(&self) -> Share {
        let Self { found, seen, open, covariance, drawn, least } = *self;
        let found = found as f64;
        let share = |missed: f64| if found + missed > 0.0 { found / (found + missed) } else { 1.0 };
        if drawn <= 0.0 {
            return Share { value: 1.0, interval: (0.0, 1.0) };
        }
        let count = seen.len() as u64;
        let weights: f64 = seen.iter().map(|probability| 1.0 / probability).sum();
        let mean = (count as f64 + 1.0) / (weights + 1.0 / least);
        let scattered = self.scattered_limit(weights / drawn, covariance) + open as f64 / (drawn * mean);
        let most = upper_limit(count + open, drawn * mean).max(scattered);
        if found == 0.0 && count == 0 && most > 0.0 {
            return Share { value: 1.0, interval: (0.0, 1.0) };
        }
        let fewest = lower_limit(count, drawn);
        Share { value: share(weights / drawn), interval: (share(most), share(fewest)) }
    }

    /// Returns an upper limit of the number of misses: 1.96 standard deviations above `number`, on a logarithmic scale.
    fn scattered_limit(&self, number: f64, covariance: f64) -> f64 {
        if number <= 0.0 {
            return 0.0;
        }
        let own: f64 = self
            .seen
            .iter()
            .map(|probability| probability * self.drawn)
            .map(|probability| (1.0 - probability) / (probability * probability))
            .sum();
        let variance = (own + covariance / (self.drawn * self.drawn)).max(0.0);
        number * (Z_95 * variance.sqrt() / number).exp()
    }
}

/// Returns the largest plausible number of misses: the number of which at most `count` are seen with probability 0.025,
/// if each is seen with `probability`.
fn upper_limit(count: u64, probability: f64) -> f64 {
    if probability >= 1.0 {
        return count as f64;
    }
    if count > SUMMED {
        return by_normal(count as f64 + 0.5, probability, Z_95);
    }
    // At this number the expected count is far above `count`, so the limit is smaller.
    let beyond = (count as f64 + 20.0 + 10.0 * (count as f64 + 1.0).sqrt()) / probability;
    bisect(count as f64, beyond, |number| ln_at_most(number, count, probability) >= TAIL.ln())
}

/// Returns the smallest plausible number of misses: the number of which at least `count` are seen with probability
/// 0.025. The result is at least `count`.
fn lower_limit(count: u64, probability: f64) -> f64 {
    if count == 0 || probability >= 1.0 {
        return count as f64;
    }
    if count > SUMMED {
        return by_normal(count as f64 - 0.5, probability, -Z_95).max(count as f64);
    }
    let beyond = count as f64 / probability;
    bisect(count as f64, beyond, |number| ln_at_most(number, count - 1, probability) >= (1.0 - TAIL).ln())
}

/// Returns the number whose expected count is `z` standard deviations above `count`.
fn by_normal(count: f64, probability: f64, z: f64) -> f64 {
    let spread = z * (1.0 - probability).sqrt();
    let root = f64::midpoint(spread, (spread * spread + 4.0 * count).sqrt());
    root * root / probability
}

/// Returns, by bisection, the largest number of the range from `low` to `high` for which `holds` returns `true`; `low`
/// if `holds` never returns `true`.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Returns ln P(Bin(n, p) ≤ c) for real n ≥ c, as the incomplete beta function defines it.
///
/// The terms are summed from term c down, relative to term c, because term 0 underflows for large n.
fn ln_at_most(number: f64, count: u64, probability: f64) -> f64 {
    let odds = (1.0 - probability) / probability;
    let (mut term, mut sum) = (1.0, 1.0);
    let mut ln_last = (number - count as f64) * (1.0 - probability).ln() + count as f64 * probability.ln();
    for at in (1..=count).rev() {
        let (at, left) = (at as f64, number - at as f64 + 1.0);
        ln_last += (left / at).ln();
        term *= at / left * odds;
        sum += term;
    }
    ln_last + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: SampledMisses<'_> =
        SampledMisses { found: 100, seen: &[], open: 0, covariance: 0.0, drawn: 1.0, least: 1.0 };

    #[test]
    fn tails_are_those_of_the_binomial_distribution() {
        // P(Bin(10, 0.3) ≤ 2) = 0.3827827864, and P(Bin(10, 0.3) ≤ 0) is the first term, 0.7^10.
        assert!((ln_at_most(10.0, 2, 0.3).exp() - 0.382_782_786_4).abs() < 1e-9);
        assert!((ln_at_most(10.0, 0, 0.3).exp() - 0.7_f64.powi(10)).abs() < 1e-12);
        assert!((ln_at_most(3.0, 3, 0.4)).abs() < 1e-12);
        // With almost no failures in a thousand trials, every term except the last underflows.
        assert!(ln_at_most(1001.0, 1000, 1.0 - 1e-9).is_finite());
    }

    /// Clopper and Pearson's limits for a Poisson count of 5 are 1.6235 and 11.6683.
    #[test]
    fn limits_of_rarely_seen_misses_are_those_of_a_poisson_count() {
        let p = 1e-6;
        assert!((lower_limit(5, p) * p - 1.6235).abs() < 1e-3);
        assert!((upper_limit(5, p) * p - 11.6683).abs() < 1e-3);
        // The limit for a count of 0 is the rule of three, for two tails.
        assert!((upper_limit(0, p) * p - 3.6889).abs() < 1e-3);
        assert_eq!(lower_limit(0, p), 0.0);
    }

    #[test]
    fn the_normal_distribution_continues_the_sums() {
        for p in [0.01, 0.5, 0.95] {
            let summed = [lower_limit(SUMMED, p), upper_limit(SUMMED, p)];
            let normal = [by_normal(1999.5, p, -Z_95).max(2000.0), by_normal(2000.5, p, Z_95)];
            for (summed, normal) in summed.into_iter().zip(normal) {
                assert!((summed / normal - 1.0).abs() < 2e-3, "{summed} {normal} at {p}");
            }
        }
    }

    /// For every number of misses, the counts whose interval does not contain this number have a probability of at most
    /// 5 % together.
    #[test]
    fn the_limits_cover_every_number() {
        for p in [0.02, 0.3, 0.8, 0.9, 0.97] {
            for number in 0..60_u32 {
                let at_most = |count: u32| ln_at_most(f64::from(number), u64::from(count), p).exp();
                let probability =
                    |count: u32| at_most(count) - if count > 0 { at_most(count - 1) } else { 0.0 };
                let is_outside = |&count: &u32| {
                    let count = u64::from(count);
                    let number = f64::from(number);
                    number > upper_limit(count, p) + 1e-9 || number < lower_limit(count, p) - 1e-9
                };
                let outside: f64 = (0..=number).filter(is_outside).map(probability).sum();
                assert!(outside <= 0.05 + 1e-9, "{outside} of {number} at {p}");
            }
        }
    }

    #[test]
    fn a_census_is_exact() {
        let census = SampledMisses { seen: &[1.0; 25], ..NONE }.share_found();
        assert_eq!((census.value, census.interval), (0.8, (0.8, 0.8)));
        assert_eq!(NONE.share_found().interval, (1.0, 1.0));
        // The run found nothing, and no duplicate is left.
        assert_eq!(SampledMisses { found: 0, ..NONE }.share_found().interval, (1.0, 1.0));
        // A missed duplicate that was seen is certain, however few documents were drawn.
        let some = SampledMisses { seen: &[1.0; 25], drawn: 0.9, ..NONE }.share_found();
        assert!(some.interval.1 <= 0.8 && some.interval.0 < some.value && some.value < 0.8, "{some:?}");
    }

    #[test]
    fn what_is_left_open_lowers_the_lower_end_only() {
        let open = SampledMisses { seen: &[1.0; 25], open: 75, ..NONE }.share_found();
        assert_eq!((open.value, open.interval), (0.8, (0.5, 0.8)));
    }

    #[test]
    fn a_search_that_may_fail_says_less() {
        let seen = |least| SampledMisses { least, ..NONE }.share_found().interval;
        assert_eq!(seen(1.0), (1.0, 1.0));
        // The search overlooks a miss with one chance in ten, and two misses with one chance in a hundred.
        let (low, high) = seen(0.9);
        assert!(low > 100.0 / 102.0 && low < 100.0 / 101.0 && high == 1.0, "{low} {high}");
        let hard = SampledMisses { seen: &[0.5; 10], least: 0.5, ..NONE }.share_found();
        assert!((hard.value - 100.0 / 120.0).abs() < 1e-12, "{hard:?}");
        assert!(hard.interval.0 < hard.value && hard.interval.1 == 100.0 / 110.0, "{hard:?}");
    }

    /// Searches that succeed together give a wider interval at the lower end; the upper end stays certain.
    #[test]
    fn searches_that_depend_on_each_other_say_less() {
        let interval = |covariance| {
            let seen = SampledMisses { seen: &[0.5; 40], least: 0.5, covariance, ..NONE };
            seen.share_found().interval
        };
        // 80 misses have a variance of 40 · 0.5/0.25 = 80, so at least 80 exp(1.96 √80/80) are possible.
        let (low, high) = interval(0.0);
        assert!(low <= 100.0 / (100.0 + 80.0 * (Z_95 / 80.0_f64.sqrt()).exp()) && low > 0.48, "{low}");
        let dependent = interval(1520.0);
        assert!((dependent.0 - 100.0 / (100.0 + 80.0 * (Z_95 * 0.5).exp())).abs() < 1e-12, "{dependent:?}");
        assert_eq!(dependent.1, high);
        // Searches that exclude each other must never give a narrower interval than independent searches.
        assert_eq!(interval(-1e9), interval(-50.0));
    }

    #[test]
    fn without_a_document_nothing_is_known() {
        assert_eq!(SampledMisses { drawn: 0.0, ..NONE }.share_found().interval, (0.0, 1.0));
        assert_eq!(SampledMisses { found: 0, drawn: 0.5, ..NONE }.share_found().interval, (0.0, 1.0));
    }
}
