//! The decision about a record, in the form that an output states.
//!
//! In an output, a JSON line gets a member called `minwise`, and a table or a header gets a column; nothing else of a
//! record changes.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::error::{Error, ErrorKind, Result};

/// Name of the member or column in which an output states the decision about a record.
pub(crate) const MEMBER: &str = "minwise";

/// Decision about a document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Annotation<'a> {
    /// Id of the keeper of the document's cluster.
    pub cluster: Cow<'a, str>,
    /// Similarity of the document to the keeper; `None` if the document is the keeper.
    pub similarity: Option<f64>,
}

impl Serialize for Annotation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Annotation", 3)?;
        members.serialize_field("cluster", &self.cluster)?;
        members.serialize_field("duplicate_of", &self.similarity.map(|_| &self.cluster))?;
        members.serialize_field("similarity", &self.similarity)?;
        members.end()
    }
}

impl<'a> Annotation<'a> {
    /// Makes the annotation of a document of this cluster. `similarity` is the similarity of the document to the
    /// keeper; `None` if the document is the keeper.
    pub fn new(cluster: impl Into<Cow<'a, str>>, similarity: Option<f64>) -> Self {
        Self { cluster: cluster.into(), similarity }
    }

    /// Serialises the annotation as the value of the member [`MEMBER`] of a JSON line.
    pub(crate) fn to_json(&self) -> Result<Box<RawValue>> {
        to_raw_value(self).map_err(|error| Error::new(ErrorKind::NotAnObject { message: error.to_string() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_is_an_object() {
        let kept = Annotation { cluster: "a".into(), similarity: None };
        assert_eq!(kept.to_json().unwrap().get(), r#"{"cluster":"a","duplicate_of":null,"similarity":null}"#);
        let removed = Annotation { cluster: "a".into(), similarity: Some(0.5) };
        assert_eq!(
            removed.to_json().unwrap().get(),
            r#"{"cluster":"a","duplicate_of":"a","similarity":0.5}"#
        );
    }
}
