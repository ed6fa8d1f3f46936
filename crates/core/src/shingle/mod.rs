//! Shingles: overlapping pieces of a text, each hashed once to 64 well-mixed bits.
//!
//! | shingling | a shingle is | use when |
//! |---|---|---|
//! | `words:N` | N neighbouring tokens | texts; the default is `words:5` |
//! | `chars:N` | N neighbouring characters | short texts, names, texts with many misspellings (N = 5); long texts (N = 9) |
//! | `terms` | one longer word, as in [Anonymous](crate#sources), §1 ([`terms`]) | results of this source should be repeated |
//!
//! With `,bag` behind it (`words:5,bag`), repeats count: a document is a bag, in which the second and each further
//! occurrence of a shingle is a shingle of its own. The Jaccard similarity of such sets is that of the bags, Σ min / Σ
//! max of the counts. The first occurrence of a shingle is the same as in a set.
//!
//! The position of a shingle is its index: the shingle at index i starts with token (or character) i. A text with fewer
//! than N units is one shingle of all its units, so that short texts can be equal. A text without units has no
//! shingles, and equals only texts with the same normalised form.

mod bag;
mod blocks;
mod chars;
pub mod terms;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::error::Error;
use crate::hash::rolling;
use crate::kernel::Kernel;
use crate::text::token::TokenBuffers;
use crate::text::{CharClass, Normalization, NormalizedText, Normalizer, TokenClass};

pub use blocks::{PieceShingler, Tally};

/// Seed of the equality keys of documents with shingles. Keys of texts without shingles have another seed, so that a
/// key of one kind does not equal a key of the other kind.
const KEY_OF_SHINGLES: u64 = 0;
const KEY_OF_TEXT: u64 = 1;

/// Number of characters that are read to find out whether the script of a text has spaces.
const SAMPLE: usize = 2000;

/// Units of which shingles are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShingleUnit {
    /// Tokens (see [`crate::text`]).
    Words,
    /// Characters of the normalised text.
    Chars,
    /// Longer words (see [`terms`]).
    Terms,
}

impl ShingleUnit {
    /// Returns the noun for one unit in messages: `word`, `character` or `term`.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Words => "word",
            Self::Chars => "character",
            Self::Terms => "term",
        }
    }

    /// Returns the noun for one unit of this text in messages. For words it is `character` if the beginning of the text
    /// has more characters of scripts without spaces than words, because each such character is a token.
    ///
    /// ```
    /// use minwise::shingle::ShingleUnit;
    /// assert_eq!(ShingleUnit::Words.noun_in("The ferry to 上海 leaves at noon."), "word");
    /// assert_eq!(ShingleUnit::Words.noun_in("去上海的渡轮中午离开。 Ferry"), "character");
    /// ```
    #[must_use]
    pub fn noun_in(self, text: &str) -> &'static str {
        let (mut alone, mut runs, mut last) = (0, 0, TokenClass::Separator);
        for class in text.chars().take(SAMPLE).map(|c| CharClass::of(c).token()) {
            alone += usize::from(class == TokenClass::Alone);
            runs += usize::from(class == TokenClass::Run && last != TokenClass::Run);
            last = class;
        }
        if self == Self::Words && alone > runs { Self::Chars.noun() } else { self.noun() }
    }
}

/// The meaning of repeated shingles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Repeats {
    /// Repeats are the same shingle, so a document is a set.
    #[default]
    Set,
    /// Repeats are shingles of their own, so a document is a bag.
    Bag,
}

/// The rule for a text that has fewer units than a shingle needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Short {
    /// The text has one shingle, made of all its units.
    #[default]
    One,
    /// The text is refused.
    Reject,
}

/// The way in which texts are cut into shingles. The text form is `words:5`, `chars:9`, `terms`,
/// `words:5,bag` or `words:5,short=reject`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shingling {
    unit: ShingleUnit,
    size: usize,
    repeats: Repeats,
    short: Short,
}

impl Shingling {
    /// Greatest number of units per shingle; the hash of longer windows would be too weak (see [`rolling`]).
    pub const MOST: usize = 256;

    /// Makes the setting for shingles of `size` units.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `size` is from 1 to 256.
    pub fn new(unit: ShingleUnit, size: usize, short: Short) -> Result<Self, Error> {
        if (1..=Self::MOST).contains(&size) {
            Ok(Self { unit, size, repeats: Repeats::Set, short })
        } else {
            Err(Error::out_of_range("the size of a shingle", size, "from 1 to 256"))
        }
    }

    /// Returns the unit of the shingles.
    #[must_use]
    pub fn unit(&self) -> ShingleUnit {
        self.unit
    }

    /// Returns the number of units per shingle.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the rule for texts with fewer units than a shingle needs.
    #[must_use]
    pub fn short(&self) -> Short {
        self.short
    }

