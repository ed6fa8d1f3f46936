//! Errors that stop a run.
//!
//! Messages and hints name settings as data ([`Sentence`]), because the command spells settings as flags and Python
//! spells them as arguments.

use std::fmt;
use std::io;

use minwise::figure::{grouped, subject};
use minwise::{Sentence, escape_control};

use crate::memory::MemoryLimit;

/// Error that ended a run without a result.
#[derive(Debug)]
pub struct Error {
    kind: Box<ErrorKind>,
    cause: Option<io::Error>,
}

/// Reason why a setting is refused, with its value and a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingProblem {
    /// Name of the setting with hyphens, such as `max-cluster`.
    pub setting: &'static str,
    /// Value of the setting, as text.
    pub value: String,
    /// Reason why the value is refused.
    pub reason: Sentence,
    /// Advice about what to try instead.
    pub hint: Option<Sentence>,
}

impl SettingProblem {
    /// Creates a problem without a hint.
    pub fn new(setting: &'static str, value: impl fmt::Display, reason: impl Into<Sentence>) -> Self {
        Self { setting, value: value.to_string(), reason: reason.into(), hint: None }
    }

    /// Adds a hint to the problem.
    #[must_use]
    pub fn hint(self, hint: impl Into<Sentence>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Creates a problem from an error of `minwise` about a setting.
    pub fn of(setting: &'static str, value: impl fmt::Display, error: &minwise::Error) -> Self {
        let reason = error.to_string().into();
        Self { setting, value: value.to_string(), reason, hint: error.hint() }
    }

    /// Creates the problem of a recall that was given together with bands and rows, which determine the recall.
    pub(crate) fn recall_beside_bands(recall: f64) -> Self {
        let reason = Sentence::from("it follows from ").setting("bands").text(" and ").setting("rows");
        Self::new("recall", recall, reason.text(", so that it cannot be given beside them"))
    }

    /// Returns the message as a whole sentence, which begins with the setting.
    #[must_use]
    pub fn message(&self) -> Sentence {
        let before = Sentence::new().setting(self.setting).text(": ");
        before.followed_by(&self.reason)
    }
}

/// Kind of an error, with its details.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The settings are invalid, alone or in combination. The value lists every problem, in the order of the settings.
    Settings(Vec<SettingProblem>),
    /// Error of the crate `minwise` that concerns no single setting: two specs differ, or a value is out of range.
    Spec(minwise::Error),
    /// An input or an output could not be read or written.
    Corpus(minwise_corpus::Error),
    /// More records were rejected than allowed.
    TooManyRejects {
        /// Number of rejected records that are allowed.
        allowed: u64,
        /// Rejected record that exceeded the allowed number, in words.
        last: String,
    },
    /// All records were rejected, so nothing was written.
    AllRejected {
        /// Number of records.
        records: u64,
        /// First rejected record and its reason, in words.
        first: String,
        /// Advice about what to try, if the reasons suggest something.
        hint: Option<Sentence>,
    },
    /// None of the first records has the text field.
    NoTextField {
        /// Name of the field, or names of the fields.
        field: String,
        /// Number of records that were examined.
        records: u64,
        /// Fields of the first examined record.
        fields: Vec<String>,
    },
    /// The text of a record is null, and the settings make that an error.
    NullText {
        /// Description of the record.
        record: String,
    },
    /// The corpus has more documents than can be numbered.
    TooManyDocuments,
    /// No document has a field that the keeper policy uses.
    NoSuchField {
        /// Name of the field.
        field: String,
        /// Fields of the first document.
        fields: Vec<String>,
    },
    /// No document has the requested id.
    NoSuchId {
        /// Requested id.
        id: String,
        /// Explanation of where ids come from.
        hint: Sentence,
    },
    /// A file in a format of Minwise's own cannot be read or written.
    File {
        /// Path of the file.
        path: String,
        /// Action that failed, as a verb.
        action: &'static str,
        /// Reason why the action failed.
        reason: String,
        /// Advice about what to try instead.
        hint: Option<Sentence>,
    },
    /// Outputs cannot be written as requested.
    Output {
        /// Reason why the outputs cannot be written.
        message: Sentence,
        /// Advice about what to try instead.
        hint: Option<Sentence>,
    },
    /// A run cannot be resumed, because a setting or an input has changed since it began.
    Changed {
        /// Name of the setting that differs, if the difference is a setting.
        setting: Option<String>,
        /// Description of the difference, as the rest of a sentence that begins with the setting.
        reason: String,
    },
    /// The documents were read with one plan, and a different plan was given to decide about them.
    ReadOtherwise {
        /// Field of the plan that differs.
        field: &'static str,
    },
    /// The allowed memory is too small for the number of documents.
    TooLittleMemory {
        /// Allowed memory.
        allowed: MemoryLimit,
        /// Needed memory.
        needed: MemoryLimit,
        /// Parts of the needed memory, in words. The needed memory is their sum plus an eighth.
        reason: String,
        /// Number of threads for which the allowed memory is enough, or `None` if it is not enough for one thread.
        threads: Option<usize>,
    },
    /// The observer cancelled the run. If the observer cancels while inputs are opened, the kind is
    /// [`Corpus`](Self::Corpus) instead; [`Error::is_cancelled`] recognises both kinds.
    Cancelled,
}

