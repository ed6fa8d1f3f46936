//! Shortens texts at word boundaries.

/// Returns the beginning of a text, at most `most` characters, up to the end of a word. If text is cut off, an ellipsis
/// follows.
///
/// A text without spaces, such as Chinese, is cut between two characters.
pub fn head(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let (kept, rest) = text.split_at(end);
    let kept = match kept.rfind(char::is_whitespace) {
        // The cut lies between two words already.
        _ if rest.starts_with(char::is_whitespace) => kept,
        Some(space) => &kept[..space],
        None => kept,
    };
    format!("{} …", kept.trim_end())
}

/// Returns the end of a text, at most `most` characters, from the beginning of a word. If text is cut off, an ellipsis
/// precedes it.
pub fn tail(text: &str, most: usize) -> String {
    let Some((begin, _)) = most.checked_sub(1).and_then(|last| text.char_indices().rev().nth(last)) else {
        return text.to_owned();
    };
    if begin == 0 {
        return text.to_owned();
    }
    let (rest, kept) = text.split_at(begin);
    let kept = match kept.find(char::is_whitespace) {
        _ if rest.ends_with(char::is_whitespace) => kept,
        Some(space) => &kept[space..],
        None => kept,
    };
    format!("… {}", kept.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_begin_and_end_at_words() {
        let text = "one three seven";
        for (most, beginning, end) in [
            (100, text, text),
            (15, text, text),
            (14, "one three …", "… three seven"),
            (9, "one three …", "… seven"),
            (8, "one …", "… seven"),
            (5, "one …", "… seven"),
            // If no whole word fits, a word is cut.
            (2, "on …", "… en"),
        ] {
            assert_eq!(
                (head(text, most), tail(text, most)),
                (beginning.to_owned(), end.to_owned()),
                "{most}"
            );
        }
        assert_eq!(
            (head("国家统计局", 3), tail("国家统计局", 3)),
            ("国家统 …".to_owned(), "… 统计局".to_owned())
        );
        assert_eq!((head("", 3), tail("", 3)), (String::new(), String::new()));
    }
}
