//! `BitHash`.
//!
//! - **Paper.** Zhang, Ji, Zhu, Li, Xu and Zhang, *`BitHash`: an efficient bitwise locality sensitive hashing method
//!   with applications*, 2016; [Hassanian-esfahani 2018](crate#sources), Table 1.
//! - **Idea.** One bit per register: whether a hash of the minimum is odd. Similar documents have sketches
//!   with a small Hamming distance.
//! - **Symbols.** k → registers of the source; `d_H` → [`distance`](BitHash::distance).
//! - **Formula.** Bit i is the lowest bit of `register_bits(i, zᵢ)`. Ĵ = 1 − 2d/k, where d is `d_H`.
//! - **Cost.** The cost of the source; ⌈k/32⌉ words per sketch; a comparison is an exclusive or and a count
//!   of ones.
//! - **Error.** unbiased until clamped, variance (1−J)(1+J)/k; checked below over 2000 families.
//! - **Differs.** The sketch is that of [`BBit`] with one bit, and is implemented as that; only the estimator
//!   has the form of the paper.
//! - **Vectors.** computed from the definition by another program, in `estimate/b_bit.rs`.
//!
//! - **Use when** comparisons must be as cheap as possible.
//! - **Do not** use it below J = ⅓, where two bits use storage better.

use std::sync::Arc;

use super::b_bit::BBit;
use super::{Registers, Sketcher, Statistic};
use crate::error::Error;
use crate::estimate::{Estimate, b_bit};

/// Keeps the parity of each register of another sketch.
#[derive(Debug, Clone)]
pub struct BitHash {
    bits: BBit,
}

impl BitHash {
    /// Sketches that keep one bit of each register of `source`.
    ///
    /// # Errors
    /// Never fails. It returns a `Result`, as the constructors of the other sketches do.
    pub fn new(source: Arc<dyn Registers>) -> Result<Self, Error> {
        Ok(Self { bits: BBit::new(source, 1)? })
    }

    /// k: the number of registers of the source.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.bits.registers()
    }

    /// `d_H`: the number of bits in which two sketches differ.
    ///
    /// # Panics
    /// Panics if one of them has another length.
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
