//! Days, as people write them. Time itself is counted in seconds since 1970.

/// Seconds of a day.
pub(crate) const DAY: u64 = 86_400;
/// Days of four hundred years, after which the calendar repeats itself.
const ERA: u64 = 146_097;
/// Days from the first of March of the year 0 to the first of January 1970.
const EPOCH: u64 = 719_468;

/// Year, month and day of a day since 1970-01-01.
fn civil(day: u64) -> (u64, u64, u64) {
    // Years that begin in March end with the day that only some of them have.
    let day = day + EPOCH;
    let (era, day) = (day / ERA, day % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / (ERA - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, months have 30.6 days on average in a way that rounds to the right ones.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (400 * era + year + u64::from(month <= 2), month, day)
}

/// The day since 1970-01-01 of a date such as `2026-03-01`; nothing for what is none, or is before.
pub(crate) fn day_of(date: &str) -> Option<u64> {
    let mut parts = date.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let all = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        if all { part.parse::<u64>().ok() } else { None }
    };
    let wanted @ (year, month, day) = (number(4)?, number(2)?, number(2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) {
        return None;
    }
    let (since_march, year) = ((month + 9) % 12, if month <= 2 { year.checked_sub(1)? } else { year });
    let within = 365 * (year % 400) + year % 400 / 4 - year % 400 / 100 + (153 * since_march + 2) / 5 + day;
    let since = (year / 400 * ERA + within).checked_sub(EPOCH + 1)?;
    // A day that the month does not have comes back as another.
    (civil(since) == wanted).then_some(since)
}

/// A month as `2026-03`.
pub(crate) fn month(day: u64) -> String {
    let (year, month, _) = civil(day);
    format!("{year:04}-{month:02}")
}

/// Seconds since 1970 in the form of RFC 3339.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / DAY);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_two_centuries_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for since in 0..73_049 {
            assert_eq!(civil(since), (year, month, day));
            assert_eq!(day_of(&format!("{year:04}-{month:02}-{day:02}")), Some(since));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let days = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > days {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!((year, month, day), (2170, 1, 1));
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
        assert_eq!(month(1_709_251_199 / DAY), "2024-02");
    }
}
