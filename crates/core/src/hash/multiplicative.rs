//! Multiplicative hashing.
//!
//! - **Paper.** Knuth, *The Art of Computer Programming* 3, 6.4; Dietzfelbinger and others, *A reliable randomized
//!   algorithm for the closest-pair problem*, 1997; [Bergillos 2018](crate#sources), §6.2.
//! - **Idea.** The upper bits of the product with a large odd number depend on all bits of the key.
//! - **Symbols.** w → the bits of a word; s = ⌊A·2ʷ⌋ with A = (√5−1)/2; p → `bits`.
//! - **Formula.** h(x) = ((x·s) mod 2ʷ) ≫ (w−p). The family: hᵢ(x) = (fmix64(x)·sᵢ + oᵢ) mod 2⁶⁴, sᵢ odd.
//! - **Cost.** One multiplication per key and function.
//! - **Error.** On mixed keys the family is as good as a random order; a test in this file checks it.
//! - **Differs.** Bergillos 2018, §6.2, takes the constant as "a starting point" of a family. Multiplication alone maps
//!   0 to 0, so row 0 of a document is the minimum of every function. J = 0.20 is then estimated as 1 if both documents
//!   have row 0, and J = 0.99 as 0 if only one has it (E-36). Offsets, odd multipliers and mixed keys prevent this. The
//!   formula of Bergillos 2018 should read ⌊m·(kA mod 1)⌋.
//! - **Vectors.** Another program computed the golden values from the definition.
//!
//! - **Use when** a table of 2ᵖ slots needs an index, or for a comparison with the family of Bergillos 2018.
//! - **Do not** hash untrusted keys with these functions, and do not take minima of few bits, because they tie.

use super::{SplitMix64, fmix64};
use crate::error::Error;

/// Multiplier s = ⌊A·2¹⁶⌋ for words of 16 bits.
pub const FIBONACCI_16: u16 = 40_503;
/// Multiplier s = ⌊A·2³²⌋ for words of 32 bits.
pub const FIBONACCI_32: u32 = 0x9e37_79b9;
/// Multiplier s = ⌊A·2⁶⁴⌋ for words of 64 bits.
pub const FIBONACCI_64: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the upper `bits` bits of the product with [`FIBONACCI_32`].
///
/// # Panics
/// Panics if `bits` is not from 1 to 32.
#[inline]
#[must_use]
pub const fn fibonacci_32(key: u32, bits: u32) -> u32 {
    assert!(bits >= 1 && bits <= 32, "a hash has 1 to 32 bits");
    key.wrapping_mul(FIBONACCI_32) >> (32 - bits)
}

/// Returns the upper `bits` bits of the product with [`FIBONACCI_64`].
///
/// # Panics
/// Panics if `bits` is not from 1 to 64.
#[inline]
#[must_use]
pub const fn fibonacci_64(key: u64, bits: u32) -> u64 {
    assert!(bits >= 1 && bits <= 64, "a hash has 1 to 64 bits");
    key.wrapping_mul(FIBONACCI_64) >> (64 - bits)
}

/// Functions with random odd multipliers and offsets, on mixed keys.
#[derive(Debug, Clone)]
pub struct Multiplicative {
    coefficients: Vec<(u64, u64)>,
}

impl Multiplicative {
    /// Creates `functions` functions, drawn by `seed`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `functions` is 0.
    pub fn new(functions: usize, seed: u64) -> Result<Self, Error> {
        if functions == 0 {
            return Err(Error::out_of_range("the number of functions", functions, "at least 1"));
        }
        let mut random = SplitMix64::new(seed);
        Ok(Self {
            coefficients: (0..functions).map(|_| (random.next_u64() | 1, random.next_u64())).collect(),
        })
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.coefficients.len()
    }

    /// Returns the value of one function, with 64 bits. Each function is a permutation of the keys.
    ///
    /// # Panics
    /// Panics if `function` is not below the number of functions.
    #[inline]
    #[must_use]
    pub fn hash(&self, function: usize, key: u64) -> u64 {
        let (multiplier, offset) = self.coefficients[function];
        fmix64(key).wrapping_mul(multiplier).wrapping_add(offset)
    }

