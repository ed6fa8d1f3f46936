//! The examples of this crate, each of which checks what it shows.

#[path = "../../examples/read.rs"]
mod read;
