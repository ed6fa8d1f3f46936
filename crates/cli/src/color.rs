//! Decides whether messages have colour, and which part has which colour.

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::ValueEnum;

use crate::args::ColorChoice;

/// Kind of a message. The kind is printed before the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    Error,
    Warning,
    Note,
    Hint,
}

impl Label {
    /// Returns the label with a colon, and in colour if `has_color`.
    pub fn text(self, has_color: bool) -> String {
        let (word, color) = match self {
            Self::Error => ("error:", "1;31"),
            Self::Warning => ("warning:", "1;33"),
            Self::Note => ("note:", "1"),
            Self::Hint => ("hint:", "1;36"),
        };
        if has_color { format!("\u{1b}[{color}m{word}\u{1b}[0m") } else { word.to_owned() }
    }
}

/// Reports whether text on this stream has colour. Without `--color always`, a set `NO_COLOR` turns colour off
/// (<https://no-color.org>).
pub fn is_wanted(choice: ColorChoice, stream: &impl IsTerminal) -> bool {
    let is_set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            stream.is_terminal()
                && is_set("NO_COLOR").is_none()
                && is_set("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Returns the value of `--color` among arguments that could not be parsed.
pub fn typed(arguments: impl IntoIterator<Item = OsString>) -> ColorChoice {
    let mut arguments = arguments.into_iter().map(|word| word.to_string_lossy().into_owned());
    let mut choice = ColorChoice::Auto;
    while let Some(word) = arguments.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => arguments.next(),
            Some(value) => value.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        let value = value.and_then(|value| ColorChoice::from_str(&value, false).ok());
        choice = value.unwrap_or(choice);
        if word == "--" {
            break;
        }
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_known_before_anything_else_is() {
        let typed = |words: &str| typed(words.split(' ').map(OsString::from));
        assert_eq!(typed("dedup --nonsense"), ColorChoice::Auto);
        assert_eq!(typed("dedup --color always --nonsense"), ColorChoice::Always);
        assert_eq!(typed("--color=never dedup"), ColorChoice::Never);
        assert_eq!(typed("dedup --color sometimes"), ColorChoice::Auto);
        assert_eq!(typed("dedup -- --color always"), ColorChoice::Auto);
    }

    #[test]
    fn labels_are_the_same_words_with_and_without_colour() {
        for label in [Label::Error, Label::Warning, Label::Note, Label::Hint] {
            let plain = label.text(false);
            assert!(label.text(true).contains(&plain) && plain.ends_with(':'));
        }
    }
}
