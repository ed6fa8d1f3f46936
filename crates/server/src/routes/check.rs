//! `check`: the documents of the archive that a text or a file shares text with.

use std::borrow::Cow;
use std::time::Instant;

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise::Observer;
use minwise::figure::grouped;
use minwise_index::{Answer, CheckOptions, Mark, NewDocument, OptionProblem, Queried, Query, StoredDocument};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::openapi::schema::AdditionalProperties;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::sent;
use crate::limits::HeldMemory;
use crate::problem::{Problem, ProblemKind};
use crate::state::{ServerState, SharedState, StillWaiting};
use crate::uploads::{BodyContent, Received, file_limits, json};
use crate::wire::{Metadata, Title};

/// An option whose value has a maximum here, because others wait while a check takes its time and its memory.
struct BoundedOption {
    option: &'static str,
    value: fn(&CheckOptions) -> usize,
    most: u32,
    /// The maximum as the end of a sentence.
    expected: &'static str,
}

const BOUNDED: [BoundedOption; 3] = [
    BoundedOption { option: "top", value: |options| options.top, most: 1000, expected: "at most 1000" },
    BoundedOption {
        option: "candidates",
        value: |options| options.candidates,
        most: 10_000,
        expected: "at most 10000",
    },
    BoundedOption {
        option: "passages",
        value: |options| options.passages,
        most: 10_000,
        expected: "at most 10000",
    },
];

/// A text or a file that is checked, with the options of the check.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Submission {
    /// The text, unless it is a file.
    text: Option<String>,
    title: Title,
    metadata: Metadata,
    // Serde does not promise that `deny_unknown_fields` works beside this, so a test checks that it does.
    #[serde(flatten)]
    options: CheckOptions,
}

impl Submission {
    /// A submission of which only the options are known.
    pub(crate) fn with(options: CheckOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Refuses options that come with a text, where the text is sent in another way.
    pub(crate) fn check_without_text(&self) -> Result<(), Problem> {
        match self.text {
            Some(_) => Err(Problem::new(ProblemKind::BadBody, "The options of a check have no `text` here.")),
            None => Ok(()),
        }
    }

    /// The options, if all of them have values that are possible here.
    pub(crate) fn checked(&self) -> Result<&CheckOptions, Problem> {
        let mut problems = self.options.problems();
        for BoundedOption { option, value, most, expected } in BOUNDED {
            let value = value(&self.options);
            if value > most as usize {
                problems.push(OptionProblem::new(option, value, expected));
            }
        }
        if problems.is_empty() {
            return Ok(&self.options);
        }
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Err(Problem::new(ProblemKind::BadSetting, problems.join("; ")))
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
    for BoundedOption { option, most, .. } in BOUNDED {
        if let Some(RefOr::T(Schema::Object(option))) = all.properties.get_mut(option) {
            option.maximum = Some(most.into());
        }
    }
    all.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
    RefOr::T(Schema::Object(all))
}

/// A text to check, with the options of the check. Every field but `text` may be absent and has a default then.
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

/// The body of a check of a text.
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

/// Options of the check of a file. Every field may be absent and has a default then.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
struct FileFields {
    /// Title of the file in the answer, up to 64 KiB; without it, the title that the file states, or its name.
    title: Option<String>,
    /// Metadata of the file, up to 64 KiB, for the option `exclude`. A field that is not here has the value that the file states.
    #[schema(value_type = Object, required = false)]
    metadata: Map<String, Value>,
}

/// The options beside a file.
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

/// Answer of a check over HTTP: the answer of the index, and the time that it took.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CheckAnswer)]
pub(crate) struct Answered {
    #[serde(flatten)]
    answer: Answer,
    /// Milliseconds that the check took.
    elapsed_ms: f64,
}

/// A text that is checked.
pub(crate) fn queried(title: Option<String>, text: String, marks: Vec<Mark>) -> Queried {
    let mut query = Queried::default();
    (query.title, query.text, query.marks) = (title, Some(text), marks);
    query
}

/// A document of the archive whose matches are asked for.
pub(crate) fn queried_document(document: StoredDocument) -> Queried {
    let StoredDocument { entry, text, marks, .. } = document;
    let mut query = Queried::default();
    (query.id, query.title, query.text, query.marks) = (Some(entry.id), entry.title, text, marks);
    query
}

impl ServerState {
    /// Refuses a text that is too long to be checked while somebody waits.
    pub(crate) fn check_length(&self, text: &str) -> Result<(), Problem> {
        let (bytes, limit) = (text.len(), self.limits.text_bytes);
        if bytes <= limit {
            return Ok(());
        }
        let (bytes, limit) = (grouped(bytes as u64), grouped(limit as u64));
        let detail = format!("The text has {bytes} bytes. A text that is checked at once may have {limit}.");
        Err(Problem::new(ProblemKind::TextTooLong, detail))
    }

    /// Checks a text, or a document of the archive.
    pub(crate) fn check(
        &self,
        query: Queried,
        submission: &Submission,
        observer: &dyn Observer,
    ) -> Result<Answered, Problem> {
        let text = query.text.as_deref().unwrap_or_default();
        self.check_length(text)?;
        let options = submission.checked()?;
        let begun = Instant::now();
        let answer = if let Some(id) = &query.id {
            self.index.resembling(id, options, observer)
        } else {
            let asked = Query::new(text).metadata(&submission.metadata.0);
            self.index.check_observed(&asked, options, observer)
        };
        let mut answer = self.told(answer)?;
        let Queried { id, title, text, marks, .. } = query;
        (answer.query.id, answer.query.title, answer.query.text, answer.query.marks) =
            (id, title, text, marks);
        Ok(Answered { answer, elapsed_ms: begun.elapsed().as_secs_f64() * 1e3 })
    }
}

/// Check a text or a file against the archive.
///
/// The answer has the documents of the archive that share text with it, with the shared passages. Nothing is added.
#[utoipa::path(post, path = "/check", operation_id = "check", tag = "check",
    request_body(description = "The text as JSON, or a file as a form", content((CheckText = "application/json"), (CheckFile = "multipart/form-data"))),
    responses((status = 200, description = "The matches", body = Answered)))]
