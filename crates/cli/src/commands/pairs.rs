//! `minwise pairs`: the near-duplicate pairs of a corpus.

use std::path::Path;
use std::time::Instant;

use minwise::cluster::Cluster;
use minwise::verify::Measure;
use minwise_corpus::{Output, escape_control, refuse_overlap, visible_json};
use minwise_engine::pairs::pairs;
use minwise_engine::read;
use serde_json::json;

use super::{open, overwrite, rejects, weigh};
use crate::Exit;
use crate::args::{PairFormat, PairsArgs};
use crate::printer::{Failure, Printer, counted, found_by, grouped, megabytes, put_aside, reordered};
use crate::progress::Progress;
use crate::settings::{self, Problems};

pub fn run(args: &PairsArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = Problems::default();
    let options = settings::read_options(&args.inputs, &mut problems);
    let mut settings =
        settings::run(&args.sketch, &args.run, &["first".to_owned()], Cluster::Star, problems)?;
    settings.temporary.clone_from(&options.spool_dir);

    let progress = Progress::new(printer);
    let corpus = open(&args.inputs.inputs, &options, &progress)?;
    let mut out = match args.output.as_deref() {
        None | Some("-") => Output::stdout(),
        Some(path) => {
            refuse_overlap(&corpus, Path::new(path))?;
            Output::create(Path::new(path), overwrite(args.force))?
        }
    };

    let weights = &args.sketch.weights;
    settings.weighing =
        weigh(weights, &mut settings.spec, Some(&corpus), &options, settings.threads, &progress)?;
    let reading = read(&corpus, &settings.reading(), &progress)?;
    let found = pairs(&corpus, &reading, args.of.as_deref(), &settings, &progress)?;
    progress.clear();
    let mut count = 0u64;
    found.for_each(&progress, |pair| {
        let first = reading.documents.id(pair.first, &corpus)?;
        let second = reading.documents.id(pair.second, &corpus)?;
        let similarity = pair.similarity;
        let line = match args.format {
            PairFormat::Tsv => {
                format!("{}\t{}\t{similarity:.6}\n", escape_control(&first), escape_control(&second))
            }
            PairFormat::Jsonl => {
                let pair = json!({"first": first, "second": second, "similarity": similarity}).to_string();
                format!("{}\n", visible_json(&pair))
            }
        };
        count += 1;
        Ok(out.write_bytes(line.as_bytes())?)
    })?;
    out.finish()?;

    let elapsed = started.elapsed();
    let verification = &found.verification;
    let screened = verification.screened;
    let recall = verification.expected_recall.value();
    let read = reading.documents.len() as u64 + reading.rejected.len();
    printer.event(&json!({
        "event": "summary",
        "spec": settings.spec.to_string(),
        "measure": settings.measure.to_string(),
        "search": settings.search.to_string(),
        "threshold": settings.threshold,
        "read": read,
        "rejected": reading.rejected.len(),
        "pairs": count,
        "candidates": verification.candidates,
        "filtered": screened.pairs,
        "filter_compared": screened.compared,
        "filter_registers": screened.registers,
        "compared": verification.compared,
        "verified": verification.verified,
        "reordered": verification.reordered,
        "reordered_estimated": verification.reordered_estimated,
        "expected_recall": recall,
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    let reordered = settings.order.map_or(String::new(), |order| {
        reordered(verification.reordered, verification.reordered_estimated, order)
    });
    printer.note(&format!(
        "read        {}, {}; {} rejected\n\
         pairs       {} at or above {}{}\n\
         candidates  {}{}; {} compared exactly{reordered}\n\
         recall      {recall:.4} expected, {}\n\
         spec        {}\n\
         time        {:.2} s, {:.1} MB/s",
        counted(read, "document"),
        megabytes(corpus.size_bytes()),
        grouped(reading.rejected.len()),
        grouped(count),
        settings.threshold,
        if settings.measure == Measure::Jaccard {
            String::new()
        } else {
            format!(" by {}", settings.measure)
        },
        grouped(verification.candidates),
        put_aside(screened.pairs, screened.compared, screened.registers),
        grouped(verification.compared),
        found_by(settings.search, settings.banding.bands(), settings.banding.rows()),
        settings.spec,
        elapsed.as_secs_f64(),
        corpus.size_bytes() as f64 / 1e6 / elapsed.as_secs_f64().max(1e-9),
    ));
    let hint = "`minwise dedup --dry-run --report DIR` lists all of them in `DIR/rejects.jsonl`";
    Ok(rejects(&reading, &corpus, hint, printer))
}
