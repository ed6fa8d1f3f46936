//! Tests WARC and WET files as inputs and outputs.

use std::io::Read;

use crate::support::{Desk, gzip, prose, with_word};

/// Returns a WARC record. `headers` are further header lines, each with its line end.
fn record(kind: &str, id: &str, headers: &str, block: &str) -> Vec<u8> {
    let length = block.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    format!("{head}{block}\r\n\r\n").into_bytes()
}

/// Returns a record of a WET file.
fn wet(id: &str, text: &str) -> Vec<u8> {
    record("conversion", id, "Content-Type: text/plain\r\n", text)
}

/// Returns the request, the response and the metadata of a page.
fn visit(id: &str, date: &str, text: &str) -> [Vec<u8>; 3] {
    let concurrent = format!("WARC-Concurrent-To: <urn:uuid:{id}>\r\n");
    let page =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><p>{text}</p></body></html>");
    [
        record("request", &format!("{id}-request"), &concurrent, "GET / HTTP/1.1\r\n\r\n"),
        record("response", id, &format!("WARC-Date: {date}\r\n"), &page),
        record("metadata", &format!("{id}-metadata"), &concurrent, "fetchTimeMs: 1\r\n"),
    ]
}

/// Returns the records of a crawl: 0 is `warcinfo`, 1 to 3 are a page, 4 to 6 another page, 7 to 9 a later copy of the
/// first page, and 10 is a revisit.
fn crawl() -> Vec<Vec<u8>> {
    let text = prose(1, 80);
    let mut records = vec![record("warcinfo", "info", "", "software: test\r\n")];
    records.extend(visit("a", "2024-01-01T00:00:00Z", &text));
    records.extend(visit("b", "2024-01-02T00:00:00Z", &prose(2, 80)));
    records.extend(visit("c", "2024-01-03T00:00:00Z", &with_word(&text, 40, "changed")));
    records.push(record("revisit", "again", "", ""));
    records
}

fn joined(parts: &[Vec<u8>], numbers: &[usize]) -> Vec<u8> {
    numbers.iter().flat_map(|number| parts[*number].clone()).collect()
}

fn members(records: &[Vec<u8>]) -> Vec<Vec<u8>> {
    records.iter().map(|record| gzip(record)).collect()
}

#[test]
fn a_crawl_without_its_duplicates() {
    let records = crawl();
    let desk = Desk::with("in.warc", records.concat());
    let run = desk.run("dedup in.warc -o out.warc --removed gone.warc --report report").exit(0);
    assert_eq!((run.count("kept"), run.count("removed")), (2, 1), "{run}");
    assert!(run.err.contains("1 revisit record has no text and is kept"), "{run}");
    assert_eq!(desk.bytes("out.warc"), joined(&records, &[0, 1, 2, 3, 4, 5, 6, 10]));
    assert_eq!(desk.bytes("gone.warc"), joined(&records, &[0, 7, 8, 9]));
    assert!(desk.text("report/pairs.tsv").contains("urn:uuid:c"), "ids are those of the records");
}

#[test]
fn gzip_members_pass_through() {
    let packed = members(&crawl());
    let desk = Desk::with("in/a.warc.gz", packed.concat());
    desk.write("in/b.warc.gz", members(&[wet("d", &prose(2, 80)), wet("e", &prose(3, 80))]).concat());
    let run = desk.run("dedup in -o out.warc.gz").exit(0);
    assert_eq!(run.count("kept"), 3, "{run}");
    let kept = joined(&packed, &[0, 1, 2, 3, 4, 5, 6, 10]);
    let other = gzip(&wet("e", &prose(3, 80)));
    assert_eq!(desk.bytes("out.warc.gz"), [&kept[..], &other].concat());
    let mut content = String::new();
    flate2::read::MultiGzDecoder::new(&*desk.bytes("out.warc.gz")).read_to_string(&mut content).unwrap();
    assert_eq!(content.matches("WARC/1.0\r\n").count(), 9);
    desk.run("dedup in -o out/").exit(0);
    assert_eq!(desk.bytes("out/a.warc.gz"), kept);
    assert_eq!(desk.bytes("out/b.warc.gz"), other);
    // The output can be read as an input.
    let again = desk.run("dedup out -o again/").exit(0);
    assert_eq!(again.count("removed"), 0, "{again}");
    assert_eq!(desk.bytes("again/a.warc.gz"), kept);
}