    /// Returns the meaning of repeated shingles.
    #[must_use]
    pub fn repeats(&self) -> Repeats {
        self.repeats
    }

    /// Sets the meaning of repeated shingles.
    #[must_use]
    pub fn with_repeats(self, repeats: Repeats) -> Self {
        Self { repeats, ..self }
    }

    /// Sets the rule for texts with fewer units than a shingle needs.
    #[must_use]
    pub fn with_short(self, short: Short) -> Self {
        Self { short, ..self }
    }
}

impl Default for Shingling {
    fn default() -> Self {
        Self { unit: ShingleUnit::Words, size: 5, repeats: Repeats::Set, short: Short::One }
    }
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One => "one",
            Self::Reject => "reject",
        })
    }
}

impl FromStr for Short {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "one" => Ok(Self::One),
            "reject" => Ok(Self::Reject),
            _ => Err(Error::parse("rule for short documents", text, "`one` or `reject`")),
        }
    }
}

impl fmt::Display for ShingleUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Words => "words",
            Self::Chars => "chars",
            Self::Terms => "terms",
        })
    }
}

impl fmt::Display for Shingling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.unit, self.size) {
            (ShingleUnit::Terms, 1) => write!(f, "{}", self.unit)?,
            (unit, size) => write!(f, "{unit}:{size}")?,
        }
        match self.repeats {
            Repeats::Set => {}
            Repeats::Bag => f.write_str(",bag")?,
        }
        match self.short {
            Short::One => Ok(()),
            Short::Reject => write!(f, ",short={}", self.short),
        }
    }
}

impl FromStr for Shingling {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::parse(
                "shingling",
                text,
                "`words:N`, `chars:N` or `terms`, such as `words:5` or `words:5,bag`",
            )
        };
        let (shingle, short) = match text.split_once(",short=") {
            Some((shingle, short)) => (shingle, short.parse()?),
            None => (text, Short::One),
        };
        let (shingle, repeats) = match shingle.strip_suffix(",bag") {
            Some(shingle) => (shingle, Repeats::Bag),
            None => (shingle, Repeats::Set),
        };
        let (unit, size) = match shingle.split_once(':') {
            None if shingle == "terms" => (ShingleUnit::Terms, "1"),
            Some(("words", size)) => (ShingleUnit::Words, size),
            Some(("chars", size)) => (ShingleUnit::Chars, size),
            Some(("terms", size)) => (ShingleUnit::Terms, size),
            _ => return Err(wrong()),
        };
        Ok(Self::new(unit, size.parse().map_err(|_| wrong())?, short)?.with_repeats(repeats))
    }
}

/// The shingles of one document, in buffers that are reused for the next document.
#[derive(Debug, Default, Clone)]
pub struct Shingles {
    text: NormalizedText,
    tokens: TokenBuffers,
    units: Vec<u64>,
    hashes: Vec<u64>,
    /// Shingles with their positions, which bags need.
    sorted: (bag::PlacedShingles, bag::PlacedShingles),
}

impl Shingles {
    /// Makes empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the shingles in document order with repeats. The shingle at index i starts with unit i.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Returns the number of tokens or characters of the document.
    #[must_use]
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// Returns the equality key of the document. Two documents with shingles have the same key if their shingles are
    /// the same in the same order. Two documents without shingles have the same key if their normalised texts are
    /// equal.
    ///
    /// The key has 128 bits. Among a billion documents, the probability that any two different ones have the same key
    /// is 10⁻²¹.
    ///
    /// The key is defined in bytes, so that every machine computes the same key:
    ///
    /// | document | bytes | XXH3-128 with seed |
    /// |---|---|---|
    /// | with shingles | eight per shingle, in document order, little-endian | 0 |
    /// | without shingles | the normalised text in UTF-8 | 1 |
    ///
    /// Files and tables hold the sixteen bytes of [`to_le_bytes`](u128::to_le_bytes).
    ///
    /// ```
    /// use minwise::{Spec, shingle::Shingles};
    ///
    /// let mut shingles = Shingles::new();
    /// let shingler = Spec::default().shingler();
    /// let mut key = |text| {
    ///     shingler.shingle_into(text, &mut shingles);
    ///     shingles.equality_key()
    /// };
    /// assert_eq!(key("One, two; three - four: FIVE six?"), key("one two three four five six"));
    /// assert_ne!(key("one two three four five six"), key("six one two three four five"));
    /// ```
    #[must_use]
    pub fn equality_key(&self) -> u128 {
        if self.hashes.is_empty() {
            xxh3_128_with_seed(self.text.as_str().as_bytes(), KEY_OF_TEXT)
        } else {
            xxh3_128_with_seed(&key_bytes(&self.hashes), KEY_OF_SHINGLES)
        }
    }
}

