//! Tests of folders of documents of many kinds.

use std::io::{Cursor, Write};
use std::time::{Duration, Instant};

use minwise_corpus::{
    DocumentFormat, ExtractLimits, Format, InputFormat, Layout, ReadOptions, Refusal, RejectReason, extract,
};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::{Folder, Record, assert_read_again, gzip, scan};

/// Makes a zip archive of these parts.
pub fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Makes a Word document with this body.
pub fn docx(body: &str) -> Vec<u8> {
    let types = "<Types><Override PartName='/word/document.xml' \
                 ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/></Types>";
    let relationships = "<R><Relationship Id='1' Type='http://schemas.openxmlformats.org/officeDocument/2006/\
                         relationships/officeDocument' Target='word/document.xml'/></R>";
    let body = format!("<w:document><w:body>{body}</w:body></w:document>");
    archive(&[("[Content_Types].xml", types), ("_rels/.rels", relationships), ("word/document.xml", &body)])
}

/// Makes an OpenDocument text with this body.
fn odt(body: &str) -> Vec<u8> {
    let content =
        format!("<office:document-content><office:text>{body}</office:text></office:document-content>");
    archive(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", &content)])
}

fn refused(bytes: &[u8], limits: &ExtractLimits) -> Refusal {
    extract(bytes, None, limits).unwrap_err()
}

#[test]
fn a_folder_of_documents_is_a_corpus() {
    let folder = Folder::new();
    folder.write("in/a.docx", docx("<w:p><w:r><w:t>A rose</w:t></w:r></w:p>"));
    // The file is an OpenDocument text despite its name.
    folder.write("in/b.txt", odt("<text:p>is a rose</text:p>"));
    folder.write("in/c.html", "<title>x</title><p>is a&nbsp;rose");
    folder.write("in/d.md", "---\ntitle: x\n---\n# is\na rose");
    folder.write("in/e", "plain <b>rose</b>");
    folder.write("in/f.html.gz", gzip(b"<p>zipped"));
    let corpus = folder.open(&["in"]).unwrap();
    assert_eq!((corpus.format(), corpus.layout()), (Some(Format::DOCUMENT), Layout::Texts));
    let records = scan(&corpus, 1 << 20);
    let found: Vec<_> = records.iter().map(|record| (record.maybe_id().unwrap(), record.text())).collect();
    let expected = [
        ("a.docx", "A rose\n"),
        ("b.txt", "is a rose\n"),
        ("c.html", "is a\u{a0}rose\n"),
        ("d.md", "# is\na rose"),
        ("e", "plain <b>rose</b>"),
        ("f.html.gz", "zipped\n"),
    ];
    assert_eq!(found, expected);
    assert_read_again(&corpus, &records);
    // A resumed run reads records without a scan, so the corpus is opened again here.
    assert_read_again(&folder.open(&["in"]).unwrap(), &records);
}

#[test]
fn a_name_does_not_outweigh_a_magic_number() {
    let folder = Folder::new();
    let types = "<T><Override PartName='/b.xml' ContentType='x.spreadsheetml.sheet.main+xml'/></T>";
    let relationships = "<R><Relationship Type='x/officeDocument' Target='b.xml'/></R>";
    folder.write("a.csv", archive(&[("[Content_Types].xml", types), ("_rels/.rels", relationships)]));
    let records = scan(&folder.open(&["a.csv"]).unwrap(), 99);
    assert_eq!(records[0].reject().reason.to_string(), "it is an Excel workbook; save its sheets as CSV");
}

#[test]
fn a_text_is_read_as_it_is_if_it_is_said_to_be_one() {
    let folder = Folder::new();
    folder.write("in/c.html", "<p>a rose");
    folder.write("in/d.md", "---\na: b\n---\ntext");
    let options = ReadOptions::default().format(InputFormat::Only(Format::TEXT));
    let records = scan(&folder.open_with(&["in"], &options).unwrap(), 99);
    assert_eq!(records[0].text(), "<p>a rose");
    assert_eq!(records[1].text(), "---\na: b\n---\ntext");
}

#[test]
fn a_bad_file_is_a_reject_with_its_reason_and_the_rest_is_read() {
    let folder = Folder::new();
    folder.write("in/a.txt", "a rose");
    folder.write("in/b.bin", b"\x00\xff\x00\xfe binary");
    folder.write("in/c.png", b"\x89PNG\r\n\x1a\n\0\0");
    folder.write("in/d.docx", &docx("<w:p/>")[..100]);
    folder.write("in/e.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t\0");
    folder.write("in/f.txt", b"na\xefve");
    folder.write("in/g.txt", [b"na\xefve".repeat(1000), vec![0]].concat());
    let corpus = folder.open(&["in"]).unwrap();
    assert_eq!(corpus.skipped().len(), 1, "the binary file is no document");
    let records = scan(&corpus, 1 << 20);
    let codes: Vec<_> = records.iter().map(Record::code).collect();
    assert_eq!(codes, ["ok", "only_pictures", "damaged", "unsupported", "invalid_utf8", "unsupported"]);
    let reject = records[3].reject();
    assert_eq!(reject.id.as_deref(), Some("e.doc"));
    assert_eq!(
        reject.to_string(),
        "record `e.doc`: it is a Word document of before 2007 (`.doc`); save it as `.docx` or PDF"
    );
}

#[test]
fn the_record_limit_holds_for_what_unfolds() {
    let folder = Folder::new();
    let paragraph = format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "rose ".repeat(20_000));
    folder.write("a.docx", docx(&paragraph));
    let options = ReadOptions::default().max_record_bytes(50_000);
    let records = scan(&folder.open_with(&["a.docx"], &options).unwrap(), 99);
    let refusal = Refusal::TooLarge { bytes: 50_001, limit: 50_000 };
    assert_eq!(records[0].reject().reason, RejectReason::NoText { refusal });
    assert_eq!(records[0].code(), "too_large");
}

