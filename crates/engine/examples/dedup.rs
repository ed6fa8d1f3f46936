//! Removes the near-duplicates of a file of records:
//!
//! ```text
//! cargo run --package minwise-engine --example dedup -- in.jsonl out.jsonl report
//! ```

use std::path::Path;

use minwise_engine::{DedupOptions, DedupRun, Destination, Unobserved};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, report] = &arguments[..] else {
        return Err("give the names of the input, the output and the folder of the report".into());
    };
    let mut options = DedupOptions::default();
    options.inputs.inputs.push(Path::new(input).into());
    // One thread is used, because `cargo x trace` then sees every call below one function.
    options.settings.threads = Some(1);
    options.outputs.kept = Some(Destination::from(output.as_str()));
    options.outputs.report = Some(report.into());
    DedupRun::new(options)?.execute(&Unobserved)?.close()?;
    Ok(())
}
