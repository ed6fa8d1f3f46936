//! Candidates by sort-merge: documents that share shingles or registers, counted pair by pair, in bounded memory.

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

/// The most documents whose items are gathered together, and the most items.
const TOGETHER: usize = 512;
const GATHERED: usize = 1 << 19;
/// Entries that stay in memory for each thread, and those that do however little memory there is: fewer would make too many
/// runs.
const HELD: usize = 1 << 20;
const LEAST_HELD: usize = 1 << 16;
/// The fewest and the most entries that are merged together, if there are as many.
const MERGED: RangeInclusive<usize> = 1 << 10..=1 << 18;
/// How often entries that are merged together are in memory, about: as they were read, as they are, as room to sort in, and
/// with threads that wait for an earlier one to hand on its own.
const TIMES: usize = 8;
/// Pairs that are counted together before they are put away.
const PAIRS: usize = 1 << 18;
/// Pieces of work for each thread, so that none is idle for long while another one is at its last.
const PIECES: usize = 16;

/// An item, and a document that has it with its weight: the number in the upper half, the weight as an `f32` below.
type Having = (u64, u64);

/// The scale on which weights become whole numbers: so fine that rounding does not matter, so coarse that sums fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WeightScale {
    /// Weights are whole numbers.
    Whole,
    /// Weights of a document add up to a small number.
    Fine,
}

impl WeightScale {
    fn mass(self, weight: f32) -> u64 {
        match self {
            Self::Whole => weight as u64,
            // A document of TF-IDF weights comes to at most the logarithm of the number of documents, below 2⁵.
            Self::Fine => (f64::from(weight) * (1u64 << 56) as f64) as u64,
        }
    }
}

/// What is joined.
pub(crate) struct JoinInput<'a> {
    pub corpus: &'a Corpus,
    pub reading: &'a Reading,
    /// The documents that take part, by the numbers that pairs will have.
    pub documents: &'a [u32],
    pub items: Items<'a>,
    pub rule: CandidateRule,
    pub threads: usize,
    pub room: WorkingMemory,
    pub folder: Option<&'a Path>,
    pub observer: &'a dyn Observer,
}

/// What documents share.
pub(crate) enum Items<'a> {
    /// Shingles, or weighted shingles.
    Shingles(&'a Preparation, WeightScale),
    /// Registers, each with its number.
    Registers,
}

/// What a join came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JoinCounts {
    /// Pairs that share something that both of them kept.
    pub seen: u64,
    /// Those of them that are candidates.
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

    /// Entries that stay in memory.
    fn held(&self) -> usize {
        self.room.entries(size_of::<Having>()).clamp(LEAST_HELD, (HELD * self.threads).max(LEAST_HELD))
    }

    /// Adds all candidates that pass a last look to `pairs`.
    pub(crate) fn candidates(
        &self,
        passes: impl Fn(u32, u32) -> Result<bool, Error> + Sync,
        pairs: &mut CandidatePairs<'_>,
    ) -> Result<JoinCounts, Error> {
        let having = self.gather()?;
        let join = self.decide(&having)?;
        // Portions are put away as they come: their order does not show in the sums, and none has to wait in memory.
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

    /// Merges runs piece by piece: `work` on each by several threads, `receive` for what it gives, in order.
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

    /// The same for items, each of a document once: one that was cut block by block may give them again.
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

    /// Finds out what each document leaves out.
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

    /// What the crowded documents can leave out: their frequent items, sorted by document, and cut by rank.
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

    /// Documents whose items are gathered together: as many as give few enough of them, and at least one.
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

    /// Every item of every document, sorted.
    fn gather(&self) -> Result<SortedRuns<'_, Having>, Error> {
        // Their order does not show when they are merged, and none has to wait in memory.
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

    /// Puts away the pairs of some items with what they share, sorted and summed in portions.
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
            // One item of many documents can have more pairs than a portion takes.
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

/// One thread's room to gather in.
struct JoinWorker<'a> {
    prepared: Prepared,
    scratch: Scratch,
    rows: RowReader<'a>,
}

/// The rank of an item, given all entries with it.
fn rank(run: &[Having]) -> Rank {
    Rank::new(run[0].0, run.len())
}

/// A well-mixed key for a pair of documents.
fn key(x: u32, y: u32) -> u64 {
    fmix64(u64::from(x) << 32 | u64::from(y))
}

/// The pair of a key.
fn pair(key: u64) -> (u32, u32) {
    let both = unfmix64(key);
    ((both >> 32) as u32, both as u32)
}

/// Adds up the masses of equal keys.
fn sum_up(entries: &mut Vec<(u64, u64)>) {
    entries.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        if same {
            sum.1 = sum.1.saturating_add(next.1);
        }
        same
    });
}
