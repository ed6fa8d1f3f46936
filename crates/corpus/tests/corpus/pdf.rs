//! PDF files, written here byte by byte.

use minwise_corpus::{DocumentFormat, ExtractLimits, MarkPlace, Refusal, extract};

use crate::support::{Folder, Record, assert_read_again, scan};

/// A file of these objects, numbered from 1; the first is the catalogue. `more` goes into the trailer.
fn pdf(objects: &[String], more: &str) -> Vec<u8> {
    let (mut file, mut offsets) = ("%PDF-1.7\n".to_owned(), vec![]);
    for (number, object) in (1..).zip(objects) {
        offsets.push(file.len());
        file += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let start = file.len();
    file += &format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1);
    for offset in &offsets {
        file += &format!("{offset:010} 00000 n \n");
    }
    file += &format!("trailer << /Size {} /Root 1 0 R {more} >>\n", offsets.len() + 1);
    file += &format!("startxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

fn stream(dictionary: &str, content: &str) -> String {
    format!("<< /Length {} {dictionary} >>\nstream\n{content}\nendstream", content.len())
}

const FONT: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

/// A file with one page for each content, which may use the font `F` and draw what `drawn` has.
fn pages(contents: &[&str], drawn: &str, more_objects: &[String], more: &str) -> Vec<u8> {
    let first = 4 + more_objects.len();
    let kids: Vec<String> = (0..contents.len()).map(|page| format!("{} 0 R", first + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>".to_owned(),
        format!(
            "<< /Type /Pages /Count {} /Kids [{}] /MediaBox [0 0 600 800] >>",
            kids.len(),
            kids.join(" ")
        ),
        FONT.to_owned(),
    ];
    objects.extend_from_slice(more_objects);
    for (page, content) in contents.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /Contents {} 0 R /Resources << /Font << /F 3 0 R >> /XObject << {drawn} >> >> >>",
            first + 2 * page + 1
        ));
        objects.push(stream("", content));
    }
    pdf(&objects, more)
}

fn line(text: &str) -> String {
    format!("BT /F 12 Tf 50 700 Td ({text}) Tj ET")
}

fn refused(bytes: &[u8]) -> Refusal {
    extract(bytes, None, &ExtractLimits::default()).unwrap_err()
}

#[test]
fn pages_are_marked_and_properties_read() {
    let contents = [line("A rose"), "0 0 m".to_owned(), line("is a rose \\351")];
    let info = "<< /Title <FEFF004F006E0020726B> /Author (G. S.) /CreationDate (D:20240501120000Z) >>";
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    let bytes = pages(&contents, "", &[info.to_owned()], "/Info 4 0 R");
    let found = extract(&bytes, Some("a.txt"), &ExtractLimits::default()).unwrap();
    assert_eq!(found.format, DocumentFormat::Pdf);
    assert_eq!(found.text, "A rose\nis a rose é\n");
    let marks: Vec<_> = found.marks.iter().map(|mark| (mark.offset, mark.place)).collect();
    assert_eq!(marks, [(0, MarkPlace::Page(1)), (7, MarkPlace::Page(3))]);
    assert_eq!(found.title.as_deref(), Some("On 牫"));
    let expected = [("author", "G. S."), ("created", "2024-05-01T12:00:00Z"), ("language", "en-GB")];
    assert_eq!(found.metadata.iter().map(|(key, value)| (&**key, &**value)).collect::<Vec<_>>(), expected);
}

#[test]
fn forms_are_text_and_pictures_are_not() {
    let form =
        stream("/Type /XObject /Subtype /Form /Resources << /Font << /F 3 0 R >> >>", &line("in a form"));
    let picture = stream("/Type /XObject /Subtype /Image /Width 1 /Height 1", &line("in a picture"));
    let bytes = pages(&["/A Do /B Do"], "/A 4 0 R /B 5 0 R", &[form, picture.clone()], "");
    assert_eq!(extract(&bytes, None, &ExtractLimits::default()).unwrap().text, "in a form\n");
    let bytes = pages(&["/A Do"], "/A 4 0 R", &[picture], "");
    assert_eq!(refused(&bytes), Refusal::OnlyPictures);
}

