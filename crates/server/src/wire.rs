//! What several calls send or take, as `API.md` has it.

use minwise_corpus::MarkPlace;
use minwise_index::{Entry, Mark, MarkedPlace};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::date;

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
    marks.iter().filter_map(|mark| Some(Mark { offset: mark.offset, place: place(mark.place)? })).collect()
}

/// A document of the archive, without its text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedDocument)]
pub(crate) struct DocumentSent {
    /// Id of the document.
    id: String,
    /// Title of the document, or null.
    #[schema(required = true)]
    title: Option<String>,
    /// Metadata of the document: any JSON object.
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    /// Characters of the text.
    characters: u64,
    /// Distinct shingles of the text.
    shingles: u32,
    /// Time at which the document was added, in UTC.
    #[schema(format = DateTime)]
    added: String,
}

impl From<Entry> for DocumentSent {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id,
            title: entry.title,
            metadata: entry.metadata,
            characters: entry.characters,
            shingles: entry.shingles,
            added: date::rfc3339(entry.added),
        }
    }
}

/// A document of the archive, with its text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Document)]
pub(crate) struct WholeDocument {
    #[serde(flatten)]
    document: DocumentSent,
    /// Text of the document; null if the archive keeps no texts.
    #[schema(required = true)]
    text: Option<String>,
    /// Where the pages, slides, chapters or paragraphs of the text begin, in ascending order.
    marks: Vec<Mark>,
}

impl From<minwise_index::StoredDocument> for WholeDocument {
    fn from(document: minwise_index::StoredDocument) -> Self {
        let minwise_index::StoredDocument { entry, text, marks, .. } = document;
        Self { document: entry.into(), text, marks }
    }
}
