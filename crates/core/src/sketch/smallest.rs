//! The smallest size of each kind of sketch for a wanted error, and its greatest size.
//!
//! A variance falls as a sketch grows, so bisection finds both sizes. It tries only sizes that every kind can have, so
//! each result has a valid text form.

use std::ops::Range;

use super::Method;
use super::minhash::MOST_REGISTERS;

/// All sizes are multiples of this number, so that registers divide into pairs, thirds and fours without remainder.
const STEP: usize = 12;
/// Greatest size in steps. More is impossible, because every kind has at least as many registers as its size.
const MOST_STEPS: usize = MOST_REGISTERS / STEP;

impl Method {
    /// Returns the range of indices of kinds in the list of [`all`](Self::all), which is the same for every size.
    #[must_use]
    pub fn kinds() -> Range<usize> {
        0..Self::all(STEP).len()
    }

    /// Returns the smallest sketch of a kind whose standard error at this similarity is at most `error`, by its
    /// [`variance`](Self::variance). Sizes are multiples of 12 registers or stored bits. Returns `None` if more
    /// registers are needed than a sketch can have.
    ///
    /// # Panics
    /// Panics if `kind` is not in [`kinds`](Self::kinds).
    #[must_use]
    pub fn smallest(kind: usize, similarity: f64, error: f64) -> Option<Self> {
        // Some formulas give NaN where the sketch has no information; the comparison is then false, as it must be.
        let reaches = |steps| of_kind(kind, steps).variance(similarity) <= error * error;
        let smallest = of_kind(kind, first(1..MOST_STEPS + 1, reaches)?);
        can_be_made(smallest).then_some(smallest)
    }

    /// Returns the largest sketch of a kind. Its size is a multiple of 12 registers or stored bits.
    ///
    /// # Panics
    /// Panics if `kind` is not in [`kinds`](Self::kinds).
    #[must_use]
    pub fn largest(kind: usize) -> Self {
        let too_large = |steps| !can_be_made(of_kind(kind, steps));
        let steps = first(1..MOST_STEPS + 1, too_large).map_or(MOST_STEPS, |steps| steps - 1);
        of_kind(kind, steps)
    }
}

fn of_kind(kind: usize, steps: usize) -> Method {
    Method::all(STEP * steps)[kind]
}

fn can_be_made(method: Method) -> bool {
    method.build(1).is_ok()
}

/// Returns the first element for which `holds` returns `true`. `holds` must return `true` for all elements after it,
/// too.
fn first(range: Range<usize>, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low < range.end).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(form: &str) -> usize {
        let starts = |kind: &usize| of_kind(*kind, 1).to_string().starts_with(form);
        Method::kinds().find(starts).unwrap()
    }

    #[test]
    fn the_smallest_has_the_error_and_no_smaller_one_has() {
        let mut found = 0;
        for (similarity, error) in [(0.8, 0.02), (0.5, 0.05), (0.95, 0.001)] {
            for kind in Method::kinds() {
                let reaches = |method: Method| method.variance(similarity) <= error * error;
                let Some(smallest) = Method::smallest(kind, similarity, error) else {
                    let largest = Method::largest(kind);
                    assert!(!reaches(largest), "{largest}");
                    continue;
                };
                assert!(reaches(smallest), "{smallest}");
                let size = (1..=MOST_STEPS).find(|&steps| of_kind(kind, steps) == smallest).unwrap();
                assert!(size == 1 || !reaches(of_kind(kind, size - 1)), "{smallest}");
                found += 1;
            }
        }
        assert!(found > 2 * Method::kinds().len(), "{found}");
    }

    #[test]
    fn what_is_found_can_be_typed() {
        for kind in Method::kinds() {
            for method in [Method::smallest(kind, 0.8, 0.02).unwrap(), Method::largest(kind)] {
                assert_eq!(method.to_string().parse::<Method>().unwrap(), method);
            }
        }
    }

    #[test]
    fn sizes_by_hand() {
        // J(1−J)/e² = 400, rounded up to a multiple of 12.
        assert_eq!(Method::smallest(named("minhash:"), 0.8, 0.02), Some(Method::minhash(408)));
        // 2¹⁶ = 12 · 5461 + 4, and 8 · 12 · 682 = 65 472.
        assert_eq!(Method::largest(named("minhash:")), Method::minhash(65_532));
        assert_eq!(Method::largest(named("xor:3")).to_string(), "xor:3/minhash:65472");
        // At similarity 1 the variance is 0. Near 0 the variance of `xor:3` is unbounded.
        assert_eq!(Method::smallest(named("minhash:"), 1.0, 0.02), Some(Method::minhash(12)));
        assert_eq!(Method::smallest(named("xor:3"), 0.1, 0.5), None);
        assert_eq!(Method::smallest(named("minhash:"), 0.8, 1e-9), None);
    }
}
