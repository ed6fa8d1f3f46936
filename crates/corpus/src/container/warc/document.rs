//! Finds the text of a record.
//!
//! | record | text |
//! |---|---|
//! | `conversion` (WET) | its block, in UTF-8 |
//! | `response` | the body of its HTTP response, through [`extract`](crate::extract) |
//! | `resource`, and a `response` of another protocol | its block, through [`extract`](crate::extract) |
//!
//! The bytes of a document decide its kind, as for files. The media type decides only where a file name would:
//! between text, Markdown and fragments of HTML. As in browsers, a byte-order mark overrules the charset of the
//! header, and the header overrules `<meta charset>`.
//!
//! A crawl also holds pictures, fonts, programs and empty redirects, which are no documents
//! ([`RejectReason::NotText`]). A record is no document if its body is empty, of a kind that cannot be read, or a PDF
//! without text. If the bytes do not decide, the media type does: an SVG is a picture. A damaged body that should
//! hold text makes a reject.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::Encoding;
use minwise::escape_control;

use super::headers::Headers;
use super::http::{self, ContentType};
use super::record::RecordKind;
use crate::decode::{Decoded, decode_as, decode_by_content, decode_text};
use crate::encoding::encoding_by_mark;
use crate::extract::{
    ExtractLimits, Extracted, FileProperties, Recognised, UNKNOWN, extract_as, extract_page, has_many_nuls,
    is_binary, markdown_body, recognise,
};
use crate::options;
use crate::refusal::Refusal;
use crate::reject::RejectReason;

/// Text of a record, with its properties.
#[derive(Debug)]
pub(crate) struct WarcText<'b> {
    /// The text, and whether characters were replaced in it.
    pub(crate) decoded: Decoded<'b>,
    /// The title and the other properties that the document states.
    pub(crate) about: FileProperties,
    /// Whether the text was extracted, which takes so long that the text should be kept for the next reading.
    pub(crate) is_extracted: bool,
}

/// Finds the text of a record; `None` if records of this kind are no documents.
///
/// `limits` bound the decompressed body and the text. The caller has checked the size of the block.
pub(crate) fn find<'b>(
    kind: RecordKind,
    headers: &Headers,
    block: &'b [u8],
    limits: &ExtractLimits,
) -> Result<Option<WarcText<'b>>, RejectReason> {
    let content_type = ContentType::of(headers);
    let found = match kind {
        RecordKind::Conversion | RecordKind::Resource if block.is_empty() => {
            return Err(not_text("it is empty"));
        }
        RecordKind::Conversion
            if content_type.media_type.as_deref().is_none_or(|known| known == "text/plain") =>
        {
            WarcText::plain(decode_text(block, options::Encoding::Utf8)?)
        }
        RecordKind::Response if http::is_response(block) || !is_other_protocol(&content_type) => {
            let response = http::parse(block, limits.bytes.min(limits.unfolded_bytes))
                .map_err(|reason| of_media(&http::content_type(block)).unwrap_or(reason))?;
            match response.payload {
                Cow::Borrowed(payload) => text(payload, &response.content_type, limits)?,
                Cow::Owned(payload) => text(&payload, &response.content_type, limits)?.into_owned(),
            }
        }
        RecordKind::Response | RecordKind::Conversion | RecordKind::Resource => {
            text(block, &content_type, limits)?
        }
        RecordKind::Warcinfo
        | RecordKind::Request
        | RecordKind::Metadata
        | RecordKind::Revisit
        | RecordKind::Continuation
        | RecordKind::Other => return Ok(None),
    };
    Ok(Some(found))
}

impl<'b> WarcText<'b> {
    fn plain(decoded: Decoded<'b>) -> Self {
        Self { decoded, about: FileProperties::default(), is_extracted: false }
    }

    fn extracted(found: Extracted) -> Self {
        let decoded = Decoded { text: Cow::Owned(found.text), repaired: found.repaired };
        let about = FileProperties { title: found.title, metadata: found.metadata, marks: found.marks };
        Self { decoded, about, is_extracted: true }
    }

    /// Copies a text that borrows from a decompressed body.
    fn into_owned(self) -> WarcText<'static> {
        let Self { decoded: Decoded { text, repaired }, about, is_extracted } = self;
        WarcText { decoded: Decoded { text: Cow::Owned(text.into_owned()), repaired }, about, is_extracted }
    }
}

/// Makes the reason why a record is no document.
fn not_text(message: impl fmt::Display) -> RejectReason {
    RejectReason::NotText { message: message.to_string() }
}

/// Returns the reason why a record of this content type is no document, if its bytes do not decide.
pub(super) fn of_media(content_type: &ContentType) -> Option<RejectReason> {
    let media_type = content_type.media_type.as_deref().filter(|_| content_type.is_media())?;
    Some(not_text(format_args!("its media type is `{}`", escape_control(media_type))))
}

