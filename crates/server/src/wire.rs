//! Values of requests and answers that several routes use.

use minwise_corpus::MarkPlace;
use minwise_index::{Mark, MarkedPlace};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A byte range of a text: its start, and its end, exclusive.
pub(crate) type ByteRange = (usize, usize);

/// Maximum number of bytes of a title, and of the metadata of a document as JSON.
pub(crate) const METADATA_BYTES: usize = 64 << 10;

/// Metadata in a request.
// The JSON is measured before it is parsed, because a list of empty lists takes many times the size of its
// JSON in memory.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Metadata(pub(crate) Map<String, Value>);

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(from)?.get();
        if json.len() > METADATA_BYTES {
            return Err(D::Error::custom(format!("metadata of more than {METADATA_BYTES} bytes")));
        }
        serde_json::from_str(json).map(Self).map_err(D::Error::custom)
    }
}

/// A title in a request.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Title(pub(crate) Option<String>);

impl<'de> Deserialize<'de> for Title {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let title = Option::<String>::deserialize(from)?;
        if title.as_ref().is_some_and(|title| title.len() > METADATA_BYTES) {
            return Err(D::Error::custom(format!("a title of more than {METADATA_BYTES} bytes")));
        }
        Ok(Self(title))
    }
}

/// Converts the marks of a file to marks of the archive. Kinds of marks that the archive does not have are
/// dropped.
pub(crate) fn marks_of_file(marks: &[minwise_corpus::ExtractedMark]) -> Vec<Mark> {
    let place = |place| match place {
        MarkPlace::Page(number) => Some(MarkedPlace::Page(number)),
        MarkPlace::Slide(number) => Some(MarkedPlace::Slide(number)),
        MarkPlace::Chapter(number) => Some(MarkedPlace::Chapter(number)),
        MarkPlace::Paragraph(number) => Some(MarkedPlace::Paragraph(number)),
        _ => None,
    };
    marks.iter().filter_map(|mark| Some(Mark::new(mark.offset, place(mark.place)?))).collect()
}
