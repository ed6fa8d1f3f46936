//! Generates a corpus of any size whose near-duplicates are known.
//!
//! Every document is a function of the seed and its number, so any earlier document can be copied without being stored.
//! Words have the frequencies of a natural language (Zipf), and are spelled as syllables.

use std::io::{self, Write};

use minwise::Spec;
use minwise::shingle::Shingles;
use minwise::verify::{Measure, ShingleSet};
use minwise_engine::parallel;

use crate::simulate::Random;

/// Number of distinct words.
const WORDS: usize = 50_000;
/// Number of steps from which a word is drawn. A frequent word has more steps.
const STEPS: usize = 1 << 17;
/// Number of documents that are searched for an original. If none is found, the first document is the original.
const NEAR: usize = 1 << 10;
/// Number of documents that a thread makes at a time.
const PORTION: u64 = 2000;

/// Settings of a generated corpus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Made {
    /// Number of documents.
    pub documents: u64,
    /// Mean number of words per document. Lengths are spread evenly from half to one and a half of the mean.
    pub words: u64,
    /// Share of documents that are copies of an earlier one.
    pub copies: f64,
    /// Upper bound on the words that are replaced in a copy. With 0, copies are equal to their originals.
    pub edits: u64,
    /// Number of originals from which copies are made: the first documents. If it is `None`, all originals are copied.
    pub families: Option<u64>,
    /// Number of words of a form with which every document begins, before its own words.
    pub form: u64,
    /// Number of documents per chain of revisions. Each revision replaces words of the revision before. There are no
    /// other copies.
    pub revisions: Option<u64>,
    /// Seed of the random numbers. Another seed gives another corpus with the same settings.
    pub seed: u64,
}

/// Known relation of a document to its original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truth {
    /// Original of a copy, or the preceding revision. `None` if the document is no copy.
    pub of: Option<u64>,
    /// Number of words that were replaced, some perhaps by the same word.
    pub edits: u64,
}

/// Makes the documents of a corpus.
#[derive(Debug)]
pub struct DocumentMaker {
    made: Made,
    /// Word of each step.
    steps: Vec<u32>,
    spelled: Vec<String>,
}

impl DocumentMaker {
    /// Prepares the table of words, which takes some milliseconds.
    #[must_use]
    pub fn new(made: Made) -> Self {
        let total: f64 = (1..=WORDS).map(|rank| 1.0 / rank as f64).sum();
        let mut steps = Vec::with_capacity(STEPS);
        let mut sum = 0.0;
        for rank in 0..WORDS {
            sum += 1.0 / (rank + 1) as f64 / total;
            steps.resize(((sum * STEPS as f64) as usize).clamp(steps.len(), STEPS), rank as u32);
        }
        steps.resize(STEPS, WORDS as u32 - 1);
        Self { made, steps, spelled: (0..WORDS).map(spell).collect() }
    }

    /// Returns the original of a document and the number of edits.
    #[must_use]
    pub fn truth(&self, number: u64) -> Truth {
        if let Some(revisions) = self.made.revisions {
            let of = if number.is_multiple_of(revisions.max(1)) { None } else { Some(number - 1) };
            let mut random = Random::new(self.made.seed, &[1, number]);
            return Truth { of, edits: of.map_or(0, |_| random.below(self.made.edits + 1)) };
        }
        let mut random = Random::new(self.made.seed, &[1, number]);
        if !random.happens(self.made.copies) {
            return Truth { of: None, edits: 0 };
        }
        let bound = self.made.families.map_or(number, |families| families.min(number));
        let drawn = random.below(bound.max(1));
        // The drawn document may be a copy, so the nearest original before it is taken. The first document always is an
        // original.
        let of = (0..=drawn).rev().take(NEAR).find(|&before| self.is_original(before)).unwrap_or(0);
        if of == number {
            return Truth { of: None, edits: 0 };
        }
        Truth { of: Some(of), edits: random.below(self.made.edits + 1) }
    }

    fn is_original(&self, number: u64) -> bool {
        !Random::new(self.made.seed, &[1, number]).happens(self.made.copies)
    }

    /// Appends the words of a document to `out`.
    fn words_into(&self, number: u64, out: &mut Vec<u32>) -> Truth {
        let truth = self.truth(number);
        let original = match self.made.revisions {
            Some(revisions) => number - number % revisions.max(1),
            None => truth.of.unwrap_or(number),
        };
        let mut form = Random::new(self.made.seed, &[4]);
        out.extend((0..self.made.form).map(|_| self.word(&mut form)));
        let own = out.len();
        let mut random = Random::new(self.made.seed, &[2, original]);
        let words = self.made.words / 2 + random.below(self.made.words + 1);
        out.extend((0..words.max(1)).map(|_| self.word(&mut random)));
        // A revision has the edits of all revisions before it.
        let first = if self.made.revisions.is_some() { original + 1 } else { number };
        for edited in first..=number {
            let mut random = Random::new(self.made.seed, &[3, edited]);
            for _ in 0..self.truth(edited).edits {
                let at = own + random.below((out.len() - own) as u64) as usize;
                out[at] = self.word(&mut random);
            }
        }
        truth
    }

