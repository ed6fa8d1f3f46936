//! Finds the kind of a JSON value, and the string that it holds.
//!
//! Text from crawls contains lone surrogates (`\ud83d` without its partner), which JSON allows and a Rust string
//! cannot hold. Lone surrogates are replaced by U+FFFD, and the document is marked as repaired.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, Visitor};
use serde_json::value::RawValue;

/// A string, and whether it had to be repaired.
pub(super) type DecodedString<'a> = (Cow<'a, str>, bool);

/// Returns the string that a value holds. For any other value, the error is the kind of the value.
pub(crate) fn string_of(value: &RawValue) -> Result<DecodedString<'_>, &'static str> {
    let kind = kind_of(value);
    if kind != STRING {
        return Err(kind);
    }
    let inside = value.get().strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    if let Some(plain) = inside.filter(|inside| memchr::memchr(b'\\', inside.as_bytes()).is_none()) {
        return Ok((Cow::Borrowed(plain), false));
    }
    let mut deserializer = serde_json::Deserializer::from_str(value.get());
    let (text, repaired) = deserializer.deserialize_bytes(Repair).map_err(|_| kind)?;
    Ok((Cow::Owned(text), repaired))
}

pub(super) const STRING: &str = "a string";
pub(super) const NUMBER: &str = "a number";
pub(super) const BOOLEAN: &str = "true or false";
pub(super) const NULL: &str = "null";
pub(super) const LIST: &str = "a list";
pub(super) const OBJECT: &str = "an object";

/// Returns the kind of a JSON value in words, judged by its first byte.
pub(super) fn kind_of(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'"') => STRING,
        Some(b't' | b'f') => BOOLEAN,
        Some(b'n') => NULL,
        Some(b'[') => LIST,
        Some(b'{') => OBJECT,
        _ => NUMBER,
    }
}

/// Visitor that takes the bytes of a string, in which lone surrogates are encoded as if they were characters.
struct Repair;

impl Visitor<'_> for Repair {
    type Value = (String, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let mut text = String::with_capacity(bytes.len());
        let mut repaired = false;
        for piece in bytes.utf8_chunks() {
            text.push_str(piece.valid());
            // An encoded surrogate is `ed a0..bf 80..bf`. Its first byte alone is already invalid, so the three bytes
            // come as three invalid pieces, and only the first piece is replaced.
            if piece.invalid().first() == Some(&0xed) {
                text.push(char::REPLACEMENT_CHARACTER);
                repaired = true;
            }
        }
        Ok((text, repaired))
    }
}
