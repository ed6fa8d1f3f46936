//! `minwise accuracy` compares estimated similarities with the exact ones, on the pairs of a corpus.

use std::path::Path;
use std::time::{Duration, Instant};

use minwise::figure::{counted, grouped, percent, size};
use minwise_corpus::{Output, visible};
use minwise_engine::accuracy::{Accuracy, ErrorSums, PairSample, SketchAccuracy, plot};
use minwise_engine::{AccuracyOptions, AccuracyOutcome, AccuracyRun};
use serde_json::{Value, json};

use super::{REPORTED_BY_DEDUP, overwrite, rejects};
use crate::Exit;
use crate::args::{AccuracyArgs, AccuracyFormat};
use crate::printer::{Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::summary::{self, SummaryLines};

pub fn run(args: &AccuracyArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let (spec, methods) = settings::sketches(args, &mut problems);
    let options = AccuracyOptions::default()
        .inputs(settings::inputs(&args.inputs, &args.reading, Some(&args.weights), &mut problems))
        .spec(spec)
        .methods(methods)
        .error(problems.share_or(0.05, "--error", &args.error))
        .pairs(problems.parsed("--pairs", &args.pairs).unwrap_or(PairSample::All))
        .threads(settings::given_threads(&args.run.threads, &mut problems))
        .memory(settings::memory(&args.run, &mut problems))
        .max_rejects(settings::max_rejects(args.run.max_rejects.as_deref(), &mut problems));
    if let Some(path) = &args.plot {
        check_picture_name(path, &mut problems);
    }
    let run = problems.built(AccuracyRun::new(options))?;
    // `create` refuses an existing picture before time is spent on the work.
    let picture = args.plot.as_ref().map(|path| Output::create(Path::new(path), overwrite(args.force)));
    let picture = picture.transpose().map_err(minwise_engine::Error::from)?;

    let progress = ProgressPrinter::new(printer);
    let outcome = run.execute(&progress)?;
    progress.clear();
    let out = match args.format {
        AccuracyFormat::Text => text(&outcome.accuracy, args.details),
        AccuracyFormat::Json => format!("{}\n", json_of(&outcome)),
    };
    super::print(out.as_bytes())?;
    if let Some(mut picture) = picture {
        let write = |picture: &mut Output| picture.write_bytes(plot(&outcome.accuracy).as_bytes());
        write(&mut picture).and_then(|()| picture.finish()).map_err(minwise_engine::Error::from)?;
    }
    summary(args, &outcome, started, &progress, printer);
    printer.skipped(&outcome.skipped_files);
    Ok(rejects(&outcome.rejected, REPORTED_BY_DEDUP, &args.run, printer))
}

/// Refuses a name of a picture that states another format than SVG.
fn check_picture_name(name: &str, problems: &mut FlagProblems) {
    let path = Path::new(name);
    if path.extension().is_some_and(|end| !end.eq_ignore_ascii_case("svg")) {
        let message = format!("`--plot`: the picture is SVG, and `{}` names another format", visible(name));
        let named = path.with_extension("svg");
        let hint = format!("`--plot {}` writes it", visible(&named.to_string_lossy()));
        problems.add(message, Some(hint));
    }
}

/// Formats a time in nanoseconds, microseconds or milliseconds, according to its length.
fn time(duration: Option<Duration>) -> String {
    match duration.map(|duration| duration.as_nanos()) {
        None => "–".to_owned(),
        Some(nanos @ 0..1_000) => format!("{nanos} ns"),
        Some(nanos @ 1_000..1_000_000) => format!("{:.1} µs", nanos as f64 / 1e3),
        Some(nanos) => format!("{:.1} ms", nanos as f64 / 1e6),
    }
}

/// Formats rows as a table in which each column is as wide as its widest cell. The first column is flush left; the
/// other columns hold numbers and are flush right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(at, (cell, &width))| {
                    if at == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Returns the five cells about errors: the pairs that are off by too much, the mean error, the standard deviation of the
/// errors, the standard deviation by the formula, and the share of pairs within the interval. The root mean square error
/// is no column, because it contains the bias, and the formula does not.
fn error_cells(sums: &ErrorSums) -> [String; 5] {
    let number = |value: Option<f64>, shown: fn(f64) -> String| value.map_or("–".to_owned(), shown);
    let none = sums.pairs == 0;
    [
        if none {
            "–".to_owned()
        } else {
            format!("{} ({})", grouped(sums.off), percent(sums.off, sums.pairs))
        },
        number(sums.mean_error(), |mean| format!("{mean:+.4}")),
        number(sums.variance(), |variance| format!("{:.4}", variance.sqrt())),
        number(sums.expected_variance(), |variance| match variance.sqrt() {
            root if root.is_finite() => format!("{root:.4}"),
            // The formula gives an infinite variance for a sketch that cannot estimate a similarity of 0.
            _ => "∞".to_owned(),
        }),
        if none { "–".to_owned() } else { percent(sums.covered, sums.pairs) },
    ]
}

fn error_names(error: f64) -> [String; 5] {
    [
        format!("off by more than {error}"),
        "mean error".to_owned(),
        "SD of errors".to_owned(),
        "SD by formula".to_owned(),
        "in interval".to_owned(),
    ]
}

fn text(accuracy: &Accuracy, has_details: bool) -> String {
    let mut rows = vec![
        [
            vec!["sketch".to_owned(), "bytes".to_owned()],
            error_names(accuracy.error).to_vec(),
            vec!["per document".to_owned(), "per comparison".to_owned()],
        ]
        .concat(),
    ];
    let mut exact = vec!["exact".to_owned()];
    exact.resize(7, "–".to_owned());
    exact.extend([time(accuracy.cutting), time(accuracy.exact_comparison)]);
    rows.push(exact);
    for sketch in &accuracy.sketches {
        let first = vec![sketch.method.to_string(), grouped(sketch.bytes as u64)];
        let times = vec![time(sketch.sketching), time(sketch.comparison)];
        rows.push([first, error_cells(&sketch.all).to_vec(), times].concat());
    }
    let mut out = table(&rows);
    for sketch in accuracy.sketches.iter().filter(|_| has_details && accuracy.pairs > 0) {
        out += &format!("\n{} by exact similarity\n", sketch.method);
        let mut rows = vec![
            [vec!["similarity".to_owned(), "pairs".to_owned()], error_names(accuracy.error).to_vec()]
                .concat(),
        ];
        for (tenth, sums) in sketch.by_similarity.iter().enumerate().filter(|(_, sums)| sums.pairs > 0) {
            let first = vec![range(tenth), grouped(sums.pairs)];
            rows.push([first, error_cells(sums).to_vec()].concat());
        }
        out += &table(&rows);
    }
    out
}

/// Returns the bounds of a tenth of the similarities in words, such as "0.3 to 0.4".
fn range(tenth: usize) -> String {
    let [from, to] = [tenth, tenth + 1].map(|tenths| tenths as f64 / 10.0);
    format!("{from:.1} to {to:.1}")
}

fn json_of(outcome: &AccuracyOutcome) -> Value {
    let accuracy = &outcome.accuracy;
    let seconds = |duration: Option<Duration>| duration.map(|duration| duration.as_secs_f64());
    let sums = |sums: &ErrorSums| {
        json!({
            "pairs": sums.pairs,
            "off": sums.off,
            "covered": sums.covered,
            "mean_error": sums.mean_error(),
            "mean_square_error": sums.mean_square(),
            "variance": sums.variance(),
            "expected_variance": sums.expected_variance(),
        })
    };
    let by_similarity = |sketch: &SketchAccuracy| -> Vec<Value> {
        let of_tenth = |(tenth, of): (usize, &ErrorSums)| {
            let mut range = sums(of);
            range["from"] = json!(tenth as f64 / 10.0);
            range["to"] = json!((tenth + 1) as f64 / 10.0);
            range
        };
        sketch.by_similarity.iter().enumerate().map(of_tenth).collect()
    };
    let sketches: Vec<Value> = accuracy
        .sketches
        .iter()
        .map(|sketch| {
            json!({
                "sketch": sketch.method.to_string(),
                "sketch_bytes": sketch.bytes,
                "seconds_per_document": seconds(sketch.sketching),
                "seconds_per_comparison": seconds(sketch.comparison),
                "all": sums(&sketch.all),
                "by_similarity": by_similarity(sketch),
            })
        })
        .collect();
    json!({
        "spec": outcome.spec.to_string(),
        "documents": accuracy.documents,
        "pairs": accuracy.pairs,
        "all_pairs": accuracy.all_pairs,
        "error": accuracy.error,
        "exact": {
            "seconds_per_document": seconds(accuracy.cutting),
            "seconds_per_comparison": seconds(accuracy.exact_comparison),
        },
        "sketches": sketches,
    })
}

fn summary(
    args: &AccuracyArgs,
    outcome: &AccuracyOutcome,
    started: Instant,
    progress: &ProgressPrinter,
    printer: &Printer,
) {
    let elapsed = started.elapsed();
    let AccuracyOutcome { accuracy, spec, read, nulls, bytes, rejected, skipped_records, .. } = outcome;
    let skipped_files = outcome.skipped_files.len() as u64;
    printer.event(&json!({
        "event": "summary",
        "spec": spec.to_string(),
        "read": read,
        "rejected": rejected.count,
        "nulls": nulls,
        "skipped_files": skipped_files,
        "skipped_records": skipped_records,
        "pairs": accuracy.pairs,
        "all_pairs": accuracy.all_pairs,
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    let mut lines = SummaryLines::default();
    let records = summary::records(*read, rejected.count);
    lines.line("read", format!("{records}, {}{}", size(*bytes), summary::with_nulls(*nulls)));
    lines.line("rejected", counted(rejected.count, "record"));
    lines.optional("skipped", summary::skipped(skipped_files, *skipped_records, args.messages.verbose));
    let pairs = counted(accuracy.pairs, "pair");
    let documents = counted(accuracy.documents, "document");
    lines.line(
        "compared",
        if accuracy.pairs == accuracy.all_pairs {
            format!("all {pairs} of {documents} with shingles")
        } else {
            let all = grouped(accuracy.all_pairs);
            format!("{pairs}, drawn at random from the {all} of {documents} with shingles")
        },
    );
    if let Some(path) = &args.plot {
        lines.line("wrote", format!("a picture to `{}`", visible(path)));
    }
    lines.line("time", summary::time(elapsed, *read, *bytes));
    lines.detail("spec", spec.to_string());
    lines.stages(&progress.stages());
    printer.note(&lines.to_string());
}
