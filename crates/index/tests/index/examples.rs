//! Runs the examples of this crate, each of which asserts its results.

#[path = "../../examples/archive.rs"]
mod archive;
