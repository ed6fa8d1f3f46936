//! The specification of a sketch: everything that two sketches must share to be compared.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind};
use crate::hash::fmix64;
use crate::shingle::{Shingler, Shingling};
use crate::sketch::{Method, Sketcher};
use crate::text::{Normalization, UNICODE};
use crate::weight::{MostDocuments, Weighting};

/// The version of what a spec means. It changes when the same text form begins to give other sketches.
pub const VERSION: u32 = 1;

/// How the shingles of a document are weighed, and which are left out. The text form lists what is not left at its
/// default: `weight:tf-idf / table:0f3a… / max-df:0.1 / ignore:77c1…`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weights {
    /// How they are weighed.
    pub weighting: Weighting,
    /// In how many documents one may stand before it is left out.
    pub most_documents: Option<MostDocuments>,
    /// The fingerprint of the table of document frequencies, if one is needed.
    pub table: Option<u64>,
    /// The fingerprint of the shingles that are left out of every document, if there are any.
    pub ignored: Option<u64>,
}

impl Weights {
    /// Whether a table of document frequencies is needed.
    #[must_use]
    pub fn need_table(&self) -> bool {
        self.weighting.needs_frequencies() || self.most_documents.is_some()
    }

    /// A number that stands for shingles that are left out, whatever their order.
    #[must_use]
    pub fn fingerprint_of_ignored(shingles: &[u64]) -> u64 {
        let mut sorted = shingles.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.iter().fold(fmix64(sorted.len() as u64), |seen, &shingle| fmix64(seen ^ shingle))
    }
}

impl fmt::Display for Weights {
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

impl FromStr for Weights {
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

/// How documents become sketches. The text form is `nfkc+casefold / words:5 / minhash:128 / seed:1`, and behind it that
/// of [`Weights`], if there are any.
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
///     "these were made with different settings: shingle is `words:3` here and `chars:9` there"
/// );
/// # Ok::<(), minwise::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// What is done to the text.
    pub normalization: Normalization,
    /// How it is cut.
    pub shingling: Shingling,
    /// What is kept of it.
    pub method: Method,
    /// Which hash functions are drawn.
    pub seed: u64,
    /// How its shingles are weighed.
    pub weights: Weights,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            normalization: Normalization::default(),
            shingling: Shingling::default(),
            method: Method::default(),
            seed: 1,
            weights: Weights::default(),
        }
    }
}

impl Spec {
    /// The shingler it describes.
    #[must_use]
    pub fn shingler(&self) -> Shingler {
        Shingler::new(self.normalization, self.shingling)
    }

    /// The sketcher it describes.
    pub fn sketcher(&self) -> Result<Arc<dyn Sketcher>, Error> {
        self.method.build(self.seed)
    }

    /// A number that stands for the spec, its version and its Unicode data.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        xxh3_64(format!("{self} / version:{VERSION} / unicode:{UNICODE}").as_bytes())
    }

    /// Says whether what was made with the two specs can be compared; if not, names the first field that differs.
    pub fn check(&self, other: &Self) -> Result<(), Error> {
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
        // A sketch's own form may have a `/` in it; it goes up to the seed.
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
    fn fingerprints_tell_specs_apart() {
        let spec = Spec::default();
        assert_eq!(spec.fingerprint(), spec.to_string().parse::<Spec>().unwrap().fingerprint());
        assert_ne!(spec.fingerprint(), Spec { seed: 2, ..spec }.fingerprint());
    }
}
