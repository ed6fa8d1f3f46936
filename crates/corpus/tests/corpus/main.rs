//! The crate from outside: files go in, documents come out, and kept records are written as they were.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod arrow;
mod copies;
mod delimited;
mod documents;
mod each;
mod examples;
mod files;
mod lists;
mod long;
mod memory;
mod parquet;
#[cfg(feature = "pdf")]
mod pdf;
mod skipped;
mod support;
mod values;
mod warc;
