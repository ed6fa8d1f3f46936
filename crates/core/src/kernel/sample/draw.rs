//! The random numbers of one shingle and one register, and the step of a weight.
//!
//! All randomness is a function of the key of the shingle and the salt of the register, in fields of three hashes:
//!
//! | hash of key and salt | fields, upper bits first |
//! |---|---|
//! | [`outline`], 32 bits | the first 5 bits of 1 − V₁ and 11 of U₁, the first 5 of 1 − V₂ and 11 of U₂ |
//! | `fmix64` of key ⊕ salt | 32 more bits of U₁ and of U₂ |
//! | `fmix64` of the second hash ⊕ a constant | 16 more bits of 1 − V₁ and of 1 − V₂, and the 32 bits of β |
//!
//! Every uniform number is the middle of its interval, so it is never 0 or 1. The outline alone bounds the result of
//! the draw, so most draws need not be finished.

use crate::hash::fmix64;
use crate::kernel::logarithm::{float, ln};

/// 1.5·2⁵²: adding and subtracting this number rounds to the nearest integer.
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;
/// Constant that makes the third hash different from the second.
const THIRD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Random numbers of a shingle for a register.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Draw {
    /// r, with the distribution Gamma(2, 1): the distance of the steps, in logarithms of weight.
    pub distance: f64,
    /// ln c, where c has the distribution Gamma(2, 1).
    pub log_score: f64,
    /// β, uniform from 0 to 1: the shift of the steps, as a share of the distance.
    pub shift: f64,
}

/// The step of a weight, and the rank that follows from it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SampledStep {
    /// t: the number of the step below the weight, an integer.
    pub step: f64,
    /// ln a: the sample of a register is the shingle with the smallest a.
    pub log_rank: f64,
}

/// Returns a linear function of the key, like those of [`Linear`](crate::kernel::Linear), with its upper bits spread
/// over the lower bits. Keys are mixed already.
#[inline(always)]
pub(super) fn outline(key: u32, salt: u64) -> u32 {
    let (multiplier, offset) = coefficients(salt);
    spread(key.wrapping_mul(multiplier).wrapping_add(offset))
}

#[inline(always)]
pub(super) fn spread(h: u32) -> u32 {
    h ^ (h >> 15)
}

/// Returns the multiplier and the offset of the linear function, which are taken from the salt.
#[inline(always)]
pub(super) fn coefficients(salt: u64) -> (u32, u32) {
    ((salt >> 32) as u32 | 1, salt as u32)
}

impl Draw {
    /// Returns the draw of the shingle with key `key` for the register with salt `salt`.
    #[inline(always)]
    #[must_use]
    pub fn of(key: u64, salt: u64) -> Self {
        const LOWER: u64 = u32::MAX as u64;
        const UNIT_43: f64 = 1.0 / (1u64 << 43) as f64;
        const CELLS_21: f64 = (1u64 << 21) as f64;
        const UNIT_32: f64 = 1.0 / (1u64 << 32) as f64;
        let first = u64::from(outline(key as u32, salt));
        let second = fmix64(key ^ salt);
        let third = fmix64(second ^ THIRD);
        let u1 = float((first >> 16 & 0x7ff) << 32 | second >> 32) + 0.5;
        let u2 = float((first & 0x7ff) << 32 | second & LOWER) + 0.5;
        let v1 = CELLS_21 - 0.5 - float((first >> 27) << 16 | third >> 48);
        let v2 = CELLS_21 - 0.5 - float((first >> 11 & 0x1f) << 16 | third >> 32 & 0xffff);
        Self {
            distance: -ln((u1 * UNIT_43) * (u2 * UNIT_43)),
            log_score: ln(-ln((v1 / CELLS_21) * (v2 / CELLS_21))),
            shift: (float(third & LOWER) + 0.5) * UNIT_32,
        }
    }

