//! The samples of a weighted set: for every register, the shingle of least rank and its step.
//!
//! [`Draw`] defines what is sampled. Finishing it for every shingle and register takes three logarithms, which would cost
//! forty times what a register of `MinHash` does; but of a document of n shingles only a few can be the sample of a
//! register, and nearly all others are recognised by 32 bits of hash:
//!
//! - a = c/z with ln z ≤ ln w + r and r = −ln(U₁U₂), so a·w ≥ c·U₁U₂. And c = −ln V₁ − ln V₂ ≥ −2 ln(1 − s/2) ≥ s + s²/4 with
//!   s = (1 − V₁) + (1 − V₂). The first bits of the four uniform numbers bound the product from below.
//! - a of the sample has the distribution Exp(Σw), so one expects it below L/Σw for a small L. A register that finds
//!   nothing there, which happens with probability e^−L, goes through the shingles again with a greater L. Ranks have an
//!   end: a·w ≤ c < 2⁵, so that L = 2⁵·n always finds one.
//!
//! What remains are *contenders*. The kernels differ only in how they look for them, without branches, some elements at a
//! time: a branch on every look would be mispredicted at every contender, at the end of a long calculation. Contenders are finished by the same
//! code, compiled for each kernel's instruction set. A kernel that finds too many does no harm, and one that misses some
//! is found out by the tests, which finish every draw.
//!
//! The filter works on 32-bit floating point numbers relative to Σw, each rounded so that it only lets more through.

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

pub use draw::{Draw, Place};

use super::logarithm::ln;
use super::{Kernel, Kind};

/// Registers are looked at in blocks of this many: the lanes of the widest vector.
const LANES: usize = 16;
/// Elements that are looked at before contenders are listed.
const PORTION: usize = 16;
/// Contenders that are finished together: enough to fill vectors, few enough to hear of better ranks soon.
const BATCH: usize = 64;
/// The first L. Smaller means more registers that go again, greater more contenders: from 2 to 6 the cost is flat.
const FIRST_LIMIT: f64 = 3.0;
/// By how much L grows from one round to the next.
const NEXT_LIMIT: f64 = 16.0;
/// The bounds of the filter are a·w times 2 to this power: 11 + 11 for U₁U₂ and 5 for s.
const BOUND_BITS: f64 = 27.0;
/// More than the rounding of the filter's few operations, each of which errs by 2⁻²⁴ at most.
const ROUNDING: f64 = 1.0 + 1.0 / (1 << 16) as f64;

/// The shingles of a weighted set, as the sampling sees them.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    /// A mixed key for each shingle.
    pub keys: &'a [u64],
    /// Positive and finite.
    pub weights: &'a [f64],
}

/// The sample of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Which of the elements it is.
    pub element: u32,
    /// t: its step.
    pub step: i64,
}

impl Kernel {
    /// Draws the sample of each register, given by its salt.
    ///
    /// # Panics
    /// If `salts` and `out` differ in length, or keys and weights do, or there are none.
    pub fn sample(self, elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
        assert_eq!(salts.len(), out.len(), "one salt a register");
        assert_eq!(elements.keys.len(), elements.weights.len(), "one weight an element");
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

/// What a filter looks at: all registers of a round, a block of lanes at a time.
struct Filter<'a> {
    /// The lower halves of the salts.
    salts: &'a [[u32; LANES]],
    /// What the bound may not exceed, for an element of share 1; negative where there is no register.
    limits: &'a [[f32; LANES]],
}

/// An element that enters the race for all registers.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The lower half of its key.
    key: u32,
    /// w / Σw.
    share: f32,
}

/// A register that may have found its sample, and the element.
#[derive(Debug, Clone, Copy)]
struct Contender {
    lane: u32,
    element: u32,
}

/// Registers that look for their samples in one round.
struct Round {
    log_total: f64,
    /// Of all blocks.
    lanes: u32,
    salts: Vec<u64>,
    lower_salts: Vec<[u32; LANES]>,
    limits: Vec<[f32; LANES]>,
    log_ranks: Vec<f64>,
    found: Vec<Option<Sample>>,
}

