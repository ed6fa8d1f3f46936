//! Days and dates: the Gregorian calendar, extended to all years.
//!
//! - **Idea.** The year is taken to begin in March. It then ends with the 29th of February, so every other day has the
//!   same place in all years. From March on, the months have 31, 30, 31, 30, 31 days and so on: (153·m + 2)/5 days lie
//!   before month m. The calendar repeats after 400 years, which have 146,097 days.
//! - **Symbols.** Day 0 is 1970-01-01; days before it are negative. The year 0 comes before the year 1.
//! - **Vectors.** The tests have known dates and a walk from day to day.
//!
//! All dates of the project are converted here, both those that [`keep`](crate::keep) compares and those that people
//! see.

/// Number of seconds of a day.
pub const DAY_SECONDS: u64 = 86_400;

/// Number of days of 400 years.
const ERA_DAYS: i64 = 146_097;
/// Number of days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// A date of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i64,
    month: u8,
    day: u8,
}

impl Date {
    /// Returns the date of this year, month and day; `None` if there is no such month, or if the month has no such day.
    #[must_use]
    pub fn new(year: i32, month: u8, day: u8) -> Option<Self> {
        let year = i64::from(year);
        let is_there = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
        is_there.then_some(Self { year, month, day })
    }

    /// Returns the date `days` days after 1970-01-01, or before it if `days` is negative.
    #[must_use]
    pub fn from_days(days: i64) -> Self {
        // Dividing before adding avoids an overflow for every number of days.
        let since_march = days.rem_euclid(ERA_DAYS) + EPOCH;
        let (era, day_of_era) = (days.div_euclid(ERA_DAYS) + since_march / ERA_DAYS, since_march % ERA_DAYS);
        // The three divisions count the leap days before this day, because without leap days every year has 365 days.
        let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / (ERA_DAYS - 1);
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = 400 * era + year_of_era + i64::from(month <= 2);
        Self { year, month: month as u8, day: day as u8 }
    }

    /// Returns the number of days since 1970-01-01, which is negative for earlier dates.
    #[must_use]
    pub fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let month = (i64::from(self.month) + 9) % 12;
        let day_of_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
        // For the last dates that have a number, the product overflows, because their era begins after the last of
        // them. The final sum fits into an `i64`, so wrapping arithmetic gives the correct result.
        era.wrapping_mul(ERA_DAYS).wrapping_add(day_of_era - EPOCH)
    }

    /// Returns the year.
    #[must_use]
    pub fn year(self) -> i64 {
        self.year
    }

    /// Returns the month, from 1 to 12.
    #[must_use]
    pub fn month(self) -> u8 {
        self.month
    }

    /// Returns the day of the month, from 1.
    #[must_use]
    pub fn day(self) -> u8 {
        self.day
    }
}

/// Returns a time in UTC in the form of RFC 3339.
///
/// ```
/// // Seconds since 1970.
/// assert_eq!(minwise::calendar::rfc3339(1_709_251_199), "2024-02-29T23:59:59Z");
/// ```
#[must_use]
pub fn rfc3339(seconds: u64) -> String {
    let Date { year, month, day } = Date::from_days((seconds / DAY_SECONDS).cast_signed());
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Reports whether a year has a 29th of February.
#[must_use]
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of_month(year: i64, month: u8) -> u8 {
    match month {
        2 => 28 + u8::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(year: i32, month: u8, day: u8) -> Date {
        Date::new(year, month, day).unwrap()
    }

    #[test]
    fn known_dates() {
        for (date, days) in [
            (date(1970, 1, 1), 0),
            (date(1970, 1, 31), 30),
            (date(1969, 12, 31), -1),
            (date(2000, 2, 29), 11_016),
            (date(2000, 3, 1), 11_017),
            (date(2024, 5, 6), 19_849),
            (date(2038, 1, 19), 24_855),
            (date(1900, 1, 1), -25_567),
            (date(1582, 10, 15), -141_427),
            (date(1, 1, 1), -719_162),
            (date(0, 3, 1), -719_468),
            (date(0, 1, 1), -719_528),
            (date(9999, 12, 31), 2_932_896),
        ] {
            assert_eq!((date.days(), Date::from_days(days)), (days, date));
        }
        for days in [i64::MIN, i64::MAX] {
            assert_eq!(Date::from_days(days).days(), days);
        }
    }

    #[test]
    fn leap_years() {
        let leap: Vec<i64> = (-8..=8)
            .chain([1896, 1900, 1904, 2000, 2024, 2100, 2400])
            .filter(|&year| is_leap(year))
            .collect();
        assert_eq!(leap, [-8, -4, 0, 4, 8, 1896, 1904, 2000, 2024, 2400]);
        assert_eq!((Date::new(2024, 2, 29).is_some(), Date::new(2023, 2, 29)), (true, None));
    }

    #[test]
    fn days_that_no_month_has_are_none() {
        for (year, month, day) in [
            (2024, 0, 1),
            (2024, 13, 1),
            (2024, 1, 0),
            (2024, 1, 32),
            (2024, 4, 31),
            (1900, 2, 29),
            (2024, 255, 1),
        ] {
            assert_eq!(Date::new(year, month, day), None, "{year}-{month}-{day}");
        }
    }

    /// The calendar gives the same dates as counting day by day, over more than 400 years on each side of the year 0.
    #[test]
    fn every_day_follows_the_day_before() {
        let mut expected = date(-450, 1, 1);
        for days in expected.days()..date(2500, 1, 1).days() {
            assert_eq!((Date::from_days(days), expected.days()), (expected, days));
            let (year, month, day) = (expected.year() as i32, expected.month(), expected.day());
            let next = Date::new(year, month, day + 1).or_else(|| Date::new(year, month + 1, 1));
            expected = next.unwrap_or_else(|| date(year + 1, 1, 1));
        }
    }

    proptest! {
        #[test]
        fn a_day_has_one_date(days in any::<i64>()) {
            prop_assert_eq!(Date::from_days(days).days(), days);
        }

        /// A date is made again from its year, month and day, for years up to two billion on both sides of 0.
        #[test]
        fn a_date_is_its_year_month_and_day(days in -700_000_000_000i64..700_000_000_000) {
            let date = Date::from_days(days);
            prop_assert_eq!(Date::new(i32::try_from(date.year()).unwrap(), date.month(), date.day()), Some(date));
        }

        #[test]
        fn the_order_of_dates_is_that_of_days(a in any::<i32>(), b in any::<i32>()) {
            let (a, b) = (i64::from(a), i64::from(b));
            prop_assert_eq!(Date::from_days(a).cmp(&Date::from_days(b)), a.cmp(&b));
        }
    }
}
