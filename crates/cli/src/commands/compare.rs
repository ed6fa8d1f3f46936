//! `minwise compare` compares two documents in detail.

use std::ops::Range;
use std::path::{Path, PathBuf};

use minwise::Spec;
use minwise::estimate::Estimate;
use minwise::figure::{counted, share, similarity};
use minwise::sketch::Method;
use minwise::verify::Measure;
use minwise::weight::Weighting;
use minwise_corpus::{Format, Input, InputFormat, Layout, ReadOptions, Scratch, visible, visible_json};
use minwise_engine::compare::{ComparedPassage, Comparison, SketchComparison, compare, compare_all};
use minwise_engine::{Inputs, RejectedRecords};
use serde_json::json;

use super::{open, whole_files};
use crate::Exit;
use crate::args::{CompareArgs, CompareFormat};
use crate::interrupt;
use crate::printer::{CommandError, Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::spell::spelled;

/// Number of registers or stored bits of each sketch that `--all` compares.
const ALL_REGISTERS: usize = 1024;
/// Upper bound on the characters of a passage that are shown.
const EXCERPT: usize = 300;

pub fn run(args: &CompareArgs, printer: &Printer) -> Result<Exit, Failure> {
    let mut problems = FlagProblems::default();
    let passages = problems.number("--passages", &args.passages, "a whole number");
    let options = settings::reading(&args.reading, &mut problems);
    let mut spec = settings::weighted_spec(&args.spec, &args.weights, &mut problems);
    let measure: Measure = problems.parse("--measure", &args.measure);
    let threshold = settings::threshold(&args.threshold, &mut problems);
    problems.finish()?;

    if args.left == "-" && args.right == "-" {
        let message = "standard input, `-`, can be one of the documents, not both";
        return Err(CommandError::BadSetting.with(message, None));
    }
    let progress = ProgressPrinter::new(printer);
    let left = document(&args.left, &options, &progress)?;
    let right = document(&args.right, &options, &progress)?;
    let inputs = Inputs::default()
        .options(options.clone())
        .weights(args.weights.weights.as_ref().map(PathBuf::from))
        .ignore_text(settings::words(&args.weights.ignore_text));
    let weighing = interrupt::at_once(|| inputs.weigh(&mut spec, None, 1, &progress))?;
    let mut comparison = compare(&left, &right, &spec, &weighing)?;
    comparison.passages.truncate(passages);

    let all = if args.all { compare_all(&left, &right, &spec, &weighing, ALL_REGISTERS)? } else { vec![] };
    let out = match args.format {
        CompareFormat::Text => named(args) + &text(&comparison, &all, &spec, &left, &right),
        CompareFormat::Jsonl => {
            format!("{}\n", visible_json(&jsonl(&comparison, &all, &spec, &left, &right)))
        }
    };
    super::print(out.as_bytes())?;
    let decisive = match measure {
        Measure::Containment => comparison.containment_of_left.max(comparison.containment_of_right),
        _ => comparison.similarity,
    };
    Ok(if decisive >= threshold { Exit::Done } else { Exit::Finding })
}

/// Number of bytes of a file that are scanned together.
const CHUNK_BYTES: u64 = 4 << 20;

/// Returns the text of the file or record `name`. `FILE#ID` names a record, unless a file has this name.
fn document(name: &str, options: &ReadOptions, progress: &ProgressPrinter) -> Result<String, Failure> {
    match name.rsplit_once('#') {
        Some((path, id)) if !Path::new(name).exists() => record(name, path, id, options, progress),
        _ => whole(name, options, progress),
    }
}

fn whole(name: &str, options: &ReadOptions, progress: &ProgressPrinter) -> Result<String, Failure> {
    if let Some((path, line)) = name.rsplit_once(':')
        && line.parse::<u64>().is_ok()
        && Path::new(path).is_file()
        && !Path::new(name).exists()
    {
        // Messages name records in this way.
        let message = format!("no such file: `{name}`");
        let hint = format!("`{path}#{line}` names the record on this line");
        return Err(CommandError::NoSuchDocument.with(message, Some(&hint)));
    }
    if Path::new(name).is_dir() {
        let message = format!("`{name}` is a folder, but a comparison takes one document");
        let hint = format!("`minwise pairs {name}` compares all documents of a folder");
        return Err(CommandError::BadSetting.with(message, Some(&hint)));
    }
    let is_records = |format: Format| format.layout() == Layout::Records;
    let records = match options.format {
        InputFormat::Only(format) => is_records(format),
        _ => Format::of_name(name).is_some_and(is_records),
    };
    if records && Path::new(name).is_file() {
        // A comparison of the whole file as one text would include the field names and all records.
        let message = format!("`{name}` has records, but a comparison takes one document");
        let hint = format!(
            "`{name}#ID` is a record by its id or line; `--input-format text` compares the whole file as one text"
        );
        return Err(CommandError::BadSetting.with(message, Some(&hint)));
    }
    let format = whole_files(options.format);
    let corpus = open(&[Input::from_word(name)], &options.clone().format(format), progress)?;
    let mut text = Err(no_such_document(name));
    for chunk in corpus.chunks(CHUNK_BYTES) {
        corpus.scan(&chunk, &mut Scratch::new(), &mut |place, document| {
            text = match document {
                Ok(document) => Ok(document.text.into_owned()),
                Err(reject) => {
                    let (code, message) = (reject.reason.code(), format!("`{name}`: {}", reject.reason));
                    let hint = RejectedRecords::hint_for(&corpus, &[(place.source, code)], true);
                    let hint = hint.map(|hint| spelled(&hint));
                    Err(Failure::Error { code, message, hint })
                }
            };
        })?;
    }
    text
}

/// Returns the text of the record with this id. If no record has this id, the id is read as the number of a line or
/// row.
fn record(
    name: &str,
    path: &str,
    id: &str,
    options: &ReadOptions,
    progress: &ProgressPrinter,
) -> Result<String, Failure> {
    let format = match options.format {
        InputFormat::Only(format) if format.layout() == Layout::Records => format,
        _ => Format::of_name(path).unwrap_or(Format::JSONL),
    };
    let format = InputFormat::Only(format);
    let corpus = open(&[Input::from_word(path)], &options.clone().format(format), progress)?;
    let line = id.parse::<u64>().ok().and_then(|number| number.checked_sub(1));
    let (mut by_id, mut by_line) = (None, None);
    let mut scratch = Scratch::new();
    let mut first_line = 0;
    for chunk in corpus.chunks(CHUNK_BYTES) {
        let lines = corpus.scan(&chunk, &mut scratch, &mut |place, document| match document {
            Ok(document) if by_id.is_none() && document.id.as_deref() == Some(id) => {
                by_id = Some(document.text.into_owned());
            }
            Ok(document) if line == Some(first_line + place.line) => {
                by_line = Some(document.text.into_owned());
            }
            _ => {}
        })?;
        first_line += lines.0;
    }
    by_id.or(by_line).ok_or_else(|| no_such_document(name))
}

fn no_such_document(name: &str) -> Failure {
    let hint = "`FILE#ID` takes the value of the id field, or the number of a line or row";
    CommandError::NoSuchDocument.with(format!("`{name}`: there is no such document"), Some(hint))
}

/// Returns two lines that name the documents A and B.
fn named(args: &CompareArgs) -> String {
    let [a, b] = [&args.left, &args.right].map(|name| visible(name).into_owned());
    format!("A            {a}\nB            {b}\n")
}

fn text(comparison: &Comparison, all: &[SketchComparison], spec: &Spec, left: &str, right: &str) -> String {
    let measure = if spec.weights.weighting == Weighting::None { "Jaccard" } else { "weighted Jaccard" };
    let mut out = format!(
        "similarity   {} ({measure} {}, exact)\n\
         A in B       {} of A appears in B ({}, exact)\n\
         B in A       {} of B appears in A ({}, exact)\n",
        share(comparison.similarity),
        similarity(comparison.similarity, 6),
        share(comparison.containment_of_left),
        similarity(comparison.containment_of_left, 6),
        share(comparison.containment_of_right),
        similarity(comparison.containment_of_right, 6),
    );
    match comparison.estimate {
        Some(estimate) => {
            out += &format!("estimate     {estimate} by {}\n", spec.method);
            out += &bias(spec.method, comparison.similarity)
                .map_or(String::new(), |bias| format!("bias         {bias}\n"));
        }
        None => out += "estimate     none, because a document has no shingles\n",
    }
    out += &format!("spec         {spec}\n");
    if !all.is_empty() {
        out += "\nsketch                                      estimate          exact\n";
    }
    for SketchComparison { method, estimate, exact, .. } in all {
        let estimate = estimate.map_or("none".to_owned(), |estimate| estimate.to_string());
        out += &format!("{:42}  {estimate:16}  {}\n", method.to_string(), similarity(*exact, 6));
    }
    let biases: Vec<String> = all
        .iter()
        .filter_map(|SketchComparison { method, exact, .. }| {
            Some(format!("{method}: {}\n", bias(*method, *exact)?))
        })
        .collect();
    if !biases.is_empty() {
        out += &format!("\nsketches that are biased at this similarity\n{}", biases.concat());
    }
    if !comparison.passages.is_empty() {
        out += "\nshared passages, longest first\n";
    }
    let unit = spec.shingling.unit().noun_in(left);
    for passage in &comparison.passages {
        let [a, b] =
            places(passage, left, right).map(|(line, column)| format!("line {line}, column {column}"));
        out += &format!("\n{}; A: {a}; B: {b}\n", counted(passage.tokens as u64, unit));
        out += &format!("    {}\n", excerpt(&left[passage.left.clone()]));
    }
    out
}

/// Returns a warning if the mean error of a sketch's estimates at the exact similarity exceeds √(¼/k), where k is the
/// number of its registers. This value is the largest standard error of k plain registers. The standard error that a
/// clamped estimate reports cannot be used for this, because clamping widens it.
fn bias(method: Method, exact: f64) -> Option<String> {
    let bias = method.bias(exact);
    let error = (0.25 / method.registers() as f64).sqrt();
    let side = if bias < 0.0 { "low" } else { "high" };
    (bias.abs() > error).then(|| {
        format!(
            "at similarity {exact:.3}, this sketch estimates long documents {:.3} too {side} on average",
            bias.abs()
        )
    })
}

/// Prints one JSON line with the field names of the server's `POST /pair`. In addition, it has fields that only the
/// command knows: the estimates, and the text, line and column of each passage.
fn jsonl(comparison: &Comparison, all: &[SketchComparison], spec: &Spec, left: &str, right: &str) -> String {
    let exact = comparison.similarity;
    let mut sketches = vec![sketch(spec.method, comparison.estimate, exact)];
    sketches.extend(
        all.iter().map(|SketchComparison { method, estimate, exact, .. }| sketch(*method, *estimate, *exact)),
    );
    let passage = |passage: &ComparedPassage| {
        let bytes = |range: &Range<usize>| [range.start, range.end];
        let [left_place, right_place] =
            places(passage, left, right).map(|(line, column)| json!({"line": line, "column": column}));
        json!({
            "left": bytes(&passage.left),
            "right": bytes(&passage.right),
            "tokens": passage.tokens,
            "text": &left[passage.left.clone()],
            "left_place": left_place,
            "right_place": right_place,
        })
    };
    json!({
        "similarity": exact,
        "containment_of_left": comparison.containment_of_left,
        "containment_of_right": comparison.containment_of_right,
        "sketches": sketches,
        "passages": comparison.passages.iter().map(passage).collect::<Vec<_>>(),
        "spec": spec.to_string(),
    })
    .to_string()
}

fn sketch(method: Method, estimate: Option<Estimate>, exact: f64) -> serde_json::Value {
    // Texts without shingles have no estimate, so the exact value is reported: the texts are equal or different.
    let (value, standard_error) =
        estimate.map_or((exact, 0.0), |estimate| (estimate.value, estimate.standard_error));
    json!({
        "sketch": method.to_string(),
        "estimate": value,
        "standard_error": standard_error,
        "bias": method.bias(exact),
        "exact": exact,
    })
}

/// Returns the line and the column, from 1, at which the passage begins in each text.
fn places(passage: &ComparedPassage, left: &str, right: &str) -> [(usize, usize); 2] {
    [(left, passage.left.start), (right, passage.right.start)].map(|(text, at)| {
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        (line, column)
    })
}

/// Returns the beginning of a passage on one line, without control characters that could change the terminal.
fn excerpt(passage: &str) -> String {
    let line = passage.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().take(EXCERPT).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    visible(&shown).into_owned()
}
