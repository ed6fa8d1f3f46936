//! From the bytes of a record to a document.

mod json;
mod quick;
mod text;
mod walk;

pub(crate) use json::parse_line;
pub(crate) use text::decode_text;

/// The byte-order mark of UTF-8, which some editors put before the first character.
pub(crate) const BOM: &str = "\u{feff}";
