//! `minwise sketch`: the sketches of a corpus, as a file.

use std::path::Path;
use std::time::Instant;

use minwise::keep::Keep;
use minwise_corpus::refuse_overlap;
use minwise_engine::{ReadSettings, Weighing, read, sketch_file};
use serde_json::json;

use super::{open, overwrite, rejects};
use crate::Exit;
use crate::args::SketchFileArgs;
use crate::printer::{Failure, Printer, counted, grouped, megabytes};
use crate::progress::Progress;
use crate::settings::{self, Problems};

pub fn run(args: &SketchFileArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = Problems::default();
    let options = settings::read_options(&args.inputs, &mut problems);
    let spec = settings::spec(&args.spec, &mut problems);
    let (threads, max_rejects) = settings::limits(&args.run, &mut problems);
    let memory = settings::memory(&args.run, &mut problems);
    problems.finish()?;

    let progress = Progress::new(printer);
    let corpus = open(&args.inputs.inputs, &options, &progress)?;
    let output = Path::new(&args.output);
    refuse_overlap(&corpus, output)?;
    // What is there already is refused before the work begins, and not after it.
    let file = sketch_file::create(output, overwrite(args.force))?;

    let settings = ReadSettings {
        spec,
        weighing: Weighing::default(),
        keep: Keep::default(),
        banding: None,
        bits: None,
        places: false,
        threads,
        max_rejects,
        memory,
        temporary: options.spool_dir.clone(),
        work: None,
    };
    let reading = read(&corpus, &settings, &progress)?;
    sketch_file::write(file, &corpus, &reading, &spec)?;
    progress.clear();

    let elapsed = started.elapsed();
    let documents = reading.documents.len() as u64;
    let bytes = spec.method.size_bytes() as u64;
    printer.event(&json!({
        "event": "summary",
        "spec": spec.to_string(),
        "read": documents + reading.rejected.len(),
        "rejected": reading.rejected.len(),
        "sketched": documents,
        "sketch_bytes": bytes,
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    printer.note(&format!(
        "read        {}, {}; {} rejected\n\
         sketched    {}, {bytes} bytes each\n\
         spec        {spec}\n\
         time        {:.2} s, {:.1} MB/s",
        counted(documents + reading.rejected.len(), "document"),
        megabytes(corpus.size_bytes()),
        grouped(reading.rejected.len()),
        counted(documents, "document"),
        elapsed.as_secs_f64(),
        corpus.size_bytes() as f64 / 1e6 / elapsed.as_secs_f64().max(1e-9),
    ));
    let hint = "`minwise dedup --dry-run --report DIR` lists all of them in `DIR/rejects.jsonl`";
    Ok(rejects(&reading, &corpus, hint, printer))
}
