//! Prints all output and messages. Standard output carries data only; messages go to standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::str::FromStr;

use minwise_corpus::{visible, visible_json, visible_lines};
use serde_json::{Value, json};

use crate::args::{LogFormat, MessageArgs};

/// Reason why a command ended without its result.
#[derive(Debug)]
pub enum LabFailure {
    /// Errors, with a hint about what to try instead.
    Error { messages: Vec<String>, hint: Option<String> },
    /// The reader of standard output closed the pipe, as `head` does after ten lines.
    BrokenPipe,
}

impl LabFailure {
    pub fn new(message: String) -> Self {
        Self::Error { messages: vec![message], hint: None }
    }

    pub fn with_hint(message: String, hint: &str) -> Self {
        Self::Error { messages: vec![message], hint: Some(hint.to_owned()) }
    }
}

impl From<anyhow::Error> for LabFailure {
    fn from(error: anyhow::Error) -> Self {
        // The alternate form includes the causes, which name the file or the experiment.
        Self::new(format!("{error:#}"))
    }
}

impl From<io::Error> for LabFailure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::new(error.to_string())
        }
    }
}

impl From<minwise_corpus::Error> for LabFailure {
    fn from(error: minwise_corpus::Error) -> Self {
        if error.is_broken_pipe() {
            Self::BrokenPipe
        } else {
            Self::Error {
                messages: vec![error.to_string()],
                hint: error.hint().map(|hint| hint.as_flags("minwise-lab")),
            }
        }
    }
}

/// Collects the problems of options in their order, so that all are reported at once.
#[derive(Debug, Default)]
pub struct Problems(Vec<String>);

impl Problems {
    /// Parses a number. If `text` is invalid, the problem is recorded and the default is returned.
    pub fn number<T: FromStr + Default>(&mut self, option: &str, text: &str, kind: &str) -> T {
        text.parse().unwrap_or_else(|_| {
            self.add(option, format_args!("`{text}` is not {kind}"));
            T::default()
        })
    }

    pub fn add(&mut self, option: &str, problem: impl Display) {
        self.0.push(format!("`{option}`: {problem}"));
    }

    /// Returns the collected problems as an error, if there are any.
    pub fn finish(self) -> Result<(), LabFailure> {
        if self.0.is_empty() { Ok(()) } else { Err(LabFailure::Error { messages: self.0, hint: None }) }
    }
}

/// Prints a line of data.
pub fn print(line: &str) -> Result<(), LabFailure> {
    Ok(writeln!(io::stdout().lock(), "{}", visible(line))?)
}

impl MessageArgs {
    /// Prints a step of the run as an event, for programs that read the log.
    pub fn event(self, event: &Value) {
        if self.log == LogFormat::Json && !self.quiet {
            line(&visible_json(&event.to_string()));
        }
    }

    /// Prints a text for people.
    pub fn note(self, text: &str) {
        if self.log == LogFormat::Text && !self.quiet {
            line(text);
        }
    }

    /// Prints the reason why the command ended without its result.
    pub fn failure(self, messages: &[String], hint: Option<&str>) {
        if self.log == LogFormat::Json {
            let hints: Vec<&str> = hint.into_iter().collect();
            let event = json!({"event": "error", "messages": messages, "hints": hints});
            return line(&visible_json(&event.to_string()));
        }
        for message in messages {
            line(&format!("minwise-lab: {}", visible_lines(message)));
        }
        if let Some(hint) = hint {
            line(&format!("\nhint: {}", visible_lines(hint)));
        }
    }
}

fn line(text: &str) {
    // If standard error cannot be written, there is nowhere to report it.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
