//! Prints all output and messages. Standard output carries data only; messages go to standard error.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stderr};

use minwise::Sentence;
use minwise::figure::{counted, grouped};
use minwise::shortened;
use minwise_corpus::{RejectLine, Skipped, visible, visible_json, visible_lines};
use serde_json::json;

use crate::args::{ColorChoice, LogFormat, OutputOptions};
use crate::color::{self, Label};
use crate::spell::spelled;

/// Reason why a command ended without its result.
#[derive(Debug)]
pub enum Failure {
    /// Options that are invalid, alone or together.
    Options(Vec<FlagProblem>),
    /// Error with its stable code, and a hint about what to try instead.
    Error { code: &'static str, message: String, hint: Option<String> },
    /// The reader of the output closed the pipe.
    BrokenPipe,
    /// The person asked to stop. The hint depends on the command and is found later.
    Interrupted,
}

/// Problem of one option.
#[derive(Debug)]
pub struct FlagProblem {
    /// Option in backticks, followed by the problem.
    pub message: String,
    /// Hint about what to try instead.
    pub hint: Option<String>,
}

impl From<&minwise_engine::SettingProblem> for FlagProblem {
    fn from(problem: &minwise_engine::SettingProblem) -> Self {
        Self { message: spelled(&problem.message()), hint: problem.hint.as_ref().map(spelled) }
    }
}

impl FlagProblem {
    /// Returns the option with which the message begins.
    pub fn option(&self) -> &str {
        let rest = self.message.strip_prefix('`');
        rest.and_then(|rest| rest.split_once('`')).map_or("", |(option, _)| option)
    }
}

impl Failure {
    fn coded(code: &'static str, message: String, hint: Option<&Sentence>) -> Self {
        Self::Error { code, message, hint: hint.map(spelled) }
    }
}

impl From<minwise_engine::Error> for Failure {
    fn from(error: minwise_engine::Error) -> Self {
        if error.is_cancelled() {
            Self::Interrupted
        } else if error.is_broken_pipe() {
            Self::BrokenPipe
        } else {
            match error.problems() {
                [] => Self::coded(error.code(), spelled(&error.message()), error.hint().as_ref()),
                problems => Self::Options(problems.iter().map(FlagProblem::from).collect()),
            }
        }
    }
}

impl From<minwise_corpus::Error> for Failure {
    fn from(error: minwise_corpus::Error) -> Self {
        minwise_engine::Error::from(error).into()
    }
}

impl From<minwise_index::Error> for Failure {
    fn from(error: minwise_index::Error) -> Self {
        match error.kind() {
            minwise_index::ErrorKind::Interrupted => Self::Interrupted,
            _ if error.is_broken_pipe() => Self::BrokenPipe,
            _ => Self::coded(error.code(), error.to_string(), error.hint().as_ref()),
        }
    }
}

impl From<minwise_server::Error> for Failure {
    fn from(error: minwise_server::Error) -> Self {
        Self::coded(error.code(), error.to_string(), error.hint().as_ref())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::Error { code: "io", message: error.to_string(), hint: None }
        }
    }
}

/// Code of an option with an invalid value.
const BAD_SETTING: &str = "bad_setting";

/// Error that only the command makes, not a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandError {
    /// The folder of the documents is the archive.
    Archive,
    /// An argument does not fit the command, alone or with others.
    BadSetting,
    /// The sheet of metadata cannot be read.
    BadSheet,
    /// An entry could not be written as JSON.
    Internal,
    /// The system limits the memory of the process to less than any run needs.
    MemoryLimit,
    /// There is no such subcommand.
    NoSuchCommand,
    /// No document has this id, or stands at this place.
    NoSuchDocument,
    /// The system refused an allocation in the middle of a run.
    OutOfMemory,
    /// Two documents would have the same id.
    SameIds,
}

/// Warning that only the command makes, not a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandWarning {
    /// The server stopped before it had added documents that it had accepted.
    NotAdded,
    /// The options ask for shorter passages than the archive is certain to find, so some may be missed.
    ShortPassages,
    /// The sheet of metadata has ids that no document has, or no record has a field of `--meta-fields`.
    UnusedMetadata,
}

impl CommandWarning {
    /// Returns the stable code of the warning, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotAdded => "not_added",
            Self::ShortPassages => "short_passages",
            Self::UnusedMetadata => "unused_metadata",
        }
    }
}

impl CommandError {
    /// Returns the stable code of the error, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::BadSetting => BAD_SETTING,
            Self::BadSheet => "bad_sheet",
            Self::Internal => "internal",
            Self::MemoryLimit => "memory_limit",
            Self::NoSuchCommand => "no_such_command",
            Self::NoSuchDocument => "no_such_document",
            Self::OutOfMemory => "out_of_memory",
            Self::SameIds => "same_ids",
        }
    }

    /// Returns a failure with this code, message and hint.
    pub fn with(self, message: impl Into<String>, hint: Option<&str>) -> Failure {
        Failure::Error { code: self.code(), message: message.into(), hint: hint.map(str::to_owned) }
    }
}

