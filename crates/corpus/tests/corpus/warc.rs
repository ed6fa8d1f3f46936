//! Tests of WARC and WET files.

use std::io::Read;

use minwise_corpus::{
    Format, InputFormat, Output, OutputFolder, OutputVerdict, Overwrite, ReadOptions, RecordPlace, Scratch,
    TableCompression, copy_each, copy_records, refuse_annotation, refuse_shared_members,
};

use crate::support::{Folder, Record, all, assert_read_again, bz2, format, gzip, places, scan, xz, zst};

/// Makes a record with further headers. Each header has its line end.
fn record(kind: &str, id: &str, headers: &str, block: impl AsRef<[u8]>) -> Vec<u8> {
    let block = block.as_ref();
    let length = block.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// Makes a record of a WET file.
fn text(id: &str, text: &str) -> Vec<u8> {
    record("conversion", id, "Content-Type: text/plain\r\n", text)
}

/// Makes a `response` record with a page.
fn page(id: &str, headers: &str, body: &str) -> Vec<u8> {
    let block =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><p>{body}</p></body></html>");
    record("response", id, headers, block)
}

fn concurrent(id: &str) -> String {
    format!("WARC-Concurrent-To: <urn:uuid:{id}>\r\n")
}

/// Makes a crawl of three pages, each with a request before it and metadata behind it.
fn crawl() -> Vec<Vec<u8>> {
    let mut records = vec![record("warcinfo", "info", "", "software: test\r\n")];
    for id in ["a", "b", "c"] {
        records.push(record("request", &format!("request-{id}"), &concurrent(id), "GET / HTTP/1.1\r\n\r\n"));
        records.push(page(id, "", &format!("The page {id}.")));
        records.push(record("metadata", &format!("metadata-{id}"), &concurrent(id), "fetchTimeMs: 1\r\n"));
    }
    records.push(record("revisit", "again", "", ""));
    records.push(record("metadata", "alone", "", "x: y\r\n"));
    records
}

/// Compresses each record as a separate gzip member.
fn members(records: &[Vec<u8>]) -> Vec<Vec<u8>> {
    records.iter().map(|record| gzip(record)).collect()
}

/// Joins the parts with these numbers.
fn joined(parts: &[Vec<u8>], numbers: &[usize]) -> Vec<u8> {
    numbers.iter().flat_map(|number| parts[*number].clone()).collect()
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut content = vec![];
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut content).unwrap();
    content
}

fn seen(records: &[Record]) -> Vec<(&str, &str, u64)> {
    records.iter().map(|record| (record.id(), record.text(), record.line)).collect()
}

#[test]
fn responses_conversions_and_resources_are_documents() {
    let folder = Folder::new();
    let pages = "Content-Type: text/html\r\nWARC-Target-URI: https://example.org/\r\n";
    let log = "Content-Type: text/plain\r\nWARC-Target-URI: metadata://gnu.org/wget/log.txt\r\n";
    let file = [
        record("warcinfo", "info", "", "software: test\r\n"),
        text("wet", "网络上有很多重复的文章。"),
        page("page", "", "A &amp; B"),
        record("resource", "file", pages, "<p>A file.</p>"),
        record("resource", "log", log, "Downloaded."),
        record("request", "request", "", "GET / HTTP/1.1\r\n\r\n"),
    ]
    .concat();
    for (name, bytes) in [
        ("a.warc", file.clone()),
        ("a.wet.gz", gzip(&file)),
        ("a.warc.zst", zst(&file)),
        ("a.warc.bz2", bz2(&file)),
        ("a.warc.xz", xz(&file)),
        ("unnamed", file.clone()),
        ("unnamed.gz", gzip(&file)),
    ] {
        folder.write(name, bytes);
        let corpus = folder.open(&[name]).unwrap();
        assert_eq!(corpus.format(), Some(Format::WARC), "{name}");
        for target in [1, 1 << 20] {
            let records = scan(&corpus, target);
            let expected = [
                ("urn:uuid:wet", "网络上有很多重复的文章。", 1),
                ("urn:uuid:page", "A & B\n", 2),
                ("urn:uuid:file", "A file.\n", 3),
            ];
            assert_eq!(seen(&records), expected, "{name}");
            assert_read_again(&corpus, &records);
        }
    }
    let corpus = folder.open(&["a.warc"]).unwrap();
    let records = scan(&corpus, 1);
    let raw = corpus.read_raw(&records[1].place, &mut Scratch::new()).unwrap().to_vec();
    assert_eq!(raw, page("page", "", "A &amp; B"));
    let names = corpus.field_names(&records[0].place, &mut Scratch::new()).unwrap();
    assert_eq!(names, ["WARC-Type", "WARC-Record-ID", "Content-Type", "Content-Length"]);
    let elsewhere = RecordPlace { offset: 1, ..records[0].place };
    assert!(corpus.read(&elsewhere, &mut Scratch::new()).is_err());
}

