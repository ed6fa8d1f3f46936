//! Runs the examples of this crate as tests; each example checks its own results. `cargo x trace` runs
//! `examples/dedup.rs`.

#[path = "../../examples/batches.rs"]
mod batches;
#[path = "../../examples/files.rs"]
mod files;
#[path = "../../examples/progress.rs"]
mod progress;
#[path = "../../examples/sketches.rs"]
mod sketches;
#[path = "../../examples/texts.rs"]
mod texts;
