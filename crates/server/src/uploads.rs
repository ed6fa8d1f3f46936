//! Bodies as they arrive, and the text of the files among them.
//!
//! A body is held in memory while it is worked on, and all of them together within a bound ([`ServerLimits::held_bytes`]). The name
//! of a file is a name and nothing else: no path of a client is ever opened.
//!
//! [`ServerLimits::held_bytes`]: crate::ServerLimits::held_bytes

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Multipart, Request, multipart::MultipartError};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt;
use minwise::figure::grouped;
use minwise_corpus::{ExtractLimits as FileLimits, Extracted, Refusal};
use minwise_index::{Mark, NewDocument};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use crate::limits::HeldMemory;
use crate::problem::{Problem, ProblemKind};
use crate::state::{SharedState, cores};
use crate::wire::{self, Metadata, Title};

/// Bytes of a refused body that are read all the same. Most clients read no answer before they have sent all they have: to
/// them a server that does not take it is one that broke down.
const REFUSED: usize = 256 << 20;

/// The body of a request, whole.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) content: BodyContent,
    /// Its part of the memory for bodies.
    pub(crate) held: HeldMemory,
}

/// What a body is.
#[derive(Debug)]
pub(crate) enum BodyContent {
    /// JSON that was not looked at yet.
    Json(Bytes),
    /// Files of a form, with the JSON beside them.
    Files { files: Vec<UploadedFile>, options: Option<Bytes> },
}

/// A file that was sent.
#[derive(Debug)]
pub(crate) struct UploadedFile {
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
}

impl FromRequest<SharedState> for Received {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &SharedState) -> Result<Self, Problem> {
        let (parts, mut body) = request.into_parts();
        let received = match announced(&parts.headers, state.limits.body_bytes) {
            Ok(()) => whole(&mut body, state).await,
            // Who asks first has not begun to send.
            Err(problem) if parts.headers.contains_key(EXPECT) => return Err(problem),
            Err(problem) => Err(problem),
        };
        let (bytes, held) = match received {
            Ok(received) => received,
            Err(problem) => {
                drain(&mut body).await;
                return Err(problem);
            }
        };
        let content = if is_form(&parts.headers) {
            files(Request::from_parts(parts, Body::from(bytes))).await?
        } else {
            BodyContent::Json(bytes)
        };
        Ok(Self { content, held })
    }
}

/// The type that a body is said to have.
fn kind(headers: &HeaderMap) -> &str {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim()
}

fn is_form(headers: &HeaderMap) -> bool {
    kind(headers).eq_ignore_ascii_case("multipart/form-data")
}

/// Refuses what is not read here, or is too large, by what is said of it.
fn announced(headers: &HeaderMap, limit: usize) -> Result<(), Problem> {
    if !is_form(headers) && !kind(headers).eq_ignore_ascii_case("application/json") {
        return Err(ProblemKind::UnsupportedType.into());
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > limit) { Err(too_large(limit)) } else { Ok(()) }
}

/// All of a body. Memory is taken as it comes: who only announces a body holds none.
async fn whole(body: &mut Body, state: &SharedState) -> Result<(Bytes, HeldMemory), Problem> {
    let limit = state.limits.body_bytes;
    let mut held = state.gate.hold();
    let mut bytes = vec![];
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Problem::new(ProblemKind::BadBody, error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        held.grow(bytes.len() + data.len()).await?;
        bytes.extend_from_slice(&data);
    }
    Ok((bytes.into(), held))
}

/// Reads the rest of a body that is refused, so that its sender comes to read why.
async fn drain(body: &mut Body) {
    let mut left = REFUSED;
    while left > 0
        && let Some(Ok(frame)) = body.frame().await
    {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
    }
}