    /// Returns the step of a weight, given the logarithm of the weight: t = ⌊ln w / r + β⌋ and ln a = ln c − r(t − β +
    /// 1).
    ///
    /// The weight decides t, and t alone decides ln a, so two weights with the same step have the same rank to the bit.
    /// Both are monotone even after rounding, because each rounded operation is monotone.
    #[inline(always)]
    #[must_use]
    pub fn place(self, log_weight: f64) -> SampledStep {
        let position = log_weight / self.distance + self.shift;
        let nearest = (position + ROUNDING) - ROUNDING;
        let step = if nearest > position { nearest - 1.0 } else { nearest };
        SampledStep { step, log_rank: self.log_score - self.distance * (step + (1.0 - self.shift)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;
    use proptest::prelude::*;

    /// The table in docs/sources/weights.md#improved-consistent-weighted-sampling has w, r, c, β and t, y, a.
    #[test]
    fn documented_vectors() {
        for (w, r, c, shift, t, y, a) in [
            (2.5, 1.3, 0.9, 0.4, 1.0, 2.181_472_265_5, 0.112_437_191_0),
            (0.01, 0.7, 2.2, 0.95, -6.0, 0.007_711_828_2, 141.663_901_375_6),
            (1.0, 1.0, 1.0, 0.5, 0.0, 0.606_530_659_7, 0.606_530_659_7),
        ] {
            let draw = Draw { distance: r, log_score: ln(c), shift };
            let place = draw.place(ln(w));
            assert_eq!(place.step, t);
            // The table has ten digits.
            let below = (r * (place.step - shift)).exp();
            assert!((below - y).abs() <= 0.5e-10, "y {below}, not {y}");
            let rank = place.log_rank.exp();
            assert!((rank - a).abs() <= 0.5e-10 * a.max(1.0), "a {rank}, not {a}");
        }
    }

    /// The expected mean and variance are 2 and 2 for Gamma(2, 1), ψ(2) and ψ′(2) for its logarithm, and ½ and 1/12 for
    /// a uniform number.
    #[test]
    fn draws_have_their_distributions() {
        const DRAWS: usize = 1_000_000;
        let mut random = SplitMix64::new(3);
        let draws: Vec<Draw> = (0..DRAWS).map(|_| Draw::of(random.next_u64(), random.next_u64())).collect();
        let check = |name: &str, mean: f64, variance: f64, value: &dyn Fn(&Draw) -> f64| {
            let found = draws.iter().map(value).sum::<f64>() / DRAWS as f64;
            let error = (variance / DRAWS as f64).sqrt();
            assert!((found - mean).abs() <= 4.0 * error, "{name}: {found}, not {mean}");
        };
        check("r", 2.0, 2.0, &|draw| draw.distance);
        // The fourth central moment of Gamma(2, 1) is 24.
        check("r, spread", 2.0, 24.0 - 4.0, &|draw| (draw.distance - 2.0).powi(2));
        check("ln c", 1.0 - 0.577_215_664_9, std::f64::consts::PI.powi(2) / 6.0 - 1.0, &|draw| {
            draw.log_score
        });
        check("β", 0.5, 1.0 / 12.0, &|draw| draw.shift);
        // The draws are independent, so the mean of a product of centred values is 0.
        check("r and β", 0.0, 2.0 / 12.0, &|draw| (draw.distance - 2.0) * (draw.shift - 0.5));
        check("r and c", 0.0, 2.0 * (std::f64::consts::PI.powi(2) / 6.0 - 1.0), &|draw| {
            (draw.distance - 2.0) * (draw.log_score - (1.0 - 0.577_215_664_9))
        });
    }

    proptest! {
        /// Consistency: more weight never has a lower step or a larger rank, and each step has one rank.
        #[test]
        fn places_are_consistent(key: u64, salt: u64, a in -745.0..709.0f64, more in 0.0..3.0f64) {
            let draw = Draw::of(key, salt);
            let (low, high) = (draw.place(a), draw.place(a + more));
            prop_assert!(low.step <= high.step && low.log_rank >= high.log_rank);
            prop_assert_eq!(low.step == high.step, low.log_rank == high.log_rank);
        }

        #[test]
        fn steps_are_below_the_weight(key: u64, salt: u64, log_weight in -700.0..700.0f64) {
            let draw = Draw::of(key, salt);
            let step = draw.place(log_weight).step;
            prop_assert_eq!(step, (log_weight / draw.distance + draw.shift).floor());
        }
    }
}
