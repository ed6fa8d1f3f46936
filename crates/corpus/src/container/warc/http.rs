//! Parses the HTTP response inside a `response` record.
//!
//! The archive stores the bytes of the connection: status line, headers, a blank line and the body. The body may be
//! cut into chunks ([`chunked`](super::chunked)) and compressed ([`coding`](super::coding)).

use std::borrow::Cow;

use super::chunked;
use super::coding;
use super::headers::Headers;
use crate::reject::RejectReason;

/// Bytes with which every HTTP response begins.
const MAGIC: &[u8] = b"HTTP/";

/// A response with a decoded body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response<'b> {
    /// The status code, if the status line has one.
    pub(crate) status: Option<u16>,
    /// The body without chunks and compression.
    pub(crate) payload: Cow<'b, [u8]>,
    /// The media type and the charset of the body.
    pub(crate) content_type: ContentType,
}

/// The value of a `Content-Type` header, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContentType {
    /// The media type: `text/html`.
    pub(crate) media_type: Option<String>,
    /// The parameter `charset`.
    pub(crate) charset: Option<String>,
}

impl ContentType {
    /// Parses a value such as `text/html; charset="UTF-8"`.
    pub(crate) fn parse(value: &str) -> Self {
        let mut parts = value.split(';');
        let lower = |text: &str| Some(text.trim().to_ascii_lowercase()).filter(|text| !text.is_empty());
        let media_type = parts.next().and_then(lower);
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            if name.trim().eq_ignore_ascii_case("charset") { lower(value) } else { None }
        });
        Self { media_type, charset }
    }

    /// Reports whether the media type is that of pictures, sound, video or fonts, which are no documents.
    pub(crate) fn is_media(&self) -> bool {
        const MEDIA: [&str; 4] = ["image", "audio", "video", "font"];
        let kind = self.media_type.as_deref().and_then(|known| known.split_once('/'));
        kind.is_some_and(|(kind, _)| MEDIA.contains(&kind))
    }

    /// Returns the content type that headers state.
    pub(crate) fn of(headers: &Headers) -> Self {
        headers.get("Content-Type").map(Self::parse).unwrap_or_default()
    }
}

/// Reports whether a block begins with an HTTP response.
pub(crate) fn is_response(block: &[u8]) -> bool {
    block.starts_with(MAGIC)
}

/// Returns the content type of the response in a block. The block may be cut off behind the head.
pub(crate) fn content_type(block: &[u8]) -> ContentType {
    if is_response(block) {
        ContentType::of(&ResponseHead::final_of(block).headers)
    } else {
        ContentType::default()
    }
}

/// Parses the response in a block. A body that decodes to more than `limit` bytes is rejected.
pub(crate) fn parse(block: &[u8], limit: u64) -> Result<Response<'_>, RejectReason> {
    if !is_response(block) {
        let message = "its block is not an HTTP response".to_owned();
        return Err(RejectReason::InvalidWarc { message });
    }
    let ResponseHead { status, headers, body } = ResponseHead::final_of(block);
    let chunked = headers
        .all("Transfer-Encoding")
        .flat_map(|value| value.split(','))
        .any(|name| name.trim().eq_ignore_ascii_case("chunked"));
    let body = if chunked { chunked::decode(body) } else { Cow::Borrowed(body) };
    let payload = coding::decode(body, headers.all("Content-Encoding"), limit)?;
    Ok(Response { status, payload, content_type: ContentType::of(&headers) })
}

/// The head of a response, and its body before decoding.
struct ResponseHead<'b> {
    status: Option<u16>,
    headers: Headers,
    body: &'b [u8],
}

impl<'b> ResponseHead<'b> {
    /// Returns the head of the final response. An interim response (`100 Continue`) has no body, and another response
    /// follows it.
    fn final_of(block: &'b [u8]) -> Self {
        let mut head = Self::parse(block);
        while head.status.is_some_and(|status| (100..200).contains(&status)) && is_response(head.body) {
            head = Self::parse(head.body);
        }
        head
    }

