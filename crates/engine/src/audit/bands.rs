//! Finds near documents by bands of the audit's own.
//!
//! The bands of the run decide which pairs the run misses, so they cannot measure its recall. The audit draws other
//! bands: each is a random set of values of a row. Two documents whose rows agree in k values are found with a
//! probability that follows from k alone ([`BandShape::in_any`]). Each pair that is found therefore represents a known
//! number of pairs. The time per document is the same in every corpus. A comparison with all documents takes a time per
//! document that grows with the corpus.
//!
//! Documents that agree in a band by chance, or because all documents contain a form, are compared too. If there are
//! too many of these pairs, the draw is halved: fewer drawn documents are compared, but still with all others.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use minwise::hash::{SplitMix64, fmix64};
use minwise::sort::sort_mixed_bucket;

use super::AuditedRun;
use super::draw::{KeptDraw, LEVELS, NONE, below, halvings, subset};
use super::near::{NearLists, NearPair, Searched};
use super::sieve::Sieve;
use super::values::{BandShape, Values};
use crate::error::Error;
use crate::memory::KeyPart;
use crate::parallel;
use crate::read::documents::{RowChoice, RowReader};

/// Constant that separates the random numbers for bands from the values of hash functions with the same seed.
const PURPOSE: u64 = 0x62_616e_6473;
/// Number of documents whose keys are computed together.
const BLOCK: usize = 4096;
/// Number of random pairs of documents from which the agreement of unlike documents is estimated.
const LEARNED_PAIRS: usize = 2048;
/// Maximum number of documents with which a document should agree in a band by chance. The number of values per band is
/// chosen accordingly, if possible.
const BY_CHANCE: f64 = 2.0;
/// Range of the probability of finding a pair at the threshold. The number of values per band is chosen so that the
/// probability is in this range.
const FOUND: Range<f64> = 0.5..0.97;
/// Maximum size of a group whose rows are fetched together. In larger groups, mostly few rows are compared.
const WARMED: usize = 64;
/// Maximum number of misses whose covariance is computed. All pairs of 256 misses take less than a millisecond.
pub(super) const MOST_COVARIED: usize = 256;
/// Minimum number of documents per slice of a band. Smaller slices cost more than they divide.
const LEAST_SLICE: usize = if cfg!(test) { 1 << 4 } else { 1 << 14 };
/// Number of slices per thread, so that all threads finish at about the same time.
const SLICES_PER_THREAD: usize = 4;
/// Maximum number of values per band.
const MOST_VALUES: u32 = 64;
/// Number of bytes per document while a band is looked up: a key, and twice the size of a [`Member`].
const ENTRY_BYTES: u64 = (size_of::<u64>() + 2 * size_of::<Member>()) as u64;

/// Bands of an audit.
#[derive(Debug)]
pub(super) struct AuditBands {
    shape: BandShape,
    /// Values of each band.
    values: Vec<Vec<u32>>,
    /// Number of values per row.
    count: u32,
    /// Probability of finding a pair at the threshold whose sketches agree in unusually few values.
    least: f64,
}

impl AuditBands {
    /// Draws `bands` bands, for a search of `documents` documents.
    pub(super) fn new(
        run: &AuditedRun<'_>,
        sieve: &Sieve,
        draw: &KeptDraw,
        documents: u64,
        bands: u32,
    ) -> Result<Self, Error> {
        let mut random = SplitMix64::new(fmix64(run.plan.spec.seed ^ PURPOSE));
        let count = sieve.values().count();
        let (mean, deviation) = sieve.values().at_threshold(sieve.rows(), run.plan.threshold);
        let agreements = any_agreements(run, sieve, draw, &mut random)?;
        let by_chance = |values| {
            let shape = BandShape { bands, values };
            let sum: f64 = agreements.iter().map(|&agreeing| shape.in_a_band(agreeing, count)).sum();
            sum / agreements.len().max(1) as f64 * documents as f64
        };
        let found = |values| BandShape { bands, values }.in_any(mean as u32, count);
        let last = |is: &dyn Fn(u32) -> bool| (1..=MOST_VALUES.min(count)).take_while(|&at| is(at)).last();
        let fewest = last(&|values| found(values) >= FOUND.end).unwrap_or(1);
        let most = last(&|values| found(values) >= FOUND.start).unwrap_or(1);
        let values = (fewest..=most).find(|&values| by_chance(values) <= BY_CHANCE).unwrap_or(most);
        let shape = BandShape { bands, values };
        let least = shape.in_any((mean - 2.0 * deviation).max(0.0) as u32, count);
        let values = (0..bands).map(|_| subset(0..count, values as usize, &mut random)).collect();
        Ok(Self { shape, values, count, least: least.max(f64::MIN_POSITIVE) })
    }

