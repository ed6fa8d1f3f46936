//! Fuzz target for text extraction from documents of every kind. The documents are made from the bytes of the fuzzer.
//!
//! Archives have checksums of their parts, so damage is found before any part is parsed. Therefore the target puts the
//! bytes of the fuzzer into a valid archive, as the part that has the text.

use std::io::{Cursor, Write};
use std::time::Duration;

use minwise_corpus::{ExtractLimits, Extracted, Refusal};
use zip::write::SimpleFileOptions;

/// Number of kinds of documents that are made from the bytes. The first byte chooses the kind.
const KINDS: usize = 6;

/// Checks that a file gives text or is refused. The marks of a text must be in ascending order, and a character must
/// follow each mark.
pub fn extract(bytes: &[u8]) {
    match found(bytes) {
        Some(Ok(found)) => {
            assert!(found.marks.is_sorted_by_key(|mark| mark.offset));
            for mark in &found.marks {
                let rest = found.text.get(mark.offset..).expect("a mark stands between two characters");
                assert!(
                    rest.starts_with(|first: char| !first.is_whitespace()),
                    "a mark stands before a character"
                );
            }
        }
        Some(Err(refusal)) => assert!(!refusal.to_string().is_empty()),
        None => {}
    }
}

fn found(bytes: &[u8]) -> Option<Result<Extracted, Refusal>> {
    let (which, content) = bytes.split_first()?;
    let (file, name) = match *which as usize % KINDS {
        0 => (content.to_vec(), None),
        1 => (content.to_vec(), Some("a.html")),
        2 => (content.to_vec(), Some("a.md")),
        3 => (office(content, "wordprocessingml"), None),
        4 => (open_document(content), None),
        _ => (book(content), None),
    };
    let limits = ExtractLimits::default().unfolded_bytes(16 << 20).time(Duration::from_secs(20));
    Some(minwise_corpus::extract(&file, name, &limits))
}

/// Returns valid documents, one of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let docx = "<w:d><w:p><w:r><w:t xml:space='preserve'>A &amp; b</w:t><w:tab/><w:br/></w:r></w:p><w:tbl><w:tr><w:tc>\
                <w:p><w:del><w:r><w:t>x</w:t></w:r></w:del><w:t>c</w:t></w:p></w:tc></w:tr></w:tbl></w:d>";
    let odt = "<!DOCTYPE c><c><text:h>A</text:h><text:p>b<text:s text:c='3'/>&#x4e2d;<text:note><text:note-body>\
               <text:p>n</text:p></text:note-body></text:note></text:p><![CDATA[x]]></c>";
    let html = "<!doctype html><meta charset=utf-8><title>T</title><script>1<2</script><p>a&nbsp;b<pre> c\n</pre>\
                <template><p>d</template><ul><li>e";
    let pdf = pdf();
    let kinds: [(u8, &[u8]); 6] = [
        (0, &pdf),
        (1, html.as_bytes()),
        (2, b"---\ntitle: x\n---\n# One\n```\n# two\n```\n"),
        (3, docx.as_bytes()),
        (4, odt.as_bytes()),
        (5, html.as_bytes()),
    ];
    let mut seeds: Vec<Vec<u8>> = kinds.iter().map(|(kind, content)| [&[*kind], *content].concat()).collect();
    seeds.extend(
        [office(docx.as_bytes(), "wordprocessingml"), book(html.as_bytes())]
            .map(|file| [&[0], &*file].concat()),
    );
    seeds
}

/// Makes a PDF of two pages with a form, and with properties.
fn pdf() -> Vec<u8> {
    let stream = |more: &str, content: &str| {
        format!("<< {more} /Length {} >>\nstream\n{content}\nendstream", content.len())
    };
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 2 /Kids [4 0 R 4 0 R] /MediaBox [0 0 600 800] >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F 3 0 R >> /XObject << /A 6 0 R >> >> >>"
            .to_owned(),
        stream("", "BT /F 12 Tf 50 700 Td [(A) 20 (rose)] TJ ET q /A Do Q"),
        stream("/Subtype /Form /Resources << /Font << /F 3 0 R >> >>", "BT /F 9 Tf 50 50 Td (form) Tj ET"),
        "<< /Title (T) >>".to_owned(),
    ];
    let (mut file, mut table) = ("%PDF-1.7\n".to_owned(), "0000000000 65535 f \n".to_owned());
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let (start, size) = (file.len(), objects.len() + 1);
    let trailer = format!("trailer << /Size {size} /Root 1 0 R /Info 7 0 R >>\nstartxref\n{start}\n%%EOF\n");
    format!("{file}xref\n0 {size}\n{table}{trailer}").into_bytes()
}

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a new name");
        zip.write_all(content).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

fn office(document: &[u8], kind: &str) -> Vec<u8> {
    let types = format!("<T><Override PartName='/d.xml' ContentType='x.{kind}.main+xml'/></T>");
    let relationships = b"<R><Relationship Type='x/officeDocument' Target='d.xml'/></R>";
    archive(&[("[Content_Types].xml", types.as_bytes()), ("_rels/.rels", relationships), ("d.xml", document)])
}

fn open_document(content: &[u8]) -> Vec<u8> {
    let kind = b"application/vnd.oasis.opendocument.text";
    archive(&[("mimetype", kind), ("content.xml", content), ("styles.xml", content), ("meta.xml", content)])
}

fn book(chapter: &[u8]) -> Vec<u8> {
    let package = b"<p><dc:title>T</dc:title><item id='a' href='a%2ehtml'/><itemref idref='a'/></p>";
    archive(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", b"<c><rootfile full-path='p.opf'/></c>"),
        ("p.opf", package),
        ("a.html", chapter),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_gives_text() {
        for seed in seeds() {
            let text = found(&seed).unwrap().map(|found| found.text);
            assert!(text.as_ref().is_ok_and(|text| !text.is_empty()), "{text:?}");
        }
    }
}
