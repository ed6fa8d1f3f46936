//! The weigher, which turns the shingles of a document into a weighted set.

use std::sync::Arc;

use super::{FrequencyLookup, MostDocuments, WeightedSet, Weighting};
use crate::error::Error;
use crate::kernel::ln;
use crate::sort::sort_mixed;

/// Weighs the shingles of documents.
///
/// Ignored shingles are removed first, as if the document did not have them. The other shingles are counted and
/// weighed.
#[derive(Debug, Clone, Default)]
pub struct Weigher {
    weighting: Weighting,
    frequencies: Option<Arc<dyn FrequencyLookup>>,
    most_documents: Option<MostDocuments>,
    /// Ignored shingles in ascending order.
    ignored: Vec<u64>,
}

impl Weigher {
    /// Makes a weigher that needs no document frequencies.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if the weighting needs document frequencies,
    /// as `tf-idf` does. Use [`with_frequencies`](Self::with_frequencies) then.
    pub fn new(weighting: Weighting) -> Result<Self, Error> {
        if weighting.needs_frequencies() {
            let expected = "`none`, `count` or `tf` where document frequencies are not known";
            return Err(Error::out_of_range("the weighting", format_args!("`{weighting}`"), expected));
        }
        Ok(Self { weighting, ..Self::default() })
    }

    /// Makes a weigher with document frequencies. It ignores shingles of more than `most_documents` documents.
    #[must_use]
    pub fn with_frequencies(
        weighting: Weighting,
        frequencies: Arc<dyn FrequencyLookup>,
        most_documents: Option<MostDocuments>,
    ) -> Self {
        Self { weighting, frequencies: Some(frequencies), most_documents, ignored: vec![] }
    }

    /// Ignores these shingles in every document, for example those of a template.
    #[must_use]
    pub fn ignoring(mut self, shingles: impl IntoIterator<Item = u64>) -> Self {
        self.ignored.extend(shingles);
        self.ignored.sort_unstable();
        self.ignored.dedup();
        self
    }

    /// Returns the weighting of this weigher.
    #[must_use]
    pub fn weighting(&self) -> Weighting {
        self.weighting
    }

    /// Returns the greatest number of documents that a shingle may be in without being ignored; `None` if there is no
    /// limit.
    #[must_use]
    pub fn most_documents(&self) -> Option<MostDocuments> {
        self.most_documents
    }

    /// Returns the shingles that are ignored in every document, in ascending order.
    #[must_use]
    pub fn ignored(&self) -> &[u64] {
        &self.ignored
    }

    /// Reports whether the weigher has document frequencies.
    #[must_use]
    pub fn has_frequencies(&self) -> bool {
        self.frequencies.is_some()
    }

    /// Reports whether the weigher may ignore shingles, because they are frequent or listed.
    #[must_use]
    pub fn ignores_any(&self) -> bool {
        self.most_documents.is_some() || !self.ignored.is_empty()
    }

    /// Weighs the shingles of a document, which may be in any order, with repeats.
    pub fn weigh_into(&self, shingles: &[u64], work: &mut WeigherBuffers, out: &mut WeightedSet) {
        work.count(shingles);
        self.ignore(work);
        let all: u64 = work.counts.iter().map(|&count| u64::from(count)).sum();
        if self.weighting.needs_frequencies() {
            self.look_up(work);
        }
        // A table of no documents counts as a table of one document, so that no weight is infinite.
        let documents = self.frequencies.as_ref().map_or(1, |table| table.documents().max(1)) as f64;
        out.clear();
        for (at, (&shingle, &count)) in work.distinct.iter().zip(&work.counts).enumerate() {
            let share = f64::from(count) / all as f64;
            let rarity = || documents / (work.frequencies[at] as f64 + 1.0);
            let weight = match self.weighting {
                Weighting::None => 1.0,
                Weighting::Count => f64::from(count),
                Weighting::Tf => share,
                Weighting::TfIdf => share * ln(rarity()),
                Weighting::TfIdfSmooth => share * ln(1.0 + rarity()),
            };
            if weight > 0.0 {
                out.push(shingle, weight);
            }
        }
    }

    /// Returns the weighted set of a document.
    #[must_use]
    pub fn weigh(&self, shingles: &[u64]) -> WeightedSet {
        let mut set = WeightedSet::default();
        self.weigh_into(shingles, &mut WeigherBuffers::default(), &mut set);
        set
    }

