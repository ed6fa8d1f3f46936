//! The estimator of [`Odd`](crate::sketch::odd::Odd).
//!
//! Symbols: n is the length of the sketch in bits, k the number of registers, and z the number of bits in which two
//! sketches differ. The number m is twice the number of registers that differ; each of these m values flips a random
//! bit:
//!
//! ```text
//! Ĵ      = 1 + (n/4k)·ln(1 − 2z/n)
//! E[z]   = n(1 − (1−2/n)^m)/2
//! Var[z] = n²((1−4/n)^m − (1−2/n)^(2m))/4 + n(1 − (1−4/n)^m)/4
//! Var(Ĵ) ≈ J(1−J)/k + Var[z]·((1/2k)/(1−2/n)^m)²     m = 2k(1−J)
//! ```
//!
//! Hassanian-esfahani 2018, Table 1, prints Var\[z\] as the variance of Ĵ, and calls n the number of documents (E-11).
//! If 2z ≥ n, the similarity is too low for the sketch, and the estimate is 0. The formula of Var(Ĵ) is right to 4 %
//! while (1−2/n)^m ≥ 0.37; at 0.2 it is 6 to 10 % too small.

use super::Estimate;
use super::b_bit::{bounded, score_interval};

/// Returns E\[z\] and Var\[z\] after `flips` (m) random flips of `bits` (n) bits.
#[must_use]
pub fn ones(flips: f64, bits: usize) -> (f64, f64) {
    let n = bits as f64;
    moments((1.0 - 2.0 / n).powf(flips), (1.0 - 4.0 / n).powf(flips), n)
}

/// Returns the mean and the variance of z at this similarity: [`ones`], averaged exactly over the binomial number of
/// registers that differ.
#[must_use]
pub fn difference(similarity: f64, registers: usize, bits: usize) -> (f64, f64) {
    let n = bits as f64;
    // A register that differs flips two bits, so E[xᵐ] = (J + (1−J)x²)ᵏ.
    let power = |x: f64| (similarity + (1.0 - similarity) * x * x).powf(registers as f64);
    moments(power(1.0 - 2.0 / n), power(1.0 - 4.0 / n), n)
}

/// Returns E\[z\] and Var\[z\] from the expectations of (1−2/n)^m and (1−4/n)^m.
fn moments(two: f64, four: f64, n: f64) -> (f64, f64) {
    let variance = n * n * (four - two * two) / 4.0 + n * (1.0 - four) / 4.0;
    (n * (1.0 - two) / 2.0, variance.max(0.0))
}

/// Returns Ĵ from the number of bits in which two sketches differ, not clamped; `None` for 2z ≥ n.
#[must_use]
pub fn similarity(difference: f64, registers: usize, bits: usize) -> Option<f64> {
    let n = bits as f64;
    let left = 1.0 - 2.0 * difference / n;
    (left > 0.0).then(|| 1.0 + n / (4.0 * registers as f64) * left.ln())
}

/// Returns the variance of Ĵ at this similarity, by the delta method.
#[must_use]
pub fn variance(similarity: f64, registers: usize, bits: usize) -> f64 {
    let (k, n) = (registers as f64, bits as f64);
    let flips = 2.0 * k * (1.0 - similarity);
    let slope = 0.5 / k / (1.0 - 2.0 / n).powf(flips);
    similarity * (1.0 - similarity) / k + ones(flips, bits).1 * slope * slope
}

