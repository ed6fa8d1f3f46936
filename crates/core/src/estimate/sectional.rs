//! The estimators of the sectional sketches.
//!
//! Let a be the number of shingles that two documents share, and m the number of those that have the same section in
//! both documents. Then q = m/a is the alignment rate. A register agrees in minimum and section if its minimum is one
//! of the m shingles, out of u = |A∪B| shingles. So the share of such registers, `Ĵ_S`, estimates m/u = qJ, without
//! bias and with variance qJ(1−qJ)/k.
//!
//! [Hassanian-esfahani 2018](crate#sources), (16), calls the share an unbiased estimator of J with mean J/s (E-02) and
//! smaller variance (E-03). The mean is J/s only if the two sections of a shared shingle are independent and uniform,
//! which does not hold for near-duplicates. The printed variance is that of an estimator of J/s, not of J. This module
//! has both formulas, in functions whose names begin with `independent`.
//!
//! | quantity | estimated by | mean | variance |
//! |---|---|---|---|
//! | similarity | M/k, if M minima agree | J | J(1−J)/k |
//! | aligned similarity | m̂/k, if m̂ minima agree with their sections | qJ | qJ(1−qJ)/k |
//! | alignment rate | m̂/M | q, given M > 0 | q(1−q)/M |

use super::{Estimate, wilson_interval};

/// Counts of agreeing registers of two sectional sketches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "the counts of a formula, which callers construct")]
pub struct SectionalMatches {
    /// k: number of compared registers.
    pub registers: usize,
    /// Number of registers whose minima agree.
    pub minima: usize,
    /// Number of registers whose minima and sections both agree.
    pub aligned: usize,
}

impl SectionalMatches {
    /// Compares two rows of (minimum, section), register by register. `agree` returns whether two sections agree.
    /// Comparing the rows as sets would count pairs of different registers (E-09).
    pub fn count<A, B>(a: A, b: B, agree: impl Fn(u32, u32) -> bool) -> Self
    where
        A: IntoIterator<Item = (u32, u32)>,
        B: IntoIterator<Item = (u32, u32)>,
    {
        let mut matches = Self::default();
        for (a, b) in a.into_iter().zip(b) {
            matches.add(a, b, &agree);
        }
        matches
    }

    /// Compares one register of two sketches, given as (minimum, section), and adds the result to the counts.
    #[inline]
    pub fn add(&mut self, a: (u32, u32), b: (u32, u32), agree: impl Fn(u32, u32) -> bool) {
        let same = a.0 == b.0;
        self.registers += 1;
        self.minima += usize::from(same);
        self.aligned += usize::from(same & agree(a.1, b.1));
    }

    /// Returns Ĵ, the estimate of the similarity.
    #[must_use]
    pub fn similarity(self) -> Estimate {
        share(self.minima, self.registers)
    }

    /// Returns `Ĵ_S`, the estimate of the similarity that counts only shared shingles in agreeing sections.
    #[must_use]
    pub fn aligned_similarity(self) -> Estimate {
        share(self.aligned, self.registers)
    }

    /// Returns q̂ = `Ĵ_S`/Ĵ, the estimate of the alignment rate; `None` if no minima agree.
    ///
    /// Each agreeing register is an even draw from the shared shingles, so the number of aligned registers is binomial.
    #[must_use]
    pub fn alignment_rate(self) -> Option<Estimate> {
        (self.minima > 0).then(|| share(self.aligned, self.minima))
    }
}

/// Returns a share with its binomial error, computed at (successes + ½)/(trials + 1).
fn share(successes: usize, trials: usize) -> Estimate {
    assert!(trials > 0, "a sketch has at least one register");
    let inside = (successes as f64 + 0.5) / (trials as f64 + 1.0);
    Estimate {
        value: successes as f64 / trials as f64,
        standard_error: variance(inside, trials).sqrt(),
        interval: wilson_interval(successes as f64, trials as f64),
    }
}

/// Returns the variance of the estimate at the aligned similarity qJ.
#[must_use]
pub fn variance(aligned_similarity: f64, registers: usize) -> f64 {
    aligned_similarity * (1.0 - aligned_similarity) / registers as f64
}

/// Exact counts that the estimates refer to: distinct shingles of two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the counts of a formula, which callers construct")]
pub struct SectionalOverlap {
    /// |A|.
    pub left: usize,
    /// |B|.
    pub right: usize,
    /// |A∩B|.
    pub common: usize,
    /// m: number of common shingles whose sections agree.
    pub aligned: usize,
}

