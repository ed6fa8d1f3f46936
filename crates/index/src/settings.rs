//! The settings of an index, which are chosen when the index is created and never change.

use minwise::candidate::{Banding, Curve, Winnow};
use minwise::shingle::Repeats;
use minwise::sketch::Bits;
use minwise::{ErrorKind as CoreErrorKind, Spec};

use crate::error::{Error, ErrorKind, Result};
use crate::setters::setters;

/// Whether an index keeps texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Texts {
    /// The index keeps texts, compressed. Passages can be shown, and shingle sets are computed when they are needed.
    #[default]
    Kept,
    /// The index keeps the shingle set and the fingerprints of each document instead of its text.
    LeftOut,
}

/// The settings of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct IndexSettings {
    /// Spec by which documents become shingles and sketches. Default: `nfkc+casefold / words:5 / minhash:128
    /// / seed:1`.
    pub spec: Spec,
    /// Number of bands of a sketch. Default: 42.
    pub bands: usize,
    /// Number of rows per band, at most registers divided by bands. Default: 3.
    pub rows: usize,
    /// Minimum length of a shared passage that makes a document a candidate, in tokens, or in characters if
    /// shingles are made of characters. Default: 25.
    pub passage: usize,
    /// Bits that are kept of each register, for comparing sketches; `None` keeps all 32. Default: 8.
    pub bits: Option<Bits>,
    /// Whether texts are kept. Without texts, no passage can be shown. Default: texts are kept.
    pub texts: Texts,
}

setters!(IndexSettings {
    /// Spec by which documents become shingles and sketches. Default: `nfkc+casefold / words:5 / minhash:128
    /// / seed:1`.
    spec: Spec,
    /// Number of bands of a sketch. Default: 42.
    bands: usize,
    /// Number of rows per band, at most registers divided by bands. Default: 3.
    rows: usize,
    /// Minimum length of a shared passage that makes a document a candidate, in tokens, or in characters if
    /// shingles are made of characters. Default: 25.
    passage: usize,
    /// Whether texts are kept. Without texts, no passage can be shown. Default: texts are kept.
    texts: Texts,
    ;
    /// Bits that are kept of each register, for comparing sketches; `None` keeps all 32. Default: 8.
    bits: Option<Bits>,
});

/// Default of [`IndexSettings::passage`].
pub const PASSAGE: usize = 25;

impl Default for IndexSettings {
    /// Returns settings whose bands find a pair of similarity 0.5 with probability 0.996, and that keep one
    /// byte per register. Band keys are stored separately, so registers only serve to compare sketches, and
    /// one byte compares nearly as well as four.
    fn default() -> Self {
        let bits = Bits::whole(8);
        Self { spec: Spec::default(), bands: 42, rows: 3, passage: PASSAGE, bits, texts: Texts::Kept }
    }
}

impl IndexSettings {
    /// Checks that an index can have these settings.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::Setting`] if the sketch cannot be banded, or if bands and rows need more
    ///   registers than the sketch has.
    /// - Fails with [`ErrorKind::Setting`] if `passage` is shorter than a shingle.
    /// - Fails with [`ErrorKind::Setting`] if the registers cannot be packed into `bits`.
    /// - Fails with [`ErrorKind::Setting`] if shingles are a bag.
    /// - Fails with [`ErrorKind::Mismatch`] if the spec has weights.
    pub fn check(&self) -> Result<()> {
        self.banding()?;
        self.winnow()?;
        if let Some(bits) = self.bits {
            bits.rows(self.spec.method.registers())?;
        }
        if self.spec.shingling.repeats() == Repeats::Bag {
            // In a bag, the second occurrence of a shingle has another hash, so one passage would have
            // different shingles in two documents.
            let (setting, expected) = ("the shingling of an index", "one without `,bag`".to_owned());
            let given = self.spec.shingling.to_string();
            return Err(minwise::Error::from(CoreErrorKind::OutOfRange { setting, given, expected }).into());
        }
        if self.spec.weights != minwise::WeightSpec::default() {
            // Weights depend on all documents of the archive, and the archive changes after a document is sketched.
            return Err(mismatch("weights", "", &self.spec.weights.to_string()));
        }
        Ok(())
    }

    /// Returns the probability that bands find a document of exactly this similarity. A check finds the
    /// document with at least this probability, because fingerprints also find documents that share a
    /// passage.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Setting`] if the sketch cannot be banded, or if bands and rows need more
    /// registers than the sketch has.
    pub fn probability(&self, similarity: f64) -> Result<f64> {
        Ok(Curve::from(self.banding()?).probability(similarity))
    }

    pub(crate) fn banding(&self) -> Result<Banding> {
        if let Some(registers) = self.spec.method.bandable() {
            return Ok(Banding::new(self.bands, self.rows, registers)?);
        }
        let (setting, expected) =
            ("the sketch of an index", "a sketch whose registers can be banded".to_owned());
        let given = self.spec.method.to_string();
        Err(minwise::Error::from(CoreErrorKind::OutOfRange { setting, given, expected }).into())
    }

    pub(crate) fn winnow(&self) -> Result<Winnow> {
        Ok(Winnow::new(self.spec.shingling, self.passage)?)
    }

    /// Checks that an index with these settings can be merged or compared with an index with the settings
    /// `other`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Mismatch`] if a setting differs. The error has the first setting that differs,
    /// and both values.
    pub fn compare(&self, other: &Self) -> Result<()> {
        self.spec.check(&other.spec)?;
        for ((field, left), (_, right)) in self.fields().into_iter().zip(other.fields()) {
            if left != right {
                return Err(mismatch(field, &left, &right));
            }
        }
        Ok(())
    }

    /// Returns the settings with their names and text forms, as the header of an index has them.
    #[must_use]
    pub fn fields(&self) -> [(&'static str, String); 6] {
        [
            ("spec", self.spec.to_string()),
            ("bands", self.bands.to_string()),
            ("rows", self.rows.to_string()),
            ("passage", self.passage.to_string()),
            ("bits", self.bits.map_or("all".to_owned(), |bits| bits.to_string())),
            (
                "texts",
                match self.texts {
                    Texts::Kept => "kept".to_owned(),
                    Texts::LeftOut => "left out".to_owned(),
                },
            ),
        ]
    }

    /// Parses settings from their fields. An error names the field that is missing or cannot be parsed.
    pub(crate) fn from_fields<'a>(
        field: impl Fn(&str) -> Option<&'a str>,
    ) -> std::result::Result<Self, String> {
        fn parsed<T: std::str::FromStr>(name: &str, text: Option<&str>) -> std::result::Result<T, String> {
            text.ok_or_else(|| format!("`{name}` is missing"))?
                .parse()
                .map_err(|_| format!("`{name}` cannot be read"))
        }
        Ok(Self {
            spec: parsed("spec", field("spec"))?,
            bands: parsed("bands", field("bands"))?,
            rows: parsed("rows", field("rows"))?,
            passage: parsed("passage", field("passage"))?,
            bits: match field("bits") {
                Some("all") => None,
                bits => Some(parsed("bits", bits)?),
            },
            texts: match field("texts") {
                Some("kept") => Texts::Kept,
                Some("left out") => Texts::LeftOut,
                _ => return Err("`texts` cannot be read".to_owned()),
            },
        })
    }
}

fn mismatch(field: &'static str, left: &str, right: &str) -> Error {
    ErrorKind::Mismatch { field, left: left.to_owned(), right: right.to_owned() }.into()
}
