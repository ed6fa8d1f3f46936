//! The JSON forms of types that have another form elsewhere.

/// A limit on documents as a number: whole for [`MostDocuments::Number`], with a point for [`MostDocuments::Share`].
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
        }
    }

    /// Takes every number, because `CheckOptions::problems` names a wrong value better than a parser does.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<MostDocuments>, D::Error> {
        let number = Option::<Number>::deserialize(from)?;
        Ok(number.map(|number| match (number.as_u64(), number.as_f64()) {
            (Some(number), _) => MostDocuments::Number(number),
            (None, share) => MostDocuments::Share(share.unwrap_or(f64::NAN)),
        }))
    }
}

/// A weighting by its name.
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

/// A range of bytes as `[start, end]`.
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

/// A range of bytes as `[start, end]`, or null.
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

/// Weighting of shingles: by occurrences (`count`), by their share of the document (`tf`), or by this share and by how few documents
/// have the shingle (`tf-idf`; `tf-idf,smooth` has a logarithm that is always positive).
#[cfg(feature = "openapi")]
#[derive(utoipa::ToSchema)]
#[schema(as = Weighting)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) enum WeightingName {
    #[serde(rename = "count")]
    Count,
    #[serde(rename = "tf")]
    Tf,
    #[serde(rename = "tf-idf")]
    TfIdf,
    #[serde(rename = "tf-idf,smooth")]
    TfIdfSmooth,
}
