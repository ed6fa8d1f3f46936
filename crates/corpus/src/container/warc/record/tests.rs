//! Tests of records that are whole, damaged or missing.

use proptest::prelude::*;

use super::*;

/// Makes a record in the form of the standard.
pub(crate) fn record(headers: &[(&str, &str)], block: &[u8]) -> Vec<u8> {
    let mut bytes = b"WARC/1.0\r\n".to_vec();
    for (name, value) in headers {
        bytes.extend(format!("{name}: {value}\r\n").bytes());
    }
    bytes.extend(format!("Content-Length: {}\r\n\r\n", block.len()).bytes());
    bytes.extend(block);
    bytes.extend(b"\r\n\r\n");
    bytes
}

/// Makes a record of a kind, with an id.
pub(crate) fn typed(kind: &str, id: &str, block: &[u8]) -> Vec<u8> {
    record(&[("WARC-Type", kind), ("WARC-Record-ID", &format!("<{id}>"))], block)
}

/// Returns all records in bytes in memory, and the bytes between them.
pub(crate) fn walk(bytes: &[u8]) -> Vec<std::result::Result<WarcRecord, Bad>> {
    Records::new(&bytes).map(|step| step.unwrap()).collect()
}

/// Returns the kind and the block of each record, or its problem.
fn outline(bytes: &[u8]) -> Vec<std::result::Result<(RecordKind, &[u8]), WarcProblem>> {
    let block = |record: &WarcRecord| &bytes[record.block.start as usize..record.block.end as usize];
    walk(bytes)
        .into_iter()
        .map(|step| step.map(|record| (record.kind, block(&record))).map_err(|bad| bad.problem))
        .collect()
}

#[test]
fn records_follow_each_other() {
    let file = [typed("warcinfo", "a", b"x: y"), typed("Response", "b", b""), typed("odd", "c", b"\r\n\r\n")];
    let whole = file.concat();
    let found = walk(&whole);
    let mut at = 0;
    for (bytes, step) in file.iter().zip(&found) {
        let record = step.as_ref().unwrap();
        assert_eq!(record.bytes, at..at + bytes.len() as u64);
        assert_eq!(parse_at(&&*whole, at).unwrap().as_ref(), Ok(record));
        at = record.bytes.end;
    }
    let kinds =
        [(RecordKind::Warcinfo, &b"x: y"[..]), (RecordKind::Response, b""), (RecordKind::Other, b"\r\n\r\n")];
    assert_eq!(outline(&whole), kinds.map(Ok));
    assert_eq!(found[1].as_ref().unwrap().id(), Some("b"));
}

#[test]
fn every_kind_has_its_name() {
    let kinds = ["warcinfo", "response", "conversion", "resource", "request", "metadata", "revisit"];
    let documents = kinds.map(|kind| RecordKind::of(Some(kind)).is_document());
    assert_eq!(documents, [false, true, true, true, false, false, false]);
    assert_eq!(RecordKind::of(Some("continuation")), RecordKind::Continuation);
    assert_eq!(RecordKind::of(None), RecordKind::Other);
}

#[test]
fn ids_lose_their_brackets() {
    let id = |value: &str| {
        let bytes = record(&[("warc-record-id", value)], b"");
        walk(&bytes).remove(0).unwrap().id().map(ToOwned::to_owned)
    };
    assert_eq!(id("<urn:uuid:1>").as_deref(), Some("urn:uuid:1"));
    assert_eq!(id("urn:uuid:1").as_deref(), Some("urn:uuid:1"));
    assert_eq!(id("<open").as_deref(), Some("<open"));
    assert_eq!(id("<>"), None);
    assert_eq!(id(""), None);
}

