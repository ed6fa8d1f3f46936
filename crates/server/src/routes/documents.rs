//! `/documents`: lists documents, and adds documents.

use std::collections::HashMap;

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise::figure::subject;
use minwise_index::{Entry, Mark, NewDocument};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::jobs::StartedJob;
use super::json_answer;
use super::parameters::Parameters;
use crate::archive::{AddedAnswer, Archive, BATCH_BYTES, Item};
use crate::files::{AboutNamed, UploadedFile};
use crate::lanes::{Lane, Turn};
use crate::problem::{Problem, ProblemKind};
use crate::state::SharedState;
use crate::uploads::{BodyContent, Received, json};
use crate::wire::{Metadata, Title};

/// Default of the parameter `limit`. The attributes of `ListParameters` repeat this number.
const DEFAULT_LIMIT: usize = 50;
/// Maximum of the parameter `limit`. The attributes of `ListParameters` repeat this number.
const MAX_LIMIT: usize = 500;

/// Maximum number of documents that are added before the answer. A request with more documents becomes a job.
const DIRECT_DOCUMENTS: usize = 100;
/// Maximum number of bytes that are added before the answer.
const DIRECT_BYTES: usize = BATCH_BYTES;
/// Maximum number of files that are added before the answer.
const DIRECT_FILES: usize = 4;

/// Which documents to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct ListParameters {
    /// Text to look for in ids, titles and the values of metadata. The case of letters does not matter.
    #[param(default = "")]
    search: String,
    /// Value of `next` of the previous page. Without `after`, the answer is the first page.
    #[param(default = "")]
    after: String,
    /// Maximum number of documents on the page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: usize,
}

impl Default for ListParameters {
    fn default() -> Self {
        Self { search: String::new(), after: String::new(), limit: DEFAULT_LIMIT }
    }
}

/// A page of the list of documents.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DocumentPage)]
pub(crate) struct PageAnswer {
    /// Documents of the page.
    documents: Vec<Entry>,
    /// Value of `after` for the next page, or null on the last page. In a large archive, a page of a search may have
    /// fewer documents than `limit`, or none, although there is a next page.
    #[schema(required = true)]
    next: Option<String>,
}

/// List documents, the newest first.
///
/// To get the next page, pass the `next` of a page as `after`.
#[utoipa::path(get, path = "/documents", operation_id = "list_documents", tag = "documents", params(ListParameters),
    responses((status = 200, description = "A page of documents.", body = PageAnswer)))]
pub(crate) async fn list(
    At(state): At<SharedState>,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Response, Problem> {
    let after = match parameters.after.as_str() {
        "" => None,
        after => Some(
            after.parse().map_err(|_| Problem::new(ProblemKind::BadParameter, "`after` is not a `next`"))?,
        ),
    };
    let limit = parameters.limit;
    if !(1..=MAX_LIMIT).contains(&limit) {
        let detail = format!("`limit` cannot be `{limit}`: it must be from 1 to {MAX_LIMIT}");
        return Err(Problem::new(ProblemKind::BadParameter, detail));
    }
    state
        .run(Lane::Read, move |archive, _| {
            let page = archive.list(&parameters.search, after, limit)?;
            let next = page.next.map(|number| number.to_string());
            json_answer(StatusCode::OK, &PageAnswer { documents: page.entries, next })
        })
        .await
}

/// Documents to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewDocuments)]
pub(crate) struct NewDocuments {
    /// The documents. If two documents have the same id, the later document is added.
    documents: Vec<DocumentRequest>,
}

/// A document to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewDocument)]
pub(crate) struct DocumentRequest {
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

impl From<DocumentRequest> for NewDocument {
    fn from(new: DocumentRequest) -> Self {
        let marks = Mark::pages(&new.text);
        let mut document = Self::new(new.id, new.text).metadata(new.metadata.0).marks(marks);
        document.title = new.title.0;
        document
    }
}

/// Files to add, as a form. The id of a document is the name of its file, unless `options` has another id.
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

/// Pairs each file with its entry in `options`.
fn with_options(files: Vec<UploadedFile>, options: Option<&[u8]>) -> Result<Vec<Item>, Problem> {
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

/// Add documents, or replace documents with the same ids.
///
/// Up to 100 documents, 4 files and 8 MiB are added before the answer; a larger call becomes a job. Documents that
/// cannot be added are in `rejected`, and all other documents are added.
#[utoipa::path(post, path = "/documents", operation_id = "add_documents", tag = "documents",
    request_body(description = "The documents as JSON, or files as a form.",
        content((NewDocuments = "application/json"), (NewFiles = "multipart/form-data"))),
    responses((status = 201, description = "The documents are in the archive.", body = AddedAnswer),
        (status = 202, description = "A job adds the documents.", body = StartedJob)))]
pub(crate) async fn add(At(state): At<SharedState>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    let items = state
        .run(Lane::Read, move |_, _| {
            Ok(match content {
                BodyContent::Json(_) => {
                    let new: NewDocuments = content.value()?;
                    new.documents.into_iter().map(|new| Item::Document(new.into())).collect::<Vec<_>>()
                }
                BodyContent::Files { files, options } => with_options(files, options.as_deref())?,
            })
        })
        .await?;
    let files = items.iter().filter(|item| matches!(item, Item::File(..))).count();
    let bytes: usize = items.iter().map(Item::size_bytes).sum();
    if items.len() > DIRECT_DOCUMENTS || files > DIRECT_FILES || bytes > DIRECT_BYTES {
        let memory = state.gate.queue(bytes)?;
        drop(held);
        let job = state.jobs.add(items, memory)?;
        return json_answer(StatusCode::ACCEPTED, &StartedJob { job });
    }
    let work = move |archive: &Archive, _: Turn| {
        let _held = held;
        let mut answer = AddedAnswer::default();
        archive.add(items, 1, &mut answer, |_| Ok(())).map_err(|problem| match answer.counts.all() {
            0 => problem,
            some => {
                let before = subject(some as u64, "document", ["was", "were"]);
                problem.hint(format!("{before} added or rejected before; send the others"))
            }
        })?;
        json_answer(StatusCode::CREATED, &answer)
    };
    state.run(if files > 0 { Lane::File } else { Lane::Write }, work).await
}
