//! `SuperMinHash`.
//!
//! - **Paper.** Ertl, *`SuperMinHash`: a new minwise hashing algorithm for Jaccard similarity estimation*, 2017,
//!   arXiv:1706.05698; [Hassanian-esfahani 2018](crate#sources), Table 1.
//! - **Idea.** Each shingle visits the registers in a random order of its own, and its value for the j-th register of
//!   this order lies between j and j+1. Registers then sample shingles nearly without replacement. Once every register
//!   holds a small value, a shingle can stop after its first steps.
//! - **Symbols.** m → `registers`; j → `step`; a → `last`; b → `histogram`; p → `order`; rⱼ + j → `value`.
//! - **Formula.** A shingle x starts `SplitMix64` at fmix64(x ⊕ s), where s is the first number of the `SplitMix64` of
//!   the seed. Step j draws n, and swaps places j and j + ⌊(n mod 2³²)·(m−j)/2³²⌋ of the order. The register now at
//!   place j gets the value j·2ʷ + ⌊n/2⁶⁴⁻ʷ⌋, at most 2³² − 2, if it is less than its own; w = 32 − ⌈log₂ m⌉.
//! - **Cost.** About n + m ln m draws for n shingles: 1 draw per shingle in long documents, up to m draws per shingle
//!   if n ≪ m; 4m bytes per sketch. For m = 128, a shingle takes 4 ns in documents of 5000 shingles, 8 ns in documents
//!   of 500, and 64 ns in documents of 50.
//! - **Error.** The estimate is unbiased, with variance α(m, u)·J(1−J)/m: α ≈ ½ for u = |A∪B| ≪ m, and α → 1 for u ≫ m.
//!   The tests in this file check the variance. Values of 32 bits let two documents of n shingles agree by accident in
//!   a register with probability about n/2³³.
//! - **Differs.** rⱼ is w bits of an integer instead of a real number. A value is thus one word, equality is exact, and
//!   all platforms round alike. Hassanian-esfahani 2018, Table 1, prints ∝(m, n) for α(m, u) (E-11). The paper
//!   processes shingle after shingle, which draws n + O(m log² m) numbers. Here all shingles take their first step,
//!   then all take their second step, until no register is empty, unless there are too few shingles. A minimum does not
//!   depend on the order, so the registers are the same. Meanwhile the order of a shingle is not stored, but computed
//!   from the places that it drew.
//! - **Vectors.** Another program computed the trace and the values of α. A second implementation of the formula
//!   computed the words in the test below.
//!
//! - **Use when** documents have fewer shingles than registers, where it halves the variance, or many times more
//!   shingles, where it costs a few nanoseconds per shingle. Registers merge by minimum.
//! - **Do not** sketch millions of short texts with many registers: [`fast_similarity`](super::fast_similarity) has the
//!   same variance, and costs O(m log m) there instead of O(n·m).

use crate::error::Error;
use crate::estimate::{self, Estimate};
use crate::hash::{SplitMix64, fmix64};

use super::minhash::{EMPTY, check_registers};
use super::{Registers, Sketcher, Statistic, merge_minima};

/// Makes `SuperMinHash` sketches.
#[derive(Debug, Clone)]
pub struct SuperMinHash {
    seed: u64,
    registers: usize,
}

impl SuperMinHash {
    /// Makes a sketcher with `registers` registers (m); `seed` chooses the hash function.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        Ok(Self { seed: SplitMix64::new(seed).next_u64(), registers })
    }
}

/// Returns ⌈log₂ m⌉, the number of upper bits of a word that hold the step.
fn number_bits(registers: usize) -> u32 {
    registers.next_power_of_two().trailing_zeros()
}

/// Returns the number of random bits of a word, which are its lower bits.
fn random_bits(registers: usize) -> u32 {
    32 - number_bits(registers)
}

/// Number of steps that all shingles take together before each continues by itself. Step t costs t comparisons per
/// shingle, and vector instructions do many at a time. From about this step on, storing the order of each shingle is as
/// fast.
const STEPS_TOGETHER: usize = 48;

/// Number of shingles per register that step together. So many shingles nearly always fill all registers in their first
/// steps, and more shingles would only take memory.
const TOGETHER: usize = 16;

/// The registers while shingles are added one after another.
struct RegisterState<'a> {
    registers: &'a mut [u32],
    /// Order of the current shingle. A random permutation that begins as 0, 1, 2, …: place i holds i, unless the
    /// current shingle has swapped this place. The places of earlier steps are not updated.
    order: Vec<u32>,
    /// Places with which the current shingle has swapped.
    swapped: Vec<u32>,
    /// Number of registers per step of their values. Empty registers are counted in the last step.
    histogram: Vec<u32>,
    /// Greatest step of the value in any register. Later steps cannot lower a register.
    last: usize,
    random_bits: u32,
}

