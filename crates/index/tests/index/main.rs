//! The index as its users see it.

mod crash;
mod evidence;
mod fixtures;
mod model;
mod queries;
mod support;
mod survey;
mod transfer;
