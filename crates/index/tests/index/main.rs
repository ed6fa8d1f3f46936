//! Integration tests of the index through its public functions.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crash;
mod evidence;
mod examples;
mod fixtures;
mod model;
mod queries;
mod recall;
mod repair;
mod size;
mod support;
mod survey;
mod transfer;
