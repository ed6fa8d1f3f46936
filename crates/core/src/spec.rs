//! The spec of a sketch: everything that two sketches must share to be comparable.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind};
use crate::estimate::Estimate;
use crate::hash::fmix64;
use crate::shingle::{Shingler, Shingling};
use crate::sketch::{Method, Sketcher, WeightedSketcher};
use crate::text::{Normalization, UNICODE};
use crate::weight::{MostDocuments, Weigher, WeigherBuffers, WeightedSet, Weighting};

/// Version of the meaning of specs. It changes when the same text form begins to give other sketches.
pub const VERSION: u32 = 1;

/// The weights of shingles, and the shingles that are left out. The text form lists the settings that differ from their
/// default: `weight:tf-idf / table:0f3a… / max-df:0.1 / ignore:77c1…`.
///
/// ```
/// use minwise::{WeightSpec, weight::{MostDocuments, Weighting}};
///
/// let weights = WeightSpec::new(Weighting::Tf).with_most_documents(MostDocuments::Share(0.1));
/// assert_eq!(weights.to_string(), "weight:tf / max-df:0.1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct WeightSpec {
    /// Formula of the weights.
    pub weighting: Weighting,
    /// Greatest number of documents that a shingle may be in without being left out; `None` if there is no limit.
    pub most_documents: Option<MostDocuments>,
    /// Fingerprint of the table of document frequencies, if a table is needed.
    pub table: Option<u64>,
    /// Fingerprint of the shingles that are left out of every document, if there are any.
    pub ignored: Option<u64>,
}

impl WeightSpec {
    /// Makes a weight spec with this weighting, which leaves out no shingle.
    #[must_use]
    pub fn new(weighting: Weighting) -> Self {
        Self { weighting, ..Self::default() }
    }

    /// Sets the greatest number of documents that a shingle may be in without being left out.
    #[must_use]
    pub fn with_most_documents(self, most_documents: impl Into<Option<MostDocuments>>) -> Self {
        Self { most_documents: most_documents.into(), ..self }
    }

    /// Sets the fingerprint of the table of document frequencies.
    #[must_use]
    pub fn with_table(self, table: impl Into<Option<u64>>) -> Self {
        Self { table: table.into(), ..self }
    }

    /// Sets the fingerprint of the shingles that are left out of every document.
    #[must_use]
    pub fn with_ignored(self, ignored: impl Into<Option<u64>>) -> Self {
        Self { ignored: ignored.into(), ..self }
    }

    /// Reports whether a table of document frequencies is needed.
    #[must_use]
    pub fn need_table(&self) -> bool {
        self.weighting.needs_frequencies() || self.most_documents.is_some()
    }

    /// Returns the fingerprint of shingles that are left out. Their order and repeats do not matter.
    #[must_use]
    pub fn fingerprint_of_ignored(shingles: &[u64]) -> u64 {
        let mut sorted = shingles.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.iter().fold(fmix64(sorted.len() as u64), |seen, &shingle| fmix64(seen ^ shingle))
    }
}

impl WeightSpec {
    /// Returns an error with the first part that differs, if any.
    fn check(&self, found: &Self) -> Result<(), Error> {
        let parts = |weights: &Self| {
            let fingerprint = |number: Option<u64>| number.map_or("none".to_owned(), |n| format!("{n:016x}"));
            [
                ("weight", weights.weighting.to_string()),
                ("max-df", weights.most_documents.map_or("none".to_owned(), |most| most.to_string())),
                ("table", fingerprint(weights.table)),
                ("ignore", fingerprint(weights.ignored)),
            ]
        };
        for ((field, left), (_, right)) in parts(self).into_iter().zip(parts(found)) {
            if left != right {
                return Err(ErrorKind::SpecMismatch { field, left, right }.into());
            }
        }
        Ok(())
    }
}

impl fmt::Display for WeightSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = vec![];
        if self.weighting != Weighting::None {
            parts.push(format!("weight:{}", self.weighting));
        }
        parts.extend(self.table.map(|table| format!("table:{table:016x}")));
        parts.extend(self.most_documents.map(|most| format!("max-df:{most}")));
        parts.extend(self.ignored.map(|ignored| format!("ignore:{ignored:016x}")));
        f.write_str(&parts.join(" / "))
    }
}