    fn parse(block: &'b [u8]) -> Self {
        let (status_line, rest) = split_line(block);
        let status = std::str::from_utf8(status_line)
            .ok()
            .and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok());
        let mut body = rest;
        while !body.is_empty() {
            let (line, behind) = split_line(body);
            body = behind;
            if line.is_empty() {
                break;
            }
        }
        let head = rest.get(..rest.len() - body.len()).unwrap_or_default();
        Self { status, headers: Headers::parse(head), body }
    }
}

/// Returns the first line without its end, and the bytes behind it.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    let (line, rest) = bytes.split_at(end);
    (line.strip_suffix(b"\r").unwrap_or(line), rest.get(1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compression::tests::gzip;

    #[test]
    fn a_response_has_status_type_and_body() {
        let block =
            b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML ; Charset = \"UTF-8\"; x=y\r\n\r\n<p>a\r\n\r\nb";
        let found = parse(block, 1000).unwrap();
        assert_eq!(found.status, Some(200));
        assert_eq!(&*found.payload, b"<p>a\r\n\r\nb");
        assert!(matches!(found.payload, Cow::Borrowed(_)));
        assert_eq!(found.content_type.media_type.as_deref(), Some("text/html"));
        assert_eq!(found.content_type.charset.as_deref(), Some("utf-8"));
    }

    #[test]
    fn line_feeds_alone_and_missing_parts_are_accepted() {
        let found = parse(b"HTTP/2 404\nA: b\n\nbody", 1000).unwrap();
        assert_eq!((found.status, &*found.payload), (Some(404), &b"body"[..]));
        assert_eq!(found.content_type, ContentType::default());
        for (block, status) in [("HTTP/1.0 xyz", None), ("HTTP/", None), ("HTTP/1.1 204\r\n", Some(204))] {
            let found = parse(block.as_bytes(), 1000).unwrap();
            assert_eq!((found.status, &*found.payload), (status, &b""[..]), "{block}");
        }
        assert_eq!(parse(b"HTTP/1.1 200 OK\r\nA: b", 9).unwrap().payload, Cow::Borrowed(&b""[..]));
    }

    #[test]
    fn another_protocol_is_rejected() {
        let reason = parse(b"20200101 example.org. 1 IN A 127.0.0.1", 1000).unwrap_err();
        assert_eq!(reason.to_string(), "not a WARC record: its block is not an HTTP response");
    }

    #[test]
    fn interim_responses_are_passed_over() {
        let found = parse(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody", 1000).unwrap();
        assert_eq!((found.status, &*found.payload), (Some(200), &b"body"[..]));
        let many = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000);
        assert_eq!(parse(&many, 1000).unwrap().status, Some(100));
    }

    #[test]
    fn chunks_are_joined_before_decompression() {
        let body = gzip(b"a rose is a rose");
        let (first, second) = body.split_at(10);
        let mut block =
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\ncontent-encoding: gzip\r\n\r\n".to_vec();
        for chunk in [first, second, b""] {
            block.extend(format!("{:x}\r\n", chunk.len()).bytes());
            block.extend(chunk);
            block.extend(b"\r\n");
        }
        assert_eq!(&*parse(&block, 1000).unwrap().payload, b"a rose is a rose");
        assert_eq!(parse(&block, 10).unwrap_err().code(), "too_large");
    }

    #[test]
    fn headers_that_the_archive_has_renamed_do_not_count() {
        let block = b"HTTP/1.1 200 OK\r\nX-Crawl-Content-Encoding: br\r\nX-Crawl-Transfer-Encoding: chunked\r\n\r\n5\n";
        assert_eq!(&*parse(block, 1000).unwrap().payload, b"5\n");
    }

    proptest! {
        #[test]
        fn any_block_is_parsed_or_rejected(tail in prop::collection::vec(any::<u8>(), 0..200), which in 0..5_usize) {
            let heads = [
                "",
                "HTTP/",
                "HTTP/1.1 200 OK\r\n",
                "HTTP/1.1 200\nTransfer-Encoding: chunked\n\n",
                "HTTP/1.1 200\nContent-Encoding: deflate\n\n",
            ];
            let _ = parse(&[heads[which].as_bytes(), &tail].concat(), 1000);
        }
    }
}
