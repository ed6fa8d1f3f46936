//! Entry points for the fuzz targets, with seeds. WARC files may be hostile, so no bytes may make a parser panic.

use std::io::{Read, Write};
use std::time::Duration;

use flate2::write::GzEncoder;

use crate::container::warc::document;
use crate::container::warc::follow::{self, Links, RecordFate};
use crate::container::warc::http;
use crate::container::warc::record::{RecordKind, Records, parse_at};
use crate::extract::ExtractLimits;
use crate::members::MemberReader;

/// Maximum number of bytes that a target decompresses.
const LIMIT: u64 = 1 << 20;

/// Reads bytes as a WARC file, and also as a gzip-compressed WARC file if gzip can decompress them.
pub fn warc(bytes: &[u8]) {
    read_records(bytes);
    let mut content = Vec::new();
    let mut reader = MemberReader::new(bytes);
    if reader.by_ref().take(LIMIT).read_to_end(&mut content).is_ok() {
        read_records(&content);
        let members = reader.into_members();
        let source = content.as_slice();
        let records = Records::new(&source).flatten().flatten();
        members.alignment(records.map(|record| record.bytes));
    }
}

/// Checks that the records, and the bytes that are no record, follow each other without gaps. Checks that a record
/// which is read again is the same.
fn read_records(bytes: &[u8]) {
    let (mut at, mut links) = (None, Vec::new());
    for step in Records::new(&bytes) {
        let step = step.expect("memory can be read");
        let range = match &step {
            Ok(record) => record.bytes.clone(),
            Err(bad) => bad.bytes.clone(),
        };
        assert!(range.start < range.end, "a step goes on");
        assert!(at.is_none_or(|at| at == range.start), "no byte lies between two steps");
        at = Some(range.end);
        let again = parse_at(&bytes, range.start).expect("memory can be read");
        assert_eq!(again, step);
        let Ok(record) = step else { continue };
        let block = bytes.get(record.block.start as usize..record.block.end as usize);
        find(record.kind, &record.headers, block.expect("a block lies inside its source"));
        links.push(Links::of(record.kind, &record.headers));
    }
    assert!(at.is_none_or(|at| at == bytes.len() as u64), "the last step ends with the source");
    let fates =
        follow::decide(
            &links,
            |number| if number % 2 == 0 { RecordFate::Copied } else { RecordFate::Removed },
        );
    assert_eq!(fates.fates.len(), links.len());
}

/// Finds the text of a record, within the limits.
fn find(kind: RecordKind, headers: &crate::container::warc::headers::Headers, block: &[u8]) {
    let limits =
        ExtractLimits { unfolded_bytes: LIMIT, time: Duration::from_secs(20), ..ExtractLimits::default() };
    match document::find(kind, headers, block, &limits) {
        Ok(found) => assert_eq!(found.is_some(), kind.is_document()),
        Err(reason) => assert!(!reason.to_string().is_empty()),
    }
}

/// Reads bytes as the HTTP response in a record.
pub fn http(bytes: &[u8]) {
    match http::parse(bytes, LIMIT) {
        Ok(response) => assert!(response.payload.len() as u64 <= LIMIT.max(bytes.len() as u64)),
        Err(reason) => assert!(!reason.to_string().is_empty()),
    }
}

/// Returns WARC files, plain and compressed.
#[must_use]
pub fn warc_seeds() -> Vec<Vec<u8>> {
    let record = |head: &str, block: &[u8]| {
        let head = format!("WARC/1.0\r\n{head}\r\nContent-Length: {}\r\n\r\n", block.len());
        [head.as_bytes(), block, b"\r\n\r\n"].concat()
    };
    let mut records = vec![
        record("WARC-Type: warcinfo\r\nWARC-Record-ID: <w>", b"software: x\r\n"),
        record(
            "WARC-Type: request\r\nWARC-Record-ID: <q>\r\nWARC-Concurrent-To:\r\n <r>",
            b"GET / HTTP/1.1\r\n\r\n",
        ),
        record("WARC-Type: conversion\r\nWARC-Record-ID: <c>", "na\u{ef}ve\n".as_bytes()),
        record("WARC-Type: resource\r\nContent-Type: text/html", b"<p>a"),
        b"WARC/1.1\nContent-Length: 3\n\nabc\n\n".to_vec(),
    ];
    records
        .extend(http_seeds().iter().map(|block| record("WARC-Type: response\r\nWARC-Record-ID: <r>", block)));
    let packed = records.iter().map(|record| gzip(record)).collect::<Vec<_>>().concat();
    vec![records.concat(), packed]
}

/// Returns HTTP responses with bodies in several encodings.
#[must_use]
pub fn http_seeds() -> Vec<Vec<u8>> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";
    let page = b"<!doctype html><p>a rose is a rose";
    let response = |more: &str, body: &[u8]| [head.as_bytes(), more.as_bytes(), b"\r\n", body].concat();
    let zstd = zstd::encode_all(&page[..], 1).unwrap_or_default();
    vec![
        response("", page),
        response("Content-Encoding: gzip\r\n", &gzip(page)),
        response("Content-Encoding: zstd, identity\r\n", &zstd),
        response("Content-Encoding: deflate\r\n", b"\xcb\x48\xcd\xc9\xc9\x07\x00"),
        response("Transfer-Encoding: chunked\r\n", b"4;x=y\r\n<p>a\r\n2\r\nbc\r\n0\r\nT: u\r\n\r\n"),
    ]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    // Writing to a `Vec` cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warc_seeds_are_read() {
        for seed in warc_seeds() {
            warc(&seed);
        }
        for seed in http_seeds() {
            http(&seed);
            assert!(http::parse(&seed, LIMIT).is_ok_and(|response| response.status == Some(200)));
        }
        let plain = warc_seeds().remove(0);
        assert_eq!(Records::new(&plain.as_slice()).flatten().flatten().count(), 10);
    }
}
