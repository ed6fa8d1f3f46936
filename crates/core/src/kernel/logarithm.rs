//! The natural logarithm, made of operations that every machine rounds alike.
//!
//! The bytes of files depend on the logarithms of weights, and the mathematics libraries of two systems may differ in
//! the last bit. This logarithm consists of additions, multiplications and one division of 64-bit floating-point
//! numbers, which IEEE 754 defines to the bit. Rust neither contracts nor reorders them, so scalar and vector code give
//! the same bits. There are no branches, so compilers can vectorise it.
//!
//! x = m·2ᵏ with m from √½ to √2, and s = (m−1)/(m+1). Then |s| < 0.1716 and ln x = k·ln 2 + 2·(s + s³/3 + s⁵/5 + …).
//! Eleven terms are enough, because the next term is below 2⁻⁶². The result has 64 bits rather than 32, because ln w is
//! divided by numbers near zero (see [`draw`](super::sample)), where an error in 24 bits would matter. No exponential
//! is needed, because samples are compared by their logarithms.

/// 2⁵²: if the lower bits of this number are replaced by an integer below 2⁵², the integer is added to it.
const LATTICE: f64 = (1u64 << 52) as f64;
/// First 32 bits of ln 2. With so few bits, the product with an exponent is exact. `LN_2_LOWER` is the remainder.
const LN_2_UPPER: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOWER: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// 2/(2i+3): coefficients of the series after its first term, divided by s³.
const SERIES: [f64; 10] = {
    let mut series = [0.0; 10];
    let mut i = 0;
    while i < series.len() {
        series[i] = 2.0 / (2 * i + 3) as f64;
        i += 1;
    }
    series
};

/// Converts an integer below 2⁵² to a floating-point number without a conversion instruction, because some vector units
/// lack it.
#[inline(always)]
pub(crate) const fn float(integer: u64) -> f64 {
    f64::from_bits(LATTICE.to_bits() | integer) - LATTICE
}

/// Returns the natural logarithm of a positive finite number, with an error of at most two units in the last place. For
/// any other number the result is arbitrary.
#[inline(always)]
#[must_use]
pub const fn ln(x: f64) -> f64 {
    const HALF_ROOT: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const FRACTION: u64 = (1 << 52) - 1;
    // The exponent field of a subnormal number is 0; multiplied by 2⁵⁴, the number is normal.
    let tiny = x < f64::MIN_POSITIVE;
    let bits = (if tiny { x * (4.0 * LATTICE) } else { x }).to_bits();
    let bias = if tiny { 1022.0 + 54.0 } else { 1022.0 };
    // Relative to √½, the upper bits are the exponent for an m from √½ to √2.
    let above = bits.wrapping_sub(HALF_ROOT - (0x3fe << 52));
    let k = float(above >> 52) - bias;
    let m = f64::from_bits((above & FRACTION) + HALF_ROOT);
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let s4 = s2 * s2;
    let s8 = s4 * s4;
    let s16 = s8 * s8;
    // Terms are added in pairs, so that additions do not wait for one another.
    let first = (SERIES[0] + SERIES[1] * s2) + (SERIES[2] + SERIES[3] * s2) * s4;
    let second = (SERIES[4] + SERIES[5] * s2) + (SERIES[6] + SERIES[7] * s2) * s4;
    let third = SERIES[8] + SERIES[9] * s2;
    let tail = (first + second * s8) + third * s16;
    k * LN_2_UPPER + (2.0 * s + (s * s2 * tail + k * LN_2_LOWER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the number of steps between two floating-point numbers of the same sign.
    fn units(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn the_constants_add_up() {
        assert_eq!(LN_2_UPPER + LN_2_LOWER, std::f64::consts::LN_2);
        assert_eq!(LN_2_UPPER.to_bits().trailing_zeros(), 21);
        assert_eq!(float(0), 0.0);
        assert_eq!(float((1 << 52) - 1), ((1u64 << 52) - 1) as f64);
    }

    #[test]
    fn exact_where_it_can_be() {
        assert_eq!(ln(1.0).to_bits(), 0);
        for x in [2.0, 0.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, 10.0, 1e-30, 1e30] {
            assert!(units(ln(x), x.ln()) <= 1, "{x}: {} {}", ln(x), x.ln());
        }
    }

    /// The system's logarithm is taken to be right to one unit in the last place, and `ln` must be within two units of
    /// it.
    #[test]
    fn within_two_units_of_the_system() {
        let mut random = crate::hash::SplitMix64::new(1);
        let mut most = 0;
        for _ in 0..2_000_000 {
            let bits = random.next_u64();
            let fraction = f64::from_bits(bits >> 12 | 1023 << 52);
            // The numbers have all exponents, are near 1 on both sides, or are subnormal.
            let near = 1.0 + (fraction - 1.5) * f64::from_bits((1023 - (bits & 31)) << 52);
            for x in [f64::from_bits(bits >> 1), fraction, fraction - 0.5, near, f64::from_bits(bits >> 13)] {
                if x.is_finite() && x > 0.0 && x != 1.0 {
                    most = most.max(units(ln(x), x.ln()));
                }
            }
        }
        assert!(most <= 2, "{most} units");
    }

    proptest! {
        #[test]
        fn never_falls(x in 1e-300..1e300f64) {
            prop_assert!(ln(x) <= ln(x * 1.000_000_001));
        }
    }
}