    fn word(&self, random: &mut Random) -> u32 {
        self.steps[random.below(STEPS as u64) as usize]
    }

    /// Appends the text of a document to `out`.
    pub fn text_into(&self, number: u64, out: &mut String) -> Truth {
        let mut words = vec![];
        let truth = self.words_into(number, &mut words);
        for (at, &word) in words.iter().enumerate() {
            if at > 0 {
                out.push(if at % 13 == 0 { '\n' } else { ' ' });
            }
            out.push_str(&self.spelled[word as usize]);
        }
        truth
    }

    /// Writes the documents of a range as JSON lines. `truths` receives one line per copy: its id, the id of the
    /// original, and their exact similarity with the default shingling.
    pub fn write(
        &self,
        numbers: std::ops::Range<u64>,
        documents: &mut impl Write,
        truths: Option<&mut impl Write>,
    ) -> io::Result<()> {
        let shingler = Spec::default().shingler();
        let mut truths = truths;
        let (mut text, mut original, mut line) = (String::new(), String::new(), vec![]);
        let mut shingles = Shingles::new();
        let mut set = |text: &str| {
            shingler.shingle_into(text, &mut shingles);
            ShingleSet::build(shingles.hashes(), &mut (vec![], vec![]))
        };
        for number in numbers {
            text.clear();
            let truth = self.text_into(number, &mut text);
            line.clear();
            write!(line, "{{\"id\":\"d{number}\",\"text\":")?;
            serde_json::to_writer(&mut line, &text)?;
            line.extend_from_slice(b"}\n");
            documents.write_all(&line)?;
            if let (Some(truths), Some(of)) = (&mut truths, truth.of) {
                original.clear();
                self.text_into(of, &mut original);
                let similarity = Measure::Jaccard.of(&set(&text), &set(&original));
                writeln!(truths, "d{number}\td{of}\t{similarity:.6}")?;
            }
        }
        Ok(())
    }
}

/// Makes a whole corpus with several threads and passes it to `receive` in order, in portions: JSON lines, and the
/// lines about copies that [`DocumentMaker::write`] writes. The second part is empty unless `with_truths` is set.
pub fn make<E: Send + From<io::Error>>(
    made: Made,
    with_truths: bool,
    threads: usize,
    mut receive: impl FnMut(&[u8], &[u8]) -> Result<(), E> + Send,
) -> Result<(), E> {
    let maker = DocumentMaker::new(made);
    let portions = usize::try_from(made.documents.div_ceil(PORTION)).unwrap_or(usize::MAX);
    let make = |(): &mut (), portion: usize| {
        let begin = portion as u64 * PORTION;
        let numbers = begin..(begin + PORTION).min(made.documents);
        let (mut documents, mut truths) = (vec![], vec![]);
        maker.write(numbers, &mut documents, with_truths.then_some(&mut truths))?;
        Ok((documents, truths))
    };
    parallel::in_order(portions, threads, || (), make, |(documents, truths)| receive(&documents, &truths))
}