/// The whole sampling, with a kernel's way to look for contenders: a mask of lanes for each block. Inlined into each kernel,
/// so that everything is compiled for its instruction set.
#[inline(always)]
fn run(
    elements: Elements<'_>,
    salts: &[u64],
    out: &mut [Sample],
    look: impl Fn(Entry, &Filter<'_>, &mut [u16]),
) {
    let Elements { keys, weights } = elements;
    let log_weights: Vec<f64> = weights.iter().map(|&weight| ln(weight)).collect();
    // Relative to the greatest weight, so that the sum is finite.
    let greatest = weights.iter().copied().fold(0.0, f64::max);
    let total: f64 = weights.iter().map(|weight| weight / greatest).sum();
    let log_total = ln(greatest) + ln(total);
    // An element whose share is rounded to nothing would hide from the filter.
    let share = |weight: &f64| ((weight / greatest / total) as f32).max(f32::MIN_POSITIVE);
    let shares: Vec<f32> = weights.iter().map(share).collect();
    let mut registers: Vec<usize> = (0..salts.len()).collect();
    let mut contenders = vec![];
    let mut limit = FIRST_LIMIT;
    while !registers.is_empty() {
        let salts = registers.iter().map(|&register| salts[register]);
        let mut round = Round::new(salts, limit, log_total);
        let blocks = round.limits.len();
        let mut masks = vec![0; PORTION * blocks];
        for first in (0..keys.len()).step_by(PORTION) {
            let portion = first..keys.len().min(first + PORTION);
            let filter = Filter { salts: &round.lower_salts, limits: &round.limits };
            // Looks of the portion before stay behind those of a shorter last one.
            masks[portion.len() * blocks..].fill(0);
            let looks = masks.chunks_exact_mut(blocks);
            for ((&key, &share), masks) in keys[portion.clone()].iter().zip(&shares[portion]).zip(looks) {
                look(Entry { key: key as u32, share }, &filter, masks);
            }
            // Nearly all masks are empty, and four of them are seen to be so at once.
            for (word, four) in masks.as_chunks::<4>().0.iter().enumerate() {
                let [a, b, c, d] = four.map(u64::from);
                let mut lanes = a | b << LANES | c << (2 * LANES) | d << (3 * LANES);
                while lanes != 0 {
                    let lane = (word * 4 * LANES) as u32 + lanes.trailing_zeros();
                    let (element, lane) = (first as u32 + lane / round.lanes, lane % round.lanes);
                    contenders.push(Contender { lane, element });
                    lanes &= lanes - 1;
                }
            }
            if contenders.len() >= BATCH {
                round.finish(keys, &log_weights, &contenders);
                contenders.clear();
            }
        }
        round.finish(keys, &log_weights, &contenders);
        contenders.clear();
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

impl Round {
    fn new(salts: impl Iterator<Item = u64>, limit: f64, log_total: f64) -> Self {
        let salts: Vec<u64> = salts.collect();
        let log_rank = ln(limit) - log_total;
        let blocks = salts.len().div_ceil(LANES);
        let mut lower_salts = vec![[0; LANES]; blocks];
        let mut limits = vec![[-1.0; LANES]; blocks];
        for (lane, &salt) in salts.iter().enumerate() {
            lower_salts[lane / LANES][lane % LANES] = salt as u32;
            limits[lane / LANES][lane % LANES] = filter_limit(log_rank, log_total);
        }
        let log_ranks = vec![log_rank; salts.len()];
        let found = vec![None; salts.len()];
        Self { log_total, lanes: (blocks * LANES) as u32, salts, lower_salts, limits, log_ranks, found }
    }

    /// Finishes the draws of the contenders, and lets those of less rank win.
    ///
    /// Elements come in the order of their shingles, and of two with one rank the first wins.
    #[inline(always)]
    fn finish(&mut self, all_keys: &[u64], all_log_weights: &[f64], contenders: &[Contender]) {
        const STRIDE: usize = 16;
        let (mut keys, mut salts, mut log_weights) = ([0; STRIDE], [0; STRIDE], [0.0; STRIDE]);
        let (mut steps, mut log_ranks) = ([0.0; STRIDE], [0.0; STRIDE]);
        for stride in contenders.chunks(STRIDE) {
            for (i, contender) in stride.iter().enumerate() {
                let element = contender.element as usize;
                keys[i] = all_keys[element];
                log_weights[i] = all_log_weights[element];
                salts[i] = self.salts[contender.lane as usize];
            }
            for i in 0..STRIDE {
                let place = Draw::of(keys[i], salts[i]).place(log_weights[i]);
                (steps[i], log_ranks[i]) = (place.step, place.log_rank);
            }
            for ((contender, &step), &log_rank) in stride.iter().zip(&steps).zip(&log_ranks) {
                let lane = contender.lane as usize;
                if log_rank < self.log_ranks[lane] {
                    self.log_ranks[lane] = log_rank;
                    self.found[lane] = Some(Sample { element: contender.element, step: step as i64 });
                    self.limits[lane / LANES][lane % LANES] = filter_limit(log_rank, self.log_total);
                }
            }
        }
    }
}

/// At least 2²⁷·a·Σw, given ln a and ln Σw.
///
/// 2ⁿ⁺ᶠ ≤ 2ⁿ(1 + f) for f from 0 to 1, which is the floating point number that has n + f for its exponent and fraction;
/// a tenth too much at most, without an exponential.
fn filter_limit(log_rank: f64, log_total: f64) -> f32 {
    let exponent = (log_rank + log_total) * std::f64::consts::LOG2_E + BOUND_BITS;
    let biased = (exponent + 127.0).clamp(1.0, 254.0);
    (f64::from(f32::from_bits((biased * f64::from(1 << 23)) as u32)) * ROUNDING) as f32
}
