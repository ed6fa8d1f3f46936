//! `SuperMinHash`.
//!
//! Paper      Ertl, *`SuperMinHash`: a new minwise hashing algorithm for Jaccard similarity estimation*, 2017,
//!            arXiv:1706.05698; a row of the first source's table (digest 05, 5).
//! Idea       Each shingle visits the registers in a random order of its own, and the value that it brings to the
//!            j-th register of its order lies between j and j+1. Registers then sample shingles nearly without replacement,
//!            and once every register holds a small value, a shingle can stop after its first steps.
//! Symbols    m → `registers`; j → `step`; a → `last`; b → `histogram`; p, q → `order`, `stamp`; rⱼ + j → `value`.
//! Formula    A shingle x starts `SplitMix64` at fmix64(x ⊕ s), s the first number of the `SplitMix64` of the seed. Step j
//!            draws n: it swaps places j and j + ⌊(n mod 2³²)·(m−j)/2³²⌋ of the order and brings the value
//!            j·2ʷ + ⌊n/2⁶⁴⁻ʷ⌋, at most 2³² − 2, to the register now at place j; w = 32 − ⌈log₂ m⌉.
//! Cost       O(n + m log² m) for n shingles, 1 draw a shingle in long documents, m draws a shingle if n ≪ m; 4m bytes.
//! Error      unbiased, variance α(m, u)·J(1−J)/m, α ≈ ½ for u = |A∪B| ≪ m, → 1 for u ≫ m; tests here. Values of
//!            32 bits let two documents of n shingles agree by accident in a register with probability about n/2³³.
//! Differs    rⱼ is w bits of an integer instead of a real, so that a value is one word, equality is exact and no
//!            platform rounds differently. The survey prints ∝(m, n) for α(m, u) (E-11).
//! Vectors    digest 05, 5: the trace and the values of α.
//!
//! Use when   documents have fewer shingles than registers, where it halves the variance, or far more, where it costs
//!            a few nanoseconds a shingle. Registers merge by minimum.
//! Do not     sketch millions of short texts with many registers: [`fast_similarity`](super::fast_similarity) has the same
//!            variance and costs O(m log m) there instead of O(n·m).

use crate::error::Error;
use crate::estimate::{self, Estimate};
use crate::hash::{SplitMix64, fmix64};

use super::minhash::{EMPTY, check_registers};
use super::{Registers, Sketcher};

/// Makes `SuperMinHash` sketches.
#[derive(Debug, Clone)]
pub struct SuperMinHash {
    seed: u64,
    registers: usize,
}

impl SuperMinHash {
    /// Sketches of `registers` registers (m); `seed` chooses the hash function.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        Ok(Self { seed: SplitMix64::new(seed).next_u64(), registers })
    }
}

/// Bits that number the registers; the other bits of a word are random.
fn number_bits(registers: usize) -> u32 {
    registers.next_power_of_two().trailing_zeros()
}

/// The registers on the way to a sketch.
struct State<'a> {
    registers: &'a mut [u32],
    /// `order[j]` counts only where `stamp[j]` is the running shingle's; elsewhere it is j.
    order: Vec<u32>,
    stamp: Vec<u32>,
    /// How many registers hold a value of each step; registers still empty count for the last one.
    histogram: Vec<u32>,
    /// The greatest step of any register: later steps cannot lower one.
    last: usize,
    shingles: u32,
    random_bits: u32,
}

impl<'a> State<'a> {
    fn new(registers: &'a mut [u32]) -> Self {
        registers.fill(EMPTY);
        let m = registers.len();
        let mut histogram = vec![0; m];
        histogram[m - 1] = m as u32;
        let random_bits = 32 - number_bits(m);
        Self {
            registers,
            order: vec![0; m],
            stamp: vec![0; m],
            histogram,
            last: m - 1,
            shingles: 0,
            random_bits,
        }
    }

    /// Begins the next shingle. Stamps run from 1; should they run out, the old ones are wiped.
    #[inline]
    fn begin(&mut self) {
        if self.shingles == u32::MAX {
            self.stamp.fill(0);
            self.shingles = 0;
        }
        self.shingles += 1;
    }

    /// Takes a place of the order into use.
    #[inline]
    fn touch(&mut self, place: usize) {
        if self.stamp[place] != self.shingles {
            self.stamp[place] = self.shingles;
            self.order[place] = place as u32;
        }
    }

    /// One step of the running shingle: `other` is the place to swap with, `random` the fraction of the value.
    #[inline]
    fn step(&mut self, step: usize, other: usize, random: u32) {
        self.touch(step);
        self.touch(other);
        self.order.swap(step, other);
        let register = self.order[step] as usize;
        let value = value(step, random, self.random_bits);
        let old = self.registers[register];
        if value < old {
            self.registers[register] = value;
            let before = ((old as u64 >> self.random_bits) as usize).min(self.histogram.len() - 1);
            if step < before {
                self.histogram[before] -= 1;
                self.histogram[step] += 1;
                while self.histogram[self.last] == 0 {
                    self.last -= 1;
                }
            }
        }
    }
}