    /// Returns the probability that a pair is found if its rows agree in `agreeing` values.
    pub(super) fn probability(&self, agreeing: u32) -> f64 {
        self.shape.in_any(agreeing, self.count)
    }

    /// Returns the probability of finding a pair at the threshold whose sketches agree in unusually few values.
    pub(super) fn least(&self) -> f64 {
        self.least
    }

    /// Returns Σ (πᵢⱼ − πᵢπⱼ)/(πᵢⱼπᵢπⱼ) over the ordered pairs of misses. The probability that miss i is found is πᵢ,
    /// and the probability that misses i and j are both found is πᵢⱼ. The misses are looked up in the same bands, so
    /// they are not found independently of each other. If there are many misses, [`MOST_COVARIED`] of them represent
    /// all.
    pub(super) fn covariance(
        &self,
        run: &AuditedRun<'_>,
        sieve: &Sieve,
        misses: &[NearPair],
    ) -> Result<f64, Error> {
        let some = misses.len().min(MOST_COVARIED);
        let mut reader = RowReader::new(&run.reading.documents, RowChoice::Sketch);
        let mut agreements = vec![];
        for at in 0..some {
            let NearPair { agreeing, document, other } = misses[at * misses.len() / some];
            let (row, other_row) = reader.pair(document, other)?;
            agreements.push((agreeing.0, Values::agreement(sieve.rows(), row, other_row)));
        }
        let mut sum = 0.0;
        for (at, (first, first_values)) in agreements.iter().enumerate() {
            for (second, second_values) in &agreements[..at] {
                let both: u32 =
                    first_values.iter().zip(second_values).map(|(a, b)| (a & b).count_ones()).sum();
                let together = self.shape.in_any_both([*first, *second], both, self.count);
                let apart = self.probability(*first) * self.probability(*second);
                sum += 2.0 * (together - apart) / (together * apart);
            }
        }
        let pairs = |misses: usize| misses as f64 * (misses as f64 - 1.0);
        Ok(if some < 2 { 0.0 } else { sum * pairs(misses.len()) / pairs(some) })
    }

