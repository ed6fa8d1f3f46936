//! The sectional `MinHash` of Hassanian-esfahani 2018.

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

/// Words of the language that documents are in.
const WORDS: usize = 5000;
/// Words of a shingle: the source has "k = 3" and does not say of what (E-14).
const SHINGLE: usize = 3;

/// `MinHash`, or its sectional form for more than one section.
fn sectional(sections: usize, registers: usize) -> Result<Method> {
    Ok(match sections {
        1 => format!("minhash:{registers}"),
        sections => format!("sectional:s={sections}/minhash:{registers}"),
    }
    .parse()?)
}

/// Kinds of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PairKind {
    /// Words are replaced here and there: whatever is shared stands in the same places.
    Aligned,
    /// Words are put before the first: all that is shared has moved.
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

/// The shingles of two documents of about `words` words.
fn pair(kind: PairKind, words: usize, random: &mut Random) -> [Vec<u64>; 2] {
    let vocabulary = Vocabulary::new(WORDS);
    let document = vocabulary.document(words, random);
    // A share of edits that makes all similarities occur, few of them near 0.
    let share = random.unit() * 0.3;
    let edit = match kind {
        PairKind::Aligned => Edit::Substitute(share),
        PairKind::Edited => Edit::Prepend((share * words as f64) as usize),
        PairKind::Shuffled => Edit::ShuffleParagraphs(words / 10),
    };
    let other = vocabulary.edit(&document, edit, random);
    [shingles(&document, SHINGLE), shingles(&other, SHINGLE)]
}