    /// Writes the upper 32 bits of the minimum of each function over the keys; `u32::MAX` if there are no keys.
    ///
    /// # Panics
    /// Panics if `out` does not have one element per function.
    pub fn minima_into(&self, keys: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.functions(), "one register per function");
        for (function, out) in out.iter_mut().enumerate() {
            let least = keys.iter().map(|&key| self.hash(function, key)).min();
            *out = least.map_or(u32::MAX, |least| (least >> 32) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_values() {
        assert_eq!(FIBONACCI_32, 2_654_435_769);
        assert_eq!(FIBONACCI_64, 11_400_714_819_323_198_485);
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        assert_eq!((golden * 2f64.powi(16)) as u16, FIBONACCI_16);
        assert_eq!((golden * 2f64.powi(32)) as u32, FIBONACCI_32);
        for (key, bits_14, bits_32) in [
            (0, 0, 0),
            (1, 10_125, 2_654_435_769),
            (2, 3867, 1_013_904_242),
            (3, 13_993, 3_668_340_011),
            (10, 2954, 774_553_914),
            (123_456, 67, 17_612_864),
        ] {
            assert_eq!((fibonacci_32(key, 14), fibonacci_32(key, 32)), (bits_14, bits_32), "{key}");
        }
        assert_eq!((fibonacci_64(1, 64), fibonacci_64(1, 32)), (FIBONACCI_64, 0x9e37_79b9));
    }

    /// Returns the share of functions in which two sets agree, and its standard error.
    fn agreement(a: &[u64], b: &[u64], hash: impl Fn(u64, u64) -> u64) -> (f64, f64) {
        const FUNCTIONS: u64 = 20_000;
        let minimum = |set: &[u64], function| set.iter().map(|&key| hash(function, key)).min();
        let agreeing =
            (0..FUNCTIONS).filter(|&function| minimum(a, function) == minimum(b, function)).count();
        let share = agreeing as f64 / FUNCTIONS as f64;
        (share, (share * (1.0 - share) / FUNCTIONS as f64).sqrt())
    }

    #[test]
    fn the_bare_family_fails_at_row_0() {
        let bare = |function, key: u64| key.wrapping_mul(fmix64(function) | 1);
        // First J = 0.2, with row 0 in both sets; then J = 0.99, with row 0 in one set.
        let both: (Vec<u64>, Vec<u64>) = ((0..60).collect(), (0..20).chain(100..140).collect());
        assert_eq!(agreement(&both.0, &both.1, bare).0, 1.0);
        let one: (Vec<u64>, Vec<u64>) = ((0..100).collect(), (1..100).collect());
        assert_eq!(agreement(&one.0, &one.1, bare).0, 0.0);
    }

    #[test]
    fn the_family_is_min_wise() {
        let family = Multiplicative::new(20_000, 3).unwrap();
        for (left, right, similarity) in
            [((0, 60), (40, 100), 0.2), ((0, 100), (1, 100), 0.99), ((0, 200), (100, 300), 1.0 / 3.0)]
        {
            // Every function gets other ids. With fixed ids, the fixed mixing would decide the result of all functions
            // at once.
            let hash = |function: u64, key| family.hash(function as usize, key + (fmix64(function) >> 8));
            let (a, b): (Vec<u64>, Vec<u64>) = ((left.0..left.1).collect(), (right.0..right.1).collect());
            let (share, error) = agreement(&a, &b, hash);
            assert!((share - similarity).abs() <= 4.0 * error, "{share}, {similarity} expected");
        }
    }

    #[test]
    fn settings_and_minima() {
        assert!(Multiplicative::new(0, 1).is_err());
        let family = Multiplicative::new(3, 1).unwrap();
        let mut out = [0; 3];
        family.minima_into(&[], &mut out);
        assert_eq!(out, [u32::MAX; 3]);
        family.minima_into(&[5, 6, 5], &mut out);
        for (function, &least) in out.iter().enumerate() {
            assert_eq!(least, (family.hash(function, 5).min(family.hash(function, 6)) >> 32) as u32);
        }
    }
}
