//! Makes a corpus many times as large as a real one, with the same share of duplicates.
//!
//! Each copy of the corpus spells its words with another permutation of the letters. Two documents of one copy are as
//! similar as their originals. Documents of different copies share only words without Latin letters.

use minwise_engine::parallel;
use serde_json::Value;

use crate::simulate::Random;

/// Number of documents that a thread rewrites at a time.
const PORTION: usize = 500;
const LETTERS: usize = 26;

/// Permutation of the Latin letters, the same for lower and upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alphabet([u8; LETTERS]);

impl Alphabet {
    /// Returns the alphabet of a copy of the corpus. Copy 0 is the corpus itself.
    #[must_use]
    pub fn of_copy(seed: u64, copy: u64) -> Self {
        let mut letters: [u8; LETTERS] = std::array::from_fn(|at| at as u8);
        if copy > 0 {
            let mut random = Random::new(seed, &[5, copy]);
            for at in (1..LETTERS).rev() {
                letters.swap(at, random.below(at as u64 + 1) as usize);
            }
        }
        Self(letters)
    }

    /// Spells a text with this alphabet. Characters other than `a` to `z` and `A` to `Z` are unchanged.
    #[must_use]
    pub fn spell(&self, text: &str) -> String {
        let letter = |letter: char, first: u8| char::from(first + self.0[usize::from(letter as u8 - first)]);
        text.chars()
            .map(|character| match character {
                'a'..='z' => letter(character, b'a'),
                'A'..='Z' => letter(character, b'A'),
                _ => character,
            })
            .collect()
    }
}

/// Makes `times` copies of a corpus of JSON lines with several threads, and passes their lines to `receive` in order,
/// in portions. Every copy of a record has the field `text` and the field `id`, which ends in the number of the copy.
///
/// # Errors
/// Returns an error if a line is not an object with the strings `id` and `text`, or if `receive` returns an error.
pub fn enlarge<E: Send + From<std::io::Error>>(
    corpus: &str,
    times: u64,
    seed: u64,
    threads: usize,
    mut receive: impl FnMut(&[u8]) -> Result<(), E> + Send,
) -> Result<(), E> {
    let lines: Vec<&str> = corpus.lines().collect();
    let portions = lines.len().div_ceil(PORTION);
    let all = usize::try_from(times).unwrap_or(usize::MAX).saturating_mul(portions);
    let make = |(): &mut (), number: usize| -> Result<Vec<u8>, E> {
        let (copy, begin) = ((number / portions) as u64, number % portions * PORTION);
        let alphabet = Alphabet::of_copy(seed, copy);
        let mut out = vec![];
        for (at, line) in (begin..).zip(lines.iter().skip(begin).take(PORTION)) {
            let line = rewrite(line, copy, &alphabet)
                .map_err(|problem| std::io::Error::other(format!("line {}: {problem}", at + 1)))?;
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        Ok(out)
    };
    parallel::in_order(all, threads, || (), make, |lines| receive(&lines))
}

fn rewrite(line: &str, copy: u64, alphabet: &Alphabet) -> Result<String, String> {
    let record: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let field = |name: &str| record[name].as_str().ok_or_else(|| format!("no string `{name}`"));
    let (id, text) = (format!("{}~{copy}", field("id")?), alphabet.spell(field("text")?));
    Ok(format!("{{\"id\":{},\"text\":{}}}", Value::from(id), Value::from(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const CORPUS: &str = "{\"id\":\"a\",\"text\":\"The quick fox \\u00e9\\n\\\"1\\\"\",\"year\":1}\n\
                          {\"text\":\"the QUICK foxes\",\"id\":\"b\"}\n";

    fn enlarged(times: u64, threads: usize) -> Vec<Value> {
        let mut out = vec![];
        enlarge(CORPUS, times, 3, threads, |lines| -> std::io::Result<()> {
            out.extend_from_slice(lines);
            Ok(())
        })
        .unwrap();
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn an_alphabet_has_every_letter_once() {
        let alphabets: BTreeSet<[u8; LETTERS]> = (0..50).map(|copy| Alphabet::of_copy(1, copy).0).collect();
        assert_eq!(alphabets.len(), 50);
        for letters in alphabets {
            assert_eq!(letters.into_iter().collect::<BTreeSet<u8>>().len(), LETTERS);
        }
    }

    #[test]
    fn copies_have_other_words_of_the_same_lengths_and_copy_0_the_same() {
        let made = enlarged(3, 2);
        assert_eq!(made.len(), 6);
        assert_eq!(made[0]["text"], "The quick fox \u{e9}\n\"1\"");
        let ids: Vec<&str> = made.iter().filter_map(|record| record["id"].as_str()).collect();
        assert_eq!(ids, ["a~0", "b~0", "a~1", "b~1", "a~2", "b~2"]);
        for copy in [2, 4] {
            let [a, b] = [0, 1].map(|at| made[copy + at]["text"].as_str().unwrap().to_lowercase());
            // `quick` becomes the same word in both documents of a copy, and a word other than `quick`.
            let word = |text: &str| text.split(' ').nth(1).unwrap().to_owned();
            assert_eq!(word(&a), word(&b));
            assert_ne!(word(&a), "quick");
            assert!(a.ends_with("\u{e9}\n\"1\""), "{a}");
            assert_eq!(a.len(), made[0]["text"].as_str().unwrap().len());
        }
    }

    #[test]
    fn the_threads_do_not_change_the_lines() {
        assert_eq!(enlarged(5, 1), enlarged(5, 3));
    }

    #[test]
    fn a_line_that_is_no_document_is_named() {
        let failed =
            enlarge("{\"id\":\"a\",\"text\":\"b\"}\n{\"id\":1}\n", 1, 1, 1, |_| std::io::Result::Ok(()));
        assert_eq!(failed.unwrap_err().to_string(), "line 2: no string `id`");
    }
}
