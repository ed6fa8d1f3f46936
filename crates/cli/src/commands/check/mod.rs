//! `minwise check` reports what documents repeat of an archive, with evidence.

mod excerpt;
mod page;
mod show;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use minwise::figure::{counted, grouped, lower_bound, read_share, subject};
use minwise::weight::{MostDocuments, Weighting};
use minwise_corpus::{
    Corpus, FieldPath, Format, Input, InputFormat, Layout, Nulls, Output, ReadOptions, Scratch, foreign_file,
    visible,
};
use minwise_engine::parallel;
use minwise_index::{Answer, CheckOptions, Index, IndexSettings, NewDocument, Query, StoredDocument};
use serde_json::{Map, Value, json};

use self::page::CheckPage;
use super::documents::{self, CHUNK_BYTES, ChunkDocuments, RejectList};
use super::overwrite;
use crate::Exit;
use crate::args::{CheckArgs, ListFormat, MatchArgs};
use crate::interrupt;
use crate::printer::{CommandError, CommandWarning, Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::summary::{self, SummaryLines};

/// Document that was checked, with its matches.
pub struct CheckedDocument<'d> {
    /// Checked document.
    pub document: &'d NewDocument,
    /// Answer of the archive.
    pub answer: Answer,
    /// Matched documents of the archive.
    pub matched: Vec<StoredDocument>,
    /// Noun for one unit of the document's length: word or character.
    pub unit: &'static str,
    /// Whether documents are skipped because of their dates or fields, so that no match does not mean that the archive
    /// has nothing like the document.
    pub is_restricted: bool,
}

/// Number of passages per match that are printed as text without `--passages`.
const PRINTED_PASSAGES: usize = 3;
/// Number of documents per thread that wait before all threads check them.
const PER_THREAD: usize = 8;
/// Maximum number of bytes of texts that wait for an earlier chunk of the corpus, and of matched texts that wait for an
/// earlier document.
const AHEAD_BYTES: u64 = 64 << 20;

