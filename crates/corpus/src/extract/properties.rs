//! Reads the properties that a document states, as elements that hold one value each.

use std::collections::BTreeMap;

use super::xml::{self, Element, Enter, Visitor};
use super::{ExtractLimits, Refusal};

/// Key of the title.
const TITLE: &str = "title";

/// Elements of Office Open XML, in `docProps/core.xml`, each with the key of its property.
pub(super) const OFFICE: &[(&str, &str)] = &[
    ("title", TITLE),
    ("creator", "author"),
    ("subject", "subject"),
    ("description", "description"),
    ("keywords", "keywords"),
    ("language", "language"),
    ("created", "created"),
    ("modified", "modified"),
];

/// Elements of OpenDocument, in `meta.xml`, each with the key of its property. The author of a document is the person
/// who began it; `creator` is the person who saved it last.
pub(super) const OPEN_DOCUMENT: &[(&str, &str)] = &[
    ("title", TITLE),
    ("initial-creator", "author"),
    ("creator", "author"),
    ("subject", "subject"),
    ("description", "description"),
    ("keyword", "keywords"),
    ("language", "language"),
    ("creation-date", "created"),
    ("date", "modified"),
];

/// Elements of an EPUB package, each with the key of its property.
pub(super) const EPUB: &[(&str, &str)] = &[
    ("title", TITLE),
    ("creator", "author"),
    ("subject", "subject"),
    ("description", "description"),
    ("language", "language"),
    ("date", "created"),
];

/// Title, and metadata by key.
pub(super) type Properties = (Option<String>, BTreeMap<String, String>);

/// Reads the properties of a part, by the keys that `known` gives to its elements. If several elements have the same
/// key, the element that comes first in `known` counts. If an element occurs several times, the first occurrence in
/// the part counts.
pub(super) fn read(
    bytes: &[u8],
    known: &'static [(&'static str, &'static str)],
    limits: &ExtractLimits,
) -> Result<Properties, Refusal> {
    let mut reader = PropertyReader { known, current: None, values: vec![String::new(); known.len()] };
    xml::visit(bytes, limits, &mut reader)?;
    let mut metadata = BTreeMap::new();
    for ((_, key), value) in known.iter().zip(reader.values) {
        if !value.trim().is_empty() {
            metadata.entry((*key).to_owned()).or_insert_with(|| value.trim().to_owned());
        }
    }
    let title = metadata.remove(TITLE);
    Ok((title, metadata))
}

struct PropertyReader {
    known: &'static [(&'static str, &'static str)],
    /// Index in `known` of the element that is open.
    current: Option<usize>,
    values: Vec<String>,
}

impl Visitor for PropertyReader {
    fn open(&mut self, element: &Element<'_>) -> Enter {
        let number = self.known.iter().position(|(name, _)| *name == element.name());
        // If an element occurs several times, the first with a value counts.
        self.current = number.filter(|number| self.values.get(*number).is_some_and(String::is_empty));
        Enter::Yes
    }

    fn characters(&mut self, characters: &str) {
        if let Some(value) = self.current.and_then(|number| self.values.get_mut(number)) {
            value.push_str(characters);
        }
    }

    fn close(&mut self, _name: &str) {
        self.current = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_element_that_stands_first_in_the_list_counts() {
        let xml = b"<m><dc:creator>Second</dc:creator><meta:initial-creator>First &amp; Co</meta:initial-creator>\
                    <dc:title> A rose </dc:title><dc:title>Other</dc:title><dc:subject> </dc:subject><x>y</x></m>";
        let (title, metadata) = read(xml, OPEN_DOCUMENT, &ExtractLimits::default()).unwrap();
        assert_eq!(title.as_deref(), Some("A rose"));
        assert_eq!(metadata, BTreeMap::from([("author".to_owned(), "First & Co".to_owned())]));
    }
}
