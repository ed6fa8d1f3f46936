//! The tables that weights ask for.

use std::sync::Arc;

use minwise::Weights;
use minwise::weight::Weigher;

use super::table::FrequencyTable;
use crate::error::Error;

/// What weighing needs besides the spec: the tables whose fingerprints stand there.
#[derive(Debug, Clone, Default)]
pub struct Weighing {
    /// In how many documents shingles stand.
    pub frequencies: Option<Arc<FrequencyTable>>,
    /// Shingles that are left out of every document.
    pub ignored: Arc<[u64]>,
}

impl Weighing {
    /// The weigher that the weights ask for, if they ask for one.
    pub(crate) fn weigher(&self, weights: &Weights) -> Result<Option<Weigher>, Error> {
        if *weights == Weights::default() {
            return Ok(None);
        }
        let weigher = match &self.frequencies {
            Some(table) if weights.need_table() => {
                Weigher::with_frequencies(weights.weighting, table.clone(), weights.most_documents)
            }
            _ => Weigher::new(weights.weighting)?,
        };
        Ok(Some(weigher.ignoring(self.ignored.iter().copied())))
    }
}
