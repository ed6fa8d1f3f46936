//! The index as its users see it.

mod crash;
mod evidence;
mod model;
mod queries;
mod support;
mod transfer;
