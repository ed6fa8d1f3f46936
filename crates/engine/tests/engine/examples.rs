//! The examples of this crate, each of which checks what it shows. `cargo x trace` runs `examples/dedup.rs`.

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
