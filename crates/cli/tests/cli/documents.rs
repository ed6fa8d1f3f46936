//! Tests folders of Word, OpenDocument, HTML and text files.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::{Desk, prose, with_word};

/// Returns a zip archive of these parts.
fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns a Word document of one paragraph.
pub fn docx(text: &str) -> Vec<u8> {
    let types =
        "<T><Override PartName='/d.xml' ContentType='application/x.wordprocessingml.document.main+xml'/></T>";
    let relationships = "<R><Relationship Type='x/officeDocument' Target='d.xml'/></R>";
    let body = format!("<w:d><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:d>");
    archive(&[("[Content_Types].xml", types), ("_rels/.rels", relationships), ("d.xml", &body)])
}

/// Returns an OpenDocument text of one paragraph.
fn odt(text: &str) -> Vec<u8> {
    let content = format!("<c><text:p>{text}</text:p></c>");
    archive(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", &content)])
}

/// Returns a desk with two documents, their near-copies in other formats, and files that cannot be read.
fn desk() -> Desk {
    let desk = Desk::new();
    let (one, two) = (prose(1, 200), prose(2, 200));
    desk.write("in/one.docx", docx(&one));
    desk.write("in/two.html", format!("<title>Two</title><p>{two}"));
    desk.write("in/copies/one.odt", odt(&with_word(&one, 20, "other")));
    desk.write("in/copies/two.txt", &two);
    desk
}

#[test]
fn copies_in_other_formats_are_removed_and_the_rest_is_kept_byte_for_byte() {
    let desk = desk();
    let run = desk.run("dedup in -o out --report report").exit(0);
    assert_eq!(run.summary("removed").split(' ').next(), Some("2"), "{run}");
    let names: Vec<String> = desk.names().into_iter().filter(|name| name.starts_with("out/")).collect();
    assert_eq!(names, ["out/copies", "out/copies/one.odt", "out/copies/two.txt"]);
    assert_eq!(desk.bytes("out/copies/one.odt"), desk.bytes("in/copies/one.odt"));
    assert!(desk.text("report/pairs.tsv").contains("one.docx"));
    let run = desk.run("pairs in").exit(0);
    assert_eq!(run.lines().iter().filter(|line| line.contains("two.html")).count(), 1, "{run}");
}

#[test]
fn two_documents_of_different_kinds_are_compared() {
    let desk = desk();
    let run = desk.run("compare in/two.html in/copies/two.txt").exit(0);
    assert!(run.text().contains("similarity   100 % (Jaccard 1.000000, exact)\n"), "{run}");
    let run = desk.run("compare in/one.docx in/copies/one.odt --format jsonl").exit(0);
    assert!(run.text().contains("\"passages\":[{"), "{run}");
    // Read as plain text, the page includes its title and its tags.
    let run = desk.run("compare in/two.html in/copies/two.txt --input-format text").exit(0);
    assert!(!run.text().contains("similarity   100 %"), "{run}");
}

#[test]
fn what_cannot_be_read_is_told_and_does_not_stop_the_run() {
    let desk = desk();
    desk.write("in/cut.docx", &docx("text")[..99]);
    desk.write("in/old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t\0");
    desk.write("in/photo.txt", b"\xff\xd8\xff\xe0\0\x10JFIF");
    desk.write(
        "in/secret.docx",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0",
    );
    let run = desk.run("dedup in -o out --report report").exit(2);
    assert!(run.err.contains("in/secret.docx: it is encrypted; save it without a password"), "{run}");
    let codes: Vec<String> = desk
        .text("report/rejects.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["reason"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(codes, ["damaged", "unsupported", "only_pictures", "encrypted"]);
    let run = desk.run("compare in/old.doc in/one.docx").exit(2);
    assert!(run.err.contains("save it as `.docx` or PDF"), "{run}");
}
