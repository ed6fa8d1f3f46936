//! The share of pairs that was found, from a sample of documents.
//!
//! - **Paper.** Cochran, *Sampling Techniques*, 1977, 6.3 (ratios) and 9A (clusters of unequal size); Kish, *Survey Sampling*,
//!   1965, 8.2 (effective size); Korn and Graubard, 1998 (an interval for a share on its effective size).
//! - **Idea.** Documents are drawn, and of each drawn one all pairs are looked at: mᵢ of them, fᵢ found. Pairs of one
//!   document go together (a family is found or missed as one), so Σ mᵢ pairs say less than as many that
//!   were drawn one by one. How much less is the design effect, and Wilson's interval is taken on Σ mᵢ over it.
//! - **Symbols.** n → documents drawn; N → documents there are; R → `value`; D → the design effect.
//! - **Formula.** R = Σ fᵢ / Σ mᵢ; v = n/(n−1) · Σ (fᵢ − R mᵢ)² / (Σ mᵢ)², D as seen = v Σ mᵢ / (R (1−R)); D together, where pairs
//!   of one document are all found or all missed and it counts as one trial, = the mean of mᵢ over documents
//!   that have pairs. With d documents that tell pairs apart, D = (d · D as seen + z² · D together) / (d + z²),
//!   and at least 1. Effective size: Σ mᵢ / D / (1 − n/N).
//! - **Error.** The interval is one of 95 %; `audit::the_interval_covers_the_truth` of the engine counts how often it
//!   covers. R is biased by O(1/n), as every ratio of sums.
//! - **Differs.** The literature takes D as seen alone. Where nothing or next to nothing was missed it is undefined or rests
//!   on a document or two, and the first miss would make the interval several times narrower. So documents of
//!   that kind are added to those that were seen, z² of them, as many as Wilson's interval adds trials: with
//!   many misses they do not matter, without any they are all there is.

use super::{Z_95, wilson_interval};

/// What was seen at one document of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(clippy::exhaustive_structs, reason = "the counts of a formula, which callers construct")]
pub struct Drawn {
    /// Its pairs, or as many as those that were looked at stand for.
    pub pairs: f64,
    /// Those of them that were found.
    pub found: f64,
}

/// A share with the interval that a sample allows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Share {
    /// The share of pairs that was found; 1 where there was nothing to find.
    pub value: f64,
    /// The ends of the 95 % confidence interval.
    pub interval: (f64, f64),
    /// Pairs drawn one by one that would say as much.
    pub effective: f64,
}

/// The share of pairs that was found, among documents that were drawn with equal chances and without replacement.
///
/// `unseen` is the share of all documents that was not drawn, 1 − n/N. Without any, the share is exact. Where only a part of
/// a document's pairs was looked at, the others are unseen whatever was drawn: then it is to be 1, the cautious side.
#[must_use]
pub fn share_found(drawn: &[Drawn], unseen: f64) -> Share {
    let pairs: f64 = drawn.iter().map(|drawn| drawn.pairs).sum();
    let found: f64 = drawn.iter().map(|drawn| drawn.found).sum();
    let value = if pairs > 0.0 { found / pairs } else { 1.0 };
    if unseen <= 0.0 {
        return Share { value, interval: (value, value), effective: f64::INFINITY };
    }
    if pairs <= 0.0 {
        return Share { value, interval: (0.0, 1.0), effective: 0.0 };
    }
    let effective = pairs / design_effect(drawn, value) / unseen;
    Share { value, interval: wilson_interval(value * effective, effective), effective }
}