#[test]
fn the_body_of_a_response_is_decoded() {
    let folder = Folder::new();
    let body = gzip("<p>Naïve and gzipped</p>".as_bytes());
    let (first, second) = body.split_at(7);
    let block = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
        format!("{:x}\r\n", first.len()).as_bytes(),
        first,
        format!("\r\n{:x}\r\n", second.len()).as_bytes(),
        second,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    folder.write("a.warc", record("response", "a", "", block));
    let corpus = folder.open(&["a.warc"]).unwrap();
    let records = scan(&corpus, 1);
    assert_eq!(seen(&records), [("urn:uuid:a", "Naïve and gzipped\n", 0)]);
    assert_read_again(&corpus, &records);
}

#[test]
fn bad_records_are_rejects() {
    let folder = Folder::new();
    let whole = text("last", "A text that is cut.");
    let picture = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0";
    let file = [
        text("first", "One."),
        b"WARC/1.0\r\nWARC-Type: conversion\r\n\r\n".to_vec(),
        record("response", "picture", "", picture),
        text("large", &"x".repeat(3000)),
        text("second", "Two."),
        whole[..whole.len() - 10].to_vec(),
    ]
    .concat();
    for (name, bytes) in [("a.warc", file.clone()), ("a.warc.gz", gzip(&file))] {
        folder.write(name, bytes);
        let options = ReadOptions::default().max_record_bytes(2000);
        let corpus = folder.open_with(&[name], &options).unwrap();
        let records = scan(&corpus, 1 << 20);
        let codes: Vec<(&str, u64)> = records.iter().map(|record| (record.code(), record.line)).collect();
        let picture = records[2].code();
        assert!(!["ok", "invalid_warc"].contains(&picture), "{picture}");
        assert_eq!(
            codes,
            [("ok", 0), ("invalid_warc", 1), (picture, 2), ("too_large", 3), ("ok", 4), ("invalid_warc", 5)]
        );
        assert_eq!(
            records[5].reject().to_string(),
            "record `urn:uuid:last`: not a WARC record: it ends after 13 of 19 bytes"
        );
        let kept: Vec<RecordPlace> = [0, 4].map(|at| records[at].place).to_vec();
        let out = format!("{name}.warc");
        folder.copy(&corpus, &kept, &out, TableCompression::Keep);
        assert_eq!(folder.bytes(&out), [text("first", "One."), text("second", "Two.")].concat());
    }
}

#[test]
fn headers_are_fields() {
    let folder = Folder::new();
    let dated = "WARC-Date: 2024-05-01T00:00:00Z\r\n";
    folder.write("a.warc", [page("a", dated, "One."), page("b", "", "Two.")].concat());
    let options = ReadOptions::default()
        .value_fields(minwise_corpus::FieldPath::list("warc-date,Content-Length").unwrap())
        .id_field("WARC-Date".parse().unwrap());
    let corpus = folder.open_with(&["a.warc"], &options).unwrap();
    let mut found = vec![];
    for chunk in corpus.chunks(1 << 20) {
        let visit = &mut |_, document: Result<minwise_corpus::Document<'_>, _>| {
            let document = document.unwrap();
            let values: Vec<Option<String>> =
                document.values.into_iter().map(|value| value.map(Into::into)).collect();
            found.push((document.id.unwrap().into_owned(), values));
        };
        corpus.scan(&chunk, &mut Scratch::new(), visit).unwrap();
    }
    let date = "2024-05-01T00:00:00Z".to_owned();
    let length = Some("81".to_owned());
    assert_eq!(found[0], (date.clone(), vec![Some(date), length.clone()]));
    assert_eq!(found[1], ("urn:uuid:b".to_owned(), vec![None, length]));
}

/// Copies the documents with these numbers as kept, and all other documents as removed.
fn parted(folder: &Folder, input: &str, kept: &[usize], output: &str) -> (Vec<u8>, Vec<u8>) {
    let corpus = folder.open(&[input]).unwrap();
    let places = places(&scan(&corpus, 1 << 20));
    let (mut stay, mut go) = (vec![], vec![]);
    for (number, place) in places.into_iter().enumerate() {
        if kept.contains(&number) { stay.push(place) } else { go.push(place) }
    }
    let written = [(OutputVerdict::Kept, stay), (OutputVerdict::Removed, go)].map(|(verdict, places)| {
        let mut out = Output::create(&folder.path(output), Overwrite::Allow).unwrap();
        copy_records(
            &corpus,
            all(&corpus),
            places.into_iter(),
            verdict,
            format(&corpus),
            &mut out,
            TableCompression::Keep,
        )
        .unwrap();
        out.finish().unwrap();
        folder.bytes(output)
    });
    written.into()
}

