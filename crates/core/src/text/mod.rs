//! Text for shingles: normalised, and cut into tokens.
//!
//! A [`Normalizer`] writes the normalised form of a document into a [`NormalizedText`], from which the shinglers read
//! tokens or characters. The default treats texts as equal if a reader would call them the same text. It folds
//! compatibility forms (NFKC), case, and, for character shingles, runs of white space.
//!
//! | form | `Ｓtraße  ﬁne` becomes | use when |
//! |---|---|---|
//! | `nfkc+casefold` | `strasse  fine` | by default |
//! | `casefold` | `ｓtrasse  fine` | width and ligatures carry meaning |
//! | `none` | `Ｓtraße  ﬁne` | the text was normalised before, or every difference counts |
//!
//! [`UNICODE`] is the version of the Unicode data, and part of every spec's fingerprint. The data is in this crate, so
//! that no version of another crate changes a sketch.

mod blocks;
mod class;
mod general;
mod mappings;
mod markup;
mod normalize;
mod origin;
mod pages;
mod space;
mod tables;
pub(crate) mod token;

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::hash::token::PADDING;
use crate::kernel::BLOCK;

pub(crate) use blocks::BlockNormalizer;
pub use class::{CharClass, TokenClass};
pub use origin::Origins;
pub use tables::UNICODE;

/// The folding of case and compatibility forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Folding {
    /// Text is not changed.
    None,
    /// Full case folding only.
    Casefold,
    /// NFKC, then full case folding.
    #[default]
    NfkcCasefold,
}

/// The treatment of markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Markup {
    /// Markup is treated as text.
    #[default]
    Keep,
    /// Tags, comments, scripts and styles are removed, and character references are decoded.
    Strip,
}

/// The treatment of white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhiteSpace {
    /// Every run of white space becomes one space, and white space at both ends is removed.
    #[default]
    Fold,
    /// White space is not changed.
    Keep,
    /// All white space is removed.
    Remove,
}

/// The changes that are made to a text before it is cut into shingles.
///
/// Its text form is the folding, followed by the treatments that differ from the default: `nfkc+casefold`,
/// `casefold+strip-markup+remove-space`.
///
/// ```
/// use minwise::text::{Folding, Normalization, WhiteSpace};
///
/// let normalization = Normalization::new(Folding::Casefold).with_space(WhiteSpace::Remove);
/// assert_eq!(normalization.to_string(), "casefold+remove-space");
/// assert_eq!(Normalization::default().to_string(), "nfkc+casefold");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Normalization {
    /// Treatment of case and compatibility forms.
    pub form: Folding,
    /// Treatment of markup.
    pub markup: Markup,
    /// White space: folded, kept or removed.
    pub space: WhiteSpace,
}

impl Normalization {
    /// Makes a normalisation with this treatment of case and compatibility forms. It keeps markup and folds white
    /// space.
    #[must_use]
    pub fn new(form: Folding) -> Self {
        Self { form, ..Self::default() }
    }

    /// Sets the treatment of markup. By default markup is kept.
    #[must_use]
    pub fn with_markup(self, markup: Markup) -> Self {
        Self { markup, ..self }
    }

    /// Sets the treatment of white space. By default every run becomes one space.
    #[must_use]
    pub fn with_space(self, space: WhiteSpace) -> Self {
        Self { space, ..self }
    }
}

impl fmt::Display for Folding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Casefold => "casefold",
            Self::NfkcCasefold => "nfkc+casefold",
        })
    }
}

impl FromStr for Folding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "none" => Ok(Self::None),
            "casefold" => Ok(Self::Casefold),
            "nfkc+casefold" => Ok(Self::NfkcCasefold),
            _ => Err(Error::parse("normalisation", text, "`nfkc+casefold`, `casefold` or `none`")),
        }
    }
}

impl fmt::Display for WhiteSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fold => "fold",
            Self::Keep => "keep",
            Self::Remove => "remove",
        })
    }
}

impl FromStr for WhiteSpace {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "fold" => Ok(Self::Fold),
            "keep" => Ok(Self::Keep),
            "remove" => Ok(Self::Remove),
            _ => Err(Error::parse("way to treat white space", text, "`fold`, `keep` or `remove`")),
        }
    }
}

impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.form)?;
        if self.markup == Markup::Strip {
            f.write_str("+strip-markup")?;
        }
        match self.space {
            WhiteSpace::Fold => Ok(()),
            other => write!(f, "+{other}-space"),
        }
    }
}

impl FromStr for Normalization {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut rest = text;
        let space = if let Some(before) = rest.strip_suffix("+keep-space") {
            rest = before;
            WhiteSpace::Keep
        } else if let Some(before) = rest.strip_suffix("+remove-space") {
            rest = before;
            WhiteSpace::Remove
        } else {
            WhiteSpace::Fold
        };
        let markup = if let Some(before) = rest.strip_suffix("+strip-markup") {
            rest = before;
            Markup::Strip
        } else {
            Markup::Keep
        };
        let expected =
            "`nfkc+casefold`, `casefold` or `none`, then `+strip-markup`, `+keep-space` or `+remove-space`";
        let form = rest.parse().map_err(|_| Error::parse("normalisation", text, expected))?;
        Ok(Self { form, markup, space })
    }
}

