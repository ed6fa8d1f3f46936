//! The command as a person meets it: what it prints, what it writes, and how it ends.
//!
//! Every test works in a folder of its own, and names files relative to it, so that no path of this machine is part of
//! an expectation.

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