/// Returns the number of registers with the smallest variance for a sketch of n bits at this similarity: about
/// n/(4(1−J)).
#[must_use]
pub fn best_registers(similarity: f64, bits: usize) -> usize {
    let most = 4 * ((bits as f64 / (4.0 * (1.0 - similarity).max(1e-4))) as usize + 1);
    // The variance falls and then rises with the number of registers, so a binary search finds its minimum.
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = usize::midpoint(low, high);
        let at = |registers| variance(similarity, registers, bits);
        if at(middle) <= at(middle + 1) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Estimates the similarity of two documents whose sketches differ in z bits.
///
/// # Panics
/// Panics if there are no registers, fewer than 4 bits, or more differing bits than bits.
#[must_use]
pub fn estimate(different: usize, registers: usize, bits: usize) -> Estimate {
    assert!(registers > 0 && bits >= 4 && different <= bits, "{different} of {bits} bits cannot differ");
    let n = bits as f64;
    let value = similarity(different as f64, registers, bits).unwrap_or(0.0).clamp(0.0, 1.0);
    // A z above n/2 gives no more information than n/2, so error and interval are computed at n/2.
    let seen = (different as f64).min(n / 2.0);
    let at = similarity((seen + 0.5) * n / (n + 1.0), registers, bits).unwrap_or(0.0).max(0.0);
    let law = |j| difference(j, registers, bits);
    let interval = score_interval(-seen, |j| -law(j).0, |j| law(j).1.sqrt());
    let interval = (interval.0.min(value), interval.1.max(value));
    let (mean, spread) = law(0.0);
    let above_zero = similarity(mean - spread.sqrt(), registers, bits).unwrap_or(0.0);
    let standard_error = bounded(variance(at, registers, bits), interval, above_zero);
    Estimate { value, standard_error, interval }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_1_SQRT_2;

    use super::*;

    #[test]
    fn documented_numbers_of_ones() {
        for (n, m, mean, variance) in
            [(1000, 400.0, 275.5154, 118.7996), (100, 20.0, 16.6196, 4.7050), (64, 64.0, 27.8053, 14.6086)]
        {
            let found = ones(m, n);
            assert!((found.0 - mean).abs() < 5.1e-5 && (found.1 - variance).abs() < 5.1e-5, "{found:?}");
        }
    }

    #[test]
    fn documented_estimates() {
        for (z, expected) in [
            (0.0, 1.0),
            (50.0, 0.974_310_066_5),
            (100.0, 0.945_674_681_1),
            (200.0, 0.876_169_640_7),
            (400.0, 0.620_043_561_6),
        ] {
            let found = similarity(z, 1024, 1024).unwrap();
            assert!((found - expected).abs() < 6e-11, "{found}");
            assert!((estimate(z as usize, 1024, 1024).value - expected).abs() < 6e-11);
        }
        for z in [512, 513, 1024] {
            assert_eq!(similarity(z as f64, 1024, 1024), None);
            assert_eq!(estimate(z, 1024, 1024).value, 0.0);
        }
    }

    #[test]
    fn documented_tiny_sketch() {
        let sketch = |pairs: [(u32, u32); 4]| {
            pairs.into_iter().fold(0_u8, |odd, (i, v)| odd ^ 1 << ((5 * i + 3 * v) % 8))
        };
        let a = sketch([(0, 4), (1, 7), (2, 2), (3, 9)]);
        let b = sketch([(0, 4), (1, 6), (2, 2), (3, 1)]);
        assert_eq!((a.reverse_bits(), b.reverse_bits()), (0b1000_1000, 0b1010_1001));
        let z = (a ^ b).count_ones() as usize;
        assert_eq!(z, 2);
        assert!((estimate(z, 4, 8).value - 0.653_426_409_7).abs() < 6e-11);
    }

    /// Mean and variance of z must equal the sums over the binomial number of differing registers.
    #[test]
    fn the_law_is_the_binomial_mixture() {
        let (j, k, n) = (0.7_f64, 30_usize, 64_usize);
        let mut probability = j.powi(30);
        let (mut mean, mut second) = (0.0, 0.0);
        for differing in 0..=k {
            let (e, v) = ones(2.0 * differing as f64, n);
            mean += probability * e;
            second += probability * (v + e * e);
            probability *= (k - differing) as f64 / (differing + 1) as f64 * (1.0 - j) / j;
        }
        let found = difference(j, k, n);
        assert!((found.0 - mean).abs() < 1e-9 && (found.1 - (second - mean * mean)).abs() < 1e-9);
    }

    #[test]
    fn the_best_number_of_registers() {
        // docs/sources/bits.md#odd-sketch: k/n, and the n·Var at this ratio.
        for (j, ratio, expected, decimals) in [
            (0.3, f64::NAN, 2.493, 5.1e-4),
            (0.5, f64::NAN, 1.545, 5.1e-4),
            (0.7, f64::NAN, 0.641, 5.1e-4),
            (0.8, 1.2, 0.303, 5.1e-4),
            (0.9, 2.4, 0.0799, 5.1e-5),
            (0.95, 4.9, 0.0205, 5.1e-5),
            (0.99, 25.0, 0.0008, 5.1e-5),
        ] {
            // The table does not state its n. The variance of 1024 bits is within 0.2 % of the limit.
            let n = 1 << 16;
            let k = best_registers(j, n);
            let limit = n as f64 * variance(j, k, n);
            let short = 1024.0 * variance(j, best_registers(j, 1024), 1024);
            assert!(limit - decimals < expected && expected < short + decimals, "{j}: {limit} to {short}");
            assert!(short < 1.002 * limit, "{j}: {limit} to {short}");
            let share = k as f64 / n as f64;
            assert!(ratio.is_nan() || (share / ratio - 1.0).abs() < 0.05, "{j}: {share}");
            assert!((1..4 * k).step_by(k / 97).all(|other| variance(j, other, n) >= variance(j, k, n)));
        }
        // With four registers per bit, the odd sketch has less variance than exclusive or, which has 0.0286.
        let found = 1024.0 * variance(0.95, 4096, 1024);
        assert!((found - 0.0211).abs() < 5.1e-5, "{found}");
    }

    #[test]
    fn estimates_stay_inside_and_are_never_certain() {
        for registers in [16, 64, 256, 4096] {
            for z in 0..=64 {
                let found = estimate(z, registers, 64);
                let (low, high) = found.interval;
                assert!(0.0 <= low && low <= found.value && found.value <= high && high <= 1.0, "{found:?}");
                assert!(
                    found.standard_error > 0.0 && found.standard_error <= FRAC_1_SQRT_2,
                    "{registers} {z} {found:?}"
                );
            }
        }
    }
}
