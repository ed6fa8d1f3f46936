//! Finds candidates by sort-merge: counts the shingles or registers that each pair of documents shares, in bounded
//! memory.

use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use minwise::Observer;
use minwise::candidate::sort_merge::{CandidateRule, Census, Join, PairCuts, Rank};
use minwise::hash::{fmix64, unfmix64};
use minwise::sort::sort_mixed;
use minwise_corpus::{Corpus, Scratch};

use crate::candidate::partners::CandidatePairs;
use crate::error::{Error, ErrorKind};
use crate::memory::WorkingMemory;
use crate::parallel;
use crate::read::Reading;
use crate::read::documents::{RowChoice, RowReader};
use crate::read::prepare::{Preparation, Prepared};
use crate::storage::runs::{SortEntry, SortedRuns, SpreadNumber};
use crate::turn::LargeDocumentLock;

/// Maximum number of documents whose items are gathered together.
const TOGETHER: usize = 512;
/// Limit of two buffers: the sketch words of documents that are gathered together, and the entries of a document that
/// is cut block by block. A full buffer of entries is sorted and stored.
const GATHERED: usize = 1 << 19;
/// Number of entries per thread that stay in memory. `LEAST_HELD` entries stay even if memory is short, because fewer
/// entries would make too many runs.
const HELD: usize = 1 << 20;
const LEAST_HELD: usize = 1 << 16;
/// Bounds of the number of entries that are merged together, if there are enough entries.
const MERGED: RangeInclusive<usize> = 1 << 10..=1 << 18;
/// Approximate number of copies of merged entries in memory: as read, as merged, as a buffer for sorting, and in
/// results that wait for an earlier range.
const TIMES: usize = 8;
/// Number of pairs that are counted together before they are added to the runs.
const PAIRS: usize = 1 << 18;
/// Number of pieces of work per thread. There are many, so that no thread is idle for long while another thread works
/// on its last piece.
const PIECES: usize = 16;

/// Item with one document that has it. The second number has the number of the document in its upper half, and the
/// weight as an `f32` in its lower half.
type Having = (u64, u64);

/// Scale by which weights become whole numbers. The scale is so fine that rounding does not matter, and so coarse that
/// sums fit into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WeightScale {
    /// Scale of weights that are whole numbers.
    Whole,
    /// Scale of weights whose sum per document is small.
    Fine,
}

impl WeightScale {
    fn mass(self, weight: f32) -> u64 {
        match self {
            Self::Whole => weight as u64,
            // The TF-IDF weights of a document add up to at most the logarithm of the number of documents, which is
            // below 2⁵.
            Self::Fine => (f64::from(weight) * (1u64 << 56) as f64) as u64,
        }
    }
}

pub(crate) struct JoinInput<'a> {
    pub corpus: &'a Corpus,
    pub reading: &'a Reading,
    /// Documents that take part. Pairs hold indices into this list.
    pub documents: &'a [u32],
    pub items: Items<'a>,
    pub rule: CandidateRule,
    pub threads: usize,
    pub room: WorkingMemory,
    pub folder: Option<&'a Path>,
    pub observer: &'a dyn Observer,
}

