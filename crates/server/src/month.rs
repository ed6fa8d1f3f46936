//! Months, by which the overview counts documents.

use minwise::calendar::Date;

/// Returns the month of a day in the form `2026-03`. Days count from 1970-01-01.
pub(crate) fn month(day: u64) -> String {
    let date = Date::from_days(day.cast_signed());
    format!("{:04}-{:02}", date.year(), date.month())
}

#[cfg(test)]
mod tests {
    use minwise::calendar::{DAY_SECONDS, rfc3339};
    use minwise::keep::date_word;

    use super::*;

    #[test]
    fn a_day_that_is_written_is_read_as_that_day() {
        for day in 0..73_049 {
            let seconds = day * DAY_SECONDS;
            // The seconds have a decimal point, because `date_word` would read four digits as a year.
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
