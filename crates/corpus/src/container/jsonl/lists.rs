//! Finds the texts in the lists of a line.
//!
//! The line was checked before. Nested lists are parsed from the outside in, so a value is parsed once per list
//! around it.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::string::{BOOLEAN, DecodedString, LIST, NULL, NUMBER, OBJECT, STRING, kind_of, string_of};
use super::walk::{Slot, WantedFields, walk};
use crate::field::{BETWEEN_ELEMENTS, FieldPath};
use crate::reject::RejectReason;

/// Joins the texts to which a path leads. `value` is the value at the first list of the path, and is not null.
///
/// An element that is null, or whose member is missing or null, adds nothing. If at least one element lacks the
/// member and no element has it, the path leads nowhere, and the result is `None`. Any other list without texts gives
/// an empty text.
pub(super) fn text<'a>(
    value: &'a RawValue,
    field: &FieldPath,
) -> Result<Option<DecodedString<'a>>, RejectReason> {
    let mut gathered =
        GatheredTexts { field, joined: None, is_repaired: false, has_member: false, lacks_member: false };
    gathered.list(value, field.head().len() - 1, 0)?;
    let GatheredTexts { joined, is_repaired, has_member, lacks_member, .. } = gathered;
    if lacks_member && !has_member {
        return Ok(None);
    }
    Ok(Some((Cow::Owned(joined.unwrap_or_default()), is_repaired)))
}

struct GatheredTexts<'p> {
    field: &'p FieldPath,
    /// The joined texts; `None` before the first text, because an empty text counts.
    joined: Option<String>,
    is_repaired: bool,
    /// Whether an element has the member, even if its value is null or an empty list.
    has_member: bool,
    lacks_member: bool,
}

impl GatheredTexts<'_> {
    /// Adds the texts of a list behind part number `part` of the path. `lists` is the number of lists of the same
    /// part around this list.
    fn list(&mut self, value: &RawValue, part: usize, lists: usize) -> Result<(), RejectReason> {
        if kind_of(value) != LIST {
            return Err(self.wrong_type(part, lists, no_list(kind_of(value))));
        }
        // The line was checked as a whole, so this is always a list.
        let elements: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
        let lists = lists + 1;
        for element in elements {
            if kind_of(element) == NULL {
                continue;
            }
            if lists < self.field.lists_behind(part) {
                self.list(element, part, lists)?;
            } else if part + 1 < self.field.parts().len() {
                self.object(element, part, lists)?;
            } else {
                self.text(element)?;
            }
        }
        Ok(())
    }

    /// Adds the texts of an element of the list behind part number `part` of the path. The next part of the path
    /// names a member of this element.
    fn object(&mut self, value: &RawValue, part: usize, lists: usize) -> Result<(), RejectReason> {
        if kind_of(value) != OBJECT {
            return Err(self.wrong_type(part, lists, no_object(kind_of(value))));
        }
        let part = part + 1;
        let name = self.field.parts().get(part..=part);
        let found = walk(value.get(), WantedFields { text: name, id: None }).unwrap_or_default();
        match found.text {
            Slot::Missing => self.lacks_member = true,
            Slot::Repeated => {
                return Err(RejectReason::DuplicateField { field: self.field.up_to(part, 0).to_string() });
            }
            Slot::Once(value) => {
                self.has_member = true;
                if kind_of(value) == NULL {
                } else if self.field.lists_behind(part) > 0 {
                    self.list(value, part, 0)?;
                } else if part + 1 < self.field.parts().len() {
                    self.object(value, part, 0)?;
                } else {
                    self.text(value)?;
                }
            }
        }
        Ok(())
    }

    fn text(&mut self, value: &RawValue) -> Result<(), RejectReason> {
        let last = self.field.parts().len() - 1;
        let (text, is_repaired) =
            string_of(value).map_err(|found| self.wrong_type(last, self.field.lists_behind(last), found))?;
        self.is_repaired |= is_repaired;
        match &mut self.joined {
            Some(joined) => {
                joined.push_str(BETWEEN_ELEMENTS);
                joined.push_str(&text);
            }
            None => self.joined = Some(text.into_owned()),
        }
        Ok(())
    }

    fn wrong_type(&self, part: usize, lists: usize, found: &'static str) -> RejectReason {
        let field = self.field.up_to(part, lists).to_string();
        RejectReason::WrongType { field, found, in_lists: vec![] }
    }
}

