//! Removes the near-duplicates of a file of records:
//!
//! ```text
//! cargo run --package minwise-engine --example dedup -- in.jsonl out.jsonl report
//! ```

use minwise_engine::{Destination, Run, RunOptions, Unobserved};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, report] = &arguments[..] else {
        return Err("give the names of the input, the output and the folder of the report".into());
    };
    let mut options = RunOptions::default();
    options.inputs.inputs.push(input.clone());
    options.settings.threads = Some(1);
    options.outputs.kept = Some(Destination::from(output.as_str()));
    options.outputs.report = Some(report.into());
    let outcome = Run::new(options)?.execute(&Unobserved)?;
    assert_eq!(outcome.summary().rejected, 0, "every record is a document");
    outcome.close()?;
    Ok(())
}