pub fn run(args: &CheckArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let mut reading = settings::reading(&args.reading, &mut problems);
    if reading.nulls == Nulls::Keep {
        // A document without text cannot be checked. If the document is rejected, the person who asked sees the reason.
        reading.nulls = Nulls::Reject;
    }
    let passages =
        args.matching.passages.as_deref().map(|most| problems.number("--passages", most, "a whole number"));
    let printed = passages.unwrap_or(PRINTED_PASSAGES);
    // JSONL and the report have all passages, unless `--passages` asks for fewer.
    let mut options = match_options(&args.matching, &mut problems).passages(passages.unwrap_or(usize::MAX));
    let metadata = given_metadata(&args.matching.set, &mut problems);
    // A field whose value `--set` gives for all documents is not read from each document.
    let wanted = args.matching.exclude.iter().filter(|field| !metadata.contains_key(*field));
    let wanted = wanted.map(String::as_str).collect::<Vec<_>>().join(",");
    let fields = settings::fields("--exclude", &wanted, &mut problems);
    let threads = settings::threads(&args.threads, &mut problems);
    reading.threads = threads;
    let permitted = settings::max_rejects(args.max_rejects.as_deref(), &mut problems);
    problems.finish()?;
    if let Some(path) = &args.report {
        refuse_other_format(path)?;
    }

    let progress = ProgressPrinter::new(printer);
    options.ignore_text = forms(&settings::words(&args.matching.ignore_text), &reading, &progress)?;
    let index = Index::open(Path::new(&args.index))?;
    warn_of_short_passages(&options, index.settings(), printer);
    // The report is created before the work begins, so that a wrong path is reported first.
    let create = |path: &String| Output::create(Path::new(path), overwrite(args.force));
    let report = args.report.as_ref().map(create).transpose()?;
    let list = documents::list_of_rejects(args.rejects.as_deref(), args.force)?;
    let recall = index.settings().probability(options.threshold)?;
    let corpus = with_fields(&settings::words(&args.inputs), &mut reading, fields, &progress)?;
    let (mut page, mut rejects) = (CheckPage::default(), RejectList::default());
    let (mut found, mut checked, mut skipped) = (0, 0, 0);
    let take = |one: CheckedDocument<'_>| -> Result<(), Failure> {
        checked += 1;
        found += u64::from(one.answer.matches.len() + one.answer.further > 0);
        match args.format {
            ListFormat::Text => show::text(&one, printed)?,
            ListFormat::Jsonl => show::jsonl(&one.answer)?,
        }
        if args.report.is_some() {
            page.add(&one);
        }
        Ok(())
    };
    let mut queue = CheckQueue { index: &index, options: &options, threads, waiting: vec![], bytes: 0, take };
    let mut lines = documents::LineCounter::default();
    let chunks = corpus.chunks(CHUNK_BYTES);
    let read = |scratch: &mut Scratch, number: usize| -> Result<(u32, ChunkDocuments), Failure> {
        let chunk = &chunks[number];
        Ok((chunk.source(), documents::read(&corpus, chunk, &reading.value_fields, scratch)?))
    };
    let size = |(_, read): &(u32, ChunkDocuments)| read.text_bytes();
    let receive = |(source, read): (u32, ChunkDocuments)| -> Result<(), Failure> {
        let before = lines.before(source, read.lines);
        rejects.extend(read.rejects, &corpus, before);
        skipped += read.skipped;
        let hint = "`--null reject` rejects such records and checks the others";
        documents::refuse_null(&corpus, before, read.null_error.as_ref(), hint)?;
        for (source, line, mut document) in read.documents {
            if document.id.is_empty() {
                document.id = format!("{}:{}", corpus.sources()[source as usize].id(), before + line + 1);
            }
            document.metadata.extend(metadata.clone());
            queue.push(document)?;
        }
        Ok(())
    };
    let ended =
        parallel::in_order_within(AHEAD_BYTES, size, chunks.len(), threads, Scratch::new, read, receive);
    // If reading fails, the documents before the failure are still checked and printed.
    if !matches!(ended, Err(Failure::Interrupted)) {
        queue.finish()?;
    }
    ended?;
    if let Some(report) = report {
        write_report(report, &page.finish(index.settings(), &options, recall))?;
    }
    let skipped_files = corpus.skipped().len() as u64;
    printer.event(&json!({
        "event": "summary", "checked": checked, "matched": found, "rejected": rejects.count(),
        "skipped_files": skipped_files, "skipped_records": skipped,
    }));
    let mut lines = SummaryLines::default();
    lines.line("checked", format!("{}: {} with matches", counted(checked, "document"), grouped(found)));
    lines.line("rejected", counted(rejects.count(), "record"));
    lines.optional("skipped", summary::skipped(skipped_files, skipped, args.messages.verbose));
    // If every document was rejected, a guarantee would be misread as a statement about the rejected documents.
    lines.optional("guarantee", (checked > 0).then(|| guarantee(&options, index.settings(), recall)));
    if let Some(path) = &args.report {
        lines.line("wrote", format!("the report to `{}`", visible(path)));
    }
    lines.line("time", summary::time(started.elapsed(), checked, 0));
    if checked > 0 {
        lines.detail("spec", index.settings().spec.to_string());
        lines.detail("candidates", found_by(&options, index.settings()));
    }
    printer.note(&lines.to_string());
    printer.skipped(corpus.skipped());
    let fate = ["it was not checked", "they were not checked"];
    let are_permitted = rejects.finish((&corpus, checked), list, permitted, printer, fate)?;
    Ok(exit_code(are_permitted, found))
}