/// A normalised text, in a buffer that is reused for the next text.
///
/// The bytes are padded with zeros to whole blocks, so that kernels and token hashes may read beyond the end of the
/// text.
#[derive(Debug, Default, Clone)]
pub struct NormalizedText {
    padded: String,
    len: usize,
    before_form: String,
    before_space: String,
}

impl NormalizedText {
    /// Makes an empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the normalised text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.padded[..self.len]
    }

    /// Returns the normalised text followed by at least [`PADDING`] zeros. The length is a whole number of blocks.
    pub(crate) fn padded(&self) -> &[u8] {
        self.padded.as_bytes()
    }

    fn pad(&mut self) {
        const ZEROS: &str = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        self.len = self.padded.len();
        let padded_len = (self.len + PADDING).next_multiple_of(BLOCK);
        self.padded.reserve(padded_len - self.len);
        while self.padded.len() < padded_len {
            let wanted = (padded_len - self.padded.len()).min(ZEROS.len());
            self.padded.push_str(&ZEROS[..wanted]);
        }
    }
}

/// Normalises documents.
#[derive(Debug, Clone)]
pub struct Normalizer {
    normalization: Normalization,
    /// Whether white space is folded. Word shingles skip this step, because it changes no token.
    fold_space: bool,
}

impl Normalizer {
    /// Makes a normalizer for shingles that read all characters, including white space.
    #[must_use]
    pub fn new(normalization: Normalization) -> Self {
        Self { normalization, fold_space: true }
    }

    /// Makes a normalizer for shingles that read tokens. It does not fold white space, because tokens do not depend on
    /// it.
    #[must_use]
    pub fn for_tokens(normalization: Normalization) -> Self {
        Self { normalization, fold_space: false }
    }

    /// Returns the normalisation of this normalizer.
    #[must_use]
    pub fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// Writes the normalised form of `source` into `text`.
    pub fn normalize_into(&self, source: &str, text: &mut NormalizedText) {
        self.run(source, text, &mut origin::Untracked);
    }

    /// Writes the normalised form of `source` into `text`, and returns the origins of its bytes in `source`.
    pub fn normalize_tracked_into(&self, source: &str, text: &mut NormalizedText) -> Origins {
        let mut origins = Origins::default();
        self.run(source, text, &mut origins);
        origins
    }

    fn run<T: origin::Track>(&self, source: &str, text: &mut NormalizedText, track: &mut T) {
        text.padded.clear();
        let mut source = source;
        if self.normalization.markup == Markup::Strip {
            text.before_form.clear();
            track.stage(|track| markup::strip_into(source, &mut text.before_form, track));
            source = &text.before_form;
        }
        let space = match self.normalization.space {
            WhiteSpace::Fold if !self.fold_space => WhiteSpace::Keep,
            space => space,
        };
        let form = self.normalization.form;
        if space == WhiteSpace::Keep {
            track.stage(|track| normalize::form_into(form, source, &mut text.padded, track));
        } else {
            text.before_space.clear();
            track.stage(|track| normalize::form_into(form, source, &mut text.before_space, track));
            track.stage(|track| space::apply_into(space, &text.before_space, &mut text.padded, track));
        }
        text.pad();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(how: &str, source: &str) -> String {
        let mut text = NormalizedText::new();
        Normalizer::new(how.parse().unwrap()).normalize_into(source, &mut text);
        text.as_str().to_owned()
    }

    #[test]
    fn text_forms_round_trip() {
        for form in [
            "nfkc+casefold",
            "casefold",
            "none",
            "none+strip-markup",
            "casefold+strip-markup+remove-space",
            "nfkc+casefold+keep-space",
        ] {
            assert_eq!(form.parse::<Normalization>().unwrap().to_string(), form);
        }
        for wrong in ["", "nfkc", "nfkc+casefold+", "lower", "casefold+fold-space"] {
            let message = wrong.parse::<Normalization>().unwrap_err().to_string();
            assert!(message.contains("nfkc+casefold"), "{message}");
        }
    }

    #[test]
    fn the_table_of_forms_is_true() {
        assert_eq!(normal("nfkc+casefold+keep-space", "Ｓtraße  ﬁne"), "strasse  fine");
        assert_eq!(normal("casefold+keep-space", "Ｓtraße  ﬁne"), "ｓtrasse  fine");
        assert_eq!(normal("none+keep-space", "Ｓtraße  ﬁne"), "Ｓtraße  ﬁne");
    }

    #[test]
    fn white_space_is_folded_kept_or_removed() {
        assert_eq!(normal("none", " a\t\n b  "), "a b");
        assert_eq!(normal("none+keep-space", " a\t\n b  "), " a\t\n b  ");
        assert_eq!(normal("none+remove-space", " a\t\n b\u{3000} "), "ab");
    }

    #[test]
    fn the_padding_is_zeros_to_a_whole_block() {
        let mut text = NormalizedText::new();
        for len in [0, 1, 47, 48, 49, 63, 64, 65, 200] {
            Normalizer::new(Normalization::default()).normalize_into(&"a".repeat(len), &mut text);
            assert_eq!(text.as_str().len(), len);
            assert_eq!(text.padded().len() % BLOCK, 0);
            assert!(text.padded().len() >= len + PADDING);
            assert!(text.padded()[len..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn markup_goes_before_the_form_is_applied() {
        assert_eq!(normal("nfkc+casefold+strip-markup", "<B>Caf&eacute;</B> &#x3b1;"), "café α");
    }
}
