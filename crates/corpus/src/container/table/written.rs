//! Writes numbers of tables as texts.

/// Types of columns that can be read as values, in words.
pub(crate) const VALUES: &str = "texts, numbers, dates or timestamps";

/// Writes a number that is stored as a whole number, with a point before its last `digits` digits.
///
/// The result always has a point, so that a count of seconds is never taken for a year.
pub(crate) fn decimal(stored: i64, digits: u32) -> String {
    let sign = if stored < 0 { "-" } else { "" };
    // If 10^digits overflows the type, the integer part is 0.
    let unit = 10u64.checked_pow(digits).unwrap_or(u64::MAX);
    let (whole, rest) = (stored.unsigned_abs() / unit, stored.unsigned_abs() % unit);
    format!("{sign}{whole}.{rest:0width$}", width = digits.max(1) as usize)
}

/// Converts a number of days to seconds.
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
