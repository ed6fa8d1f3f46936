//! The documents of the archive: listing them, and adding one or many.

use std::collections::HashMap;

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise::Observer;
use minwise_index::{Listing, Mark, NewDocument};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::parameters::Parameters;
use super::sent;
use crate::adding::{AddedSent, BATCH_BYTES, Item};
use crate::jobs::{Ended, JobKind, Jobs};
use crate::problem::{Kind, Problem};
use crate::shutdown::Phase;
use crate::state::{Shared, State, cores};
use crate::uploads::{AboutNamed, Content, File, Received, file_limits, json};
use crate::wire::{DocumentSent, Metadata, Title};

/// Documents of a page if nothing else is asked for, and at most.
const LIMIT: usize = 50;
const MOST: usize = 500;
/// Documents that are looked at for one page of a search, which ends there: whoever wants more asks again.
const LOOKS: usize = 50_000;

/// Documents, bytes of them, and files that are added while the client waits; more become a job.
const FEW_DOCUMENTS: usize = 100;
const FEW_BYTES: usize = BATCH_BYTES;
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
    /// The `after` of the next page, if there may be one. A page of a search in a large archive may have fewer documents than were
    /// asked for, or none, and still a next one.
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
            let listing =
                Listing { search: &wanted.search, after, limit, newest_first: true, looks: Some(LOOKS) };
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
    /// Up to 64 KiB.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    title: Title,
    /// Up to 64 KiB.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Metadata,
}

impl From<NewSent> for NewDocument {
    fn from(new: NewSent) -> Self {
        let marks = Mark::pages(&new.text);
        Self { id: new.id, text: new.text, title: new.title.0, metadata: new.metadata.0, marks }
    }
}

/// Files to add, under their names.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) struct NewFiles {
    #[schema(format = Binary)]
    file: Vec<String>,
    /// By the names of files.
    options: Option<HashMap<String, AboutNamed>>,
}

/// Files with what is said of them.
fn named(files: Vec<File>, options: Option<&[u8]>) -> Result<Vec<Item>, Problem> {
    let mut options: HashMap<String, AboutNamed> = options.map(json).transpose()?.unwrap_or_default();
    let items = files
        .into_iter()
        .map(|file| {
            let about = options.remove(&file.name).unwrap_or_default();
            Item::File(file, about)
        })
        .collect();
    match options.into_keys().next() {
        None => Ok(items),
        Some(name) => {
            Err(Problem::new(Kind::BadBody, format!("There are `options` for `{name}`, and no such file.")))
        }
    }
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
                Content::Files { files, options } => named(files, options.as_deref())?,
            })
        })
        .await?;
    let files = items.iter().filter(|item| matches!(item, Item::File(..))).count();
    let bytes: usize = items.iter().map(Item::size_bytes).sum();
    let limits = file_limits(state.limits.body_bytes, state.limits.file_time);
    if items.len() <= FEW_DOCUMENTS && files <= FEW_FILES && bytes <= FEW_BYTES {
        let work = move |state: &State| {
            let _held = held;
            let mut told = AddedSent::default();
            state.add(items, &limits, 1, &mut told, |_| Ok(())).map_err(|problem| {
                match told.counts.all() {
                    0 => problem,
                    some => problem
                        .hint(format!("{some} documents were added or rejected before; send the others")),
                }
            })?;
            sent(StatusCode::CREATED, &told)
        };
        return if files > 0 { state.run_reading(work).await } else { state.run_writing(work).await };
    }
    let queued = state.gate.queue(bytes)?;
    drop(held);
    let total = items.len() as u64;
    let until = state.end.until(Phase::Over);
    let job = Jobs::begin(&state, JobKind::Add, None, until, move |state, job| {
        let _queued = queued;
        let mut told = AddedSent::default();
        let added = state.add(items, &limits, cores(), &mut told, |done| {
            job.set_progress(done as u64, total);
            if job.cancelled() { Err(Kind::Stopping.into()) } else { Ok(()) }
        });
        let done = told.counts.all() as u64;
        job.set_progress(done, total);
        let error = added.err().map(|problem| {
            state.unfinished(job, done, total);
            problem.detail(format!("{done} of {total} documents were added or rejected before."))
        });
        Ended { result: Some(told), error }
    })?;
    sent(StatusCode::ACCEPTED, &Begun { job })
}
