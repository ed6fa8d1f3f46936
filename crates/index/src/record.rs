//! The record of a document: its id, title, metadata, marks and counts.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::setters::setters;

/// Beginning of a page, slide, chapter or paragraph in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Mark {
    /// Byte offset in the text.
    pub offset: usize,
    /// The page, slide, chapter or paragraph that begins at the offset.
    pub place: MarkedPlace,
}

/// Maximum number of pages of a text. A text with more form feeds uses them for another purpose and gets no
/// marks.
const MAX_PAGES: usize = 20_000;

impl Mark {
    /// Creates a mark at byte `offset` of a text.
    #[must_use]
    pub fn new(offset: usize, place: MarkedPlace) -> Self {
        Self { offset, place }
    }

    /// Returns one mark per page of a text whose pages end with form feeds.
    #[must_use]
    pub fn pages(text: &str) -> Vec<Self> {
        let ends = || text.match_indices('\x0c').map(|(at, _)| at + 1);
        if !(1..=MAX_PAGES).contains(&ends().take(MAX_PAGES + 1).count()) {
            return vec![];
        }
        let begins = std::iter::once(0).chain(ends()).filter(|&offset| offset < text.len());
        begins.zip(1..).map(|(offset, page)| Self { offset, place: MarkedPlace::Page(page) }).collect()
    }
}

/// Page, paragraph, slide or chapter of the original document. In JSON: an object with one member, such as
/// `{"page": 3}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MarkedPlace {
    /// Number of a page, from 1.
    Page(u32),
    /// Number of a paragraph, from 1.
    Paragraph(u32),
    /// Number of a slide, from 1.
    Slide(u32),
    /// Number of a chapter, from 1.
    Chapter(u32),
}

/// A document to add to an index. [`new`](Self::new) creates a document, and setters fill in its other
/// fields.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct NewDocument {
    /// The id of the document: 1 to 1024 bytes without control characters. A document of the index with the
    /// same id is replaced.
    pub id: String,
    /// The text of the document, at most 1 GiB.
    pub text: String,
    /// The title of the document. Default: none.
    pub title: Option<String>,
    /// Further fields of the document, for people and for
    /// [`CheckOptions::exclude`](crate::CheckOptions::exclude). Default: none.
    pub metadata: Map<String, Value>,
    /// Marks where pages, slides, chapters or paragraphs begin in the text, in ascending order. Default:
    /// none.
    pub marks: Vec<Mark>,
}

setters!(NewDocument {
    /// Further fields of the document, for people and for
    /// [`CheckOptions::exclude`](crate::CheckOptions::exclude). Default: none.
    metadata: Map<String, Value>,
    /// Marks where pages, slides, chapters or paragraphs begin in the text, in ascending order. Default:
    /// none.
    marks: Vec<Mark>,
    ;
    /// The id of the document: 1 to 1024 bytes without control characters. A document of the index with the
    /// same id is replaced.
    id: String,
    /// The text of the document, at most 1 GiB.
    text: String,
    ;
    /// The title of the document. Default: none.
    title: Option<String>,
    ;
});

impl NewDocument {
    /// Creates a document with an id and a text.
    ///
    /// ```
    /// use minwise_index::NewDocument;
    ///
    /// let mut document = NewDocument::new("2019-17", "The applicants ask for a grant.").title("Reed warblers");
    /// document.metadata.insert("year".to_owned(), 2019.into());
    /// ```
    #[must_use]
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), ..Self::default() }
    }
}

/// A document of an index, without its text.
// `minwise index list --format jsonl` and `GET /documents` of the server write this type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ListedDocument))]
#[non_exhaustive]
pub struct Entry {
    /// Id of the document.
    pub id: String,
    /// Title of the document, or null.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub title: Option<String>,
    /// Metadata of the document: any JSON object.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub metadata: Map<String, Value>,
    /// Time at which the document was added, in UTC. It is a number of seconds since 1970 in Rust, and has the form of RFC 3339 in
    /// JSON.
    #[serde(serialize_with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub added: u64,
    /// Number of bytes of the text.
    pub bytes: u64,
    /// Number of characters of the text.
    pub characters: u64,
    /// Number of tokens of the text, or of characters if shingles are made of characters.
    pub tokens: u32,
    /// Number of distinct shingles of the text.
    pub shingles: u32,
}

/// Serialises seconds since 1970 in the form of RFC 3339.
fn rfc3339<S: Serializer>(seconds: &u64, to: S) -> Result<S::Ok, S::Error> {
    minwise::calendar::rfc3339(*seconds).serialize(to)
}

/// The row of a document in the keyspace `records`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DocumentRow {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    /// Metadata as a JSON object; empty for an object without fields.
    pub(crate) metadata: String,
    pub(crate) added: u64,
    pub(crate) bytes: u64,
    pub(crate) characters: u64,
    pub(crate) units: u32,
    pub(crate) shingles: u32,
    /// Hash of the text.
    pub(crate) content: [u8; 8],
    /// Equality key of the normalised text of a document without shingles; `None` for other documents.
    pub(crate) wordless: Option<u128>,
    /// Sums of the digests of the document's postings in `bands` and in `fingerprints`.
    pub(crate) postings: [[u8; 8]; 2],
    pub(crate) marks: Vec<Mark>,
}

impl DocumentRow {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Encoding cannot fail, because all fields are numbers, strings and sequences of known length.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    pub(crate) fn metadata(&self) -> Option<Map<String, Value>> {
        if self.metadata.is_empty() { Some(Map::new()) } else { serde_json::from_str(&self.metadata).ok() }
    }

    /// Returns the document without its text, or `None` if its metadata are damaged.
    pub(crate) fn entry(&self) -> Option<Entry> {
        Some(Entry {
            id: self.id.clone(),
            title: self.title.clone(),
            metadata: self.metadata()?,
            added: self.added,
            bytes: self.bytes,
            characters: self.characters,
            tokens: self.units,
            shingles: self.shingles,
        })
    }
}

pub(crate) fn metadata_text(metadata: &Map<String, Value>) -> String {
    if metadata.is_empty() { String::new() } else { Value::from(metadata.clone()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_end_with_form_feeds() {
        let numbered = |text: &str| Mark::pages(text).iter().map(|mark| mark.offset).collect::<Vec<_>>();
        assert_eq!(numbered(""), [0; 0]);
        assert_eq!(numbered("one page"), [0; 0]);
        assert_eq!(numbered("a\x0cb\x0c"), [0, 2]);
        assert_eq!(numbered("中\x0c\x0cb"), [0, 4, 5]);
        assert_eq!(numbered("\x0c"), [0]);
        assert_eq!(numbered(&"\x0c".repeat(MAX_PAGES)).len(), MAX_PAGES);
        assert_eq!(numbered(&"\x0c".repeat(MAX_PAGES + 1)), [0; 0]);
    }
}
