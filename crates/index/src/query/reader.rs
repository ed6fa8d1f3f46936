//! Reads documents of an index to compare them with a query.

use minwise::shingle::{Shingles, UnitRanges};
use minwise::verify::ShingleSet;

use super::evidence::{self, Evidence};
use crate::error::Result;
use crate::index::Index;
use crate::record::DocumentRow;
use crate::store::View;

/// Reader of documents, which reuses its buffers.
pub(crate) struct DocumentReader<'i, 'v> {
    index: &'i Index,
    view: &'v View<'i>,
    shingles: Shingles,
    masked: Vec<u64>,
    places: Option<UnitRanges>,
    work: (Vec<u64>, Vec<u64>),
}

/// A document of the index that is compared with the query.
pub(crate) struct Other<'r> {
    /// Masked shingles of the document, in the order of the text, or in ascending order if the index keeps no
    /// texts.
    pub(crate) shingles: &'r [u64],
    /// Byte ranges of the units of the document, if the index keeps texts.
    pub(crate) places: Option<&'r UnitRanges>,
    /// Distinct shingles of the document that are evidence.
    pub(crate) set: ShingleSet,
}

impl<'i, 'v> DocumentReader<'i, 'v> {
    pub(crate) fn new(index: &'i Index, view: &'v View<'i>) -> Self {
        let (masked, work) = Default::default();
        Self { index, view, shingles: Shingles::new(), masked, places: None, work }
    }

    /// Reads a document and masks shingles that are no evidence.
    pub(crate) fn read(
        &mut self,
        number: u32,
        record: &DocumentRow,
        evidence: &Evidence,
    ) -> Result<Other<'_>> {
        if let Some(text) = self.index.text(self.view, number, record)? {
            let places = self.index.preparation.shingles_with_places(&text, &mut self.shingles);
            self.masked = evidence.of_document(&text, self.shingles.hashes(), Some(&places));
            self.places = Some(places);
        } else {
            let set = self.index.in_place_of_text(self.view, number, record)?.set;
            self.masked = evidence.of_document("", set.as_slice(), None);
            self.places = None;
        }
        let remaining: Vec<u64> = evidence::remaining(&self.masked).collect();
        let set = ShingleSet::build(&remaining, &mut self.work);
        Ok(Other { shingles: &self.masked, places: self.places.as_ref(), set })
    }
}
