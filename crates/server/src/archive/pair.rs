//! Comparison of two documents.

use minwise_index::{CheckOptions, Mark, SharedPassage, Side};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Archive;
use super::check::check_options;
use crate::problem::{Problem, ProblemKind};
use crate::wire::{ByteRange, Title};

/// A document of the archive by its `id`, or a `text` with an optional `title`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PairSideRequest)]
pub(crate) struct SideRequest {
    /// Id of a document of the archive; not together with `text`.
    #[schema(nullable = false)]
    id: Option<String>,
    /// Any text, up to 16 MiB; not together with `id`.
    #[schema(nullable = false)]
    text: Option<String>,
    /// Title of the text, up to 64 KiB; not together with `id`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    title: Title,
}

/// Similarity and shared passages of two documents.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Pair)]
pub(crate) struct PairAnswer {
    /// The left document.
    left: PairSide,
    /// The right document.
    right: PairSide,
    /// Exact Jaccard similarity.
    #[schema(minimum = 0, maximum = 1)]
    similarity: f64,
    /// Exact share of the left document's shingles that the right document has.
    #[schema(minimum = 0, maximum = 1)]
    containment_of_left: f64,
    /// Exact share of the right document's shingles that the left document has.
    #[schema(minimum = 0, maximum = 1)]
    containment_of_right: f64,
    /// All shared passages, in the order of the left document.
    passages: Vec<PairPassage>,
    /// Reason why there are no passages; null if both texts are known.
    #[schema(required = true)]
    no_passages: Option<&'static str>,
    /// Settings of the archive by which texts become shingles and sketches.
    spec: String,
}

/// One of the two compared documents: a document of the archive, or a text that was sent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PairSide {
    /// Id of the document; null for a text that was sent.
    #[schema(required = true)]
    id: Option<String>,
    /// Title of the document, or null.
    #[schema(required = true)]
    title: Option<String>,
    /// Text of the document; null if the archive keeps no texts.
    #[schema(required = true)]
    text: Option<String>,
    /// Beginnings of the pages, slides, chapters or paragraphs of the text, in ascending order.
    marks: Vec<Mark>,
    /// Metadata of the document: any JSON object.
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

/// A passage that two documents share.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PairPassage {
    /// Byte range of the passage in the left text, as `[start, end]`; `end` is exclusive.
    #[schema(value_type = Vec<usize>, min_items = 2, max_items = 2)]
    left: ByteRange,
    /// Byte range of the passage in the right text, as `[start, end]`; `end` is exclusive.
    #[schema(value_type = Vec<usize>, min_items = 2, max_items = 2)]
    right: ByteRange,
    /// Length of the passage in tokens, or in characters if shingles are made of characters.
    tokens: usize,
    /// Whether the passage has another position among the passages of the right text than among the passages of the
    /// left text.
    moved: bool,
}

impl PairSide {
    /// Returns the side in the form that the index takes: the text or, if the archive keeps no texts, the id.
    fn as_side(&self) -> Side<'_> {
        match (&self.text, &self.id) {
            (Some(text), _) => Side::Text(text),
            (None, id) => Side::Id(id.as_deref().unwrap_or_default()),
        }
    }
}

impl Archive {
    /// Returns the size of the text of a side, as `text_size` measures it. The size does not matter for a
    /// side that `pair` will reject.
    pub(crate) fn side_size(&self, side: &SideRequest) -> Result<usize, Problem> {
        match (&side.text, &side.id) {
            (Some(text), _) => Ok(text.len()),
            (None, Some(id)) => self.text_size(id),
            (None, None) => Ok(0),
        }
    }

    /// Compares two documents with the options of a check.
    pub(crate) fn pair(
        &self,
        left: SideRequest,
        right: SideRequest,
        options: &CheckOptions,
    ) -> Result<PairAnswer, Problem> {
        let (left, right) = (self.side(left)?, self.side(right)?);
        for text in [&left.text, &right.text].into_iter().flatten() {
            self.check_length(text)?;
        }
        check_options(options)?;
        let found = self.or_problem(self.index.pair_with(left.as_side(), right.as_side(), options))?;
        let passage = |passage: SharedPassage| {
            let right = passage.document?;
            Some(PairPassage {
                left: (passage.query.start, passage.query.end),
                right: (right.start, right.end),
                tokens: passage.tokens,
                moved: passage.moved,
            })
        };
        let lacks_text = left.text.is_none() || right.text.is_none();
        Ok(PairAnswer {
            left,
            right,
            similarity: found.similarity,
            containment_of_left: found.containment_of_left,
            containment_of_right: found.containment_of_right,
            passages: found.passages.into_iter().filter_map(passage).collect(),
            no_passages: self.index.no_passages().filter(|_| lacks_text),
            spec: self.index.settings().spec.to_string(),
        })
    }

    /// Reads a side of a request.
    fn side(&self, side: SideRequest) -> Result<PairSide, Problem> {
        match side {
            SideRequest { id: Some(id), text: None, title: Title(None) } => {
                let document = self.document(&id)?;
                Ok(PairSide {
                    id: Some(id),
                    title: document.entry.title,
                    marks: document.marks,
                    text: document.text,
                    metadata: document.entry.metadata,
                })
            }
            SideRequest { id: None, text: Some(text), title: Title(title) } => {
                let marks = Mark::pages(&text);
                Ok(PairSide { id: None, title, marks, text: Some(text), metadata: Map::new() })
            }
            _ => Err(Problem::new(
                ProblemKind::BadBody,
                "A side is an `id`, or a `text` with a `title` or without.",
            )),
        }
    }
}
