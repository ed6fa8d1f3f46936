//! Recognises the kind of document that a zip archive is, by its parts.

use super::archive::OpenZip;
#[cfg(feature = "html")]
use super::epub;
use super::mistaken::ZIP;
use super::package::{self, CONTENT_TYPES};
use super::{ExtractLimits, Extracted, Refusal, docx, odt, pptx};

/// Extracts the text of a document that is a zip archive.
pub(super) fn extract(bytes: &[u8], limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    let mut archive = OpenZip::open(bytes, limits)?;
    let found = extract_from(&mut archive)?;
    if found.text.trim().is_empty() && archive.has_pictures() {
        return Err(Refusal::OnlyPictures);
    }
    Ok(found)
}

fn extract_from(archive: &mut OpenZip<'_, '_>) -> Result<Extracted, Refusal> {
    // OpenDocument and EPUB state their kind in a part called `mimetype`.
    if let Some(kind) = archive.part("mimetype")? {
        return match kind.trim_ascii() {
            #[cfg(feature = "html")]
            b"application/epub+zip" => epub::extract(archive),
            #[cfg(not(feature = "html"))]
            b"application/epub+zip" => Err(Refusal::MissingFeature { what: "an EPUB", feature: "html" }),
            b"application/vnd.oasis.opendocument.text"
            | b"application/vnd.oasis.opendocument.text-template" => odt::extract(archive),
            _ => Err(Refusal::Unsupported {
                what: "a kind of OpenDocument that is not read; save it as `.odt` or PDF",
            }),
        };
    }
    if !archive.has(CONTENT_TYPES) {
        return Err(Refusal::Unsupported { what: ZIP });
    }
    let main = package::main_part(archive)?;
    if main.content_type.contains("wordprocessingml") || main.content_type.contains("ms-word") {
        docx::extract(archive, &main)
    } else if main.content_type.contains("presentationml") || main.content_type.contains("ms-powerpoint") {
        pptx::extract(archive, &main)
    } else if main.content_type.contains("spreadsheetml") || main.content_type.contains("ms-excel") {
        Err(Refusal::Unsupported { what: "an Excel workbook; save its sheets as CSV" })
    } else {
        Err(Refusal::Unsupported { what: "a kind of Office document that is not read" })
    }
}

#[cfg(test)]
mod tests {
    use super::super::archive::tests::archive_of;
    use super::*;

    fn refused(parts: &[(&str, &str)]) -> String {
        extract(&archive_of(parts), &ExtractLimits::default()).unwrap_err().to_string()
    }

    #[test]
    fn other_archives_are_told_by_name() {
        assert_eq!(refused(&[("/etc/passwd", "x"), ("../y", "z")]), "it is a ZIP archive; unpack it");
        let sheet = "application/vnd.oasis.opendocument.spreadsheet";
        assert!(refused(&[("mimetype", sheet)]).starts_with("it is a kind of OpenDocument"));
        let book =
            "<T><Override PartName='/xl/workbook.xml' ContentType='a.spreadsheetml.sheet.main+xml'/></T>";
        let relationships = "<R><Relationship Type='x/officeDocument' Target='xl/workbook.xml'/></R>";
        let workbook = refused(&[(CONTENT_TYPES, book), ("_rels/.rels", relationships)]);
        assert_eq!(workbook, "it is an Excel workbook; save its sheets as CSV");
        assert!(refused(&[(CONTENT_TYPES, "<T/>")]).contains("nothing in it says which part"));
    }

    #[test]
    fn a_document_of_pictures_is_told_from_an_empty_one() {
        let kind = ("mimetype", "application/vnd.oasis.opendocument.text");
        let empty = archive_of(&[kind, ("content.xml", "<c><text:p/></c>")]);
        assert_eq!(extract(&empty, &ExtractLimits::default()).unwrap().text, "");
        let pictures = archive_of(&[kind, ("content.xml", "<c><text:p/></c>"), ("Pictures/1.PNG", "")]);
        assert_eq!(extract(&pictures, &ExtractLimits::default()), Err(Refusal::OnlyPictures));
    }
}
