//! What several calls send or take, as `API.md` has it.

use minwise_corpus::MarkPlace;
use minwise_index::{Mark, MarkedPlace};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Bytes of a text, from the first up to the last, which is not one of them.
pub(crate) type Bytes = (usize, usize);

/// Bytes of a title, and of the metadata of a document as JSON.
pub(crate) const MOST_METADATA: usize = 64 << 10;

/// Metadata that is sent. It is measured before it is read: a list of empty lists takes many times its bytes.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Metadata(pub(crate) Map<String, Value>);

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(from)?.get();
        if json.len() > MOST_METADATA {
            return Err(D::Error::custom(format!("metadata of more than {MOST_METADATA} bytes")));
        }
        serde_json::from_str(json).map(Self).map_err(D::Error::custom)
    }
}

/// A title that is sent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Title(pub(crate) Option<String>);

impl<'de> Deserialize<'de> for Title {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let title = Option::<String>::deserialize(from)?;
        if title.as_ref().is_some_and(|title| title.len() > MOST_METADATA) {
            return Err(D::Error::custom(format!("a title of more than {MOST_METADATA} bytes")));
        }
        Ok(Self(title))
    }
}

/// The marks of a file, as the archive keeps them; one that is not known here is left out.
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
