//! Consistent weighted sampling.
//!
//! Paper      Manasse, McSherry and Talwar, *Consistent weighted sampling*, 2010; the fourth source's algorithm 1, which
//!            names another paper (digest 06, 3.1).
//! Idea       For every shingle a register scatters points on the axis of weights, as dense in each octave as in every
//!            other. A weight stands between two of them, y below and z above, and the greater z, the better its chances
//!            to be the sample. Two documents have the same sample, point y included, with probability J_w.
//! Symbols    k → `octave` (the axis from 2ᵏ⁻¹ to 2ᵏ), y → `below`, z → `above`, G → `score`.
//! Formula    The points of an octave are 2ᵏ·u₁, 2ᵏ·u₁·u₂, … above 2ᵏ⁻¹, the u from `SplitMix64` seeded by shingle,
//!            register and octave. The sample has the least G/z, G = −ln(U₁U₂) drawn by shingle and register: e^(−G/z) has
//!            the distribution that the paper inverts.
//! Cost       about four octaves a shingle and register, one after the other: some hundred times [`MinHash`](super::MinHash).
//! Error      unbiased for J_w, variance J_w(1−J_w)/k; checked by `tests/weighted.rs`.
//! Differs    from the algorithm as the source prints it (E-53), of which every part is needed: octaves of all integers,
//!            not of positive ones; a fresh u at every step; y and z looked for in neighbouring octaves; G drawn by shingle
//!            and register alone; samples compared by shingle and point. The tests show what each of three misprints costs.
//! Vectors    the digest's inversions of G; sketches in `vectors/weighted.toml`, ours.
//!
//! Use when   results are to be compared with the paper's.
//! Do not     use it otherwise: [`icws`](super::icws) has the same error and is many times faster.

use super::minhash::{EMPTY, check_registers};
use super::weighted::{WeightedSketcher, register};
use crate::error::Error;
use crate::hash::{SplitMix64, fmix64};
use crate::kernel::{float, ln};
use crate::weight::Weighted;

/// Separates the draws of scores from those of points.
const SCORES: u64 = 0x9e37_79b9_7f4a_7c15;

/// Makes sketches of k samples.
#[derive(Debug, Clone)]
pub struct Cws {
    seed: u64,
    salts: Vec<u64>,
}

/// A point on the axis of weights, as part of its octave: from ½ to 1 of 2ᵏ, the upper end included.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    octave: i64,
    part: f64,
}

impl Cws {
    /// A family of `registers` samplers drawn by `seed`.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        let mut random = SplitMix64::new(seed);
        let seed = random.next_u64();
        Ok(Self { seed, salts: (0..registers).map(|_| random.next_u64()).collect() })
    }

    fn sample(&self, set: Weighted<'_>, salt: u64) -> Option<u32> {
        // Ranks are taken relative to the greatest weight's octave, so that none leaves the range of numbers.
        let greatest = set.weights().iter().copied().reduce(f64::max)?;
        let origin = Point::of(greatest).octave;
        let mut best: Option<(f64, u64, Point)> = None;
        for (&shingle, &weight) in set.shingles().iter().zip(set.weights()) {
            let key = fmix64(shingle ^ self.seed);
            let (below, above) = active(key ^ salt, Point::of(weight));
            let rank = scaled(score(key ^ salt) / above.part, origin - above.octave);
            if best.is_none_or(|(least, ..)| rank < least) {
                best = Some((rank, key, below));
            }
        }
        best.map(|(_, key, below)| register(key, fmix64(below.octave.cast_unsigned()) ^ below.part.to_bits()))
    }
}

impl WeightedSketcher for Cws {
    fn words(&self) -> usize {
        self.salts.len()
    }

    fn sketch_into(&self, set: Weighted<'_>, out: &mut [u32]) {
        assert_eq!(out.len(), self.words(), "one word a register");
        for (word, &salt) in out.iter_mut().zip(&self.salts) {
            *word = self.sample(set, salt).unwrap_or(EMPTY);
        }
    }
}

impl Point {
    /// A positive finite weight; 2ᵏ is the upper end of its octave.
    fn of(weight: f64) -> Self {
        const UPPER: u64 = 1 << 52;
        let tiny = weight < f64::MIN_POSITIVE;
        let (bits, bias) = if tiny {
            ((weight * (1u64 << 54) as f64).to_bits(), 1023 + 54)
        } else {
            (weight.to_bits(), 1023)
        };
        let (exponent, fraction) = ((bits >> 52).cast_signed() - bias, bits % UPPER);
        let part = f64::from_bits(fraction | 1022 << 52);
        if part == 0.5 { Self { octave: exponent, part: 1.0 } } else { Self { octave: exponent + 1, part } }
    }
}

/// A uniform number: the middle of one of 2⁵² cells.
fn unit(bits: u64) -> f64 {
    (float(bits >> 12) + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// x·2ⁿ, infinite or zero beyond the range of numbers.
fn scaled(x: f64, n: i64) -> f64 {
    let power = |n: i64| f64::from_bits(((n.clamp(-1022, 1023) + 1023) as u64) << 52);
    // In two steps, since weights differ by up to 2²⁰⁹⁸.
    x * power(n / 2) * power(n - n / 2)
}

/// G, of the distribution Gamma(2, 1).
fn score(entropy: u64) -> f64 {
    let mut random = SplitMix64::new(fmix64(entropy ^ SCORES));
    -ln(unit(random.next_u64()) * unit(random.next_u64()))
}

/// The points of an octave, descending.
fn points(entropy: u64, octave: i64) -> impl Iterator<Item = f64> {
    let mut random = SplitMix64::new(fmix64(fmix64(entropy).wrapping_add(octave.cast_unsigned())));
    let mut part = 1.0;
    std::iter::from_fn(move || {
        part *= unit(random.next_u64());
        (part > 0.5).then_some(part)
    })
}

/// y and z: the greatest point up to the weight, and the least above it.
fn active(entropy: u64, weight: Point) -> (Point, Point) {
    let (mut below, mut above) = (None, None);
    for part in points(entropy, weight.octave) {
        if part > weight.part {
            above = Some(Point { octave: weight.octave, part });
        } else {
            below = Some(Point { octave: weight.octave, part });
            break;
        }
    }
    // Every other octave is empty, so that the next ones are soon found.
    let (mut lower, mut upper) = (weight.octave, weight.octave);
    let below = loop {
        if let Some(point) = below {
            break point;
        }
        lower -= 1;
        below = points(entropy, lower).next().map(|part| Point { octave: lower, part });
    };
    let above = loop {
        if let Some(point) = above {
            break point;
        }
        upper += 1;
        above = points(entropy, upper).last().map(|part| Point { octave: upper, part });
    };
    (below, above)
}
