//! Collects the types of the members of a line.

use std::collections::HashMap;

use super::string::string_of;
use super::values::members_of;
use crate::decode::BOM;
use crate::shape::{At, Number, ObjectMembers, Shape};
use serde_json::value::RawValue;

/// Maximum depth of lists and objects in a column. Few readers accept deeper types, and each level takes some of the
/// stack.
const DEEPEST: usize = 64;

/// Notes the types of the members of a line that is a record. A rejected line is never written, so its types are not
/// noted.
pub(super) fn note_line(line: &str, at: At, members: &mut ObjectMembers) {
    note_members(line.strip_prefix(BOM).unwrap_or(line), at, members, DEEPEST);
}

fn note_members(object: &str, at: At, members: &mut ObjectMembers, levels: usize) {
    let found = members_of(object);
    // If an object has several members of one name, the last is noted, because that member is written.
    let last: HashMap<&str, usize> =
        found.iter().enumerate().map(|(number, (name, _))| (&**name, number)).collect();
    for (number, (name, value)) in found.iter().enumerate() {
        if last.get(&**name) == Some(&number)
            && let Some(shape) = members.note(name, at)
        {
            note(value, at, shape, levels);
        }
    }
}

fn note(value: &RawValue, at: At, shape: &mut Shape, levels: usize) {
    let is_nested = value.get().starts_with(['[', '{']);
    let Some(levels) = levels.checked_sub(usize::from(is_nested)) else {
        shape.deep.get_or_insert(at);
        return;
    };
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
                note(item, at, items, levels);
            }
        }
        Some(b'{') => note_members(value.get(), at, shape.note_object(at), levels),
        _ => shape.note_number(Number::of(value.get()), at),
    }
}

/// Returns the items of a list. The line was checked before, so parsing cannot fail.
pub(super) fn items_of(list: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(list.get()).unwrap_or_default()
}

/// Returns the string that a value holds, repaired as the text of a document is; `None` for any other value.
pub(super) fn text_of(value: &RawValue) -> Option<std::borrow::Cow<'_, str>> {
    string_of(value).ok().map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[&str]) -> Result<String, String> {
        let mut members = ObjectMembers::default();
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
    fn of_members_of_one_name_the_last_counts() {
        assert_eq!(shown(&["{\"a\":1,\"a\":\"x\"}", "{\"a\":\"y\"}"]).unwrap(), "a: Utf8");
    }

    #[test]
    fn values_nested_too_deep_are_refused() {
        let nested = |levels: usize| format!("{{\"a\":{}1{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(shown(&[&nested(DEEPEST)]).is_ok());
        assert!(shown(&[&nested(DEEPEST + 1)]).unwrap_err().starts_with("a[]"));
        assert!(shown(&[&nested(20_000)]).is_err());
    }

    #[test]
    fn other_mixtures_are_told() {
        assert_eq!(shown(&["{\"a\":[1]}", "{\"a\":[\"x\"]}"]).unwrap_err(), "a[]");
        assert_eq!(shown(&["{\"a\":{}}", "{\"a\":[]}"]).unwrap_err(), "a");
    }
}
