//! b-bit minwise hashing.
//!
//! - **Paper.** Li and König, *b-Bit minwise hashing*, 2010; [Yuan 2012](crate#sources), (4) to (9).
//! - **Idea.** If two registers differ, their lowest bits usually differ, too. The sketch keeps only a few bits per
//!   register, and the estimator subtracts the agreements that chance alone gives.
//! - **Symbols.** k → registers of the source; b → `bits`; C₁, C₂ → [`Chance`]; Ê → the share of matches.
//! - **Formula.** The bits of register i with value z are the b lowest bits of `register_bits(i, z)`. If b is 8 or 16,
//!   they are bytes or half words of a word, the first in the lowest bits. Otherwise they lie in b planes of w = ⌈k/32⌉
//!   words: bit p of register i is bit i mod 32 of word p·w + ⌊i/32⌋. Bits beyond the last register are 0.
//! - **Cost.** The cost of the source, and a few ns per register to mix and place its bits. A sketch takes b·⌈k/32⌉
//!   words, or ⌈kb/32⌉ if b is 8 or 16. A comparison takes some ns: `sketch/packing.rs` has the figures and the
//!   reasons.
//! - **Error.** The estimate is unbiased, with variance (1−J)(J + 1/(2ᵇ−1))/k; a test below checks it over 2000
//!   families of hash functions. One bit per register uses storage best above J = 1/3 (E-26).
//! - **Differs.** The paper takes the lowest bits of the minimum itself, and its C₁ and C₂ depend on the sizes of the
//!   sets. Here the value is first mixed with the number of its register. As a result, C₁ = C₂ = 2⁻ᵇ for sets of every
//!   size (E-27), and registers that hold copies of one value give different bits.
//! - **Vectors.** Another program computed the vectors in `estimate/b_bit.rs` from the definition. A second
//!   implementation of the formula computed the words in the test below.
//!
//! - **Use when** many sketches are stored or compared, and similarities above ⅓ matter.
//! - **Do not** merge or band these sketches, because merging and banding need whole registers.

use std::sync::Arc;

use super::packing::{DifferenceBound, Packing};
use super::{Registers, Sketcher, Statistic, minhash::EMPTY, register_bits};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::estimate::b_bit::{self, Chance};

/// Greatest number of bits that a sketch keeps per register.
pub(super) const MOST_BITS: u32 = 16;

pub(super) fn check_bits(bits: u32) -> Result<(), Error> {
    if (1..=MOST_BITS).contains(&bits) {
        Ok(())
    } else {
        Err(Error::out_of_range("the number of bits of a register", bits, "from 1 to 16"))
    }
}

/// Returns the source's registers for one document. If there are no shingles, it fills `out` with `EMPTY` and returns
/// `None`.
///
/// # Panics
/// Panics if `out` does not have `words` elements.
pub(super) fn registers_of(
    source: &dyn Registers,
    words: usize,
    shingles: &[u64],
    out: &mut [u32],
) -> Option<Vec<u32>> {
    assert_eq!(out.len(), words, "as many words as the sketch has");
    if shingles.is_empty() {
        out.fill(EMPTY);
        return None;
    }
    let mut values = vec![EMPTY; source.words()];
    source.sketch_into(shingles, &mut values);
    Some(values)
}

/// Keeps b bits of each register of another sketch.
#[derive(Debug, Clone)]
pub struct BBit {
    source: Arc<dyn Registers>,
    bits: u32,
    packing: Packing,
}

impl BBit {
    /// Makes a sketcher that keeps `bits` bits, from 1 to 16, of each register of `source`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `bits` is from 1 to 16.
    pub fn new(source: Arc<dyn Registers>, bits: u32) -> Result<Self, Error> {
        check_bits(bits)?;
        let packing = Packing::new(source.words(), bits);
        Ok(Self { source, bits, packing })
    }

    /// Returns b, the number of bits per register.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns k, the number of registers of the source.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.packing.values()
    }

    /// Returns the number of registers in which two sketches agree.
    ///
    /// # Panics
    /// Panics if a sketch has another length than this sketcher's.
    #[must_use]
    pub fn matches(&self, a: &[u32], b: &[u32]) -> usize {
        self.packing.matches(a, b)
    }
}

impl super::sealed::Sealed for BBit {}

impl Sketcher for BBit {
    fn words(&self) -> usize {
        self.packing.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        if let Some(values) = registers_of(&*self.source, self.words(), shingles, out) {
            self.packing.pack(|i| register_bits(i, values[i]), out);
        }
    }

    fn statistic(&self) -> Statistic {
        if self.bits == 1 { Statistic::EqualBits } else { Statistic::Other }
    }

    fn bounds(&self, threshold: f64) -> Vec<DifferenceBound> {
        let (registers, chance) = (self.registers(), Chance::sparse(self.bits));
        let estimate = |matches| b_bit::estimate(matches, registers, chance).value;
        vec![DifferenceBound::of_all(self.packing, threshold, estimate)]
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        b_bit::estimate(self.matches(a, b), self.registers(), Chance::sparse(self.bits))
    }
}

