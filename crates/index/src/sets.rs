//! Reads the shingle sets of documents of an index, one after the other.

use minwise::shingle::Shingles;
use minwise::verify::ShingleSet;

use crate::error::Result;
use crate::index::Index;
use crate::record::DocumentRow;
use crate::store::View;

/// Reader of shingle sets, which reuses its buffers.
pub(crate) struct SetReader<'i, 'v> {
    index: &'i Index,
    view: &'v View<'i>,
    shingles: Shingles,
    set: ShingleSet,
    work: (Vec<u64>, Vec<u64>),
}

impl<'i, 'v> SetReader<'i, 'v> {
    pub(crate) fn new(index: &'i Index, view: &'v View<'i>) -> Self {
        let (set, work) = Default::default();
        Self { index, view, shingles: Shingles::new(), set, work }
    }

    /// Reads the distinct shingles of a document.
    pub(crate) fn read(&mut self, number: u32, record: &DocumentRow) -> Result<&ShingleSet> {
        match self.index.text(self.view, number, record)? {
            Some(text) => {
                self.index.preparation.shingles(&text, &mut self.shingles);
                self.set = ShingleSet::build(self.shingles.hashes(), &mut self.work);
            }
            None => self.set = self.index.in_place_of_text(self.view, number, record)?.set,
        }
        Ok(&self.set)
    }
}
