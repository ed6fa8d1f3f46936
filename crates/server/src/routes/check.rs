//! What a text or a file repeats of the archive.

use std::time::Instant;

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise::Observer;
use minwise::calendar::DAY_SECONDS;
use minwise::weight::{MostDocuments, Weighting};
use minwise_index::{Answer, DateWindow, Document, Mark, Match, NewDocument, Options, Query, Texts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use utoipa::ToSchema;

use super::sent;
use crate::date;
use crate::limits::Held;
use crate::problem::{Kind, Problem};
use crate::state::{Asked, Shared, State};
use crate::uploads::{Content, Received, file_limits, json};
use crate::wire::{self, Bytes, MarkSent, Metadata, Title};

/// Matches that are told at most.
const MOST_TOLD: usize = 1000;
/// Documents that are compared at most.
const MOST_CANDIDATES: usize = 10_000;

/// A submission, and how it is to be checked.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Submission {
    /// Its text, unless it is a file. Pages of it may end with form feeds.
    text: Option<String>,
    /// What it is called in the answer.
    #[schema(value_type = Option<String>)]
    title: Title,
    /// Documents with at least this similarity are matches; 0.5 without it.
    threshold: Option<f64>,
    /// So are those that share at least this much of either; 0.3 without it.
    containment: Option<f64>,
    /// How many are told; 10 without it, 1000 at most.
    top: Option<usize>,
    /// Fields of the metadata: documents with the same value in one of them are passed over.
    exclude: Vec<String>,
    /// What the submission has in these fields; a file has what it says of itself in those that are not among them.
    #[schema(value_type = Object)]
    metadata: Metadata,
    /// Shingles in more documents than this are no evidence: a number from 1, or a share with a point, such as 0.1.
    #[schema(value_type = Option<f64>)]
    max_df: Option<Number>,
    /// Texts, such as that of a form, that are no evidence.
    ignore_text: Vec<String>,
    /// Whether what stands in quotation marks is no evidence.
    ignore_quotations: bool,
    /// Whether lists of references are no evidence.
    ignore_references: bool,
    /// Documents of before this day are passed over.
    #[schema(format = Date)]
    since: Option<String>,
    /// Documents of after this day are passed over.
    #[schema(format = Date)]
    until: Option<String>,
    /// The field of the metadata that has the day of a document; without it, it is the one on which it was added.
    date_field: Option<String>,
    /// Documents that share a passage of this many tokens are matches too; not fewer than those of the archive, which it is
    /// without it.
    passage: Option<usize>,
    /// How many documents are compared, the most promising; 1000 without it, 10 000 at most.
    candidates: Option<usize>,
    /// How shingles are weighed for `weighted`: `count`, `tf`, `tf-idf` or `tf-idf,smooth`.
    weighting: Option<String>,
}

impl Submission {
    /// Of which only this is known.
    pub(crate) fn with(threshold: Option<f64>, containment: Option<f64>, top: Option<usize>) -> Self {
        Self { threshold, containment, top, ..Self::default() }
    }

    /// What they mean to the index.
    fn meant(&self) -> Result<Options, Problem> {
        let wrong = |detail: String| Problem::new(Kind::BadOption, detail);
        let share = |name: &str, given: Option<f64>, default: f64| {
            let share = given.unwrap_or(default);
            let is_one = (0.0..=1.0).contains(&share);
            if is_one {
                Ok(share)
            } else {
                Err(wrong(format!("`{name}` is {share}, and has to be from 0 to 1")))
            }
        };
        let day = |name: &str, date: &Option<String>, later: u64| match date {
            None => Ok(None),
            Some(date) => match date::day_of(date) {
                Some(day) => Ok(Some(((day + later) * DAY_SECONDS).to_string())),
                None => Err(wrong(format!("`{name}` is not a date such as `2026-03-01`"))),
            },
        };
        // The window of the index ends before its end, ours after the last day.
        let window = DateWindow {
            field: self.date_field.clone(),
            since: day("since", &self.since, 0)?,
            until: day("until", &self.until, 1)?,
        };
        let default = Options::default();
        let max_df = self.max_df.as_ref().map(|most| most.to_string().parse::<MostDocuments>()).transpose();
        let weighting = self.weighting.as_ref().map(|weighting| weighting.parse::<Weighting>()).transpose();
        Ok(Options {
            threshold: share("threshold", self.threshold, default.threshold)?,
            containment: share("containment", self.containment, default.containment)?,
            top: self.top.unwrap_or(default.top).clamp(1, MOST_TOLD),
            max_df: max_df.map_err(|error| wrong(error.to_string()))?,
            ignore_text: self.ignore_text.clone(),
            ignore_quotations: self.ignore_quotations,
            ignore_references: self.ignore_references,
            exclude: self.exclude.clone(),
            passage: self.passage,
            candidates: self.candidates.unwrap_or(default.candidates).clamp(1, MOST_CANDIDATES),
            window: (window.since.is_some() || window.until.is_some()).then_some(window),
            weighting: weighting.map_err(|error| wrong(error.to_string()))?,
            ..default
        })
    }
}