/// How many times more pairs are needed than if they had been drawn one by one.
fn design_effect(drawn: &[Drawn], value: f64) -> f64 {
    let pairs: f64 = drawn.iter().map(|drawn| drawn.pairs).sum();
    let together = pairs / drawn.iter().filter(|drawn| drawn.pairs > 0.0).count() as f64;
    // Where nearly all is found, only misses tell how pairs go together; where nearly nothing is, only finds.
    let misses = drawn.iter().filter(|drawn| drawn.found < drawn.pairs).count();
    let finds = drawn.iter().filter(|drawn| drawn.found > 0.0).count();
    let telling = misses.min(finds) as f64;
    let documents = drawn.len() as f64;
    if telling == 0.0 || documents < 2.0 {
        return together.max(1.0);
    }
    let residual = |drawn: &Drawn| (drawn.found - value * drawn.pairs).powi(2);
    let squares: f64 = drawn.iter().map(residual).sum();
    let seen = documents / (documents - 1.0) * squares / (pairs * value * (1.0 - value));
    let added = Z_95 * Z_95;
    ((telling * seen + added * together) / (telling + added)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(pairs: f64, found: f64) -> Drawn {
        Drawn { pairs, found }
    }

    #[test]
    fn single_pairs_count_as_what_they_are() {
        // 10 of 20, each at a document of its own: Wilson's interval for 20 trials, but for one document in twenty
        // that is taken away with the mean.
        let mut sample = vec![drawn(1.0, 1.0); 10];
        sample.extend([drawn(1.0, 0.0); 10]);
        sample.extend([drawn(0.0, 0.0); 1000]);
        let share = share_found(&sample, 1.0);
        assert_eq!(share.value, 0.5);
        assert!((share.effective - 20.0).abs() < 0.1, "{}", share.effective);
        let (low, high) = wilson_interval(10.0, 20.0);
        assert!((share.interval.0 - low).abs() < 1e-3 && (share.interval.1 - high).abs() < 1e-3);
    }

    #[test]
    fn families_that_stand_and_fall_together_count_once() {
        let mut sample = vec![drawn(50.0, 50.0); 30];
        sample.extend([drawn(50.0, 0.0); 10]);
        let share = share_found(&sample, 1.0);
        assert_eq!(share.value, 0.75);
        assert!((share.effective - 40.0).abs() < 2.0, "{}", share.effective);
        // The same number of pairs missed, one or two at each document.
        let apart = share_found(&[drawn(50.0, 37.0), drawn(50.0, 38.0)].repeat(20), 1.0);
        assert_eq!(apart.value, 0.75);
        assert!(apart.effective > 10.0 * share.effective, "{}", apart.effective);
    }

    #[test]
    fn one_miss_says_little_about_how_misses_go_together() {
        let mut sample = vec![drawn(5.0, 5.0); 200];
        // Nothing was missed: 200 documents, each of which may miss all of its pairs or none.
        assert_eq!(share_found(&sample, 1.0).interval, wilson_interval(200.0, 200.0));
        // That pairs are missed one by one, so that a thousand of them are a thousand, is believed by and by.
        let mut before = 200.0;
        for missed in 0..20 {
            sample[missed].found = 4.0;
            let effective = share_found(&sample, 1.0).effective;
            assert!(effective > before && effective < 1000.0, "{effective} after {before}");
            assert!(missed > 0 || effective < 500.0, "{effective} after one miss");
            before = effective;
        }
    }

    #[test]
    fn what_was_seen_whole_is_exact() {
        let sample = [drawn(3.0, 2.0), drawn(1.0, 1.0), drawn(0.0, 0.0)];
        let census = share_found(&sample, 0.0);
        assert_eq!((census.value, census.interval), (0.75, (0.75, 0.75)));
        let half = share_found(&sample, 0.5);
        let rare = share_found(&sample, 1.0);
        assert!((half.effective - 2.0 * rare.effective).abs() < 1e-12);
    }

    #[test]
    fn without_pairs_nothing_is_known() {
        assert_eq!(share_found(&[], 1.0).interval, (0.0, 1.0));
        assert_eq!(share_found(&[Drawn::default(); 9], 0.9).interval, (0.0, 1.0));
        // Unless all documents were seen: then there is nothing to find.
        assert_eq!(share_found(&[Drawn::default(); 9], 0.0).interval, (1.0, 1.0));
    }

    #[test]
    fn nothing_found_is_as_sure_as_all_found() {
        let none = share_found(&[drawn(2.0, 0.0); 50], 1.0);
        let all = share_found(&[drawn(2.0, 2.0); 50], 1.0);
        assert_eq!(none.effective, all.effective);
        assert_eq!(none.interval.0, 0.0);
        assert!((none.interval.1 - (1.0 - all.interval.0)).abs() < 1e-12);
    }
}
