//! Extracts the text of OpenDocument files.
//!
//! Paragraphs, headings, breaks and table cells end a line. The text of a note is inserted where the note is called,
//! on separate lines. Headers and footers follow the body, each once. Comments, deleted text in tracked changes, and
//! the pronunciation beside ruby text are not text. As the format prescribes, a run of white space is one space, and
//! several spaces are an element with a count.

use super::archive::OpenZip;
use super::properties;
use super::writing::TextWriter;
use super::xml::{self, Element, Enter, Visitor};
use super::{DocumentFormat, ExtractLimits, Extracted, Refusal};

/// Maximum number of spaces per element, because the count of the element may be any number.
const MOST_SPACES: usize = 1000;

/// Extracts the text of an OpenDocument text.
pub(super) fn extract(archive: &mut OpenZip<'_, '_>) -> Result<Extracted, Refusal> {
    let limits = archive.limits();
    if let Some(manifest) = archive.part("META-INF/manifest.xml")?
        && is_encrypted(&manifest, limits)?
    {
        return Err(Refusal::Encrypted);
    }
    let mut body = Body { writing: TextWriter::new(limits), paragraphs: 0, region: Region::Wanted };
    xml::visit(&archive.needed("content.xml")?, limits, &mut body)?;
    if let Some(styles) = archive.part("styles.xml")? {
        body.region = Region::Styles;
        xml::visit(&styles, limits, &mut body)?;
    }
    let (text, marks) = body.writing.finish()?;
    // If the properties are damaged, the document still has its text.
    let meta = archive.part("meta.xml").ok().flatten().unwrap_or_default();
    let (title, metadata) = properties::read(&meta, properties::OPEN_DOCUMENT, limits).unwrap_or_default();
    Ok(Extracted { title, metadata, marks, ..Extracted::new(DocumentFormat::Odt, text) })
}

/// Reports whether a manifest lists an encrypted part.
fn is_encrypted(manifest: &[u8], limits: &ExtractLimits) -> Result<bool, Refusal> {
    struct OdtManifest(bool);
    impl Visitor for OdtManifest {
        fn open(&mut self, element: &Element<'_>) -> Enter {
            self.0 |= element.name() == "encryption-data";
            Enter::Yes
        }

        fn characters(&mut self, _characters: &str) {}

        fn close(&mut self, _name: &str) {}
    }
    let mut seen = OdtManifest(false);
    xml::visit(manifest, limits, &mut seen)?;
    Ok(seen.0)
}

struct Body<'l> {
    writing: TextWriter<'l>,
    /// Number of open paragraphs. A frame in a paragraph may hold further paragraphs.
    paragraphs: usize,
    region: Region,
}

/// Region of a part that is being read. In the part of styles, only headers and footers are text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Wanted,
    Styles,
    HeaderOrFooter,
}

fn is_header_or_footer(name: &str) -> bool {
    name.starts_with("header") || name.starts_with("footer")
}

impl Visitor for Body<'_> {
    fn open(&mut self, element: &Element<'_>) -> Enter {
        let name = element.name();
        if self.region == Region::Styles {
            if is_header_or_footer(name) {
                self.region = Region::HeaderOrFooter;
            }
            return Enter::Yes;
        }
        match name {
            "annotation" | "tracked-changes" | "note-citation" | "ruby-text" | "forms" => return Enter::No,
            "p" | "h" => {
                self.writing.begin_paragraph();
                self.paragraphs += 1;
            }
            "s" => {
                let count = element.attribute("c").and_then(|count| count.parse().ok()).unwrap_or(1);
                self.writing.push(&" ".repeat(MOST_SPACES.min(count)));
            }
            "tab" => self.writing.push("\t"),
            "line-break" => self.writing.end_line(),
            _ => {}
        }
        Enter::Yes
    }

    fn characters(&mut self, characters: &str) {
        if self.paragraphs > 0 {
            self.writing.push_flowing(characters);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" | "h" if self.paragraphs > 0 => {
                self.writing.end_line();
                self.paragraphs -= 1;
            }
            name if self.region == Region::HeaderOrFooter && is_header_or_footer(name) => {
                self.region = Region::Styles;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::archive::tests::archive_of;
    use super::super::{MarkPlace, extract};
    use super::*;

    fn odt(body: &str, manifest: &str) -> Result<Extracted, Refusal> {
        let content =
            format!("<office:document-content><office:body>{body}</office:body></office:document-content>");
        let bytes = archive_of(&[
            ("mimetype", "application/vnd.oasis.opendocument.text"),
            ("content.xml", &content),
            ("META-INF/manifest.xml", manifest),
            (
                "styles.xml",
                "<s><text:p>style</text:p><style:header><text:p>header</text:p></style:header>\
                 <style:header-left/><text:p>x</text:p></s>",
            ),
            (
                "meta.xml",
                "<m><dc:title>On roses</dc:title><meta:creation-date>2024-05-01</meta:creation-date></m>",
            ),
        ]);
        extract(&bytes, None, &ExtractLimits::default())
    }

    #[test]
    fn paragraphs_spaces_and_notes() {
        let found = odt(
            "<text:h>A  rose</text:h>\n<text:p>is<text:s/><text:s text:c='2'/>a&#xe9;<text:tab/>b\n c<text:line-break/>d\
             <text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p>\
             </text:note-body></text:note>e</text:p><table:table-cell><text:p>f</text:p></table:table-cell>",
            "<m/>",
        )
        .unwrap();
        assert_eq!(found.format, DocumentFormat::Odt);
        assert_eq!(found.text, "A rose\nis   aé\tb c\nd\nnote\ne\nf\nheader\n");
        assert_eq!(found.place_of(8), Some(MarkPlace::Paragraph(2)));
        assert_eq!(found.title.as_deref(), Some("On roses"));
        assert_eq!(found.metadata.get("created").map(String::as_str), Some("2024-05-01"));
    }

    #[test]
    fn comments_and_deleted_text_are_not_text() {
        let found = odt(
            "<text:tracked-changes><text:p>a</text:p></text:tracked-changes>\
             <text:p>b<office:annotation><text:p>c</text:p></office:annotation>d\
             <text:ruby><text:ruby-base>漢</text:ruby-base><text:ruby-text>かん</text:ruby-text></text:ruby></text:p>",
            "<m/>",
        );
        assert_eq!(found.unwrap().text, "bd漢\nheader\n");
    }

    #[test]
    fn a_number_of_spaces_is_not_believed() {
        let found = odt("<text:p>a<text:s text:c='4000000000'/>b</text:p>", "<m/>").unwrap();
        assert_eq!(found.text.len(), "a\nb\nheader\n".len() - 1 + MOST_SPACES);
    }

    #[test]
    fn encryption_is_told() {
        let manifest = "<m><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></m>";
        assert_eq!(odt("<text:p>a</text:p>", manifest), Err(Refusal::Encrypted));
    }
}