pub(crate) async fn check(At(state): At<SharedState>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    match content {
        BodyContent::Json(ref body) => {
            let bytes = body.len();
            let work = move |state: &ServerState, asked: &StillWaiting| {
                let _held = held;
                let mut options: Submission = content.value()?;
                let missing = || Problem::new(ProblemKind::BadBody, "There is no `text`.");
                let text = options.text.take().ok_or_else(missing)?;
                let marks = Mark::pages(&text);
                let query = queried(options.title.0.take(), text, marks);
                sent(StatusCode::OK, &state.check(query, &options, asked)?)
            };
            state.run_watched(bytes, work).await
        }
        BodyContent::Files { files, options } => {
            let limits = file_limits(state.limits.body_bytes, state.limits.file_time);
            let read = move |state: &ServerState| {
                let mut options: Submission = options.as_deref().map(json).transpose()?.unwrap_or_default();
                options.check_without_text()?;
                let NewDocument { id: name, text, title, marks, mut metadata, .. } =
                    state.only(&files, &limits)?;
                state.check_length(&text)?;
                // What is said of a file counts in place of what it says of itself.
                metadata.extend(std::mem::take(&mut options.metadata.0));
                options.metadata.0 = metadata;
                let title = options.title.0.take().or(title).or(Some(name));
                let bytes = text.len();
                Ok(((held, queried(title, text, marks), options), bytes))
            };
            let work = |state: &ServerState,
                        asked: &StillWaiting,
                        (held, query, options): (HeldMemory, Queried, Submission)| {
                let _held = held;
                sent(StatusCode::OK, &state.check(query, &options, asked)?)
            };
            state.run_read(read, work).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(submission: &str) -> Result<CheckOptions, Problem> {
        serde_json::from_str::<Submission>(submission).unwrap().checked().cloned()
    }

    #[test]
    fn options_are_those_of_the_index_with_maxima() {
        assert_eq!(checked("{}").unwrap(), CheckOptions::default());
        for options in [
            r#"{"threshold": 1.5}"#,
            r#"{"since": "yesterday"}"#,
            r#"{"max_df": 0}"#,
            r#"{"top": 0}"#,
            r#"{"top": 1001}"#,
            r#"{"candidates": 10001}"#,
            r#"{"passages": 10001}"#,
        ] {
            assert_eq!(checked(options).unwrap_err().code, "bad_setting", "{options}");
        }
        assert_eq!(checked(r#"{"top": 1000, "passages": 0}"#).unwrap().top, 1000);
        let two = checked(r#"{"threshold": 7, "top": 5000}"#).unwrap_err().detail.unwrap();
        assert_eq!(
            two,
            "`threshold` cannot be `7`: it must be a number from 0 to 1; `top` cannot be `5000`: it must be at most 1000"
        );
    }

    #[test]
    fn fields_that_nobody_knows_are_refused() {
        for wrong in [r#"{"treshold": 0.5}"#, r#"{"text": "a", "options": {}}"#, r#"{"weight": "heavy"}"#] {
            assert!(serde_json::from_str::<Submission>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_maxima_are_described() {
        let schema = serde_json::to_value(CheckText::schema()).unwrap();
        for BoundedOption { option, most, .. } in BOUNDED {
            assert_eq!(schema["properties"][option]["maximum"], most, "{option}");
        }
        assert_eq!(schema["required"], serde_json::json!(["text"]));
        assert_eq!(schema["additionalProperties"], false);
    }
}
