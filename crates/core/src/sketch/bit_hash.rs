//! `BitHash`.
//!
//! - **Paper.** Zhang, Ji, Zhu, Li, Xu and Zhang, *`BitHash`: an efficient bitwise locality sensitive hashing method
//!   with applications*, 2016; [Hassanian-esfahani 2018](crate#sources), Table 1.
//! - **Idea.** The sketch keeps one bit per register: whether a hash of the minimum is odd. Sketches of similar
//!   documents have a small Hamming distance.
//! - **Symbols.** k → registers of the source; `d_H` → [`distance`](BitHash::distance).
//! - **Formula.** Bit i is the lowest bit of `register_bits(i, zᵢ)`. Ĵ = 1 − 2d/k, where d is `d_H`.
//! - **Cost.** The cost of the source; ⌈k/32⌉ words per sketch; a comparison is an exclusive or and a count of ones.
//! - **Error.** The estimate is unbiased until it is clamped to 0, with variance (1−J)(1+J)/k; a test below checks it
//!   over 2000 families of hash functions.
//! - **Differs.** The sketch and its implementation are those of [`BBit`] with one bit. Only the estimator has the form
//!   of the paper.
//! - **Vectors.** Another program computed the vectors in `estimate/b_bit.rs` from the definition.
//!
//! - **Use when** comparisons must be as cheap as possible.
//! - **Do not** use it below J = ⅓, where two bits per register use storage better.

use std::sync::Arc;

use super::b_bit::BBit;
use super::{Registers, Sketcher, Statistic};
use crate::error::Error;
use crate::estimate::{Estimate, b_bit};

/// Keeps a parity bit of each register of another sketch.
#[derive(Debug, Clone)]
pub struct BitHash {
    bits: BBit,
}

impl BitHash {
    /// Makes a sketcher that keeps one bit of each register of `source`.
    ///
    /// # Errors
    /// Never fails. The result is a `Result` because the constructors of the other sketches return one.
    pub fn new(source: Arc<dyn Registers>) -> Result<Self, Error> {
        Ok(Self { bits: BBit::new(source, 1)? })
    }

    /// Returns k, the number of registers of the source.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.bits.registers()
    }

    /// Returns `d_H`, the number of bits in which two sketches differ.
    ///
    /// # Panics
    /// Panics if a sketch has another length than this sketcher's.
    #[must_use]
    pub fn distance(&self, a: &[u32], b: &[u32]) -> usize {
        self.registers() - self.bits.matches(a, b)
    }
}

impl super::sealed::Sealed for BitHash {}

impl Sketcher for BitHash {
    fn words(&self) -> usize {
        self.bits.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        self.bits.sketch_into(shingles, out);
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualBits
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        b_bit::hamming_estimate(self.distance(a, b), self.registers())
    }
}

#[cfg(test)]
mod tests {
    use super::super::b_bit::testing::{binomial, conforms, follows, sets, sketch, source};
    use super::*;

    #[test]
    fn it_conforms() {
        for registers in [70, 96, 128] {
            conforms(&BitHash::new(source(registers, 1)).unwrap());
        }
    }

    #[test]
    fn it_is_one_bit_of_b_bit() {
        let (hash, bits) = (BitHash::new(source(100, 1)).unwrap(), BBit::new(source(100, 1), 1).unwrap());
        let (a, b) = sets(90, 60);
        let (row_a, row_b) = (sketch(&hash, &a), sketch(&hash, &b));
        assert_eq!(row_a, sketch(&bits, &a));
        let (found, expected) = (hash.estimate(&row_a, &row_b), bits.estimate(&row_a, &row_b));
        assert!((found.value - expected.value).abs() < 1e-12);
        assert!((found.standard_error - expected.standard_error).abs() < 1e-12);
    }

    #[test]
    fn the_distance_is_binomial() {
        for shared in [40, 96] {
            follows(
                160,
                (120, shared),
                |source| BitHash::new(source).unwrap(),
                BitHash::distance,
                |j| binomial(160, (1.0 - j) / 2.0),
            );
        }
    }
}
