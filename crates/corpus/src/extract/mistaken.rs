//! Recognises inputs that are read as one document although they are most likely something else.

use super::Refusal;
use super::plain::{UNKNOWN, is_binary, packed};
use super::recognise::{Recognised, recognise};
use crate::decode::BOM;

/// Reason why an input that is read as one document is most likely no document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MistakenInput {
    /// The input has no bytes.
    Empty,
    /// The input is a list in JSON, not JSONL.
    JsonList,
    /// The input is JSON whose first object takes several lines, not JSONL.
    JsonObject,
    /// No text can be read from the input.
    Refused(Refusal),
}

/// Judges the beginning of a file that is read as one document. Returns `None` for every beginning that a document can
/// have.
pub(crate) fn mistaken(head: &[u8], name: &str) -> Option<MistakenInput> {
    if head.is_empty() {
        return Some(MistakenInput::Empty);
    }
    if let Some(refusal) = packed(head) {
        return Some(MistakenInput::Refused(refusal));
    }
    match recognise(head, Some(name)) {
        Ok(Recognised::Text | Recognised::Markdown) if is_binary(head) => {
            Some(MistakenInput::Refused(UNKNOWN))
        }
        Ok(Recognised::Zip) if !is_document(head) => {
            Some(MistakenInput::Refused(Refusal::Unsupported { what: ZIP }))
        }
        Ok(Recognised::Text) => mistaken_json(head.strip_prefix(BOM.as_bytes()).unwrap_or(head)),
        Ok(_) => None,
        Err(refusal) => Some(MistakenInput::Refused(refusal)),
    }
}

/// Kind of a zip archive that is no document.
pub(super) const ZIP: &str = "a ZIP archive; unpack it";

/// Reports whether a zip archive is a document, judged by its first parts: Office documents, OpenDocument and EPUB
/// begin with parts of these names.
fn is_document(head: &[u8]) -> bool {
    let parts: [&[u8]; 4] = [b"[Content_Types].xml", b"mimetype", b"_rels/", b"META-INF/"];
    parts.iter().any(|part| memchr::memmem::find(head, part).is_some())
}

/// Distinguishes JSON from text, which may also begin with a bracket.
fn mistaken_json(text: &[u8]) -> Option<MistakenInput> {
    let (bracket, rest) = text.trim_ascii_start().split_first()?;
    let next = *rest.trim_ascii_start().first()?;
    match bracket {
        b'[' if matches!(next, b'{' | b'"') => Some(MistakenInput::JsonList),
        b'{' if next == b'"' => Some(MistakenInput::JsonObject),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_not_mistaken() {
        for head in
            ["A text.", "[Draft] A text.", "[1] A note.", "{a text}", "# Title", "<html>", "%PDF-1.7", " \n"]
        {
            assert_eq!(mistaken(head.as_bytes(), "a"), None, "{head}");
        }
        assert_eq!(mistaken(b"PK\x03\x04 [Content_Types].xml", "a.docx"), None);
    }

    #[test]
    fn other_files_are_named() {
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        for (head, expected) in [
            (&b"PK\x03\x04 a.jsonl"[..], "it is a ZIP archive; unpack it"),
            (&tar, "it is a tar archive; unpack it"),
            (b"\x04\x22\x4d\x18\0\xff", "it is compressed by LZ4; decompress it"),
            (b"\xff\x06\0\0sNaPpY", "it is compressed by Snappy; decompress it"),
            (b"Rar!\x1a\x07", "it is a RAR archive; unpack it"),
        ] {
            let Some(MistakenInput::Refused(refusal)) = mistaken(head, "a") else { panic!("{expected}") };
            assert_eq!(refusal.to_string(), expected);
        }
        assert_eq!(mistaken(b"", "a"), Some(MistakenInput::Empty));
        assert_eq!(mistaken(b"\xef\xbb\xbf[\n {\"text\": 1}]", "a"), Some(MistakenInput::JsonList));
        assert_eq!(mistaken(b"{\n \"text\": 1}", "a"), Some(MistakenInput::JsonObject));
    }
}
