//! Connected bits.
//!
//! - **Paper.** Tang, Tian and Liu, *Connected bit minwise hashing for large-scale linear SVM*, 2015;
//!   [Hassanian-esfahani 2018](crate#sources), Table 1.
//! - **Idea.** Join the b bits of n registers to one word, and count the words that agree completely. Comparisons are
//!   fewer, and each is wider.
//! - **Symbols.** k → registers of the source; n → `connected`; b → `bits`; G → the probability that a word agrees.
//! - **Formula.** Word g joins registers g·n to g·n + n − 1, the first in the lowest bits. The bits of a register are
//!   those of [`BBit`](super::b_bit::BBit). The joined words have the layout that `BBit` has for values of n·b bits.
//! - **Cost.** The cost of the source, and a few ns per register. A sketch takes n·b·⌈k/(32n)⌉ words, or ⌈kb/32⌉ if n·b
//!   is 8, 16 or 32.
//! - **Error.** The estimate is consistent, with a bias of order 1/k. Its variance is G(1−G)/(k(1−2⁻ᵇ)²·n·G^(2(n−1)/n))
//!   (E-11), which is more than the variance of the same bits unjoined. A test below checks the distribution of the
//!   count over 2000 families of hash functions.
//! - **Differs.** The bits are mixed. The number of registers must be a multiple of n. The layout is that of `b_bit`.
//! - **Vectors.** Another program computed the vectors in `estimate/connected_bit.rs` from the definition. A second
//!   implementation of the formula computed the words in the test below.
//!
//! - **Use when** other code looks up or compares whole words, and similarities are high.
//! - **Do not** use it to save storage, because `BBit` has a lower variance with the same number of bits.

use std::sync::Arc;

use super::b_bit::{check_bits, registers_of};
use super::packing::{DifferenceBound, Packing};
use super::{Registers, Sketcher, register_bits};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::estimate::b_bit::Chance;
use crate::estimate::connected_bit;

/// Joins b bits of each of n registers to a word.
#[derive(Debug, Clone)]
pub struct ConnectedBit {
    source: Arc<dyn Registers>,
    bits: u32,
    connected: usize,
    packing: Packing,
}

impl ConnectedBit {
    /// Makes a sketcher that joins `bits` bits, from 1 to 16, of each of `connected` registers, at most 32 bits
    /// together.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `bits` is from 1 to 16, `connected` is
    /// at least 1, `bits` times `connected` is at most 32, and the number of registers of `source` is a multiple of
    /// `connected`.
    pub fn new(source: Arc<dyn Registers>, bits: u32, connected: usize) -> Result<Self, Error> {
        check_bits(bits)?;
        if !(1..=32 / bits as usize).contains(&connected) {
            let expected = "at least 1, and at most 32 bits together";
            return Err(Error::out_of_range("the number of connected registers", connected, expected));
        }
        let registers = source.words();
        if !registers.is_multiple_of(connected) {
            let expected = "a multiple of those that are connected";
            return Err(Error::out_of_range("the number of registers", registers, expected));
        }
        let packing = Packing::new(registers / connected, bits * connected as u32);
        Ok(Self { source, bits, connected, packing })
    }

    /// Returns b, the number of bits per register.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns n, the number of connected registers.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.connected
    }

    /// Returns k/n, the number of joined words.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.packing.values()
    }

    /// Returns the number of joined words in which two sketches agree completely.
    ///
    /// # Panics
    /// Panics if a sketch has another length than this sketcher's.
    #[must_use]
    pub fn matches(&self, a: &[u32], b: &[u32]) -> usize {
        self.packing.matches(a, b)
    }
}

impl super::sealed::Sealed for ConnectedBit {}

impl Sketcher for ConnectedBit {
    fn words(&self) -> usize {
        self.packing.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        let Some(values) = registers_of(&*self.source, self.words(), shingles, out) else { return };
        let mask = (1 << self.bits) - 1;
        let join = |group: usize| {
            let first = group * self.connected;
            (first..first + self.connected)
                .rev()
                .fold(0_u32, |joined, i| joined << self.bits | register_bits(i, values[i]) & mask)
        };
        self.packing.pack(join, out);
    }

    fn bounds(&self, threshold: f64) -> Vec<DifferenceBound> {
        let (groups, connected, chance) = (self.groups(), self.connected, Chance::sparse(self.bits));
        let estimate = |matches| connected_bit::estimate(matches, groups, connected, chance).value;
        vec![DifferenceBound::of_all(self.packing, threshold, estimate)]
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        let chance = Chance::sparse(self.bits);
        connected_bit::estimate(self.matches(a, b), self.groups(), self.connected, chance)
    }
}

#[cfg(test)]
mod tests {
    use super::super::b_bit::BBit;
    use super::super::b_bit::testing::{binomial, conforms, follows, sets, sketch, source};
    use super::*;

    #[test]
    fn it_conforms() {
        for (bits, connected) in [(1, 1), (1, 2), (1, 4), (2, 2), (4, 2), (16, 2), (1, 32)] {
            conforms(&ConnectedBit::new(source(256, 1), bits, connected).unwrap());
        }
    }

    #[test]
    fn one_connected_register_is_b_bit() {
        let (a, b) = sets(90, 60);
        let (connected, plain) =
            (ConnectedBit::new(source(100, 1), 3, 1).unwrap(), BBit::new(source(100, 1), 3).unwrap());
        let (row_a, row_b) = (sketch(&connected, &a), sketch(&connected, &b));
        assert_eq!(row_a, sketch(&plain, &a));
        assert_eq!(connected.estimate(&row_a, &row_b), plain.estimate(&row_a, &row_b));
    }

    #[test]
    fn words_agree_where_all_their_registers_do() {
        let (a, b) = sets(90, 75);
        let from = source(120, 1);
        let (plain_a, plain_b) = (sketch(&*from, &a), sketch(&*from, &b));
        let sketcher = ConnectedBit::new(from, 2, 3).unwrap();
        let bits = |values: &[u32], i: usize| register_bits(i, values[i]) & 3;
        let expected =
            (0..40).filter(|g| (3 * g..3 * g + 3).all(|i| bits(&plain_a, i) == bits(&plain_b, i))).count();
        assert_eq!(sketcher.matches(&sketch(&sketcher, &a), &sketch(&sketcher, &b)), expected);
    }

    #[test]
    fn the_matches_are_binomial() {
        for (bits, connected, shared) in [(1, 2, 96), (1, 4, 96), (1, 4, 108), (2, 2, 60)] {
            follows(
                256,
                (120, shared),
                |source| ConnectedBit::new(source, bits, connected).unwrap(),
                ConnectedBit::matches,
                |j| {
                    let g = connected_bit::match_probability(j, connected, Chance::sparse(bits));
                    binomial(256 / connected, g)
                },
            );
        }
    }

    #[test]
    fn settings_are_checked() {
        for (registers, bits, connected) in
            [(8, 0, 1), (8, 17, 1), (8, 1, 0), (33, 1, 33), (9, 16, 3), (8, 1, 3)]
        {
            assert!(ConnectedBit::new(source(registers, 1), bits, connected).is_err());
        }
    }

    #[test]
    fn the_words_are_frozen() {
        let sketcher = ConnectedBit::new(source(96, 1), 2, 3).unwrap();
        let expected = [0x9b0f_a323, 0xd738_2c66, 0xa82f_a051, 0x03e4_bf5c, 0x0be6_bba6, 0x6fb2_f1ce];
        assert_eq!(sketch(&sketcher, &[1, 2, 3]), expected);
    }
}
