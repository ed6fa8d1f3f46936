//! Documents of an index, read to be compared.

use minwise::shingle::{Shingles, UnitRanges};
use minwise::verify::ShingleSet;

use super::evidence::{self, Evidence};
use crate::error::Result;
use crate::index::Index;
use crate::record::DocumentRow;
use crate::store::View;

/// Reads documents, one after the other, into the same buffers.
pub(crate) struct DocumentReader<'i, 'v> {
    index: &'i Index,
    view: &'v View<'i>,
    shingles: Shingles,
    masked: Vec<u64>,
    places: Option<UnitRanges>,
    work: (Vec<u64>, Vec<u64>),
}

/// A document of the index beside the query.
pub(crate) struct Other<'r> {
    /// Its shingles in order, if its text is kept, and in ascending order otherwise; without those that are no evidence.
    pub(crate) shingles: &'r [u64],
    /// Where its units stand, if its text is kept.
    pub(crate) places: Option<&'r UnitRanges>,
    /// Its distinct shingles.
    pub(crate) set: ShingleSet,
}

impl<'i, 'v> DocumentReader<'i, 'v> {
    pub(crate) fn new(index: &'i Index, view: &'v View<'i>) -> Self {
        let (masked, work) = Default::default();
        Self { index, view, shingles: Shingles::new(), masked, places: None, work }
    }

    /// Reads a document and takes out what is no evidence.
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
