//! CSV and TSV: records of fields, of which the first names the others.
//!
//! A record may span lines, so that only who has read everything before a line feed knows whether it ends a record. One
//! pass over each source, when it is opened, therefore notes a place every mebibyte where a record begins; between such
//! places the source is scanned in parallel, and every record is passed on byte for byte.

mod open;
mod scan;
mod split;

pub(crate) use open::Delimited;
pub(crate) use scan::{document, scan};
pub(crate) use split::{push_quoted, without_line_end};
