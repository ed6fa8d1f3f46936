//! What in a parsed file would end the stack or the memory of whoever walks through it.
//!
//! Pages know their parents, forms may draw forms, and a table of characters may say "from 0 to four thousand million".
//! `pdf-extract` follows all of that without looking back. What cannot be honest is refused; what costs nothing of the text
//! is taken out.

mod table;

use std::collections::HashMap;

use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream};

use self::table::is_overlong;
use super::super::{ExtractLimits, Refusal};
use super::bombs;

/// Makes a document safe to walk through, or refuses it.
pub(super) fn disarm(document: &mut Document, limits: &ExtractLimits) -> Result<(), Refusal> {
    let pages: Vec<ObjectId> = document.page_iter().take(limits.pages.saturating_add(1)).collect();
    if pages.len() > limits.pages {
        return Err(Refusal::TooManyPages { pages: pages.len(), limit: limits.pages });
    }
    for page in pages {
        check_parents(document, page, limits)?;
    }
    if document.was_encrypted() {
        // Only now can be seen what is in them.
        let streams = document.objects.values().filter_map(|object| object.as_stream().ok());
        bombs::check_plain(
            streams.filter(|stream| !is(stream, b"Image")).map(|stream| &*stream.content),
            limits,
        )?;
    }
    for object in document.objects.values_mut() {
        if let Object::Stream(stream) = object {
            disarm_stream(stream);
        }
    }
    check_drawings(document, limits)
}

fn is(stream: &Stream, subtype: &[u8]) -> bool {
    stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == subtype)
}

/// Takes out of a stream what does harm and no good.
fn disarm_stream(stream: &mut Stream) {
    if is(stream, b"Image") {
        // A picture that is drawn would be read as if it were text.
        *stream = Stream::new(Dictionary::new(), Vec::new());
        return;
    }
    let content = stream.decompressed_content();
    let content = content.as_deref().unwrap_or(&stream.content);
    let draws = memchr::memmem::find(content, b"Do").is_some();
    if is_overlong(content) {
        // A table without a single word is none, and would stop the reader.
        *stream = Stream::new(Dictionary::new(), b"endcmap".to_vec());
    } else if draws && !stream.dict.has(b"Resources") {
        // It would use the resources of whoever draws it, and so could draw itself.
        stream.dict.set("Resources", Dictionary::new());
    }
}

/// Refuses a page whose parents go in a circle, or on and on.
fn check_parents(document: &Document, page: ObjectId, limits: &ExtractLimits) -> Result<(), Refusal> {
    let mut at = page;
    for _ in 0..limits.nesting {
        match document.get_dictionary(at).and_then(|node| node.get(b"Parent")?.as_reference()) {
            Ok(parent) => at = parent,
            Err(_) => return Ok(()),
        }
    }
    Err(Refusal::TooDeep { limit: limits.nesting })
}

/// Refuses streams that draw themselves, or lie too deep in one another.
fn check_drawings(document: &Document, limits: &ExtractLimits) -> Result<(), Refusal> {
    let mut heights = HashMap::new();
    for id in document.objects.keys() {
        height(document, *id, limits.nesting, &mut heights)
            .ok_or(Refusal::TooDeep { limit: limits.nesting })?;
    }
    Ok(())
}

/// How many streams lie in one another at and below this one; `None` if that is more than `most`, as it is in a circle.
fn height(
    document: &Document,
    id: ObjectId,
    most: usize,
    heights: &mut HashMap<ObjectId, usize>,
) -> Option<usize> {
    if let Some(known) = heights.get(&id) {
        return Some(*known).filter(|known| *known <= most);
    }
    let below = most.checked_sub(1)?;
    let mut tallest = 0;
    for drawn in drawn_by(document, id) {
        tallest = tallest.max(height(document, drawn, below, heights)?);
    }
    heights.insert(id, tallest + 1);
    Some(tallest + 1)
}

/// What the resources of a stream let it draw.
fn drawn_by(document: &Document, id: ObjectId) -> Vec<ObjectId> {
    let drawn = || {
        let stream = document.get_object(id)?.as_stream()?;
        let resources = stream.dict.get_deref(b"Resources", document)?.as_dict()?;
        resources.get_deref(b"XObject", document)?.as_dict()
    };
    let references = drawn().map(|drawn| drawn.iter().filter_map(|(_, object)| object.as_reference().ok()));
    references.map(Iterator::collect).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pdf_extract::dictionary;

    use super::*;

    fn drawing(resources: Option<Vec<(&str, ObjectId)>>, content: &[u8]) -> Stream {
        let mut dict = dictionary! { "Subtype" => "Form" };
        if let Some(drawn) = resources {
            let drawn: Dictionary =
                drawn.into_iter().map(|(name, id)| (name.as_bytes().to_vec(), id.into())).collect();
            dict.set("Resources", dictionary! { "XObject" => drawn });
        }
        Stream::new(dict, content.to_vec())
    }

    fn checked(streams: Vec<Stream>, nesting: usize) -> Result<(), Refusal> {
        let mut document = Document::new();
        for (number, stream) in (1..).zip(streams) {
            document.objects.insert((number, 0), stream.into());
        }
        disarm(&mut document, &ExtractLimits { nesting, ..ExtractLimits::default() })
    }

    #[test]
    fn drawings_in_circles_and_towers_are_refused() {
        let next = |id: u32| drawing(Some(vec![("A", (id, 0)), ("B", (id, 0))]), b"/A Do /B Do");
        let tower = |floors: u32| (1..=floors).map(|floor| next(floor + 1)).collect::<Vec<_>>();
        assert_eq!(checked(vec![next(1)], 5), Err(Refusal::TooDeep { limit: 5 }));
        assert_eq!(checked(vec![next(2), next(3), next(1)], 50), Err(Refusal::TooDeep { limit: 50 }));
        assert_eq!(checked(tower(100), 101), Ok(()));
        assert_eq!(checked(tower(101), 101), Err(Refusal::TooDeep { limit: 101 }));
        let downwards = (1..=200).map(|floor: u32| next(floor - 1)).collect();
        assert_eq!(checked(downwards, 101), Err(Refusal::TooDeep { limit: 101 }));
    }

    #[test]
    fn a_stream_does_not_use_the_resources_of_others_to_draw() {
        let (mut draws, mut writes) = (drawing(None, b"/A Do"), drawing(None, b"(a) Tj"));
        disarm_stream(&mut draws);
        disarm_stream(&mut writes);
        assert!(draws.dict.has(b"Resources") && !writes.dict.has(b"Resources"));
    }

    #[test]
    fn parents_in_circles_are_refused() {
        let mut document = Document::new();
        document.objects.insert((1, 0), dictionary! { "Parent" => (2, 0) }.into());
        document.objects.insert((2, 0), dictionary! { "Parent" => (1, 0) }.into());
        document.objects.insert((3, 0), dictionary! {}.into());
        let limits = ExtractLimits::default();
        assert_eq!(check_parents(&document, (1, 0), &limits), Err(Refusal::TooDeep { limit: 256 }));
        assert_eq!(check_parents(&document, (3, 0), &limits), Ok(()));
    }
}