    /// Finds the documents that are near drawn documents. The draw is halved until no band has more than its share of
    /// `comparisons`, and until at most `most_near` pairs are near.
    pub(super) fn search(
        &self,
        run: &AuditedRun<'_>,
        sieve: &Sieve,
        draw: &KeptDraw,
        comparisons: u64,
        most_near: u64,
    ) -> Result<Searched, Error> {
        let documents = run.reading.documents.len();
        let bands = self.values.len();
        let room = run.plan.memory.room(run.plan.threads, documents);
        let band_bytes = documents as u64 * ENTRY_BYTES;
        // If the keys of a band do not fit into memory, the range of keys is looked up part by part.
        let parts = room.parts(band_bytes);
        let together = room.fitting(band_bytes).clamp(1, bands);
        let passes = if parts.len() == 1 { 1 } else { 2 * parts.len() };
        run.begin(2 * bands * passes * documents);
        let most = comparisons / bands as u64;
        let mut searched = Searched::new(most_near);
        for first in (0..bands).step_by(together) {
            let here = first..bands.min(first + together);
            // Documents of at most one band per thread are in memory together.
            let group = run.plan.threads.clamp(1, here.len());
            let slices = Slices::new(run.plan.threads, group, documents / parts.len());
            let keys = |part: KeyPart| self.keys(run, sieve, draw, here.clone(), part, slices);
            let same_bits = |part: KeyPart| part.same_bits() + slices.bits;
            let mut before = searched.halvings;
            if parts.len() > 1 {
                // The draw depends on the pairs of the whole band, because memory must not change a result.
                let mut counts = PairCounts::default();
                for part in parts.all() {
                    let gathered = gather_slices(run, draw, keys(part)?, same_bits(part))?;
                    for slice in &gathered {
                        counts.add(&slice.counts);
                    }
                    run.observer.advance((here.len() * documents) as u64);
                }
                before = before.max(counts.halvings(most));
            }
            for part in parts.all() {
                let mut keys = keys(part)?.into_iter();
                for first in here.clone().step_by(group) {
                    let keys: Vec<Vec<u64>> = keys.by_ref().take(group * slices.len()).collect();
                    let gathered = gather_slices(run, draw, keys, same_bits(part))?;
                    let halvings: Vec<u32> = gathered
                        .chunks(slices.len())
                        .map(|band| {
                            let mut counts = PairCounts::default();
                            for slice in band {
                                counts.add(&slice.counts);
                            }
                            if parts.len() == 1 { before.max(counts.halvings(most)) } else { before }
                        })
                        .collect();
                    let compare = |reader: &mut RowReader<'_>, item: usize| -> Result<_, Error> {
                        run.check()?;
                        let (band, slice) = (item / slices.len(), item % slices.len());
                        let members = &gathered[item].members;
                        let near =
                            self.compare(sieve, draw, (first + band, members), halvings[band], reader)?;
                        let compared = |slices_done: usize| documents * slices_done / slices.len();
                        run.observer.advance((compared(slice + 1) - compared(slice)) as u64);
                        Ok((near, halvings[band]))
                    };
                    let reader = || RowReader::new(&run.reading.documents, RowChoice::Sketch);
                    parallel::in_order(
                        gathered.len(),
                        run.plan.threads,
                        reader,
                        compare,
                        |(near, halvings)| {
                            searched.add(near, draw);
                            searched.halve(halvings, draw);
                            Ok::<(), Error>(())
                        },
                    )?;
                }
            }
        }
        Ok(searched)
    }

    /// Returns the keys of `part` with their documents, per band and slice. Each 64-bit number holds the upper half of
    /// the key and, in its lower half, the document.
    fn keys(
        &self,
        run: &AuditedRun<'_>,
        sieve: &Sieve,
        draw: &KeptDraw,
        bands: Range<usize>,
        part: KeyPart,
        slices: Slices,
    ) -> Result<Vec<Vec<u64>>, Error> {
        let documents = &run.reading.documents;
        let lists = bands.len() * slices.len();
        let work = |rows: &mut Vec<u32>, item: usize| -> Result<_, Error> {
            run.check()?;
            let begin = item * BLOCK;
            let range = begin as u32..(begin + BLOCK).min(documents.len()) as u32;
            documents.rows_into(range.clone(), rows)?;
            let mut keys = vec![vec![]; lists];
            for (document, row) in range.clone().zip(rows.chunks_exact(sieve.rows().words())) {
                if draw.cluster(document) == NONE {
                    continue;
                }
                for (keys, values) in keys.chunks_exact_mut(slices.len()).zip(&self.values[bands.clone()]) {
                    let key = Values::key(sieve.rows(), row, values);
                    if part.has(key) {
                        keys[slices.of(key, part)].push(key >> 32 << 32 | u64::from(document));
                    }
                }
            }
            run.observer.advance((range.len() * bands.len()) as u64);
            Ok(keys)
        };
        let mut all: Vec<Vec<u64>> = vec![vec![]; lists];
        parallel::in_order(documents.len().div_ceil(BLOCK), run.plan.threads, Vec::new, work, |keys| {
            all.iter_mut().zip(keys).for_each(|(all, keys)| all.extend(keys));
            Ok::<(), Error>(())
        })?;
        Ok(all)
    }

    /// Returns the near pairs of a band, after `halvings` halvings of the draw.
    fn compare(
        &self,
        sieve: &Sieve,
        draw: &KeptDraw,
        (band, members): (usize, &[Member]),
        halvings: u32,
        reader: &mut RowReader<'_>,
    ) -> Result<NearLists, Error> {
        let mut near = NearLists::default();
        for group in members.chunk_by(|a, b| a.group == b.group) {
            if group.len() <= WARMED {
                reader.warm(group.iter().map(|member| member.document));
            }
            each_pair(group, draw, halvings, |cluster, document, other| {
                let (row, other_row) = reader.pair(document, other)?;
                let Some(agreeing) = sieve.near(row, other_row) else { return Ok(()) };
                let agrees = |values: &Vec<u32>| {
                    let key = |row| Values::key(sieve.rows(), row, values);
                    key(row) == key(other_row)
                };
                // A pair that an earlier band found is left out, because it is already counted.
                if agrees(&self.values[band]) && !self.values[..band].iter().any(agrees) {
                    near.add(cluster, NearPair { agreeing: Reverse(agreeing), document, other });
                }
                Ok(())
            })?;
        }
        Ok(near)
    }
}

