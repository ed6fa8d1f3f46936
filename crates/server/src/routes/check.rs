//! `POST /check`: compares a text or a file with the archive.

use std::borrow::Cow;

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::{CheckOptions, Mark, NewDocument, Queried};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::openapi::schema::AdditionalProperties;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::json_answer;
use crate::archive::{Archive, BOUNDED_OPTIONS, BoundedOption, CheckAnswer, queried_text};
use crate::files::AboutFile;
use crate::lanes::{Lane, Turn};
use crate::problem::{Problem, ProblemKind};
use crate::state::SharedState;
use crate::uploads::{BodyContent, Received, json};
use crate::wire::{Metadata, Title};

/// JSON of a check: a text with options, or only the options beside a file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Submission {
    /// Text to check, if no file is sent.
    text: Option<String>,
    title: Title,
    metadata: Metadata,
    // Serde does not promise that `deny_unknown_fields` works beside `flatten`, so a test checks that it does.
    #[serde(flatten)]
    options: CheckOptions,
}

impl Submission {
    /// Creates a submission that has only options.
    pub(crate) fn with(options: CheckOptions) -> Self {
        Self { options, ..Self::default() }
    }

    pub(crate) fn options(&self) -> &CheckOptions {
        &self.options
    }

    /// Checks a text, or a document of the archive, with these options.
    pub(crate) fn check(
        &self,
        archive: &Archive,
        query: Queried,
        turn: &Turn,
    ) -> Result<CheckAnswer, Problem> {
        archive.check(query, &self.metadata.0, &self.options, turn)
    }

    /// Refuses the option `text`, for requests that have the text in another field or in a file.
    pub(crate) fn check_without_text(&self) -> Result<(), Problem> {
        match self.text {
            Some(_) => Err(Problem::new(ProblemKind::BadBody, "The options of a check have no `text` here.")),
            None => Ok(()),
        }
    }
}

/// Adds the options of a check, with the maxima of this server, to the fields of an object.
fn with_options(fields: RefOr<Schema>) -> RefOr<Schema> {
    let (RefOr::T(Schema::Object(mut all)), RefOr::T(Schema::Object(options))) =
        (fields, CheckOptions::schema())
    else {
        unreachable!("both are described as objects");
    };
    all.properties.extend(options.properties);
    for BoundedOption { name, maximum, .. } in BOUNDED_OPTIONS {
        if let Some(RefOr::T(Schema::Object(option))) = all.properties.get_mut(name) {
            option.maximum = Some(maximum.into());
        }
    }
    all.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
    RefOr::T(Schema::Object(all))
}

/// A text to check, with the options of the check. Every field except `text` may be absent, and then has its default.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
struct TextFields {
    /// The text to check, up to 16 MiB. Its pages may end with form feeds.
    text: String,
    /// Title of the text, up to 64 KiB, which the answer repeats.
    title: Option<String>,
    /// Metadata of the text, up to 64 KiB, for the option `exclude`.
    #[schema(value_type = Object, required = false)]
    metadata: Map<String, Value>,
}

/// Schema of the body of a check of a text.
pub(crate) struct CheckText;

impl PartialSchema for CheckText {
    fn schema() -> RefOr<Schema> {
        with_options(TextFields::schema())
    }
}

impl ToSchema for CheckText {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        CheckOptions::schemas(schemas);
    }
}

/// Options of the check of a file. Every field may be absent, and then has its default.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
struct FileFields {
    /// Title of the file in the answer, up to 64 KiB; without it, the title that the file states, or its name.
    title: Option<String>,
    /// Metadata of the file, up to 64 KiB, for the option `exclude`. A metadata field that is absent from this object has
    /// the value that the file states.
    #[schema(value_type = Object, required = false)]
    metadata: Map<String, Value>,
}

/// Schema of the options beside a file.
pub(crate) struct SubmissionOptions;

impl PartialSchema for SubmissionOptions {
    fn schema() -> RefOr<Schema> {
        with_options(FileFields::schema())
    }
}

impl ToSchema for SubmissionOptions {
    fn name() -> Cow<'static, str> {
        "SubmissionOptions".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        CheckOptions::schemas(schemas);
    }
}

/// A file to check, as a form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) struct CheckFile {
    /// The file: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB or PDF.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// Options of the check, as JSON.
    #[schema(nullable = false)]
    options: Option<SubmissionOptions>,
}

/// Check a text or a file against the archive.
///
/// The answer has the documents of the archive that share text with the checked text, and the shared passages. The call
/// adds nothing to the archive.
#[utoipa::path(post, path = "/check", operation_id = "check", tag = "check",
    request_body(description = "The text as JSON, or a file as a form.", content((CheckText = "application/json"), (CheckFile = "multipart/form-data"))),
    responses((status = 200, description = "The matches.", body = CheckAnswer)))]
pub(crate) async fn check(At(state): At<SharedState>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    match content {
        BodyContent::Json(ref body) => {
            let lane = Lane::for_text(body.len());
            let work = move |archive: &Archive, turn: Turn| {
                let _held = held;
                let mut submission: Submission = content.value()?;
                let missing = || Problem::new(ProblemKind::BadBody, "There is no `text`.");
                let text = submission.text.take().ok_or_else(missing)?;
                let marks = Mark::pages(&text);
                let query = queried_text(submission.title.0.take(), text, marks);
                json_answer(StatusCode::OK, &submission.check(archive, query, &turn)?)
            };
            state.run(lane, work).await
        }
        BodyContent::Files { files, options } => {
            let read = move |archive: &Archive, turn: Turn| {
                let mut submission: Submission =
                    options.as_deref().map(json).transpose()?.unwrap_or_default();
                submission.check_without_text()?;
                let about = AboutFile {
                    title: std::mem::take(&mut submission.title),
                    metadata: std::mem::take(&mut submission.metadata),
                };
                let NewDocument { id: name, text, title, marks, metadata, .. } =
                    about.apply_to(archive.read_only_file(&files)?);
                archive.check_length(&text)?;
                submission.metadata.0 = metadata;
                let title = title.or(Some(name));
                let lane = Lane::for_text(text.len());
                Ok((lane, queried_text(title, text, marks), submission, (held, turn)))
            };
            let (lane, query, submission, reading) = state.run(Lane::File, read).await?;
            let work = move |archive: &Archive, turn: Turn| {
                // The text of the file is in memory until the check ends, so the check also keeps the place
                // in the lane for files.
                let _reading = reading;
                json_answer(StatusCode::OK, &submission.check(archive, query, &turn)?)
            };
            state.run(lane, work).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_are_refused() {
        for wrong in [r#"{"treshold": 0.5}"#, r#"{"text": "a", "options": {}}"#, r#"{"weight": "heavy"}"#] {
            assert!(serde_json::from_str::<Submission>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_schema_has_the_maxima() {
        let schema = serde_json::to_value(CheckText::schema()).unwrap();
        for BoundedOption { name, maximum, .. } in BOUNDED_OPTIONS {
            assert_eq!(schema["properties"][name]["maximum"], maximum, "{name}");
        }
        assert_eq!(schema["required"], serde_json::json!(["text"]));
        assert_eq!(schema["additionalProperties"], false);
    }
}
