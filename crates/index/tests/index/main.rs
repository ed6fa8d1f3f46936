//! The index as its users see it.

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
