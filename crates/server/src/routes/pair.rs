//! Two documents side by side.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::Mark;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::check::{Submission, SubmissionOptions};
use super::sent;
use crate::problem::{Problem, ProblemKind};
use crate::state::{ServerState, SharedState};
use crate::uploads::Received;
use crate::wire::{Bytes, Title};

/// Two documents to compare.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PairRequest)]
pub(crate) struct Two {
    /// The left document.
    left: SideAsked,
    /// The right document.
    right: SideAsked,
    /// Options of a check. Text that these options ignore is ignored here too, so that the answer has the numbers and all passages
    /// that a check of the left text finds in the right document. Options that only choose matches have no effect.
    #[serde(default)]
    #[schema(value_type = SubmissionOptions, required = false)]
    options: Submission,
}

/// A document of the archive by its `id`, or a `text` with an optional `title`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PairSideRequest)]
pub(crate) struct SideAsked {
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
pub(crate) struct PairSent {
    /// The left document.
    left: SideSent,
    /// The right document.
    right: SideSent,
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
    passages: Vec<TwinPassage>,
    /// Why there are no passages; null if both texts are known.
    #[schema(required = true)]
    no_passages: Option<&'static str>,
    /// Settings of the archive by which texts become shingles and sketches.
    spec: String,
}

/// One of two documents.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PairSide)]
pub(crate) struct SideSent {
    /// Id of the document; null for a text that was sent.
    #[schema(required = true)]
    id: Option<String>,
    /// Title of the document, or null.
    #[schema(required = true)]
    title: Option<String>,
    /// Text of the document; null if the archive keeps no texts.
    #[schema(required = true)]
    text: Option<String>,
    /// Where the pages, slides, chapters or paragraphs of the text begin, in ascending order.
    marks: Vec<Mark>,
    /// Metadata of the document: any JSON object.
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

/// A passage that two documents share.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PairPassage)]
pub(crate) struct TwinPassage {
    /// Byte range of the passage in the left text, as `[start, end]`; `end` is exclusive.
    #[schema(value_type = Vec<usize>, min_items = 2, max_items = 2)]
    left: Bytes,
    /// Byte range of the passage in the right text, as `[start, end]`; `end` is exclusive.
    #[schema(value_type = Vec<usize>, min_items = 2, max_items = 2)]
    right: Bytes,
    /// Length of the passage in tokens; in characters, if shingles are made of characters.
    tokens: usize,
    /// Whether the passage stands in another place among the passages of the right text than among those of the left text.
    moved: bool,
}

impl ServerState {
    /// How long what is asked for is.
    fn length_of(&self, asked: &SideAsked) -> Result<usize, Problem> {
        match (&asked.text, &asked.id) {
            (Some(text), _) => Ok(text.len()),
            (None, Some(id)) => self.length(id),
            (None, None) => Ok(0),
        }
    }

    fn side(&self, asked: SideAsked) -> Result<SideSent, Problem> {
        match asked {
            SideAsked { id: Some(id), text: None, title: Title(None) } => {
                let document = self.document(&id)?;
                Ok(SideSent {
                    id: Some(id),
                    title: document.entry.title,
                    marks: document.marks,
                    text: document.text,
                    metadata: document.entry.metadata,
                })
            }
            SideAsked { id: None, text: Some(text), title: Title(title) } => {
                let marks = Mark::pages(&text);
                Ok(SideSent { id: None, title, marks, text: Some(text), metadata: Map::new() })
            }
            _ => Err(Problem::new(
                ProblemKind::BadBody,
                "A side is an `id`, or a `text` with a `title` or without.",
            )),
        }
    }
}

/// What the index looks at: a text, or where there is none the document.
fn looked_at(side: &SideSent) -> minwise_index::Side<'_> {
    match (&side.text, &side.id) {
        (Some(text), _) => minwise_index::Side::Text(text),
        (None, id) => minwise_index::Side::Id(id.as_deref().unwrap_or_default()),
    }
}

/// Compare two documents.
///
/// A side is a document of the archive, or a text. The answer has all passages that the two share.
#[utoipa::path(post, path = "/pair", operation_id = "compare_pair", tag = "check",
    request_body(description = "The two documents", content = Two),
    responses((status = 200, description = "Similarity and shared passages", body = PairSent)))]
pub(crate) async fn pair(At(state): At<SharedState>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    let (held, Two { left, right, options }, bytes) = state
        .run(move |state| {
            let two: Two = content.value()?;
            two.options.check_without_text()?;
            let bytes = state.length_of(&two.left)?.saturating_add(state.length_of(&two.right)?);
            Ok((held, two, bytes))
        })
        .await?;
    state
        .run_watched(bytes, move |state, _| {
            let _held = held;
            let (left, right) = (state.side(left)?, state.side(right)?);
            for text in [&left.text, &right.text].into_iter().flatten() {
                state.check_length(text)?;
            }
            let options = options.checked()?;
            let found = state.told(state.index.pair_with(looked_at(&left), looked_at(&right), options))?;
            let passage = |passage: minwise_index::SharedPassage| {
                let right = passage.document?;
                Some(TwinPassage {
                    left: (passage.query.start, passage.query.end),
                    right: (right.start, right.end),
                    tokens: passage.tokens,
                    moved: passage.moved,
                })
            };
            let passages = found.passages.into_iter().filter_map(passage).collect();
            let is_without = left.text.is_none() || right.text.is_none();
            let no_passages = state.index.no_passages().filter(|_| is_without);
            sent(
                StatusCode::OK,
                &PairSent {
                    left,
                    right,
                    similarity: found.similarity,
                    containment_of_left: found.containment_of_left,
                    containment_of_right: found.containment_of_right,
                    passages,
                    no_passages,
                    spec: state.index.settings().spec.to_string(),
                },
            )
        })
        .await
}