/// Refuses a report whose name belongs to a format other than HTML.
fn refuse_other_format(path: &str) -> Result<(), Failure> {
    if [".html", ".htm"].iter().any(|end| path.to_ascii_lowercase().ends_with(end)) {
        return Ok(());
    }
    let expected = foreign_file(path)
        .map(str::to_owned)
        .or_else(|| Format::of_name(path).map(|format| format!("a {format} file")));
    let Some(expected) = expected else { return Ok(()) };
    let message =
        format!("`--report`: `{}` has the name of {expected}, but the report is a web page", visible(path));
    let hint = "give it a name that ends in `.html`; `--format jsonl` prints the matches for programs";
    Err(CommandError::BadSetting.with(message, Some(hint)))
}

fn write_report(mut report: Output, page: &str) -> Result<(), Failure> {
    std::io::Write::write_all(&mut report, page.as_bytes())?;
    report.finish()?;
    Ok(())
}

/// Returns the exit code of a check that found matches for `found` documents.
fn exit_code(are_permitted: bool, found: u64) -> Exit {
    match (are_permitted, found) {
        (false, _) => Exit::Error,
        (true, 1..) => Exit::Finding,
        (true, 0) => Exit::Done,
    }
}

/// Queue of documents to be checked. All threads check the documents of the queue, and `take` receives the results in
/// order.
struct CheckQueue<'c, T> {
    index: &'c Index,
    options: &'c CheckOptions,
    threads: usize,
    waiting: Vec<NewDocument>,
    /// Number of bytes of the texts in `waiting`.
    bytes: u64,
    take: T,
}

impl<T: FnMut(CheckedDocument<'_>) -> Result<(), Failure> + Send> CheckQueue<'_, T> {
    /// Appends a document. If the queue has enough documents for all threads, `push` checks them.
    fn push(&mut self, document: NewDocument) -> Result<(), Failure> {
        self.bytes += document.text.len() as u64;
        self.waiting.push(document);
        let are_enough = self.waiting.len() >= PER_THREAD * self.threads || self.bytes >= CHUNK_BYTES;
        if self.threads == 1 || are_enough { self.finish() } else { Ok(()) }
    }

    /// Checks all documents of the queue and empties it.
    fn finish(&mut self) -> Result<(), Failure> {
        self.bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let (index, options) = (self.index, self.options);
        let check = |(): &mut (), number: usize| check(index, options, &waiting[number]);
        let size = |one: &CheckedDocument<'_>| {
            let texts = one.matched.iter().filter_map(|found| found.text.as_ref());
            texts.map(|text| text.len() as u64).sum()
        };
        parallel::in_order_within(
            AHEAD_BYTES,
            size,
            waiting.len(),
            self.threads,
            || (),
            check,
            &mut self.take,
        )
    }
}

fn check<'d>(
    index: &Index,
    options: &CheckOptions,
    document: &'d NewDocument,
) -> Result<CheckedDocument<'d>, Failure> {
    if interrupt::asked() {
        return Err(Failure::Interrupted);
    }
    let query = Query::new(&document.text).metadata(&document.metadata);
    let mut answer = index.check(&query, options)?;
    answer.query.id = Some(document.id.clone());
    answer.query.title.clone_from(&document.title);
    answer.query.marks.clone_from(&document.marks);
    let matched = matched(index, &answer)?;
    let unit = index.settings().spec.shingling.unit().noun_in(&document.text);
    let is_restricted = !restriction(options).is_empty();
    Ok(CheckedDocument { document, answer, matched, unit, is_restricted })
}

/// Warns if the options ask for shorter passages than the archive is certain to find.
fn warn_of_short_passages(options: &CheckOptions, settings: &IndexSettings, printer: &Printer) {
    let certain = settings.passage;
    if let Some(passage) = options.passage.filter(|&passage| passage < certain) {
        let message = format!(
            "`--passage {passage}`: the archive finds passages of {} or more only, and shorter ones are not reported",
            counted(certain as u64, settings.spec.shingling.unit().noun()),
        );
        printer.warning(CommandWarning::ShortPassages.code(), &message);
    }
}

