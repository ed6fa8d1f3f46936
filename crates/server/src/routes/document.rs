//! One document: reading, replacing and removing it, and what resembles it.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::{CheckOptions, ErrorKind, Mark, NewDocument, StoredDocument};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::check::{Answered, Submission, queried_document};
use super::parameters::{Id, Parameters};
use super::sent;
use crate::adding;
use crate::problem::{Problem, ProblemKind};
use crate::state::{ServerState, SharedState};
use crate::uploads::{self, AboutFile, BodyContent, Received, file_limits, json};
use crate::wire::{Metadata, Title};

impl ServerState {
    /// The document with this id.
    pub(crate) fn document(&self, id: &str) -> Result<StoredDocument, Problem> {
        let missing = || Problem::from(&ErrorKind::NoSuchDocument { id: id.to_owned() }.into());
        self.told(self.index.get(id))?.ok_or_else(missing)
    }

    /// How long the text of a document is: in bytes or, where texts are not kept, in characters. Work on long ones waits for its
    /// turn, and they are read again when it has come, so that those that wait do not hold them.
    pub(crate) fn length(&self, id: &str) -> Result<usize, Problem> {
        let StoredDocument { entry, text, .. } = self.document(id)?;
        Ok(text.map_or(usize::try_from(entry.characters).unwrap_or(usize::MAX), |text| text.len()))
    }
}

/// Read a document.
#[utoipa::path(get, path = "/documents/{id}", operation_id = "get_document", tag = "documents", params(("id" = String, Path, description = "Id of the document, percent-encoded as one segment")),
    responses((status = 200, description = "The document", body = StoredDocument)))]
pub(crate) async fn get(At(state): At<SharedState>, Id(id): Id) -> Result<Response, Problem> {
    state.run(move |state| sent(StatusCode::OK, &state.document(&id)?)).await
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

/// Add a document under an id, or replace the document that has it.
#[utoipa::path(put, path = "/documents/{id}", operation_id = "put_document", tag = "documents", params(("id" = String, Path, description = "Id of the document, percent-encoded as one segment")),
    request_body(description = "The document as JSON, or its file as a form", content((NewContent = "application/json"), (NewFile = "multipart/form-data"))),
    responses((status = 200, description = "The document was replaced", body = StoredDocument),
        (status = 201, description = "The document is new", body = StoredDocument)))]
pub(crate) async fn put(
    At(state): At<SharedState>,
    Id(id): Id,
    received: Received,
) -> Result<Response, Problem> {
    let Received { content, held } = received;
    let limits = file_limits(state.limits.body_bytes, state.limits.file_time);
    let reads_file = matches!(content, BodyContent::Files { .. });
    let work = move |state: &ServerState| {
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
                about.on(state.only(&files, &limits)?.id(&id))
            }
        };
        adding::check_id(&id).map_err(|why| Problem::new(ProblemKind::RejectedDocument, why))?;
        // Read again before anybody else can remove it.
        let written = |there: Vec<bool>| Ok((there.contains(&true), state.document(&id)?));
        let (there, document) = state.write(&[document], 1, written)?;
        let status = if there { StatusCode::OK } else { StatusCode::CREATED };
        sent(status, &document)
    };
    if reads_file { state.run_reading(work).await } else { state.run_writing(work).await }
}

/// Remove a document.
///
/// The answer is the document that was removed.
#[utoipa::path(delete, path = "/documents/{id}", operation_id = "remove_document", tag = "documents", params(("id" = String, Path, description = "Id of the document, percent-encoded as one segment")),
    responses((status = 200, description = "The document", body = StoredDocument)))]
pub(crate) async fn delete(At(state): At<SharedState>, Id(id): Id) -> Result<Response, Problem> {
    state
        .run_writing(move |state| {
            let _changing = state.changing();
            let document = state.document(&id)?;
            state.told(state.index.remove(&[&id]))?;
            state.upkeep.changed();
            sent(StatusCode::OK, &document)
        })
        .await
}

/// The conditions of a match.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct Nearness {
    /// Minimum Jaccard similarity of a match.
    #[param(minimum = 0, maximum = 1, default = 0.5)]
    threshold: f64,
    /// Minimum containment of a match: a document is a match if at least this share of either text appears in the other.
    #[param(minimum = 0, maximum = 1, default = 0.3)]
    containment: f64,
    /// Maximum number of matches in the answer, which has the best.
    #[param(minimum = 1, maximum = 1000, default = 10)]
    top: usize,
}

impl Default for Nearness {
    fn default() -> Self {
        let CheckOptions { threshold, containment, top, .. } = CheckOptions::default();
        Self { threshold, containment, top }
    }
}

/// List the documents that are similar to a document of the archive.
///
/// The answer is that of a check of the document's text. The document itself is no match.
#[utoipa::path(get, path = "/documents/{id}/similar", operation_id = "similar_documents", tag = "documents",
    params(("id" = String, Path, description = "Id of the document, percent-encoded as one segment"), Nearness),
    responses((status = 200, description = "The similar documents", body = Answered)))]
pub(crate) async fn similar(
    At(state): At<SharedState>,
    Id(id): Id,
    Parameters(nearness): Parameters<Nearness>,
) -> Result<Response, Problem> {
    let Nearness { threshold, containment, top } = nearness;
    let options =
        Submission::with(CheckOptions::default().threshold(threshold).containment(containment).top(top));
    let (id, bytes) = state
        .run(move |state| {
            let bytes = state.length(&id)?;
            Ok((id, bytes))
        })
        .await?;
    state
        .run_watched(bytes, move |state, asked| {
            let query = queried_document(state.document(&id)?);
            sent(StatusCode::OK, &state.check(query, &options, asked)?)
        })
        .await
}

impl ServerState {
    /// The document of a form that has to hold one file.
    pub(crate) fn only(
        &self,
        files: &[uploads::UploadedFile],
        limits: &minwise_corpus::ExtractLimits,
    ) -> Result<NewDocument, Problem> {
        let [file] = files else {
            return Err(Problem::new(ProblemKind::BadBody, "The form has to have one part `file`."));
        };
        uploads::document(file, limits).map_err(|refusal| {
            self.metrics.refused(refusal.code());
            if refusal == minwise_corpus::Refusal::Busy {
                return Problem::from(ProblemKind::Busy).retry_after(5);
            }
            Problem::new(ProblemKind::RejectedDocument, format!("{}: {refusal}", file.name))
        })
    }
}
