//! Tests of whole runs of the engine: against brute force, and on corpora that are made to be slow or hostile.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accuracy;
mod against;
mod audit;
mod builder;
mod disk;
mod examples;
mod filter;
mod huge;
mod ids;
mod keep;
mod kinds;
mod large;
mod memory;
mod oracle;
mod page;
mod preparation;
mod random;
mod recall;
mod report;
mod run;
mod search;
mod settings;
mod skew;
mod stream;
mod support;
mod weights;
