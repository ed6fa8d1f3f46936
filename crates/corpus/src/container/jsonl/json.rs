//! Reads a line of JSONL as a document.
//!
//! Nearly every line is read the [quick way](super::quick). If the quick way gives up on a line, the line is checked
//! as a whole. If the line is JSON, it is walked the [careful way](super::walk), which finds the document or the
//! reason why the line is no document.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::string::{BOOLEAN, DecodedString, LIST, NULL, NUMBER, kind_of, string_of};
use super::values::in_lists;
use super::walk::{FoundFields, Slot, WantedFields, walk};
use super::{lists, quick};
use crate::decode::BOM;
use crate::document::Document;
use crate::field::{FieldPath, join};
use crate::options::ReadOptions;
use crate::reject::{Reject, RejectReason};

/// Parses a line into a document; `None` for a blank line. `decoded` is a buffer for the text.
pub(crate) fn parse_line<'a>(
    line: &'a str,
    options: &ReadOptions,
    decoded: &'a mut Vec<u8>,
) -> Option<Result<Document<'a>, Reject>> {
    // Files that were joined by `cat` have byte-order marks in the middle, so a mark is allowed on every line.
    let body = line.strip_prefix(BOM).unwrap_or(line);
    if !body.starts_with('{') && body.trim_ascii().is_empty() {
        return None;
    }
    if let [text_field] = &*options.text_fields
        && !text_field.has_lists()
        && let Some(found) = quick::read(body, wanted(text_field, options), decoded)
        && let Ok(id) = found.id.map_or(Ok(None), string_of_id)
    {
        let (id, repaired) = id.unzip();
        let text = Cow::Borrowed(found.text);
        return Some(Ok(Document {
            id,
            text,
            repaired: repaired.unwrap_or(false),
            values: vec![],
            about: None,
        }));
    }
    let mark = (line.len() - body.len()) as u64;
    Some(parse_carefully(body, options).map_err(|mut reject| {
        if let RejectReason::InvalidJson { column, .. } = &mut reject.reason {
            *column += mark;
        }
        reject
    }))
}

fn wanted<'o>(text_field: &'o FieldPath, options: &'o ReadOptions) -> WantedFields<'o> {
    WantedFields { text: Some(text_field.head()), id: Some(options.id_field.parts()) }
}

pub(super) fn parse_carefully<'a>(body: &'a str, options: &ReadOptions) -> Result<Document<'a>, Reject> {
    serde_json::from_str::<IgnoredAny>(body).map_err(|error| invalid_json(&error))?;
    if !body.trim_ascii_start().starts_with('{') {
        return Err(Reject::new(RejectReason::NotAnObject));
    }
    // Each field has its own walk, because several fields are rare, and a walk is quick.
    let walks = options.text_fields.iter().map(|field| walk(body, wanted(field, options)));
    let found: Vec<FoundFields<'a>> =
        walks.collect::<Result<_, _>>().map_err(|error| invalid_json(&error))?;

    let id = match found.first().map(|found| found.id).unwrap_or_default() {
        Slot::Missing => Ok(None),
        Slot::Once(value) => string_of_id(value).map_err(|found| wrong_type(&options.id_field, found)),
        Slot::Repeated => Err(RejectReason::DuplicateField { field: options.id_field.to_string() }),
    };
    match (id, text_of(body, &found, options)) {
        (Ok(id), Ok((text, text_repaired))) => {
            let (id, id_repaired) = id.unzip();
            let repaired = text_repaired || id_repaired.unwrap_or(false);
            Ok(Document { id, text, repaired, values: vec![], about: None })
        }
        (Ok(id), Err(reason)) => Err(Reject { reason, id: id.map(|(id, _)| id.into_owned()) }),
        (Err(reason), _) => Err(Reject::new(reason)),
    }
}

/// Joins the texts of all fields.
fn text_of<'a>(
    body: &str,
    found: &[FoundFields<'a>],
    options: &ReadOptions,
) -> Result<DecodedString<'a>, RejectReason> {
    let mut texts = Vec::with_capacity(found.len());
    let mut has_null = false;
    for (field, found) in options.text_fields.iter().zip(found) {
        texts.push(match found.text {
            Slot::Missing => None,
            Slot::Once(value) if kind_of(value) == NULL => {
                has_null = true;
                None
            }
            Slot::Once(value) if field.has_lists() => lists::text(value, field)?,
            Slot::Once(value) => Some(string_of(value).map_err(|found| {
                let in_lists = if found == LIST { in_lists(body, field) } else { vec![] };
                RejectReason::WrongType { field: field.to_string(), found, in_lists }
            })?),
            Slot::Repeated => {
                return Err(RejectReason::DuplicateField {
                    field: field.up_to(field.head().len() - 1, 0).to_string(),
                });
            }
        });
    }
    let repaired = texts.iter().flatten().any(|(_, repaired)| *repaired);
    match join(texts.into_iter().map(|text| text.map(|(text, _)| text))) {
        Some(text) => Ok((text, repaired)),
        None if has_null => Err(RejectReason::Null { field: options.text_names() }),
        None => Err(RejectReason::MissingField {
            field: options.text_names(),
            in_lists: options.text_fields.iter().flat_map(|field| in_lists(body, field)).collect(),
        }),
    }
}

