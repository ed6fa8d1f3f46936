//! From the bytes of a record to a document.

mod json;
mod quick;
mod skeleton;
mod values;
mod walk;

pub(crate) use json::parse_line;
#[cfg(test)]
pub(crate) use json::string_of;
pub(crate) use skeleton::{Looked, Parsed, parse_skeleton, skeleton};
pub(crate) use values::{names, values};
