//! Other members of a JSON line than its text and its id.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::json::string_of;
use super::walk::{Slot, Wanted, walk};
use crate::decode::BOM;
use crate::field::FieldPath;

/// What a line that is a document holds in these fields, as [`Document::values`](crate::Document::values) has it.
pub(crate) fn values<'a>(line: &'a str, fields: &[FieldPath]) -> Vec<Option<Cow<'a, str>>> {
    let body = line.strip_prefix(BOM).unwrap_or(line);
    // Each field has its own walk: a line is quickly walked, and more than one field is rare.
    fields.iter().map(|field| value(body, field)).collect()
}

fn value<'a>(body: &'a str, field: &FieldPath) -> Option<Cow<'a, str>> {
    // The line was read before, so that this walk comes to its end.
    match walk(body, Wanted { text: Some(field.parts()), id: None }).ok()?.text {
        Slot::Missing => None,
        Slot::Once(value) if value.get() == "null" => Some(Cow::Borrowed("")),
        Slot::Once(value) => Some(string_of(value).map_or(Cow::Borrowed(value.get()), |(text, _)| text)),
        // Nothing says which of them counts.
        Slot::Repeated => Some(Cow::Borrowed("")),
    }
}

/// Names that are listed.
const LISTED: usize = 50;

/// The fields of a line, in their order; those of a nested object with the names that lead to them.
pub(crate) fn names(line: &str) -> Vec<String> {
    let mut found = vec![];
    name_members(line.strip_prefix(BOM).unwrap_or(line), "", &mut found);
    found
}

fn name_members(object: &str, prefix: &str, found: &mut Vec<String>) {
    for (name, value) in members_of(object) {
        let name = format!("{prefix}{name}");
        if found.len() >= LISTED {
            return;
        }
        if value.get().starts_with('{') {
            name_members(value.get(), &format!("{name}."), found);
        } else {
            found.push(name);
        }
    }
}

/// The members of an object, in their order; none of what is no object.
pub(super) fn members_of(object: &str) -> Vec<(Cow<'_, str>, &RawValue)> {
    serde_json::from_str::<Members<'_>>(object).map(|members| members.0).unwrap_or_default()
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> serde::de::Visitor<'de> for Visit {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = vec![];
                // Names are taken as they are written, because a lone surrogate in one must not lose the others.
                while let Some((name, value)) = map.next_entry::<&'de RawValue, _>()? {
                    let name = string_of(name).map_or(Cow::Borrowed(name.get()), |(name, _)| name);
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(names("\u{feff}{\"a\": 1, \"m\": {\"x\": {\"y\": 2}, \"z\": []}}"), ["a", "m.x.y", "m.z"]);
        assert_eq!(names("no object"), Vec::<String>::new());
    }
}