/// Checks that the tests of all bit sketches share.
#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::hash::SplitMix64;
    use crate::sketch::MinHash;

    pub(in super::super) fn source(registers: usize, seed: u64) -> Arc<dyn Registers> {
        Arc::new(MinHash::new(registers, seed).unwrap())
    }

    pub(in super::super) fn sketch(sketcher: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
        let mut out = vec![7; sketcher.words()];
        sketcher.sketch_into(shingles, &mut out);
        out
    }

    /// Returns two sets of random shingles. Both sets together have `union` shingles and share `shared` of them. Two
    /// thirds of the other shingles are in the first set only, and one third in the second set only.
    pub(in super::super) fn sets(union: usize, shared: usize) -> (Vec<u64>, Vec<u64>) {
        let mut random = SplitMix64::new(union as u64);
        let ids: Vec<u64> = (0..union).map(|_| random.next_u64()).collect();
        let end = shared + 2 * (union - shared) / 3;
        (ids[..end].to_vec(), ids[..shared].iter().chain(&ids[end..]).copied().collect())
    }

    /// Checks the laws that hold for every bit sketch.
    pub(in super::super) fn conforms(sketcher: &dyn Sketcher) {
        let (a, b) = sets(90, 60);
        let (row_a, row_b) = (sketch(sketcher, &a), sketch(sketcher, &b));
        let mut shuffled = a.clone();
        shuffled.extend_from_within(..);
        shuffled.reverse();
        assert_eq!(sketch(sketcher, &shuffled), row_a, "neither order nor repeats matter");
        assert_eq!(sketcher.estimate(&row_a, &row_a).value, 1.0, "equal sets agree everywhere");
        assert_eq!(sketcher.estimate(&row_a, &row_b), sketcher.estimate(&row_b, &row_a));
        assert!(sketch(sketcher, &[]).iter().all(|&word| word == EMPTY), "no shingles, empty words");
        let (one, other) = (sketch(sketcher, &[1]), sketch(sketcher, &[2]));
        assert_eq!(sketcher.estimate(&one, &one).value, 1.0);
        let apart = sketcher.estimate(&one, &other);
        assert!(apart.interval.0 < 0.3 && apart.value < 0.9, "{apart:?}");
    }

    /// Measures the mean and the variance of `count` over 2000 families of hash functions, and compares them with
    /// `law`. The measured mean and variance must be within four standard errors.
    pub(in super::super) fn follows<S: Sketcher>(
        registers: usize,
        (union, shared): (usize, usize),
        make: impl Fn(Arc<dyn Registers>) -> S,
        count: impl Fn(&S, &[u32], &[u32]) -> usize,
        law: impl Fn(f64) -> (f64, f64),
    ) {
        const FAMILIES: u64 = 2000;
        let (a, b) = sets(union, shared);
        let counts: Vec<f64> = (0..FAMILIES)
            .map(|seed| {
                let sketcher = make(source(registers, seed));
                count(&sketcher, &sketch(&sketcher, &a), &sketch(&sketcher, &b)) as f64
            })
            .collect();
        let (mean, variance) = law(shared as f64 / union as f64);
        let n = FAMILIES as f64;
        let found = counts.iter().sum::<f64>() / n;
        let spread = counts.iter().map(|x| (x - found).powi(2)).sum::<f64>() / (n - 1.0);
        assert!((found - mean).abs() < 4.0 * (variance / n).sqrt(), "mean {found}, not {mean}");
        assert!(
            (spread / variance - 1.0).abs() < 4.0 * (2.0 / n).sqrt(),
            "variance {spread}, not {variance}"
        );
    }

    /// Returns the mean and the variance of the number of successes.
    pub(in super::super) fn binomial(trials: usize, probability: f64) -> (f64, f64) {
        let mean = trials as f64 * probability;
        (mean, mean * (1.0 - probability))
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{binomial, conforms, follows, sets, sketch, source};
    use super::*;

    #[test]
    fn every_width_conforms() {
        for bits in 1..=MOST_BITS {
            for registers in [65, 96, 128] {
                let sketcher = BBit::new(source(registers, 1), bits).unwrap();
                let words = match bits {
                    8 | 16 => (bits as usize * registers).div_ceil(32),
                    _ => bits as usize * registers.div_ceil(32),
                };
                assert_eq!(sketcher.words(), words);
                conforms(&sketcher);
            }
        }
    }

    #[test]
    fn rows_hold_what_the_registers_gave() {
        for registers in [1, 31, 32, 33, 64, 65, 96, 97, 160, 200] {
            let from = source(registers, 3);
            let (a, b) = sets(50, 25);
            let (plain_a, plain_b) = (sketch(&*from, &a), sketch(&*from, &b));
            for bits in 1..=MOST_BITS {
                let sketcher = BBit::new(from.clone(), bits).unwrap();
                let mask = (1 << bits) - 1;
                let agree = |i: &usize| {
                    register_bits(*i, plain_a[*i]) & mask == register_bits(*i, plain_b[*i]) & mask
                };
                let expected = (0..registers).filter(agree).count();
                assert_eq!(sketcher.matches(&sketch(&sketcher, &a), &sketch(&sketcher, &b)), expected);
            }
        }
    }

    #[test]
    fn the_matches_are_binomial() {
        for (bits, shared) in [(1, 60), (1, 96), (2, 30), (4, 60), (16, 100)] {
            follows(
                128,
                (120, shared),
                |source| BBit::new(source, bits).unwrap(),
                BBit::matches,
                |j| binomial(128, Chance::sparse(bits).match_probability(j)),
            );
        }
    }

    #[test]
    fn the_number_of_bits_is_checked() {
        for wrong in [0, 17] {
            let message = BBit::new(source(8, 1), wrong).unwrap_err().to_string();
            assert!(message.contains("from 1 to 16"), "{message}");
        }
    }

    #[test]
    fn the_words_are_frozen() {
        let sketcher = BBit::new(source(96, 1), 2).unwrap();
        let expected = [0x2d8a_a12b, 0x07fb_e3c8, 0x611e_2d93, 0xd69c_ade8, 0xd2a0_d3e6, 0x3619_7fcb];
        assert_eq!(sketch(&sketcher, &[1, 2, 3]), expected);
    }
}
