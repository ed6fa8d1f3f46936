//! Exact arithmetic with powers of two and floating-point numbers.

/// Returns the n with 2ⁿ ≤ x < 2ⁿ⁺¹, for a positive finite x.
#[inline(always)]
pub(crate) const fn exponent(x: f64) -> i64 {
    // The exponent field of a subnormal number is 0; multiplied by 2⁵⁴, the number is normal.
    let (normal, bias) = if x < f64::MIN_POSITIVE { (x * (1u64 << 54) as f64, 1023 + 54) } else { (x, 1023) };
    (normal.to_bits() >> 52).cast_signed() - bias
}

/// Returns x·2ⁿ for n from −2044 to 2046, or infinity or zero beyond the range of numbers. An n outside these bounds
/// counts as the nearest bound.
#[inline(always)]
pub(crate) fn scaled(x: f64, n: i64) -> f64 {
    let power = |n: i64| f64::from_bits(((n.clamp(-1022, 1023) + 1023) as u64) << 52);
    // Two factors are used, because weights differ by factors of up to 2²⁰⁹⁸, and the largest power of two is 2¹⁰²³.
    x * power(n / 2) * power(n - n / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_of_the_range() {
        for (x, n) in [(5e-324, -1074), (f64::MIN_POSITIVE, -1022), (1.0, 0), (f64::MAX, 1023)] {
            assert_eq!(exponent(x), n, "{x}");
        }
        assert_eq!(scaled(f64::MAX / 2.0, -2044), f64::MIN_POSITIVE * (2.0 - f64::EPSILON));
        assert_eq!(scaled(5e-324, 2046), 2f64.powi(972));
        assert_eq!((scaled(1.0, 5000), scaled(1.0, -5000)), (f64::INFINITY, 0.0));
    }

    proptest! {
        #[test]
        fn a_number_lies_between_its_powers(bits in 1u64..f64::INFINITY.to_bits()) {
            let x = f64::from_bits(bits);
            let n = exponent(x);
            prop_assert!((1.0..2.0).contains(&scaled(x, -n)));
            prop_assert_eq!(scaled(scaled(x, -n), n), x);
        }
    }
}