/// `pdf-extract` panics over an operator that lacks its operands, and `lopdf` does not look at it.
#[test]
fn a_page_that_makes_the_reader_panic_is_read_in_another_way() {
    let broken = format!("{} 1 cm", line("A rose"));
    let bytes = pages(&[&line("one"), &broken], "", &[], "");
    let found = extract(&bytes, None, &ExtractLimits::default()).unwrap();
    assert_eq!(found.text, "one\nA rose\n");
}

#[test]
fn a_file_that_nothing_can_read_is_a_reject_and_the_rest_is_read() {
    let folder = Folder::new();
    // Neither way goes on without the font that is asked for.
    let broken = pages(&["BT /F 12 Tf /G 1 Tf (a) Tj ET"], "", &[], "");
    folder.write("in/a.pdf", broken);
    folder.write("in/b.pdf", b"%PDF-1.7\nnothing of the kind");
    folder.write("in/c.pdf", pages(&[&line("A rose")], "", &[], ""));
    let corpus = folder.open(&["in"]).unwrap();
    let records = scan(&corpus, 1 << 20);
    let codes: Vec<_> = records.iter().map(Record::code).collect();
    assert_eq!(codes, ["damaged", "damaged", "ok"]);
    assert_eq!(records[2].text(), "A rose\n");
    assert_read_again(&corpus, &records);
}

#[test]
fn encryption_is_told() {
    let standard = "<< /Filter /Standard /V 1 /R 2 /P -4 \
                    /O <0000000000000000000000000000000000000000000000000000000000000000> \
                    /U <0000000000000000000000000000000000000000000000000000000000000000> >>";
    let id = "/Encrypt 4 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]";
    let bytes = pages(&[&line("A rose")], "", &[standard.to_owned()], id);
    assert_eq!(refused(&bytes), Refusal::Encrypted);
}

#[test]
fn what_never_ends_is_refused() {
    let itself = stream("/Subtype /Form /Resources << /XObject << /A 4 0 R >> >>", "/A Do");
    let bytes = pages(&["/A Do"], "/A 4 0 R", &[itself], "");
    assert_eq!(refused(&bytes), Refusal::TooDeep { limit: 256 });
    // Without resources of its own it would have those of the page, and with them itself.
    let inherited = stream("/Subtype /Form", "/A Do");
    let bytes = pages(&["/A Do"], "/A 4 0 R", &[inherited], "");
    assert!(extract(&bytes, None, &ExtractLimits::default()).is_err());
    let catalog = "<< /Type /Catalog /Pages 2 0 R >>".to_owned();
    let circle = "<< /Type /Pages /Count 1 /Kids [3 0 R] /Parent 3 0 R >>".to_owned();
    let page = "<< /Type /Page /Parent 2 0 R >>".to_owned();
    assert_eq!(refused(&pdf(&[catalog, circle, page], "")), Refusal::TooDeep { limit: 256 });
}

#[test]
fn tables_of_characters_do_not_fill_the_memory() {
    let table = "1 begincodespacerange <0000> <ffff> endcodespacerange \
                 1 beginbfrange <00000000> <fffffff0> <0041> endbfrange";
    let font =
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 5 0 R >>";
    let font_for_page = "BT /F 12 Tf 50 700 Td (A rose) Tj ET";
    let form = stream("/Subtype /Form /Resources << /Font << /F 4 0 R >> >>", font_for_page);
    let bytes = pages(&["/A Do"], "/A 6 0 R", &[font.to_owned(), stream("", table), form], "");
    assert_eq!(extract(&bytes, None, &ExtractLimits::default()).unwrap().text, "A rose\n");
}

#[test]
fn pages_time_and_size_are_limited() {
    let contents: Vec<String> = (0..5).map(|page| line(&page.to_string())).collect();
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    let bytes = pages(&contents, "", &[], "");
    let limits = ExtractLimits::default().pages(4);
    assert_eq!(extract(&bytes, None, &limits), Err(Refusal::TooManyPages { pages: 5, limit: 4 }));
    let limits = ExtractLimits::default().time(std::time::Duration::ZERO);
    assert_eq!(extract(&bytes, None, &limits), Err(Refusal::TooSlow { limit_ms: 0 }));
    let limits = ExtractLimits::default().unfolded_bytes(5);
    assert_eq!(extract(&bytes, None, &limits), Err(Refusal::TooLarge { bytes: 6, limit: 5 }));
}