/// A file to be checked.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) struct CheckFile {
    #[schema(format = Binary)]
    file: String,
    options: Option<Submission>,
}

/// What was checked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuerySent {
    /// Its id, if it is a document of the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    title: Option<String>,
    characters: usize,
    /// Distinct shingles that are evidence.
    shingles: usize,
    /// None of a document of an archive that keeps no texts.
    text: Option<String>,
    marks: Vec<MarkSent>,
}

impl QuerySent {
    fn new(title: Option<String>, text: String, marks: &[Mark]) -> Self {
        let (characters, marks) = (text.chars().count(), wire::marks(marks));
        Self { id: None, title, characters, shingles: 0, text: Some(text), marks }
    }
}

impl From<Document> for QuerySent {
    fn from(document: Document) -> Self {
        let Document { entry, text, marks } = document;
        let characters = usize::try_from(entry.characters).unwrap_or(usize::MAX);
        let (id, title, marks) = (Some(entry.id), entry.title, wire::marks(&marks));
        Self { id, title, characters, shingles: 0, text, marks }
    }
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Answered {
    query: QuerySent,
    /// The best first.
    matches: Vec<MatchSent>,
    /// Matches beyond those.
    further: usize,
    /// Documents that were compared exactly.
    candidates: usize,
    /// Candidates that a limit left out.
    not_looked_at: usize,
    /// The least probability with which a document exactly at the threshold is found.
    recall_at_threshold: f64,
    /// Why no match has passages, if none can have.
    no_passages: Option<&'static str>,
    /// Fingerprints that are in too many documents for anything to be looked for by them.
    passed_over: usize,
    elapsed_ms: f64,
    spec: String,
}

/// A document that shares text with what was checked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MatchSent {
    id: String,
    title: Option<String>,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    /// The exact Jaccard similarity.
    similarity: f64,
    /// The exact share of what was checked that is in the document,
    containment_of_query: f64,
    /// and the other way round.
    containment_of_document: f64,
    /// The weighted Jaccard similarity, if it was asked for.
    weighted: Option<f64>,
    /// Tokens of the longest shared passage.
    longest_passage: usize,
    /// Tokens of what was checked that stand in shared passages.
    shared_tokens: usize,
    /// The longest, in the order of what was checked; none where the archive keeps no texts.
    passages: Vec<PassageSent>,
    /// Passages beyond those.
    further_passages: usize,
}

/// A passage that both have.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PassageSent {
    /// Bytes of what was checked.
    #[schema(value_type = [usize; 2])]
    query: Bytes,
    /// Bytes of the document.
    #[schema(value_type = [usize; 2])]
    document: Bytes,
    tokens: usize,
    /// It stands elsewhere in the order of the passages.
    moved: bool,
}

impl From<Match> for MatchSent {
    fn from(found: Match) -> Self {
        // Where the archive keeps no texts, nobody knows where in a document something stands.
        let passages = found.passages.into_iter().filter_map(|passage| {
            let document = passage.document?;
            Some(PassageSent {
                query: (passage.query.start, passage.query.end),
                document: (document.start, document.end),
                tokens: passage.units,
                moved: passage.moved,
            })
        });
        Self {
            id: found.entry.id,
            title: found.entry.title,
            metadata: found.entry.metadata,
            similarity: found.similarity,
            containment_of_query: found.query_in_document,
            containment_of_document: found.document_in_query,
            weighted: found.weighted,
            longest_passage: found.longest,
            shared_tokens: found.shared_units,
            passages: passages.collect(),
            further_passages: found.further_passages,
        }
    }
}

