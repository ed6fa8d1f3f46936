//! The samples of a weighted set: for every register, the shingle of smallest rank and its step.
//!
//! [`Draw`] defines the samples. Finishing a draw takes three logarithms per shingle and register. Only a few of the n
//! shingles of a document can be the sample of a register, and 32 bits of hash rule out nearly all others:
//!
//! - a = c/z with ln z ≤ ln w + r and r = −ln(U₁U₂), so a·w ≥ c·U₁U₂. The factor c is bounded, too: c = −ln V₁ − ln V₂
//!   ≥ −2 ln(1 − s/2) ≥ s + s²/4 with s = (1 − V₁) + (1 − V₂). The first bits of the four uniform numbers bound this
//!   product from below.
//! - The a of the sample has the distribution Exp(Σw), so it is likely to be below L/Σw for a small L. With probability
//!   e^−L a register has no sample below L/Σw; then the register processes the shingles again with a larger L. Ranks
//!   are bounded: a·w ≤ c < 2⁵, so L = 2⁵·n always finds a sample.
//!
//! The remaining draws are *contenders*, some twenty per register. The kernels differ only in the search for
//! contenders. The search processes one portion of the elements at a time without branches, because a branch per draw
//! would be mispredicted at every contender, at the end of a long calculation. All kernels finish contenders by the
//! same code, compiled for the instruction set of the kernel. A kernel that finds too many contenders does no harm. If
//! a kernel misses contenders, the tests detect it, because they finish every draw. The filter works on 32-bit
//! floating-point numbers relative to Σw, rounded in the direction that only lets more draws through.

mod draw;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

#[cfg(test)]
mod tests;

pub use draw::{Draw, SampledStep};

use super::logarithm::ln;
use super::{Kernel, Kind};

/// Number of registers per block: the number of lanes of the widest vector.
const LANES: usize = 16;
/// Number of elements that are screened before contenders are listed.
const PORTION: usize = 16;
/// Number of lanes of four masks. Four masks make one word of 64 bits.
const WORD: usize = 4 * LANES;
/// Number of contenders that are finished together: enough to fill vectors, and few enough that smaller ranks, which
/// lower the limits, are known soon.
const BATCH: usize = 64;
/// Size of the buffer for waiting contenders: just under a batch, plus those that one word adds, plus one that is
/// written but does not count.
const WAITING: usize = BATCH + WORD + 1;
/// The first L. A smaller L makes more registers search again, a larger L makes more contenders. With 6, one document
/// in four with 128 registers has a register that searches again.
const FIRST_LIMIT: f64 = 6.0;
/// Factor by which L grows from one round to the next.
const NEXT_LIMIT: f64 = 16.0;
/// Exponent of the scale of the filter. The filter computes 2²⁷·a·w: 11 + 11 bits for U₁U₂ and 5 for s.
const BOUND_BITS: f64 = 27.0;
/// Factor by which the filter is widened for rounding errors. The filter has few operations, and each operation errs by
/// at most 2⁻²⁴.
const ROUNDING: f64 = 1.0 + 1.0 / (1 << 16) as f64;

/// Shingles of a weighted set, as the sampling reads them.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct Elements<'a> {
    /// Mixed key of each shingle.
    pub keys: &'a [u64],
    /// Weight of each shingle, positive and finite.
    pub weights: &'a [f64],
}

/// Sample of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Sample {
    /// Index of the sampled element.
    pub element: u32,
    /// t: step of the sampled element.
    pub step: i64,
}

impl Kernel {
    /// Draws the sample of each register. `salts` has one salt per register.
    ///
    /// # Panics
    /// Panics if `salts` and `out` differ in length, if keys and weights differ in length, or if there are no keys.
    pub fn sample(self, elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
        assert_eq!(salts.len(), out.len(), "one salt per register");
        assert_eq!(elements.keys.len(), elements.weights.len(), "one weight per element");
        assert!(!elements.keys.is_empty(), "a sample is of something");
        match self.0 {
            Kind::Portable => portable::sample(elements, salts, out),
            // SAFETY: a `Kernel` of this kind exists only where its features were detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { avx2::sample(elements, salts, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 | Kind::Avx512Popcount => unsafe { avx512::sample(elements, salts, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { neon::sample(elements, salts, out) },
        }
    }
}

/// Input of a filter: the functions and limits of all registers of a round, in blocks of `LANES` registers.
struct RegisterFilter<'a> {
    /// Multipliers of the linear functions of the outlines; `offsets` has their offsets.
    multipliers: &'a [[u32; LANES]],
    offsets: &'a [[u32; LANES]],
    /// Largest bound that passes, for an element of share 1; negative for a lane without a register.
    limits: &'a [[f32; LANES]],
}