impl ErrorKind {
    /// Returns a stable name of the kind, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Settings(_) => "bad_setting",
            Self::Spec(error) => error.code(),
            Self::Corpus(error) => error.code(),
            Self::TooManyRejects { .. } => "too_many_rejects",
            Self::AllRejected { .. } => "all_rejected",
            Self::NoTextField { .. } => "no_text_field",
            Self::NullText { .. } => "null",
            Self::TooManyDocuments => "too_many_documents",
            Self::NoSuchField { .. } => "no_such_field",
            Self::NoSuchId { .. } => "no_such_document",
            Self::File { .. } => "file",
            Self::Output { .. } => "output",
            Self::Changed { .. } => "run_changed",
            Self::ReadOtherwise { .. } => "read_otherwise",
            Self::TooLittleMemory { .. } => "too_little_memory",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Error {
    /// Returns the kind of the error, for code that reacts to it.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns a stable name of the error, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns the problems of the settings, or an empty slice if the error has another kind.
    #[must_use]
    pub fn problems(&self) -> &[SettingProblem] {
        match &*self.kind {
            ErrorKind::Settings(problems) => problems,
            _ => &[],
        }
    }

    /// Returns the error of the operating system that caused this error, if there is one.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match &*self.kind {
            ErrorKind::Corpus(error) => error.io_error(),
            _ => self.cause.as_ref(),
        }
    }

    /// Returns the message, in which the names of settings are data.
    #[must_use]
    pub fn message(&self) -> Sentence {
        match &*self.kind {
            ErrorKind::Settings(problems) => {
                let mut messages = problems.iter().map(SettingProblem::message);
                let first = messages.next().unwrap_or_default();
                messages.fold(first, |all, next| all.text("; ").followed_by(&next))
            }
            ErrorKind::Spec(error) => error.to_string().into(),
            ErrorKind::Corpus(error) => error.message(),
            ErrorKind::TooManyRejects { allowed: 0, last } => Sentence::from("a record was rejected, but ")
                .setting_to("max-rejects", "0")
                .text(format!(" permits none: {last}")),
            ErrorKind::TooManyRejects { allowed, last } => {
                let rejected = subject(*allowed, "record", ["was", "were"]);
                format!("more than {rejected} rejected; the last one: {last}").into()
            }
            ErrorKind::AllRejected { records: 1, first, .. } => {
                format!("the only record was rejected: {first}").into()
            }
            ErrorKind::AllRejected { records, first, .. } => {
                format!("all {} records were rejected; the first one: {first}", grouped(*records)).into()
            }
            ErrorKind::NoTextField { field, records: 1, .. } => {
                format!("the only record has no field `{}`", escape_control(field)).into()
            }
            ErrorKind::NoTextField { field, records, .. } => {
                let (records, field) = (grouped(*records), escape_control(field));
                format!("none of the first {records} records has the field `{field}`").into()
            }
            ErrorKind::NullText { record } => record.clone().into(),
            ErrorKind::TooManyDocuments => "the corpus has more than 4,294,967,294 documents".into(),
            ErrorKind::NoSuchField { field, .. } => {
                format!("no document has the field `{}`", escape_control(field)).into()
            }
            ErrorKind::NoSuchId { id, .. } => {
                format!("no document has the id `{}`", escape_control(id)).into()
            }
            ErrorKind::File { path, action, reason, .. } => {
                format!("cannot {action} `{}`: {reason}", escape_control(path)).into()
            }
            ErrorKind::Output { message, .. } => message.clone(),
            ErrorKind::Changed { setting, reason } => {
                let message = Sentence::from("the run cannot be continued: ");
                let message = match setting {
                    Some(setting) => message.setting(setting.clone()).text(" "),
                    None => message,
                };
                message.text(escape_control(reason).into_owned())
            }
            ErrorKind::ReadOtherwise { field } => format!(
                "the documents were read with a different {field} than the plan that is to decide has"
            )
            .into(),
            ErrorKind::TooLittleMemory { allowed, needed, reason, .. } => {
                let (allowed, needed) = (allowed.in_words(), needed.in_words());
                format!("{reason}; with a reserve of an eighth, the run needs {needed}, but only {allowed} are allowed")
                    .into()
            }
            ErrorKind::Cancelled => "stopped".into(),
        }
    }

    /// Returns a hint with settings to try instead, if there is one. Each [`SettingProblem`] has its own hint; if
    /// several settings are refused, the first hint is returned.
    #[must_use]
    pub fn hint(&self) -> Option<Sentence> {
        match &*self.kind {
            ErrorKind::Settings(problems) => problems.iter().find_map(|problem| problem.hint.clone()),
            ErrorKind::Spec(error) => error.hint(),
            ErrorKind::Corpus(error) => error.hint(),
            ErrorKind::TooManyRejects { .. } => Some(
                Sentence::new()
                    .setting("dry-run")
                    .text(" with ")
                    .setting_to("report", "DIR")
                    .text(" lists every rejected record in `DIR/rejects.jsonl`"),
            ),
            ErrorKind::NoTextField { field, records, fields } => {
                let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
                if let Some(similar) = fields.iter().find(|other| plain(other) == plain(field)) {
                    let hint = format!("did you mean `{}`? ", escape_control(similar));
                    return Some(Sentence::from(hint).followed_by(&fields_of("record", fields)));
                }
                let hint = Sentence::new()
                    .setting_to("text-field", "NAME")
                    .text(" names the field that holds the text");
                let hint = if fields.is_empty() {
                    hint
                } else {
                    hint.text("; ").followed_by(&fields_of("record", fields))
                };
                Some(match list_of_records(*records, field, fields) {
                    Some(list) => {
                        let list = escape_control(list);
                        hint.text(format!(
                            "; `jq -c '.{list}[]' FILE` makes a record of each element of `{list}`"
                        ))
                    }
                    None => hint,
                })
            }
            ErrorKind::NullText { .. } => Some(
                Sentence::new()
                    .setting_to("null", "keep")
                    .text(" keeps such records, and ")
                    .setting_to("null", "reject")
                    .text(" leaves them out"),
            ),
            ErrorKind::TooManyDocuments => Some("split the corpus, or run it in parts".into()),
            ErrorKind::NoSuchField { fields, .. } => Some(fields_of("document", fields)),
            ErrorKind::NoSuchId { hint, .. } => Some(hint.clone()),
            ErrorKind::AllRejected { hint, .. }
            | ErrorKind::File { hint, .. }
            | ErrorKind::Output { hint, .. } => hint.clone(),
            ErrorKind::Changed { .. } => Some(
                Sentence::from(
                    "repeat the options and inputs of the first start, or begin anew with another ",
                )
                .setting("work"),
            ),
            ErrorKind::ReadOtherwise { .. } => Some("use the same plan for reading and for deciding".into()),
            ErrorKind::TooLittleMemory { needed, threads, .. } => {
                let hint = match threads {
                    Some(threads) => Sentence::new().setting_to("threads", threads.to_string()).text(" or "),
                    None => Sentence::new(),
                };
                Some(hint.setting_to("memory", needed.to_string()).text(" would be enough"))
            }
            ErrorKind::Cancelled => None,
        }
    }

    /// Creates an error about a file in a format of Minwise's own.
    pub(crate) fn file(action: &'static str, path: &str, reason: String) -> Self {
        ErrorKind::File { path: path.to_owned(), action, reason, hint: None }.into()
    }

    /// Creates an error about a file in a format of Minwise's own on which a call of the operating system failed.
    pub(crate) fn io(action: &'static str, path: &str, cause: io::Error) -> Self {
        let cause = minwise_corpus::os_error(cause);
        let kind = ErrorKind::File { path: path.to_owned(), action, reason: cause.to_string(), hint: None };
        Self { kind: Box::new(kind), cause: Some(cause) }
    }

    /// Reports whether the run was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        match &*self.kind {
            ErrorKind::Cancelled => true,
            ErrorKind::Corpus(error) => error.is_cancelled(),
            _ => false,
        }
    }

    /// Reports whether the process that reads the output has closed its end of the pipe.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        self.io_error().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Returns the list that most likely holds the records, if the only record of a file is an object around them.