/// Describes a value of this kind that should be a list, for an error.
fn no_list(kind: &'static str) -> &'static str {
    match kind {
        STRING => "a string, not a list",
        NUMBER => "a number, not a list",
        BOOLEAN => "true or false, not a list",
        OBJECT => "an object, not a list",
        other => other,
    }
}

/// Describes a value of this kind that should be an object, for an error.
fn no_object(kind: &'static str) -> &'static str {
    match kind {
        STRING => "a string, not an object",
        NUMBER => "a number, not an object",
        BOOLEAN => "true or false, not an object",
        LIST => "a list, not an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, list: &str) -> Result<Option<(String, bool)>, String> {
        let value: &RawValue = serde_json::from_str(list).unwrap();
        let text = text(value, &path.parse().unwrap()).map_err(|reason| reason.to_string())?;
        Ok(text.map(|(text, is_repaired)| (text.into_owned(), is_repaired)))
    }

    fn joined(path: &str, list: &str) -> String {
        let (text, is_repaired) = found(path, list).unwrap().unwrap();
        assert!(!is_repaired);
        text
    }

    #[test]
    fn texts_are_joined_in_order() {
        let messages =
            r#"[{"role": "user", "content": "你好 \"a\""}, {"content": ""}, {"content": "b\nc", "n": [{}]}]"#;
        assert_eq!(joined("messages[].content", messages), "你好 \"a\"\n\n\n\nb\nc");
        assert_eq!(joined("tags[]", r#"["a"]"#), "a");
        assert_eq!(joined("rows[][]", r#"[["a", "b"], [], null, ["c"]]"#), "a\n\nb\n\nc");
        assert_eq!(
            joined("a[].b[].c", r#"[{"b": [{"c": "1"}, {"c": "2"}]}, {"b": []}, {"b": [{"c": "3"}]}]"#),
            "1\n\n2\n\n3"
        );
        assert_eq!(
            joined("meta.parts[].a.b", r#"[{"a": {"b": "x"}}, {"a": null}, {"a": {"b": "y"}}]"#),
            "x\n\ny"
        );
        assert_eq!(found("tags[]", r#"["\ud800", "b"]"#).unwrap(), Some(("\u{fffd}\n\nb".into(), true)));
    }

    #[test]
    fn null_and_missing_texts_add_nothing() {
        assert_eq!(joined("m[].c", r#"[null, {"c": "a"}, {"c": null}, {"r": 1}, {"c": "b"}]"#), "a\n\nb");
        for list in ["[]", "[null]", r#"[{"c": null}]"#, r#"[{"c": null}, {}]"#] {
            assert_eq!(joined("m[].c", list), "", "{list}");
        }
        for list in ["[{}]", r#"[{"r": "a"}, null, {"C": "b"}]"#] {
            assert_eq!(found("m[].c", list).unwrap(), None, "{list}");
        }
        assert_eq!(joined("a[].b[].c", r#"[{"b": []}, {}]"#), "");
        assert_eq!(found("a[].b[].c", r#"[{"b": [{}]}, {}]"#).unwrap().unwrap().0, "");
        assert_eq!(found("a[].b[].c", "[{}]").unwrap(), None);
    }

    #[test]
    fn values_of_other_types_are_named() {
        for (path, list, expected) in [
            ("m[].c", r#"[{"c": "a"}, {"c": 1}]"#, "the field `m[].c` holds a number"),
            ("m[].c", r#"[{"c": {"d": "a"}}]"#, "the field `m[].c` holds an object"),
            ("m[].c", r#"[{"c": ["a"]}]"#, "the field `m[].c` holds a list"),
            ("m[].c", r#"["a"]"#, "the field `m[]` holds a string, not an object"),
            ("m[].c", r#"{"c": "a"}"#, "the field `m` holds an object, not a list"),
            ("m[].c[]", r#"[{"c": "a"}]"#, "the field `m[].c` holds a string, not a list"),
            ("m[].c.d", r#"[{"c": true}]"#, "the field `m[].c` holds true or false, not an object"),
            ("m[].c.d", "[[]]", "the field `m[]` holds a list, not an object"),
            ("t[]", "3", "the field `t` holds a number, not a list"),
            ("t[]", r#"[["a"]]"#, "the field `t[]` holds a list"),
            ("t[][]", r#"["a"]"#, "the field `t[]` holds a string, not a list"),
            ("m[].c", r#"[{"c": "a", "c": "a"}]"#, "the field `m[].c` is there twice"),
            ("m[].c[].d", r#"[{"c": [], "c": []}]"#, "the field `m[].c` is there twice"),
        ] {
            assert_eq!(found(path, list).unwrap_err(), expected, "{path} {list}");
        }
    }
}
