//! The odd sketch.
//!
//! - **Paper.** Mitzenmacher, Pagh and Pham, *Efficient estimation for high similarities using odd sketches*,
//!   2014; [Hassanian-esfahani 2018](crate#sources), Table 1.
//! - **Idea.** Every register flips one bit of a small array, at a place that its number and value determine.
//!   Registers that two documents share cancel in the exclusive or of their arrays. The exclusive or therefore depends
//!   only on the registers that differ.
//! - **Symbols.** n → `bits`; k → registers of the source; z → [`difference`](Odd::difference).
//! - **Formula.** Register i with value z flips bit `register_bits(i, z) mod n`. Ĵ = 1 + (n/4k)·ln(1 − 2z/n).
//! - **Cost.** The cost of the source, and k flips per document; ⌈n/32⌉ words per sketch; a comparison is an exclusive
//!   or and a count of ones.
//! - **Error.** The estimate is consistent, with variance J(1−J)/k + Var\[z\]·((1/2k)/(1−2/n)^m)² and m = 2k(1−J)
//!   (E-11). A test below checks the distribution of z over 2000 families of hash functions. If 2z ≥ n, the similarity
//!   is too low for the sketch, and the estimate is 0.
//! - **Differs.** Only the hash differs. The best k is about n/(4(1−J)): see `estimate::odd::best_registers`.
//! - **Vectors.** Another program computed the vectors in `estimate/odd.rs` from the definition. A second
//!   implementation of the formula computed the words in the test below.
//!
//! - **Use when** only similarities above about 0.9 matter: there it has the lowest variance per bit.
//! - **Do not** use it for lower similarities.

use std::sync::Arc;

use super::b_bit::registers_of;
use super::packing::Packing;
use super::{Registers, Sketcher, register_bits};
use crate::error::Error;
use crate::estimate::{Estimate, odd};

/// Greatest number of bits of a sketch.
const MOST_BITS: usize = 1 << 24;

/// Flips one bit for each register of another sketch.
#[derive(Debug, Clone)]
pub struct Odd {
    source: Arc<dyn Registers>,
    packing: Packing,
}

impl Odd {
    /// Makes a sketcher that flips one of `bits` bits, from 8 to 2²⁴, for each register of `source`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `bits` is from 8 to 16,777,216.
    pub fn new(source: Arc<dyn Registers>, bits: usize) -> Result<Self, Error> {
        if !(8..=MOST_BITS).contains(&bits) {
            return Err(Error::out_of_range("the number of bits of a sketch", bits, "from 8 to 16777216"));
        }
        Ok(Self { source, packing: Packing::new(bits, 1) })
    }

    /// Returns n, the number of bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.packing.values()
    }

    /// Returns k, the number of registers of the source.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.source.words()
    }

    /// Returns z, the number of bits in which two sketches differ.
    ///
    /// # Panics
    /// Panics if a sketch has another length than this sketcher's.
    #[must_use]
    pub fn difference(&self, a: &[u32], b: &[u32]) -> usize {
        self.bits() - self.packing.matches(a, b)
    }
}

impl super::sealed::Sealed for Odd {}

impl Sketcher for Odd {
    fn words(&self) -> usize {
        self.packing.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        let Some(values) = registers_of(&*self.source, self.words(), shingles, out) else { return };
        out.fill(0);
        for (i, value) in values.into_iter().enumerate() {
            let place = register_bits(i, value) as usize % self.bits();
            out[place / 32] ^= 1 << (place % 32);
        }
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        odd::estimate(self.difference(a, b), self.registers(), self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::super::b_bit::testing::{conforms, follows, sketch, source};
    use super::*;

    #[test]
    fn it_conforms() {
        for (registers, bits) in [(64, 100), (128, 128), (128, 1024)] {
            conforms(&Odd::new(source(registers, 1), bits).unwrap());
        }
    }

    #[test]
    fn the_parity_of_the_array_is_that_of_the_registers() {
        for registers in [63, 64] {
            let sketcher = Odd::new(source(registers, 1), 100).unwrap();
            let ones: u32 = sketch(&sketcher, &[1, 2, 3]).iter().map(|word| word.count_ones()).sum();
            assert_eq!(ones as usize % 2, registers % 2);
        }
    }

    #[test]
    fn the_difference_follows_its_law() {
        for (registers, bits, shared) in [(256, 512, 96), (512, 250, 108), (512, 1024, 60)] {
            follows(
                registers,
                (120, shared),
                |source| Odd::new(source, bits).unwrap(),
                Odd::difference,
                |j| odd::difference(j, registers, bits),
            );
        }
    }

    #[test]
    fn the_number_of_bits_is_checked() {
        for wrong in [0, 7, MOST_BITS + 1] {
            assert!(Odd::new(source(8, 1), wrong).is_err());
        }
    }

    #[test]
    fn the_words_are_frozen() {
        let sketcher = Odd::new(source(96, 1), 50).unwrap();
        assert_eq!(sketch(&sketcher, &[1, 2, 3]), [0xc238_e26d, 0x0003_d38e]);
    }
}