#[test]
fn headers_decide_which_page_stays() {
    let records = crawl();
    let desk = Desk::with("in.warc", records.concat());
    desk.run("dedup in.warc -o out.warc --keep newest:WARC-Date").exit(0);
    assert_eq!(desk.bytes("out.warc"), joined(&records, &[0, 4, 5, 6, 7, 8, 9, 10]));
    desk.run("dedup in.warc -o out.warc --force --keep max:content-length").exit(0);
    assert_eq!(desk.bytes("out.warc"), joined(&records, &[0, 4, 5, 6, 7, 8, 9, 10]));
}

#[test]
fn threads_do_not_show() {
    let mut records = crawl();
    records.extend((0..200).map(|seed| wet(&format!("w{seed}"), &prose(seed % 70 + 10, 2000))));
    let desk = Desk::with("in.warc.gz", members(&records).concat());
    let written = |threads: u32| {
        let options = format!("--force -q --threads {threads}");
        desk.run(&format!("dedup in.warc.gz -o out.warc.gz --removed gone.warc.gz {options}")).exit(0);
        (desk.bytes("out.warc.gz"), desk.bytes("gone.warc.gz"))
    };
    let one = written(1);
    assert_eq!(written(4), one);
}

#[test]
fn one_member_for_all_records_is_refused_before_the_work() {
    let records = crawl();
    let desk = Desk::with("in.warc.gz", gzip(&records.concat()));
    insta::assert_snapshot!(desk.run("dedup in.warc.gz -o out.warc.gz"), @"
    exit 2
    --- stderr
    error: the records of `in.warc.gz` are not gzip members of their own, so that none can be copied as it is compressed

    hint: name an output without `.gz`, which gets the records decompressed, byte for byte
    ");
    assert_eq!(desk.names(), ["in.warc.gz"]);
    desk.run("dedup in.warc.gz -o out.warc").exit(0);
    assert_eq!(desk.bytes("out.warc"), joined(&records, &[0, 1, 2, 3, 4, 5, 6, 10]));
    let run = desk.run_with(&["dedup", "-", "-o", "-", "-q"], &desk.bytes("in.warc.gz")).exit(0);
    assert_eq!(run.out, desk.bytes("out.warc"));
}

#[test]
fn records_cannot_be_annotated() {
    let desk = Desk::with("in.warc", crawl().concat());
    insta::assert_snapshot!(desk.run("dedup in.warc -o out.warc --annotate"), @"
    exit 2
    --- stderr
    error: WARC records have no room for annotations

    hint: `--report DIR` writes the clusters of any input to `DIR/clusters.jsonl`
    ");
    assert_eq!(desk.names(), ["in.warc"]);
}

#[test]
fn a_record_that_breaks_off_is_a_reject() {
    let (text, last) = (wet("a", &prose(1, 50)), wet("b", &prose(2, 50)));
    let desk = Desk::with("in.wet", [&text[..], &last[..last.len() - 50]].concat());
    let run = desk.run("dedup in.wet -o out.wet").exit(2);
    assert_eq!(desk.bytes("out.wet"), text);
    assert!(run.err.contains("in.wet:2: not a WARC record: it ends after"), "{run}");
}

#[test]
fn a_format_can_be_named_and_a_file_can_be_empty() {
    let desk = Desk::with("in", wet("a", "网络上有很多重复的文章，它们常常只有几个字不同。"));
    desk.run("dedup in -o out --input-format warc").exit(0);
    assert_eq!(desk.bytes("out"), desk.bytes("in"));
    desk.write("empty.warc", "");
    desk.run("dedup empty.warc -o out.warc").exit(0);
    assert_eq!(desk.bytes("out.warc"), b"");
}

/// Returns records of several kinds: 0 to 10 are those of `crawl`, 11 and 12 a picture and its request, 13 an empty
/// redirect, 14 a video over the limit, and 15 a damaged page.
fn mixed_crawl() -> Vec<Vec<u8>> {
    let mut records = crawl();
    let of_picture = "WARC-Concurrent-To: <urn:uuid:picture>\r\n";
    let picture = "HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\n\r\nGIF89a";
    records.push(record("response", "picture", "", picture));
    records.push(record("request", "picture-request", of_picture, "GET /a.gif HTTP/1.1\r\n\r\n"));
    records.push(record(
        "response",
        "moved",
        "",
        "HTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    ));
    let video = format!("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n{}", "x".repeat(5000));
    records.push(record("response", "video", "", &video));
    let damaged = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\n\u{1}";
    records.push(record("response", "damaged", "", damaged));
    records
}

#[test]
fn records_without_text_are_skipped_counted_and_kept() {
    let records = mixed_crawl();
    let desk = Desk::with("in.warc", records[..15].concat());
    let way = "dedup in.warc -o out.warc --removed gone.warc --force --max-record 4KiB";
    let run = desk.run(&format!("{way} --report report")).exit(0);
    assert_eq!(run.summary("read").split(',').next(), Some("3 documents"), "{run}");
    assert_eq!((run.count("kept"), run.count("rejected")), (2, 0), "{run}");
    assert_eq!(run.summary("skipped"), "3 records without text");
    let kept = joined(&records, &[0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14]);
    assert_eq!(desk.bytes("out.warc"), kept);
    assert_eq!(desk.bytes("gone.warc"), joined(&records, &[0, 7, 8, 9]));
    assert_eq!(desk.json("report/summary.json")["skipped_records"], 3);
    assert!(
        desk.text("report/index.html").contains("3 records without text were not compared, and are kept.")
    );
    // The result does not depend on the threads or on the search.
    for option in [
        "--threads 4",
        "--candidates all",
        "--candidates sort-merge",
        "--measure containment --keep first",
        "--weight count",
        "--work work --keep-work",
        "--work work --resume",
    ] {
        let run = desk.run(&format!("{way} --log json {option}")).exit(0);
        assert!(run.err.contains("\"skipped_records\":3"), "{option}: {run}");
        assert_eq!(desk.bytes("out.warc"), kept, "{option}");
    }
    // A record that is no document needs no date.
    desk.run(&format!("{way} --keep newest:WARC-Date")).exit(0);
    assert_eq!(desk.bytes("out.warc"), joined(&records, &[0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]));
    desk.write("in.warc.gz", members(&records[..15]).concat());
    desk.run("dedup in.warc.gz -o out.warc.gz --max-record 4KiB").exit(0);
    assert_eq!(
        desk.bytes("out.warc.gz"),
        joined(&members(&records), &[0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14])
    );
}

#[test]
fn a_page_that_is_damaged_is_a_reject() {
    let records = mixed_crawl();
    let desk = Desk::with("in.warc", records.concat());
    let run = desk.run("dedup in.warc -o out.warc").exit(2);
    assert!(run.err.contains("1 record was rejected\n    in.warc:16: "), "{run}");
    assert_eq!(run.summary("skipped"), "3 records without text");
    // A crawl with only pictures is copied. A crawl whose only page is damaged is an error.
    desk.write("pictures.warc", records[11..14].concat());
    let run = desk.run("dedup pictures.warc -o pictures-out.warc").exit(0);
    assert_eq!((run.summary("read").split(',').next(), run.count("kept")), (Some("0 documents"), 0));
    assert_eq!(desk.bytes("pictures-out.warc"), records[11..14].concat());
    desk.write("bad.warc", joined(&records, &[11, 15]));
    desk.run("dedup bad.warc -o bad-out.warc").exit(2);
    assert!(!desk.path("bad-out.warc").exists());
}

#[test]
fn every_command_leaves_records_without_text_out() {
    let desk = Desk::with("in.warc", mixed_crawl()[..15].concat());
    desk.run("index create archive -q").exit(0);
    for command in [
        "pairs in.warc",
        "sketch in.warc -o sketches",
        "weights in.warc -o table",
        "index add archive in.warc",
        "check in.warc --index archive",
    ] {
        let run = desk.run(command).exit(i32::from(command.starts_with("check")));
        assert_eq!(run.summary("skipped"), "3 records without text", "{command}: {run}");
        // The displayed run has no times, because a rate could contain `6 documents`.
        assert!(!run.to_string().contains("6 documents"), "{command}: {run}");
    }
    assert_eq!(desk.run("index list archive").exit(0).lines().len(), 3);
    assert_eq!(
        desk.run("estimate sketches --threshold 0").exit(0).lines().len(),
        3,
        "pairs of three documents"
    );
    // References without text are not counted as documents either.
    let run = desk.run("dedup in.warc -o out.warc --against in.warc");
    assert!(run.err.contains("both a reference and an input"), "{run}");
    desk.write("other.warc", mixed_crawl()[11..15].concat());
    let run = desk.run("dedup in.warc -o out.warc --against other.warc").exit(0);
    assert!(!run.err.contains("reference "), "{run}");
}
