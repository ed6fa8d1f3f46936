//! Adds a member to a JSON line without changing the rest of the line.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::annotation::MEMBER;
use crate::decode::BOM;
use crate::error::{Error, ErrorKind, Result};

/// Writes `line` to `out` with its top-level member `minwise` set to `value`. Clears `out` first.
///
/// An existing member of that name is replaced in place; otherwise a member is added at the end. Every other byte
/// stays as it was, the line end included. Line breaks in `value` are left out, so that the line stays one line.
pub(super) fn annotate_line(line: &[u8], value: &RawValue, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    let not_an_object = |message: String| Error::new(ErrorKind::NotAnObject { message });
    let line = simdutf8::compat::from_utf8(line).map_err(|error| not_an_object(error.to_string()))?;
    let body = line.strip_prefix(BOM).unwrap_or(line);
    let members = members_of(body).map_err(|error| not_an_object(error.to_string()))?;

    if members.ours.is_empty() {
        let object = body.trim_ascii_end();
        let inside = object.strip_suffix('}').unwrap_or(object).trim_ascii_end();
        let (before, after) = line.split_at(line.len() - body.len() + inside.len());
        out.extend_from_slice(before.as_bytes());
        if members.any {
            out.push(b',');
        }
        out.extend_from_slice(format!("\"{MEMBER}\":").as_bytes());
        push_value(value, out);
        out.extend_from_slice(after.as_bytes());
        return Ok(());
    }

    let mark = line.len() - body.len();
    let places = members.ours.into_iter().map(|Range { start, end }| mark + start..mark + end);
    replace(line.as_bytes(), places, value, out)
}

/// Writes `line` to `out` with `value` at each of these places, which are in ascending order.
fn replace(
    line: &[u8],
    places: impl Iterator<Item = Range<usize>>,
    value: &RawValue,
    out: &mut Vec<u8>,
) -> Result<()> {
    let misplaced = |offset: usize| {
        Error::new(ErrorKind::Misplaced { name: "the line to annotate".to_owned(), offset: offset as u64 })
    };
    let mut copied = 0;
    for Range { start, end } in places {
        out.extend_from_slice(line.get(copied..start).ok_or_else(|| misplaced(start))?);
        push_value(value, out);
        copied = end;
    }
    out.extend_from_slice(line.get(copied..).ok_or_else(|| misplaced(copied))?);
    Ok(())
}

fn push_value(value: &RawValue, out: &mut Vec<u8>) {
    // A string writes a line break as `\n`, so an unescaped line break is only white space.
    out.extend(value.get().bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')));
}

/// The members of an object that an annotation depends on.
struct MemberVisitor {
    any: bool,
    /// Places of the values of members called [`MEMBER`].
    ours: Vec<Range<usize>>,
}

fn members_of(body: &str) -> serde_json::Result<MemberVisitor> {
    let mut deserializer = serde_json::Deserializer::from_str(body);
    let members = deserializer.deserialize_map(Find { body })?;
    deserializer.end()?;
    Ok(members)
}

struct Find<'a> {
    body: &'a str,
}

impl<'a> Visitor<'a> for Find<'a> {
    type Value = MemberVisitor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<MemberVisitor, A::Error> {
        let mut found = MemberVisitor { any: false, ours: Vec::new() };
        while let Some(key) = members.next_key::<&'a RawValue>()? {
            found.any = true;
            if is_ours(key) {
                let value: &'a RawValue = members.next_value()?;
                // The value is a part of the body, so its place follows from the addresses.
                let start = value.get().as_ptr().addr() - self.body.as_ptr().addr();
                found.ours.push(start..start + value.get().len());
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Reports whether a name, as it is written with its quotes and escapes, is [`MEMBER`].
fn is_ours(key: &RawValue) -> bool {
    serde_json::from_str::<std::borrow::Cow<'_, str>>(key.get()).is_ok_and(|key| key == MEMBER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn annotated(line: &str, value: &str) -> Result<String> {
        let mut out = b"left over".to_vec();
        let value = RawValue::from_string(value.to_owned()).unwrap();
        annotate_line(line.as_bytes(), &value, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_member_is_added_at_the_end() {
        assert_eq!(annotated("{\"a\":1}\n", "2").unwrap(), "{\"a\":1,\"minwise\":2}\n");
        assert_eq!(annotated("{ \"a\": 1 } \r\n", "2").unwrap(), "{ \"a\": 1,\"minwise\":2 } \r\n");
        assert_eq!(annotated("{}", "[1]").unwrap(), "{\"minwise\":[1]}");
        assert_eq!(annotated("{ }", "1").unwrap(), "{\"minwise\":1 }");
        assert_eq!(annotated("\u{feff}{\"a\":\"}\"}", "1").unwrap(), "\u{feff}{\"a\":\"}\",\"minwise\":1}");
    }

    #[test]
    fn a_member_is_replaced_where_it_stands() {
        let line = "\u{feff}{\"minwise\": {\"old\": true} , \"a\": \"\\ud800\"}\n";
        assert_eq!(annotated(line, "2").unwrap(), "\u{feff}{\"minwise\": 2 , \"a\": \"\\ud800\"}\n");
        assert_eq!(annotated(r#"{"minwis\u0065":1}"#, "2").unwrap(), r#"{"minwis\u0065":2}"#);
        assert_eq!(annotated(r#"{"minwise":1,"minwise":1}"#, "2").unwrap(), r#"{"minwise":2,"minwise":2}"#);
        assert_eq!(annotated(r#"{"a":{"minwise":1}}"#, "2").unwrap(), r#"{"a":{"minwise":1},"minwise":2}"#);
    }

    #[test]
    fn a_line_stays_a_line() {
        assert_eq!(
            annotated("{}\n", "{\n  \"a\": \"b\\nc\"\r\n}").unwrap(),
            "{\"minwise\":{  \"a\": \"b\\nc\"}}\n"
        );
    }

    #[test]
    fn lines_that_are_no_objects_are_refused() {
        for line in ["[1]", "1", "{", "{} x", ""] {
            let error = annotated(line, "1").unwrap_err();
            assert!(error.to_string().starts_with("the line is not a JSON object: "), "{error}");
        }
    }

    #[test]
    fn places_that_do_not_fit_the_line_lose_nothing_unsaid() {
        let value = RawValue::from_string("2".to_owned()).unwrap();
        let replaced = |places: &[(usize, usize)]| {
            let mut out = vec![];
            let places = places.iter().map(|&(start, end)| start..end);
            replace(b"{\"a\":1}", places, &value, &mut out).map(|()| out)
        };
        assert_eq!(replaced(&[(5, 6)]).unwrap(), b"{\"a\":2}");
        for (places, at) in [(&[(9, 10)][..], 9), (&[(5, 9)], 9), (&[(5, 6), (1, 2)], 1)] {
            let error = replaced(places).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Misplaced { offset, .. } if *offset == at), "{error}");
        }
    }

    proptest! {
        #[test]
        fn the_rest_of_the_object_is_unchanged(keys in prop::collection::hash_map(any::<String>(), any::<String>(), 0..6)) {
            let mut tree = json!(keys);
            let line = annotated(&format!("{tree}\n"), "{\"x\":1}").unwrap();
            prop_assert_eq!(line.lines().count(), 1);
            tree["minwise"] = json!({ "x": 1 });
            prop_assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), tree);
        }
    }
}