#[test]
fn hostile_archives_are_bounded() {
    let limits = ExtractLimits::default().unfolded_bytes(1 << 20);
    let zeros = "0".repeat(4 << 20);
    assert_eq!(
        refused(&docx(&format!("<w:p><w:t>{zeros}</w:t></w:p>")), &limits),
        Refusal::TooLarge { bytes: (1 << 20) + 1, limit: 1 << 20 }
    );
    let deep = format!("{}{}", "<text:section>".repeat(100_000), "</text:section>".repeat(100_000));
    let deep = odt(&deep);
    assert_eq!(refused(&deep, &ExtractLimits::default()), Refusal::TooDeep { limit: 256 });
    let content = "<!DOCTYPE d [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]><d><text:p>&b;</text:p></d>";
    let laughs =
        archive(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", content)]);
    let refusal = refused(&laughs, &ExtractLimits::default()).to_string();
    assert_eq!(refusal, "it is broken: it declares entities, as documents do not");
    let whole = odt("<text:p>a rose</text:p>");
    for end in (4..whole.len()).step_by(7) {
        assert!(matches!(refused(&whole[..end], &ExtractLimits::default()), Refusal::Broken { .. }), "{end}");
    }
    let names = archive(&[("/etc/passwd", "x"), ("../../x", "y")]);
    assert!(matches!(refused(&names, &ExtractLimits::default()), Refusal::Unsupported { .. }));
    let small = ExtractLimits::default().bytes(10);
    assert!(matches!(refused(b"eleven bytes", &small), Refusal::TooLarge { bytes: 12, limit: 10 }));
}

/// Joins `number` parts. The closure `one` makes each part from its number.
fn many(number: usize, one: impl Fn(usize) -> String) -> String {
    (0..number).map(one).collect()
}

/// Reads a document that would take minutes if the time grew with the square of its size.
fn read_in_time(bytes: &[u8]) -> Result<String, Refusal> {
    let begun = Instant::now();
    let found = extract(bytes, None, &ExtractLimits::default());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    found.map(|found| found.text)
}

#[test]
fn a_tag_of_a_million_attributes_is_read_in_time() {
    let attributes = many(1_000_000, |number| format!(" a{number}"));
    let page = format!("<!doctype html><p>one<p{attributes}>two</p{attributes}>three<p {attributes}");
    assert_eq!(read_in_time(page.as_bytes()).unwrap(), "one\ntwo\nthree\n");
}

#[test]
fn a_presentation_of_very_many_slides_is_read_in_time() {
    let kind = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml";
    let types = format!("<T><Override PartName='/p.xml' ContentType='{kind}'/></T>");
    let number = 300_000;
    let slides = many(number, |slide| format!("<sldId r:id='x{slide}'/>"));
    let related =
        many(number, |slide| format!("<Relationship Id='r{slide}' Type='x/slide' Target='s.xml'/>"));
    let bytes = archive(&[
        ("[Content_Types].xml", &types),
        ("_rels/.rels", "<R><Relationship Type='x/officeDocument' Target='p.xml'/></R>"),
        ("p.xml", &format!("<p>{slides}<sldId r:id='r7'/></p>")),
        ("_rels/p.xml.rels", &format!("<R>{related}</R>")),
        ("s.xml", "<sld><p><t>one</t></p></sld>"),
    ]);
    assert_eq!(read_in_time(&bytes).unwrap(), "one\n");
}

#[test]
fn a_book_of_very_many_chapters_is_read_in_time() {
    let number = 100_000;
    let encrypted = many(number, |font| format!("<CipherReference URI='fonts/{font}'/>"));
    let book = format!(
        "<p><item id='a' href='a.html'/><item id='b' href='{}'/><item id='c' href='c.html'/>{}<itemref idref='c'/></p>",
        "b".repeat(1 << 20),
        "<itemref idref='a'/><itemref idref='b'/>".repeat(number),
    );
    let bytes = archive(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", "<c><rootfile full-path='book.opf'/></c>"),
        ("META-INF/encryption.xml", &format!("<e>{encrypted}</e>")),
        ("book.opf", &book),
        ("a.html", ""),
        ("c.html", "<p>one"),
    ]);
    assert_eq!(read_in_time(&bytes).unwrap(), "one\n");
}

#[test]
fn names_are_only_asked_where_bytes_do_not_tell() {
    let format = |bytes: &[u8], name| extract(bytes, name, &ExtractLimits::default()).unwrap().format;
    assert_eq!(format(&docx("<w:p/>"), Some("a.html")), DocumentFormat::Docx);
    assert_eq!(format(b"<!doctype html>", Some("a.md")), DocumentFormat::Html);
    assert_eq!(format(b"# A", Some("a.MD")), DocumentFormat::Markdown);
    assert_eq!(format(b"# A", None), DocumentFormat::Text);
}
