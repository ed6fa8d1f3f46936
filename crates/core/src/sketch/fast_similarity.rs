//! Fast similarity sketching.
//!
//! - **Paper.** Dahlgaard, Knudsen and Thorup, *Fast similarity sketching*, FOCS 2017, arXiv:1704.04370; the "Fast
//!   sketch" of [Hassanian-esfahani 2018](crate#sources), Table 1, which gives no estimator.
//! - **Idea.** In each round every shingle throws a value into one random register. Values of earlier rounds are less
//!   than values of later rounds. Rounds end when no register is empty, so a long document needs one or two. If t
//!   rounds are not enough, round t + j fills register j from all shingles.
//! - **Symbols.** t → `registers`; i → `round`.
//! - **Formula.** Round i has the hash function n = fmix64(x ⊕ sᵢ), where sᵢ is the i-th number of the `SplitMix64` of
//!   the seed. The register is ⌊(n mod 2³²)·t/2³²⌋, or i − t for i ≥ t. The value is i·2ʷ + ⌊n/2⁶⁴⁻ʷ⌋, at most 2³² − 2,
//!   with w = 32 − ⌈log₂ 2t⌉.
//! - **Cost.** O(n + t log t) for n shingles: one hash per shingle and round, with rounds until t registers are filled;
//!   4t bytes per sketch.
//! - **Error.** The estimate is unbiased, with variance α(t, u)·J(1−J)/t and the exact α of
//!   [`estimate::fast_similarity`]: α ≈ ½ for u = |A∪B| ≪ t, and α → 1 for u ≫ t. The tests in this file check the
//!   variance.
//! - **Differs.** Values are integers whose upper bits are the round, so that a register is one word and equality is
//!   exact. A round of the second half is skipped if its register is filled, which cannot change the sketch.
//! - **Vectors.** Another program computed the trace.
//!
//! - **Use when** speed matters and documents have any length. For long documents it is as cheap as one-permutation
//!   hashing, and no register is ever empty. Registers merge by minimum, because the rounds that were left out could
//!   not lower a register.
//! - **Do not** choose it over `MinHash` for its variance alone if documents have many times more shingles than
//!   registers.

use crate::error::Error;
use crate::estimate::{self, Estimate};
use crate::hash::{SplitMix64, fmix64};

use super::minhash::{EMPTY, check_registers};
use super::{Registers, Sketcher, Statistic, merge_minima};

/// Makes fast similarity sketches.
#[derive(Debug, Clone)]
pub struct FastSimilarity {
    seed: u64,
    registers: usize,
}

impl FastSimilarity {
    /// Makes a sketcher with `registers` registers (t); `seed` chooses the hash functions.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        Ok(Self { seed, registers })
    }
}

/// Throws the values of one round into registers, as pairs of register and fraction. Returns the number of registers
/// that were empty and are now filled.
#[inline(always)]
fn throw(
    registers: &mut [u32],
    round: usize,
    random_bits: u32,
    values: impl Iterator<Item = (usize, u32)>,
) -> usize {
    let base = ((round as u64) << random_bits) as u32;
    let mut filled = 0;
    for (register, fraction) in values {
        let old = registers[register];
        filled += usize::from(old == EMPTY);
        registers[register] = old.min((base | fraction).min(EMPTY - 1));
    }
    filled
}

impl super::sealed::Sealed for FastSimilarity {}

impl Sketcher for FastSimilarity {
    fn words(&self) -> usize {
        self.registers
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.registers, "one word per register");
        out.fill(EMPTY);
        if shingles.is_empty() {
            return;
        }
        let t = self.registers;
        let random_bits = 32 - (2 * t).next_power_of_two().trailing_zeros();
        let mut seeds = SplitMix64::new(self.seed);
        let mut empty = t;
        for round in 0..2 * t {
            if empty == 0 {
                return;
            }
            let seed = seeds.next_u64();
            let hashes = shingles.iter().map(|&shingle| fmix64(shingle ^ seed));
            let fraction = |hash: u64| (hash >> (64 - random_bits)) as u32;
            if round < t {
                let place = |hash: u64| (((hash & 0xffff_ffff) * t as u64) >> 32) as usize;
                empty -= throw(out, round, random_bits, hashes.map(|hash| (place(hash), fraction(hash))));
            } else if out[round - t] == EMPTY {
                let place = round - t;
                empty -= throw(out, round, random_bits, hashes.map(|hash| (place, fraction(hash))));
            }
        }
    }

    fn merge_into(&self, a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
        merge_minima(a, b, out)
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualWords
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        estimate::fast_similarity::estimate(a, b)
    }
}

impl Registers for FastSimilarity {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::trials::{check, check_laws, check_merge, sketch};

    #[test]
    fn laws_of_sketches() {
        for registers in [1, 2, 3, 64, 100] {
            let sketcher = FastSimilarity::new(registers, 1).unwrap();
            check_laws(&sketcher);
            check_merge(&sketcher);
        }
    }

    #[test]
    fn documented_trace() {
        // Values of the shingles x, y and z in rounds 0 to 2, each as a register and a fraction in tenths.
        let rounds = [[(0, 3), (2, 6), (0, 1)], [(1, 8), (1, 2), (2, 5)], [(0, 4), (2, 9), (1, 7)]];
        let of = |members: &[usize]| {
            let (mut registers, mut empty) = ([EMPTY; 3], 3);
            let mut last = 0;
            for (round, values) in rounds.iter().enumerate() {
                // The values have 29 bits, because sketches with three registers have that many.
                empty -= throw(&mut registers, round, 29, members.iter().map(|&member| values[member]));
                last = round;
                if empty == 0 {
                    break;
                }
            }
            (registers, last)
        };
        let at = |round: u32, tenths: u32| (round << 29) + tenths;
        let (x, y, z) = (0, 1, 2);
        assert_eq!(of(&[x, y]), ([at(0, 3), at(1, 2), at(0, 6)], 1));
        assert_eq!(of(&[y, z]), ([at(0, 1), at(1, 2), at(0, 6)], 1));
        assert_eq!(of(&[z]), ([at(0, 1), at(2, 7), at(1, 5)], 2));
        let estimate = FastSimilarity::new(3, 1).unwrap().estimate(&of(&[x, y]).0, &of(&[y, z]).0);
        assert_eq!(estimate.value, 2.0 / 3.0);
    }

    #[test]
    fn unbiased_with_the_variance_of_the_formula() {
        for (union, common, registers) in
            [(2, 1, 16), (10, 6, 16), (40, 30, 64), (200, 100, 64), (1000, 500, 64)]
        {
            let similarity = common as f64 / union as f64;
            let variance = estimate::fast_similarity::variance(similarity, union as usize, registers);
            check(3000, (union, common), variance, |seed| FastSimilarity::new(registers, seed).unwrap());
        }
    }

    #[test]
    fn every_register_is_filled_for_one_shingle() {
        for registers in [1, 2, 1000, 65536] {
            let sketcher = FastSimilarity::new(registers, 1).unwrap();
            assert!(!sketch(&sketcher, &[7]).contains(&EMPTY));
        }
    }

    #[test]
    fn the_number_of_registers_is_checked() {
        for wrong in [0, 65537] {
            assert!(FastSimilarity::new(wrong, 1).unwrap_err().to_string().contains("from 1 to 65,536"));
        }
    }
}
