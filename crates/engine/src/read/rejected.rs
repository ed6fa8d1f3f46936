//! Rejected records as listed at the end of a run.

use minwise::Sentence;
use minwise_corpus::{Corpus, GuessedEncoding, Layout, RecordPlace, Reject, RejectLine};

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
        let first: Vec<(u32, &str)> =
            all.iter().map(|rejected| (rejected.source, &*rejected.reason)).collect();
        // A list of several lines begins with a line that is no JSON, and its last object may be a line of its own.
        let begins_list = |first: &Rejected| {
            first.line == 1
                && first.reason == "invalid_json"
                && first.message.contains("EOF while parsing a list")
        };
        let is_all = documents.is_empty() || all.first().is_some_and(begins_list);
        let hint = Self::hint_for(corpus, &first, is_all);
        Self::listed(rejected.len(), all, hint, corpus)
    }

    /// Returns a hint that suits the first rejected records, if there is one. `first` has the source and the
    /// [code](minwise_corpus::RejectReason::code) of each, and `is_all` states that no record of the run could be read.
    #[must_use]
    pub fn hint_for(corpus: &Corpus, first: &[(u32, &str)], is_all: bool) -> Option<Sentence> {
        let wrong_encoding = |&&(_, reason): &&(u32, &str)| reason == "invalid_utf8";
        let not_a_line = |(_, reason): &(u32, &str)| matches!(*reason, "invalid_json" | "not_an_object");
        // A reference can be a text although the inputs are records.
        let is_text = |(source, _): &(u32, &str)| {
            let source = corpus.sources().get(*source as usize);
            source.is_some_and(|source| source.layout() == Layout::Texts)
        };
        let is_texts = corpus.layout() == Layout::Texts || first.iter().all(is_text);
        let &(source, _) = first.first()?;
        let guess =
            || corpus.guess_encoding(first.iter().find(wrong_encoding).map_or(source, |(source, _)| *source));
        if is_all && first.iter().all(not_a_line) {
            if let Some(utf16) = guess().filter(|guess| guess.is_utf16()) {
                return Some(converted(Some(utf16)));
            }
            return Some(
                "JSONL has one object per line: `jq -c '.[]' FILE` makes it of a list, and `jq -c . FILE` of objects that take several lines"
                    .into(),
            );
        }
        if is_texts {
            first.iter().find(wrong_encoding)?;
            let auto = Sentence::new().setting_to("encoding", "auto");
            return Some(match guess() {
                Some(guess) if guess.is_latin1() => auto
                    .text(" or ")
                    .setting_to("encoding", "latin-1")
                    .text(" reads texts that are not UTF-8"),
                Some(guess) => auto.text(format!(
                    " reads texts that are not UTF-8, by a guess from their bytes: {} for the first one",
                    guess.name()
                )),
                None => auto.text(" reads texts that are not UTF-8, by a guess from their bytes"),
            });
        }
        // Of a file in UTF-16, the first line is not UTF-8, and the others may be UTF-8 that is not JSON.
        let are_all_wrong = first.iter().all(|record| wrong_encoding(&record));
        (are_all_wrong || is_all && wrong_encoding(&&first[0])).then(|| converted(guess()))
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

/// Returns the hint for files of records that are not UTF-8.
fn converted(guess: Option<GuessedEncoding>) -> Sentence {
    let hint = Sentence::from("records are always read as UTF-8, and ")
        .setting("encoding")
        .text(" is for files of text");
    match guess {
        Some(guess) => hint.text(format!(
            "; the file seems to be {}: `{}` converts it",
            guess.name(),
            guess.conversion()
        )),
        None => hint.text(": `iconv -f ENCODING -t utf-8 FILE > NEW` converts a file"),
    }
}
