//! Candidates that by their sketches cannot reach the threshold are not read.

use minwise::filter::{Budget, Filter, default_looks, shuffle};
use minwise::sketch::Method;

use super::{Asked, Options};
use crate::error::Result;
use crate::index::Index;
use crate::record::Record;
use crate::store::{Space, View};

/// The probability with which a document at the threshold is passed over, if it has no fingerprint in common.
const ERROR: f64 = 1e-6;

pub(crate) struct Screen {
    /// None where bits of registers are kept, or a sketch has no law: then everything is read.
    filter: Option<Filter>,
    order: Option<Vec<usize>>,
}

impl Screen {
    pub(crate) fn new(index: &Index, threshold: f64) -> Result<Self> {
        let method = index.settings.spec.method;
        let one_permutation = matches!(method, Method::Registers(source) if source.base.is_one_permutation());
        let order = one_permutation.then(|| shuffle(method.registers()));
        let filter = if index.settings.bits.is_some() || !(threshold > 0.0 && threshold <= 1.0) {
            None
        } else {
            let looks = default_looks(method.registers());
            Filter::of(method, threshold, 1, &looks, Budget::Exact(ERROR))?
        };
        Ok(Self { filter, order })
    }

    /// Whether a candidate that shares bands and no fingerprint can be passed over.
    #[expect(clippy::too_many_arguments, reason = "all of them are what a candidate is compared by")]
    pub(crate) fn rejects(
        &self,
        view: &View<'_>,
        index: &Index,
        asked: &Asked,
        row: &[u32],
        number: u32,
        record: &Record,
        options: &Options,
    ) -> Result<bool> {
        let Some(filter) = &self.filter else { return Ok(false) };
        // A small document that is in a large one has a small similarity, and is a match all the same.
        let (few, many) = {
            let (a, b) = (asked.set.len() as f64, f64::from(record.shingles));
            (a.min(b), a.max(b))
        };
        let shared = options.containment * few;
        if row.is_empty() || shared / (few + many - shared) < options.threshold {
            return Ok(false);
        }
        let Some(bytes) = view.get(Space::Sketches, &number.to_be_bytes())? else {
            return Err(index.damaged(format!("`{}` has no sketch", record.id)));
        };
        let other: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        if other.len() != row.len() {
            return Ok(false);
        }
        let screening = match &self.order {
            None => filter.screen(row, &other),
            Some(order) => {
                filter.screen_by(|range| order[range].iter().filter(|&&at| row[at] == other[at]).count())
            }
        };
        Ok(screening.rejected)
    }
}
