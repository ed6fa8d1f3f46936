//! `minwise compare`: two documents, looked at closely.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use minwise::Spec;
use minwise::shingle::Unit;
use minwise_corpus::{InputFormat, ReadOptions, Scratch, escape_control};
use minwise_engine::compare::{Comparison, SharedPassage, compare};
use serde_json::json;

use super::open;
use crate::Exit;
use crate::args::{CompareArgs, CompareFormat};
use crate::printer::{Failure, Printer};
use crate::progress::Progress;
use crate::settings::{self, Problems};

/// Characters of a passage that are shown.
const EXCERPT: usize = 300;

pub fn run(args: &CompareArgs, printer: &Printer) -> Result<Exit, Failure> {
    let mut problems = Problems::default();
    let passages = problems.number("--passages", &args.passages, "a whole number");
    let options = settings::reading(&args.reading, &mut problems);
    let spec = settings::spec(&args.spec, &mut problems);
    let threshold = settings::threshold(&args.threshold, &mut problems);
    problems.finish()?;

    let progress = Progress::new(printer);
    let left = document(&args.left, &options, &progress)?;
    let right = document(&args.right, &options, &progress)?;
    let mut comparison = compare(&left, &right, &spec)?;
    comparison.passages.truncate(passages);

    let out = match args.format {
        CompareFormat::Text => text(&comparison, &spec, &left, &right),
        CompareFormat::Jsonl => jsonl(&comparison, &spec, &left, &right),
    };
    std::io::stdout().lock().write_all(out.as_bytes())?;
    Ok(if comparison.jaccard >= threshold { Exit::Done } else { Exit::Finding })
}

/// The text that `name` stands for: a file, or a record of a JSONL file.
fn document(name: &str, options: &ReadOptions, progress: &Progress) -> Result<String, Failure> {
    let (path, id) = match name.rsplit_once('#') {
        Some((path, id)) if !Path::new(name).exists() => (path, Some(id)),
        _ => (name, None),
    };
    let format = if id.is_some() { InputFormat::Jsonl } else { InputFormat::Text };
    if id.is_none() && Path::new(path).is_dir() {
        return Err(Failure::Error {
            message: format!("`{path}` is a folder, but a comparison takes one document"),
            hint: Some(format!("`minwise pairs {path}` compares all documents of a folder")),
        });
    }
    let corpus = open(&[path.to_owned()], &ReadOptions { format, ..options.clone() }, progress)?;
    let mut scratch = Scratch::new();
    let mut found = None;
    for chunk in corpus.chunks(u64::from(u32::MAX)) {
        corpus.scan(&chunk, &mut scratch, &mut |place, document| {
            let wanted = match (&document, id) {
                (_, None) => true,
                (Ok(document), Some(id)) => {
                    document.id.as_deref() == Some(id) || line_number(id) == Some(place.line)
                }
                (Err(_), Some(_)) => false,
            };
            if wanted && found.is_none() {
                found = Some(match document {
                    Ok(document) => Ok(document.text.into_owned()),
                    Err(reject) => Err(Failure::Error { message: format!("`{name}`: {reject}"), hint: None }),
                });
            }
        })?;
    }
    found.unwrap_or_else(|| {
        Err(Failure::Error {
            message: format!("`{name}`: there is no such document"),
            hint: Some("`FILE#ID` takes the value of the field `id`, or a line number".to_owned()),
        })
    })
}

/// The line that a number names, counted from 0.
fn line_number(id: &str) -> Option<u64> {
    id.parse::<u64>().ok()?.checked_sub(1)
}

fn text(comparison: &Comparison, spec: &Spec, left: &str, right: &str) -> String {
    let mut out = format!(
        "jaccard      {:.6} exact\n\
         A in B       {:.6} exact\n\
         B in A       {:.6} exact\n",
        comparison.jaccard, comparison.left_in_right, comparison.right_in_left
    );
    match comparison.estimate {
        Some(estimate) => out += &format!("estimate     {estimate} by {}\n", spec.method),
        None => out += "estimate     none: a document without shingles equals only the same text\n",
    }
    out += &format!("spec         {spec}\n");
    if !comparison.passages.is_empty() {
        out += "\nshared passages, longest first\n";
    }
    let units = match spec.shingling.unit() {
        Unit::Words => "tokens",
        Unit::Chars => "characters",
    };
    for passage in &comparison.passages {
        let [a, b] = places(passage, left, right).map(|(line, column)| format!("{line}:{column}"));
        out += &format!("\n{} {units}, A {a}, B {b}\n", passage.units);
        out += &format!("    {}\n", excerpt(&left[passage.left.clone()]));
    }
    out
}

fn jsonl(comparison: &Comparison, spec: &Spec, left: &str, right: &str) -> String {
    let exact = comparison.jaccard;
    let first = json!({
        "jaccard": exact,
        "containment_a_in_b": comparison.left_in_right,
        "containment_b_in_a": comparison.right_in_left,
    });
    // Without shingles there is nothing to estimate: the texts are equal or they are not.
    let (value, standard_error) =
        comparison.estimate.map_or((exact, 0.0), |estimate| (estimate.value, estimate.standard_error));
    let second = json!({
        "sketch": spec.method.to_string(),
        "estimate": value,
        "standard_error": standard_error,
        "exact": exact,
    });
    let mut out = format!("{first}\n{second}\n");
    for passage in &comparison.passages {
        let [a, b] = places(passage, left, right);
        let place = |range: &Range<usize>, (line, column): (usize, usize)| json!({"start": range.start, "end": range.end, "line": line, "column": column});
        let line = json!({
            "passage": &left[passage.left.clone()],
            "units": passage.units,
            "a": place(&passage.left, a),
            "b": place(&passage.right, b),
        });
        out += &format!("{line}\n");
    }
    out
}

/// Line and column, from 1, of where a passage begins in both texts.
fn places(passage: &SharedPassage, left: &str, right: &str) -> [(usize, usize); 2] {
    [(left, passage.left.start), (right, passage.right.start)].map(|(text, at)| {
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        (line, column)
    })
}

/// The beginning of a passage on one line, fit for a terminal.
fn excerpt(passage: &str) -> String {
    let line = passage.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().take(EXCERPT).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    escape_control(&shown).into_owned()
}