    /// Returns the distinct shingles of a document that are not ignored, in ascending order. The shingles are stored in
    /// `work`.
    pub fn remaining<'w>(&self, shingles: &[u64], work: &'w mut WeigherBuffers) -> &'w [u64] {
        work.count(shingles);
        self.ignore(work);
        &work.distinct
    }

    /// Removes ignored shingles.
    fn ignore(&self, work: &mut WeigherBuffers) {
        if !self.ignores_any() {
            return;
        }
        if self.most_documents.is_some() {
            self.look_up(work);
        }
        let documents = self.frequencies.as_ref().map_or(0, |table| table.documents());
        let mut kept = 0;
        for at in 0..work.distinct.len() {
            let shingle = work.distinct[at];
            let too_frequent =
                self.most_documents.is_some_and(|most| !most.allows(work.frequencies[at], documents));
            if !too_frequent && self.ignored.binary_search(&shingle).is_err() {
                (work.distinct[kept], work.counts[kept]) = (shingle, work.counts[at]);
                kept += 1;
            }
        }
        work.distinct.truncate(kept);
        work.counts.truncate(kept);
    }

    fn look_up(&self, work: &mut WeigherBuffers) {
        match &self.frequencies {
            Some(table) => table.look_up(&work.distinct, &mut work.frequencies),
            None => work.frequencies.clear(),
        }
    }
}

/// Buffers that are reused from document to document.
#[derive(Debug, Clone, Default)]
pub struct WeigherBuffers {
    sorted: Vec<u64>,
    scratch: Vec<u64>,
    distinct: Vec<u64>,
    counts: Vec<u32>,
    frequencies: Vec<u64>,
}

impl WeigherBuffers {
    /// Counts the occurrences of each shingle of a document.
    fn count(&mut self, shingles: &[u64]) {
        let Self { sorted, scratch, distinct, counts, .. } = self;
        sorted.clear();
        sorted.extend_from_slice(shingles);
        sort_mixed(sorted, scratch);
        distinct.clear();
        counts.clear();
        for equal in sorted.chunk_by(|a, b| a == b) {
            distinct.push(equal[0]);
            counts.push(equal.len() as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::DocumentFrequencies;

    const A: u64 = 1;
    const B: u64 = 2;
    const C: u64 = 3;
    const D: u64 = 4;
    const E: u64 = 5;
    const F: u64 = 6;
    /// The documents of the example in docs/sources/weights.md#tf-idf.
    const DOCUMENTS: [&[u64]; 4] = [&[A, A, B, C], &[A, B, D], &[B, C, C, E], &[F, A]];

    fn table() -> Arc<DocumentFrequencies> {
        Arc::new(DocumentFrequencies::count(DOCUMENTS).unwrap())
    }

    fn check(weigher: &Weigher, document: &[u64], expected: &[(u64, f64)]) {
        let set = weigher.weigh(document);
        let shingles: Vec<u64> = expected.iter().map(|member| member.0).collect();
        assert_eq!(set.shingles(), shingles);
        for (found, (_, expected)) in set.weights().iter().zip(expected) {
            // The values in docs/sources have ten digits.
            assert!((found - expected).abs() <= 0.5e-10, "{found}, not {expected}");
        }
    }

    #[test]
    fn documented_weights() {
        let weigher = Weigher::with_frequencies(Weighting::TfIdf, table(), None);
        check(&weigher, DOCUMENTS[0], &[(C, 0.071_920_518_1)]);
        check(&weigher, DOCUMENTS[1], &[(D, 0.231_049_060_2)]);
        check(&weigher, DOCUMENTS[2], &[(C, 0.143_841_036_2), (E, 0.173_286_795_1)]);
        check(&weigher, DOCUMENTS[3], &[(F, 0.346_573_590_3)]);
    }

    /// A shingle of all documents would have a negative weight, and a shingle of all documents except one would have
    /// weight 0 (E-54).
    #[test]
    fn weights_that_are_not_positive_are_dropped() {
        let table = Arc::new(DocumentFrequencies::new(4, vec![(A, 4), (B, 3)]).unwrap());
        let published = Weigher::with_frequencies(Weighting::TfIdf, table.clone(), None);
        assert!(published.weigh(&[A, B]).is_empty());
        let smooth = Weigher::with_frequencies(Weighting::TfIdfSmooth, table, None);
        check(&smooth, &[A, B], &[(A, 0.5 * 1.8f64.ln()), (B, 0.5 * 2f64.ln())]);
    }

    /// The constructor refuses a table of no documents, but a run over an empty corpus has such a table.
    #[test]
    fn a_table_of_no_documents_is_as_one_of_one() {
        #[derive(Debug)]
        struct Empty(u64);
        impl crate::weight::sealed::FrequencySeal for Empty {}
        impl FrequencyLookup for Empty {
            fn documents(&self) -> u64 {
                self.0
            }
            fn look_up(&self, shingles: &[u64], out: &mut Vec<u64>) {
                out.clear();
                out.resize(shingles.len(), 0);
            }
        }
        for weighting in [Weighting::TfIdf, Weighting::TfIdfSmooth] {
            let weigh = |documents| {
                Weigher::with_frequencies(weighting, Arc::new(Empty(documents)), None).weigh(&[A, B])
            };
            assert_eq!(weigh(0).weights(), weigh(1).weights());
        }
        let smooth = Weigher::with_frequencies(Weighting::TfIdfSmooth, Arc::new(Empty(0)), None);
        check(&smooth, &[A, B], &[(A, 0.5 * 2f64.ln()), (B, 0.5 * 2f64.ln())]);
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
