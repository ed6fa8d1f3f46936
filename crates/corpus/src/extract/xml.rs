//! Reads XML as far as documents need it: elements and characters, in order.
//!
//! Names are compared without their prefix, because producers choose prefixes freely. Within one kind of part, the
//! local names that are read occur in no other namespace, or mean the same there (`w:t`, `a:t` and `m:t` are all
//! text).
//!
//! Entities that a document declares can make a small file very large. None of these formats uses declared entities,
//! so a file that declares an entity is refused, and no such entity is ever resolved.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{ExtractLimits, Refusal};
use crate::encoding::encoding_by_mark;

/// Visits the elements and characters of a part.
pub(super) trait Visitor {
    /// Visits the beginning of an element. The content and the end of the element are visited only if the result is
    /// [`Enter::Yes`].
    fn open(&mut self, element: &Element<'_>) -> Enter;

    /// Visits decoded characters. The characters between two tags may come in several calls.
    fn characters(&mut self, characters: &str);

    /// Visits the end of an element that was entered.
    fn close(&mut self, name: &str);
}

/// Whether the content of an element is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enter {
    Yes,
    No,
}

/// Start tag of an element.
pub(super) struct Element<'e>(&'e BytesStart<'e>);

impl Element<'_> {
    /// Returns the name of the element without its prefix.
    pub(super) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// Returns the value of an attribute, by its name without a prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        self.value(|key| key.rsplit(':').next() == Some(name))
    }

    /// Returns the value of an attribute that has a prefix, by its name behind the prefix. An attribute of the same
    /// name without a prefix does not count.
    pub(super) fn prefixed(&self, name: &str) -> Option<String> {
        self.value(|key| key.rsplit_once(':').is_some_and(|(_, local)| local == name))
    }

    fn value(&self, is_it: impl Fn(&str) -> bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found =
            attributes.with_checks(false).flatten().find(|attribute| is_it(attribute.key.into_inner()))?;
        // If the value refers to an unknown entity, the attribute counts as missing.
        quick_xml::escape::unescape(&found.value).ok().map(Cow::into_owned)
    }
}

/// Visits a part from its beginning to its end.
pub(super) fn visit(bytes: &[u8], limits: &ExtractLimits, visitor: &mut dyn Visitor) -> Result<(), Refusal> {
    let text = decode(bytes)?;
    let mut reader = Reader::from_str(&text);
    // `depth` is the number of open elements. While more than `silent_above` elements are open, nothing is visited.
    let (mut depth, mut silent_above) = (0, usize::MAX);
    loop {
        let event = reader.read_event().map_err(Refusal::broken)?;
        let of_interest = depth <= silent_above;
        match event {
            Event::Start(tag) => {
                if of_interest && visitor.open(&Element(&tag)) == Enter::No {
                    silent_above = depth;
                }
                depth += 1;
                if depth > limits.nesting {
                    return Err(Refusal::TooDeep { limit: limits.nesting });
                }
            }
            Event::Empty(tag) if of_interest && visitor.open(&Element(&tag)) == Enter::Yes => {
                visitor.close(tag.local_name().into_inner());
            }
            Event::End(tag) => {
                depth -= 1;
                if depth == silent_above {
                    silent_above = usize::MAX;
                } else if depth < silent_above {
                    visitor.close(tag.local_name().into_inner());
                }
            }
            Event::Text(text) if of_interest => visitor.characters(&text.xml10_content()),
            Event::CData(text) if of_interest => visitor.characters(&text.xml10_content()),
            Event::GeneralRef(reference) if of_interest => {
                let character = match reference.resolve_char_ref().map_err(Refusal::broken)? {
                    Some(character) => character,
                    None => predefined(&reference)?,
                };
                visitor.characters(character.encode_utf8(&mut [0; 4]));
            }
            Event::DocType(declaration) if declaration.contains("<!ENTITY") => {
                return Err(Refusal::broken("it declares entities, as documents do not"));
            }
            Event::Eof if depth > 0 => return Err(Refusal::broken("its XML ends too early")),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// Decodes UTF-8, or UTF-16 with a byte-order mark.
fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Refusal> {
    match encoding_by_mark(bytes) {
        Some((encoding, marked)) => Ok(encoding.decode_without_bom_handling(marked).0),
        None => match simdutf8::compat::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => Err(Refusal::broken(format_args!("its XML is not UTF-8: {error}"))),
        },
    }
}

/// Returns the character for one of the five references that XML itself defines.
fn predefined(name: &str) -> Result<char, Refusal> {
    match name {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        name => Err(Refusal::broken(format_args!("it refers to an entity `{name}` that XML does not have"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visitor that logs all that it visits, and does not enter `skip`.
    #[derive(Default)]
    struct ElementLog(String);

    impl Visitor for ElementLog {
        fn open(&mut self, element: &Element<'_>) -> Enter {
            if element.name() == "skip" {
                return Enter::No;
            }
            self.0 += &format!("<{}{}>", element.name(), element.attribute("a").unwrap_or_default());
            Enter::Yes
        }

        fn characters(&mut self, characters: &str) {
            self.0 += characters;
        }

        fn close(&mut self, name: &str) {
            self.0 += &format!("</{name}>");
        }
    }

    fn log(xml: &str) -> Result<String, Refusal> {
        let mut log = ElementLog::default();
        visit(xml.as_bytes(), &ExtractLimits { nesting: 3, ..ExtractLimits::default() }, &mut log)
            .map(|()| log.0)
    }

    #[test]
    fn elements_and_characters_come_in_order() {
        let xml =
            "<?xml version='1.0'?><!DOCTYPE x><x:p a='1&amp;2'>a&amp;b&#x4e2d;<![CDATA[<c>]]><br/></x:p>";
        assert_eq!(log(xml).unwrap(), "<p1&2>a&b中<c><br></br></p>");
        assert_eq!(log("\u{feff}<p/>").unwrap(), "<p></p>");
    }

    #[test]
    fn elements_that_are_not_entered_are_not_visited() {
        let xml = "<p>a<skip>b<skip>c</skip><i/>&amp;</skip>d<skip/>e</p>";
        assert_eq!(log(xml).unwrap(), "<p>ade</p>");
    }

    #[test]
    fn entities_are_refused_and_not_resolved() {
        let laughs = "<!DOCTYPE p [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><p>&b;</p>";
        let error = log(laughs).unwrap_err().to_string();
        assert_eq!(error, "it is broken: it declares entities, as documents do not");
        assert!(log("<p>&nbsp;</p>").unwrap_err().to_string().contains("`nbsp`"));
    }

    #[test]
    fn depth_is_limited_and_damage_told() {
        assert!(log("<a><b><c/></b></a>").is_ok());
        assert_eq!(log("<a><b><c><d>").unwrap_err(), Refusal::TooDeep { limit: 3 });
        assert_eq!(log("<a><b>").unwrap_err(), Refusal::broken("its XML ends too early"));
        assert!(matches!(log("<a></b>"), Err(Refusal::Broken { .. })));
        assert!(matches!(
            visit(b"<a>\xff", &ExtractLimits::default(), &mut ElementLog::default()),
            Err(Refusal::Broken { .. })
        ));
    }
}