/// Converts a refusal to the reason why a record gives no text: the record is no document, or it is one and cannot be
/// read.
fn refused(refusal: Refusal) -> RejectReason {
    match refusal {
        Refusal::OnlyPictures | Refusal::UnknownLetters | Refusal::Unsupported { .. } => not_text(refusal),
        Refusal::Encrypted
        | Refusal::TooLarge { .. }
        | Refusal::TooDeep { .. }
        | Refusal::TooManyPages { .. }
        | Refusal::TooSlow { .. }
        | Refusal::Busy
        | Refusal::MissingFeature { .. }
        | Refusal::Broken { .. } => RejectReason::NoText { refusal },
    }
}

/// Reports whether the content type of a `response` record names another protocol than HTTP. Crawlers store
/// `text/dns`, for example.
fn is_other_protocol(content_type: &ContentType) -> bool {
    content_type.media_type.as_deref().is_some_and(|known| known != "application/http")
}

/// Finds the text of a document of any kind.
fn text<'b>(
    bytes: &'b [u8],
    content_type: &ContentType,
    limits: &ExtractLimits,
) -> Result<WarcText<'b>, RejectReason> {
    if bytes.is_empty() {
        return Err(not_text("its body is empty"));
    }
    let label = content_type.charset.as_deref().unwrap_or_default();
    let charset = Encoding::for_label_no_replacement(label.as_bytes());
    let kind = recognise(bytes, file_name(content_type)).map_err(refused)?;
    match kind {
        Recognised::Text | Recognised::Markdown => {
            if let Some(reason) = of_media(content_type) {
                return Err(reason);
            }
            // UTF-16 is not tested, because every second byte of it is often 0, which would look binary.
            if charset.is_none_or(Encoding::is_ascii_compatible) && (is_binary(bytes) || has_many_nuls(bytes))
            {
                return Err(refused(UNKNOWN));
            }
            let decoded = decode(bytes, charset);
            if kind == Recognised::Text {
                return Ok(WarcText::plain(decoded));
            }
            let (text, about) = markdown_body(decoded.text);
            Ok(WarcText { about, ..WarcText::plain(Decoded { text, repaired: decoded.repaired }) })
        }
        Recognised::Html => match charset {
            Some(_) => extract_page(&decode(bytes, charset), limits),
            None => extract_as(kind, bytes, limits),
        }
        .map(WarcText::extracted)
        .map_err(refused),
        Recognised::Pdf | Recognised::Zip => {
            extract_as(kind, bytes, limits).map(WarcText::extracted).map_err(refused)
        }
    }
}

/// Decodes bytes by their byte-order mark, else by the charset of the header, else by their content.
fn decode<'b>(bytes: &'b [u8], charset: Option<&'static Encoding>) -> Decoded<'b> {
    match charset {
        Some(charset) if encoding_by_mark(bytes).is_none() => decode_as(charset, bytes),
        Some(_) | None => decode_by_content(bytes),
    }
}

