//! From the shingles of a document to a weighted set.

use std::sync::Arc;

use super::{DocumentFrequencies, MostDocuments, WeightedSet, Weighting};
use crate::error::Error;
use crate::kernel::ln;
use crate::sort::sort_mixed;

/// Weighs the shingles of documents.
///
/// What is ignored is taken out first, as if the document did not have it; then the rest is counted and weighed.
#[derive(Debug, Clone, Default)]
pub struct Weigher {
    weighting: Weighting,
    frequencies: Option<Arc<DocumentFrequencies>>,
    most_documents: Option<MostDocuments>,
    /// Sorted.
    ignored: Vec<u64>,
}

impl Weigher {
    /// A weigher that needs no table.
    pub fn new(weighting: Weighting) -> Result<Self, Error> {
        if weighting.needs_frequencies() {
            let expected = "`none`, `count` or `tf` where document frequencies are not known";
            return Err(Error::out_of_range("the weighting", format_args!("`{weighting}`"), expected));
        }
        Ok(Self { weighting, ..Self::default() })
    }

    /// A weigher that knows in how many documents shingles occur, and may ignore those of too many.
    #[must_use]
    pub fn with_frequencies(
        weighting: Weighting,
        frequencies: Arc<DocumentFrequencies>,
        most_documents: Option<MostDocuments>,
    ) -> Self {
        Self { weighting, frequencies: Some(frequencies), most_documents, ignored: vec![] }
    }

    /// Ignores these shingles in every document: those of a template.
    #[must_use]
    pub fn ignoring(mut self, shingles: impl IntoIterator<Item = u64>) -> Self {
        self.ignored.extend(shingles);
        self.ignored.sort_unstable();
        self.ignored.dedup();
        self
    }

    /// How it weighs.
    #[must_use]
    pub fn weighting(&self) -> Weighting {
        self.weighting
    }

    /// Weighs the shingles of a document, given in any order, repeats included. The two buffers are room to work in and
    /// are used again for the next one.
    pub fn weigh_into(&self, shingles: &[u64], work: &mut (Vec<u64>, Vec<u64>), out: &mut WeightedSet) {
        let (sorted, scratch) = work;
        sorted.clear();
        sorted.extend(shingles.iter().filter(|shingle| !self.ignores(**shingle)));
        sort_mixed(sorted, scratch);
        let all = sorted.len() as f64;
        out.clear();
        for equal in sorted.chunk_by(|a, b| a == b) {
            let (shingle, count) = (equal[0], equal.len() as f64);
            let weight = match self.weighting {
                Weighting::None => 1.0,
                Weighting::Count => count,
                Weighting::Tf => count / all,
                Weighting::TfIdf => count / all * ln(self.documents_per_finder(shingle)),
                Weighting::TfIdfSmooth => count / all * ln(1.0 + self.documents_per_finder(shingle)),
            };
            if weight > 0.0 {
                out.push(shingle, weight);
            }
        }
    }

    /// The weighted set of a document's shingles.
    #[must_use]
    pub fn weigh(&self, shingles: &[u64]) -> WeightedSet {
        let mut set = WeightedSet::default();
        self.weigh_into(shingles, &mut Default::default(), &mut set);
        set
    }

    fn ignores(&self, shingle: u64) -> bool {
        let too_frequent = || match (self.most_documents, &self.frequencies) {
            (Some(most), Some(table)) => !most.allows(table.of(shingle), table.documents()),
            _ => false,
        };
        self.ignored.binary_search(&shingle).is_ok() || too_frequent()
    }

    /// D / (d + 1).
    fn documents_per_finder(&self, shingle: u64) -> f64 {
        self.frequencies
            .as_ref()
            .map_or(1.0, |table| table.documents() as f64 / (table.of(shingle) as f64 + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u64 = 1;
    const B: u64 = 2;
    const C: u64 = 3;
    const D: u64 = 4;
    const E: u64 = 5;
    const F: u64 = 6;
    /// Digest 06, 1.
    const DOCUMENTS: [&[u64]; 4] = [&[A, A, B, C], &[A, B, D], &[B, C, C, E], &[F, A]];

    fn table() -> Arc<DocumentFrequencies> {
        Arc::new(DocumentFrequencies::count(DOCUMENTS).unwrap())
    }

    fn check(weigher: &Weigher, document: &[u64], expected: &[(u64, f64)]) {
        let set = weigher.weigh(document);
        let shingles: Vec<u64> = expected.iter().map(|member| member.0).collect();
        assert_eq!(set.view().shingles(), shingles);
        for (found, (_, expected)) in set.view().weights().iter().zip(expected) {
            // Ten digits are printed.
            assert!((found - expected).abs() <= 0.5e-10, "{found}, not {expected}");
        }
    }

    #[test]
    fn the_digest_weights() {
        let weigher = Weigher::with_frequencies(Weighting::TfIdf, table(), None);
        check(&weigher, DOCUMENTS[0], &[(C, 0.071_920_518_1)]);
        check(&weigher, DOCUMENTS[1], &[(D, 0.231_049_060_2)]);
        check(&weigher, DOCUMENTS[2], &[(C, 0.143_841_036_2), (E, 0.173_286_795_1)]);
        check(&weigher, DOCUMENTS[3], &[(F, 0.346_573_590_3)]);
    }

    /// E-54: a shingle of all documents would weigh less than nothing, one of all but one nothing.
    #[test]
    fn weights_that_are_not_positive_are_dropped() {
        let table = Arc::new(DocumentFrequencies::new(4, vec![(A, 4), (B, 3)]).unwrap());
        let published = Weigher::with_frequencies(Weighting::TfIdf, Arc::clone(&table), None);
        assert!(published.weigh(&[A, B]).view().is_empty());
        let smooth = Weigher::with_frequencies(Weighting::TfIdfSmooth, table, None);
        check(&smooth, &[A, B], &[(A, 0.5 * 1.8f64.ln()), (B, 0.5 * 2f64.ln())]);
    }

    #[test]
    fn without_a_table() {
        let weigh = |weighting| Weigher::new(weighting).unwrap();
        check(&weigh(Weighting::None), DOCUMENTS[0], &[(A, 1.0), (B, 1.0), (C, 1.0)]);
        check(&weigh(Weighting::Count), DOCUMENTS[0], &[(A, 2.0), (B, 1.0), (C, 1.0)]);
        check(&weigh(Weighting::Tf), DOCUMENTS[0], &[(A, 0.5), (B, 0.25), (C, 0.25)]);
        check(&weigh(Weighting::Tf), &[], &[]);
        let message = Weigher::new(Weighting::TfIdf).unwrap_err().to_string();
        assert!(message.contains("document frequencies are not known"), "{message}");
    }

    #[test]
    fn ignored_shingles_are_as_if_not_there() {
        let weigher = Weigher::new(Weighting::Tf).unwrap().ignoring([B, A, B]);
        check(&weigher, DOCUMENTS[2], &[(C, 2.0 / 3.0), (E, 1.0 / 3.0)]);
        let most = Some(MostDocuments::Number(2));
        let weigher = Weigher::with_frequencies(Weighting::Count, table(), most);
        check(&weigher, DOCUMENTS[0], &[(C, 1.0)]);
        let most = Some(MostDocuments::Share(0.25));
        let weigher = Weigher::with_frequencies(Weighting::Count, table(), most).ignoring([F]);
        check(&weigher, DOCUMENTS[2], &[(E, 1.0)]);
        check(&weigher, DOCUMENTS[3], &[]);
    }
}
