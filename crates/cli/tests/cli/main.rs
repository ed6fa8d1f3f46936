//! Tests the command as a user runs it: the text that it prints, the files that it writes, and its exit code.
//!
//! Every test works in a folder of its own and names files relative to it, so that no expectation has a path of the
//! machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accuracy;
mod against;
mod archive;
mod archive_inputs;
mod codes;
mod compare;
mod concepts;
mod convert;
mod dedup;
mod determinism;
mod documents;
mod doors;
mod errors;
mod formats;
mod full_disk;
mod guides;
mod help;
mod help_archive;
mod inputs;
mod interrupt;
mod keep;
mod lab;
mod large;
mod lists;
mod memory;
mod newcomer;
mod nulls;
mod outputs;
mod pairs;
mod plan;
mod promises;
mod report;
mod serve;
mod sketch;
mod skipped;
mod support;
mod terminal;
mod warc;
mod weights;
mod work;
