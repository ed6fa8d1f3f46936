//! Quotes words for a shell, so that a command can be copied.

/// Returns the command line of this process, quoted so that it can be typed again.
pub fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    ["minwise".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Returns a word in quotation marks, unless none of its characters has a special meaning in any shell.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_=+:,./@%".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_see_more_in_them() {
        for (word, expected) in [
            ("data/a-b_c.jsonl", "data/a-b_c.jsonl"),
            ("--keep=newest:date", "--keep=newest:date"),
            ("", "''"),
            ("data/*.jsonl", "'data/*.jsonl'"),
            ("it's $HOME", "'it'\\''s $HOME'"),
            ("a.jsonl#1", "'a.jsonl#1'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