/// Opens the documents to check. The fields of `--exclude` are read from records; if every input is a file that is one
/// document, the corpus is opened without them.
fn with_fields(
    inputs: &[Input],
    reading: &mut ReadOptions,
    fields: Vec<FieldPath>,
    progress: &ProgressPrinter,
) -> Result<Corpus, Failure> {
    let are_records =
        matches!(reading.format, InputFormat::Only(format) if format.layout() == Layout::Records);
    if are_records {
        reading.value_fields = fields;
        return super::open(inputs, reading, progress);
    }
    let corpus = super::open(inputs, reading, progress)?;
    if corpus.layout() == Layout::Texts || fields.is_empty() {
        return Ok(corpus);
    }
    if inputs.iter().any(|input| matches!(input, Input::Stdin)) {
        // Standard input was read without these fields and cannot be read again.
        return Err(CommandError::BadSetting.with(
            "`--exclude` needs to know the format of standard input",
            Some("name it, such as `--input-format jsonl`"),
        ));
    }
    reading.value_fields = fields;
    super::open(inputs, reading, progress)
}

/// Returns sentences about what a check finds and what it may miss.
fn guarantee(options: &CheckOptions, settings: &IndexSettings, recall: f64) -> String {
    let CheckOptions { threshold, candidates, .. } = options;
    let share = lower_bound(recall);
    let mut out =
        format!("A document of similarity {threshold} is found with a probability of at least {share}");
    if let Some(tokens) = passage(options, settings) {
        let length = counted(tokens as u64, settings.spec.shingling.unit().noun());
        let _ = write!(out, ", and a document that shares a passage of {length} or more is found");
    }
    // Candidates beyond this number are not compared, however similar they are.
    let are_more = subject(*candidates as u64, "document", ["is a candidate", "are candidates"]);
    let _ = write!(out, ", unless more than {are_more}.");
    // Bands are computed from whole documents, and `--max-df` may cut a passage in two, so the guarantee does not hold.
    if leaves_out(options) {
        out.push_str(" For documents of which text was left out, this is not guaranteed.");
    }
    out.push_str(&restriction(options));
    out
}

/// Returns sentences about the documents that a check skips because of their dates or fields. If a field is mistyped, the
/// check skips everything or nothing, and without these sentences its result would be taken for one about all documents.
fn restriction(options: &CheckOptions) -> String {
    let mut out = String::new();
    let dates = match (&options.since, &options.until) {
        (Some(since), Some(until)) => Some(format!("from {} to {}", visible(since), visible(until))),
        (Some(since), None) => Some(format!("on or after {}", visible(since))),
        (None, Some(until)) => Some(format!("on or before {}", visible(until))),
        (None, None) => None,
    };
    if let Some(dates) = dates {
        let documents = match &options.date_field {
            Some(field) => format!("whose field `{}` has a date", visible(field)),
            None => "that were added".to_owned(),
        };
        let _ = write!(out, " Only documents {documents} {dates} are compared.");
    }
    if !options.exclude.is_empty() {
        let fields: Vec<String> =
            options.exclude.iter().map(|field| format!("`{}`", visible(field))).collect();
        let _ = write!(
            out,
            " Documents with the same value of {} as the checked document are skipped.",
            fields.join(" or ")
        );
    }
    out
}

/// Returns the ways by which candidates are found, and how many of them are compared.
fn found_by(options: &CheckOptions, settings: &IndexSettings) -> String {
    let bands = summary::found_by("banding", settings.bands, settings.rows);
    let passages = if passage(options, settings).is_some() { " and shared passages" } else { "" };
    format!("{bands}{passages}; at most {} per document are compared", grouped(options.candidates as u64))
}

/// Returns the length in tokens of a passage that makes a match, or `None` if passages make no match.
fn passage(options: &CheckOptions, settings: &IndexSettings) -> Option<usize> {
    let tokens = options.passage.unwrap_or(settings.passage).max(settings.passage);
    (tokens < CheckOptions::NO_PASSAGE).then_some(tokens)
}

