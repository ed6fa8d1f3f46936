//! Tests `minwise-lab` as a user runs it: the text that it prints, the files that it writes, and its exit code.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod corpus;
mod current;
mod experiments;
mod support;
mod usage;
