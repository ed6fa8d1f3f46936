//! Runs the examples of this crate. Each example checks its own results.

#[path = "../../examples/read.rs"]
mod read;
