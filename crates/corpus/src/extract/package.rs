//! Reads the packages of Office Open XML: parts, and relationships between them.

use std::collections::HashMap;

use super::archive::{OpenZip, resolve};
use super::properties::{self, Properties};
use super::xml::{self, Element, Enter, Visitor};
use super::{ExtractLimits, Refusal};

/// Relationship of a part to another part.
pub(super) struct Relationship {
    /// Id by which the part refers to the relationship.
    pub(super) id: String,
    /// Last step of the type: `officeDocument`, `slide`, `footnotes`. The earlier steps differ between editions of
    /// the standard.
    pub(super) kind: String,
    /// Path of the other part, relative to this part. The path is resolved only when it is needed, because a short
    /// mention may stand for a long name, and a file may have very many relationships that are never used.
    target: String,
}

impl Relationship {
    /// Returns the name of the part to which the relationship leads from `part`.
    pub(super) fn target(&self, part: &str) -> String {
        resolve(part, &self.target)
    }
}

/// Returns the relationships of a part, in order; for the name `""`, the relationships of the package itself.
pub(super) fn relationships(archive: &mut OpenZip<'_, '_>, part: &str) -> Result<Vec<Relationship>, Refusal> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let name =
        if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
    let Some(bytes) = archive.part(&name)? else { return Ok(Vec::new()) };
    let mut list = RelationshipList(Vec::new());
    xml::visit(&bytes, archive.limits(), &mut list)?;
    Ok(list.0)
}

struct RelationshipList(Vec<Relationship>);

impl Visitor for RelationshipList {
    fn open(&mut self, element: &Element<'_>) -> Enter {
        // An external relationship, such as a link, is left out, because it leads to no part.
        let is_inside = element.attribute("TargetMode").is_none_or(|mode| mode != "External");
        if element.name() == "Relationship" && is_inside {
            let kind = element.attribute("Type").unwrap_or_default();
            self.0.push(Relationship {
                id: element.attribute("Id").unwrap_or_default(),
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                target: element.attribute("Target").unwrap_or_default(),
            });
        }
        Enter::Yes
    }

    fn characters(&mut self, _characters: &str) {}

    fn close(&mut self, _name: &str) {}
}

/// Part that is the document, with its content type.
pub(super) struct Main {
    pub(super) part: String,
    pub(super) content_type: String,
}

/// Finds the part that is the document.
pub(super) fn main_part(archive: &mut OpenZip<'_, '_>) -> Result<Main, Refusal> {
    let part = relationships(archive, "")?
        .into_iter()
        .find(|relationship| relationship.kind == "officeDocument")
        .ok_or_else(|| Refusal::broken("nothing in it says which part is the document"))?
        .target("");
    let types = content_types(&archive.needed(CONTENT_TYPES)?, archive.limits())?;
    let content_type = types.get(&part).cloned().unwrap_or_default();
    Ok(Main { part, content_type })
}

/// Name of a part that every package of Office Open XML has.
pub(super) const CONTENT_TYPES: &str = "[Content_Types].xml";

fn content_types(bytes: &[u8], limits: &ExtractLimits) -> Result<HashMap<String, String>, Refusal> {
    let mut types = Types(HashMap::new());
    xml::visit(bytes, limits, &mut types)?;
    Ok(types.0)
}

struct Types(HashMap<String, String>);

impl Visitor for Types {
    fn open(&mut self, element: &Element<'_>) -> Enter {
        if element.name() == "Override"
            && let (Some(part), Some(kind)) =
                (element.attribute("PartName"), element.attribute("ContentType"))
        {
            self.0.insert(resolve("", &part), kind);
        }
        Enter::Yes
    }

    fn characters(&mut self, _characters: &str) {}

    fn close(&mut self, _name: &str) {}
}

/// Reads the title and metadata of a package. If they are damaged, they are left out, and the text is read all the
/// same.
pub(super) fn properties(archive: &mut OpenZip<'_, '_>) -> Properties {
    let part = relationships(archive, "").ok().and_then(|relationships| {
        relationships.into_iter().find(|relationship| relationship.kind == "core-properties")
    });
    let bytes = part.and_then(|part| archive.part(&part.target("")).ok().flatten()).unwrap_or_default();
    properties::read(&bytes, properties::OFFICE, archive.limits()).unwrap_or_default()
}
