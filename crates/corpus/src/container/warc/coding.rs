//! Decodes `Content-Encoding`: gzip, deflate and Zstandard.
//!
//! Archives often store a body decompressed and keep the header. A body without the magic number of its encoding is
//! therefore returned as it is. An unknown name is ignored, as browsers ignore it, because some servers send `utf-8`
//! or `none` as an encoding. Brotli has no decoder among the dependencies of this crate and no magic number, so a
//! body with `br` is rejected unless it is clearly text.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};

use crate::compression::Compression;
use crate::reject::RejectReason;

/// Maximum number of encodings of one body that are decoded. A server that names two encodings has compressed twice
/// by mistake.
const MAX_ENCODINGS: usize = 4;

/// An encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Zstd,
    /// An encoding of HTTP that this crate does not decode.
    Unread,
    /// No encoding: the body is kept as it is.
    Identity,
}

impl Coding {
    fn of(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Self::Gzip,
            "deflate" => Self::Deflate,
            "zstd" => Self::Zstd,
            "br" | "compress" | "x-compress" | "dcb" | "dcz" | "sdch" => Self::Unread,
            _ => Self::Identity,
        }
    }
}

/// Returns a body without the encodings that the values of `Content-Encoding` name.
///
/// If a body is cut short, the bytes before the cut are decoded, because crawlers cut long bodies. A body that
/// decodes to more than `limit` bytes is rejected without being held in memory.
pub(crate) fn decode<'b, 'h>(
    mut body: Cow<'b, [u8]>,
    values: impl Iterator<Item = &'h str>,
    limit: u64,
) -> Result<Cow<'b, [u8]>, RejectReason> {
    let names: Vec<&str> =
        values.flat_map(|value| value.split(',')).map(str::trim).filter(|name| !name.is_empty()).collect();
    let encoded = names.iter().filter(|name| Coding::of(name) != Coding::Identity).count();
    if encoded > MAX_ENCODINGS {
        return Err(RejectReason::UnreadEncoding { encoding: names.join(", ") });
    }
    // Encodings are decoded from the last to the first, because the server applied them from the first to the last.
    for name in names.into_iter().rev() {
        body = match (Coding::of(name), body) {
            (Coding::Identity, body) => body,
            (Coding::Unread, body) if is_text(&body) => body,
            (Coding::Unread, _) => return Err(RejectReason::UnreadEncoding { encoding: name.to_owned() }),
            (coding, body) => match decoded(coding, &body, limit)? {
                Some(content) => Cow::Owned(content),
                None => body,
            },
        };
    }
    Ok(body)
}

/// Returns the content of an encoded body; `None` if the body is not encoded.
fn decoded(coding: Coding, body: &[u8], limit: u64) -> Result<Option<Vec<u8>>, RejectReason> {
    let found = Compression::of(body);
    if let (Coding::Zstd, Some(refusal)) = (coding, found.and_then(Compression::refusal)) {
        return Err(RejectReason::NoText { refusal });
    }
    match (coding, found) {
        (Coding::Gzip, Some(Compression::Gzip)) => {
            // Bytes behind the first member are ignored, because some servers send them, and browsers ignore them.
            read(GzDecoder::new(body), limit).map(Some)
        }
        #[cfg(feature = "zstd")]
        (Coding::Zstd, Some(Compression::Zstd)) => {
            let decoder = zstd::stream::read::Decoder::with_buffer(body);
            read(decoder.map_err(|error| damaged(0, &error))?, limit).map(Some)
        }
        (Coding::Deflate, _) => deflated(body, limit),
        (Coding::Gzip | Coding::Zstd | Coding::Unread | Coding::Identity, _) => Ok(None),
    }
}

/// Returns the content of a body with the encoding `deflate`. The standard prescribes the zlib form; some servers
/// send the raw form.
fn deflated(body: &[u8], limit: u64) -> Result<Option<Vec<u8>>, RejectReason> {
    // The raw form has neither a magic number nor a checksum, so text could decode to a few bytes of nonsense without
    // an error.
    if is_text(body) {
        return Ok(None);
    }
    if has_zlib_header(body) {
        match read(ZlibDecoder::new(body), limit) {
            // The first bytes of some raw streams look like a zlib header.
            Err(RejectReason::Damaged { .. }) => {}
            found => return found.map(Some),
        }
    }
    read(DeflateDecoder::new(body), limit).map(Some)
}

/// Reports whether a zlib stream begins here: the method is 8, and the first two bytes are a multiple of 31.
fn has_zlib_header(body: &[u8]) -> bool {
    match body {
        [method, flags, ..] => method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31),
        _ => false,
    }
}

/// Reports whether a body is clearly text and not compressed: markup, or UTF-8 without control characters.
fn is_text(body: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | 0x0c | b'\r');
    let text = simdutf8::basic::from_utf8(body).is_ok() && !body.iter().any(is_control);
    text || [&b"<!"[..], b"<?xml", b"<html", b"<HTML"]
        .iter()
        .any(|tag| body.trim_ascii_start().starts_with(tag))
}