impl<'a> RegisterState<'a> {
    fn new(registers: &'a mut [u32]) -> Self {
        let m = registers.len();
        let random_bits = random_bits(m);
        let mut histogram = vec![0; m];
        for &register in &*registers {
            histogram[step_of(register, random_bits, m)] += 1;
        }
        let last = histogram.iter().rposition(|&count| count > 0).unwrap_or(0);
        let order = (0..m as u32).collect();
        Self { registers, order, swapped: Vec::with_capacity(m), histogram, last, random_bits }
    }

    /// Takes one step of the current shingle. `other` is the place to swap with, and `random` the fraction of the
    /// value.
    #[inline]
    fn step(&mut self, step: usize, other: usize, random: u32) {
        let register = self.order[other] as usize;
        self.order[other] = self.order[step];
        self.swapped.push(other as u32);
        let value = value(step, random, self.random_bits);
        let old = self.registers[register];
        if value < old {
            self.registers[register] = value;
            let before = step_of(old, self.random_bits, self.histogram.len());
            if step < before {
                self.histogram[before] -= 1;
                self.histogram[step] += 1;
                while self.histogram[self.last] == 0 {
                    self.last -= 1;
                }
            }
        }
    }

    /// Finishes the current shingle by restoring `order`.
    #[inline]
    fn end(&mut self) {
        for place in self.swapped.drain(..) {
            self.order[place as usize] = place;
        }
    }
}

/// Returns the step in which a value was made, its bits above the random bits. The value of an empty register counts as
/// made in the last step.
#[inline]
fn step_of(value: u32, random_bits: u32, registers: usize) -> usize {
    ((value as u64 >> random_bits) as usize).min(registers - 1)
}

#[inline]
fn value(step: usize, random: u32, random_bits: u32) -> u32 {
    (((step as u64) << random_bits) as u32 | random).min(EMPTY - 1)
}

/// Splits a drawn number into one of `among` places and a fraction of `random_bits` bits.
#[inline]
fn split(drawn: u64, among: usize, random_bits: u32) -> (usize, u32) {
    ((((drawn & 0xffff_ffff) * among as u64) >> 32) as usize, (drawn >> (64 - random_bits)) as u32)
}

impl SuperMinHash {
    fn draws(&self, shingle: u64) -> SplitMix64 {
        SplitMix64::new(fmix64(shingle ^ self.seed))
    }

    /// Lets all shingles take their first steps together until every register has a value. From then on, no later step
    /// can lower a register. Returns `true` if all registers have a value.
    fn together(&self, shingles: &[u64], out: &mut [u32]) -> bool {
        let (m, n, random_bits) = (self.registers, shingles.len(), random_bits(self.registers));
        // Filling every register takes about m ln m steps, so with fewer steps this way would not finish.
        if n == 0 || n * STEPS_TOGETHER < m * number_bits(m) as usize {
            return false;
        }
        let mut draws: Vec<SplitMix64> = shingles.iter().map(|&shingle| self.draws(shingle)).collect();
        // The places with which the shingles have swapped, step by step. A step has one place per shingle.
        let mut swapped = vec![];
        let (mut registers, mut values) = (vec![0; n], vec![0; n]);
        for step in 0..STEPS_TOGETHER.min(m) {
            for ((draws, register), value) in draws.iter_mut().zip(&mut registers).zip(&mut values) {
                let (place, fraction) = split(draws.next_u64(), m - step, random_bits);
                *register = (step + place) as u32;
                *value = self::value(step, fraction, random_bits);
            }
            let before = swapped.len();
            swapped.extend_from_slice(&registers);
            // The swaps are followed backwards: the swap of step `earlier` moved the content of place `earlier` to the
            // drawn place.
            for (earlier, swapped) in swapped[..before].chunks_exact(n).enumerate().rev() {
                for (register, &place) in registers.iter_mut().zip(swapped) {
                    *register = if *register == place { earlier as u32 } else { *register };
                }
            }
            for (&register, &value) in registers.iter().zip(&values) {
                let least = &mut out[register as usize];
                *least = value.min(*least);
            }
            if !out.contains(&EMPTY) {
                return true;
            }
        }
        false
    }

