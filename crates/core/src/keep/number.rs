//! Numbers as words (unsigned integers) in the same order as the numbers.
//!
//! The first word is the nearest double-precision number. From 2⁵³ on, several whole numbers round to the same double,
//! so the second word is the difference from this double; identifiers and time stamps of 64 bits then differ. Only
//! numbers written without a point and an exponent have this second word.

/// Returns the words of a number in text form; `None` if the text is no number.
pub(super) fn words(text: &str) -> Option<[u64; 2]> {
    let text = text.trim();
    // Rust parses `inf` and `nan` too, but policies do not treat them as numbers.
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match text.parse::<i128>() {
        Ok(whole) => {
            let nearest = whole as f64;
            let rest = whole.saturating_sub(nearest as i128).clamp(i64::MIN.into(), i64::MAX.into());
            Some([ordered(nearest), from_signed(rest as i64)])
        }
        Err(_) => Some([ordered(text.parse().ok()?), from_signed(0)]),
    }
}

/// Returns the bits of a number, changed so that as unsigned integers they compare as the numbers do. The result is
/// never 0 and never all ones, because these two words are quiet NaNs, and `words` passes no NaN.
fn ordered(number: f64) -> u64 {
    // Adding 0.0 turns −0.0 into 0.0, so both zeros have the same word.
    let bits = (number + 0.0).to_bits();
    // A negative number has the sign bit set, and its bits grow as the number falls.
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Returns a signed number as an unsigned number, in the same order.
pub(super) fn from_signed(number: i64) -> u64 {
    number.cast_unsigned() ^ 1 << 63
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms() {
        assert_eq!(words("1"), words("1.0"));
        assert_eq!(words("100"), words(" 1e2 "));
        assert_eq!(words("+5"), words("5"));
        assert_eq!(words("-0"), words("0"));
        assert_eq!(words("-0.0"), words("0"));
        assert!(words("1e999") > words("1e308"));
        for bad in ["", "nan", "inf", "-Infinity", "1 000", "0x10", "1,5", "12th"] {
            assert_eq!(words(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_number_is_never_behind_all_others() {
        for text in ["1e999", "-1e999", &i128::MAX.to_string(), &i128::MIN.to_string()] {
            let first = words(text).unwrap()[0];
            assert!(first != u64::MAX && first != 0, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_have_their_order(a in any::<i64>(), b in any::<u64>(), near in -3i128..4) {
            for (a, b) in [(a.into(), b.into()), (i128::from(b), i128::from(b) + near), (i128::from(a), i128::from(a) + near)] {
                prop_assert_eq!(words(&a.to_string()).cmp(&words(&b.to_string())), a.cmp(&b));
            }
        }

        #[test]
        fn other_numbers_have_their_order(a in any::<f64>(), b in -1e3f64..1e3) {
            let of = |number: f64| words(&format!("{number:e}"));
            if a.is_finite() {
                prop_assert_eq!(Some(of(a).cmp(&of(b))), (a + 0.0).partial_cmp(&(b + 0.0)));
            }
        }
    }
}
