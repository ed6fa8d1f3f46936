//! Weight tables: the data that weights need besides the spec.

use std::sync::Arc;

use minwise::shingle::Shingles;
use minwise::weight::Weigher;
use minwise::{Spec, WeightSpec};

use super::table::FrequencyTable;
use crate::error::Error;

/// Tables that weighing needs besides the spec. The spec has only their fingerprints.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WeightTables {
    /// Document frequencies of shingles.
    pub frequencies: Option<Arc<FrequencyTable>>,
    /// Shingles that are left out of every document.
    pub ignored: Arc<[u64]>,
}

impl WeightTables {
    /// Returns the tables with document frequencies, which [`WeightsRun`](crate::WeightsRun) counts in a corpus.
    #[must_use]
    pub fn with_frequencies(self, table: impl Into<Arc<FrequencyTable>>) -> Self {
        Self { frequencies: Some(table.into()), ..self }
    }

    /// Adds the shingles of `texts` to the ignored shingles, which are left out of every document.
    #[must_use]
    pub fn ignoring<T: AsRef<str>>(self, spec: &Spec, texts: impl IntoIterator<Item = T>) -> Self {
        let shingler = spec.shingler();
        let mut shingles = Shingles::new();
        let mut ignored = self.ignored.to_vec();
        for text in texts {
            shingler.shingle_into(text.as_ref(), &mut shingles);
            ignored.extend_from_slice(shingles.hashes());
        }
        Self { ignored: ignored.into(), ..self }
    }

    /// Returns the spec with the fingerprints of these tables, where it needs fingerprints and has none.
    #[must_use]
    pub fn fill(&self, spec: &Spec) -> Spec {
        let mut spec = *spec;
        let weights = &mut spec.weights;
        if let (true, None, Some(table)) = (weights.need_table(), weights.table, &self.frequencies) {
            weights.table = Some(table.fingerprint());
        }
        if weights.ignored.is_none() && !self.ignored.is_empty() {
            weights.ignored = Some(WeightSpec::fingerprint_of_ignored(&self.ignored));
        }
        spec
    }

    /// Returns the weigher for the weight spec, or `None` if the spec has no weights.
    pub(crate) fn weigher(&self, weights: &WeightSpec) -> Result<Option<Weigher>, Error> {
        if *weights == WeightSpec::default() {
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