/// Returns a file name with the extension of the media type, for documents whose bytes do not decide their kind.
fn file_name(content_type: &ContentType) -> Option<&'static str> {
    match content_type.media_type.as_deref()? {
        "text/html" | "application/xhtml+xml" => Some("page.html"),
        "text/markdown" | "text/x-markdown" => Some("page.md"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::{record, walk};
    use super::*;
    use crate::compression::tests::gzip;

    /// Writes a record, reads it back and returns its text.
    fn read(kind: &str, content_type: &str, block: &[u8]) -> Result<Option<String>, RejectReason> {
        let mut headers = vec![("WARC-Type", kind), ("WARC-Date", "2024-05-06T07:08:09Z")];
        if !content_type.is_empty() {
            headers.push(("Content-Type", content_type));
        }
        let bytes = record(&headers, block);
        let record = walk(&bytes).remove(0).unwrap();
        assert_eq!(record.headers.get("warc-date"), Some("2024-05-06T07:08:09Z"));
        let block = &bytes[record.block.start as usize..record.block.end as usize];
        let limits = ExtractLimits { unfolded_bytes: 100_000, ..ExtractLimits::default() };
        let found = find(record.kind, &record.headers, block, &limits)?;
        Ok(found.map(|found| found.decoded.text.into_owned()))
    }

    fn page(content_type: &str, body: &[u8]) -> Result<String, RejectReason> {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n");
        let block = [head.as_bytes(), body].concat();
        read("response", "application/http; msgtype=response", &block).map(Option::unwrap)
    }

    #[test]
    fn a_conversion_is_its_block() {
        let block = "naïve\n<p>no markup\n";
        assert_eq!(read("conversion", "text/plain", block.as_bytes()).unwrap().as_deref(), Some(block));
        assert_eq!(read("conversion", "", block.as_bytes()).unwrap().as_deref(), Some(block));
        assert_eq!(read("conversion", "text/plain", b"na\xefve"), Err(RejectReason::InvalidUtf8 { at: 2 }));
        assert_eq!(read("conversion", "text/html", b"<p>a").unwrap().as_deref(), Some("a\n"));
    }

    #[test]
    fn a_response_is_the_text_of_its_page() {
        assert_eq!(page("text/html", b"<p>a rose<p>is").as_deref(), Ok("a rose\nis\n"));
        assert_eq!(page("text/plain", b"<p>a rose").as_deref(), Ok("<p>a rose"));
        assert_eq!(page("x/y", b"<!doctype html><p>a").as_deref(), Ok("a\n"));
        assert_eq!(page("text/markdown", b"---\ntitle: x\n---\nbody\n").as_deref(), Ok("body\n"));
        let block = [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &*gzip(b"plain text")].concat();
        assert_eq!(read("response", "", &block).unwrap().as_deref(), Some("plain text"));
    }

    #[test]
    fn the_charset_of_the_header_outweighs_that_of_the_page() {
        let cyrillic = b"<meta charset=latin1><p>\xcf\xf0\xe8";
        assert_eq!(page("text/html; charset=windows-1251", cyrillic).as_deref(), Ok("При\n"));
        assert_eq!(page("text/plain; charset=windows-1251", b"\xcf\xf0\xe8").as_deref(), Ok("При"));
        assert_eq!(page("text/plain; charset=utf-16le", b"h\0i\0").as_deref(), Ok("hi"));
        assert_eq!(
            page("text/html; charset=no-such", b"<meta charset=windows-1251><p>\xcf").as_deref(),
            Ok("П\n")
        );
        let marked = "\u{feff}<p>naïve".as_bytes();
        assert_eq!(page("text/html; charset=windows-1251", marked).as_deref(), Ok("naïve\n"));
    }

    #[test]
    fn a_resource_has_no_protocol_around_it() {
        assert_eq!(read("resource", "text/html", b"<p>a").unwrap().as_deref(), Some("a\n"));
        assert_eq!(
            read("resource", "", b"HTTP/1.1 is a text").unwrap().as_deref(),
            Some("HTTP/1.1 is a text")
        );
        assert_eq!(
            read("response", "text/dns", b"example.org. A").unwrap().as_deref(),
            Some("example.org. A")
        );
    }

    #[test]
    fn a_record_that_holds_no_text_is_no_document() {
        let code = |found: Result<String, RejectReason>| found.unwrap_err().code();
        for (content_type, body) in [
            ("image/png", &b"\x89PNG\r\n\x1a\n\0"[..]),
            ("text/html", b"\xff\xd8\xff\xe0"),
            ("application/octet-stream", b"\x01\0\xff"),
            ("application/octet-stream", b"\x01\0\x02"),
            ("application/zip", b"PK\x03\x04"),
            ("application/rtf", b"{\\rtf1 Hello}"),
            ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            ("VIDEO/mp4", b"no NUL bytes"),
            ("text/html", b""),
        ] {
            let found = code(page(content_type, body));
            let expected = if content_type == "application/zip" { "damaged" } else { "not_text" };
            assert_eq!(found, expected, "{content_type}");
        }
        // The bytes decide, even against the media type.
        assert_eq!(
            page("image/png", b"<!doctype html><p>no such picture").as_deref(),
            Ok("no such picture\n")
        );
        let moved = b"HTTP/1.1 301 Moved Permanently\r\nLocation: /\r\n\r\n";
        assert_eq!(read("response", "", moved).unwrap_err().code(), "not_text");
        for kind in ["conversion", "resource"] {
            assert_eq!(read(kind, "text/plain", b"").unwrap_err().code(), "not_text");
        }
        // If its body cannot be decoded, a picture is still no document, and a page is a reject.
        let encoded = |content_type: &str| {
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Encoding: br\r\n\r\n\0");
            read("response", "", head.as_bytes()).unwrap_err().code()
        };
        assert_eq!((encoded("image/webp"), encoded("text/html")), ("not_text", "unread_encoding"));
    }

    #[test]
    fn a_record_that_should_hold_a_text_is_rejected_with_its_reason() {
        assert_eq!(read("response", "", b"no protocol").unwrap_err().code(), "invalid_warc");
        assert_eq!(read("response", "application/http", b"").unwrap_err().code(), "invalid_warc");
        let bomb =
            [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &*gzip(&vec![b'x'; 1 << 20])].concat();
        assert_eq!(read("response", "", &bomb).unwrap_err().code(), "too_large");
    }

    #[test]
    fn other_records_are_no_documents() {
        for kind in ["warcinfo", "request", "metadata", "revisit", "continuation", "odd"] {
            assert_eq!(read(kind, "", b"HTTP/1.1 200 OK\r\n\r\n"), Ok(None));
        }
    }
}