fn list_of_records<'f>(records: u64, field: &str, fields: &'f [String]) -> Option<&'f str> {
    let mut lists = fields.iter().filter_map(|path| path.split_once("[]."));
    let list = lists.find(|(_, member)| *member == field).map(|(list, _)| list);
    list.filter(|list| records == 1 && list.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c)))
}

/// Returns a hint that lists the fields of the first record or document.
fn fields_of(what: &str, fields: &[String]) -> Sentence {
    let fields: Vec<String> = fields.iter().map(|field| format!("`{}`", escape_control(field))).collect();
    match fields.as_slice() {
        [only] => format!("the only field of the first {what} is {only}").into(),
        all => format!("the fields of the first {what} are {}", all.join(", ")).into(),
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind: Box::new(kind), cause: None }
    }
}

impl From<SettingProblem> for Error {
    fn from(problem: SettingProblem) -> Self {
        ErrorKind::Settings(vec![problem]).into()
    }
}

impl From<minwise::Error> for Error {
    fn from(error: minwise::Error) -> Self {
        ErrorKind::Spec(error).into()
    }
}

impl From<minwise_corpus::Error> for Error {
    fn from(error: minwise_corpus::Error) -> Self {
        ErrorKind::Corpus(error).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.kind {
            ErrorKind::Spec(error) => std::error::Error::source(error),
            ErrorKind::Corpus(error) => std::error::Error::source(error),
            // The message already contains the text of the cause.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_one_is_singular() {
        let last = || "in.jsonl:7: not JSON".to_owned();
        let first = last;
        for (kind, message) in [
            (
                ErrorKind::TooManyRejects { allowed: 0, last: last() },
                "a record was rejected, but `max_rejects = 0` permits none: in.jsonl:7: not JSON",
            ),
            (
                ErrorKind::TooManyRejects { allowed: 1, last: last() },
                "more than 1 record was rejected; the last one: in.jsonl:7: not JSON",
            ),
            (
                ErrorKind::TooManyRejects { allowed: 2000, last: last() },
                "more than 2,000 records were rejected; the last one: in.jsonl:7: not JSON",
            ),
            (
                ErrorKind::AllRejected { records: 1234, first: first(), hint: None },
                "all 1,234 records were rejected; the first one: in.jsonl:7: not JSON",
            ),
            (
                ErrorKind::NoTextField { field: "text".to_owned(), records: 1000, fields: vec![] },
                "none of the first 1,000 records has the field `text`",
            ),
        ] {
            assert_eq!(Error::from(kind).to_string(), message);
        }
    }

    #[test]
    fn a_missing_text_field_leads_to_the_field_that_was_meant() {
        let hint = |field: &str, records: u64, fields: &[&str]| {
            let fields = fields.iter().map(|field| (*field).to_owned()).collect();
            let kind = ErrorKind::NoTextField { field: field.to_owned(), records, fields };
            Error::from(kind).hint().unwrap().as_flags("minwise")
        };
        assert_eq!(
            hint("Text", 3, &["id", "text"]),
            "did you mean `text`? the fields of the first record are `id`, `text`"
        );
        let jq = "; `jq -c '.data[]' FILE` makes a record of each element of `data`";
        assert!(hint("text", 1, &["data[].text"]).ends_with(jq));
        assert!(!hint("text", 2, &["data[].text"]).contains("jq"));
        assert!(!hint("text", 1, &["messages[].content"]).contains("jq"));
        assert!(!hint("text", 1, &["a'$(x)[].text"]).contains("jq"));
    }
}
