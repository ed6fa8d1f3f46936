//! The specification of a sketch: everything that two sketches must share to be compared.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind};
use crate::shingle::{Shingler, Shingling};
use crate::sketch::{Method, Sketcher};
use crate::text::{Normalization, UNICODE};

/// The version of what a spec means. It changes when the same text form begins to give other sketches.
pub const VERSION: u32 = 1;

/// How documents become sketches. The text form is `nfkc+casefold / words:5 / minhash:128 / seed:1`.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// What is done to the text.
    pub normalization: Normalization,
    /// How it is cut.
    pub shingling: Shingling,
    /// What is kept of it.
    pub method: Method,
    /// Which hash functions are drawn.
    pub seed: u64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            normalization: Normalization::default(),
            shingling: Shingling::default(),
            method: Method::default(),
            seed: 1,
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

    fn fields(&self) -> [(&'static str, String); 4] {
        [
            ("normalize", self.normalization.to_string()),
            ("shingle", self.shingling.to_string()),
            ("sketch", self.method.to_string()),
            ("seed", self.seed.to_string()),
        ]
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {} / {} / seed:{}", self.normalization, self.shingling, self.method, self.seed)
    }
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong =
            || Error::parse("spec", text, "the form `nfkc+casefold / words:5 / minhash:128 / seed:1`");
        // A sketch's own form may have a `/` in it, so the other parts are taken from both ends.
        let mut parts = text.splitn(3, '/').map(str::trim);
        let (Some(normalization), Some(shingling), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let (method, seed) = rest.rsplit_once('/').map(|(a, b)| (a.trim(), b.trim())).ok_or_else(wrong)?;
        Ok(Self {
            normalization: normalization.parse()?,
            shingling: shingling.parse()?,
            method: method.parse()?,
            seed: seed.strip_prefix("seed:").and_then(|seed| seed.parse().ok()).ok_or_else(wrong)?,
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
