//! Tests the public API of the crate: files are read, documents are returned, and kept records are written unchanged.
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
mod pages;
mod parquet;
#[cfg(feature = "pdf")]
mod pdf;
mod skipped;
mod support;
mod values;
mod warc;