#[test]
fn line_feeds_alone_and_missing_ends_are_accepted() {
    let file = b"\r\n\nWARC/1.1 \nContent-Length: 3\nWARC-Type:\n  response\n\nabc\n\nWARC/1.0\r\ncontent-length:2\r\n\r\nde";
    assert_eq!(outline(file), [Ok((RecordKind::Response, &b"abc"[..])), Ok((RecordKind::Other, b"de"))]);
    for end in ["", "\r", "\r\n", "\r\n\r\n", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"] {
        let file =
            format!("WARC/1.0\r\nContent-Length: 2\r\n\r\nde{end}WARC/1.0\nContent-Length: 1\n\nf{end}");
        let expected: &[u8] = b"de";
        assert_eq!(
            outline(file.as_bytes()),
            [Ok((RecordKind::Other, expected)), Ok((RecordKind::Other, b"f"))]
        );
        assert_eq!(walk(file.as_bytes())[1].as_ref().unwrap().bytes.end, file.len() as u64);
    }
}

#[test]
fn a_bad_record_does_not_lose_the_next() {
    let good = typed("resource", "g", b"good");
    let version = |found: &str| WarcProblem::Version { found: found.to_owned() };
    let cases: [(&[u8], WarcProblem); 9] = [
        (b"garbage\r\n", version("garbage")),
        (b"WARC/0.18\r\nContent-Length: 0\r\n\r\n\r\n\r\n", version("WARC/0.18")),
        (b"WARC/1.x\r\nContent-Length: 0\r\n\r\n\r\n\r\n", version("WARC/1.x")),
        (b"WARC/1.0\r\nWARC-Type: response\r\n\r\nabc\r\n\r\n", WarcProblem::NoLength),
        (b"WARC/1.0\r\nContent-Length: -1\r\n\r\nabc\r\n", WarcProblem::BadLength { found: "-1".into() }),
        (
            b"WARC/1.0\nContent-Length: 18446744073709551616\n\nabc\n",
            WarcProblem::BadLength { found: "18446744073709551616".into() },
        ),
        (b"WARC/1.0\nContent-Length: 2\n\nabc\r\n\r\n", WarcProblem::WrongLength { given: 2 }),
        (b"WARC/1.0\nContent-Length: 11\n\nabc\r\n\r\n", WarcProblem::WrongLength { given: 11 }),
        (b"WARC/1.0\nWARC-Type: response\n", WarcProblem::OpenHead),
    ];
    for (bad, problem) in cases {
        let file = [&good, bad, &good].concat();
        let whole = (RecordKind::Resource, &b"good"[..]);
        assert_eq!(outline(&file), [Ok(whole), Err(problem), Ok(whole)], "{}", String::from_utf8_lossy(bad));
        let gap = good.len() as u64..(file.len() - good.len()) as u64;
        assert_eq!(walk(&file)[1].as_ref().unwrap_err().bytes, gap);
    }
}

#[test]
fn a_truncated_record_has_its_id_and_frees_its_followers() {
    for length in [1000, u64::MAX - 1, u64::MAX] {
        let cut = format!("WARC/1.0\r\nWARC-Record-ID: <c>\r\nContent-Length: {length}\r\n\r\nabc\r\n");
        let file = [cut.as_bytes(), &typed("request", "r", b"R")].concat();
        let found = walk(&file);
        let bad = found[0].as_ref().unwrap_err();
        let there = (file.len() - cut.len() + 5) as u64;
        assert_eq!(bad.problem, WarcProblem::Truncated { expected: length, found: there });
        assert_eq!(bad.id.as_deref(), Some("c"));
        assert_eq!(found[1].as_ref().unwrap().id(), Some("r"));
    }
    let reason = RejectReason::from(WarcProblem::Truncated { expected: 9, found: 3 });
    assert_eq!(reason.to_string(), "not a WARC record: it ends after 3 of 9 bytes");
    assert_eq!(reason.code(), "invalid_warc");
}

#[test]
fn an_empty_block_leaves_the_next_record_alone() {
    let file = b"WARC/1.0\nContent-Length: 99999\n\nWARC/1.0\nContent-Length: 0\n\n";
    assert_eq!(outline(file).len(), 2);
    assert_eq!(outline(file)[1], Ok((RecordKind::Other, &b""[..])));
}

