//! White space, which is folded to single spaces or removed.

use super::WhiteSpace;
use super::origin::Track;

/// Reports whether a character is white space: Unicode's `White_Space`, or one of the four ASCII separators, which text
/// tools such as Python's `split` also treat as white space.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Appends `source` to `out`, with this treatment of its white space.
pub(super) fn apply_into<T: Track>(space: WhiteSpace, source: &str, out: &mut String, track: &mut T) {
    if space == WhiteSpace::Keep {
        track.mark(out.len(), 0);
        out.push_str(source);
        return;
    }
    let begin = out.len();
    let mut at = 0;
    for word in source.split(is_space) {
        if !word.is_empty() {
            if space == WhiteSpace::Fold && out.len() > begin {
                // The source of the one space is the last character of the run of white space.
                track.mark(out.len(), at - 1);
                out.push(' ');
            }
            track.mark(out.len(), at);
            out.push_str(word);
            track.mark(out.len(), at + word.len());
        }
        let after = at + word.len();
        at = after + source[after..].chars().next().map_or(0, char::len_utf8);
    }
}

#[cfg(test)]
mod tests {
    use super::super::origin::Untracked;
    use super::*;
    use proptest::prelude::*;

    fn apply(space: WhiteSpace, source: &str) -> String {
        let mut out = String::new();
        apply_into(space, source, &mut out, &mut Untracked);
        out
    }

    proptest! {
        #[test]
        fn folding_is_split_and_join(source in "[ab\u{3000}\u{1c} \n中]{0,30}") {
            let words: Vec<&str> = source.split(is_space).filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(apply(WhiteSpace::Fold, &source), words.join(" "));
            prop_assert_eq!(apply(WhiteSpace::Remove, &source), words.concat());
            prop_assert_eq!(apply(WhiteSpace::Keep, &source), source);
        }
    }
}