impl FromStr for WeightSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut weights = Self::default();
        for part in text.split(" / ").filter(|part| !part.is_empty()) {
            let wrong =
                || Error::parse("part of a spec", part, "`weight:`, `table:`, `max-df:` or `ignore:`");
            let number = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| wrong());
            match part.split_once(':').ok_or_else(wrong)? {
                ("weight", weighting) => weights.weighting = weighting.parse()?,
                ("table", digits) => weights.table = Some(number(digits)?),
                ("max-df", most) => weights.most_documents = Some(most.parse()?),
                ("ignore", digits) => weights.ignored = Some(number(digits)?),
                _ => return Err(wrong()),
            }
        }
        Ok(weights)
    }
}

/// The settings by which documents become sketches. The text form is `nfkc+casefold / words:5 / minhash:128 / seed:1`,
/// followed by the text form of [`WeightSpec`] if there are weights.
///
/// ```
/// use minwise::Spec;
///
/// let spec: Spec = "nfkc+casefold / words:3 / minhash:64 / seed:1".parse()?;
/// assert_eq!(spec.method.registers(), 64);
///
/// let other: Spec = "nfkc+casefold / chars:9 / minhash:64 / seed:1".parse()?;
/// let error = spec.check(&other).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the settings differ: shingle is `words:3` in the first and `chars:9` in the second"
/// );
/// # Ok::<(), minwise::Error>(())
/// ```
///
/// A spec is made from its text form, or from the default by changing its parts:
///
/// ```
/// use minwise::{Spec, sketch::Method};
///
/// let spec = Spec::default().with_method(Method::minhash(64)).with_seed(7);
/// assert_eq!(spec.to_string(), "nfkc+casefold / words:5 / minhash:64 / seed:7");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Spec {
    /// Normalisation: the change of a text before it is cut into shingles.
    pub normalization: Normalization,
    /// Rule by which a text is cut into shingles.
    pub shingling: Shingling,
    /// Kind of the sketch.
    pub method: Method,
    /// Seed of the hash functions.
    pub seed: u64,
    /// Weights of shingles, and the shingles that are left out.
    pub weights: WeightSpec,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            normalization: Normalization::default(),
            shingling: Shingling::default(),
            method: Method::default(),
            seed: 1,
            weights: WeightSpec::default(),
        }
    }
}

impl Spec {
    /// Sets the normalisation.
    #[must_use]
    pub fn with_normalization(self, normalization: Normalization) -> Self {
        Self { normalization, ..self }
    }

    /// Sets the shingling.
    #[must_use]
    pub fn with_shingling(self, shingling: Shingling) -> Self {
        Self { shingling, ..self }
    }

    /// Sets the kind of the sketch.
    #[must_use]
    pub fn with_method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Sets the seed of the hash functions.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the weights, and the shingles that are left out.
    #[must_use]
    pub fn with_weights(self, weights: WeightSpec) -> Self {
        Self { weights, ..self }
    }

    /// Returns the shingler of this spec.
    #[must_use]
    pub fn shingler(&self) -> Shingler {
        Shingler::new(self.normalization, self.shingling)
    }

    /// Returns the sketcher of this spec, for the shingles of a [`Shingler`].
    ///
    /// If the spec has a [`WeightSpec`] other than the default, use [`weighing_sketcher`](Self::weighing_sketcher),
    /// because its sketches are made of weighed shingles. To compare existing rows, the sketcher of the
    /// [method](Method::build) is enough.
    ///
    /// ```
    /// use minwise::Spec;
    ///
    /// let spec: Spec = "nfkc+casefold / words:5 / dart:128 / seed:1 / weight:tf".parse()?;
    /// assert_eq!(spec.sketcher().unwrap_err().code(), "weighted_spec");
    /// # Ok::<(), minwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Weighted`] if the spec has a [`WeightSpec`] other than the default, and with
    /// [`ErrorKind::OutOfRange`] if a number of the sketch is out of its range.
    pub fn sketcher(&self) -> Result<Arc<dyn Sketcher>, Error> {
        if self.weights != WeightSpec::default() {
            return Err(ErrorKind::Weighted { weights: self.weights.to_string() }.into());
        }
        self.method.build(self.seed)
    }

