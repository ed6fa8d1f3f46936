//! Tests of PDF files, most of which are made here byte by byte.

use minwise_corpus::{DocumentFormat, ExtractLimits, MarkPlace, Refusal, extract};

use crate::support::{Folder, Record, assert_read_again, scan};

/// Makes a file of these objects, numbered from 1. The first object is the catalogue. `more` is added to the trailer.
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

/// Makes a file with one page per content. The pages may use the font `F` and the drawings in `drawn`.
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

fn text(bytes: &[u8]) -> String {
    extract(bytes, None, &ExtractLimits::default()).unwrap().text
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
    assert_eq!(refused(&pages(&["0 0 m 9 9 l S"], "", &[], "")), Refusal::OnlyPictures);
    // An empty page has no picture, so its text is empty and not refused.
    assert_eq!(text(&pages(&["0 0 m 9 9 l n"], "", &[], "")), "");
}

#[test]
fn operators_without_operands_are_passed_over() {
    let broken = format!("{} 1 cm", line("A rose"));
    let bytes = pages(&[&line("one"), &broken], "", &[], "");
    assert_eq!(text(&bytes), "one\nA rose\n");
}

#[test]
fn a_font_that_is_missing_is_replaced() {
    assert_eq!(text(&pages(&["BT /G 12 Tf (a rose) Tj ET"], "", &[], "")), "a rose\n");
    assert_eq!(text(&pages(&["BT (a rose) Tj ET"], "", &[], "")), "a rose\n");
}

#[test]
fn a_file_that_nothing_can_read_is_a_reject_and_the_rest_is_read() {
    let folder = Folder::new();
    let undecodable = stream("/Subtype /Form /Filter /ASCII85Decode", "v~>");
    folder.write("in/a.pdf", pages(&["/A Do"], "/A 4 0 R", &[undecodable], ""));
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
fn gaps_between_strings_are_spaces() {
    let shown = "BT /F 10 Tf 50 700 Td [(A) -300 (rose) 20 (s)] TJ 0 -12 Td (is) Tj 30 0 Td (a) Tj T* 8 TL (rose) ' ET";
    assert_eq!(text(&pages(&[shown], "", &[], "")), "A roses\nis a\nrose\n");
}

/// Makes a font of drawings with its own units. The font has two glyphs for the codes of `a` and `b`, with these
/// names.
fn drawn_font(names: &str) -> String {
    format!(
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 50 50] /FontMatrix [0.02 0 0 0.02 0 0] /FirstChar 97 /LastChar 98 \
         /Widths [25 25] /CharProcs << >> /Encoding << /Differences [97 {names}] >> >>"
    )
}

/// Makes a page that shows text with the font of object 4.
fn with_font(font: &str, shown: &str) -> Vec<u8> {
    let form = stream("/Subtype /Form /Resources << /Font << /F 4 0 R >> >>", shown);
    pages(&["/A Do"], "/A 5 0 R", &[font.to_owned(), form], "")
}

#[test]
fn letters_that_are_drawings_are_known_by_their_names_or_codes() {
    let shown = "BT /F 10 Tf 50 700 Td (ab) Tj 12 0 Td (a) Tj ET";
    assert_eq!(text(&with_font(&drawn_font("/eacute /uni4E00"), shown)), "é一 é\n");
    assert_eq!(text(&with_font(&drawn_font("/g1 /g2"), shown)), "ab a\n");
}

#[test]
fn numbers_of_published_glyphs_are_characters() {
    let font = |ordering: &str| {
        format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /Ming /Encoding /Identity-H /DescendantFonts \
             [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Ming /CIDSystemInfo \
             << /Registry (Adobe) /Ordering ({ordering}) /Supplement 0 >> >>] >>"
        )
    };
    let shown = "BT /F 10 Tf 50 700 Td <02530254> Tj ET";
    assert_eq!(text(&with_font(&font("CNS1"), shown)), "一乙\n");
    // A page of letters without names is refused for its unknown letters, not as a picture.
    let refusal = refused(&with_font(&font("Identity"), shown));
    assert_eq!(refusal, Refusal::UnknownLetters);
    assert_eq!(refusal.code(), "unknown_letters");
}

#[test]
fn a_text_that_is_stated_stands_for_its_glyphs() {
    let shown =
        "BT /F 10 Tf 50 700 Td (e) Tj /Span << /ActualText <FEFF00660066> >> BDC (xyz) Tj EMC (ect) Tj ET";
    assert_eq!(text(&pages(&[shown], "", &[], "")), "effect\n");
}

#[test]
fn accents_are_part_of_their_letters() {
    // TeX shows an accent, and then moves back to put the letter under it.
    let shown = "BT /F 10 Tf 50 700 Td [(Sch) (\\250) 390 (arfer)] TJ ET";
    assert_eq!(text(&pages(&[shown], "", &[], "")), "Scha\u{308}rfer\n");
}

#[test]
fn fields_of_forms_are_text() {
    let field = stream("/Subtype /Form /Resources << /Font << /F 3 0 R >> >>", &line("a rose"));
    let page = |flags: u32| {
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Count 1 /Kids [4 0 R] /MediaBox [0 0 600 800] >>".to_owned(),
            FONT.to_owned(),
            format!("<< /Type /Page /Parent 2 0 R /Annots [<< /F {flags} /AP << /N 5 0 R >> >>] >>"),
            field.clone(),
        ];
        pdf(&objects, "")
    };
    assert_eq!(text(&page(4)), "a rose\n");
    assert_eq!(text(&page(2)), "");
}