/// An element, as the filter reads it.
#[derive(Debug, Clone, Copy)]
struct RaceEntry {
    /// Lower half of the key.
    key: u32,
    /// w / Σw.
    share: f32,
}

/// A register, and an element that may be its sample.
#[derive(Debug, Clone, Copy, Default)]
struct Contender {
    lane: u32,
    element: u32,
}

/// Contenders that wait to be finished.
struct Waiting {
    contenders: [Contender; WAITING],
    len: usize,
}

impl Waiting {
    /// Adds the contenders of a word of masks, whose first lane is `from`.
    ///
    /// About every other word has contenders, which no processor can predict. So the first two are always written, and
    /// counted only if they exist.
    #[inline(always)]
    fn add(&mut self, mut lanes: u64, from: u32, element: u32) {
        let mut add = |lanes: &mut u64| {
            self.contenders[self.len] = Contender { lane: from + lanes.trailing_zeros(), element };
            self.len += usize::from(*lanes != 0);
            *lanes &= lanes.wrapping_sub(1);
        };
        add(&mut lanes);
        add(&mut lanes);
        while lanes != 0 {
            add(&mut lanes);
        }
    }

    /// Takes all waiting contenders, so that none waits any more.
    fn take(&mut self) -> &[Contender] {
        &self.contenders[..std::mem::take(&mut self.len)]
    }
}

/// Registers that search for their samples in one round.
struct Round {
    log_total: f64,
    salts: Vec<u64>,
    multipliers: Vec<[u32; LANES]>,
    offsets: Vec<[u32; LANES]>,
    limits: Vec<[f32; LANES]>,
    log_ranks: Vec<f64>,
    found: Vec<Option<Sample>>,
}

/// Does the whole sampling. `look` is the search of a kernel for contenders, which writes a mask of lanes per block.
/// This function is inlined into each kernel, and so compiled for its instruction set.
#[inline(always)]
fn run(
    elements: Elements<'_>,
    salts: &[u64],
    out: &mut [Sample],
    look: impl Fn(RaceEntry, &RegisterFilter<'_>, &mut [u16]),
) {
    let Elements { keys, weights } = elements;
    let log_weights: Vec<f64> = weights.iter().map(|&weight| ln(weight)).collect();
    // Weights are relative to the largest weight, so the sum is finite. The weights may be added in any order, because
    // only the filter uses the sum.
    let greatest = in_lanes(weights, |most, weight| if weight > most { weight } else { most });
    let relative: Vec<f64> = weights.iter().map(|weight| weight / greatest).collect();
    let total = in_lanes(&relative, |sum, weight| sum + weight);
    let log_total = ln(greatest) + ln(total);
    // If the share of an element rounded to 0, the filter would never find the element.
    let share = |weight: &f64| ((weight / total) as f32).max(f32::MIN_POSITIVE);
    let shares: Vec<f32> = relative.iter().map(share).collect();
    let mut registers: Vec<usize> = (0..salts.len()).collect();
    let mut waiting = Waiting { contenders: [Contender::default(); WAITING], len: 0 };
    let mut limit = FIRST_LIMIT;
    while !registers.is_empty() {
        let salts = registers.iter().map(|&register| salts[register]);
        let mut round = Round::new(salts, limit, log_total);
        let blocks = round.limits.len();
        // Nearly all masks are empty. Four masks are one word, so one comparison per word skips four empty masks.
        let stride = blocks.next_multiple_of(4);
        let mut masks = vec![0; PORTION * stride];
        for first in (0..keys.len()).step_by(PORTION) {
            let portion = first..keys.len().min(first + PORTION);
            let filter = RegisterFilter {
                multipliers: &round.multipliers,
                offsets: &round.offsets,
                limits: &round.limits,
            };
            for (element, masks) in portion.clone().zip(masks.chunks_exact_mut(stride)) {
                look(
                    RaceEntry { key: keys[element] as u32, share: shares[element] },
                    &filter,
                    &mut masks[..blocks],
                );
            }
            for (element, masks) in portion.zip(masks.chunks_exact(stride)) {
                for (word, four) in masks.as_chunks::<4>().0.iter().enumerate() {
                    let [a, b, c, d] = four.map(u64::from);
                    waiting.add(
                        a | b << LANES | c << (2 * LANES) | d << (3 * LANES),
                        (word * WORD) as u32,
                        element as u32,
                    );
                    if waiting.len >= BATCH {
                        round.finish(keys, &log_weights, waiting.take());
                    }
                }
            }
        }
        round.finish(keys, &log_weights, waiting.take());
        let mut found = round.found.into_iter();
        registers.retain(|&register| match found.next().flatten() {
            Some(sample) => {
                out[register] = sample;
                false
            }
            None => true,
        });
        limit *= NEXT_LIMIT;
    }
}

impl RegisterFilter<'_> {
    /// Returns the multipliers, offsets and limits, block by block.
    #[inline(always)]
    fn blocks(&self) -> impl Iterator<Item = (&[u32; LANES], &[u32; LANES], &[f32; LANES])> {
        self.multipliers.iter().zip(self.offsets).zip(self.limits).map(|((a, b), limits)| (a, b, limits))
    }
}