impl State {
    /// Why nobody can say where documents of this archive share passages, if so.
    pub(crate) fn no_passages(&self) -> Option<&'static str> {
        (self.index.settings().texts == Texts::LeftOut)
            .then_some("the archive keeps no texts; one that is made without `--no-text` shows passages")
    }

    /// Refuses a text that is too long to be looked at while somebody waits.
    pub(crate) fn check_length(&self, text: &str) -> Result<(), Problem> {
        let (bytes, limit) = (text.len(), self.limits.text_bytes);
        if bytes <= limit {
            return Ok(());
        }
        let detail = format!("The text has {bytes} bytes. One that is looked at here may have {limit}.");
        Err(Problem::new(Kind::BodyTooLarge, detail)
            .hint("`minwise check` reads longer ones; or send a part"))
    }

    /// What a text, or a document of the archive, repeats of it.
    pub(crate) fn check(
        &self,
        query: QuerySent,
        options: &Submission,
        observer: &dyn Observer,
    ) -> Result<Answered, Problem> {
        let text = query.text.as_deref().unwrap_or_default();
        self.check_length(text)?;
        let meant = options.meant()?;
        let begun = Instant::now();
        let answer = if let Some(id) = &query.id {
            self.index.resembling(id, &meant, observer)
        } else {
            let asked = Query { metadata: Some(&options.metadata.0), ..Query::new(text) };
            self.index.query_observed(&asked, &meant, observer)
        };
        let Answer { shingles, matches, further, compared, not_compared, passed_over, .. } =
            self.told(answer)?;
        Ok(Answered {
            no_passages: self.no_passages(),
            query: QuerySent { shingles, ..query },
            matches: matches.into_iter().map(MatchSent::from).collect(),
            further,
            candidates: compared,
            not_looked_at: not_compared,
            recall_at_threshold: self.told(self.index.settings().probability(meant.threshold))?,
            passed_over,
            elapsed_ms: begun.elapsed().as_secs_f64() * 1e3,
            spec: self.index.settings().spec.to_string(),
        })
    }
}

/// Check a text or a file against the archive.
#[utoipa::path(post, path = "/check", tag = "check",
    request_body(content((Submission = "application/json"), (CheckFile = "multipart/form-data"))),
    responses((status = 200, body = Answered), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn check(At(state): At<Shared>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    match content {
        Content::Json(ref body) => {
            let bytes = body.len();
            let work = move |state: &State, asked: &Asked| {
                let _held = held;
                let mut options: Submission = content.value()?;
                let missing = || Problem::new(Kind::BadBody, "There is no `text`.");
                let text = options.text.take().ok_or_else(missing)?;
                let marks = Mark::pages(&text);
                let query = QuerySent::new(options.title.0.take(), text, &marks);
                sent(StatusCode::OK, &state.check(query, &options, asked)?)
            };
            state.run_watched(bytes, work).await
        }
        Content::Files { files, options } => {
            let limits = file_limits(state.limits.body_bytes, state.limits.file_time);
            let read = move |state: &State| {
                let mut options: Submission = options.as_deref().map(json).transpose()?.unwrap_or_default();
                if options.text.is_some() {
                    return Err(Problem::new(Kind::BadBody, "There is a file, and a `text` beside it."));
                }
                let NewDocument { id: name, text, title, marks, mut metadata } =
                    state.only(&files, &limits)?;
                state.check_length(&text)?;
                // What is said of a file counts in place of what it says of itself.
                metadata.extend(std::mem::take(&mut options.metadata.0));
                options.metadata.0 = metadata;
                let title = options.title.0.take().or(title).or(Some(name));
                let bytes = text.len();
                Ok(((held, QuerySent::new(title, text, &marks), options), bytes))
            };
            let work =
                |state: &State, asked: &Asked, (held, query, options): (Held, QuerySent, Submission)| {
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

    fn meant(options: &str) -> Result<Options, Problem> {
        serde_json::from_str::<Submission>(options).unwrap().meant()
    }

    #[test]
    fn both_days_of_a_window_are_in_it() {
        let window = meant(r#"{"since": "2026-03-01", "until": "2026-03-01"}"#).unwrap().window.unwrap();
        assert_eq!(window.since, Some("1772323200".to_owned()));
        assert_eq!(window.until, Some("1772409600".to_owned()));
        assert_eq!(meant("{}").unwrap().window, None);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for options in [
            r#"{"threshold": 1.5}"#,
            r#"{"containment": -0.1}"#,
            r#"{"since": "yesterday"}"#,
            r#"{"max_df": 0}"#,
            r#"{"max_df": -3}"#,
            r#"{"weighting": "heavy"}"#,
        ] {
            assert_eq!(meant(options).unwrap_err().code, "bad_option", "{options}");
        }
        assert_eq!(meant(r#"{"max_df": 0.25}"#).unwrap().max_df, Some(MostDocuments::Share(0.25)));
        assert_eq!(meant(r#"{"max_df": 500, "top": 0}"#).unwrap().top, 1);
    }
}
