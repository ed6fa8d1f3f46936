//! All sources of a corpus, each with its content.

use std::any::Any;

use crate::content::Content;
use crate::document::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::problem::Problem;
use crate::scratch::Scratch;
use crate::shared::{Handle, Shared};
use crate::source::{Reader, Source};

/// All sources of a corpus, references before inputs.
#[derive(Debug)]
pub(crate) struct Sources {
    all: Vec<Source>,
    /// One for each source.
    contents: Vec<Box<dyn Content>>,
    /// How many of the first sources are references.
    references: usize,
    shared: Shared,
}

impl Sources {
    /// Sources with their contents, of which the first are references.
    pub(crate) fn new(
        all: Vec<Source>,
        contents: Vec<Box<dyn Content>>,
        references: usize,
        shared: Shared,
    ) -> Self {
        Self { all, contents, references, shared }
    }

    /// All sources, in order.
    pub(crate) fn all(&self) -> &[Source] {
        &self.all
    }

    /// How many of the first sources are references.
    pub(crate) fn references(&self) -> u32 {
        self.references as u32
    }

    /// The sources that are not references.
    pub(crate) fn inputs(&self) -> &[Source] {
        // `input::resolve` counts the references among the sources.
        &self.all[self.references..]
    }

    /// The state that all sources share.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// All sources with their contents, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Handle<'_>, &dyn Content)> {
        (0..).zip(&self.all).zip(&self.contents).map(|((number, source), content)| {
            (Handle { number, source, shared: &self.shared }, content.as_ref())
        })
    }

    /// The sources that are not references, with their contents.
    pub(crate) fn iter_inputs(&self) -> impl Iterator<Item = (Handle<'_>, &dyn Content)> {
        self.iter().skip(self.references)
    }

    /// One source with its content.
    pub(crate) fn get(&self, number: u32) -> Result<(Handle<'_>, &dyn Content)> {
        self.find(number).ok_or_else(|| no_such_place(number, 0))
    }

    /// The source that has a record at this place.
    pub(crate) fn at(&self, place: &Place) -> Result<(Handle<'_>, &dyn Content)> {
        let is_there = |(handle, content): &(Handle<'_>, &dyn Content)| {
            let end = place.offset.checked_add(u64::from(place.len));
            let has_bytes = || end.is_some_and(|end| end <= handle.source.size_bytes());
            content.rows().map_or_else(has_bytes, |rows| place.offset < rows)
        };
        let found = self.find(place.source).filter(is_there);
        found.ok_or_else(|| no_such_place(place.source, place.offset))
    }

    /// The content of a source of which the type is known.
    pub(crate) fn content_as<T: Content>(&self, number: u32) -> Result<&T> {
        let (handle, content) = self.get(number)?;
        (content as &dyn Any).downcast_ref().ok_or_else(|| handle.no_such_place(0))
    }

    /// Opens a source.
    pub(crate) fn reader(&self, number: u32) -> Result<Reader> {
        self.get(number)?.0.reader()
    }

    /// The bytes of a record exactly as they are in the input.
    pub(crate) fn read_raw<'s>(&self, place: &Place, scratch: &'s mut Scratch) -> Result<&'s [u8]> {
        let (handle, content) = self.at(place)?;
        check_bytes(&handle, content)?;
        handle.load(place, &mut scratch.bytes)
    }

    /// Fills `out` with the bytes of a source from `offset` on.
    pub(crate) fn read_span(&self, number: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        let (handle, content) = self.find(number).ok_or_else(|| no_such_place(number, offset))?;
        check_bytes(&handle, content)?;
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > handle.source.size_bytes()) {
            return Err(handle.no_such_place(offset));
        }
        handle.reader()?.read_exact_at(offset, out)
    }

    fn find(&self, number: u32) -> Option<(Handle<'_>, &dyn Content)> {
        let source = self.all.get(number as usize)?;
        let content = self.contents.get(number as usize)?;
        Some((Handle { number, source, shared: &self.shared }, content.as_ref()))
    }
}

/// Refuses a table, whose rows have no bytes of their own.
fn check_bytes(handle: &Handle<'_>, content: &dyn Content) -> Result<()> {
    match content.rows() {
        Some(_) => Err(Error::inside(handle.source.name(), Problem::NoBytes)),
        None => Ok(()),
    }
}

fn no_such_place(source: u32, offset: u64) -> Error {
    Error::new(ErrorKind::NoSuchPlace { source, offset })
}
