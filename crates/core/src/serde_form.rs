//! The serialised forms of values, with the feature `serde`.
//!
//! | value | form |
//! |---|---|
//! | [`Spec`], its parts, [`Filter`] and other settings | their text form |
//! | [`Estimate`](crate::estimate::Estimate) and other results | a structure with the names of their fields |
//! | [`Sketch`], [`Lsh`](crate::Lsh) | a structure with a version; another version is refused |

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cluster::Clustering;
use crate::error::Error;
use crate::filter::Filter;
use crate::shingle::Shingling;
use crate::sketch::{Method, WeightedMethod};
use crate::sketch_object::Sketch;
use crate::spec::{Spec, VERSION, WeightSpec};
use crate::text::{Normalization, UNICODE};
use crate::verify::Measure;
use crate::weight::{MostDocuments, Weighting};

macro_rules! by_text_form {
    ($($type:ty),* $(,)?) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
                }
            }
        )*
    };
}

by_text_form!(
    Clustering,
    Filter,
    Measure,
    Method,
    MostDocuments,
    Normalization,
    Shingling,
    Spec,
    WeightedMethod,
    Weighting,
    WeightSpec,
);

/// The versions that are stored with an object.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Versions<'a> {
    /// Version of the serialised form of the object.
    form: u32,
    spec_version: u32,
    unicode: Cow<'a, str>,
}

impl Versions<'_> {
    pub(crate) fn of(form: u32) -> Self {
        Self { form, spec_version: VERSION, unicode: UNICODE.into() }
    }

    /// Returns an error if a stored version is not the one of this crate.
    pub(crate) fn check(&self, what: &'static str, form: u32) -> Result<(), Error> {
        let numbers = [
            ("the version of the form", form, self.form),
            ("the version of specs", VERSION, self.spec_version),
        ];
        for (name, expected, found) in numbers {
            if found != expected {
                return Err(Error::decode(what, format!("{expected} as {name}"), found.to_string()));
            }
        }
        if self.unicode != UNICODE {
            let found = format!("Unicode `{}`", self.unicode.escape_debug());
            return Err(Error::decode(what, format!("Unicode `{UNICODE}`"), found));
        }
        Ok(())
    }
}

/// Version of the form of a sketch.
const SKETCH_FORM: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename = "Sketch")]
struct StoredSketch<'a> {
    versions: Versions<'a>,
    spec: Spec,
    has_shingles: bool,
    words: Cow<'a, [u32]>,
}

impl Serialize for Sketch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = StoredSketch {
            versions: Versions::of(SKETCH_FORM),
            spec: *self.spec(),
            has_shingles: !self.is_empty(),
            words: self.words().into(),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sketch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = StoredSketch::deserialize(deserializer)?;
        let read = || {
            stored.versions.check("a stored sketch", SKETCH_FORM)?;
            Self::of_stored(stored.spec, stored.words.into_owned(), stored.has_shingles)
        };
        read().map_err(D::Error::custom)
    }
}