/// Prints messages as text or JSON, as the options ask.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    options: OutputOptions,
    has_color: bool,
}

impl Printer {
    pub fn new(options: OutputOptions, color: ColorChoice) -> Self {
        Self { options, has_color: color::is_wanted(color, &stderr()) }
    }

    /// Prints a message after its label. Control characters from documents are escaped, so that they cannot change the
    /// terminal.
    fn labelled(&self, label: Label, message: &str) {
        let lines: Vec<_> = message.split('\n').map(shortened).collect();
        line(&format!("{} {}", label.text(self.has_color), visible_lines(&lines.join("\n"))));
    }

    pub fn is_json(&self) -> bool {
        self.options.log == LogFormat::Json
    }

    /// Reports whether a progress bar is shown: standard error is a terminal, and messages are neither JSON nor quiet.
    pub fn shows_progress(&self) -> bool {
        !self.options.quiet && !self.is_json() && stderr().is_terminal()
    }

    /// Prints a warning with its stable code, even with `--quiet`.
    pub fn warning(&self, code: &str, message: &str) {
        if self.is_json() {
            json_line(&json!({"event": "warning", "code": code, "message": message}));
        } else {
            self.labelled(Label::Warning, &visible(message));
        }
    }

    /// Prints a step of the run as a JSON event.
    pub fn event(&self, event: &serde_json::Value) {
        if self.is_json() && !self.options.quiet {
            json_line(event);
        }
    }

    /// Prints a text for people.
    pub fn note(&self, text: &str) {
        if !self.options.quiet && !self.is_json() {
            line(text);
        }
    }

    /// Prints the number of rejected records, and the first rejected records. They are printed even with `--quiet`,
    /// because they change the exit code to 2 unless they are permitted. `lines` are the same records as `first`, for
    /// JSON.
    pub fn rejects(
        &self,
        count: u64,
        first: &[String],
        lines: &[RejectLine],
        are_permitted: bool,
        hint: &str,
    ) {
        if count == 0 {
            return;
        }
        let were = if count == 1 { "was" } else { "were" };
        if self.is_json() {
            json_line(&json!({"event": "rejects", "count": count, "first": lines, "hint": hint}));
            return;
        }
        let mut text = format!("{} {were} rejected", counted(count, "record"));
        for reject in first {
            let _ = write!(text, "\n    {}", visible(&shortened(reject)));
        }
        if (first.len() as u64) < count {
            let _ = write!(text, "\n    and {} more", grouped(count - first.len() as u64));
        }
        self.labelled(if are_permitted { Label::Warning } else { Label::Error }, &text);
        line("");
        self.labelled(Label::Hint, hint);
    }

    /// Prints the files that were skipped, if the options ask for them.
    pub fn skipped(&self, files: &[Skipped]) {
        if !self.options.verbose || files.is_empty() {
            return;
        }
        if self.is_json() {
            let file = |Skipped { name, reason, .. }: &Skipped| json!({"file": name, "reason": reason.code(), "message": reason.to_string()});
            let list: Vec<serde_json::Value> = files.iter().map(file).collect();
            json_line(&json!({"event": "skipped", "count": files.len(), "files": list}));
            return;
        }
        let were = if files.len() == 1 { "was" } else { "were" };
        let mut text = format!("{} {were} skipped", counted(files.len() as u64, "file"));
        for Skipped { name, reason, .. } in files {
            let _ = write!(text, "\n    {}: {reason}", visible(&shortened(name)));
        }
        self.labelled(Label::Note, &text);
    }

    /// Prints the last line after Ctrl-C: the state of the work, and a hint about how to continue.
    pub fn interrupted(&self, message: &str, hint: Option<&str>) {
        let (code, hint) = ("cancelled", hint.map(str::to_owned));
        self.failure(&Failure::Error { code, message: format!("interrupted: {message}"), hint });
    }

    /// Prints the reason why a command ended without its result.
    pub fn failure(&self, failure: &Failure) {
        let errors: Vec<(&str, &str, Option<&str>)> = match failure {
            Failure::Options(problems) => problems
                .iter()
                .map(|problem| (BAD_SETTING, problem.message.as_str(), problem.hint.as_deref()))
                .collect(),
            Failure::Error { code, message, hint } => vec![(code, message, hint.as_deref())],
            Failure::BrokenPipe | Failure::Interrupted => return,
        };
        if self.is_json() {
            for (code, message, hint) in errors {
                json_line(&json!({"event": "error", "code": code, "message": message, "hint": hint}));
            }
            return;
        }
        for (_, message, _) in &errors {
            self.labelled(Label::Error, message);
        }
        if errors.iter().any(|(.., hint)| hint.is_some()) {
            line("");
        }
        for hint in errors.iter().filter_map(|(.., hint)| *hint) {
            self.labelled(Label::Hint, hint);
        }
    }
}

fn json_line(value: &serde_json::Value) {
    line(&visible_json(&value.to_string()));
}

fn line(text: &str) {
    // If standard error cannot be written, there is no other way to report it.
    let _ = writeln!(stderr().lock(), "{text}");
}
