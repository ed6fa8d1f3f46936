//! Extracts the text of Word documents since 2007 (Office Open XML).
//!
//! The text of the body comes first. The texts of footnotes, endnotes, headers and footers follow, each part once.
//! Paragraphs, breaks and table cells end lines. If changes were tracked, inserted text is read, and text that was
//! deleted or moved away is not. The result of a field is read, and the code of the field is not. If a text box is
//! written twice, for new and for old programs, the new version is read.

use super::archive::OpenZip;
use super::package::{self, Main};
use super::runs::TextRuns;
use super::writing::TextWriter;
use super::xml::{self, Element, Enter};
use super::{DocumentFormat, Extracted, Refusal};

/// Kinds of the relationships that lead to parts whose text follows the body, in this order.
const AFTER_THE_BODY: [&str; 4] = ["footnotes", "endnotes", "header", "footer"];

/// Extracts the text of a Word document.
pub(super) fn extract(archive: &mut OpenZip<'_, '_>, main: &Main) -> Result<Extracted, Refusal> {
    let limits = archive.limits();
    let relationships = package::relationships(archive, &main.part)?;
    let mut body = TextRuns::new(limits, open);
    xml::visit(&archive.needed(&main.part)?, limits, &mut body)?;
    for kind in AFTER_THE_BODY {
        for relationship in relationships.iter().filter(|relationship| relationship.kind == kind) {
            if let Some(part) = archive.part(&relationship.target(&main.part))? {
                xml::visit(&part, limits, &mut body)?;
            }
        }
    }
    let (text, marks) = body.writing.finish()?;
    let (title, metadata) = package::properties(archive);
    Ok(Extracted { title, metadata, marks, ..Extracted::new(DocumentFormat::Docx, text) })
}

/// Handles the elements that `TextRuns` does not: writes elements that are text, and skips elements without text.
fn open(element: &Element<'_>, writing: &mut TextWriter<'_>) -> Enter {
    match element.name() {
        // Properties are skipped, because tab stops and marks of revision in them have the same names as tabs and
        // revisions of text.
        "pPr" | "rPr" | "tblPr" | "trPr" | "tcPr" | "sectPr" | "del" | "moveFrom" | "instrText" => {
            return Enter::No;
        }
        // Rulers above the notes are stored as notes whose type is not `normal`.
        "footnote" | "endnote" if element.attribute("type").is_some_and(|kind| kind != "normal") => {
            return Enter::No;
        }
        "p" => writing.begin_paragraph(),
        "tab" | "ptab" => writing.push("\t"),
        "cr" => writing.end_line(),
        "noBreakHyphen" => writing.push("\u{2011}"),
        _ => {}
    }
    Enter::Yes
}

#[cfg(test)]
mod tests {
    use super::super::archive::tests::archive_of;
    use super::super::{ExtractLimits, MarkPlace, extract};
    use super::*;

    const TYPES: &str = "<Types><Override PartName='/word/document.xml' ContentType='application/vnd.openxmlformats-\
                         officedocument.wordprocessingml.document.main+xml'/></Types>";
    const RELATIONSHIPS: &str = "<Relationships><Relationship Id='r1' Type='http://x/officeDocument' \
                                 Target='word/document.xml'/><Relationship Id='r2' Type='http://y/core-properties' \
                                 Target='docProps/core.xml'/></Relationships>";

    fn docx(body: &str) -> Extracted {
        let body = format!("<w:document><w:body>{body}</w:body></w:document>");
        let bytes = archive_of(&[
            ("[Content_Types].xml", TYPES),
            ("_rels/.rels", RELATIONSHIPS),
            ("word/document.xml", &body),
            (
                "word/_rels/document.xml.rels",
                "<Relationships><Relationship Type='z/header' Target='header1.xml'/>\
                 <Relationship Type='z/footnotes' Target='/word/footnotes.xml'/>\
                 <Relationship Type='z/hyperlink' Target='http://a.b' TargetMode='External'/></Relationships>",
            ),
            ("word/header1.xml", "<w:hdr><w:p><w:r><w:t>header</w:t></w:r></w:p></w:hdr>"),
            (
                "word/footnotes.xml",
                "<w:footnotes><w:footnote w:type='separator'><w:p><w:r><w:t>ruler</w:t></w:r></w:p></w:footnote>\
                 <w:footnote w:id='2'><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote></w:footnotes>",
            ),
            ("docProps/core.xml", "<c><dc:title>On roses</dc:title><dc:creator>G. S.</dc:creator></c>"),
        ]);
        extract(&bytes, Some("a.txt"), &ExtractLimits::default()).unwrap()
    }

    #[test]
    fn paragraphs_cells_breaks_and_tabs() {
        let found = docx(
            "<w:p><w:pPr><w:tabs><w:tab w:pos='1'/></w:tabs></w:pPr><w:r><w:t>A&amp;</w:t></w:r><w:r><w:t> b</w:t>\
             <w:tab/><w:t>c</w:t><w:br/><w:t>d</w:t></w:r></w:p><w:p/>\
             <w:tbl><w:tr><w:tc><w:p><w:r><w:t>e</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>f</w:t></w:r></w:p>\
             </w:tc></w:tr></w:tbl>",
        );
        assert_eq!(found.format, DocumentFormat::Docx);
        assert_eq!(found.text, "A& b\tc\nd\ne\nf\nnote\nheader\n");
        let marks: Vec<_> = found.marks.iter().map(|mark| (mark.offset, mark.place)).collect();
        let paragraph = MarkPlace::Paragraph;
        assert_eq!(
            marks,
            [
                (0, paragraph(1)),
                (9, paragraph(2)),
                (11, paragraph(3)),
                (13, paragraph(4)),
                (18, paragraph(5))
            ]
        );
        assert_eq!(found.place_of(10), Some(paragraph(2)));
        assert_eq!(found.title.as_deref(), Some("On roses"));
        assert_eq!(found.metadata.get("author").map(String::as_str), Some("G. S."));
    }

    #[test]
    fn deleted_text_and_codes_of_fields_are_not_text() {
        let found = docx(
            "<w:p><w:r><w:t>a </w:t></w:r><w:del><w:r><w:delText>b</w:delText></w:r></w:del>\
             <w:moveFrom><w:r><w:t>c</w:t></w:r></w:moveFrom><w:ins><w:r><w:t>d </w:t></w:r></w:ins>\
             <w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>7</w:t></w:r></w:p>\
             <w:p><mc:AlternateContent><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box</w:t></mc:Fallback>\
             </mc:AlternateContent></w:p>",
        );
        assert_eq!(found.text, "a d 7\nbox\nnote\nheader\n");
    }
}
