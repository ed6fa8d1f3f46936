//! Experiments of Bergillos 2018 with shingles, hash families and banding. The comments call this work the report.

pub(crate) mod figure_2;
pub(crate) mod figure_3;
pub(crate) mod figure_4;
pub(crate) mod figure_5;

use minwise::shingle::{ShingleUnit, Shingler, Shingles, Shingling, Short};
use minwise::text::Normalization;
use minwise::verify::ShingleSet;

use crate::simulate::Random;

/// First fifty words of "Lorem ipsum", the placeholder text of printers.
const TEXT: &str = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut \
    labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex \
    ea commodo consequat. Duis aute irure dolor in reprehenderit in voluptate velit esse cillum dolore eu fugiat";

/// Returns shuffles of the words of the text.
fn shuffles(documents: u64, seed: u64) -> Vec<String> {
    (0..documents)
        .map(|document| {
            let mut words: Vec<&str> = TEXT.split_whitespace().collect();
            Random::new(seed, &[document]).shuffle(&mut words);
            words.join(" ")
        })
        .collect()
}

/// Returns the sets of shingles of `size` characters of the documents.
fn sets(documents: &[String], size: usize) -> Result<Vec<ShingleSet>, minwise::Error> {
    let shingler =
        Shingler::new(Normalization::default(), Shingling::new(ShingleUnit::Chars, size, Short::default())?);
    let mut shingles = Shingles::new();
    let set = |text: &String| {
        shingler.shingle_into(text, &mut shingles);
        shingles.hashes().iter().copied().collect()
    };
    Ok(documents.iter().map(set).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_have_all_words() {
        let sorted = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        assert_eq!(sorted(TEXT).len(), 50);
        let documents = shuffles(3, 1);
        assert!(documents.iter().all(|document| sorted(document) == sorted(TEXT)));
        assert_ne!(documents[0], documents[1]);
    }
}
