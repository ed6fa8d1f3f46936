//! Rejected records as listed at the end of a run.

use minwise::Sentence;
use minwise_corpus::{Corpus, Layout, RecordPlace, Reject, RejectLine};

use crate::read::documents::Documents;
use crate::read::rejects::{Rejected, Rejects};
use crate::weigh::CountedDocuments;

/// Number of rejected records that are listed. A report lists all rejected records.
const LISTED: usize = 5;

/// Rejected records of a run: their number, and the first five records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedRecords {
    /// The number of rejected records.
    pub count: u64,
    /// The first five rejected records, each with its place and reason in words.
    pub first: Vec<String>,
    /// The first five rejected records, for programs.
    pub lines: Vec<RejectLine>,
    /// A hint, if the reasons suggest one.
    pub hint: Option<Sentence>,
}

impl RejectedRecords {
    /// Lists the records that were rejected while document frequencies were counted.
    pub(crate) fn of_counted(counted: &CountedDocuments, corpus: &Corpus) -> Self {
        let rejected = |(place, reject): &(RecordPlace, Reject)| Rejected::new(place, reject.clone());
        let first: Vec<Rejected> = counted.first.iter().map(rejected).collect();
        Self::listed(counted.rejected, &first, None, corpus)
    }

    pub(crate) fn new(documents: &Documents, rejected: &Rejects, corpus: &Corpus) -> Self {
        let all = rejected.first();
        let reasons: Vec<&str> = all.iter().map(|rejected| &*rejected.reason).collect();
        // A list of several lines begins with a line that is no JSON, and its last object may be a line of its own.
        let begins_list = |first: &Rejected| {
            first.line == 1
                && first.reason == "invalid_json"
                && first.message.contains("EOF while parsing a list")
        };
        let is_all = documents.is_empty() || all.first().is_some_and(begins_list);
        // A reference can be a text although the inputs are records.
        let is_text = |rejected: &Rejected| {
            corpus
                .sources()
                .get(rejected.source as usize)
                .is_some_and(|source| source.layout() == Layout::Texts)
        };
        let layout = if all.iter().all(is_text) { Layout::Texts } else { corpus.layout() };
        let hint = Self::hint_for(layout, &reasons, is_all);
        Self::listed(rejected.len(), all, hint, corpus)
    }

    /// Returns a hint that suits the [codes](minwise_corpus::RejectReason::code) of the first rejected records, if
    /// there is one. `is_all` states that no record of the run could be read.
    #[must_use]
    pub fn hint_for(layout: Layout, reasons: &[&str], is_all: bool) -> Option<Sentence> {
        let wrong_encoding = |reason: &&str| *reason == "invalid_utf8";
        let not_a_line = |reason: &&str| matches!(*reason, "invalid_json" | "not_an_object");
        if reasons.is_empty() {
            None
        } else if is_all && reasons.iter().all(not_a_line) {
            Some(
                "JSONL has one object per line: `jq -c '.[]' FILE` makes it of a list, and `jq -c . FILE` of objects that take several lines"
                    .into(),
            )
        } else if layout == Layout::Texts && reasons.iter().any(wrong_encoding) {
            Some(
                Sentence::new()
                    .setting_to("encoding", "auto")
                    .text(" or ")
                    .setting_to("encoding", "latin-1")
                    .text(" reads texts that are not UTF-8"),
            )
        } else if reasons.iter().all(wrong_encoding) || is_all && wrong_encoding(&reasons[0]) {
            // Of a file in UTF-16, the first line is not UTF-8, and the others may be UTF-8 that is not JSON.
            Some(
                Sentence::from("records are always read as UTF-8, and ")
                    .setting("encoding")
                    .text(" is for files of text: `iconv -f latin1 -t utf-8 FILE > NEW` converts a file, or `-f utf-16` if it is UTF-16"),
            )
        } else {
            None
        }
    }

    fn listed(count: u64, all: &[Rejected], hint: Option<Sentence>, corpus: &Corpus) -> Self {
        let first = || all.iter().take(LISTED);
        Self {
            count,
            first: first().map(|rejected| rejected.describe(corpus)).collect(),
            lines: first().map(|rejected| rejected.clone().line(corpus)).collect(),
            hint,
        }
    }
}