/// Division of the keys of a band by their first bits, so that several threads search one band. Very many documents
/// have only two bands.
#[derive(Debug, Clone, Copy)]
struct Slices {
    bits: u32,
}

impl Slices {
    /// Chooses the number of slices for `bands` bands of `keys` keys each.
    fn new(threads: usize, bands: usize, keys: usize) -> Self {
        let wanted = if threads > 1 { (SLICES_PER_THREAD * threads).div_ceil(bands.max(1)) } else { 1 };
        let most = (keys / LEAST_SLICE).max(1);
        Self { bits: wanted.min(most).next_power_of_two().trailing_zeros() }
    }

    fn len(self) -> usize {
        1 << self.bits
    }

    /// Returns the slice of a key of `part`. The slices are in ascending order of their keys.
    fn of(self, key: u64, part: KeyPart) -> usize {
        (key << part.same_bits()).checked_shr(u64::BITS - self.bits).unwrap_or(0) as usize
    }
}

/// Documents of one slice of a band.
struct GatheredSlice {
    members: Vec<Member>,
    counts: PairCounts,
}

/// Gathers the documents that share a key, slice by slice. The keys of each slice have the same first `same_bits` bits.
fn gather_slices(
    run: &AuditedRun<'_>,
    draw: &KeptDraw,
    keys: Vec<Vec<u64>>,
    same_bits: u32,
) -> Result<Vec<GatheredSlice>, Error> {
    // Each thread takes the keys of a slice out of this list, so that their memory is free when the documents of the
    // next slice take memory.
    let keys: Vec<Mutex<Vec<u64>>> = keys.into_iter().map(Mutex::new).collect();
    let work = |(): &mut (), item: usize| -> Result<_, Error> {
        run.check()?;
        let mut keys = std::mem::take(&mut *keys[item].lock().unwrap_or_else(PoisonError::into_inner));
        // Keys are well mixed, so they can be distributed by their first bits. The buffer for sorting is freed before
        // members take memory.
        sort_mixed_bucket(&mut keys, &mut Vec::new(), same_bits);
        let members = gather(&keys, draw);
        let counts = PairCounts::of(&members, draw);
        Ok(GatheredSlice { members, counts })
    };
    let mut gathered = Vec::with_capacity(keys.len());
    parallel::in_order(
        keys.len(),
        run.plan.threads,
        || (),
        work,
        |slice| {
            gathered.push(slice);
            Ok::<(), Error>(())
        },
    )?;
    Ok(gathered)
}

