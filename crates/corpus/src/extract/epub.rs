//! Extracts the text of EPUB books: chapters of HTML, in reading order.

use std::collections::{HashMap, HashSet};

use super::archive::{OpenZip, resolve};
use super::html;
use super::properties;
use super::writing::TextWriter;
use super::xml::{self, Element, Enter, Visitor};
use super::{DocumentFormat, Extracted, MarkPlace, Refusal};

/// Extracts the text of a book.
pub(super) fn extract(archive: &mut OpenZip<'_, '_>) -> Result<Extracted, Refusal> {
    let limits = archive.limits();
    let mut container = Attributes { of: ("rootfile", "full-path"), values: Vec::new() };
    xml::visit(&archive.needed("META-INF/container.xml")?, limits, &mut container)?;
    let package = container.values.into_iter().next();
    let package = package.ok_or_else(|| Refusal::broken("nothing in it says where the book is"))?;
    let opf = archive.needed(&package)?;
    let mut book = Book::default();
    xml::visit(&opf, limits, &mut book)?;
    // Only an encrypted chapter makes a book unreadable. Books that can be read often list their fonts as encrypted.
    let mut encrypted = Attributes { of: ("CipherReference", "URI"), values: Vec::new() };
    if let Some(encryption) = archive.part("META-INF/encryption.xml")? {
        xml::visit(&encryption, limits, &mut encrypted)?;
    }
    let encrypted: HashSet<String> = encrypted.values.iter().map(|uri| resolve("", uri)).collect();
    let mut writing = TextWriter::new(limits);
    for (number, id) in (1..).zip(&book.spine) {
        let Some(target) = book.manifest.get(id) else { continue };
        let name = resolve(&package, target);
        if encrypted.contains(&name) {
            return Err(Refusal::Encrypted);
        }
        let Some(chapter) = archive.part(&name)? else { continue };
        writing.begin(MarkPlace::Chapter(number));
        html::write(&html::decode(&chapter).text, &mut writing);
        writing.check()?;
    }
    let (text, marks) = writing.finish()?;
    let (title, metadata) = properties::read(&opf, properties::EPUB, limits)?;
    Ok(Extracted { title, metadata, marks, ..Extracted::new(DocumentFormat::Epub, text) })
}

/// Visitor that collects the values of one attribute, of all elements with one name.
struct Attributes {
    of: (&'static str, &'static str),
    values: Vec<String>,
}

impl Visitor for Attributes {
    fn open(&mut self, element: &Element<'_>) -> Enter {
        let (name, attribute) = self.of;
        if element.name() == name {
            self.values.extend(element.attribute(attribute));
        }
        Enter::Yes
    }

    fn characters(&mut self, _characters: &str) {}

    fn close(&mut self, _name: &str) {}
}

/// Parts of a book by their ids, and ids of its chapters in reading order.
#[derive(Default)]
struct Book {
    manifest: HashMap<String, String>,
    spine: Vec<String>,
}

impl Visitor for Book {
    fn open(&mut self, element: &Element<'_>) -> Enter {
        match element.name() {
            "item" => {
                if let (Some(id), Some(target)) = (element.attribute("id"), element.attribute("href")) {
                    self.manifest.insert(id, percent_decoded(&target));
                }
            }
            "itemref" => self.spine.extend(element.attribute("idref")),
            _ => {}
        }
        Enter::Yes
    }

    fn characters(&mut self, _characters: &str) {}

    fn close(&mut self, _name: &str) {}
}

/// Decodes `%20` and similar codes in a reference, because names in the archive are not encoded.
fn percent_decoded(reference: &str) -> String {
    let mut bytes = Vec::with_capacity(reference.len());
    let mut rest = reference.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let coded = after.split_first_chunk::<2>().filter(|_| first == b'%').and_then(|(digits, behind)| {
            Some((u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, behind))
        });
        let (byte, behind) = coded.unwrap_or((first, after));
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::archive::tests::archive_of;
    use super::super::{ExtractLimits, extract};
    use super::*;

    fn epub(encryption: &str) -> Result<Extracted, Refusal> {
        let bytes = archive_of(&[
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml", "<c><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></c>"),
            ("META-INF/encryption.xml", encryption),
            (
                "OPS/book.opf",
                "<package><metadata><dc:title>On roses</dc:title><dc:language>en</dc:language></metadata>\
                 <manifest><item id='a' href='one%20two.html'/><item id='b' href='../b.html'/></manifest>\
                 <spine><itemref idref='b'/><itemref idref='none'/><itemref idref='a'/></spine></package>",
            ),
            ("OPS/one two.html", "<html><title>x</title><p>last&nbsp;one"),
            ("b.html", "<html><body><h1>First</h1><p>text"),
        ]);
        extract(&bytes, None, &ExtractLimits::default())
    }

    #[test]
    fn chapters_come_in_reading_order() {
        let found = epub("<e><CipherReference URI='OPS/font.otf'/></e>").unwrap();
        assert_eq!(found.format, DocumentFormat::Epub);
        assert_eq!(found.text, "First\ntext\nlast\u{a0}one\n");
        assert_eq!(found.place_of(12), Some(MarkPlace::Chapter(3)));
        assert_eq!(found.title.as_deref(), Some("On roses"));
        assert_eq!(found.metadata.get("language").map(String::as_str), Some("en"));
    }

    #[test]
    fn chapters_that_are_encrypted_are_told() {
        assert_eq!(epub("<e><CipherReference URI='b.html'/></e>"), Err(Refusal::Encrypted));
    }

    #[test]
    fn references_are_decoded() {
        assert_eq!(percent_decoded("a%20b%C3%A9%zz%2"), "a bé%zz%2");
    }
}
