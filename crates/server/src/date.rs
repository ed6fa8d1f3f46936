//! Days, as people write them. Time itself is counted in seconds since 1970.

use minwise::calendar::{DAY_SECONDS, Date};

/// The date of a day since 1970-01-01.
fn date(day: u64) -> Date {
    Date::from_days(day.cast_signed())
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
    use minwise::keep::date_word;

    use super::*;

    #[test]
    fn a_day_that_is_written_is_read_as_that_day() {
        for day in 0..73_049 {
            let seconds = day * DAY_SECONDS;
            // A decimal, because four digits alone would be a year.
            let read = date_word(&format!("{seconds}.0"));
            assert_eq!(date_word(&rfc3339(seconds)), read, "{day}");
        }
    }

    #[test]
    fn times_are_written_as_the_standard_has_them() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(month(1_709_251_199 / DAY_SECONDS), "2024-02");
    }
}