async fn files(request: Request) -> Result<BodyContent, Problem> {
    let unread = |error: MultipartError| Problem::new(ProblemKind::BadBody, error.body_text());
    let form = Multipart::from_request(request, &()).await;
    let mut form = form.map_err(|refused| Problem::new(ProblemKind::BadBody, refused.body_text()))?;
    let (mut files, mut options) = (vec![], None);
    while let Some(part) = form.next_field().await.map_err(unread)? {
        match part.name() {
            Some("file") => {
                let name = part.file_name().unwrap_or_default().to_owned();
                files.push(UploadedFile { name, bytes: part.bytes().await.map_err(unread)? });
            }
            Some("options") => options = Some(part.bytes().await.map_err(unread)?),
            _ => {
                let detail = "a part of the form is neither `file` nor `options`";
                return Err(Problem::new(ProblemKind::BadBody, detail));
            }
        }
    }
    if files.is_empty() {
        return Err(Problem::new(ProblemKind::BadBody, "The form has no part `file`."));
    }
    Ok(BodyContent::Files { files, options })
}

fn too_large(limit: usize) -> Problem {
    Problem::new(ProblemKind::BodyTooLarge, format!("A body may have {} bytes.", grouped(limit as u64)))
}

/// The value that a body of JSON stands for.
pub(crate) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::new(ProblemKind::BadBody, error.to_string()))
}

impl BodyContent {
    /// The value of a body that has to be JSON.
    pub(crate) fn value<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        match self {
            Self::Json(body) => json(body),
            Self::Files { .. } => Err(Problem::from(ProblemKind::UnsupportedType)
                .hint("files are not taken here, send `application/json`")),
        }
    }
}

/// Title and metadata of a file, in place of those that the file states.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AboutFile {
    /// Title of the document, up to 64 KiB; without it, the title that the file states.
    #[schema(value_type = Option<String>)]
    title: Title,
    /// Metadata of the document, up to 64 KiB. A field that is not here has the value that the file states.
    #[schema(value_type = Object)]
    metadata: Metadata,
}

impl AboutFile {
    pub(crate) fn on(self, mut document: NewDocument) -> NewDocument {
        document.title = self.title.0.or(document.title);
        document.metadata.extend(self.metadata.0);
        document
    }
}

/// Id, title and metadata of one of several files, in place of those that the file states.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AboutNamed {
    /// Id of the document; without it, the name of the file.
    id: Option<String>,
    /// Title of the document, up to 64 KiB; without it, the title that the file states.
    #[schema(value_type = Option<String>)]
    title: Title,
    /// Metadata of the document, up to 64 KiB. A field that is not here has the value that the file states.
    #[schema(value_type = Object)]
    metadata: Metadata,
}

impl AboutNamed {
    /// The id of the document, if it is given.
    pub(crate) fn into_id(self) -> Option<String> {
        self.id
    }

    pub(crate) fn on(self, document: NewDocument) -> NewDocument {
        let id = self.id.unwrap_or_else(|| document.id.clone());
        AboutFile { title: self.title, metadata: self.metadata }.on(document.id(id))
    }
}

/// What a file may cost. What it unfolds to is text in memory, as a body is.
pub(crate) fn file_limits(body_bytes: usize, time: Duration) -> FileLimits {
    let bytes = body_bytes as u64;
    // As many threads as are waited for, and as many again that were given up.
    FileLimits::default().bytes(bytes).unfolded_bytes(bytes).time(time).threads(2 * cores())
}

/// The document that a file stands for, under its name.
pub(crate) fn document(file: &UploadedFile, limits: &FileLimits) -> Result<NewDocument, Refusal> {
    let Extracted { text, title, metadata, marks, .. } =
        minwise_corpus::extract(&file.bytes, Some(&file.name), limits)?;
    let marks = if marks.is_empty() { Mark::pages(&text) } else { wire::marks_of_file(&marks) };
    let title = title.filter(|title| title.len() <= wire::MOST_METADATA);
    let mut left = wire::MOST_METADATA;
    let fits = |(name, value): &(String, String)| {
        let fits = left.checked_sub(name.len() + value.len());
        left = fits.unwrap_or(left);
        fits.is_some()
    };
    let metadata =
        metadata.into_iter().filter(fits).map(|(name, value)| (name, Value::from(value))).collect();
    let mut document = NewDocument::new(&file.name, text).metadata(metadata).marks(marks);
    document.title = title;
    Ok(document)
}
