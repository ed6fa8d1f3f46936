//! Queries of an index in memory.

use std::hash::Hash;

use super::band_keys::is_empty;
use super::index::{Buffers, Lsh, Sketchable, cut, gather_keys};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::sketch::minhash::EMPTY;
use crate::verify::{Overlap, ShingleSet};

/// A document of an index that a query found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Similar<'a, K> {
    /// Key of the document.
    pub key: &'a K,
    /// Similarity that the sketches estimate, with standard error and interval.
    pub estimate: Estimate,
    /// Exact Jaccard similarity, if the index keeps shingles and the query has shingles.
    pub exact: Option<f64>,
    slot: u32,
}

impl<K> Similar<'_, K> {
    /// Returns the exact similarity if it is known, otherwise the estimate. Queries choose and order results by this
    /// number.
    #[must_use]
    pub fn similarity(&self) -> f64 {
        self.exact.unwrap_or(self.estimate.value)
    }
}

/// Runs many queries on one index with reused buffers.
///
/// ```
/// use minwise::{Lsh, Spec};
///
/// let mut lsh = Lsh::new("nfkc+casefold / words:1 / minhash:256 / seed:1".parse()?, 0.5, 0.999)?;
/// lsh.insert_many([(1, "a b c d e f"), (2, "a b c d e g"), (3, "x y z")], 1)?;
///
/// let mut searcher = lsh.searcher().at_most(1).at_least(0.3)?;
/// for text in ["a b c d e f", "a b c d h g"] {
///     let best = searcher.query(text)?;
///     assert_eq!(best.len(), 1);
/// }
/// # Ok::<(), minwise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Searcher<'a, K> {
    lsh: &'a Lsh<K>,
    threshold: f64,
    most: usize,
    buffers: Buffers,
    row: Vec<u32>,
    candidates: Vec<u32>,
    found: Vec<Similar<'a, K>>,
}

impl<'a, K> Searcher<'a, K> {
    /// Sets the least similarity of found documents, from 0 to 1. The default is the [threshold](Lsh::threshold) of the
    /// index. A lower similarity is allowed, but the bands and rows of the index find such documents less often.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `similarity` is from 0 to 1.
    pub fn at_least(self, similarity: f64) -> Result<Self, Error> {
        // `contains` is false for NaN, so NaN is refused. Two comparisons with 0 and 1 would accept it.
        if !(0.0..=1.0).contains(&similarity) {
            return Err(Error::out_of_range("the similarity of a query", similarity, "from 0 to 1"));
        }
        Ok(Self { threshold: similarity, ..self })
    }

    /// Limits the number of found documents; the most similar ones are returned. By default there is no limit.
    #[must_use]
    pub fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Finds the documents of the index that share a band with a text, shingles or a sketch and are similar enough. The
    /// most similar document comes first, and equally similar ones come in the order of insertion.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::SpecMismatch`](crate::ErrorKind::SpecMismatch) if a sketch was made by another spec, and
    /// with [`ErrorKind::ShortDocument`](crate::ErrorKind::ShortDocument) if the spec rejects short texts and the text
    /// is short.
    pub fn query<'d>(&mut self, document: impl Into<Sketchable<'d>>) -> Result<&[Similar<'a, K>], Error> {
        self.search(document.into())?;
        Ok(&self.found)
    }

    fn search(&mut self, document: Sketchable<'_>) -> Result<(), Error> {
        let Self { lsh, threshold, most, buffers, row, candidates, found } = self;
        let lsh: &'a Lsh<K> = lsh;
        found.clear();
        let shingles = cut(&lsh.spec, &lsh.shingler, document, &mut buffers.shingles)?;
        let row: &[u32] = match (shingles, document) {
            (None, Sketchable::Sketch(sketch)) => sketch.words(),
            (shingles, _) => {
                row.resize(lsh.sketches.registers(), EMPTY);
                lsh.sketcher.sketch_into(shingles.unwrap_or_default(), row);
                row
            }
        };
        if is_empty(row) {
            return Ok(());
        }
        gather(lsh, row, &mut buffers.keys, candidates);
        let set = match (&lsh.sets, shingles) {
            (Some(sets), Some(shingles)) if !candidates.is_empty() => {
                Some((sets, ShingleSet::build(shingles, &mut buffers.sort)))
            }
            _ => None,
        };
        for &slot in &*candidates {
            let at = slot as usize;
            // Removed documents stay in the band tables until the index is compacted.
            let Some(key) = &lsh.keys[at] else { continue };
            let exact = match &set {
                None => None,
                Some((sets, set)) => match Overlap::at_least(set, &sets[at], *threshold) {
                    Some(overlap) => Some(overlap.jaccard()),
                    None => continue,
                },
            };
            let estimate = lsh.sketcher.estimate(row, lsh.sketches.row(at));
            if exact.is_some() || estimate.value >= *threshold {
                found.push(Similar { key, estimate, exact, slot });
            }
        }
        found.sort_unstable_by(|a, b| b.similarity().total_cmp(&a.similarity()).then(a.slot.cmp(&b.slot)));
        found.truncate(*most);
        Ok(())
    }
}

/// Fills `candidates` with the slots that share a band with a row, in ascending order without repeats.
fn gather<K>(lsh: &Lsh<K>, row: &[u32], keys: &mut Vec<u64>, candidates: &mut Vec<u32>) {
    candidates.clear();
    gather_keys(lsh.banding, row, &lsh.bands, keys);
    for (band, &key) in lsh.bands.iter().zip(&*keys) {
        band.gather(key, candidates);
    }
    candidates.sort_unstable();
    candidates.dedup();
}

impl<K: Eq + Hash> Lsh<K> {
    /// Finds the documents that reach the [threshold](Self::threshold). The most similar document comes first, and
    /// equally similar ones come in the order of insertion. For another threshold or a limit on the number, use a
    /// [`searcher`](Self::searcher).
    ///
    /// # Errors
    /// Fails where [`Searcher::query`] does.
    pub fn query<'d>(&self, document: impl Into<Sketchable<'d>>) -> Result<Vec<Similar<'_, K>>, Error> {
        let mut searcher = self.searcher();
        searcher.search(document.into())?;
        Ok(searcher.found)
    }

    /// Returns a searcher, which reuses its buffers from query to query. Each of several threads can have its own
    /// searcher.
    #[must_use]
    pub fn searcher(&self) -> Searcher<'_, K> {
        Searcher {
            lsh: self,
            threshold: self.threshold,
            most: usize::MAX,
            buffers: Buffers::default(),
            row: vec![],
            candidates: vec![],
            found: vec![],
        }
    }
}