/// Items that documents may share.
pub(crate) enum Items<'a> {
    /// Shingles, or weighted shingles.
    Shingles(&'a Preparation, WeightScale),
    /// Registers, each combined with its index.
    Registers,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JoinCounts {
    /// Number of pairs that share an item which neither document left out.
    pub seen: u64,
    /// Number of pairs that became candidates.
    pub taken: u64,
}

impl JoinInput<'_> {
    fn scale(&self) -> WeightScale {
        match self.items {
            Items::Shingles(_, scale) => scale,
            Items::Registers => WeightScale::Whole,
        }
    }

    fn check(&self) -> Result<(), Error> {
        if self.observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }

    /// Returns the number of entries that stay in memory.
    fn held(&self) -> usize {
        self.room.entries(size_of::<Having>()).clamp(LEAST_HELD, (HELD * self.threads).max(LEAST_HELD))
    }

    /// Adds to `pairs` all candidates for which `passes` returns `true`.
    pub(crate) fn candidates(
        &self,
        passes: impl Fn(u32, u32) -> Result<bool, Error> + Sync,
        pairs: &mut CandidatePairs<'_>,
    ) -> Result<JoinCounts, Error> {
        let having = self.gather()?;
        let join = self.decide(&having)?;
        // Portions are added in any order, so that no portion waits in memory for another. The order does not change
        // the sums.
        let counts = Mutex::new(SortedRuns::new(self.held(), self.folder));
        let put_away = |part| counts.lock().unwrap_or_else(PoisonError::into_inner).add(part);
        self.for_each_having(&having, |entries| self.count(&join, &entries, put_away), Ok)?;
        drop(having);
        let counts: SortedRuns<'_, (u64, u64)> = counts.into_inner().unwrap_or_else(PoisonError::into_inner);

        let mut all = JoinCounts::default();
        let take = |mut sums: Vec<(u64, u64)>| {
            sum_up(&mut sums);
            let mut taken = vec![];
            for &(key, shared) in &sums {
                let (x, y) = pair(key);
                if join.is_candidate(x, y, shared) && passes(x, y)? {
                    taken.push((x, y));
                }
            }
            Ok((sums.len(), taken))
        };
        self.for_each_range(&counts, take, |(seen, taken)| {
            all.seen += seen as u64;
            all.taken += taken.len() as u64;
            pairs.add(&taken)
        })?;
        Ok(all)
    }

    /// Merges the runs range by range: several threads call `work` with the ranges, and `receive` gets the results in
    /// order.
    fn for_each_range<E: SortEntry, T: Send>(
        &self,
        runs: &SortedRuns<'_, E>,
        work: impl Fn(Vec<E>) -> Result<T, Error> + Sync,
        receive: impl FnMut(T) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let together = runs.len() / (PIECES * self.threads);
        let most = self.held() / (TIMES * self.threads);
        let ranges = runs.ranges(together.min(most).clamp(*MERGED.start(), *MERGED.end()));
        let merge = |(): &mut (), range: usize| {
            self.check()?;
            work(runs.merged(ranges[range].clone())?)
        };
        parallel::in_order(ranges.len(), self.threads, || (), merge, receive)
    }

    /// Merges the runs of items range by range. Repeated entries are removed, because a document that was cut block by
    /// block may have given an item several times.
    fn for_each_having<T: Send>(
        &self,
        runs: &SortedRuns<'_, Having>,
        work: impl Fn(Vec<Having>) -> Result<T, Error> + Sync,
        receive: impl FnMut(T) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let once = |mut entries: Vec<Having>| {
            entries.dedup();
            work(entries)
        };
        self.for_each_range(runs, once, receive)
    }

    /// Decides which items each document leaves out.
    fn decide(&self, having: &SortedRuns<'_, Having>) -> Result<Join, Error> {
        let mut census = Census::new(self.rule, self.documents.len());
        self.for_each_having(having, Ok, |entries| {
            for run in entries.chunk_by(|a, b| a.0 == b.0) {
                census.add(rank(run), run.iter().map(|&entry| self.document(entry)));
            }
            Ok(())
        })?;
        let mut join = census.join();
        if (0..self.documents.len() as u32).any(|document| join.is_crowded(document)) {
            for (document, cuts) in self.cuts(having, &join)? {
                join.cut(document, cuts);
            }
        }
        Ok(join)
    }

    /// Decides which items the crowded documents can leave out. The frequent items of these documents are sorted by
    /// document and cut by rank.
    fn cuts(&self, having: &SortedRuns<'_, Having>, join: &Join) -> Result<Vec<(u32, PairCuts)>, Error> {
        let spread = SpreadNumber::new(self.documents.len());
        let mut frequent = SortedRuns::new(self.held(), self.folder);
        let of_crowded = |entries: Vec<Having>| {
            let mut found = vec![];
            for run in entries.chunk_by(|a, b| a.0 == b.0) {
                let rank = rank(run);
                if rank.is_frequent() {
                    let parts = run.iter().map(|&(_, with)| ((with >> 32) as u32, with as u32));
                    let crowded = parts.filter(|&(document, _)| join.is_crowded(document));
                    found.extend(
                        crowded.map(|(document, weight)| (spread.key(document, weight), rank.to_bits())),
                    );
                }
            }
            sort_mixed(&mut found, &mut vec![]);
            Ok(found)
        };
        self.for_each_having(having, of_crowded, |found| frequent.add(found))?;

        let mut all = vec![];
        let cut = |entries: Vec<(u64, u64)>| {
            let (mut cuts, mut items) = (vec![], vec![]);
            for same in entries.chunk_by(|a, b| a.0 >> 32 == b.0 >> 32) {
                items.clear();
                items.extend(same.iter().map(|&(key, rank)| {
                    let weight = f32::from_bits(spread.unkey(key).1);
                    (Rank::from_bits(rank), self.scale().mass(weight))
                }));
                let document = spread.unkey(same[0].0).0;
                cuts.push((document, join.cuts(document, &mut items)));
            }
            Ok(cuts)
        };
        self.for_each_range(&frequent, cut, |mut cuts| {
            all.append(&mut cuts);
            Ok(())
        })?;
        Ok(all)
    }

    fn document(&self, (_, with): Having) -> (u32, u64) {
        ((with >> 32) as u32, self.scale().mass(f32::from_bits(with as u32)))
    }

    /// Splits the documents into pieces whose items stay under the limit. A piece has at least one document.
    fn pieces(&self) -> Result<Vec<Range<usize>>, Error> {
        let documents = &self.reading.documents;
        let most_documents = self.documents.len().div_ceil(PIECES * self.threads).clamp(1, TOGETHER);
        let most = match &self.items {
            Items::Shingles(preparation, _) => preparation.whole_bytes(1),
            Items::Registers => GATHERED as u64,
        };
        let mut pieces: Vec<Range<usize>> = vec![];
        let mut size = 0;
        for (at, &document) in self.documents.iter().enumerate() {
            let more = match &self.items {
                Items::Shingles(..) => u64::from(documents.place(document)?.len),
                Items::Registers => documents.shape().words as u64,
            };
            size += more;
            match pieces.last_mut() {
                Some(piece) if piece.len() < most_documents && size <= most => piece.end = at + 1,
                _ => {
                    size = more;
                    pieces.push(at..at + 1);
                }
            }
        }
        Ok(pieces)
    }

    /// Returns one entry of item, document and weight for each item of each document, in sorted runs.
    fn gather(&self) -> Result<SortedRuns<'_, Having>, Error> {
        // Sorted entries are added in any order, so that no thread waits for another. The order does not change the
        // result of merging.
        let runs = Mutex::new(SortedRuns::new(self.held(), self.folder));
        let put_away = |entries: &mut Vec<Having>| {
            sort_mixed(entries, &mut vec![]);
            runs.lock().unwrap_or_else(PoisonError::into_inner).add(std::mem::take(entries))
        };
        let pieces = self.pieces()?;
        let turns = LargeDocumentLock::default();
        let work = |seat: &mut JoinWorker<'_>, piece: usize| -> Result<_, Error> {
            self.check()?;
            let mut entries: Vec<Having> = vec![];
            for at in pieces[piece].clone() {
                let with = |weight: f32| (at as u64) << 32 | u64::from(weight.to_bits());
                match &self.items {
                    Items::Registers => {
                        let row = seat.rows.row(self.documents[at])?;
                        let items = (0u64..).zip(row).map(|(at, &value)| fmix64(at << 32 | u64::from(value)));
                        entries.extend(items.map(|item| (item, with(1.0))));
                    }
                    Items::Shingles(preparation, _) => {
                        let place = self.reading.documents.place(self.documents[at])?;
                        let large = u64::from(place.len) > preparation.whole_bytes(1);
                        let _turn = turns.take(large);
                        if large && preparation.cuts_blocks() {
                            let read = self.corpus.read_long(&place, &mut seat.scratch)?;
                            preparation.shingle_blocks(&read.text, &mut seat.prepared, |shingles| {
                                entries.extend(shingles.iter().map(|&shingle| (shingle, with(1.0))));
                                if entries.len() >= GATHERED { put_away(&mut entries) } else { Ok(()) }
                            })?;
                        } else {
                            let read = self.corpus.read(&place, &mut seat.scratch)?;
                            let set = preparation.set_alone(&read.text, &mut seat.prepared);
                            set.for_each(|shingle, weight| entries.push((shingle, with(weight as f32))));
                        }
                        if large {
                            seat.prepared = Prepared::default();
                            seat.scratch.give_back();
                        }
                    }
                }
            }
            put_away(&mut entries)
        };
        let seat = || JoinWorker {
            prepared: Prepared::default(),
            scratch: Scratch::new(),
            rows: RowReader::new(&self.reading.documents, RowChoice::Sketch),
        };
        parallel::in_order(pieces.len(), self.threads, seat, work, Ok)?;
        Ok(runs.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts the pairs that share some of the items. Portions of the counts, sorted and summed per pair, go to
    /// `put_away`.
    fn count(
        &self,
        join: &Join,
        entries: &[Having],
        put_away: impl Fn(Vec<(u64, u64)>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut pairs, mut scratch, mut having) = (vec![], vec![], vec![]);
        let mut finish = |pairs: &mut Vec<(u64, u64)>| {
            sort_mixed(pairs, &mut scratch);
            sum_up(pairs);
            pairs.shrink_to_fit();
            put_away(std::mem::take(pairs))
        };
        for run in entries.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            having.clear();
            having.extend(run.iter().map(|&entry| self.document(entry)));
            // An item of many documents can have more pairs than a portion holds.
            let mut done = Ok(());
            join.pairs(rank(run), &mut having, |x, y, shared| {
                pairs.push((key(x, y), shared));
                if pairs.len() >= PAIRS {
                    let finished = self.check().and_then(|()| finish(&mut pairs));
                    pairs.clear();
                    done = std::mem::replace(&mut done, Ok(())).and(finished);
                }
            });
            done?;
        }
        finish(&mut pairs)
    }
}

/// Buffers of a thread that gathers items.
struct JoinWorker<'a> {
    prepared: Prepared,
    scratch: Scratch,
    rows: RowReader<'a>,
}

/// Returns the rank of an item, given all its entries.
fn rank(run: &[Having]) -> Rank {
    Rank::new(run[0].0, run.len())
}

/// Returns a well-mixed key for a pair of documents.
fn key(x: u32, y: u32) -> u64 {
    fmix64(u64::from(x) << 32 | u64::from(y))
}

/// Returns the pair of documents of a key.
fn pair(key: u64) -> (u32, u32) {
    let both = unfmix64(key);
    ((both >> 32) as u32, both as u32)
}

/// Adds up the masses of neighbouring entries with equal keys.
fn sum_up(entries: &mut Vec<(u64, u64)>) {
    entries.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        if same {
            sum.1 = sum.1.saturating_add(next.1);
        }
        same
    });
}
