//! Days, as people write them. Time itself is counted in seconds since 1970.

use minwise::calendar::{DAY_SECONDS, Date};

/// The date of a day since 1970-01-01.
fn date(day: u64) -> Date {
    Date::from_days(day.cast_signed())
}

/// The day since 1970-01-01 of a date such as `2026-03-01`; nothing for what is none, or is before.
pub(crate) fn day_of(date: &str) -> Option<u64> {
    let mut parts = date.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let all = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        if all { part.parse::<u16>().ok() } else { None }
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    if parts.next().is_some() {
        return None;
    }
    let date = Date::new(year.into(), month.try_into().ok()?, day.try_into().ok()?)?;
    date.days().try_into().ok()
}

/// A month as `2026-03`.
pub(crate) fn month(day: u64) -> String {
    let date = date(day);
    format!("{:04}-{:02}", date.year(), date.month())
}

/// Seconds since 1970 in the form of RFC 3339.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let date = date(seconds / DAY_SECONDS);
    let (year, month, day) = (date.year(), date.month(), date.day());
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_of_a_day_is_read_as_that_day() {
        for day in 0..73_049 {
            let written = rfc3339(day * DAY_SECONDS);
            let (date, time) = written.split_once('T').unwrap();
            assert_eq!((day_of(date), time), (Some(day), "00:00:00Z"));
        }
        assert_eq!(day_of("2170-01-01"), Some(73_049));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2026",
            "2026-3-1",
            "2026-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "1969-12-31",
            "2026-01-01-01",
            "+026-01-01",
            "2026-01-01T00:00:00Z",
        ] {
            assert_eq!(day_of(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_written_as_the_standard_has_them() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(month(1_709_251_199 / DAY_SECONDS), "2024-02");
    }
}