#[test]
fn long_heads_are_read_up_to_a_limit() {
    let long = "x".repeat(100_000);
    let file = record(&[("WARC-Target-URI", &long)], b"abc");
    assert_eq!(walk(&file)[0].as_ref().unwrap().headers.get("warc-target-uri"), Some(&*long));
    let endless = [&b"WARC/1.0\r\nA: "[..], &vec![b'x'; 3 << 20], b"\r\n\r\n", &file].concat();
    let found = outline(&endless);
    assert_eq!(found[0], Err(WarcProblem::OpenHead));
    assert_eq!(found[1], Ok((RecordKind::Other, &b"abc"[..])));
}

#[test]
fn the_next_record_is_found_across_windows() {
    let seams = [FIRST_HEAD_BYTES, FIRST_HEAD_BYTES + WINDOW_BYTES];
    for gap in seams.into_iter().flat_map(|seam| seam - 30..seam + 4) {
        let file = [&vec![b'x'; gap][..], b"\n", &record(&[], b"abc")].concat();
        assert_eq!(outline(&file)[1], Ok((RecordKind::Other, &b"abc"[..])), "{gap}");
    }
}

/// Each of these files would take hours if a step read more bytes than it passes.
#[test]
fn hostile_files_take_time_in_proportion_to_their_bytes() {
    let versions = b"WARC/1.0\n".repeat(200_000);
    assert_eq!(walk(&versions).len(), 200_000);
    let mut returns = b"WARC/1.0\nContent-Length: 0\n\n\r".repeat(50_000);
    returns.extend(vec![b'\r'; 1 << 20]);
    returns.push(b'x');
    assert_eq!(walk(&returns).len(), 50_000);
    let magic = b"\nWARC/1.".repeat(200_000);
    assert_eq!(walk(&magic).len(), 200_000);
}

/// Checks that the records, and the bytes that are no record, cover the source from its first byte that is not blank.
fn check_cover(bytes: &[u8]) {
    let mut at = None;
    for step in walk(bytes) {
        let range = match &step {
            Ok(record) => record.bytes.clone(),
            Err(bad) => bad.bytes.clone(),
        };
        assert!(range.start < range.end && at.is_none_or(|at| at == range.start));
        assert_eq!(parse_at(&bytes, range.start).unwrap(), step);
        at = Some(range.end);
    }
    assert!(at.is_none_or(|at| at == bytes.len() as u64));
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const TOKENS: [&str; 10] = [
        "WARC/1.0\r\n",
        "\r\n",
        "\n",
        "Content-Length: 3\r\n",
        "Content-Length: 18446744073709551615\n",
        "WARC-Type: response\n",
        "abc",
        " folded\r\n",
        "WARC/1.",
        "\r\n\r\n",
    ];
    prop::collection::vec(prop::sample::select(&TOKENS[..]), 0..30)
        .prop_map(|tokens| tokens.concat().into_bytes())
}

proptest! {
    #[test]
    fn written_records_are_read_back(
        records in prop::collection::vec(
            ("[a-z]{1,9}", "[ -~]{0,30}", prop::collection::vec(any::<u8>(), 0..60)),
            0..6,
        ),
    ) {
        let mut file = vec![];
        for (kind, value, block) in &records {
            file.extend(record(&[("WARC-Type", kind), ("X-Value", value)], block));
        }
        let found = walk(&file);
        prop_assert_eq!(found.len(), records.len());
        for ((kind, value, block), step) in records.iter().zip(found) {
            let found = step.unwrap();
            prop_assert_eq!(found.headers.get("x-value"), Some(value.trim()));
            prop_assert_eq!(found.headers.get("warc-type"), Some(&**kind));
            prop_assert_eq!(&file[found.block.start as usize..found.block.end as usize], &block[..]);
        }
    }

    #[test]
    fn any_bytes_are_covered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check_cover(&bytes);
    }

    #[test]
    fn any_pieces_are_covered(bytes in pieces()) {
        check_cover(&bytes);
    }

    #[test]
    fn any_cut_is_covered(cut in 0..200_usize) {
        let file = [typed("response", "a", b"one\r\nWARC/1.0"), typed("request", "b", b"two")].concat();
        check_cover(&file[..cut.min(file.len())]);
        check_cover(&file[cut.min(file.len())..]);
    }
}
