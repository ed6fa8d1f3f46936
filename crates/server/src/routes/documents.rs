//! The documents of the archive: listing them, and adding one or many.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::{Listing, Mark, NewDocument, Watch};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::parameters::Parameters;
use super::sent;
use crate::adding::{AddedSent, Item};
use crate::jobs::{JobKind, Jobs};
use crate::problem::{Kind, Problem};
use crate::shutdown::Phase;
use crate::state::{Shared, cores};
use crate::uploads::{Content, Received, file_limits};
use crate::wire::DocumentSent;

/// Documents of a page if nothing else is asked for, and at most.
const LIMIT: usize = 50;
const MOST: usize = 500;

/// Documents, bytes of them, and files that are added while the client waits; more become a job.
const FEW_DOCUMENTS: usize = 100;
const FEW_BYTES: usize = 8 << 20;
const FEW_FILES: usize = 4;

/// Which documents to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Looked for in ids, titles and the values of metadata, whatever the case.
    #[serde(default)]
    search: String,
    /// The `next` of the page before.
    #[serde(default)]
    after: String,
    /// How many; 50 without it, 500 at most.
    limit: Option<usize>,
}

/// Some documents.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PageSent {
    documents: Vec<DocumentSent>,
    /// The `after` of the next page, if there is one.
    next: Option<String>,
}

/// List documents, the newest first.
#[utoipa::path(get, path = "/documents", tag = "documents", params(Wanted),
    responses((status = 200, body = PageSent), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn list(
    At(state): At<Shared>,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Response, Problem> {
    let after = match wanted.after.as_str() {
        "" => None,
        after => {
            Some(after.parse().map_err(|_| Problem::new(Kind::BadParameter, "`after` is not a `next`"))?)
        }
    };
    let limit = wanted.limit.unwrap_or(LIMIT).clamp(1, MOST);
    state
        .run(move |state| {
            let listing = Listing { search: &wanted.search, after, limit, newest_first: true, looks: None };
            let page = state.told(state.index.list(&listing))?;
            let documents = page.entries.into_iter().map(DocumentSent::from).collect();
            let next = page.next.map(|number| number.to_string());
            sent(StatusCode::OK, &PageSent { documents, next })
        })
        .await
}

/// Documents to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct New {
    documents: Vec<NewSent>,
}

/// A document to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSent {
    /// Up to 1024 bytes without control characters, neither empty nor `.` nor `..`.
    id: String,
    /// Pages of it may end with form feeds.
    text: String,
    title: Option<String>,
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

impl From<NewSent> for NewDocument {
    fn from(new: NewSent) -> Self {
        let marks = Mark::pages(&new.text);
        Self { id: new.id, text: new.text, title: new.title, metadata: new.metadata, marks }
    }
}

/// Files to add, under their names.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) struct NewFiles {
    #[schema(format = Binary)]
    file: Vec<String>,
}

/// A job that was begun.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Begun {
    /// Its id.
    pub(crate) job: String,
}

/// Add documents, or replace those with the same ids. Many of them become a job.
#[utoipa::path(post, path = "/documents", tag = "documents",
    request_body(content((New = "application/json"), (NewFiles = "multipart/form-data"))),
    responses((status = 201, description = "They are in the archive", body = AddedSent),
        (status = 202, description = "A job adds them", body = Begun),
        (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn add(At(state): At<Shared>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    let items = state
        .run(move |_| {
            Ok(match content {
                Content::Json(_) => {
                    let new: New = content.value()?;
                    new.documents.into_iter().map(|new| Item::Document(new.into())).collect::<Vec<_>>()
                }
                Content::Files { files, .. } => files.into_iter().map(Item::File).collect(),
            })
        })
        .await?;
    let files = items.iter().filter(|item| matches!(item, Item::File(_))).count();
    let bytes: usize = items.iter().map(Item::size_bytes).sum();
    let limits = file_limits(state.limits.body_bytes, state.limits.file_time);
    if items.len() <= FEW_DOCUMENTS && files <= FEW_FILES && bytes <= FEW_BYTES {
        let work = move |state: &crate::state::State| {
            let _held = held;
            sent(StatusCode::CREATED, &state.add(items, &limits, 1)?)
        };
        return if files > 0 { state.run_reading(work).await } else { state.run(work).await };
    }
    let total = items.len() as u64;
    let job = Jobs::begin(&state, JobKind::Add, state.end.until(Phase::Over), move |state, job| {
        let _held = held;
        job.progress(0, total);
        state
            .add_many(items, &limits, cores(), |done| {
                job.progress(done as u64, total);
                if job.interrupted() {
                    let detail = format!("{done} of {total} documents were added or rejected before.");
                    return Err(Problem::new(Kind::Stopping, detail));
                }
                Ok(())
            })
            .inspect(|_| job.progress(total, total))
    })?;
    sent(StatusCode::ACCEPTED, &Begun { job })
}
