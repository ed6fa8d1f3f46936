//! Generates documents, and edited copies of documents.
//!
//! A word is a number. Words have the frequencies of a natural language: the n-th most frequent word is 1/n times as
//! frequent as the first (Zipf).

use minwise::hash::{fmix64, rolling};

use super::Random;

/// Words of a language with their frequencies.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    /// Cumulative probabilities of the words.
    cumulative: Vec<f64>,
}

/// Change that makes a second version of a simulated document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Edit {
    /// Replaces this share of the words by others.
    Substitute(f64),
    /// Inserts words at random places. Their number is this share of the length.
    Insert(f64),
    /// Inserts this number of words before the first word.
    Prepend(usize),
    /// Shuffles paragraphs of this number of words.
    ShuffleParagraphs(usize),
}

impl Vocabulary {
    /// Returns a vocabulary of `words` words.
    pub fn new(words: usize) -> Self {
        let total: f64 = (1..=words).map(|rank| 1.0 / rank as f64).sum();
        let mut sum = 0.0;
        let cumulative = (1..=words)
            .map(|rank| {
                sum += 1.0 / rank as f64 / total;
                sum
            })
            .collect();
        Self { cumulative }
    }

    /// Draws a word.
    pub fn word(&self, random: &mut Random) -> u64 {
        let at = random.unit();
        // The rank is mixed, because callers use words as hashes.
        fmix64(self.cumulative.partition_point(|&sum| sum <= at) as u64 + 1)
    }

    /// Draws a document of `words` words.
    pub fn document(&self, words: usize, random: &mut Random) -> Vec<u64> {
        (0..words).map(|_| self.word(random)).collect()
    }

    /// Returns an edited copy of the document.
    pub fn edit(&self, document: &[u64], edit: Edit, random: &mut Random) -> Vec<u64> {
        match edit {
            Edit::Substitute(share) => document
                .iter()
                .map(|&word| if random.happens(share) { self.word(random) } else { word })
                .collect(),
            Edit::Insert(share) => {
                let mut out = Vec::with_capacity(document.len());
                for &word in document {
                    if random.happens(share) {
                        out.push(self.word(random));
                    }
                    out.push(word);
                }
                out
            }
            Edit::Prepend(words) => {
                let mut out = self.document(words, random);
                out.extend_from_slice(document);
                out
            }
            Edit::ShuffleParagraphs(words) => {
                let mut paragraphs: Vec<&[u64]> = document.chunks(words.max(1)).collect();
                random.shuffle(&mut paragraphs);
                paragraphs.concat()
            }
        }
    }
}

/// Returns the hashes of all shingles of `size` words, in order.
pub(crate) fn shingles(document: &[u64], size: usize) -> Vec<u64> {
    let mut out = vec![];
    rolling::windows_into(document, size, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_are_frequent() {
        let vocabulary = Vocabulary::new(1000);
        let mut random = Random::new(1, &[]);
        let document = vocabulary.document(100_000, &mut random);
        let first = document.iter().filter(|&&word| word == fmix64(1)).count() as f64 / 1e5;
        let p = 1.0 / (1..=1000).map(|rank| 1.0 / f64::from(rank)).sum::<f64>();
        assert!((first - p).abs() < 5.0 * (p * (1.0 - p) / 1e5).sqrt(), "{first} {p}");
    }

    #[test]
    fn edits_change_what_they_say() {
        let vocabulary = Vocabulary::new(1000);
        let mut random = Random::new(1, &[]);
        let document: Vec<u64> = (10_000..11_000).collect();
        let mut edit = |edit| vocabulary.edit(&document, edit, &mut random);
        let changed =
            edit(Edit::Substitute(0.1)).iter().zip(&document).filter(|(a, b)| a != b).count() as f64;
        assert!((changed - 100.0).abs() < 5.0 * 90.0_f64.sqrt(), "{changed}");
        assert!(edit(Edit::Insert(0.1)).len() > 1000 && edit(Edit::Insert(0.0)) == document);
        assert_eq!(edit(Edit::Prepend(7))[7..], document);
        let mut shuffled = edit(Edit::ShuffleParagraphs(100));
        assert_ne!(shuffled, document);
        assert!(shuffled.chunks(100).all(|part| part.windows(2).all(|pair| pair[0] + 1 == pair[1])));
        shuffled.sort_unstable();
        assert_eq!(shuffled, document);
    }

    #[test]
    fn shingles_of_a_short_document_are_none() {
        assert_eq!(shingles(&[1, 2, 3, 4], 3).len(), 2);
        assert!(shingles(&[1, 2], 3).is_empty());
    }
}