/// Reads all bytes of a decoder. Fails if there are more than `limit`.
fn read(decoder: impl Read, limit: u64) -> Result<Vec<u8>, RejectReason> {
    let mut content = Vec::new();
    match decoder.take(limit.saturating_add(1)).read_to_end(&mut content) {
        Ok(bytes) if bytes as u64 > limit => Err(RejectReason::TooLarge { bytes: bytes as u64, limit }),
        Ok(_) => Ok(content),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(content),
        Err(error) => Err(damaged(content.len(), &error)),
    }
}

fn damaged(at: usize, error: &io::Error) -> RejectReason {
    RejectReason::Damaged { at: at as u64, message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::{DeflateEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;
    use crate::compression::tests::{gzip, zst};

    const TEXT: &[u8] = b"a rose is a rose is a rose is a rose";

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(vec![], flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn raw(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(vec![], flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn undo(body: &[u8], value: &str) -> Result<Vec<u8>, RejectReason> {
        decode(Cow::Borrowed(body), [value].into_iter(), 1000).map(Cow::into_owned)
    }

    #[test]
    fn every_encoding_is_undone() {
        for (body, name) in [
            (gzip(TEXT), "gzip"),
            (gzip(TEXT), "X-GZip"),
            (zlib(TEXT), "deflate"),
            (raw(TEXT), "deflate"),
            (zst(TEXT), "zstd"),
            (gzip(&zst(TEXT)), "zstd, , gzip"),
            (TEXT.to_vec(), "identity"),
            (TEXT.to_vec(), "utf-8"),
            ([gzip(TEXT), b"trailing".to_vec()].concat(), "gzip"),
        ] {
            assert_eq!(undo(&body, name).as_deref(), Ok(TEXT), "{name}");
        }
    }

    #[test]
    fn a_body_that_is_not_encoded_is_itself() {
        for name in ["gzip", "deflate", "zstd", "br", "compress"] {
            assert_eq!(undo(TEXT, name).as_deref(), Ok(TEXT), "{name}");
            assert_eq!(undo(b"", name).as_deref(), Ok(&b""[..]), "{name}");
            let page = b"<html>na\xefve";
            assert_eq!(undo(page, name).as_deref(), Ok(&page[..]), "{name}");
        }
    }

    #[test]
    fn an_encoding_that_is_not_read_is_named() {
        let brotli = b"\x0b\x02\x80hello\x03";
        let reason = undo(brotli, "gzip, br").unwrap_err();
        assert_eq!(reason.to_string(), "its body has the encoding `br`, which is not read");
        assert_eq!(reason.code(), "unread_encoding");
        assert_eq!(undo(TEXT, "gzip,gzip,gzip,gzip,gzip").unwrap_err().code(), "unread_encoding");
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let bomb = vec![0; 1 << 20];
        for (body, name) in [
            (gzip(&bomb), "gzip"),
            (zlib(&bomb), "deflate"),
            (raw(&bomb), "deflate"),
            (zst(&bomb), "zstd"),
            (gzip(&gzip(&bomb)), "gzip, gzip"),
        ] {
            assert!(
                matches!(undo(&body, name), Err(RejectReason::TooLarge { bytes: 1001, limit: 1000 })),
                "{name}"
            );
        }
        let whole = decode(Cow::Owned(gzip(&bomb)), ["gzip"].into_iter(), u64::MAX).unwrap();
        assert_eq!(whole.len(), bomb.len());
    }

    #[test]
    fn a_cut_body_gives_what_is_before_the_cut() {
        let long: Vec<u8> = (0..250_u32).flat_map(u32::to_be_bytes).collect();
        for (body, name) in [(gzip(&long), "gzip"), (zlib(&long), "deflate"), (raw(&long), "deflate")] {
            let content = undo(&body[..body.len() - 9], name).unwrap();
            assert!(long.starts_with(&content) && content.len() > 500, "{name}");
        }
        assert!(long.starts_with(&undo(&zst(&long)[..50], "zstd").unwrap()));
    }

    #[test]
    fn a_damaged_body_is_rejected() {
        let mut body = gzip(TEXT);
        let last = body.len() - 8;
        body[last] ^= 1;
        assert_eq!(undo(&body, "gzip").unwrap_err().code(), "damaged");
        assert_eq!(undo(b"\x78\x9c\xff\xff\xff\xff", "deflate").unwrap_err().code(), "damaged");
    }

    proptest! {
        #[test]
        fn any_body_is_decoded_or_rejected(body in prop::collection::vec(any::<u8>(), 0..200), at in 0..30_usize) {
            for name in ["gzip", "deflate", "zstd", "br"] {
                let _ = undo(&body, name);
            }
            for (mut whole, name) in [(gzip(TEXT), "gzip"), (zlib(TEXT), "deflate"), (zst(TEXT), "zstd")] {
                whole.splice(at.min(whole.len()).., body.iter().copied());
                let _ = undo(&whole, name);
            }
        }
    }
}
