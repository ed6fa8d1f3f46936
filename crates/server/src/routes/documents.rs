//! The documents of the archive: listing them, and adding one or many.

use std::collections::HashMap;

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise::figure::{counted, grouped, subject};
use minwise::{Observer, Stage};
use minwise_index::{Entry, Listing, Mark, NewDocument};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::parameters::Parameters;
use super::sent;
use crate::adding::{AddedSent, BATCH_BYTES, Item};
use crate::jobs::{JobKind, Jobs, WorkResult};
use crate::problem::{Problem, ProblemKind};
use crate::shutdown::Phase;
use crate::state::{ServerState, SharedState, cores};
use crate::uploads::{AboutNamed, BodyContent, Received, UploadedFile, file_limits, json};
use crate::wire::{Metadata, Title};

/// Documents of a page if nothing else is asked for, and at most. The parameter `limit` says the same.
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
#[serde(default)]
pub(crate) struct ListParameters {
    /// Text to look for in ids, titles and the values of metadata. The case of letters does not matter.
    #[param(default = "")]
    search: String,
    /// `next` of the page before; without it, the first page.
    #[param(default = "")]
    after: String,
    /// Maximum number of documents on the page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: usize,
}

impl Default for ListParameters {
    fn default() -> Self {
        Self { search: String::new(), after: String::new(), limit: LIMIT }
    }
}

/// A page of the list of documents.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DocumentPage)]
pub(crate) struct PageSent {
    /// Documents of the page.
    documents: Vec<Entry>,
    /// `after` of the next page, or null on the last page. A page of a search in a large archive may have fewer documents than
    /// `limit`, or none, and still a next page.
    #[schema(required = true)]
    next: Option<String>,
}

/// List documents, the newest first.
///
/// Pages follow each other by `after`, which is the `next` of the page before.
#[utoipa::path(get, path = "/documents", operation_id = "list_documents", tag = "documents", params(ListParameters),
    responses((status = 200, description = "A page of documents", body = PageSent)))]
pub(crate) async fn list(
    At(state): At<SharedState>,
    Parameters(wanted): Parameters<ListParameters>,
) -> Result<Response, Problem> {
    let after = match wanted.after.as_str() {
        "" => None,
        after => Some(
            after.parse().map_err(|_| Problem::new(ProblemKind::BadParameter, "`after` is not a `next`"))?,
        ),
    };
    let limit = wanted.limit;
    if !(1..=MOST).contains(&limit) {
        let detail = format!("`limit` cannot be `{limit}`: it must be from 1 to {MOST}");
        return Err(Problem::new(ProblemKind::BadParameter, detail));
    }
    state
        .run(move |state| {
            let listing = Listing::new()
                .search(&wanted.search)
                .after(after)
                .limit(limit)
                .newest_first(true)
                .looks(Some(LOOKS));
            let page = state.told(state.index.list(&listing))?;
            let next = page.next.map(|number| number.to_string());
            sent(StatusCode::OK, &PageSent { documents: page.entries, next })
        })
        .await
}

/// Documents to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewDocuments)]
pub(crate) struct NewDocuments {
    /// The documents. If two of them have the same id, the later one is added.
    documents: Vec<NewSent>,
}

/// A document to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewDocument)]
pub(crate) struct NewSent {
    /// Id of the document: 1 to 1024 bytes without control characters, and neither `.` nor `..`.
    #[schema(min_length = 1, max_length = 1024)]
    id: String,
    /// Text of the document. Its pages may end with form feeds.
    text: String,
    /// Title of the document, up to 64 KiB.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    title: Title,
    /// Metadata of the document, up to 64 KiB of JSON.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Metadata,
}

impl From<NewSent> for NewDocument {
    fn from(new: NewSent) -> Self {
        let marks = Mark::pages(&new.text);
        let mut document = Self::new(new.id, new.text).metadata(new.metadata.0).marks(marks);
        document.title = new.title.0;
        document
    }
}

/// Files to add, as a form. The id of a document is the name of its file, unless `options` has another.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) struct NewFiles {
    /// The files, at least one: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB or PDF.
    #[schema(value_type = Vec<FileBytes>, min_items = 1)]
    file: Vec<FileBytes>,
    /// Id, title and metadata of files, by the names of the files, as JSON.
    #[schema(nullable = false)]
    options: Option<HashMap<String, AboutNamed>>,
}

/// The bytes of a file.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) struct FileBytes(Vec<u8>);

/// Files with what is said of them.
fn named(files: Vec<UploadedFile>, options: Option<&[u8]>) -> Result<Vec<Item>, Problem> {
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
        Some(name) => Err(Problem::new(
            ProblemKind::BadBody,
            format!("There are `options` for `{name}`, and no such file."),
        )),
    }
}

/// A job that was begun.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobBegun)]
pub(crate) struct StartedJob {
    /// Id of the job, for `GET /jobs/{id}`.
    pub(crate) job: String,
}

/// Add documents, or replace those with the same ids.
///
/// Up to 100 documents, 4 files and 8 MiB of them are added before the answer; more become a job. Documents that cannot be added
/// are in `rejected`, and the others are added.
#[utoipa::path(post, path = "/documents", operation_id = "add_documents", tag = "documents",
    request_body(description = "The documents as JSON, or files as a form",
        content((NewDocuments = "application/json"), (NewFiles = "multipart/form-data"))),
    responses((status = 201, description = "The documents are in the archive", body = AddedSent),
        (status = 202, description = "A job adds the documents", body = StartedJob)))]
pub(crate) async fn add(At(state): At<SharedState>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    let items = state
        .run(move |_| {
            Ok(match content {
                BodyContent::Json(_) => {
                    let new: NewDocuments = content.value()?;
                    new.documents.into_iter().map(|new| Item::Document(new.into())).collect::<Vec<_>>()
                }
                BodyContent::Files { files, options } => named(files, options.as_deref())?,
            })
        })
        .await?;
    let files = items.iter().filter(|item| matches!(item, Item::File(..))).count();
    let bytes: usize = items.iter().map(Item::size_bytes).sum();
    let limits = file_limits(state.limits.body_bytes, state.limits.file_time);
    if items.len() <= FEW_DOCUMENTS && files <= FEW_FILES && bytes <= FEW_BYTES {
        let work = move |state: &ServerState| {
            let _held = held;
            let mut told = AddedSent::default();
            state.add(items, &limits, 1, &mut told, |_| Ok(())).map_err(|problem| {
                match told.counts.all() {
                    0 => problem,
                    some => {
                        let before = subject(some as u64, "document", ["was", "were"]);
                        problem.hint(format!("{before} added or rejected before; send the others"))
                    }
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
        job.begin(Stage::Add, total);
        let mut told = AddedSent::default();
        let added = state.add(items, &limits, cores(), &mut told, |done| {
            job.set_progress(done as u64, total);
            if job.cancelled() { Err(ProblemKind::Stopping.into()) } else { Ok(()) }
        });
        let done = told.counts.all() as u64;
        job.set_progress(done, total);
        let error = added.err().map(|problem| {
            state.unfinished(job, done, total);
            let (done, total) = (grouped(done), counted(total, "document"));
            problem.detail(format!("{done} of {total} had been added or rejected before."))
        });
        WorkResult { result: Some(told), error }
    })?;
    sent(StatusCode::ACCEPTED, &StartedJob { job })
}