    /// Lets each shingle take its steps by itself, as long as they can lower a register.
    fn one_by_one(&self, shingles: &[u64], out: &mut [u32]) {
        let m = self.registers;
        let mut state = RegisterState::new(out);
        let random_bits = state.random_bits;
        let mut shingles = shingles.iter();
        while state.last > 0 {
            let Some(&shingle) = shingles.next() else { return };
            let mut draws = self.draws(shingle);
            let mut step = 0;
            while step <= state.last {
                let (place, fraction) = split(draws.next_u64(), m - step, random_bits);
                state.step(step, step + place, fraction);
                step += 1;
            }
            state.end();
        }
        // Every register now holds a value of step 0. Only first steps can lower a register, and a first step needs no
        // order.
        for &shingle in shingles {
            let (register, fraction) = split(self.draws(shingle).next_u64(), m, random_bits);
            out[register] = out[register].min(value(0, fraction, random_bits));
        }
    }
}

impl super::sealed::Sealed for SuperMinHash {}

impl Sketcher for SuperMinHash {
    fn words(&self) -> usize {
        self.registers
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.registers, "one word per register");
        out.fill(EMPTY);
        let (first, rest) = shingles.split_at(shingles.len().min(TOGETHER * self.registers));
        let rest = if self.together(first, out) { rest } else { shingles };
        if !rest.is_empty() {
            self.one_by_one(rest, out);
        }
    }

    fn merge_into(&self, a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
        merge_minima(a, b, out)
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualWords
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
    fn documented_trace() {
        // A tenth of a step is 2³⁰/10, because a value has 30 random bits.
        let tenths = |n: u32| n * ((1 << 30) / 10);
        let at = |step: u32, n: u32| (step << 30) + tenths(n);
        let mut registers = [EMPTY; 3];
        let mut state = RegisterState::new(&mut registers);
        let draws: [&[(u32, usize)]; 3] =
            [&[(4, 2), (1, 1), (7, 2)], &[(2, 1), (9, 2), (3, 2)], &[(6, 0), (0, 1), (0, 2)]];
        let expected =
            [[at(2, 7), at(1, 1), at(0, 4)], [at(2, 3), at(0, 2), at(0, 4)], [at(0, 6), at(0, 2), at(0, 4)]];
        let mut taken = vec![];
        for (draws, expected) in draws.iter().zip(expected) {
            let mut step = 0;
            while step <= state.last {
                state.step(step, draws[step].1, tenths(draws[step].0));
                step += 1;
            }
            state.end();
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
        // A document of one shingle visits every register, so it fills all of them.
        let mut least = vec![EMPTY; 20];
        for &shingle in &shingles {
            let one = sketch(&sketcher, &[shingle]);
            least.iter_mut().zip(one).for_each(|(least, one)| *least = one.min(*least));
        }
        assert_eq!(sketch(&sketcher, &shingles), least);
    }

    #[test]
    fn stepping_together_or_one_by_one_is_the_same() {
        // Counts of the cases in which stepping together did not fill all registers, and in which it did.
        let mut ways = [0; 2];
        for registers in [1, 2, 3, 20, 64, 100, 128] {
            let sketcher = SuperMinHash::new(registers, 3).unwrap();
            for count in [1, 2, 5, 19, 20, 50, 200, 700, 3000] {
                let shingles: Vec<u64> = (0..count).collect();
                let [mut together, mut alone] = [0; 2].map(|_| vec![EMPTY; registers]);
                sketcher.one_by_one(&shingles, &mut alone);
                assert_eq!(sketch(&sketcher, &shingles), alone, "{count} shingles, {registers} registers");
                let ended = sketcher.together(&shingles, &mut together);
                ways[usize::from(ended)] += 1;
                if ended {
                    assert_eq!(together, alone, "{count} shingles, {registers} registers");
                }
            }
        }
        assert!(!ways.contains(&0), "both happen: {ways:?}");
    }

    #[test]
    fn the_words_are_frozen() {
        #[rustfmt::skip]
        let together = [
            0x1e60_af29, 0x3254_51a5, 0x3ebc_6d01, 0x5915_1a89, 0x0a13_e6b6, 0x3c9b_e951, 0x16b3_618b, 0x88e2_f49b,
        ];
        assert_eq!(sketch(&SuperMinHash::new(8, 1).unwrap(), &[1, 2, 3]), together);
        let one_by_one = [0x7a6e_ca9f, 0x32a3_3755, 0x0325_451a, 0x5a76_d5de, 0x5c43_30be, 0x5321_0066];
        assert_eq!(sketch(&SuperMinHash::new(100, 1).unwrap(), &[1, 2])[..6], one_by_one);
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
            assert!(SuperMinHash::new(wrong, 1).unwrap_err().to_string().contains("from 1 to 65,536"));
        }
        assert_eq!(
            sketch(&SuperMinHash::new(65536, 1).unwrap(), &[7]).iter().filter(|&&w| w == EMPTY).count(),
            0
        );
    }
}
