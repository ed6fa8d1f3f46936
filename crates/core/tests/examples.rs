//! Runs the examples of this crate, each of which asserts its output.

#[path = "../examples/compare_two_texts.rs"]
mod compare_two_texts;
#[path = "../examples/lsh_in_ten_lines.rs"]
mod lsh_in_ten_lines;
#[path = "../examples/store_a_sketch.rs"]
mod store_a_sketch;
#[allow(dead_code, reason = "its `main` reads standard input")]
#[path = "../examples/stream.rs"]
mod stream;
