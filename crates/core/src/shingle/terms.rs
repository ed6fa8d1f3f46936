//! Units of shingles that are the terms of [Anonymous](crate#sources).
//!
//! - **Paper.** [Anonymous](crate#sources), §1, `wordsProcessor`.
//! - **Idea.** A document is the set of its longer words. A shingle is a single word.
//! - **Formula.** The text is converted to lower case; `.` `,` `:` `;` `'` are deleted, not replaced; the rest is split
//!   on white space; words of fewer than three characters and `the` are dropped.
//! - **Cost.** One pass and a copy of the text.
//! - **Differs.** The source leaves some points open. Here the apostrophe is U+0027 only, lengths count characters, and
//!   lower case and white space are those of Unicode. Deleting punctuation joins words, `U.S.A.` to `usa` and `one.Two`
//!   to `onetwo`, and other marks stay, as in `panic!` (E-46).
//! - **Vectors.** Another program computed the vectors from the definition.
//!
//! - **Use when** results of the source are to be repeated.
//! - **Do not** use it for near-duplicates: without neighbouring words, all texts on one subject are similar.

use std::ops::Range;

use crate::hash;

const DELETED: [char; 5] = ['.', ',', ':', ';', '\''];
const SHORTEST: usize = 3;

/// Calls `each` with each word of the source, in order, and with the byte range of the source from which it was made.
pub fn for_each(source: &str, mut each: impl FnMut(&str, Range<usize>)) {
    let mut word = String::new();
    for written in source.split_whitespace() {
        word.clear();
        word.extend(written.to_lowercase().chars().filter(|c| !DELETED.contains(c)));
        if word != "the" && word.chars().nth(SHORTEST - 1).is_some() {
            let start = written.as_ptr().addr() - source.as_ptr().addr();
            each(&word, start..start + written.len());
        }
    }
}

/// Returns the byte range of every word, in order.
pub(super) fn spans(source: &str) -> Vec<Range<usize>> {
    let mut spans = vec![];
    for_each(source, |_, span| spans.push(span));
    spans
}

/// Clears `units`, and writes to it the hash of every word of the source, in order.
pub fn hash_into(source: &str, units: &mut Vec<u64>) {
    units.clear();
    let mut padded = vec![];
    for_each(source, |word, _| {
        padded.clear();
        padded.extend_from_slice(word.as_bytes());
        padded.resize(word.len() + hash::token::PADDING, 0);
        units.push(hash::token::hash(&padded, 0, word.len()));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(source: &str) -> Vec<String> {
        let mut terms = vec![];
        for_each(source, |term, _| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn documented_lines() {
        let lines: [(&str, &[&str]); 5] = [
            ("The cat's hat, it is on: the-mat; U.S.A.", &["cats", "hat", "the-mat", "usa"]),
            ("A to-do: don't panic!", &["to-do", "dont", "panic!"]),
            ("THE the The. them", &["them"]),
            ("..., :; ''", &[]),
            ("e.g. i.e. etc.", &["etc"]),
        ];
        for (line, expected) in lines {
            assert_eq!(terms(line), expected, "{line}");
        }
    }

    #[test]
    fn characters_are_counted_and_typographic_marks_kept() {
        assert_eq!(terms("ÄÖÜ äö don’t a\u{3000}xyz\nlast"), ["äöü", "don’t", "xyz", "last"]);
    }

    #[test]
    fn equal_words_have_equal_hashes() {
        let mut units = vec![9];
        hash_into("One: one, ONE two! an immeasurably-long-hyphenated-word", &mut units);
        assert_eq!(units.len(), 5);
        assert!(units[0] == units[1] && units[1] == units[2] && units[2] != units[3]);
        hash_into("", &mut units);
        assert!(units.is_empty());
    }
}
