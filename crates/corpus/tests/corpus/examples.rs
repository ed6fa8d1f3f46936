//! The examples of this crate, each of which checks its own results.

#[path = "../../examples/read.rs"]
mod read;
