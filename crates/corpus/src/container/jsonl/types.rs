//! The types of the members of a line.

use super::string::string_of;
use super::values::members_of;
use crate::decode::BOM;
use crate::shape::{At, Members, Number, Shape};
use serde_json::value::RawValue;

/// Notes the members of a line that is a record. A line that was rejected is never written, so its types do not count.
pub(super) fn note_line(line: &str, at: At, members: &mut Members) {
    note_members(line.strip_prefix(BOM).unwrap_or(line), at, members);
}

fn note_members(object: &str, at: At, members: &mut Members) {
    for (name, value) in members_of(object) {
        note(value, at, members.shape(&name));
    }
}

fn note(value: &RawValue, at: At, shape: &mut Shape) {
    match value.get().as_bytes().first() {
        Some(b'n') => {}
        Some(b't' | b'f') => {
            shape.boolean.get_or_insert(at);
        }
        Some(b'"') => {
            shape.text.get_or_insert(at);
        }
        Some(b'[') => {
            let items = shape.note_list(at);
            for item in items_of(value) {
                note(item, at, items);
            }
        }
        Some(b'{') => note_members(value.get(), at, shape.note_object(at)),
        _ => shape.note_number(Number::of(value.get()), at),
    }
}

/// The items of a list. The line was read before, so that none is left out.
pub(super) fn items_of(list: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(list.get()).unwrap_or_default()
}

/// The string that a value holds, repaired as a text is; `None` for another value.
pub(super) fn text_of(value: &RawValue) -> Option<std::borrow::Cow<'_, str>> {
    string_of(value).ok().map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[&str]) -> Result<String, String> {
        let mut members = Members::default();
        for (offset, line) in (0..).zip(lines) {
            note_line(line, At { source: 0, offset }, &mut members);
        }
        let fields = members.fields().map_err(|conflict| conflict.field())?;
        Ok(fields
            .iter()
            .map(|field| format!("{}: {}", field.name(), field.data_type()))
            .collect::<Vec<_>>()
            .join(", "))
    }

    #[test]
    fn null_fits_every_type_and_members_may_be_missing() {
        let lines = [
            "\u{feff}{\"a\":null,\"b\":[]}",
            "{\"b\":[null,1],\"c\":{\"d\":true}}",
            "{\"a\":\"x\",\"c\":null}",
            "{}",
        ];
        assert_eq!(
            shown(&lines).unwrap(),
            "a: Utf8, b: List(Int64, field: 'element'), c: Struct(\"d\": Boolean)"
        );
        assert_eq!(shown(&["{\"a\":null}"]).unwrap(), "a: Null");
    }

    #[test]
    fn other_mixtures_are_told() {
        assert_eq!(shown(&["{\"a\":[1]}", "{\"a\":[\"x\"]}"]).unwrap_err(), "a[]");
        assert_eq!(shown(&["{\"a\":{}}", "{\"a\":[]}"]).unwrap_err(), "a");
    }
}