/// Spells a number as a pronounceable word. Different numbers have different words.
fn spell(number: usize) -> String {
    const SYLLABLES: [&str; 40] = [
        "ba", "be", "bo", "da", "de", "di", "fa", "fe", "ga", "go", "ha", "he", "ka", "ki", "ko", "la", "le",
        "li", "lo", "ma", "me", "mi", "mo", "na", "ne", "ni", "no", "pa", "pe", "ra", "re", "ri", "ro", "sa",
        "se", "si", "ta", "te", "ti", "to",
    ];
    let mut rest = number;
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
        if rest == 0 {
            return word;
        }
        // Without this decrement, a shorter number and a longer one would have the same word.
        rest -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const MADE: Made = Made {
        documents: 2000,
        words: 60,
        copies: 0.3,
        edits: 4,
        families: None,
        form: 0,
        revisions: None,
        seed: 5,
    };

    #[test]
    fn words_differ() {
        let words: BTreeSet<String> = (0..WORDS).map(spell).collect();
        assert_eq!(words.len(), WORDS);
    }

    #[test]
    fn copies_are_of_originals_before_them() {
        let maker = DocumentMaker::new(MADE);
        let truths: Vec<Truth> = (0..MADE.documents).map(|number| maker.truth(number)).collect();
        let copies = truths.iter().filter(|truth| truth.of.is_some()).count();
        // The expected number is 600, with a standard deviation of 20.5.
        assert!((500..700).contains(&copies), "{copies}");
        for (number, truth) in (0..).zip(&truths) {
            if let Some(of) = truth.of {
                assert!(of < number && truths[of as usize].of.is_none());
                assert!(truth.edits <= MADE.edits);
            }
        }
        let few = DocumentMaker::new(Made { families: Some(3), ..MADE });
        assert!((0..MADE.documents).all(|number| few.truth(number).of.is_none_or(|of| of < 3)));
    }

    #[test]
    fn a_corpus_of_copies_alone_is_made_in_no_time() {
        let maker = DocumentMaker::new(Made { documents: 1 << 40, copies: 1.0, ..MADE });
        assert_eq!(maker.truth(0).of, None);
        assert!(((1 << 39)..(1 << 39) + 100).all(|number| maker.truth(number).of == Some(0)));
    }

    #[test]
    fn portions_come_in_order_whatever_the_threads() {
        let made = Made { documents: 3 * PORTION + 1, words: 5, ..MADE };
        let (mut whole, mut known) = (vec![], vec![]);
        DocumentMaker::new(made).write(0..made.documents, &mut whole, Some(&mut known)).unwrap();
        for (threads, with_truths) in [(1, true), (3, true), (2, false)] {
            let (mut documents, mut truths) = (vec![], vec![]);
            make(made, with_truths, threads, |lines, known| -> io::Result<()> {
                documents.extend_from_slice(lines);
                truths.extend_from_slice(known);
                Ok(())
            })
            .unwrap();
            assert!(documents == whole);
            assert_eq!(truths, if with_truths { known.as_slice() } else { &[] });
        }
    }

    #[test]
    fn every_filling_begins_with_the_form() {
        let maker = DocumentMaker::new(Made { form: 20, ..MADE });
        let plain = DocumentMaker::new(MADE);
        let form = words(&maker, 0)[..20].to_vec();
        for number in 0..100 {
            let words_of = words(&maker, number);
            assert_eq!((&words_of[..20], &words_of[20..]), (&form[..], &words(&plain, number)[..]));
        }
    }

    #[test]
    fn a_revision_has_all_edits_but_its_own_in_common_with_the_one_before() {
        let maker = DocumentMaker::new(Made { revisions: Some(10), ..MADE });
        let mut edited = 0;
        for number in 0..200 {
            let truth = maker.truth(number);
            assert_eq!(truth.of, (number % 10 > 0).then(|| number - 1));
            let Some(of) = truth.of else { continue };
            let (before, after) = (words(&maker, of), words(&maker, number));
            let differ = before.iter().zip(&after).filter(|(a, b)| a != b).count() as u64;
            assert!(before.len() == after.len() && differ <= truth.edits, "{number}");
            edited += differ;
        }
        assert!(edited > 180, "{edited} words replaced");
    }

    fn words(maker: &DocumentMaker, number: u64) -> Vec<u32> {
        let mut words = vec![];
        maker.words_into(number, &mut words);
        words
    }

    /// Returns the similarity of the sets of five-word shingles, computed without a shingler.
    fn jaccard([a, b]: &[Vec<u32>; 2]) -> f64 {
        let set = |words: &Vec<u32>| words.windows(5).map(<[u32]>::to_vec).collect::<BTreeSet<_>>();
        let (a, b) = (set(a), set(b));
        let shared = a.intersection(&b).count();
        shared as f64 / (a.len() + b.len() - shared) as f64
    }

    #[test]
    fn parts_make_the_whole_and_the_truth_is_true() {
        let maker = DocumentMaker::new(MADE);
        let (mut whole, mut truths) = (vec![], vec![]);
        maker.write(0..300, &mut whole, Some(&mut truths)).unwrap();
        let mut parts = vec![];
        for begin in [0, 100, 200] {
            maker.write(begin..begin + 100, &mut parts, None::<&mut Vec<u8>>).unwrap();
        }
        assert_eq!(whole, parts);
        let truths = String::from_utf8(truths).unwrap();
        for line in truths.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let number: u64 = fields[0][1..].parse().unwrap();
            let of: u64 = fields[1][1..].parse().unwrap();
            assert_eq!(maker.truth(number).of, Some(of), "{line}");
            let similarity = jaccard(&[number, of].map(|number| words(&maker, number)));
            assert_eq!(fields[2], format!("{similarity:.6}"), "{line}");
        }
        assert!(truths.lines().count() > 60);
    }
}
