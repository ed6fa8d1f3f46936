//! From the bytes of a record to a document.

mod json;
mod quick;
mod skeleton;
mod text;
mod values;
mod walk;

use std::borrow::Cow;

pub(crate) use json::parse_line;
pub(crate) use quick::unescape_piece;
pub(crate) use skeleton::{Looked, Parsed, parse_skeleton, skeleton};
pub(crate) use text::{Decoded, decode_as, decode_by_content, decode_text, encoding_by_mark};
pub(crate) use values::{names, values};

/// The byte-order mark of UTF-8, which some editors put before the first character.
pub(crate) const BOM: &str = "\u{feff}";

/// The texts of several fields as one, a line break between each two; `None` if all of them are missing.
pub(crate) fn join<'a>(texts: impl Iterator<Item = Option<Cow<'a, str>>>) -> Option<Cow<'a, str>> {
    let texts: Vec<Option<Cow<'a, str>>> = texts.collect();
    if texts.iter().all(Option::is_none) {
        return None;
    }
    let mut texts = texts.into_iter().map(Option::unwrap_or_default);
    let first = texts.next()?;
    Some(texts.fold(first, |mut joined, text| {
        joined.to_mut().push('\n');
        joined.to_mut().push_str(&text);
        joined
    }))
}