    /// Returns the sketcher of this spec, with or without weights, for the shingles of a [`Shingler`].
    ///
    /// `weigher` must agree with the spec. `table` is the fingerprint of its document frequencies.
    ///
    /// ```
    /// use minwise::{Spec, weight::{Weigher, Weighting}};
    ///
    /// let spec: Spec = "nfkc+casefold / words:5 / dart:128 / seed:1 / weight:tf".parse()?;
    /// let mut sketcher = spec.weighing_sketcher(Weigher::new(Weighting::Tf)?, None)?;
    /// let (mut once, mut twice) = ([0; 128], [0; 128]);
    /// assert!(sketcher.sketch_into(&[7, 8, 9], &mut once));
    /// sketcher.sketch_into(&[7, 8, 9, 7, 8, 9], &mut twice);
    /// assert_eq!(once, twice);
    ///
    /// let error = spec.weighing_sketcher(Weigher::new(Weighting::Count)?, None).unwrap_err();
    /// assert!(error.to_string().contains("weight is `tf` in the first and `count` in the second"));
    /// # Ok::<(), minwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::SpecMismatch`], which names the first part that differs, if `weigher` or `table` does not agree
    ///   with the spec;
    /// - [`ErrorKind::Unsupported`] if the spec weighs shingles for a sketch of sets;
    /// - [`ErrorKind::OutOfRange`] if a number of the sketch is out of its range.
    pub fn weighing_sketcher(&self, weigher: Weigher, table: Option<u64>) -> Result<SpecSketcher, Error> {
        let ignored = weigher.ignored();
        let found = WeightSpec {
            weighting: weigher.weighting(),
            most_documents: weigher.most_documents(),
            table: table.filter(|_| weigher.has_frequencies()),
            ignored: (!ignored.is_empty()).then(|| WeightSpec::fingerprint_of_ignored(ignored)),
        };
        self.weights.check(&found)?;
        let maker = match self.method {
            Method::Weighted(method) if self.weights.weighting != Weighting::None => {
                SketchMaker::Weighted(method.build(self.seed)?)
            }
            method if self.weights.weighting == Weighting::None => {
                SketchMaker::Plain(method.build(self.seed)?)
            }
            method => {
                let expected = "only `dart`, `icws`, `cws` and `zero-bit` can".to_owned();
                let action = "be made of weighed shingles";
                return Err(ErrorKind::Unsupported { method: method.to_string(), action, expected }.into());
            }
        };
        Ok(SpecSketcher {
            weigher,
            maker,
            work: WeigherBuffers::default(),
            weighted: WeightedSet::default(),
            remaining: vec![],
        })
    }

    /// Returns the fingerprint of the spec, of its version and of the Unicode version.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        xxh3_64(format!("{self} / version:{VERSION} / unicode:{UNICODE}").as_bytes())
    }

    /// Checks that sketches by the two specs can be compared, that is, that all parts of the specs are equal.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::SpecMismatch`], which contains the first part that differs and both values.
    pub fn check(&self, other: &Self) -> Result<(), Error> {
        // This shortcut matters, because indexes check every sketch that they receive, and writing text forms takes
        // longer than a lookup.
        if self == other {
            return Ok(());
        }
        for ((field, left), (_, right)) in self.fields().into_iter().zip(other.fields()) {
            if left != right {
                return Err(ErrorKind::SpecMismatch { field, left, right }.into());
            }
        }
        Ok(())
    }

    fn fields(&self) -> [(&'static str, String); 5] {
        [
            ("normalize", self.normalization.to_string()),
            ("shingle", self.shingling.to_string()),
            ("sketch", self.method.to_string()),
            ("seed", self.seed.to_string()),
            ("weights", self.weights.to_string()),
        ]
    }
}

/// Sketches documents by a spec with a [`WeightSpec`]: leaves shingles out, weighs the other shingles and sketches
/// them. Its buffers are reused from document to document.
#[derive(Debug, Clone)]
pub struct SpecSketcher {
    weigher: Weigher,
    maker: SketchMaker,
    work: WeigherBuffers,
    weighted: WeightedSet,
    remaining: Vec<u64>,
}

#[derive(Debug, Clone)]
enum SketchMaker {
    Plain(Arc<dyn Sketcher>),
    Weighted(Arc<dyn WeightedSketcher>),
}

impl SpecSketcher {
    /// Returns the number of words of one sketch.
    #[must_use]
    pub fn words(&self) -> usize {
        match &self.maker {
            SketchMaker::Plain(sketcher) => sketcher.words(),
            SketchMaker::Weighted(sketcher) => sketcher.words(),
        }
    }

    /// Writes the sketch of a document's shingles, which are given in document order with repeats. Returns `true` if
    /// any shingle is left. If no shingle is left, every word is [`EMPTY`](crate::sketch::minhash::EMPTY).
    ///
    /// # Panics
    /// Panics if `out` does not have [`words`](Self::words) elements.
    pub fn sketch_into(&mut self, shingles: &[u64], out: &mut [u32]) -> bool {
        match &self.maker {
            SketchMaker::Plain(sketcher) => {
                // The remaining shingles keep their order, because some sketches use their places.
                let distinct = self.weigher.remaining(shingles, &mut self.work);
                self.remaining.clear();
                let stays = |shingle: &&u64| distinct.binary_search(shingle).is_ok();
                self.remaining.extend(shingles.iter().filter(stays));
                sketcher.sketch_into(&self.remaining, out);
                !self.remaining.is_empty()
            }
            SketchMaker::Weighted(sketcher) => {
                self.weigher.weigh_into(shingles, &mut self.work, &mut self.weighted);
                sketcher.sketch_into(&self.weighted, out);
                !self.weighted.is_empty()
            }
        }
    }

