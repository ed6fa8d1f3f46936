//! Checks texts against the archive, with limits on the options over HTTP.

use std::time::Instant;

use minwise::Observer;
use minwise::figure::grouped;
use minwise_index::{Answer, CheckOptions, Mark, OptionProblem, Queried, Query, StoredDocument};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Archive;
use crate::problem::{Problem, ProblemKind};

/// An option with a maximum over HTTP, because the time and the memory of one check must not keep other
/// clients waiting.
pub(crate) struct BoundedOption {
    pub(crate) name: &'static str,
    pub(crate) value: fn(&CheckOptions) -> usize,
    pub(crate) maximum: u32,
    /// Description of the maximum, which a message writes after the words "it must be".
    expected: &'static str,
}

/// All options with a maximum.
pub(crate) const BOUNDED_OPTIONS: [BoundedOption; 3] = [
    BoundedOption { name: "top", value: |options| options.top, maximum: 1000, expected: "at most 1000" },
    BoundedOption {
        name: "candidates",
        value: |options| options.candidates,
        maximum: 10_000,
        expected: "at most 10000",
    },
    BoundedOption {
        name: "passages",
        value: |options| options.passages,
        maximum: 10_000,
        expected: "at most 10000",
    },
];

/// Answer of a check over HTTP: the answer of the index, and the time that the check took.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckAnswer {
    #[serde(flatten)]
    answer: Answer,
    /// Milliseconds that the check took.
    elapsed_ms: f64,
}

/// Returns the query for a text that a client sends.
pub(crate) fn queried_text(title: Option<String>, text: String, marks: Vec<Mark>) -> Queried {
    let mut query = Queried::default();
    (query.title, query.text, query.marks) = (title, Some(text), marks);
    query
}

/// Returns the query for the matches of a document of the archive.
pub(crate) fn queried_document(document: StoredDocument) -> Queried {
    let StoredDocument { entry, text, marks, .. } = document;
    let mut query = Queried::default();
    (query.id, query.title, query.text, query.marks) = (Some(entry.id), entry.title, text, marks);
    query
}

impl Archive {
    /// Returns a problem if a text is over the limit of the server.
    pub(crate) fn check_length(&self, text: &str) -> Result<(), Problem> {
        let (bytes, limit) = (text.len(), self.limits.text_bytes);
        if bytes <= limit {
            return Ok(());
        }
        let (bytes, limit) = (grouped(bytes as u64), grouped(limit as u64));
        let detail = format!("The text has {bytes} bytes. A text that is checked at once may have {limit}.");
        Err(Problem::new(ProblemKind::TextTooLong, detail))
    }

    /// Checks a text, or a document of the archive. `metadata` is the metadata of the text, for the option
    /// `exclude`.
    pub(crate) fn check(
        &self,
        query: Queried,
        metadata: &Map<String, Value>,
        options: &CheckOptions,
        observer: &dyn Observer,
    ) -> Result<CheckAnswer, Problem> {
        let text = query.text.as_deref().unwrap_or_default();
        self.check_length(text)?;
        check_options(options)?;
        let begun = Instant::now();
        let answer = if let Some(id) = &query.id {
            self.index.resembling(id, options, observer)
        } else {
            let asked = Query::new(text).metadata(metadata);
            self.index.check_observed(&asked, options, observer)
        };
        let mut answer = self.or_problem(answer)?;
        let Queried { id, title, text, marks, .. } = query;
        (answer.query.id, answer.query.title, answer.query.text, answer.query.marks) =
            (id, title, text, marks);
        Ok(CheckAnswer { answer, elapsed_ms: begun.elapsed().as_secs_f64() * 1e3 })
    }
}

/// Returns one problem that names all options with a value that is not allowed.
pub(super) fn check_options(options: &CheckOptions) -> Result<(), Problem> {
    let mut problems = options.problems();
    for BoundedOption { name, value, maximum, expected } in BOUNDED_OPTIONS {
        let value = value(options);
        if value > maximum as usize {
            problems.push(OptionProblem::new(name, value, expected));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Err(Problem::new(ProblemKind::BadSetting, problems.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem_of(options: &str) -> Option<Problem> {
        check_options(&serde_json::from_str(options).unwrap()).err()
    }

    #[test]
    fn options_are_those_of_the_index_with_maxima() {
        for options in ["{}", r#"{"top": 1000, "passages": 0}"#] {
            assert_eq!(problem_of(options), None, "{options}");
        }
        for options in [
            r#"{"threshold": 1.5}"#,
            r#"{"since": "yesterday"}"#,
            r#"{"max_df": 0}"#,
            r#"{"top": 0}"#,
            r#"{"top": 1001}"#,
            r#"{"candidates": 10001}"#,
            r#"{"passages": 10001}"#,
        ] {
            assert_eq!(problem_of(options).unwrap().code, "bad_setting", "{options}");
        }
        let two = problem_of(r#"{"threshold": 7, "top": 5000}"#).unwrap().detail.unwrap();
        assert_eq!(
            two,
            "`threshold` cannot be `7`: it must be a number from 0 to 1; `top` cannot be `5000`: it must be at most 1000"
        );
    }
}
