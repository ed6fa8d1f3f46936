//! Numbers as people read and write them. All messages, progress bars, summaries and reports have the same thousands
//! separator, one unit per size and the same form of percentages. Shares that people type are parsed by this module.

/// Formats a number with a comma between groups of three digits.
///
/// ```
/// assert_eq!(minwise::figure::grouped(1_204_113), "1,204,113");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    with_commas(&number.to_string())
}

/// Formats the product of two numbers like [`grouped`], even if the product is above `u64::MAX`.
pub(crate) fn grouped_product(first: usize, second: usize) -> String {
    with_commas(&(first as u128 * second as u128).to_string())
}

/// Puts a comma between groups of three digits.
fn with_commas(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number and a noun, which is in the plural unless the number is 1.
///
/// ```
/// assert_eq!(minwise::figure::counted(1, "match"), "1 match");
/// assert_eq!(minwise::figure::counted(2_000, "match"), "2,000 matches");
/// ```
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    let ending = match noun {
        _ if number == 1 => "",
        _ if noun.ends_with("ch") || noun.ends_with('x') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", grouped(number))
}

/// Formats a number, a noun and a verb. The verb is `one` if the number is 1, otherwise `several`.
///
/// ```
/// use minwise::figure::subject;
/// assert_eq!(subject(1, "document", ["was", "were"]), "1 document was");
/// assert_eq!(subject(2_000, "document", ["was", "were"]), "2,000 documents were");
/// ```
#[must_use]
pub fn subject(number: u64, noun: &str, [one, several]: [&str; 2]) -> String {
    format!("{} {}", counted(number, noun), if number == 1 { one } else { several })
}

/// Formats a number of bytes in decimal units: 1 kB is 1,000 bytes.
///
/// ```
/// assert_eq!(minwise::figure::size(149_365_360), "149.4 MB");
/// ```
#[must_use]
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..999_950 => format!("{:.1} kB", bytes as f64 / 1e3),
        999_950..999_950_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        999_950_000..999_950_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{:.1} TB", bytes as f64 / 1e12),
    }
}

/// Formats a part of a whole as a percentage with one decimal.
///
/// A part that is neither 0 nor the whole is never rounded to 0 % or 100 %.
///
/// ```
/// use minwise::figure::percent;
/// assert_eq!(percent(18, 48), "37.5 %");
/// assert_eq!(percent(1, 1_000_000), "below 0.1 %");
/// ```
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    match share {
        _ if part == 0 => "0 %".to_owned(),
        _ if part == whole => "100 %".to_owned(),
        ..0.1 => "below 0.1 %".to_owned(),
        _ if share > 99.9 => "above 99.9 %".to_owned(),
        _ => format!("{share:.1} %"),
    }
}

/// Formats a probability or a recall as a percentage with two decimals. Only 1 itself gives 100 %.
///
/// ```
/// use minwise::figure::probability;
/// assert_eq!([0.9923, 1.0, 0.999_999].map(probability), ["99.23 %", "100 %", "above 99.99 %"]);
/// ```
#[must_use]
pub fn probability(share: f64) -> String {
    match 100.0 * share {
        100.0.. => "100 %".to_owned(),
        99.995.. => "above 99.99 %".to_owned(),
        percent if percent <= 0.0 => "0 %".to_owned(),
        ..0.005 => "below 0.01 %".to_owned(),
        percent => format!("{percent:.2} %"),
    }
}

/// Formats the lower bound of a probability as a percentage with two decimals. The bound is rounded down, so that it
/// stays true.
///
/// ```
/// use minwise::figure::lower_bound;
/// assert_eq!([0.98, 0.999_97, 1.0].map(lower_bound), ["98.00 %", "99.99 %", "100 %"]);
/// ```
#[must_use]
pub fn lower_bound(share: f64) -> String {
    hundredths_of_percent(hundredths(share).floor())
}

/// Difference below which two shares count as equal. Rounding errors, and the tolerance of [`hundredths`], are smaller.
const EQUAL: f64 = 1e-10;

/// Formats a 95 % confidence interval as percentages with two decimals, rounded outwards. An end at 0 % or 100 % is
/// left out, because it bounds nothing. Returns `None` if both ends are equal, because the value is then exact.
///
/// ```
/// use minwise::figure::interval;
/// assert_eq!(interval(0.966, 0.98123).unwrap(), "96.60 % to 98.13 % with 95 % confidence");
/// assert_eq!(interval(0.99741, 1.0).unwrap(), "at least 99.74 % with 95 % confidence");
/// assert_eq!(interval(0.99745, 0.99745), None);
/// ```
#[must_use]
pub fn interval(low: f64, high: f64) -> Option<String> {
    // An exact value between two hundredths of a percent would have different ends after rounding.
    if high - low < EQUAL {
        return None;
    }
    let (low, high) = (hundredths(low).floor(), hundredths(high).ceil());
    let [from, to] = [low, high].map(hundredths_of_percent);
    let ends = match (low <= 0.0, high >= 1e4) {
        (false, true) => format!("at least {from}"),
        (true, false) => format!("at most {to}"),
        _ => format!("{from} to {to}"),
    };
    Some(format!("{ends} with 95 % confidence"))
}