impl Round {
    fn new(salts: impl Iterator<Item = u64>, limit: f64, log_total: f64) -> Self {
        let salts: Vec<u64> = salts.collect();
        let log_rank = ln(limit) - log_total;
        let blocks = salts.len().div_ceil(LANES);
        let (mut multipliers, mut offsets) = (vec![[0; LANES]; blocks], vec![[0; LANES]; blocks]);
        let mut limits = vec![[-1.0; LANES]; blocks];
        for (lane, &salt) in salts.iter().enumerate() {
            let (block, at) = (lane / LANES, lane % LANES);
            (multipliers[block][at], offsets[block][at]) = draw::coefficients(salt);
            limits[block][at] = filter_limit(log_rank, log_total);
        }
        let log_ranks = vec![log_rank; salts.len()];
        let found = vec![None; salts.len()];
        Self { log_total, salts, multipliers, offsets, limits, log_ranks, found }
    }

    /// Finishes the draws of the contenders, and keeps the smallest rank of each register.
    ///
    /// Elements come in the order of their shingles. If two elements have the same rank, the first is kept.
    #[inline(always)]
    fn finish(&mut self, all_keys: &[u64], all_log_weights: &[f64], contenders: &[Contender]) {
        const STRIDE: usize = 8;
        const STRIDES: usize = WAITING.div_ceil(STRIDE);
        let (mut keys, mut salts) = ([[0; STRIDE]; STRIDES], [[0; STRIDE]; STRIDES]);
        let mut log_weights = [[0.0; STRIDE]; STRIDES];
        let (mut steps, mut log_ranks) = ([[0.0; STRIDE]; STRIDES], [[0.0; STRIDE]; STRIDES]);
        for (at, contender) in contenders.iter().enumerate() {
            let element = contender.element as usize;
            keys[at / STRIDE][at % STRIDE] = all_keys[element];
            salts[at / STRIDE][at % STRIDE] = self.salts[contender.lane as usize];
            log_weights[at / STRIDE][at % STRIDE] = all_log_weights[element];
        }
        for at in 0..contenders.len().div_ceil(STRIDE) {
            for i in 0..STRIDE {
                let place = Draw::of(keys[at][i], salts[at][i]).place(log_weights[at][i]);
                (steps[at][i], log_ranks[at][i]) = (place.step, place.log_rank);
            }
        }
        for (at, contender) in contenders.iter().enumerate() {
            let (lane, log_rank) = (contender.lane as usize, log_ranks[at / STRIDE][at % STRIDE]);
            if log_rank < self.log_ranks[lane] {
                let step = steps[at / STRIDE][at % STRIDE] as i64;
                self.log_ranks[lane] = log_rank;
                self.found[lane] = Some(Sample { element: contender.element, step });
                self.limits[lane / LANES][lane % LANES] = filter_limit(log_rank, self.log_total);
            }
        }
    }
}

/// Combines numbers by `join`, starting from 0, in eight independent lanes.
#[inline(always)]
fn in_lanes(values: &[f64], join: impl Fn(f64, f64) -> f64) -> f64 {
    let (eights, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for eight in eights {
        for (lane, &value) in lanes.iter_mut().zip(eight) {
            *lane = join(*lane, value);
        }
    }
    lanes.iter().chain(rest).fold(0.0, |joined, &value| join(joined, value))
}

/// Returns an upper bound of 2²⁷·a·Σw, given ln a and ln Σw.
///
/// 2ⁿ⁺ᶠ ≤ 2ⁿ(1 + f) for f from 0 to 1. The right side is the floating-point number with exponent n and fraction f; it
/// is at most a tenth too large and needs no exponential.
fn filter_limit(log_rank: f64, log_total: f64) -> f32 {
    let exponent = (log_rank + log_total) * std::f64::consts::LOG2_E + BOUND_BITS;
    let biased = (exponent + 127.0).clamp(1.0, 254.0);
    (f64::from(f32::from_bits((biased * f64::from(1 << 23)) as u32)) * ROUNDING) as f32
}
