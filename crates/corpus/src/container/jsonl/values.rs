//! Reads members of a JSON line other than its text and its id.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::string::{LIST, NULL, OBJECT, STRING, kind_of, string_of};
use super::walk::{Slot, WantedFields, walk};
use crate::decode::BOM;
use crate::field::FieldPath;
use crate::sources::SoughtFields;

/// Returns the values of these fields in a line that is a document, in the form of
/// [`Document::values`](crate::Document::values).
pub(crate) fn values<'a>(line: &'a str, fields: &[FieldPath]) -> Vec<Option<Cow<'a, str>>> {
    let body = line.strip_prefix(BOM).unwrap_or(line);
    // Each field has its own walk, because a walk is quick, and more than one field is rare.
    fields.iter().map(|field| value(body, field)).collect()
}

fn value<'a>(body: &'a str, field: &FieldPath) -> Option<Cow<'a, str>> {
    // The line was checked before, so this walk cannot fail.
    match walk(body, WantedFields { text: Some(field.parts()), id: None }).ok()?.text {
        Slot::Missing => None,
        Slot::Once(value) if value.get() == "null" => Some(Cow::Borrowed("")),
        Slot::Once(value) => Some(string_of(value).map_or(Cow::Borrowed(value.get()), |(text, _)| text)),
        // A repeated field has an empty value, because no rule decides which one counts.
        Slot::Repeated => Some(Cow::Borrowed("")),
    }
}

/// Removes the fields of a line from the fields that are sought. A line that is no object is ignored.
pub(super) fn note_fields(line: &str, sought: &mut SoughtFields) {
    let body = line.strip_prefix(BOM).unwrap_or(line);
    let lacks = |field: &FieldPath| {
        let found = walk(body, WantedFields { text: Some(field.head()), id: None }).ok()?;
        Some(matches!(found.text, Slot::Missing))
    };
    let Some(lacking) = sought.missing.iter().map(lacks).collect::<Option<Vec<bool>>>() else { return };
    if sought.records == 0 {
        sought.first = names(line);
    }
    sought.records += 1;
    let mut lacking = lacking.into_iter();
    sought.missing.retain(|_| lacking.next().unwrap_or(true));
}

/// Maximum number of fields of a line that are collected.
const LISTED: usize = 50;

/// Maximum number of paths to texts in lists that are suggested instead of a path that has no list.
const OFFERED: usize = 5;

/// Returns the fields of a line, in order, as paths. A path leads through nested objects, and through the first
/// non-null element of each list. A name that cannot be written in a path is left out.
pub(crate) fn names(line: &str) -> Vec<String> {
    leaves(line).iter().map(|(path, _)| path.to_string()).collect()
}

/// Returns paths to texts in lists that have the names of this path and more lists: `messages[].content` for
/// `messages.content` and for `messages`.
pub(super) fn in_lists(body: &str, field: &FieldPath) -> Vec<String> {
    let leaves = leaves(body).into_iter();
    let texts = leaves.filter(|(path, kind)| *kind == STRING && field.misses_lists_of(path));
    texts.take(OFFERED).map(|(path, _)| path.to_string()).collect()
}

/// Returns the fields of a line, with the kinds of their values.
fn leaves(line: &str) -> Vec<(FieldPath, &'static str)> {
    let mut found = vec![];
    if let Ok(value) = serde_json::from_str::<&RawValue>(line.strip_prefix(BOM).unwrap_or(line).trim_ascii())
    {
        add_leaves(value, None, DEEPEST, &mut found);
    }
    found
}

/// Maximum depth of lists and objects that are searched for fields, because each level takes some of the stack.
const DEEPEST: usize = 64;