/// Returns a share in hundredths of a percent. Shares such as 0.57 give a whole number, because otherwise rounding down
/// would turn 57 % into 56.99 %.
fn hundredths(share: f64) -> f64 {
    let all = (1e4 * share).clamp(0.0, 1e4);
    if (all - all.round()).abs() < 1e-7 { all.round() } else { all }
}

fn hundredths_of_percent(hundredths: f64) -> String {
    if hundredths == 0.0 || hundredths == 1e4 {
        return format!("{} %", hundredths / 100.0);
    }
    format!("{:.2} %", hundredths / 100.0)
}

/// Formats a share as a percentage with one decimal. Only 1 itself gives 100 %, and only 0 itself gives 0 %.
///
/// ```
/// use minwise::figure::share;
/// assert_eq!([0.637, 1.0, 0.999_97].map(share), ["63.7 %", "100 %", "above 99.9 %"]);
/// ```
#[must_use]
pub fn share(share: f64) -> String {
    match 100.0 * share {
        100.0.. => "100 %".to_owned(),
        percent if percent > 99.9 => "above 99.9 %".to_owned(),
        percent if percent <= 0.0 => "0 %".to_owned(),
        ..0.1 => "below 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// Reads a share: a number, or a percentage such as `80%`.
///
/// ```
/// use minwise::figure::read_share;
/// assert_eq!(["0.8", "80%", "99.9 %", "1e-6"].map(read_share), [0.8, 0.8, 0.999, 1e-6].map(Some));
/// assert_eq!(["0,8", "%", "80 percent"].map(read_share), [None; 3]);
/// ```
#[must_use]
pub fn read_share(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => share_of_percent(percent.trim_end()),
        None => text.parse().ok(),
    }
}

/// Returns the share for a number of percent.
pub(crate) fn share_of_percent(percent: &str) -> Option<f64> {
    // Dividing by 100 would turn 99.9 into 0.9990000000000001, so the exponent is changed in the text.
    format!("{percent}e-2").parse().ok()
}

/// Formats a similarity with `decimals` decimals. A similarity below 1 is never rounded up to 1.
///
/// ```
/// use minwise::figure::similarity;
/// assert_eq!([0.637, 1.0, 0.999_97].map(|value| similarity(value, 4)), ["0.6370", "1.0000", "0.9999"]);
/// ```
#[must_use]
pub fn similarity(value: f64, decimals: usize) -> String {
    let rounded = format!("{value:.decimals$}");
    if value < 1.0 && rounded.starts_with('1') {
        return format!("0.{}", "9".repeat(decimals));
    }
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_204_113, "1,204,113")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn nouns_have_a_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "pair")), ["0 pairs", "1 pair", "2 pairs"]);
        assert_eq!(counted(2, "index"), "2 indexes");
        let subjects = [0, 1, 2].map(|n| subject(n, "match", ["is", "are"]));
        assert_eq!(subjects, ["0 matches are", "1 match is", "2 matches are"]);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([999, 1_500, 149_365_360, 999_960].map(size), ["999 B", "1.5 kB", "149.4 MB", "1.0 MB"]);
    }

    #[test]
    fn intervals_are_rounded_outwards_and_are_never_empty() {
        for (low, high, shown) in [
            (0.0, 1.0, Some("0 % to 100 %")),
            (0.0, 0.25, Some("at most 25.00 %")),
            (0.25, 1.0, Some("at least 25.00 %")),
            (0.57, 0.58, Some("57.00 % to 58.00 %")),
            (0.980_01, 0.980_02, Some("98.00 % to 98.01 %")),
            (0.999_951, 0.999_99, Some("at least 99.99 %")),
            (0.999_96, 1.0, Some("at least 99.99 %")),
            (1e-9, 2e-6, Some("at most 0.01 %")),
            (0.98, 0.98, None),
            (0.997_452_770_1, 0.997_452_770_1, None),
            (1.0, 1.0, None),
            (1.0 - 1e-15, 1.0, None),
            (0.0, 0.0, None),
        ] {
            let shown = shown.map(|ends| format!("{ends} with 95 % confidence"));
            assert_eq!(interval(low, high), shown, "{low} {high}");
        }
        assert_eq!([0.57, 0.999_999, 0.0].map(lower_bound), ["57.00 %", "99.99 %", "0 %"]);
    }

    #[test]
    fn shares_are_never_rounded_to_nothing_or_all() {
        let percents = [(0, 0), (0, 9), (9, 9), (1, 3), (1, 9999), (999, 1000), (9998, 9999)];
        assert_eq!(
            percents.map(|(part, whole)| percent(part, whole)),
            ["0 %", "0 %", "100 %", "33.3 %", "below 0.1 %", "99.9 %", "above 99.9 %"]
        );
        assert_eq!(
            [0.0, 0.00001, 0.5, 0.99991, 0.99995, 1.0].map(probability),
            ["0 %", "below 0.01 %", "50.00 %", "99.99 %", "above 99.99 %", "100 %"]
        );
        assert_eq!(
            [0.0, 0.0001, 0.5, 0.999, 0.9995, 1.0].map(share),
            ["0 %", "below 0.1 %", "50.0 %", "99.9 %", "above 99.9 %", "100 %"]
        );
        assert_eq!(
            [0.0, 0.12345, 0.99949, 0.9995, 1.0].map(|value| similarity(value, 3)),
            ["0.000", "0.123", "0.999", "0.999", "1.000"]
        );
    }
}