fn invalid_json(error: &serde_json::Error) -> Reject {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    Reject::new(RejectReason::InvalidJson { message, column: error.column() as u64 })
}

/// Returns the id as text: a string, or a number or boolean as it is written. For any other value, the error is the
/// kind of the value.
fn string_of_id(value: &RawValue) -> Result<Option<DecodedString<'_>>, &'static str> {
    match kind_of(value) {
        NULL => Ok(None),
        NUMBER | BOOLEAN => Ok(Some((Cow::Borrowed(value.get()), false))),
        _ => string_of(value).map(Some),
    }
}

fn wrong_type(field: &FieldPath, found: &'static str) -> RejectReason {
    RejectReason::WrongType { field: field.to_string(), found, in_lists: vec![] }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn options(text: &str, id: &str) -> ReadOptions {
        ReadOptions {
            text_fields: FieldPath::list(text).unwrap(),
            id_field: id.parse().unwrap(),
            ..ReadOptions::default()
        }
    }

    fn parse_as(line: &str, options: &ReadOptions) -> Result<(Option<String>, String, bool), Reject> {
        let mut decoded = Vec::new();
        let document = parse_line(line, options, &mut decoded).expect("a record")?;
        Ok((document.id.map(Cow::into_owned), document.text.into_owned(), document.repaired))
    }

    fn parse(line: &str) -> Result<(Option<String>, String, bool), Reject> {
        parse_as(line, &ReadOptions::default())
    }

    fn id(line: &str) -> Option<String> {
        parse(line).unwrap().0
    }

    fn reason(line: &str) -> RejectReason {
        parse(line).unwrap_err().reason
    }

    #[test]
    fn text_is_unescaped() {
        let mut decoded = Vec::new();
        let plain =
            parse_line(r#"{"text": "a rose"}"#, &ReadOptions::default(), &mut decoded).unwrap().unwrap();
        assert!(matches!(plain.text, Cow::Borrowed("a rose")));
        assert_eq!(parse(r#"{"text": "a\n\"b\" \u00e9\ud83d\ude00"}"#).unwrap().1, "a\n\"b\" é😀");
        assert_eq!(parse(r#"{"text": ""}"#).unwrap(), (None, String::new(), false));
    }

    #[test]
    fn an_id_is_kept_as_it_is_written() {
        assert_eq!(id(r#"{"id": "a/b", "text": ""}"#).as_deref(), Some("a/b"));
        assert_eq!(id(r#"{"text": "", "id": "a\u002fb"}"#).as_deref(), Some("a/b"));
        assert_eq!(id(r#"{"id": 12, "text": ""}"#).as_deref(), Some("12"));
        assert_eq!(id(r#"{"id": 1.50, "text": ""}"#).as_deref(), Some("1.50"));
        assert_eq!(id(r#"{"id": 123456789012345678901234567890, "text": ""}"#).unwrap().len(), 30);
        assert_eq!(id(r#"{"id": true, "text": ""}"#).as_deref(), Some("true"));
        assert_eq!(id(r#"{"id": null, "text": ""}"#), None);
        assert_eq!(id(r#"{"text": ""}"#), None);
    }

    #[test]
    fn fields_may_lie_deeper() {
        let line = r#"{"meta": {"url": "u", "id": 7}, "body": {"text": "t"}}"#;
        assert_eq!(
            parse_as(line, &options("body.text", "meta.id")).unwrap(),
            (Some("7".into()), "t".into(), false)
        );
        let same = r#"{"a": {"b": {"text": "x\ty", "id": "i"}}}"#;
        assert_eq!(
            parse_as(same, &options("a.b.text", "a.b.id")).unwrap(),
            (Some("i".into()), "x\ty".into(), false)
        );
        assert_eq!(
            parse_as(r#"{"u": "x"}"#, &options("u", "u")).unwrap(),
            (Some("x".into()), "x".into(), false)
        );
        let missing = parse_as(r#"{"meta": "none", "text": "t"}"#, &options("meta.text", "id")).unwrap_err();
        assert_eq!(
            missing.reason,
            RejectReason::MissingField { field: "meta.text".into(), in_lists: vec![] }
        );
    }

    #[test]
    fn several_fields_are_joined() {
        let both = options("title,meta.body", "id");
        let text = |line: &str| parse_as(line, &both).map(|(_, text, _)| text);
        assert_eq!(text(r#"{"meta": {"body": "b\n"}, "title": "t"}"#).unwrap(), "t\nb\n");
        assert_eq!(text(r#"{"title": "t"}"#).unwrap(), "t\n");
        assert_eq!(text(r#"{"title": null, "meta": {"body": "b"}}"#).unwrap(), "\nb");
        assert_eq!(
            parse_as(r#"{"title": "\ud800", "meta": {"body": ""}, "id": 3}"#, &both).unwrap(),
            (Some("3".into()), "\u{fffd}\n".into(), true)
        );
        let missing = RejectReason::MissingField { field: "title,meta.body".into(), in_lists: vec![] };
        assert_eq!(text(r#"{"body": "b"}"#).unwrap_err().reason, missing);
        let null = RejectReason::Null { field: "title,meta.body".into() };
        assert_eq!(text(r#"{"title": null, "body": "b"}"#).unwrap_err().reason, null);
        let wrong = RejectReason::WrongType { field: "title".into(), found: "a number", in_lists: vec![] };
        assert_eq!(text(r#"{"title": 1, "meta": {"body": "b"}}"#).unwrap_err().reason, wrong);
        assert_eq!(text(r#"{"title": "a", "title": "b"}"#).unwrap_err().reason.code(), "duplicate_field");
    }

    #[test]
    fn an_escaped_name_is_the_same_name() {
        assert_eq!(parse(r#"{"te\u0078t": "found"}"#).unwrap().1, "found");
        assert_eq!(reason(r#"{"te\u0078t": "a", "text": "b"}"#).code(), "duplicate_field");
    }

    #[test]
    fn a_null_text_is_no_wrong_type() {
        let null = parse(r#"{"id": 7, "text": null}"#).unwrap_err();
        assert_eq!((null.reason.code(), null.id.as_deref()), ("null", Some("7")));
        assert_eq!(null.to_string(), "record `7`: the field `text` holds null");
    }

    #[test]
    fn the_wrong_type_is_named() {
        for (value, kind) in [
            ("1", "a number"),
            ("-1", "a number"),
            ("1.5", "a number"),
            ("1e999", "a number"),
            ("false", "true or false"),
            ("[\"a\"]", "a list"),
            ("{\"a\": 1}", "an object"),
        ] {
            let reject = parse(&format!("{{\"id\": \"x\", \"text\": {value}}}")).unwrap_err();
            let in_lists = if kind == LIST { vec!["text[]".to_owned()] } else { vec![] };
            let wrong = RejectReason::WrongType { field: "text".into(), found: kind, in_lists };
            assert_eq!(reject.reason, wrong);
            assert_eq!(reject.id.as_deref(), Some("x"));
        }
        let list = RejectReason::WrongType { field: "id".into(), found: "a list", in_lists: vec![] };
        assert_eq!(reason(r#"{"id": [], "text": ""}"#), list);
    }

    #[test]
    fn a_field_that_is_there_twice_is_refused() {
        let twice = |field: &str| RejectReason::DuplicateField { field: field.into() };
        assert_eq!(reason(r#"{"text": "a", "text": "a"}"#), twice("text"));
        assert_eq!(reason(r#"{"id": 1, "text": "a", "id": 2}"#), twice("id"));
        assert_eq!(parse(r#"{"other": 1, "text": "a", "other": 2}"#).unwrap().1, "a");
    }

    #[test]
    fn the_whole_line_must_be_json() {
        let invalid = |line: &str| match reason(line) {
            RejectReason::InvalidJson { message, column } => (message, column),
            other => panic!("{other}"),
        };
        assert_eq!(invalid(r#"{"text": "a"} x"#), ("trailing characters".into(), 15));
        assert_eq!(invalid("\u{feff}{\"text\": \"a\"} x"), ("trailing characters".into(), 18));
        assert_eq!(invalid(r#"{"text": "a""#), ("EOF while parsing an object".into(), 12));
        assert_eq!(invalid("nonsense").0, "expected ident");
        assert!(invalid("{\"text\": \"a\tb\"}").0.starts_with("control character"));
        assert_eq!(invalid(r#"{"text": "a", "b": 01}"#).0, "invalid number");
        assert_eq!(reason("[1, 2]"), RejectReason::NotAnObject);
        assert_eq!(reason("3"), RejectReason::NotAnObject);
        assert_eq!(reason("{}"), RejectReason::MissingField { field: "text".into(), in_lists: vec![] });
    }

    #[test]
    fn a_lone_surrogate_is_repaired() {
        assert_eq!(parse(r#"{"text": "a\ud83d b"}"#).unwrap(), (None, "a\u{fffd} b".into(), true));
        assert_eq!(parse(r#"{"text": "\udc00\ud800\ud800"}"#).unwrap().1, "\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(parse(r#"{"text": "\ud83d\ude00\ude00"}"#).unwrap().1, "😀\u{fffd}");
        let elsewhere = r#"{"\ud800": "\ud800", "id": "\udfff", "text": "a\nb"}"#;
        assert_eq!(parse(elsewhere).unwrap(), (Some("\u{fffd}".into()), "a\nb".into(), true));
        assert_eq!(parse(r#"{"other": "\ud800", "text": "a"}"#).unwrap(), (None, "a".into(), false));
        assert_eq!(reason("{\"text\": \"\\ud800\", \"a\tb\": 1}").code(), "invalid_json");
        assert_eq!(reason(r#"{"text": "\ud800\uzzzz"}"#).code(), "invalid_json");
    }

    #[test]
    fn blank_lines_are_not_records() {
        for line in ["", " ", "\t \r", BOM] {
            assert!(parse_line(line, &ReadOptions::default(), &mut Vec::new()).is_none());
        }
        assert_eq!(parse("\u{feff}  {\"text\": \"a\"}\r").unwrap().1, "a");
    }

    /// Makes a member of an object. Some members are invalid.
    fn member() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            8 => r#""[zé]{0,12}(\\n|\\u00e9|y){0,3}""#,
            1 => r#""(\\ud800|\\x|\t)""#,
            1 => r#"-?[01]{1,2}|null|true|\["text"\]"#,
            3 => r#"\{"(id|text)": ?"(y|\\t)"\}"#,
        ];
        (prop::sample::select(vec!["text", "id", "a"]), value)
            .prop_map(|(name, value)| format!("\"{name}\": {value}"))
    }

    proptest! {
        #[test]
        fn written_documents_are_read_back(text in any::<String>(), id in any::<Option<String>>(), other in any::<i64>()) {
            let line = json!({ "text": text, "other": { "text": other }, "id": id }).to_string();
            prop_assert_eq!(parse(&line).unwrap(), (id, text, false));
        }

        #[test]
        fn a_document_is_always_json(line in "[{}\\[\\]\":,a\\\\ute0d8 ]{0,12}") {
            if let Some(Ok(_)) = parse_line(&line, &options("a", "t"), &mut Vec::new()) {
                prop_assert!(serde_json::from_str::<IgnoredAny>(&line).is_ok());
            }
        }

        /// The quick way and the careful way agree on every line that the quick way reads.
        #[test]
        fn the_quick_way_is_only_quicker(
            members in prop::collection::vec(member(), 0..4),
            end in prop::sample::select(vec!["}", " }", "} ", "} x", ""]),
            paths in prop::sample::select(vec![("text", "id"), ("text", "a.id"), ("a.text", "a.id"), ("a", "a")]),
        ) {
            let line = format!(" {{{}{end}", members.join(", "));
            let options = options(paths.0, paths.1);
            let mut decoded = Vec::new();
            let either = parse_line(&line, &options, &mut decoded);
            prop_assert_eq!(either, Some(parse_carefully(&line, &options)));
        }

        #[test]
        fn agrees_with_a_parsed_tree(line in r#"\{("(text|id|a)":("x"|1|null|\{"id":"y"\}|\["text"\]))?(,"(text|b)":"(z|\\\\n|)")?\}"#) {
            let tree: Result<Value, _> = serde_json::from_str(&line);
            match (parse(&line), tree) {
                (Ok((_, text, _)), Ok(tree)) => prop_assert_eq!(tree["text"].as_str(), Some(text.as_str())),
                (Err(reject), Ok(tree)) => {
                    let whole = tree["text"].is_string() && (tree["id"].is_null() || tree["id"].is_string());
                    prop_assert!(!whole || reject.reason.code() == "duplicate_field" || tree["id"].is_object());
                }
                (Err(reject), Err(_)) => prop_assert_eq!(reject.reason.code(), "invalid_json"),
                (Ok(_), Err(_)) => prop_assert!(false, "not JSON, but a document"),
            }
        }
    }
}
