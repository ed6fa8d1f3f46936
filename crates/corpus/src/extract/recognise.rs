//! Recognises the kind of a file by its bytes.

use super::Refusal;
use crate::encoding::encoding_by_mark;

/// Kind of a file that is read, or that may prove to be readable once it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recognised {
    Text,
    Markdown,
    Html,
    Pdf,
    /// A zip archive. Its parts show which kind of document it is.
    Zip,
}

/// Number of bytes at the beginning of a file that are searched for its kind. HTML may begin with a comment or an XML
/// declaration.
const HEAD_BYTES: usize = 1024;

/// Magic numbers of files that are known and cannot be read.
const UNREAD: [(&[u8], &str); 10] = [
    (b"{\\rtf", "RTF; save it as `.docx` or `.odt`"),
    (b"%!PS", "PostScript; save it as PDF"),
    (b"\x1f\x8b", "a compressed file"),
    (b"BZh", "a compressed file"),
    (b"\xfd7zXZ\0", "a compressed file"),
    (b"\x28\xb5\x2f\xfd", "a compressed file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it"),
    (b"SQLite format 3\0", "a database"),
    (b"\x7fELF", "a program"),
];

/// Magic number of the container that Office used before 2007.
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Magic numbers of pictures.
const PICTURES: [&[u8]; 5] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*"];

/// Recognises the kind of a file. The name decides only between kinds that are all plain characters.
pub(crate) fn recognise(bytes: &[u8], name: Option<&str>) -> Result<Recognised, Refusal> {
    if bytes.starts_with(b"PK\x03\x04") {
        return Ok(Recognised::Zip);
    }
    if is_pdf(bytes) {
        return Ok(Recognised::Pdf);
    }
    if bytes.starts_with(OLE) {
        return Err(ole(bytes));
    }
    if PICTURES.iter().any(|magic| bytes.starts_with(magic)) {
        return Err(Refusal::OnlyPictures);
    }
    if let Some((_, what)) = UNREAD.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(Refusal::Unsupported { what });
    }
    if begins_as_html(bytes) || has_ending(name, &["html", "htm", "xhtml"]) {
        return Ok(Recognised::Html);
    }
    if has_ending(name, &["md", "markdown"]) {
        return Ok(Recognised::Markdown);
    }
    Ok(Recognised::Text)
}

/// Reports whether a file is a PDF. The mark of PDF may come a little after the beginning. In UTF-8 it must be at the
/// beginning, because a text may mention the mark.
fn is_pdf(bytes: &[u8]) -> bool {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    match memchr::memmem::find(head, b"%PDF-") {
        Some(0) => true,
        Some(_) => simdutf8::basic::from_utf8(bytes).is_err(),
        None => false,
    }
}

/// Returns the refusal of a container of old Office. The container holds a document from before 2007, or a newer
/// encrypted document.
fn ole(bytes: &[u8]) -> Refusal {
    // The directory of the container has the names of the streams in UTF-16.
    let holds = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        memchr::memmem::find(bytes, &name).is_some()
    };
    if holds("EncryptedPackage") {
        Refusal::Encrypted
    } else if holds("WordDocument") {
        Refusal::Unsupported { what: "a Word document of before 2007 (`.doc`); save it as `.docx` or PDF" }
    } else {
        Refusal::Unsupported { what: "an Office file of before 2007; save it as `.docx`, `.pptx` or PDF" }
    }
}

fn has_ending(name: Option<&str>, endings: &[&str]) -> bool {
    name.and_then(|name| crate::compression::Compression::strip(name).rsplit_once('.'))
        .is_some_and(|(_, ending)| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Reports whether a file declares itself to be HTML: a document type or a root element, after white space and
/// comments.
///
/// A text may begin with `<b>` or `<p>`, so the name decides for such a file.
fn begins_as_html(bytes: &[u8]) -> bool {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    // A byte-order mark decides. Without a mark, UTF-8 suffices, because all encodings of the Web except UTF-16 have
    // the same bytes for the tags.
    let head = match encoding_by_mark(head) {
        Some((encoding, marked)) => encoding.decode_without_bom_handling(marked).0.into_owned(),
        None => String::from_utf8_lossy(head).into_owned(),
    };
    let mut rest = head.trim_ascii_start();
    loop {
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else {
            break;
        };
        let Some((_, behind)) = rest.split_once(end) else { return false };
        rest = behind.trim_ascii_start();
    }
    let begins = |tag: &str| rest.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    ["<!doctype html", "<html", "<head", "<body"].into_iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_tell_and_then_names() {
        for html in [
            &b"<!DOCTYPE html>"[..],
            b"\xef\xbb\xbf <HTML lang=en>",
            b"<?xml version='1.0'?>\n<!-- a > b -->\n<!DOCTYPE html PUBLIC '-//W3C'>",
            b"\xff\xfe<\0b\0o\0d\0y\0>\0",
        ] {
            assert_eq!(recognise(html, Some("a.txt")), Ok(Recognised::Html));
        }
        assert_eq!(recognise(b"<b>bold</b>", None), Ok(Recognised::Text));
        assert_eq!(recognise(b"<b>bold</b>", Some("a.HTM")), Ok(Recognised::Html));
        assert_eq!(recognise(b"<b>bold</b>", Some("x/a.html.gz")), Ok(Recognised::Html));
        assert_eq!(recognise(b"# One", Some("readme.md")), Ok(Recognised::Markdown));
        assert_eq!(recognise(b"<!-- html", None), Ok(Recognised::Text));
        assert_eq!(recognise(b"", None), Ok(Recognised::Text));
        assert_eq!(recognise(b"%PDF-1.7", Some("a.txt")), Ok(Recognised::Pdf));
        assert_eq!(recognise(b"junk\xff%PDF-1.7", None), Ok(Recognised::Pdf));
        assert_eq!(recognise(b"A file begins with %PDF-1.7", None), Ok(Recognised::Text));
    }

    #[test]
    fn known_kinds_that_are_not_read_are_refused_by_name() {
        assert_eq!(recognise(b"\xff\xd8\xff\xe0", Some("a.txt")), Err(Refusal::OnlyPictures));
        let error = recognise(b"{\\rtf1 Hello}", None).unwrap_err().to_string();
        assert_eq!(error, "it is RTF; save it as `.docx` or `.odt`");
    }

    #[test]
    fn old_containers_are_told_by_their_streams() {
        let container = |stream: &str| {
            let name: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
            recognise(&[OLE, &[0; 504], &name].concat(), Some("a.docx")).unwrap_err()
        };
        assert_eq!(container("EncryptedPackage"), Refusal::Encrypted);
        assert!(container("WordDocument").to_string().contains("`.doc`"));
        assert!(container("Workbook").to_string().contains("before 2007"));
    }
}
