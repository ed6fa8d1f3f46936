//! Two documents side by side.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::Mark;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::sent;
use crate::problem::{Kind, Problem};
use crate::state::{Shared, State};
use crate::uploads::Received;
use crate::wire::{self, Bytes, MarkSent, Title};

/// Two documents.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Two {
    left: SideAsked,
    right: SideAsked,
}

/// A document of the archive by its `id`, or any `text`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SideAsked {
    id: Option<String>,
    text: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    title: Title,
}

/// What two documents share.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PairSent {
    left: SideSent,
    right: SideSent,
    /// The exact Jaccard similarity.
    similarity: f64,
    /// The exact share of the left one that is in the right one,
    containment_of_left: f64,
    /// and the other way round.
    containment_of_right: f64,
    /// In the order of the left one.
    passages: Vec<TwinPassage>,
    /// Why there are no passages, if there cannot be any.
    no_passages: Option<&'static str>,
}

/// One of the two.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SideSent {
    /// None of a text that was sent.
    id: Option<String>,
    title: Option<String>,
    /// None where the archive keeps no texts.
    text: Option<String>,
    marks: Vec<MarkSent>,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

/// A passage that both have.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TwinPassage {
    #[schema(value_type = [usize; 2])]
    left: Bytes,
    #[schema(value_type = [usize; 2])]
    right: Bytes,
    tokens: usize,
    /// It stands elsewhere in the order of the passages.
    moved: bool,
}

impl State {
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
                    marks: wire::marks(&document.marks),
                    text: document.text,
                    metadata: document.entry.metadata,
                })
            }
            SideAsked { id: None, text: Some(text), title: Title(title) } => {
                let marks = wire::marks(&Mark::pages(&text));
                Ok(SideSent { id: None, title, marks, text: Some(text), metadata: Map::new() })
            }
            _ => {
                Err(Problem::new(Kind::BadBody, "A side is an `id`, or a `text` with a `title` or without."))
            }
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

/// Show what two documents share.
#[utoipa::path(post, path = "/pair", tag = "check", request_body = Two,
    responses((status = 200, body = PairSent), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn pair(At(state): At<Shared>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    let (held, Two { left, right }, bytes) = state
        .run(move |state| {
            let two: Two = content.value()?;
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
            let found = state.told(state.index.pair(looked_at(&left), looked_at(&right)))?;
            let passage = |passage: minwise_index::SharedPassage| {
                let right = passage.document?;
                Some(TwinPassage {
                    left: (passage.query.start, passage.query.end),
                    right: (right.start, right.end),
                    tokens: passage.units,
                    moved: passage.moved,
                })
            };
            let passages = found.passages.into_iter().filter_map(passage).collect();
            let is_without = left.text.is_none() || right.text.is_none();
            let no_passages = state.no_passages().filter(|_| is_without);
            sent(
                StatusCode::OK,
                &PairSent {
                    left,
                    right,
                    similarity: found.similarity,
                    containment_of_left: found.left_in_right,
                    containment_of_right: found.right_in_left,
                    passages,
                    no_passages,
                },
            )
        })
        .await
}
