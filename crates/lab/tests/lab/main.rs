//! `minwise-lab` as a person meets it: what it prints, what it writes, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod corpus;
mod experiments;
mod support;
mod usage;
