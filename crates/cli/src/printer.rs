//! Everything that is printed. Standard output carries data only; messages go to standard error.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use minwise::Sentence;
use minwise_corpus::{RejectLine, Skipped, visible, visible_json, visible_lines};
use minwise_engine::Search;
use minwise_engine::audit::Audit;
use minwise_engine::report::Summary;
use serde_json::json;

use crate::args::{LogFormat, OutputOptions};
use crate::spell::spelled;

/// Why a command ended without its result.
#[derive(Debug)]
pub enum Failure {
    /// Options that make no sense.
    Options(Vec<FlagProblem>),
    /// An error with its stable code, and what to try instead.
    Error { code: &'static str, message: String, hint: Option<String> },
    /// Whoever read the output has stopped reading.
    BrokenPipe,
    /// The person asked to stop.
    Interrupted,
}

/// One thing that is wrong with the options.
#[derive(Debug)]
pub struct FlagProblem {
    /// The option, in backticks, and what is wrong with it.
    pub message: String,
    /// What to try instead.
    pub hint: Option<String>,
}

impl From<&minwise_engine::SettingProblem> for FlagProblem {
    fn from(problem: &minwise_engine::SettingProblem) -> Self {
        Self { message: spelled(&problem.message()), hint: problem.hint.as_ref().map(spelled) }
    }
}

impl FlagProblem {
    /// The option that the message begins with.
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

/// The code of an option with a value that it cannot have.
const BAD_SETTING: &str = "bad_setting";

/// An error of the command itself: a library would not make it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandError {
    /// An argument does not fit the command, alone or with others.
    BadSetting,
    /// The sheet of metadata cannot be read.
    BadSheet,
    /// An entry could not be written as JSON.
    Internal,
    /// There is no such subcommand.
    NoSuchCommand,
    /// No document has this id, or stands at this place.
    NoSuchDocument,
    /// Two documents would have the same id.
    SameIds,
}

/// A warning of the command itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandWarning {
    /// The server stopped before it had added documents that it had accepted.
    NotAdded,
    /// Passages as short as asked for may be missed.
    ShortPassages,
    /// The sheet of metadata has ids that no document has.
    UnusedMetadata,
}

impl CommandWarning {
    /// A stable name for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotAdded => "not_added",
            Self::ShortPassages => "short_passages",
            Self::UnusedMetadata => "unused_metadata",
        }
    }
}

impl CommandError {
    /// A stable name for programs.
    fn code(self) -> &'static str {
        match self {
            Self::BadSetting => BAD_SETTING,
            Self::BadSheet => "bad_sheet",
            Self::Internal => "internal",
            Self::NoSuchCommand => "no_such_command",
            Self::NoSuchDocument => "no_such_document",
            Self::SameIds => "same_ids",
        }
    }

    /// The failure with this message and hint.
    pub fn with(self, message: impl Into<String>, hint: Option<&str>) -> Failure {
        Failure::Error { code: self.code(), message: message.into(), hint: hint.map(str::to_owned) }
    }
}

/// Prints messages in the form that was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    options: OutputOptions,
}

impl Printer {
    pub fn new(options: OutputOptions) -> Self {
        Self { options }
    }

    pub fn is_json(&self) -> bool {
        self.options.log == LogFormat::Json
    }

    /// Whether a progress bar can be seen and is wanted.
    pub fn shows_progress(&self) -> bool {
        !self.options.quiet && !self.is_json() && stderr().is_terminal()
    }

    /// A warning with its stable code. It is not silenced.
    pub fn warning(&self, code: &str, message: &str) {
        if self.is_json() {
            json_line(&json!({"event": "warning", "code": code, "message": message}));
        } else {
            line(&visible(&format!("minwise: warning: {message}")));
        }
    }

    /// A step of the run, for those who read the log.
    pub fn event(&self, event: &serde_json::Value) {
        if self.is_json() && !self.options.quiet {
            json_line(event);
        }
    }

    /// Something for people to read at the end.
    pub fn note(&self, text: &str) {
        if !self.options.quiet && !self.is_json() {
            line(text);
        }
    }

    /// Records that were not taken in: they turn the exit code into 2, so they are told even when all else is quiet.
    /// `lines` are those that `first` has in words.
    pub fn rejects(&self, count: u64, first: &[String], lines: &[RejectLine], hint: &str) {
        if count == 0 {
            return;
        }
        let records =
            if count == 1 { "1 record was".to_owned() } else { format!("{} records were", grouped(count)) };
        if self.is_json() {
            json_line(&json!({"event": "rejects", "count": count, "first": lines, "hint": hint}));
            return;
        }
        let mut text = format!("minwise: {records} rejected");
        for reject in first {
            let _ = write!(text, "\n    {}", visible(reject));
        }
        if (first.len() as u64) < count {
            let _ = write!(text, "\n    and {} more", grouped(count - first.len() as u64));
        }
        line(&format!("{text}\n\nhint: {}", visible(hint)));
    }

