//! The examples of this crate, each of which checks what it shows.

#[path = "../../examples/serve.rs"]
mod serve;