fn add_leaves(
    value: &RawValue,
    path: Option<FieldPath>,
    levels: usize,
    found: &mut Vec<(FieldPath, &'static str)>,
) {
    let Some(levels) = levels.checked_sub(1).filter(|_| found.len() < LISTED) else { return };
    match (kind_of(value), path) {
        (OBJECT, path) => {
            for (name, value) in members_of(value.get()) {
                let next = path.as_ref().map_or_else(|| FieldPath::field(&*name), |path| path.member(&name));
                // A name with dots, commas or brackets is left out, because its path would be read as another path.
                if FieldPath::list(&name).is_ok_and(|paths| paths == [FieldPath::field(&*name)]) {
                    add_leaves(value, Some(next), levels, found);
                }
            }
        }
        (LIST, Some(path)) => {
            let elements: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
            match elements.into_iter().find(|element| kind_of(element) != NULL) {
                Some(element) => add_leaves(element, Some(path.each()), levels, found),
                None => found.push((path.each(), NULL)),
            }
        }
        (kind, Some(path)) => found.push((path, kind)),
        (_, None) => {}
    }
}

/// Returns the members of an object, in order; no members if the value is no object.
pub(super) fn members_of(object: &str) -> Vec<(Cow<'_, str>, &RawValue)> {
    serde_json::from_str::<RawMembers<'_>>(object).map(|members| members.0).unwrap_or_default()
}

/// The members of an object, in order.
struct RawMembers<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawMembersVisitor;
        impl<'de> serde::de::Visitor<'de> for RawMembersVisitor {
            type Value = RawMembers<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<RawMembers<'de>, A::Error> {
                let mut members = vec![];
                // Names are read as they are written, because a lone surrogate in one name must not lose the other
                // members.
                while let Some((name, value)) = map.next_entry::<&'de RawValue, _>()? {
                    let name = string_of(name).map_or(Cow::Borrowed(name.get()), |(name, _)| name);
                    members.push((name, value));
                }
                Ok(RawMembers(members))
            }
        }
        deserializer.deserialize_map(RawMembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_line_does_not_take_the_stack() {
        let nested = |open: &str, close: &str| {
            format!("{{\"a\":1,\"b\":{}1{}}}", open.repeat(20_000), close.repeat(20_000))
        };
        assert_eq!(names(&nested("[", "]")), ["a"]);
        assert_eq!(names(&nested("{\"x\":", "}")), ["a"]);
    }

    #[test]
    fn values_are_taken_as_they_are_written() {
        let line = r#"{"n": 1.50, "s": "a\u002fb", "b": true, "o": {"x": [1]}, "z": null, "d": 1, "d": 2}"#;
        let fields = FieldPath::list("n,s,b,o.x,z,d,missing,n.x").unwrap();
        let found = values(line, &fields);
        let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
        let expected = [Some("1.50"), Some("a/b"), Some("true"), Some("[1]"), Some(""), Some(""), None, None];
        assert_eq!(found, expected);
    }

    #[test]
    fn fields_are_named_with_the_way_to_them() {
        assert_eq!(
            names("\u{feff}{\"a\": 1, \"m\": {\"x\": {\"y\": 2}, \"z\": []}}"),
            ["a", "m.x.y", "m.z[]"]
        );
        let line = r#"{"m": [null, {"role": "a", "p": [[1]]}], "a.b": 1, "c,d": 2, "e[]": 3, " f": 4, "": 5, "g[0]": 6}"#;
        assert_eq!(names(line), ["m[].role", "m[].p[][]", "g[0]"], "only names that can be typed");
        assert_eq!(names("no object"), Vec::<String>::new());
    }

    #[test]
    fn texts_in_lists_are_offered() {
        let line =
            r#"{"messages": [{"role": "a", "n": 1, "parts": [{"text": "b"}]}], "tags": ["c"], "empty": []}"#;
        let offered = |field: &str| in_lists(line, &field.parse().unwrap());
        assert_eq!(offered("messages"), ["messages[].role", "messages[].parts[].text"]);
        assert_eq!(offered("messages.role"), ["messages[].role"]);
        assert_eq!(offered("messages[].parts.text"), ["messages[].parts[].text"]);
        assert_eq!(offered("tags"), ["tags[]"]);
        for field in ["empty", "messages.n", "other", "tags[]"] {
            assert_eq!(offered(field), Vec::<String>::new(), "{field}");
        }
    }
}