/// Returns the bytes of shingles from which an equality key is made: little-endian, eight per shingle. A little-endian
/// machine borrows the bytes and copies nothing.
fn key_bytes(hashes: &[u64]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(hashes))
    } else {
        Cow::Owned(hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect())
    }
}

/// Byte ranges of the units of a document in its source text.
#[derive(Debug, Clone, Default)]
pub struct UnitRanges(Vec<Range<usize>>);

impl UnitRanges {
    /// Returns the byte range of the source from the start of unit `first` to the end of unit `last`.
    #[must_use]
    pub fn span(&self, first: usize, last: usize) -> Option<Range<usize>> {
        Some(self.0.get(first)?.start..self.0.get(last)?.end)
    }
}

/// Cuts documents into shingles.
#[derive(Debug, Clone)]
pub struct Shingler {
    normalizer: Normalizer,
    shingling: Shingling,
    kernel: Kernel,
}

impl Shingler {
    /// Makes a shingler for the given settings, on the fastest kernel of this machine.
    #[must_use]
    pub fn new(normalization: Normalization, shingling: Shingling) -> Self {
        let normalizer = match shingling.unit {
            ShingleUnit::Words => Normalizer::for_tokens(normalization),
            ShingleUnit::Chars | ShingleUnit::Terms => Normalizer::new(normalization),
        };
        Self { normalizer, shingling, kernel: Kernel::detect() }
    }

    /// Sets the kernel. All kernels give the same shingles.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// Reports whether the rule for short documents refuses a document of `units` units.
    #[must_use]
    pub fn refuses(&self, units: usize) -> bool {
        self.shingling.short == Short::Reject && units < self.shingling.size
    }

    /// Cuts `source` into shingles.
    pub fn shingle_into(&self, source: &str, out: &mut Shingles) {
        self.normalizer.normalize_into(source, &mut out.text);
        out.units.clear();
        match self.shingling.unit {
            ShingleUnit::Words => words::hash_into(self.kernel, &out.text, &mut out.tokens, &mut out.units),
            ShingleUnit::Chars => chars::hash_into(&out.text, &mut out.units),
            ShingleUnit::Terms => terms::hash_into(out.text.as_str(), &mut out.units),
        }
        if out.units.is_empty() {
            // A text without units equals only the same text. The equality key therefore needs all its characters, and
            // the text is normalised in full.
            Normalizer::new(self.normalizer.normalization()).normalize_into(source, &mut out.text);
        }
        self.roll(out);
    }

    /// Cuts `source` into shingles, and returns the byte ranges of their units.
    pub fn shingle_with_places_into(&self, source: &str, out: &mut Shingles) -> UnitRanges {
        let origins = self.normalizer.normalize_tracked_into(source, &mut out.text);
        let spans = match self.shingling.unit {
            ShingleUnit::Words => words::spans(self.kernel, &out.text, &mut out.tokens),
            ShingleUnit::Chars => chars::spans(&out.text),
            ShingleUnit::Terms => terms::spans(out.text.as_str()),
        };
        self.shingle_into(source, out);
        UnitRanges(spans.into_iter().map(|span| origins.source_range(source, span)).collect())
    }