/// Reports whether text is left out of documents before they are compared.
fn leaves_out(options: &CheckOptions) -> bool {
    let forms = !options.ignore_text.is_empty();
    forms || options.max_df.is_some() || options.ignore_quotations || options.ignore_references
}

fn matched(index: &Index, answer: &Answer) -> Result<Vec<StoredDocument>, Failure> {
    let mut documents = vec![];
    for found in &answer.matches {
        if let Some(document) = index.get(&found.id)? {
            documents.push(document);
        }
    }
    Ok(documents)
}

/// Returns the options that define a match and exclude evidence. The texts of `--ignore-text` are read later.
fn match_options(args: &MatchArgs, problems: &mut FlagProblems) -> CheckOptions {
    let mut options = CheckOptions::default()
        .threshold(problems.share_or(0.5, "--threshold", &args.threshold))
        .containment(problems.share_or(0.3, "--containment", &args.containment))
        .passage(match args.passage.as_deref() {
            None => None,
            Some("off") => Some(CheckOptions::NO_PASSAGE),
            Some(tokens) => Some(problems.number("--passage", tokens, "a whole number or `off`")),
        })
        .top(settings::count(problems, "--top", &args.top))
        .candidates(settings::count(problems, "--candidates", &args.candidates))
        .max_df(
            args.max_df.as_deref().and_then(|most| problems.check("--max-df", most.parse::<MostDocuments>())),
        )
        .ignore_quotations(args.ignore_quotations)
        .ignore_references(args.ignore_references)
        .exclude(&args.exclude)
        .weight(
            args.weight.as_deref().and_then(|weight| problems.check("--weight", weight.parse::<Weighting>())),
        );
    options.since.clone_from(&args.since);
    options.until.clone_from(&args.until);
    options.date_field.clone_from(&args.date_field);
    for problem in options.problems() {
        let option = problem.option.replace('_', "-");
        // A value such as 50 probably means 50 %, so the hint shows it as a share.
        let share = read_share(&format!("{}%", problem.given)).filter(|share| (0.1..=1.0).contains(share));
        let share = share.filter(|_| ["threshold", "containment"].contains(&&*option));
        let hint = share.map(|share| format!("`--{option} {share}` is {} %", problem.given));
        let date = written_date(&problem.given).filter(|_| problem.expected.starts_with("a date such"));
        let hint = hint.or_else(|| date.map(|date| format!("`--{option} {date}`")));
        problems.add(format!("`--{option}`: `{}` is not {}", problem.given, problem.expected), hint);
    }
    options
}

/// Returns a date in the form `2026-03-01` that was written with dots (`1.3.2026`), with slashes and the year first
/// (`2026/03/01`), or without zeros (`2026-3-1`). Slashes with the year last are ambiguous.
fn written_date(text: &str) -> Option<String> {
    let numbers = |separator: char| -> Option<Vec<u32>> {
        text.split(separator).map(|part| part.trim().parse().ok()).collect()
    };
    let parts = match (numbers('.').as_deref(), numbers('-').or_else(|| numbers('/')).as_deref()) {
        (Some(&[day, month, year]), _) | (_, Some(&[year, month, day])) => (year, month, day),
        _ => return None,
    };
    let (year, month, day) = parts;
    let date = format!("{year:04}-{month:02}-{day:02}");
    (year >= 1000 && minwise::keep::date_word(&date).is_some()).then_some(date)
}

fn given_metadata(given: &[String], problems: &mut FlagProblems) -> Map<String, Value> {
    let mut metadata = Map::new();
    for field in given {
        match field.split_once('=') {
            Some((name, value)) => {
                metadata.insert(name.to_owned(), Value::from(value));
            }
            None => problems.add(format!("`--set`: `{field}` is not of the form `FIELD=VALUE`"), None),
        }
    }
    metadata
}

