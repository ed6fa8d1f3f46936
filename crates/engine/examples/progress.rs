//! Runs with an observer that prints progress and warnings and can cancel the run, and visits pairs one by one.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use minwise_engine::{Observer, Pairs, Stage, Warning};

/// Observer that prints the progress of a run. Its state is atomic, because several threads call it at the same time.
#[derive(Default)]
struct Progress {
    done: AtomicU64,
    /// Whether the run must stop; a handler of Ctrl-C would set this.
    stop: AtomicBool,
}

impl Observer for Progress {
    fn begin(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        println!("{}: {total} to do", stage.name());
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn end(&self, stage: Stage) {
        println!("{}: {} done", stage.name(), self.done.load(Ordering::Relaxed));
    }

    fn warn(&self, warning: &Warning) {
        println!("warning: {}", warning.message());
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let texts: Vec<String> =
        (0..1000).map(|number| format!("The report of day {} is the same.", number / 2)).collect();
    let progress = Progress::default();
    let run = Pairs::new().texts(&texts).threads(2).memory(256 << 20).build()?;
    let outcome = run.execute(&progress)?;

    // If pairs do not fit into memory, they lie in a temporary file, and are visited without loading all of them.
    let mut pairs = 0;
    outcome.for_each(&progress, |pair, first, second| {
        if pairs < 3 {
            println!("{first} and {second}: {}", pair.similarity);
        }
        pairs += 1;
        Ok(())
    })?;
    assert_eq!(pairs, 500);

    // A cancelled run returns an error of its own kind, and leaves no partial output.
    progress.stop.store(true, Ordering::Relaxed);
    let error = Pairs::new().texts(&texts).run_observed(&progress).err();
    assert!(error.is_some_and(|error| error.is_cancelled()));
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Box<dyn Error>> {
    main()
}
