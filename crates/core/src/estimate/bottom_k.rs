//! The estimator of [`BottomK`](crate::sketch::bottom_k::BottomK).
//!
//! The k smallest values of the union are a sample of the union without replacement. With k′ = min(k, number of
//! distinct values in the two sketches), Ĵ is the share of the k′ smallest values that are in both sketches. The
//! estimate Ĵ is unbiased, with Var = J(1−J)/k·(u−k)/(u−1) for u = |A∪B| ≥ k, and 0 for u ≤ k. Dividing the size of the
//! intersection of the sketches by k is wrong, because it counts values beyond the k smallest of the union.
//! [Hassanian-esfahani 2018](crate#sources), Table 1, prints this estimator in its row "k-mins" (E-11).
//!
//! If the two sketches hold both sets whole, the estimate is the similarity itself and its error is 0. Otherwise u is
//! not known exactly, and [`estimate`] reports the larger J(1−J)/k.

use super::{Estimate, minhash, wilson_interval};

/// Common values of two sorted sketches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the counts of a formula, which callers construct")]
pub struct BottomKCounts {
    /// Number of values among the k smallest of the union that are in both sketches.
    pub matches: usize,
    /// k′: number of values of the union that were compared.
    pub looked_at: usize,
    /// Whether all values of the union were compared, because neither sketch is full.
    pub is_whole: bool,
}

/// Merges two ascending lists of distinct values, of at most `k` values each, up to the k-th value of their union.
pub fn count(a: impl IntoIterator<Item = u64>, b: impl IntoIterator<Item = u64>, k: usize) -> BottomKCounts {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let (mut next_a, mut next_b) = (a.next(), b.next());
    let (mut matches, mut looked_at, mut from_a, mut from_b) = (0, 0, 0, 0);
    while looked_at < k {
        let (take_a, take_b) = match (next_a, next_b) {
            (None, None) => break,
            (Some(_), None) => (true, false),
            (None, Some(_)) => (false, true),
            (Some(x), Some(y)) => (x <= y, y <= x),
        };
        looked_at += 1;
        matches += usize::from(take_a && take_b);
        if take_a {
            next_a = a.next();
            from_a += 1;
        }
        if take_b {
            next_b = b.next();
            from_b += 1;
        }
    }
    let is_whole = next_a.is_none() && next_b.is_none() && from_a < k && from_b < k;
    BottomKCounts { matches, looked_at, is_whole }
}

/// Returns the variance of the estimate for `common` of `union` shingles and sketches of `k` values.
#[must_use]
pub fn variance(union: usize, common: usize, k: usize) -> f64 {
    if union <= k {
        return 0.0;
    }
    let (u, k_) = (union as f64, k as f64);
    minhash::variance(common as f64 / u, k) * (u - k_) / (u - 1.0)
}

/// Estimates the number of distinct shingles of a document whose full sketch of k values ends with `greatest`: (k−1)/v,
/// where v = (`greatest` + 1)/2⁶⁴. The relative error is about 1/√(k−2).
#[must_use]
pub fn cardinality(k: usize, greatest: u64) -> f64 {
    (k as f64 - 1.0) * 2f64.powi(64) / (greatest as f64 + 1.0)
}

/// Estimates the Jaccard similarity of two documents that both have shingles.
///
/// # Panics
/// Panics if no value was compared, because two empty documents have no similarity.
#[must_use]
pub fn estimate(counts: BottomKCounts) -> Estimate {
    let BottomKCounts { matches, looked_at, is_whole } = counts;
    assert!(looked_at > 0, "the documents have shingles");
    let value = matches as f64 / looked_at as f64;
    if is_whole {
        return Estimate { value, standard_error: 0.0, interval: (value, value) };
    }
    let inside = (matches as f64 + 0.5) / (looked_at as f64 + 1.0);
    Estimate {
        value,
        standard_error: minhash::variance(inside, looked_at).sqrt(),
        interval: wilson_interval(matches as f64, looked_at as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [u64; 5] = [5, 23, 42, 61, 87];
    const B: [u64; 5] = [5, 14, 42, 87, 99];

    fn counts(k: usize) -> BottomKCounts {
        count(A.into_iter().take(k), B.into_iter().take(k), k)
    }

    #[test]
    fn documented_example() {
        assert_eq!(counts(3), BottomKCounts { matches: 1, looked_at: 3, is_whole: false });
        assert_eq!(counts(5), BottomKCounts { matches: 2, looked_at: 5, is_whole: false });
        for k in [7, 10] {
            assert_eq!(counts(k), BottomKCounts { matches: 3, looked_at: 7, is_whole: true });
            let estimate = estimate(counts(k));
            assert_eq!((estimate.value, estimate.standard_error), (3.0 / 7.0, 0.0));
        }
        assert!(estimate(counts(3)).standard_error > 0.2);
        assert_eq!(count(A, [], 5), BottomKCounts { matches: 0, looked_at: 5, is_whole: false });
    }

    #[test]
    fn documented_variances() {
        for (union, common, k, expected) in [
            (200, 100, 64, 2.669_598_0e-3),
            (200, 160, 64, 1.708_542_7e-3),
            (1000, 500, 128, 1.704_829_8e-3),
            (40, 30, 64, 0.0),
        ] {
            let variance = variance(union, common, k);
            assert!((variance - expected).abs() < 1e-10, "{union} {common}: {variance}");
        }
    }
}