/// Reads the texts of `--ignore-text`.
fn forms(paths: &[Input], options: &ReadOptions, progress: &ProgressPrinter) -> Result<Vec<String>, Failure> {
    if paths.is_empty() {
        return Ok(vec![]);
    }
    let format = InputFormat::Only(Format::DOCUMENT);
    let options = options.clone().format(format).value_fields(vec![]);
    let corpus = super::open(paths, &options, progress)?;
    let mut texts = vec![];
    for chunk in corpus.chunks(u64::MAX) {
        let read = documents::read(&corpus, &chunk, &[], &mut Scratch::new())?;
        if let Some(reject) = read.rejects.first() {
            let message = format!("`--ignore-text`: {}", reject.describe(&corpus, 0));
            return Err(Failure::Error { code: reject.reason, message, hint: None });
        }
        texts.extend(read.documents.into_iter().map(|(.., document)| document.text));
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_is_guaranteed() {
        let stated = |options: &CheckOptions| guarantee(options, &IndexSettings::default(), 0.9963);
        let all = CheckOptions::default();
        assert_eq!(
            stated(&all),
            "A document of similarity 0.5 is found with a probability of at least 99.63 %, and a document that shares \
             a passage of 25 words or more is found, unless more than 1,000 documents are candidates."
        );
        let more = all.clone().passage(Some(100)).candidates(5);
        assert!(
            stated(&more)
                .contains("a passage of 100 words or more is found, unless more than 5 documents are")
        );
        let fewer = all.clone().passage(Some(3));
        assert_eq!(stated(&fewer), stated(&all));
        let off = all.clone().passage(CheckOptions::NO_PASSAGE).max_df(Some(MostDocuments::Number(9)));
        assert!(!stated(&off).contains("passage") && !stated(&off).contains("max-df"), "{}", stated(&off));
        // Without passages, candidates beyond the limit are missed, too.
        assert!(stated(&off).contains("99.63 %, unless more than 1,000 documents are"), "{}", stated(&off));
        // Therefore, no sentence may promise that a match is always found.
        for options in [&all, &more, &fewer, &off] {
            assert!(!stated(options).contains("always"), "{}", stated(options));
        }
        assert_eq!(
            restriction(&all.clone().since("2026").date_field("filed").exclude(["applicant", "office"])),
            " Only documents whose field `filed` has a date on or after 2026 are compared. Documents with the same \
             value of `applicant` or `office` as the checked document are skipped."
        );
        assert_eq!(
            restriction(&all.clone().since("2025").until("2026-03")),
            " Only documents that were added from 2025 to 2026-03 are compared."
        );
        assert_eq!(
            restriction(&all.clone().until("2026-03")),
            " Only documents that were added on or before 2026-03 are compared."
        );
        assert_eq!(
            guarantee(&all, &IndexSettings::default(), 0.999_97).split(" %").next(),
            Some("A document of similarity 0.5 is found with a probability of at least 99.99")
        );
        let details = |options: &CheckOptions| found_by(options, &IndexSettings::default());
        let compared = "at most 1,000 per document are compared";
        assert_eq!(details(&all), format!("42 bands of 3 rows and shared passages; {compared}"));
        assert_eq!(details(&off), format!("42 bands of 3 rows; {compared}"));
        let common = all.clone().max_df(Some(MostDocuments::Share(0.5)));
        for left_out in [
            common,
            all.clone().ignore_text([""]),
            all.clone().ignore_quotations(true),
            all.clone().ignore_references(true),
        ] {
            assert!(
                stated(&left_out)
                    .contains("For documents of which text was left out, this is not guaranteed."),
                "{left_out:?}"
            );
        }
    }

    #[test]
    fn a_date_in_another_form_is_rewritten() {
        for text in ["01.03.2026", "1.3.2026", "2026-3-1", "2026/03/01"] {
            assert_eq!(written_date(text).as_deref(), Some("2026-03-01"), "{text}");
        }
        for text in ["03/01/2026", "31.02.2026", "soon", "1.3.26", "2026-13-1"] {
            assert_eq!(written_date(text), None, "{text}");
        }
    }
}
