//! `/documents/{id}`: reads, replaces and removes a document, and lists the documents that are similar to it.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::{CheckOptions, Mark, NewDocument, StoredDocument};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::check::Submission;
use super::json_answer;
use super::parameters::{Id, Parameters};
use crate::archive::{Archive, CheckAnswer, queried_document};
use crate::files::AboutFile;
use crate::lanes::{Lane, Turn};
use crate::problem::Problem;
use crate::state::SharedState;
use crate::uploads::{BodyContent, Received, json};
use crate::wire::{Metadata, Title};

/// Read a document.
#[utoipa::path(get, path = "/documents/{id}", operation_id = "get_document", tag = "documents", params(("id" = String, Path, description = "Id of the document, percent-encoded as one segment.")),
    responses((status = 200, description = "The document.", body = StoredDocument)))]
pub(crate) async fn get(At(state): At<SharedState>, Id(id): Id) -> Result<Response, Problem> {
    state.run(Lane::Read, move |archive, _| json_answer(StatusCode::OK, &archive.document(&id)?)).await
}

/// Text, title and metadata of a document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewContent {
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

/// The file of a document, as a form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) struct NewFile {
    /// The file: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB or PDF.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// Title and metadata of the document, as JSON.
    #[schema(nullable = false)]
    options: Option<AboutFile>,
}

/// Add a document under an id, or replace the document that has this id.
#[utoipa::path(put, path = "/documents/{id}", operation_id = "put_document", tag = "documents", params(("id" = String, Path, description = "Id of the document, percent-encoded as one segment.")),
    request_body(description = "The document as JSON, or its file as a form.", content((NewContent = "application/json"), (NewFile = "multipart/form-data"))),
    responses((status = 200, description = "The document was replaced.", body = StoredDocument),
        (status = 201, description = "The document is new.", body = StoredDocument)))]
pub(crate) async fn put(
    At(state): At<SharedState>,
    Id(id): Id,
    received: Received,
) -> Result<Response, Problem> {
    let Received { content, held } = received;
    let lane = if matches!(content, BodyContent::Files { .. }) { Lane::File } else { Lane::Write };
    let work = move |archive: &Archive, _: Turn| {
        let _held = held;
        let document = match content {
            BodyContent::Json(_) => {
                let NewContent { text, title: Title(title), metadata: Metadata(metadata) } =
                    content.value()?;
                let marks = Mark::pages(&text);
                let mut document = NewDocument::new(&id, text).metadata(metadata).marks(marks);
                document.title = title;
                document
            }
            BodyContent::Files { files, options } => {
                let about: AboutFile = options.as_deref().map(json).transpose()?.unwrap_or_default();
                about.apply_to(archive.read_only_file(&files)?.id(&id))
            }
        };
        let (document, is_replaced) = archive.put(document)?;
        let status = if is_replaced { StatusCode::OK } else { StatusCode::CREATED };
        json_answer(status, &document)
    };
    state.run(lane, work).await
}

/// Remove a document.
///
/// The answer is the document that was removed.
#[utoipa::path(delete, path = "/documents/{id}", operation_id = "remove_document", tag = "documents", params(("id" = String, Path, description = "Id of the document, percent-encoded as one segment.")),
    responses((status = 200, description = "The document.", body = StoredDocument)))]
pub(crate) async fn delete(At(state): At<SharedState>, Id(id): Id) -> Result<Response, Problem> {
    state.run(Lane::Write, move |archive, _| json_answer(StatusCode::OK, &archive.remove(&id)?)).await
}

/// The conditions of a match.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct SimilarParameters {
    /// Minimum Jaccard similarity of a match.
    #[param(minimum = 0, maximum = 1, default = 0.5)]
    threshold: f64,
    /// Minimum containment of a match: a document is a match if at least this share of either text appears in the other.
    #[param(minimum = 0, maximum = 1, default = 0.3)]
    containment: f64,
    /// Maximum number of matches. The answer has the best matches.
    #[param(minimum = 1, maximum = 1000, default = 10)]
    top: usize,
}

impl Default for SimilarParameters {
    fn default() -> Self {
        let CheckOptions { threshold, containment, top, .. } = CheckOptions::default();
        Self { threshold, containment, top }
    }
}

/// List the documents that are similar to a document of the archive.
///
/// The answer is the answer of a check of the document's text. The document itself is never a match.
#[utoipa::path(get, path = "/documents/{id}/similar", operation_id = "similar_documents", tag = "documents",
    params(("id" = String, Path, description = "Id of the document, percent-encoded as one segment."), SimilarParameters),
    responses((status = 200, description = "The similar documents.", body = CheckAnswer)))]
pub(crate) async fn similar(
    At(state): At<SharedState>,
    Id(id): Id,
    Parameters(parameters): Parameters<SimilarParameters>,
) -> Result<Response, Problem> {
    let SimilarParameters { threshold, containment, top } = parameters;
    let options =
        Submission::with(CheckOptions::default().threshold(threshold).containment(containment).top(top));
    let (id, lane) = state
        .run(Lane::Read, move |archive, _| {
            let lane = Lane::for_text(archive.text_size(&id)?);
            Ok((id, lane))
        })
        .await?;
    state
        .run(lane, move |archive, turn| {
            let query = queried_document(archive.document(&id)?);
            json_answer(StatusCode::OK, &options.check(archive, query, &turn)?)
        })
        .await
}