impl SectionalOverlap {
    /// Returns the Jaccard similarity, J = |A∩B| / |A∪B|.
    #[must_use]
    pub fn similarity(self) -> f64 {
        ratio(self.common, self.left + self.right - self.common)
    }

    /// Returns the mean of sampling by shingle and comparing sections afterwards (post-tag): m / |A∪B| = qJ.
    #[must_use]
    pub fn post_tag(self) -> f64 {
        ratio(self.aligned, self.left + self.right - self.common)
    }

    /// Returns the mean of sampling pairs of shingle and section (pre-tag): m / (|A| + |B| − m). This mean is at most
    /// that of post-tag (E-04).
    #[must_use]
    pub fn pre_tag(self) -> f64 {
        ratio(self.aligned, self.left + self.right - self.aligned)
    }

    /// Returns q = m / |A∩B|; `None` if there are no common shingles.
    #[must_use]
    pub fn alignment_rate(self) -> Option<f64> {
        (self.common > 0).then(|| ratio(self.aligned, self.common))
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    // Two empty documents are equal.
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Returns the share of common shingles that change their section if `inserted` tokens (L) are put before or after a
/// document of `len` tokens (n): (L/n)(s−1)/2. This is exact to rounding while the shift stays inside one section
/// (E-12).
#[must_use]
pub fn displaced_share(inserted: usize, len: usize, sections: usize) -> f64 {
    inserted as f64 / len as f64 * (sections as f64 - 1.0) / 2.0
}

/// Returns J/s, the mean in [Hassanian-esfahani 2018](crate#sources), (16), which holds if the sections of a shared
/// shingle are independent and uniform (E-02).
#[must_use]
pub fn independent_mean(similarity: f64, sections: usize) -> f64 {
    similarity / sections as f64
}

/// Returns J(s−J)/k, the variance of s·`Ĵ_S`. In the model of [Hassanian-esfahani 2018](crate#sources), §4, s·`Ĵ_S`
/// would be an unbiased estimate of J. The variance of plain `MinHash` is never larger (E-03).
#[must_use]
pub fn independent_rescaled_variance(similarity: f64, sections: usize, registers: usize) -> f64 {
    similarity * (sections as f64 - similarity) / registers as f64
}

/// Returns the similarity s/(s+1), below which J/s·(1−J/s) is smaller than J(1−J). This implies nothing about accuracy,
/// because the two are variances of estimators of different quantities (E-03).
#[must_use]
pub fn independent_crossing(sections: usize) -> f64 {
    sections as f64 / (sections as f64 + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::cantor;

    /// The printed part of Hassanian-esfahani 2018, Figure 1: documents as (attribute, section), and three orders of
    /// the nine attributes.
    const D1: [(u32, u32); 6] = [(1, 1), (2, 1), (5, 2), (7, 3), (8, 2), (9, 3)];
    const D3: [(u32, u32); 4] = [(1, 1), (2, 2), (5, 2), (7, 2)];
    const ORDERS: [[u32; 9]; 3] =
        [[6, 7, 1, 2, 5, 8, 9, 3, 4], [1, 9, 6, 3, 8, 2, 4, 7, 5], [3, 5, 6, 1, 9, 2, 8, 7, 4]];

    /// Returns, per order, the place of the document's first attribute in the order, not its number (E-12), and the
    /// section of this attribute.
    fn signature(document: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let first = |order: &[u32; 9]| {
            (1..).zip(order).find_map(|(place, attribute)| {
                document
                    .iter()
                    .find(|(shingle, _)| shingle == attribute)
                    .map(|&(_, section)| (place, section))
            })
        };
        ORDERS.iter().filter_map(first).collect()
    }

    #[test]
    fn figure_1() {
        let (d1, d3) = (signature(&D1), signature(&D3));
        assert_eq!(d1, [(2, 3), (1, 1), (2, 2)]);
        assert_eq!(d3, [(2, 2), (1, 1), (2, 2)]);
        let packed = |signature: &[(u32, u32)]| -> Vec<u128> {
            signature
                .iter()
                .filter_map(|&(minimum, section)| cantor::pair(minimum.into(), section.into()))
                .collect()
        };
        assert_eq!(packed(&d1), [18, 4, 12]);
        assert_eq!(packed(&d3), [12, 4, 12]);
        let matches = SectionalMatches::count(d1, d3, |a, b| a == b);
        assert_eq!(matches, SectionalMatches { registers: 3, minima: 3, aligned: 2 });
        assert_eq!(matches.similarity().value, 1.0);
        assert!((matches.aligned_similarity().value - 0.666_667).abs() < 5e-7);
        assert!((matches.alignment_rate().unwrap().value - 0.666_667).abs() < 5e-7);

        let common = D1.iter().filter(|(shingle, _)| D3.iter().any(|(other, _)| other == shingle)).count();
        let aligned = D1.iter().filter(|pair| D3.contains(pair)).count();
        let overlap = SectionalOverlap { left: D1.len(), right: D3.len(), common, aligned };
        // The similarity is 4/6, not 4/9 (E-01).
        assert!((overlap.similarity() - 0.666_667).abs() < 5e-7);
        assert!((overlap.post_tag() - 2.0 / 6.0).abs() < 1e-12);
        assert!((overlap.pre_tag() - 2.0 / 8.0).abs() < 1e-12);
        assert_eq!(overlap.alignment_rate(), Some(0.5));
    }

    #[test]
    fn registers_are_not_a_set() {
        let matches =
            SectionalMatches::count([(2, 3), (1, 1), (2, 2)], [(2, 2), (1, 1), (2, 3)], |a, b| a == b);
        assert!((matches.aligned_similarity().value - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn documented_example_of_both_designs() {
        // 100 words are put before 1000, with s = 2: J = 0.9088, 0.8633 by post-tag and 0.8256 by pre-tag (E-04). |A|
        // and |B| are chosen to give these shares: q = 0.95, and J = 0.9088 of 10,000.
        let overlap = SectionalOverlap { left: 9088, right: 10_000, common: 9088, aligned: 8633 };
        assert!((overlap.post_tag() - 0.8633).abs() < 5e-5);
        // The tolerance is half a unit in the fourth digit of J and of both shares, because each of these changes the
        // result.
        let rounding = 5e-5 * (1.0 + (1.9088 + 0.8633) / (1.9088f64 - 0.8633).powi(2));
        assert!((overlap.pre_tag() - 0.8256).abs() < rounding, "{}", overlap.pre_tag());
    }

    #[test]
    fn documented_displacements() {
        for (len, inserted, sections, printed) in
            [(1000, 100, 2, 0.95), (1000, 100, 5, 0.80), (1000, 50, 3, 0.949), (2568, 100, 2, 0.980_530)]
        {
            let section = |pos: usize, len: usize| pos * sections / len;
            let kept =
                (0..len).filter(|&pos| section(pos, len) == section(pos + inserted, len + inserted)).count();
            let kept = kept as f64 / len as f64;
            assert!((kept - printed).abs() < 5e-4, "{kept}");
            // A boundary falls between two tokens, so each of the s−1 boundaries may be off by one token.
            let rounding = sections as f64 / len as f64;
            assert!((1.0 - displaced_share(inserted, len, sections) - kept).abs() < rounding, "{kept}");
        }
    }

    #[test]
    fn the_independent_model() {
        let mean = independent_mean(0.8, 2);
        assert!((mean - 0.4).abs() < 1e-12);
        assert!((variance(mean, 500) - 4.8e-4).abs() < 1e-12);
        assert!((independent_crossing(2) - 0.666_667).abs() < 5e-7);
        assert!((independent_crossing(5) - 0.833_333).abs() < 5e-7);
        for sections in [2, 3, 5] {
            let at = independent_crossing(sections);
            assert!((variance(independent_mean(at, sections), 1) - variance(at, 1)).abs() < 1e-12);
        }
        // Three times the variance of plain MinHash at J = 0.5 and s = 2.
        assert!((independent_rescaled_variance(0.5, 2, 100) - 3.0 * variance(0.5, 100)).abs() < 1e-12);
        // At J = 1 the true variance is 0, but that of the model is 0.25 (E-10).
        assert_eq!(variance(1.0, 1), 0.0);
        assert!((variance(independent_mean(1.0, 2), 1) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn nothing_in_common_has_no_alignment() {
        let matches = SectionalMatches::count([(1, 0)], [(2, 0)], |a, b| a == b);
        assert_eq!(matches.alignment_rate(), None);
        assert_eq!(matches.similarity().value, 0.0);
        assert!(matches.aligned_similarity().standard_error > 0.0);
        let none = SectionalOverlap { left: 1, right: 1, common: 0, aligned: 0 };
        assert_eq!((none.alignment_rate(), none.post_tag()), (None, 0.0));
    }
}
