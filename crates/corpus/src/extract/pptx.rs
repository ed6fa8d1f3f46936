//! Extracts the text of PowerPoint presentations since 2007 (Office Open XML).
//!
//! Slides come in the order of the presentation, each followed by its speaker notes. Paragraphs, breaks and table
//! cells end a line. The slide number, which is a field, is no text.

use std::collections::HashMap;

use super::archive::OpenZip;
use super::package::{self, Main};
use super::runs::TextRuns;
use super::writing::TextWriter;
use super::xml::{self, Element, Enter, Visitor};
use super::{DocumentFormat, Extracted, MarkPlace, Refusal};

/// Extracts the text of a presentation.
pub(super) fn extract(archive: &mut OpenZip<'_, '_>, main: &Main) -> Result<Extracted, Refusal> {
    let limits = archive.limits();
    let relationships = package::relationships(archive, &main.part)?;
    let mut order = SlideOrder(Vec::new());
    xml::visit(&archive.needed(&main.part)?, limits, &mut order)?;
    // If several relationships have the same id, the first counts.
    let by_id: HashMap<_, _> = relationships.iter().rev().map(|one| (one.id.as_str(), one)).collect();
    let mut slides = TextRuns::new(limits, open);
    for (number, id) in (1..).zip(order.0) {
        let Some(slide) = by_id.get(id.as_str()) else { continue };
        let slide = slide.target(&main.part);
        slides.writing.begin(MarkPlace::Slide(number));
        xml::visit(&archive.needed(&slide)?, limits, &mut slides)?;
        let related = package::relationships(archive, &slide)?;
        for notes in related.iter().filter(|relationship| relationship.kind == "notesSlide") {
            if let Some(part) = archive.part(&notes.target(&slide))? {
                xml::visit(&part, limits, &mut slides)?;
            }
        }
    }
    let (text, marks) = slides.writing.finish()?;
    let (title, metadata) = package::properties(archive);
    Ok(Extracted { title, metadata, marks, ..Extracted::new(DocumentFormat::Pptx, text) })
}

/// Ids of the relationships to the slides, in the order of the presentation.
struct SlideOrder(Vec<String>);

impl Visitor for SlideOrder {
    fn open(&mut self, element: &Element<'_>) -> Enter {
        if element.name() == "sldId" {
            self.0.extend(element.prefixed("id"));
        }
        Enter::Yes
    }

    fn characters(&mut self, _characters: &str) {}

    fn close(&mut self, _name: &str) {}
}

/// Skips slide numbers, which are no text.
fn open(element: &Element<'_>, _: &mut TextWriter<'_>) -> Enter {
    let is_number =
        element.name() == "fld" && element.attribute("type").is_some_and(|kind| kind == "slidenum");
    if is_number { Enter::No } else { Enter::Yes }
}

#[cfg(test)]
mod tests {
    use super::super::archive::tests::archive_of;
    use super::super::{ExtractLimits, extract};
    use super::*;

    #[test]
    fn slides_come_in_the_order_of_the_presentation() {
        let slide = |text: &str| format!("<p:sld><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>");
        let bytes = archive_of(&[
            (
                "[Content_Types].xml",
                "<Types><Override PartName='/ppt/presentation.xml' \
                 ContentType='application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml'/></Types>",
            ),
            ("_rels/.rels", "<R><Relationship Type='x/officeDocument' Target='ppt/presentation.xml'/></R>"),
            (
                "ppt/presentation.xml",
                "<p:presentation><p:sldIdLst><p:sldId id='1' r:id='r2'/><p:sldId id='2' r:id='r1'/></p:sldIdLst>\
                 </p:presentation>",
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                "<R><Relationship Id='r1' Type='x/slide' Target='slides/slide1.xml'/>\
                 <Relationship Id='r2' Type='x/slide' Target='slides/slide2.xml'/></R>",
            ),
            ("ppt/slides/slide1.xml", &slide("last")),
            ("ppt/slides/slide2.xml", &slide("first</a:t></a:r><a:br/><a:r><a:t>line")),
            (
                "ppt/slides/_rels/slide2.xml.rels",
                "<R><Relationship Type='x/notesSlide' Target='../notesSlides/n.xml'/></R>",
            ),
            (
                "ppt/notesSlides/n.xml",
                "<p:notes><a:p><a:t>say</a:t></a:p><a:fld type='slidenum'><a:t>1</a:t></a:fld></p:notes>",
            ),
        ]);
        let found = extract(&bytes, None, &ExtractLimits::default()).unwrap();
        assert_eq!(found.format, DocumentFormat::Pptx);
        assert_eq!(found.text, "first\nline\nsay\nlast\n");
        let marks: Vec<_> = found.marks.iter().map(|mark| (mark.offset, mark.place)).collect();
        assert_eq!(marks, [(0, MarkPlace::Slide(1)), (15, MarkPlace::Slide(2))]);
    }
}