/// Document that shares a key with a document of another cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    /// Number of the key.
    group: u32,
    cluster: u32,
    document: u32,
}

/// Returns the documents that share a key, sorted by cluster. Keys whose documents are all in one cluster are left out.
fn gather(keys: &[u64], draw: &KeptDraw) -> Vec<Member> {
    let mut members = vec![];
    for group in keys.chunk_by(|a, b| a >> 32 == b >> 32).filter(|group| group.len() > 1) {
        let begin = members.len();
        members.extend(group.iter().map(|&key| {
            let document = key as u32;
            Member { group: begin as u32, cluster: draw.cluster(document), document }
        }));
        let here = &mut members[begin..];
        here.sort_unstable_by_key(|member| (member.cluster, member.document));
        if here[0].cluster == here[here.len() - 1].cluster {
            members.truncate(begin);
        }
    }
    members
}

/// Number of pairs of a band, by the level of the cluster of their later document.
#[derive(Debug)]
struct PairCounts([u64; LEVELS]);

impl Default for PairCounts {
    fn default() -> Self {
        Self([0; LEVELS])
    }
}

impl PairCounts {
    fn of(members: &[Member], draw: &KeptDraw) -> Self {
        let mut counts = Self::default();
        for group in members.chunk_by(|a, b| a.group == b.group) {
            let mut before = 0;
            for cluster in group.chunk_by(|a, b| a.cluster == b.cluster) {
                if let Some(level) = draw.level(cluster[0].cluster) {
                    counts.0[level as usize] += before * cluster.len() as u64;
                }
                before += cluster.len() as u64;
            }
        }
        counts
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// Returns the number of halvings after which at most `most` pairs are left.
    fn halvings(&self, most: u64) -> u32 {
        halvings(&self.0, most)
    }
}

/// Visits the pairs of a group. A pair is a document of a drawn cluster and a document of an earlier cluster.
fn each_pair(
    group: &[Member],
    draw: &KeptDraw,
    halvings: u32,
    mut visit: impl FnMut(u32, u32, u32) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut before = 0;
    for members in group.chunk_by(|a, b| a.cluster == b.cluster) {
        let cluster = members[0].cluster;
        if draw.has(cluster, halvings) {
            for member in members {
                for other in &group[..before] {
                    visit(cluster, member.document, other.document)?;
                }
            }
        }
        before += members.len();
    }
    Ok(())
}

/// Returns the number of values in which two documents agree, for some random pairs of searched documents.
fn any_agreements(
    run: &AuditedRun<'_>,
    sieve: &Sieve,
    draw: &KeptDraw,
    random: &mut SplitMix64,
) -> Result<Vec<u32>, Error> {
    let all = run.reading.documents.len() as u64;
    let mut reader = RowReader::new(&run.reading.documents, RowChoice::Sketch);
    let mut agreements = vec![];
    for _ in 0..LEARNED_PAIRS {
        let [a, b] = [(); 2].map(|()| below(all, random) as u32);
        if a != b && draw.cluster(a) != NONE && draw.cluster(b) != NONE {
            let (a, b) = reader.pair(a, b)?;
            agreements.push(sieve.values().agreeing(sieve.rows(), a, b));
        }
    }
    Ok(agreements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bands_keep_sixteen_threads_busy() {
        assert_eq!(Slices::new(16, 2, 3_000_000).len(), 32);
        assert_eq!(Slices::new(1, 2, 3_000_000).len(), 1);
        assert_eq!(Slices::new(16, 2, LEAST_SLICE - 1).len(), 1);
    }

    #[test]
    fn slices_are_in_the_order_of_keys() {
        let slices = Slices { bits: 3 };
        let of = |key: u64| slices.of(key, KeyPart::ALL);
        assert_eq!((of(0), of(u64::MAX >> 3), of(1 << 61), of(u64::MAX)), (0, 0, 1, 7));
        assert_eq!(Slices { bits: 0 }.of(u64::MAX, KeyPart::ALL), 0);
    }
}
