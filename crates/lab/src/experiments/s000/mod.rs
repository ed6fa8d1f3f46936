//! Experiments of Hassanian-esfahani 2018 with sectional `MinHash`.

pub(crate) mod figure_1;
pub(crate) mod figure_4;
pub(crate) mod figure_5;
pub(crate) mod figures_2_3;
mod goldset;
pub(crate) mod table_1;
pub(crate) mod table_2;
pub(crate) mod table_3;
pub(crate) mod table_4;

use anyhow::Result;
use minwise::sketch::Method;
use serde::Deserialize;

use crate::simulate::documents::shingles;
use crate::simulate::{Edit, Random, Vocabulary};

/// Number of words in the vocabulary of the documents.
const WORDS: usize = 5000;
/// Number of words per shingle. The source has "k = 3" and does not state the unit (E-14).
const SHINGLE: usize = 3;

/// Returns `MinHash` for one section, and its sectional form for more.
fn sectional(sections: usize, registers: usize) -> Result<Method> {
    Ok(match sections {
        1 => format!("minhash:{registers}"),
        sections => format!("sectional:s={sections}/minhash:{registers}"),
    }
    .parse()?)
}

/// Kind of edit that distinguishes the documents of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PairKind {
    /// Words are replaced, so all shared shingles stand in the same places.
    Aligned,
    /// Words are inserted before the first word, so all shared shingles have moved.
    Edited,
    /// Paragraphs are in another order.
    Shuffled,
}

impl PairKind {
    fn name(self) -> &'static str {
        match self {
            Self::Aligned => "aligned",
            Self::Edited => "edited",
            Self::Shuffled => "shuffled",
        }
    }
}

/// Returns the shingles of two documents of about `words` words.
fn pair(kind: PairKind, words: usize, random: &mut Random) -> [Vec<u64>; 2] {
    let vocabulary = Vocabulary::new(WORDS);
    let document = vocabulary.document(words, random);
    // With up to 30 % of edits, all similarities occur, but few near 0.
    let share = random.unit() * 0.3;
    let edit = match kind {
        PairKind::Aligned => Edit::Substitute(share),
        PairKind::Edited => Edit::Prepend((share * words as f64) as usize),
        PairKind::Shuffled => Edit::ShuffleParagraphs(words / 10),
    };
    let other = vocabulary.edit(&document, edit, random);
    [shingles(&document, SHINGLE), shingles(&other, SHINGLE)]
}
