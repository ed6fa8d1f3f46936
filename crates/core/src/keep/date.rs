//! Dates as words (unsigned integers) in the same order as the dates.
//!
//! - **Forms.** `2024`, `2024-05`, `2024-05-06`; a time after the date, separated by `T` or a space, with `Z`, with an
//!   offset from Greenwich, or without an offset, which means Greenwich time; and a number of seconds since the start
//!   of 1970. A number of four digits is a year.
//! - **Order.** Dates are ordered by microseconds. A missing part has its smallest value: `2024` is the first moment of
//!   this year.

use super::number::from_signed;
use crate::calendar::{DAY_SECONDS, Date};

const MICROS: i64 = 1_000_000;

/// Returns the word of a date in text form; `None` if the text is no date.
#[must_use]
pub fn word(text: &str) -> Option<u64> {
    let text = text.trim();
    let micros = calendar(text).or_else(|| seconds(text))?;
    Some(from_signed(micros))
}

/// Returns the microseconds since 1970 for a number of seconds.
fn seconds(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let micros = if !whole.is_empty() && all_digits(whole) && all_digits(fraction) {
        whole.parse::<i64>().ok()?.checked_mul(MICROS)?.checked_add(micros_of(fraction))?
    } else {
        // A number with an exponent, such as `1.7e9`, is parsed as a double.
        let seconds: f64 =
            Some(digits).filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))?.parse().ok()?;
        let micros = (seconds * MICROS as f64).round();
        (micros < i64::MAX as f64).then_some(micros as i64)?
    };
    // The largest number is reserved for documents without a date.
    Some(sign * micros).filter(|&micros| micros < i64::MAX)
}

/// Returns the microseconds of the digits after a decimal point; digits after the sixth are dropped.
fn micros_of(fraction: &str) -> i64 {
    let digits = fraction.bytes().map(|byte| i64::from(byte - b'0')).chain(std::iter::repeat(0));
    digits.take(6).fold(0, |micros, digit| micros * 10 + digit)
}

/// Returns the microseconds since 1970 of a date in calendar form.
fn calendar(text: &str) -> Option<i64> {
    let mut rest = Rest(text);
    let year = rest.number(4)?;
    let (mut month, mut day, mut micros) = (1, 1, 0);
    if rest.take(&["-"]) {
        month = rest.number(2)?;
        if rest.take(&["-"]) {
            day = rest.number(2)?;
            if rest.take(&["T", "t", " "]) {
                micros = rest.time()? - rest.offset()? * MICROS;
            }
        }
    }
    if !rest.0.is_empty() {
        return None;
    }
    // The casts are lossless: a year has four digits, and month and day have two.
    let date = Date::new(year as i32, month as u8, day as u8)?;
    Some(date.days() * DAY_SECONDS.cast_signed() * MICROS + micros)
}

/// The remaining text of a date that is being parsed.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    /// Removes one of `texts` if the remaining text begins with it, and returns whether it did.
    fn take(&mut self, texts: &[&str]) -> bool {
        let rest = texts.iter().find_map(|text| self.0.strip_prefix(text));
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Removes a number of exactly `digits` digits and returns it.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.0 = rest;
        number.parse().ok()
    }

    /// Removes a time of day and returns it in microseconds.
    fn time(&mut self) -> Option<i64> {
        let hours = self.number(2)?;
        let minutes = if self.take(&[":"]) { self.number(2)? } else { return None };
        let seconds = if self.take(&[":"]) { self.number(2)? } else { 0 };
        let mut micros = 0;
        if self.take(&["."]) {
            let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
            let (fraction, rest) = self.0.split_at(end);
            micros = micros_of(fraction);
            self.0 = rest;
        }
        // A second of 60 is allowed, because some minutes have a leap second.
        let in_range = hours < 24 && minutes < 60 && seconds <= 60;
        in_range.then_some(((hours * 60 + minutes) * 60 + seconds) * MICROS + micros)
    }

    /// Removes an offset from Greenwich and returns it in seconds.
    fn offset(&mut self) -> Option<i64> {
        if self.0.is_empty() || self.take(&["Z", "z"]) {
            return Some(0);
        }
        let sign = match (self.take(&["+"]), self.take(&["-"])) {
            (true, false) => 1,
            (false, true) => -1,
            _ => return None,
        };
        let hours = self.number(2)?;
        self.take(&[":"]);
        let minutes = if self.0.is_empty() { 0 } else { self.number(2)? };
        (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn micros(text: &str) -> Option<i64> {
        word(text).map(|word| (word ^ 1 << 63).cast_signed())
    }

    #[test]
    fn one_moment_in_all_its_forms() {
        let moment = Some(1_714_984_200_250_000);
        for form in [
            "2024-05-06T08:30:00.25Z",
            "2024-05-06t08:30:00.250000999z",
            "2024-05-06 08:30:00.25",
            "2024-05-06 10:30:00.25+02:00",
            "2024-05-06T01:00:00.25-0730",
            " 2024-05-06 09:30:00.25+01 ",
            "1714984200.25",
            "1.71498420025e9",
        ] {
            assert_eq!(micros(form), moment, "{form}");
        }
    }

    #[test]
    fn what_is_not_said_counts_as_its_earliest() {
        assert_eq!(micros("1970"), Some(0));
        assert_eq!(micros("1970-02"), Some(31 * 86_400 * MICROS));
        assert_eq!(micros("1970-01-02T00:00"), Some(86_400 * MICROS));
        assert_eq!(micros("1969-12-31T23:59:60"), Some(0));
        assert_eq!(micros("-1.5"), Some(-1_500_000));
        assert_eq!(micros("17149842000"), Some(17_149_842_000 * MICROS));
    }

    #[test]
    fn what_is_no_date_is_told() {
        for form in [
            "",
            "yesterday",
            "2024-13",
            "2024-00-01",
            "2023-02-29",
            "2024-05-06T",
            "2024-05-06T25:00",
            "2024-05-06T10:61",
            "2024-05-06T10",
            "2024-05-06T10:00:00+25:00",
            "2024-05-06T10:00:00 UTC",
            "2024-5-6",
            "2024/05/06",
            "24-05",
            "2024-05-06x",
            "-",
            ".5",
            "1e999",
            "99999999999999999999",
            "é024",
            "nan",
        ] {
            assert_eq!(micros(form), None, "{form}");
        }
        assert!(micros("2024-02-29").is_some());
        assert_eq!(micros("9223372036854.775807"), None);
    }

    #[test]
    fn every_day_is_a_day_after_the_one_before() {
        let days = Date::new(0, 1, 1).unwrap().days()..=Date::new(2500, 12, 31).unwrap().days();
        for days in days {
            let date = Date::from_days(days);
            let written = format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
            assert_eq!(micros(&written), Some(days * 86_400 * MICROS), "{written}");
        }
    }

    proptest! {
        #[test]
        fn seconds_have_their_order(a in -4_000_000_000i64..4_000_000_000, b in any::<i32>(), fraction in 0u32..1_000_000) {
            let of = |number: i64| word(&format!("{number}.0"));
            prop_assert_eq!(of(a).cmp(&of(b.into())), a.cmp(&b.into()));
            prop_assert_eq!(micros(&format!("{}.{fraction:06}", a.abs())), Some(a.abs() * MICROS + i64::from(fraction)));
        }
    }
}