#[inline]
fn value(step: usize, random: u32, random_bits: u32) -> u32 {
    (((step as u64) << random_bits) as u32 | random).min(EMPTY - 1)
}

/// Splits a draw into one of `among` places and a fraction of `random_bits` bits.
#[inline]
fn split(drawn: u64, among: usize, random_bits: u32) -> (usize, u32) {
    ((((drawn & 0xffff_ffff) * among as u64) >> 32) as usize, (drawn >> (64 - random_bits)) as u32)
}

impl Sketcher for SuperMinHash {
    fn words(&self) -> usize {
        self.registers
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.registers, "one word a register");
        let m = self.registers;
        let mut state = State::new(out);
        let random_bits = state.random_bits;
        let mut shingles = shingles.iter();
        while state.last > 0 {
            let Some(&shingle) = shingles.next() else { return };
            let mut random = SplitMix64::new(fmix64(shingle ^ self.seed));
            state.begin();
            let mut step = 0;
            while step <= state.last {
                let (place, fraction) = split(random.next_u64(), m - step, random_bits);
                state.step(step, step + place, fraction);
                step += 1;
            }
        }
        // Every register holds a value of step 0, so only first steps can lower one, and they need no order.
        for &shingle in shingles {
            let drawn = SplitMix64::new(fmix64(shingle ^ self.seed)).next_u64();
            let (register, fraction) = split(drawn, m, random_bits);
            out[register] = out[register].min(value(0, fraction, random_bits));
        }
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        estimate::super_minhash::estimate(a, b)
    }
}

impl Registers for SuperMinHash {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::trials::{check, check_laws, check_merge, sketch};

    #[test]
    fn laws_of_sketches() {
        for registers in [1, 2, 3, 64, 100] {
            let sketcher = SuperMinHash::new(registers, 1).unwrap();
            check_laws(&sketcher);
            check_merge(&sketcher);
        }
    }

    #[test]
    fn the_digest_trace() {
        // Tenths of a step, in units of 2³⁰/10.
        let tenths = |n: u32| n * ((1 << 30) / 10);
        let at = |step: u32, n: u32| (step << 30) + tenths(n);
        let mut registers = [0; 3];
        let mut state = State::new(&mut registers);
        let draws: [&[(u32, usize)]; 3] =
            [&[(4, 2), (1, 1), (7, 2)], &[(2, 1), (9, 2), (3, 2)], &[(6, 0), (0, 1), (0, 2)]];
        let expected =
            [[at(2, 7), at(1, 1), at(0, 4)], [at(2, 3), at(0, 2), at(0, 4)], [at(0, 6), at(0, 2), at(0, 4)]];
        let mut taken = vec![];
        for (draws, expected) in draws.iter().zip(expected) {
            state.begin();
            let mut step = 0;
            while step <= state.last {
                state.step(step, draws[step].1, tenths(draws[step].0));
                step += 1;
            }
            taken.push(step);
            assert_eq!(state.registers, expected);
        }
        assert_eq!(taken, [3, 3, 1]);
        assert_eq!((state.histogram, state.last), (vec![3, 0, 0], 0));
    }

    #[test]
    fn stopping_early_loses_nothing() {
        let sketcher = SuperMinHash::new(20, 9).unwrap();
        let shingles: Vec<u64> = (0..500).collect();
        // A document of one shingle visits every register.
        let mut least = vec![EMPTY; 20];
        for &shingle in &shingles {
            let one = sketch(&sketcher, &[shingle]);
            least.iter_mut().zip(one).for_each(|(least, one)| *least = one.min(*least));
        }
        assert_eq!(sketch(&sketcher, &shingles), least);
    }

    #[test]
    fn unbiased_with_the_variance_of_the_formula() {
        for (union, common, registers) in
            [(2, 1, 16), (10, 6, 16), (40, 30, 64), (200, 100, 64), (1000, 500, 64)]
        {
            let similarity = common as f64 / union as f64;
            let variance = estimate::super_minhash::variance(similarity, union as usize, registers);
            check(3000, (union, common), variance, |seed| SuperMinHash::new(registers, seed).unwrap());
        }
    }

    #[test]
    fn the_number_of_registers_is_checked() {
        for wrong in [0, 65537] {
            assert!(SuperMinHash::new(wrong, 1).unwrap_err().to_string().contains("from 1 to 65536"));
        }
        assert_eq!(
            sketch(&SuperMinHash::new(65536, 1).unwrap(), &[7]).iter().filter(|&&w| w == EMPTY).count(),
            0
        );
    }
}