    fn roll(&self, out: &mut Shingles) {
        out.hashes.clear();
        if out.units.len() >= self.shingling.size {
            self.kernel.windows(&out.units, self.shingling.size, &mut out.hashes);
        } else if !out.units.is_empty() {
            out.hashes.push(rolling::whole(&out.units));
        }
        if self.shingling.repeats == Repeats::Bag {
            bag::number_repeats(&mut out.hashes, &mut out.sorted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn shingles(how: &str, source: &str) -> Shingles {
        let mut out = Shingles::new();
        Shingler::new(Normalization::default(), how.parse().unwrap()).shingle_into(source, &mut out);
        out
    }

    fn count(how: &str, source: &str) -> (usize, usize) {
        let shingles = shingles(how, source);
        let distinct: HashSet<&u64> = shingles.hashes().iter().collect();
        (shingles.hashes().len(), distinct.len())
    }

    #[test]
    fn text_forms_round_trip() {
        for form in [
            "words:5",
            "chars:9",
            "words:1,short=reject",
            "terms",
            "terms:2",
            "words:5,bag",
            "chars:5,bag,short=reject",
        ] {
            assert_eq!(form.parse::<Shingling>().unwrap().to_string(), form);
        }
        for wrong in [
            "",
            "words",
            "words:",
            "words:0",
            "words:x",
            "lines:5",
            "words:5,short=two",
            "words:257",
            "terms:",
            "words:5,bags",
        ] {
            assert!(wrong.parse::<Shingling>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn documented_counts() {
        assert_eq!(count("chars:2", "abcdabd"), (6, 5));
        assert_eq!(count("chars:3", "abc"), (1, 1));
        assert_eq!(count("chars:3", "ab"), (1, 1));
        assert_eq!(count("chars:9", "123456789"), (1, 1));
        assert_eq!(count("words:3", "a b c d"), (2, 2));
    }

    #[test]
    fn short_texts_are_one_shingle_and_empty_ones_none() {
        assert_eq!(count("words:5", "just three words"), (1, 1));
        assert_eq!(count("words:5", ""), (0, 0));
        assert_eq!(count("words:5", " ... !"), (0, 0));
        assert_eq!(count("chars:5", "  \n"), (0, 0));
    }

    #[test]
    fn short_texts_are_refused_when_asked() {
        let shingling = "words:5,short=reject".parse().unwrap();
        let shingler = Shingler::new(Normalization::default(), shingling);
        let mut out = Shingles::new();
        for (source, refused) in
            [("", true), ("one two three four", true), ("one two three four five", false)]
        {
            shingler.shingle_into(source, &mut out);
            assert_eq!(shingler.refuses(out.units()), refused, "{source}");
        }
    }

    #[test]
    fn punctuation_case_and_width_do_not_matter_to_words() {
        assert_eq!(
            shingles("words:2", "Hello, ｗｏｒｌｄ!").hashes(),
            shingles("words:2", "hello world").hashes()
        );
    }

    #[test]
    fn characters_see_white_space_folded() {
        assert_eq!(shingles("chars:3", " a  b\nc ").hashes(), shingles("chars:3", "a b c").hashes());
        assert_ne!(shingles("chars:3", "ab c").hashes(), shingles("chars:3", "a bc").hashes());
    }

    #[test]
    fn terms_are_longer_words() {
        assert_eq!(count("terms", "The cat's hat, it is on: the-mat; U.S.A."), (4, 4));
        assert_eq!(shingles("terms", "A CATS hat").hashes(), shingles("terms", "Cat's: hat").hashes());
        assert_eq!(count("terms", "it is on"), (0, 0));
    }

    #[test]
    fn repeats_count_in_bags_only() {
        assert_eq!(count("words:1", "to be or not to be"), (6, 4));
        assert_eq!(count("words:1,bag", "to be or not to be"), (6, 6));
        // A shingle that occurs once is the same shingle in a set and in a bag.
        assert_eq!(
            shingles("words:2", "to be or not").hashes(),
            shingles("words:2,bag", "to be or not").hashes()
        );
    }

    #[test]
    fn keys_are_made_of_little_endian_bytes() {
        assert_eq!(*key_bytes(&[0x0102_0304_0506_0708, 9]), [8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn equality_keys_tell_empty_texts_apart() {
        let key = |source| shingles("words:5", source).equality_key();
        assert_eq!(key("!!!"), key(" !!!\n"));
        assert_ne!(key("!!!"), key("???"));
        assert_ne!(key(""), key("!"));
        assert_eq!(key(""), key("  \n"));
        assert_eq!(key("Some words, and more."), key("some words and more"));
        assert_ne!(key("some words"), key("words some"));
    }

    #[test]
    fn places_lead_back_to_the_source() {
        let source = "Ｏne  STRAßE, cafe\u{301} 中文";
        let mut out = Shingles::new();
        let shingler = Shingler::new(Normalization::default(), "words:2".parse().unwrap());
        let places = shingler.shingle_with_places_into(source, &mut out);
        let unit = |i| &source[places.span(i, i).unwrap()];
        assert_eq!(
            [unit(0), unit(1), unit(2), unit(3), unit(4)],
            ["Ｏne", "STRAßE", "cafe\u{301}", "中", "文"]
        );
        assert_eq!(&source[places.span(1, 3).unwrap()], "STRAßE, cafe\u{301} 中");
        assert!(places.span(5, 5).is_none());
    }

    proptest! {
        #[test]
        fn every_kernel_gives_the_same_shingles(source in any::<String>()) {
            let mut expected: Option<Vec<u64>> = None;
            for kernel in Kernel::available() {
                let mut out = Shingles::new();
                let shingler = Shingler::new(Normalization::default(), Shingling::default()).with_kernel(kernel);
                shingler.shingle_into(&source, &mut out);
                let expected = expected.get_or_insert_with(|| out.hashes().to_vec());
                prop_assert_eq!(out.hashes(), &expected[..]);
            }
        }

        #[test]
        fn there_is_a_place_for_every_unit(source in "[aB é中\n.ﬁ]{0,40}", how in "(words|chars|terms):[1-4]") {
            let mut out = Shingles::new();
            let shingler = Shingler::new(Normalization::default(), how.parse().unwrap());
            let places = shingler.shingle_with_places_into(&source, &mut out);
            for i in 0..out.units() {
                let span = places.span(i, i).unwrap();
                prop_assert!(source.get(span).is_some_and(|text| !text.is_empty()));
            }
            prop_assert!(places.span(out.units(), out.units()).is_none());
        }
    }
}
