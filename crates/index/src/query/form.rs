//! JSON forms of types that have other text forms elsewhere.

/// JSON form of a limit on documents: an integer for [`MostDocuments::Number`], a number with a decimal point
/// for [`MostDocuments::Share`].
///
/// [`MostDocuments::Number`]: minwise::weight::MostDocuments::Number
/// [`MostDocuments::Share`]: minwise::weight::MostDocuments::Share
pub(super) mod most_documents {
    use minwise::weight::MostDocuments;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Number;

    pub(crate) fn serialize<S: Serializer>(most: &Option<MostDocuments>, to: S) -> Result<S::Ok, S::Error> {
        match most {
            None => to.serialize_none(),
            Some(MostDocuments::Share(share)) => share.serialize(to),
            Some(MostDocuments::Number(number)) => number.serialize(to),
            Some(other) => other.to_string().serialize(to),
        }
    }

    // `deserialize` accepts every number, because `CheckOptions::problems` describes a wrong value better
    // than a parser does.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<MostDocuments>, D::Error> {
        let number = Option::<Number>::deserialize(from)?;
        Ok(number.map(|number| match (number.as_u64(), number.as_f64()) {
            (Some(number), _) => MostDocuments::Number(number),
            // JSON Schema counts 2.0 as an integer, so 2.0 is a number of documents. 1.0 stays a share,
            // because programs write the share of all documents in this form.
            (None, Some(share)) if share > 1.0 && share <= WHOLE && share.fract() == 0.0 => {
                MostDocuments::Number(share as u64)
            }
            (None, share) => MostDocuments::Share(share.unwrap_or(f64::NAN)),
        }))
    }

    /// Largest number up to which `f64` represents every integer: 2⁵³.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
}

/// Value of the option `passage` with which a passage alone makes no match.
pub(super) const NO_PASSAGE: usize = usize::MAX;

/// JSON form of the length of a passage: a number, or `off` for [`NO_PASSAGE`].
pub(super) mod passage {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    use super::NO_PASSAGE;

    pub(crate) fn serialize<S: Serializer>(passage: &Option<usize>, to: S) -> Result<S::Ok, S::Error> {
        match passage {
            Some(NO_PASSAGE) => "off".serialize(to),
            tokens => tokens.serialize(to),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
        let wrong = |value: &Value| {
            D::Error::custom(format!("`passage` is `{value}`, expected a whole number, `off` or null"))
        };
        match Value::deserialize(from)? {
            Value::Null => Ok(None),
            Value::String(word) if word == "off" => Ok(Some(NO_PASSAGE)),
            value => {
                let tokens = value.as_u64().and_then(|tokens| usize::try_from(tokens).ok());
                tokens.map(Some).ok_or_else(|| wrong(&value))
            }
        }
    }
}

/// JSON form of a weighting: its name.
pub(super) mod weighting {
    use minwise::weight::Weighting;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(weighting: &Option<Weighting>, to: S) -> Result<S::Ok, S::Error> {
        weighting.map(|weighting| weighting.to_string()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Weighting>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        name.map(|name| name.parse().map_err(D::Error::custom)).transpose()
    }
}

/// JSON form of a range of bytes: `[start, end]`.
pub(super) mod range {
    use std::ops::Range;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(range: &Range<usize>, to: S) -> Result<S::Ok, S::Error> {
        [range.start, range.end].serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Range<usize>, D::Error> {
        <[usize; 2]>::deserialize(from).map(|[start, end]| start..end)
    }
}

/// JSON form of a range of bytes that may be missing: `[start, end]`, or null.
pub(super) mod optional_range {
    use std::ops::Range;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(range: &Option<Range<usize>>, to: S) -> Result<S::Ok, S::Error> {
        range.as_ref().map(|range| [range.start, range.end]).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Range<usize>>, D::Error> {
        Ok(Option::<[usize; 2]>::deserialize(from)?.map(|[start, end]| start..end))
    }
}

/// Minimum length of a passage: in tokens, or `off`.
#[cfg(feature = "openapi")]
pub(crate) struct PassageLength;

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for PassageLength {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Type};

        let tokens = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0_u64));
        let off = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["off"]));
        let description = "Minimum length of a passage: a number of tokens, or `off`.";
        AnyOfBuilder::new().item(tokens).item(off).description(Some(description)).into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for PassageLength {}

/// Maximum number of documents that have a shingle: a number of documents, or a share of all.
#[cfg(feature = "openapi")]
pub(crate) struct MaxDf;

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for MaxDf {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Type};

        let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1_u64));
        let share = ObjectBuilder::new()
            .schema_type(Type::Number)
            .exclusive_minimum(Some(0_u64))
            .maximum(Some(1_u64));
        let description =
            "A whole number of documents from 1, or a share of all documents above 0 and at most 1.0.";
        AnyOfBuilder::new().item(number).item(share).description(Some(description)).into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for MaxDf {}

/// Weighting of shingles: none (`none`), by occurrences (`count`), by their share of the document (`tf`), or by this share and by how few documents
/// have the shingle (`tf-idf`; `tf-idf,smooth` has a logarithm that is always positive).
#[cfg(feature = "openapi")]
#[derive(utoipa::ToSchema)]
#[schema(as = Weighting)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) enum WeightingName {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "count")]
    Count,
    #[serde(rename = "tf")]
    Tf,
    #[serde(rename = "tf-idf")]
    TfIdf,
    #[serde(rename = "tf-idf,smooth")]
    TfIdfSmooth,
}
