//! Cantor's pairing of two natural numbers into one.
//!
//! - **Paper.** Cantor, 1878; [Hassanian-esfahani 2018](crate#sources), §4, packs a minimum and its section with it.
//! - **Idea.** The pairs are numbered along the diagonals of the plane, so each pair has one number and each number
//!   belongs to one pair.
//! - **Formula.** The number of the pair is ⟨a, b⟩ = (a+b)(a+b+1)/2 + b. The inverse is w = ⌊(√(8z+1) − 1)/2⌋, b = z −
//!   w(w+1)/2, a = w − b.
//! - **Cost.** One multiplication of 128 bits per pair; the inverse takes an integer square root.
//! - **Differs.** Results have 128 bits, because the numbers of pairs of 32-bit numbers need up to 65 bits. The square
//!   root is computed on integers, because a floating-point root is off by one for large numbers.
//! - **Vectors.** Another program computed the golden values from the definition.
//!
//! - **Use when** a pair must be printed as [Hassanian-esfahani 2018](crate#sources) prints it.
//! - **Do not** store sketches with it: a pair kept as two fields takes fewer bits and compares faster.

/// Returns w(w+1)/2, the number of the first pair of diagonal w. The even factor is halved first, so the product fits.
const fn triangle(diagonal: u64) -> u128 {
    let w = diagonal as u128;
    if w.is_multiple_of(2) { (w / 2) * (w + 1) } else { w * w.div_ceil(2) }
}

/// Returns the number of the pair (a, b), which grows with a and with b; `None` if their sum does not fit 64 bits.
#[must_use]
pub fn pair(a: u64, b: u64) -> Option<u128> {
    Some(triangle(a.checked_add(b)?) + u128::from(b))
}

/// Returns the pair with number `number`; `None` if the sum of its parts does not fit 64 bits.
#[must_use]
pub fn unpair(number: u128) -> Option<(u64, u64)> {
    // ⌊√(2z)⌋ is w or w+1. It is used instead of √(8z + 1), because 8z + 1 may overflow; 2z overflows for the last
    // numbers only.
    let root = number.checked_mul(2).map_or(u64::MAX, |double| double.isqrt() as u64);
    let diagonal = if triangle(root) <= number { root } else { root - 1 };
    let b = u64::try_from(number - triangle(diagonal)).ok()?;
    Some((diagonal.checked_sub(b)?, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn documented_pairs() {
        let most = u64::from(u32::MAX);
        for (a, b, number) in [
            (0, 0, 0),
            (1, 0, 1),
            (0, 1, 2),
            (1, 1, 4),
            (2, 2, 12),
            (2, 3, 18),
            (3, 2, 17),
            (47, 32, 3192),
            (most, 0, 9_223_372_034_707_292_160),
            (most, 5, 9_223_372_056_182_128_655),
            (most, most, 36_893_488_138_829_168_640),
        ] {
            assert_eq!(pair(a, b), Some(number), "({a}, {b})");
            assert_eq!(unpair(number), Some((a, b)));
        }
    }

    #[test]
    fn every_number_has_one_pair() {
        let mut last = None;
        for number in 0..10_000 {
            let found = unpair(number).unwrap();
            assert_eq!(pair(found.0, found.1), Some(number));
            assert_ne!(Some(found), last);
            last = Some(found);
        }
    }

    #[test]
    fn the_last_pair() {
        let last = pair(0, u64::MAX).unwrap();
        assert_eq!(unpair(last), Some((0, u64::MAX)));
        assert_eq!((unpair(last + 1), pair(u64::MAX, 1), unpair(u128::MAX)), (None, None, None));
    }

    proptest! {
        #[test]
        fn there_and_back(a: u64, b: u64) {
            match pair(a, b) {
                Some(number) => prop_assert_eq!(unpair(number), Some((a, b))),
                None => prop_assert!(a.checked_add(b).is_none()),
            }
            let (a, b) = (a / 4, b / 4);
            prop_assert!(pair(a + 1, b) > pair(a, b) && pair(a, b + 1) > pair(a, b));
        }

        #[test]
        fn no_number_breaks_the_way_back(number: u128) {
            if let Some((a, b)) = unpair(number) {
                prop_assert_eq!(pair(a, b), Some(number));
            }
        }
    }
}
