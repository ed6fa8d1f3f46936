//! Screening: rejects candidates whose sketches show that they cannot reach the threshold, without reading
//! the documents.

use minwise::filter::{ErrorBudget, Filter, default_looks, shuffle};
use minwise::sketch::BitRows;

use super::{CheckOptions, PreparedQuery};
use crate::error::Result;
use crate::index::Index;
use crate::record::DocumentRow;
use crate::store::{KeyspaceName, View};

/// Probability with which screening rejects a document whose similarity is the threshold and that shares no
/// fingerprint.
const ERROR: f64 = 1e-6;

pub(crate) struct QueryScreen {
    /// One filter for whole registers, or one per group of bits. The list is empty if no filter can be built
    /// for the threshold or for the sketch; then all candidates are read.
    filters: Vec<Filter>,
    /// Layout of a stored sketch, if registers are stored with fewer bits.
    bits: Option<BitRows>,
    /// Order in which registers are compared, if they are not exchangeable because some are copies of others.
    order: Option<Vec<usize>>,
}

impl QueryScreen {
    pub(crate) fn new(index: &Index, threshold: f64) -> Result<Self> {
        let method = index.settings.spec.method;
        let copies = method.copies_registers();
        let order = copies.then(|| shuffle(method.registers()));
        let bits = index.settings.bits.map(|bits| bits.rows(method.registers())).transpose()?;
        let filters = match &bits {
            // At threshold 0, every candidate passes. At threshold 1, a filter with a small error cannot be
            // built.
            _ if !(threshold > 0.0 && threshold < 1.0) => vec![],
            // Bits of copied registers are copies, too, and the distribution of dependent matches is known
            // for whole registers only.
            Some(_) if copies => vec![],
            Some(bits) => {
                let laws: Vec<(usize, f64)> = bits.laws(threshold).collect();
                let budget = ErrorBudget::Exact(ERROR / laws.len() as f64);
                let filter = |(values, probability)| Filter::new(probability, values, &[values], budget);
                laws.into_iter().map(filter).collect::<std::result::Result<_, _>>()?
            }
            None => {
                let looks = default_looks(method.registers());
                Filter::of(method, threshold, 1, &looks, ErrorBudget::Exact(ERROR))?.into_iter().collect()
            }
        };
        Ok(Self { filters, bits, order })
    }

    /// Reports whether a candidate that shares bands but no fingerprint can be rejected.
    #[expect(clippy::too_many_arguments, reason = "all of them are what a candidate is compared by")]
    pub(crate) fn rejects(
        &self,
        view: &View<'_>,
        index: &Index,
        asked: &PreparedQuery,
        row: &[u32],
        number: u32,
        record: &DocumentRow,
        options: &CheckOptions,
    ) -> Result<bool> {
        if self.filters.is_empty() {
            return Ok(false);
        }
        // A small document inside a large document has a low similarity but is a match by containment, so it
        // must not be rejected.
        let (few, many) = {
            let (a, b) = (asked.set.len() as f64, f64::from(record.shingles));
            (a.min(b), a.max(b))
        };
        let shared = options.containment * few;
        if row.is_empty() || shared / (few + many - shared) < options.threshold {
            return Ok(false);
        }
        let Some(bytes) = view.get(KeyspaceName::Sketches, &number.to_be_bytes())? else {
            return Err(index.damaged(format!("`{}` has no sketch", record.id)));
        };
        let other: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        if other.len() != row.len() {
            return Ok(false);
        }
        if let Some(bits) = &self.bits {
            let mut groups = self.filters.iter().zip(bits.matches(row, &other));
            return Ok(
                groups.any(|(filter, matches)| !filter.looks().is_empty() && filter.rejects(0, matches))
            );
        }
        let rejects = |filter: &Filter| match &self.order {
            None => filter.screen(row, &other).rejected,
            Some(order) => {
                let agree = |at: &&usize| row[**at] == other[**at];
                filter.screen_by(|range| order[range].iter().filter(agree).count()).rejected
            }
        };
        Ok(self.filters.iter().any(rejects))
    }
}
