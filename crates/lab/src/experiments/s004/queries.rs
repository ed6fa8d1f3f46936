//! Queries for the documents of a family (an original and its copies), with different numbers of bands.

use anyhow::Result;
use minwise::candidate::Banding;
use minwise::hash::vector::ModularSum;
use minwise::sketch::Sketches;

use super::copies::{Collection, MEMBERS, candidates, reaches};
use crate::measure::TrialStatistics;

/// Mean results of queries with one number of bands.
pub(super) struct QueryRow {
    pub bands: usize,
    /// Number of copies whose estimate reaches the threshold.
    pub found: f64,
    /// Standard deviation of `found` between queries.
    pub found_deviation: f64,
    pub copies_among_candidates: f64,
    pub false_by_bucket: f64,
    pub expected_by_bucket: f64,
    pub false_by_key: f64,
    /// Mean number per query of documents of other families that share no bucket with the query.
    pub left_out: f64,
}

/// Queries in a collection with one sketch per document.
pub(super) struct Queries<'a> {
    pub collection: &'a Collection,
    pub sketches: &'a Sketches,
    pub asked: &'a [usize],
    pub registers: usize,
    pub threshold: f64,
    pub seed: u64,
}

impl Queries<'_> {
    /// Returns the mean results of the queries with `bands` bands.
    pub fn with_bands(&self, bands: usize) -> Result<QueryRow> {
        let rows = self.registers / bands;
        let (sketches, collection) = (self.sketches, self.collection);
        let banding = Banding::new(bands, rows, self.registers)?;
        let documents = collection.sets.len();
        let buckets: Vec<ModularSum> = (0..bands as u64)
            .map(|band| ModularSum::new(rows, documents as u64, self.seed.wrapping_add(band << 32)))
            .collect::<Result<_, _>>()?;
        let by_bucket = candidates(documents, self.asked, bands, |band, document| {
            let rows: Vec<u64> =
                sketches.row(document)[band * rows..][..rows].iter().map(|&value| u64::from(value)).collect();
            buckets[band].hash(&rows)
        });
        let by_key = candidates(documents, self.asked, bands, |band, document| {
            banding.key(band, sketches.row(document))
        });
        let (mut found, mut copies, mut false_by_bucket, mut false_by_key) = (vec![], 0, 0, 0);
        for ((&query, by_bucket), by_key) in self.asked.iter().zip(&by_bucket).zip(&by_key) {
            // Some posts are near-duplicates of a post of another family. Such candidates are not counted as false.
            let is_false = |other: &&usize| {
                !collection.is_family(query, **other)
                    && collection.similarity(query, **other) < self.threshold
            };
            let of_family = || by_key.iter().filter(|&&other| collection.is_family(query, other));
            copies += of_family().count();
            let reaching = of_family().filter(|&&other| reaches(sketches, query, other, self.threshold));
            found.push(reaching.count() as f64);
            false_by_bucket += by_bucket.iter().filter(is_false).count();
            false_by_key += by_key.iter().filter(is_false).count();
        }
        let mean = |count: usize| count as f64 / self.asked.len() as f64;
        let prime = buckets.first().map_or(1, ModularSum::prime) as f64;
        let others = (documents - MEMBERS) as f64;
        let found = TrialStatistics::of(&found);
        Ok(QueryRow {
            bands,
            found: found.mean,
            found_deviation: found.variance.sqrt(),
            copies_among_candidates: mean(copies),
            false_by_bucket: mean(false_by_bucket),
            expected_by_bucket: others * -(bands as f64 * (-1.0 / prime).ln_1p()).exp_m1(),
            false_by_key: mean(false_by_key),
            left_out: others - mean(false_by_bucket),
        })
    }
}
