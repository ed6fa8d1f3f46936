//! In which bands the pairs that were found agree.

use minwise::cluster::Found;

use crate::error::Error;
use crate::read::documents::{Documents, RowReader, Which};
use crate::rows::Rows;
use crate::settings::{Plan, Search};

/// Looks up the bands of found pairs.
pub(crate) struct Agreement<'a> {
    /// None if candidates were found otherwise than by bands.
    rows: Option<Rows>,
    reader: RowReader<'a>,
}

impl<'a> Agreement<'a> {
    pub(crate) fn new(documents: &'a Documents, plan: &Plan) -> Result<Self, Error> {
        let rows = if plan.search == Search::Banding { Some(plan.rows()?) } else { None };
        Ok(Self { rows, reader: RowReader::new(documents, Which::Sketch) })
    }

    /// The band that found a pair of these documents, if no other band did.
    ///
    /// The earlier document may have been left out of each full shelf, so a pair counts as found by one band alone if it
    /// agrees in no more than one besides the full ones.
    pub(crate) fn alone(&mut self, found: &Found<'_>, [a, b]: [u32; 2]) -> Result<Option<usize>, Error> {
        let Some(rows) = &self.rows else { return Ok(None) };
        let (a, b) = self.reader.pair(a, b)?;
        let mut agrees = (0..rows.bands()).filter(|&band| rows.key(band, a) == rows.key(band, b));
        let first = agrees.next();
        let is_alone = agrees.nth(found.shares.len()).is_none();
        Ok(first.filter(|_| is_alone))
    }
}