#[test]
fn records_follow_their_documents() {
    let folder = Folder::new();
    let records = crawl();
    folder.write("a.warc", records.concat());
    let (kept, removed) = parted(&folder, "a.warc", &[0, 2], "out.warc");
    assert_eq!(kept, joined(&records, &[0, 1, 2, 3, 7, 8, 9, 10, 11]));
    assert_eq!(removed, joined(&records, &[0, 4, 5, 6]));
    let (kept, removed) = parted(&folder, "a.warc", &[0, 1, 2], "out.warc");
    assert_eq!(kept, records.concat());
    assert_eq!(removed, records[0]);
    assert_eq!(folder.open(&["a.warc"]).unwrap().revisits(), 1);
}

#[test]
fn gzip_members_are_copied_as_they_are() {
    let folder = Folder::new();
    let records = crawl();
    let packed = members(&records);
    folder.write("a.warc.gz", packed.concat());
    refuse_shared_members(&folder.open(&["a.warc.gz"]).unwrap(), Some("out.warc.gz".as_ref())).unwrap();
    let (kept, removed) = parted(&folder, "a.warc.gz", &[0, 2], "out.warc.gz");
    assert_eq!(kept, joined(&packed, &[0, 1, 2, 3, 7, 8, 9, 10, 11]));
    assert_eq!(removed, joined(&packed, &[0, 4, 5, 6]));
    assert_eq!(unpacked(&kept), joined(&records, &[0, 1, 2, 3, 7, 8, 9, 10, 11]));
    let (kept, _) = parted(&folder, "a.warc.gz", &[1], "out.warc");
    assert_eq!(kept, joined(&records, &[0, 4, 5, 6, 10, 11]));
}

#[test]
fn a_plain_file_becomes_one_member_per_record() {
    let folder = Folder::new();
    let records = crawl();
    folder.write("a.warc", records.concat());
    folder.write("a.warc.zst", zst(&records.concat()));
    for input in ["a.warc", "a.warc.zst"] {
        let (kept, _) = parted(&folder, input, &[0, 1], "out.warc.gz");
        let expected = [0, 1, 2, 3, 4, 5, 6, 10, 11];
        assert_eq!(unpacked(&kept), joined(&records, &expected), "{input}");
        // Each member of the output can be copied once more.
        folder.write("kept.warc.gz", &kept);
        let again = folder.open(&["kept.warc.gz"]).unwrap();
        refuse_shared_members(&again, Some("more.warc.gz".as_ref())).unwrap();
        let (more, _) = parted(&folder, "kept.warc.gz", &[0, 1], "more.warc.gz");
        assert_eq!(more, kept);
    }
}

#[test]
fn a_member_of_several_records_cannot_be_cut() {
    let folder = Folder::new();
    let records = crawl();
    folder.write("one.warc.gz", gzip(&records.concat()));
    folder.write("two.warc.gz", [gzip(&records[..2].concat()), gzip(&records[2..].concat())].concat());
    for name in ["one.warc.gz", "two.warc.gz"] {
        let corpus = folder.open(&[name]).unwrap();
        for output in [Some("out.warc.gz".as_ref()), None] {
            let error = refuse_shared_members(&corpus, output).unwrap_err();
            assert!(error.to_string().contains("are not gzip members of their own"), "{error}");
            assert!(error.hint().unwrap().to_string().contains("without `.gz`"));
            assert_eq!(error.code(), "shared_member");
        }
        refuse_shared_members(&corpus, Some("out.warc".as_ref())).unwrap();
        let (kept, _) = parted(&folder, name, &[0, 1, 2], "out.warc");
        assert_eq!(kept, records.concat(), "{name}");
        let mut out = Output::create(&folder.path("out.warc.gz"), Overwrite::Refuse).unwrap();
        let none = std::iter::empty();
        let copied = copy_records(
            &corpus,
            0..1,
            none,
            OutputVerdict::Kept,
            format(&corpus),
            &mut out,
            TableCompression::Keep,
        );
        assert_eq!(copied.unwrap_err().code(), "shared_member");
    }
}

#[test]
fn a_file_that_changes_is_not_copied() {
    let folder = Folder::new();
    folder.write("a.warc.gz", members(&crawl()).concat());
    let corpus = folder.open(&["a.warc.gz"]).unwrap();
    folder.write("a.warc.gz", gzip(&text("b", "Another file.")));
    let mut out = Output::create(&folder.path("out.warc.gz"), Overwrite::Refuse).unwrap();
    let copied = copy_records(
        &corpus,
        0..1,
        std::iter::empty(),
        OutputVerdict::Kept,
        format(&corpus),
        &mut out,
        TableCompression::Keep,
    );
    assert_eq!(copied.unwrap_err().code(), "changed");
}

