//! Text of a chart: escaping, line breaks, and an upper bound on its width.

use minwise_corpus::{Quotes, escape_html};

/// Formats `digit`·10^`exponent`, without an exponent if it is short.
pub(super) fn power_of_ten(digit: i32, exponent: i32) -> String {
    match exponent {
        0..=4 => format!("{digit}{}", "0".repeat(exponent as usize)),
        -4..=-1 => format!("0.{}{digit}", "0".repeat((-exponent - 1) as usize)),
        _ => {
            let raised: String = exponent
                .to_string()
                .chars()
                .map(|c| match c {
                    '-' => '⁻',
                    '1' => '¹',
                    '2' => '²',
                    '3' => '³',
                    digit => char::from_u32(0x2070 + digit as u32 - '0' as u32).unwrap_or(digit),
                })
                .collect();
            if digit == 1 { format!("10{raised}") } else { format!("{digit}·10{raised}") }
        }
    }
}

/// Escapes text for an element.
pub(crate) fn escape(text: &str) -> String {
    escape_html(&without_controls(text), Quotes::None)
}

/// Escapes text for an attribute in double quotation marks.
pub(crate) fn attribute(text: &str) -> String {
    escape_html(&without_controls(text), Quotes::Double)
}

/// Replaces control characters by spaces, because most of them cannot be written in XML.
fn without_controls(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Returns the width of text of this size in pixels, which is an upper bound in most fonts.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.58
}

/// Breaks text into lines of at most this width. A word that is wider has a line of its own.
pub(super) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_written_out_where_that_is_short() {
        for (digit, exponent, expected) in [
            (1, 0, "1"),
            (5, 1, "50"),
            (2, 4, "20000"),
            (1, -1, "0.1"),
            (2, -3, "0.002"),
            (1, -4, "0.0001"),
            (1, 12, "10¹²"),
            (5, -30, "5·10⁻³⁰"),
        ] {
            assert_eq!(power_of_ten(digit, exponent), expected);
        }
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("a < b & c > \u{1}d"), "a &lt; b &amp; c &gt;  d");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two three", 10.0, 70.0), ["one two", "three"]);
        assert_eq!(wrap("immeasurably long", 10.0, 40.0), ["immeasurably", "long"]);
        assert_eq!(wrap("", 10.0, 40.0), Vec::<String>::new());
    }
}