    /// Estimates the similarity of two documents that both have shingles left.
    ///
    /// # Panics
    /// Panics if a row does not have [`words`](Self::words) elements.
    #[must_use]
    pub fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        match &self.maker {
            SketchMaker::Plain(sketcher) => sketcher.estimate(a, b),
            SketchMaker::Weighted(sketcher) => sketcher.estimate(a, b),
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {} / {} / seed:{}", self.normalization, self.shingling, self.method, self.seed)?;
        match self.weights.to_string().as_str() {
            "" => Ok(()),
            weights => write!(f, " / {weights}"),
        }
    }
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong =
            || Error::parse("spec", text, "the form `nfkc+casefold / words:5 / minhash:128 / seed:1`");
        let parts: Vec<&str> = text.split('/').map(str::trim).collect();
        // The form of a sketch may contain `/`, so it ends where the seed begins.
        let [normalization, shingling, rest @ ..] = &parts[..] else { return Err(wrong()) };
        let at = rest.iter().position(|part| part.starts_with("seed:")).ok_or_else(wrong)?;
        let (method, behind) = rest.split_at(at);
        let seed = behind[0].strip_prefix("seed:").and_then(|seed| seed.parse().ok()).ok_or_else(wrong)?;
        Ok(Self {
            normalization: normalization.parse()?,
            shingling: shingling.parse()?,
            method: method.join("/").parse()?,
            seed,
            weights: behind[1..].join(" / ").parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::DocumentFrequencies;

    #[test]
    fn text_forms_round_trip() {
        for form in [
            "nfkc+casefold / words:5 / minhash:128 / seed:1",
            "nfkc+casefold / words:5 / b-bit:2/minhash:256 / seed:1",
            "none+strip-markup+keep-space / chars:9,short=reject / minhash:7 / seed:18446744073709551615",
            "nfkc+casefold / words:5 / icws:128 / seed:1 / weight:tf-idf / table:00000000000000ff",
            "nfkc+casefold / words:5 / minhash:128 / seed:1 / table:0123456789abcdef / max-df:0.1 / ignore:0000000000000001",
            "nfkc+casefold / words:5 / icws:64 / seed:1 / weight:tf-idf,smooth / table:0000000000000001 / max-df:500",
        ] {
            assert_eq!(form.parse::<Spec>().unwrap().to_string(), form);
        }
        assert_eq!(Spec::default().to_string(), "nfkc+casefold / words:5 / minhash:128 / seed:1");
    }

    #[test]
    fn wrong_forms_are_named() {
        for (form, part) in [
            ("", "spec"),
            ("nfkc+casefold / words:5 / minhash:128", "spec"),
            ("nfkc+casefold / words:5 / minhash:128 / 1", "spec"),
            ("lower / words:5 / minhash:128 / seed:1", "normalisation"),
            ("none / word:5 / minhash:128 / seed:1", "shingling"),
            ("none / words:5 / maxhash:128 / seed:1", "sketch"),
            ("none / words:5 / minhash:128 / seed:1 / weight:heavy", "weighting"),
            ("none / words:5 / minhash:128 / seed:1 / table:xyz", "part of a spec"),
            ("none / words:5 / minhash:128 / seed:1 / more", "part of a spec"),
        ] {
            let message = form.parse::<Spec>().unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_mismatch_names_the_first_field_that_differs() {
        let spec = Spec::default();
        assert!(spec.check(&spec).is_ok());
        for (form, field) in [
            ("casefold / chars:5 / minhash:64 / seed:2", "normalize"),
            ("nfkc+casefold / words:5,short=reject / minhash:64 / seed:2", "shingle"),
            ("nfkc+casefold / words:5 / minhash:64 / seed:2", "sketch"),
            ("nfkc+casefold / words:5 / minhash:128 / seed:2", "seed"),
            ("nfkc+casefold / words:5 / minhash:128 / seed:1 / weight:count", "weights"),
        ] {
            let error = spec.check(&form.parse().unwrap()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::SpecMismatch { field: found, .. } if *found == field));
        }
    }

    #[test]
    fn plain_sketches_of_a_spec_with_weights_are_refused() {
        for weights in ["weight:count", "table:0000000000000001 / max-df:0.1", "ignore:0000000000000001"] {
            let spec: Spec = format!("none / words:1 / dart:8 / seed:1 / {weights}").parse().unwrap();
            let error = spec.sketcher().unwrap_err();
            assert_eq!(error.code(), "weighted_spec");
            assert!(error.to_string().contains(weights), "{error}");
        }
        assert!(Spec::default().sketcher().is_ok());
    }

    #[test]
    fn weighed_sketches_are_those_of_the_spec() {
        let spec = |form: &str| -> Spec { format!("none / words:1 / {form}").parse().unwrap() };
        let table = || Arc::new(DocumentFrequencies::count([&[1, 2][..], &[1, 3], &[1, 4]]).unwrap());
        let document = [1, 2, 9, 2, 7];
        let row = |mut sketcher: SpecSketcher, shingles: &[u64]| {
            let mut row = vec![0; sketcher.words()];
            assert_eq!(sketcher.sketch_into(shingles, &mut row), !shingles.is_empty());
            row
        };
        // With weights, the result is that of the weighted sketcher.
        let weigher = || Weigher::with_frequencies(Weighting::TfIdfSmooth, table(), None);
        let weighed = spec("dart:16 / seed:3 / weight:tf-idf,smooth / table:0000000000000007");
        let found = row(weighed.weighing_sketcher(weigher(), Some(7)).unwrap(), &document);
        let Method::Weighted(method) = weighed.method else { unreachable!() };
        let mut expected = vec![0; 16];
        method.build(3).unwrap().sketch_into(&weigher().weigh(&document), &mut expected);
        assert_eq!(found, expected);
        assert_ne!(
            found,
            row(spec("dart:16 / seed:3").weighing_sketcher(Weigher::default(), None).unwrap(), &document)
        );
        // With frequent and ignored shingles, the result is that of documents without these shingles.
        let most = Some(MostDocuments::Number(2));
        let ignoring = Weigher::with_frequencies(Weighting::None, table(), most).ignoring([7]);
        let form = format!(
            "minhash:16 / seed:3 / table:0000000000000007 / max-df:2 / ignore:{:016x}",
            WeightSpec::fingerprint_of_ignored(&[7])
        );
        let found = row(spec(&form).weighing_sketcher(ignoring, Some(7)).unwrap(), &document);
        let mut expected = vec![0; 16];
        spec("minhash:16 / seed:3").sketcher().unwrap().sketch_into(&[2, 9, 2], &mut expected);
        assert_eq!(found, expected);
        // A document without remaining shingles has empty words.
        let mut sketcher = weighed.weighing_sketcher(weigher(), Some(7)).unwrap();
        let mut empty = [0; 16];
        assert!(!sketcher.sketch_into(&[], &mut empty));
        assert_eq!(empty, [crate::sketch::minhash::EMPTY; 16]);
    }

    #[test]
    fn a_weigher_that_does_something_else_is_refused_by_name() {
        let table = || Arc::new(DocumentFrequencies::count([&[1, 2][..]]).unwrap());
        let spec: Spec =
            "none / words:1 / dart:8 / seed:1 / weight:tf-idf / table:0000000000000007".parse().unwrap();
        let of = |weighting, most| Weigher::with_frequencies(weighting, table(), most);
        for (weigher, table, field) in [
            (of(Weighting::TfIdfSmooth, None), Some(7), "weight"),
            (of(Weighting::TfIdf, Some(MostDocuments::Number(3))), Some(7), "max-df"),
            (of(Weighting::TfIdf, None), Some(8), "table"),
            (of(Weighting::TfIdf, None), None, "table"),
            (of(Weighting::TfIdf, None).ignoring([1]), Some(7), "ignore"),
        ] {
            let error = spec.weighing_sketcher(weigher, table).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::SpecMismatch { field: found, .. } if *found == field),
                "{error}"
            );
        }
        assert!(spec.weighing_sketcher(of(Weighting::TfIdf, None), Some(7)).is_ok());
        let of_sets: Spec = "none / words:1 / minhash:8 / seed:1 / weight:count".parse().unwrap();
        let error = of_sets.weighing_sketcher(Weigher::new(Weighting::Count).unwrap(), None).unwrap_err();
        assert_eq!(error.code(), "unsupported_sketch");
    }

    #[test]
    fn fingerprints_tell_specs_apart() {
        let spec = Spec::default();
        assert_eq!(spec.fingerprint(), spec.to_string().parse::<Spec>().unwrap().fingerprint());
        assert_ne!(spec.fingerprint(), Spec { seed: 2, ..spec }.fingerprint());
    }
}