#[test]
fn a_record_without_an_end_gets_one_before_the_next() {
    let folder = Folder::new();
    let (first, second) = (text("a", "One.\n\n"), text("b", "Two."));
    folder.write("a.warc", &first[..first.len() - 4]);
    folder.write("b.warc", &second[..second.len() - 4]);
    let corpus = folder.open(&["a.warc", "b.warc"]).unwrap();
    let kept = places(&scan(&corpus, 1));
    folder.copy(&corpus, &kept, "out.warc", TableCompression::Keep);
    let expected = [&first[..], &second[..second.len() - 4]].concat();
    assert_eq!(folder.bytes("out.warc"), expected);
    folder.copy(&corpus, &kept, "out.warc.gz", TableCompression::Keep);
    assert_eq!(unpacked(&folder.bytes("out.warc.gz")), expected);
    assert_eq!(scan(&folder.open(&["out.warc.gz"]).unwrap(), 1).len(), 2);
}

#[test]
fn each_file_of_a_folder_is_written_under_its_name() {
    let folder = Folder::new();
    let records = crawl();
    let packed = members(&records);
    folder.write("in/a.warc.gz", packed.concat());
    folder.write("in/sub/b.warc", records.concat());
    folder.write("in/c.wet", "");
    let corpus = folder.open(&["in"]).unwrap();
    let kept: Vec<RecordPlace> = places(&scan(&corpus, 1));
    let out = OutputFolder::create(&folder.path("out"), Overwrite::Refuse).unwrap();
    let kept = [kept[0], kept[4]].into_iter();
    copy_each(&corpus, kept, OutputVerdict::Kept, None, &out, TableCompression::Keep).unwrap();
    out.finish().unwrap();
    assert_eq!(folder.bytes("out/a.warc.gz"), joined(&packed, &[0, 1, 2, 3, 10, 11]));
    assert_eq!(folder.bytes("out/sub/b.warc"), joined(&records, &[0, 4, 5, 6, 10, 11]));
    assert_eq!(folder.bytes("out/c.wet"), b"");
}

#[test]
fn a_file_without_documents_is_empty_or_passed_on() {
    let folder = Folder::new();
    folder.write("empty.warc", "");
    folder.write("blank.warc", "\r\n\r\n");
    folder.write("empty.warc.gz", gzip(b""));
    for name in ["empty.warc", "blank.warc", "empty.warc.gz"] {
        let corpus = folder.open(&[name]).unwrap();
        assert_eq!(scan(&corpus, 1).len(), 0, "{name}");
        let out = format!("copy-{name}");
        folder.copy(&corpus, &[], &out, TableCompression::Keep);
        let bytes = folder.bytes(&out);
        assert_eq!(if name.ends_with("gz") { unpacked(&bytes) } else { bytes }, b"", "{name}");
    }
    // WAT files contain only metadata.
    let metadata = record("metadata", "a", "", "{}");
    folder.write("a.wat", &metadata);
    let corpus = folder.open(&["a.wat"]).unwrap();
    folder.copy(&corpus, &[], "out.wat", TableCompression::Keep);
    assert_eq!(folder.bytes("out.wat"), metadata);
}

#[test]
fn records_are_not_annotated() {
    let folder = Folder::new();
    folder.write("a", text("a", "One."));
    let format = InputFormat::Only(Format::WARC);
    let corpus = folder.open_with(&["a"], &ReadOptions::default().format(format)).unwrap();
    let error = refuse_annotation(&corpus).unwrap_err();
    assert_eq!(error.to_string(), "WARC records have no room for annotations");
    assert!(error.hint().unwrap().to_string().contains("clusters.jsonl"));
}

#[test]
fn large_files_are_cut_between_records() {
    let folder = Folder::new();
    let records: Vec<Vec<u8>> =
        (0..50).map(|number| text(&number.to_string(), &"x".repeat(100_000 + number))).collect();
    let large = text("large", &"y".repeat(3 << 20));
    folder.write("a.wet", [records[..30].concat(), large, records[30..].concat()].concat());
    let corpus = folder.open(&["a.wet"]).unwrap();
    let one = scan(&corpus, u64::MAX);
    assert_eq!(one.len(), 51);
    assert!(corpus.chunks(1).len() >= 6);
    assert_eq!(scan(&corpus, 1), one);
    assert_read_again(&corpus, &one[28..33]);
}