    /// Files that were skipped, if somebody wants to know which.
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
        let were = if files.len() == 1 { "file was" } else { "files were" };
        let mut text = format!("minwise: {} {were} skipped", grouped(files.len() as u64));
        for Skipped { name, reason, .. } in files {
            let _ = write!(text, "\n    {}: {reason}", visible(name));
        }
        line(&text);
    }

    /// What a run did.
    pub fn summary(&self, summary: &Summary, elapsed: Duration) {
        if self.options.quiet {
            return;
        }
        if self.is_json() {
            let mut event = json!({"event": "summary", "elapsed_ms": elapsed.as_millis() as u64});
            if let (Some(event), Ok(serde_json::Value::Object(fields))) =
                (event.as_object_mut(), serde_json::to_value(summary))
            {
                event.extend(fields);
            }
            json_line(&event);
            return;
        }
        line(&summary_text(summary, elapsed));
    }

    /// Why a command ended without its result.
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
            line(&format!("minwise: {}", visible_lines(message)));
        }
        if errors.iter().any(|(.., hint)| hint.is_some()) {
            line("");
        }
        for hint in errors.iter().filter_map(|(.., hint)| *hint) {
            line(&format!("hint: {}", visible_lines(hint)));
        }
    }
}

fn json_line(value: &serde_json::Value) {
    line(&visible_json(&value.to_string()));
}

fn line(text: &str) {
    // There is nobody left to tell when standard error cannot be written.
    let _ = writeln!(stderr().lock(), "{text}");
}

fn summary_text(summary: &Summary, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let mut removed = grouped(summary.removed);
    if summary.removed > 0 {
        let clusters = counted(summary.clusters, "cluster");
        let _ =
            write!(removed, " in {clusters}, {} of them with equal shingles", grouped(summary.removed_equal));
    }
    if summary.spared > 0 {
        let _ = write!(
            removed,
            "\nspared      {} in {} of more than {}, all of which stay",
            grouped(summary.spared),
            counted(summary.large_clusters, "cluster"),
            counted(summary.max_cluster.unwrap_or_default(), "document"),
        );
    }
    let mut read = format!("{}, {}", counted(summary.read, "document"), megabytes(summary.bytes));
    read += &with_nulls(summary.nulls);
    if summary.without_shingles > 0 {
        let _ = write!(read, "; {} without shingles", grouped(summary.without_shingles));
    }
    if summary.reference + summary.reference_rejected > 0 {
        let _ = write!(read, "\nreference   {}", counted(summary.reference, "document"));
        if summary.reference_rejected > 0 {
            let _ = write!(read, "; {} rejected", grouped(summary.reference_rejected));
        }
    }
    let reordered = summary
        .order
        .map_or(String::new(), |order| reordered(summary.reordered, summary.reordered_estimated, order));
    let error = summary.error_per_look.and(summary.filter_error).map_or(String::new(), total_error);
    format!(
        "read        {read}\n\
         kept        {}\n\
         removed     {removed}\n\
         rejected    {}{}\n\
         candidates  {}{}; {} compared exactly, {} of them at or above {}{}{reordered}{error}\n\
         recall      {}, {}{}\n\
         spec        {} (keep {}, cluster {})\n\
         time        {seconds:.2} s, {} documents/s, {:.1} MB/s",
        grouped(summary.kept),
        grouped(summary.rejected),
        skipped_line(summary.skipped_files, summary.skipped_records),
        grouped(summary.candidates),
        put_aside(summary.filtered, summary.filter_compared, summary.filter_registers),
        grouped(summary.compared),
        grouped(summary.verified),
        summary.threshold,
        if summary.measure == "jaccard" { String::new() } else { format!(" by {}", summary.measure) },
        expected(summary.expected_recall, summary.expected_recall_low),
        found_by_name(&summary.search, summary.bands, summary.rows),
        summary.audit.as_ref().map_or(String::new(), measured),
        summary.spec,
        summary.keep,
        summary.cluster,
        grouped(((summary.read + summary.reference) as f64 / seconds) as u64),
        summary.bytes as f64 / 1e6 / seconds,
    )
}

/// The expected recall and what it is at least.
pub fn expected(recall: f64, low: Option<f64>) -> String {
    match low {
        Some(low) if low < recall => format!("{recall:.4} expected (at least {low:.4})"),
        _ => format!("{recall:.4} expected"),
    }
}

