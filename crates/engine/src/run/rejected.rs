//! Rejected records, as the end of a run lists them.

use minwise::Sentence;
use minwise_corpus::{Corpus, Layout};

use crate::read::Reading;
use crate::read::rejects::Rejected;

/// Rejected records that are listed; a report has all of them.
const LISTED: usize = 5;

/// The records of a run that were rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRecords {
    /// How many there are.
    pub count: u64,
    /// The first five, each with its place and reason.
    pub first: Vec<String>,
    /// What to try, where their reasons suggest something.
    pub hint: Option<Sentence>,
}

impl RejectedRecords {
    pub(super) fn new(reading: &Reading, corpus: &Corpus) -> Self {
        let all = reading.rejected.first();
        let first = all.iter().take(LISTED).map(|rejected| rejected.describe(corpus)).collect();
        let wrong_encoding = |rejected: &Rejected| rejected.code == "invalid_utf8";
        let not_a_line = |rejected: &Rejected| matches!(&*rejected.code, "invalid_json" | "not_an_object");
        let hint = if reading.documents.is_empty() && all.iter().all(not_a_line) {
            Some("JSONL has one object a line; `jq -c` makes it of JSON that is laid out otherwise".into())
        } else if corpus.layout() == Layout::Texts && all.iter().any(wrong_encoding) {
            Some(
                Sentence::new()
                    .setting_to("encoding", "auto")
                    .text(" or ")
                    .setting_to("encoding", "latin-1")
                    .text(" reads texts that are not UTF-8"),
            )
        } else {
            None
        };
        Self { count: reading.rejected.len(), first, hint }
    }
}
