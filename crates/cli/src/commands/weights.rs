//! `minwise weights`: in how many documents each shingle stands, as a file.

use std::path::Path;
use std::time::Instant;

use minwise::weight::Frequencies;
use minwise_corpus::refuse_overlap;
use minwise_engine::frequencies::{self, FrequencyTable};
use serde_json::json;

use super::{open, overwrite};
use crate::Exit;
use crate::args::WeightsArgs;
use crate::printer::{Failure, Printer, counted, megabytes};
use crate::progress::Progress;
use crate::settings::{self, Problems};

pub fn run(args: &WeightsArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = Problems::default();
    let options = settings::read_options(&args.inputs, &mut problems);
    let spec = settings::text_spec(&args.text, &mut problems);
    let threads = settings::threads(args.threads.as_deref(), &mut problems);
    problems.finish()?;

    let progress = Progress::new(printer);
    let corpus = open(&args.inputs.inputs, &options, &progress)?;
    let output = Path::new(&args.output);
    refuse_overlap(&corpus, output)?;
    let file = frequencies::create(output, overwrite(args.force))?;
    frequencies::count(&corpus, &spec, threads, options.spool_dir.as_deref(), file, &progress)?;
    progress.clear();

    let table = FrequencyTable::open(output)?;
    let (documents, shingles) = (table.documents(), table.shingles().len() as u64);
    let elapsed = started.elapsed();
    printer.event(&json!({
        "event": "summary",
        "documents": documents,
        "shingles": shingles,
        "fingerprint": format!("{:016x}", table.fingerprint()),
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    printer.note(&format!(
        "counted     {}, {}\n\
         shingles    {} different ones\n\
         table       {:016x}\n\
         time        {:.2} s, {:.1} MB/s",
        counted(documents, "document"),
        megabytes(corpus.size_bytes()),
        crate::printer::grouped(shingles),
        table.fingerprint(),
        elapsed.as_secs_f64(),
        corpus.size_bytes() as f64 / 1e6 / elapsed.as_secs_f64().max(1e-9),
    ));
    Ok(Exit::Done)
}