/// What an audit measured.
fn measured(audit: &Audit) -> String {
    let Audit { recall, low, high, .. } = *audit;
    let documents = counted(audit.documents, "document");
    let pairs = counted(audit.pairs, "partner");
    if audit.documents == 0 {
        return "; not measured, since with documents so short it might take more than a twentieth of the time (`--audit N` does)"
            .to_owned();
    }
    let more = if audit.says_little() { "; `--audit N` draws more" } else { "" };
    match audit.pairs {
        0 => format!("; no partners to measure it by in {documents}{more}"),
        // Without any doubt, every document was looked at.
        _ if low >= high => format!("; {recall:.4} measured, by all {pairs} of {documents}"),
        _ => {
            format!("; {recall:.4} measured ({low:.4} to {high:.4} at 95 %, by {pairs} of {documents}){more}")
        }
    }
}

/// The error of all looks of the filter together, where it was given for one look.
pub fn total_error(error: f64) -> String {
    format!("\nfilter      at most {error:e} of the pairs at the threshold lost, by all looks together")
}

/// Pairs that are reordered, exactly and by their sketches.
pub fn reordered(exactly: u64, estimated: u64, order: f64) -> String {
    let estimated = match estimated {
        0 => String::new(),
        estimated => format!(" and {} more by their sketches", grouped(estimated)),
    };
    format!("; {} reordered{estimated}, with an alignment below {order}", grouped(exactly))
}

/// How candidates were found.
pub fn found_by(search: Search, bands: usize, rows: usize) -> String {
    found_by_name(&search.to_string(), bands, rows)
}

fn found_by_name(search: &str, bands: usize, rows: usize) -> String {
    match search {
        "banding" => {
            format!("from {} of {}", counted(bands as u64, "band"), counted(rows as u64, "row"))
        }
        "all" => "from all pairs".to_owned(),
        other => format!("from {other}"),
    }
}

/// What the filter made of the candidates.
pub fn put_aside(pairs: u64, compared: u64, registers: u64) -> String {
    if registers == 0 {
        return String::new();
    }
    let share = 100.0 * compared as f64 / registers as f64;
    format!(", {} put aside by {share:.0} % of their registers", grouped(pairs))
}

/// A number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Documents whose text is null, as the rest of a sentence; nothing if there are none.
pub fn with_nulls(nulls: u64) -> String {
    if nulls == 0 { String::new() } else { format!("; {} with a null text", grouped(nulls)) }
}

/// The numbers of skipped files and records, as a further line of a summary; empty if both are 0.
pub fn skipped_line(files: u64, records: u64) -> String {
    let files = match files {
        0 => None,
        1 => Some("1 file that is not a document (`--verbose` lists it)".to_owned()),
        _ => Some(format!("{} files that are not documents (`--verbose` lists them)", grouped(files))),
    };
    let records = match records {
        0 => None,
        _ => Some(format!("{} without text", counted(records, "record"))),
    };
    let parts: Vec<String> = [files, records].into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("\nskipped     {}", parts.join(", ")) }
}

/// A number and what is counted, in the plural unless it is one.
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

pub fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1 000"), (1_204_113, "1 204 113")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn an_audit_that_says_little_says_how_it_says_more() {
        let audit = Audit { documents: 9, pairs: 2, found: 2, recall: 1.0, low: 0.34, high: 1.0 };
        let measured = |audit: Audit| measured(&audit);
        let by = "1.0000 at 95 %, by 2 partners of 9 documents)";
        assert_eq!(measured(audit), format!("; 1.0000 measured (0.3400 to {by}; `--audit N` draws more"));
        assert_eq!(measured(Audit { low: 0.91, ..audit }), format!("; 1.0000 measured (0.9100 to {by}"));
        assert!(
            measured(Audit { documents: 0, pairs: 0, found: 0, low: 0.0, ..audit })
                .starts_with("; not measured")
        );
        let none = Audit { pairs: 0, found: 0, low: 0.0, ..audit };
        let nothing = "; no partners to measure it by in 9 documents";
        assert_eq!(measured(none), format!("{nothing}; `--audit N` draws more"));
        // All that there are.
        assert_eq!(measured(Audit { low: 1.0, ..none }), nothing);
    }

    #[test]
    fn what_was_skipped_is_a_line_of_its_own() {
        assert_eq!(skipped_line(0, 0), "");
        assert_eq!(skipped_line(1, 0), "\nskipped     1 file that is not a document (`--verbose` lists it)");
        assert_eq!(skipped_line(0, 1), "\nskipped     1 record without text");
        assert_eq!(
            skipped_line(1200, 2),
            "\nskipped     1 200 files that are not documents (`--verbose` lists them), 2 records without text"
        );
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!([999, 1_500, 149_365_360].map(megabytes), ["999 B", "1.5 kB", "149.4 MB"]);
    }
}
