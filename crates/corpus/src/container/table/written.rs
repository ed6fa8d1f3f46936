//! Numbers of tables as text.

/// What can be read as a value, in words.
pub(crate) const VALUES: &str = "texts, numbers, dates or timestamps";

/// A number that is stored as this many of its last digits, with a point before them.
///
/// There is always a point, so that a count of seconds is never taken for a year.
pub(crate) fn decimal(stored: i64, digits: u32) -> String {
    let sign = if stored < 0 { "-" } else { "" };
    // What has more digits than the type is 0 before the point.
    let unit = 10u64.checked_pow(digits).unwrap_or(u64::MAX);
    let (whole, rest) = (stored.unsigned_abs() / unit, stored.unsigned_abs() % unit);
    format!("{sign}{whole}.{rest:0width$}", width = digits.max(1) as usize)
}

/// A number of days as seconds.
pub(crate) fn days(days: i64) -> String {
    decimal(days.saturating_mul(86_400), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_point() {
        assert_eq!(decimal(2024, 0), "2024.0");
        assert_eq!(decimal(-1_500, 3), "-1.500");
        assert_eq!(decimal(7, 6), "0.000007");
        assert_eq!(decimal(i64::MIN, 9), "-9223372036.854775808");
        assert_eq!(days(-1), "-86400.0");
    }
}