#[test]
fn objects_in_a_stream_are_found() {
    let page = "<< /Type /Page /Parent 2 0 R /Contents 7 0 R /Resources << /Font << /F 4 0 R >> >> >>";
    let inner = format!("3 0 4 {} {page} {FONT}", page.len() + 1);
    let first = inner.find("<<").unwrap();
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] /MediaBox [0 0 600 800] >>".to_owned(),
        "null".to_owned(),
        "null".to_owned(),
        "null".to_owned(),
        stream(&format!("/Type /ObjStm /N 2 /First {first}"), &inner),
        stream("", &line("A rose")),
    ];
    let plain = String::from_utf8(pdf(&objects, "")).unwrap();
    let (body, _) = plain.split_at(plain.rfind("xref\n0 ").unwrap());
    let at = |number: usize| body.find(&format!("{number} 0 obj")).unwrap();
    let rows = [
        (0, 0, 0),
        (1, at(1), 0),
        (1, at(2), 0),
        (2, 6, 0),
        (2, 6, 1),
        (0, 0, 0),
        (1, at(6), 0),
        (1, at(7), 0),
    ];
    let table = rows.map(|(kind, place, index)| format!("{kind:02x}{place:04x}{index:02x}")).concat();
    let table =
        stream("/Type /XRef /Size 8 /W [1 2 1] /Root 1 0 R /Filter /ASCIIHexDecode", &format!("{table}>"));
    let file = format!("{body}8 0 obj\n{table}\nendobj\nstartxref\n{}\n%%EOF\n", body.len());
    assert_eq!(text(file.as_bytes()), "A rose\n");
}

#[test]
fn a_file_without_a_table_of_objects_is_read() {
    let bytes = String::from_utf8(pages(&[&line("A rose")], "", &[], "")).unwrap();
    let (body, _) = bytes.split_at(bytes.rfind("xref\n0 ").unwrap());
    assert_eq!(text(format!("{body}trailer << /Root 1 0 R >>").as_bytes()), "A rose\n");
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

/// The file has one page and was encrypted by `qpdf --encrypt "" owner 128 --use-aes=y`: everybody may read the file,
/// and only its owner may change it.
#[test]
fn a_file_that_is_encrypted_without_a_password_is_read() {
    assert_eq!(text(include_bytes!("encrypted-for-all.pdf")), "A rose\n");
}

#[test]
fn endless_drawings_are_refused() {
    let itself = stream("/Subtype /Form /Resources << /XObject << /A 4 0 R >> >>", "/A Do");
    let bytes = pages(&["/A Do"], "/A 4 0 R", &[itself], "");
    // The parser finds nothing inside an object that contains itself.
    assert_eq!(text(&bytes), "");
    // A drawing without its own resources has the resources of the page, which contain the drawing itself.
    let inherited = stream("/Subtype /Form", "/A Do");
    let bytes = pages(&["/A Do"], "/A 4 0 R", &[inherited], "");
    assert_eq!(refused(&bytes), Refusal::TooDeep { limit: 256 });
    // Each drawing of the chain draws the next drawing twice.
    let tower: Vec<String> = (5..105)
        .map(|next| {
            stream(&format!("/Subtype /Form /Resources << /XObject << /A {next} 0 R >> >>"), "/A Do /A Do")
        })
        .chain([stream("/Subtype /Form", "")])
        .collect();
    let limits = ExtractLimits::default().time(std::time::Duration::from_millis(500));
    let bytes = pages(&["/A Do"], "/A 4 0 R", &tower, "");
    assert_eq!(extract(&bytes, None, &limits), Err(Refusal::TooSlow { limit_ms: 500 }));
    // A circle of parents does no harm, because pages are searched for downwards.
    let catalog = "<< /Type /Catalog /Pages 2 0 R >>".to_owned();
    let circle = "<< /Type /Pages /Count 1 /Kids [3 0 R 2 0 R] /Parent 3 0 R >>".to_owned();
    let page = "<< /Type /Page /Parent 2 0 R >>".to_owned();
    assert_eq!(text(&pdf(&[catalog, circle, page], "")), "");
}

#[test]
fn a_stream_that_is_named_many_times_is_counted_each_time() {
    let content = line(&"A rose ".repeat(1000));
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] /MediaBox [0 0 600 800] >>".to_owned(),
        format!("<< /Type /Page /Parent 2 0 R /Contents [{}] >>", "4 0 R ".repeat(20)),
        stream("", &content),
    ];
    let limits = ExtractLimits::default().unfolded_bytes(100_000);
    let refused = extract(&pdf(&objects, ""), None, &limits);
    assert_eq!(refused, Err(Refusal::TooLarge { bytes: 100_001, limit: 100_000 }));
}

#[test]
fn widths_of_glyphs_do_not_fill_the_memory() {
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /Ming /Encoding /Identity-H /DescendantFonts \
                [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Ming /W [0 4294967295 500] >>] >>";
    // Helvetica replaces the font, and the codes of Helvetica are single bytes.
    assert_eq!(text(&with_font(font, "BT /F 10 Tf 50 700 Td (A rose) Tj ET")), "A rose\n");
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
    // The table maps a space to the 32nd character behind `A`, and maps `A` itself to a control character.
    assert_eq!(text(&bytes), "a³°´¦\n");
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
