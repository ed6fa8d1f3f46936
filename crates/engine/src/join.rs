//! Candidates by sort-merge: documents that share shingles or registers, counted pair by pair, in bounded memory.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use minwise::candidate::sort_merge::{Census, Cuts, Join, Rank, Rule};
use minwise::hash::{fmix64, unfmix64};
use minwise::sort::sort_mixed;
use minwise_corpus::{Corpus, Scratch};

use crate::documents::{RowReader, Which};
use crate::error::{Error, ErrorKind};
use crate::observe::Observer;
use crate::parallel;
use crate::partners::Pairs;
use crate::prepare::{DocumentSet, Preparation, Prepared};
use crate::read::Reading;
use crate::runs::{Entry, Runs, Spread};

/// The most documents whose items are gathered together.
const TOGETHER: usize = 512;
/// Entries that stay in memory, for each thread.
const HELD: usize = 1 << 20;
/// The fewest and the most entries that are merged together, if there are as many.
const MERGED: RangeInclusive<usize> = 1 << 10..=1 << 18;
/// Pairs that are counted together before they are put away.
const PAIRS: usize = 1 << 18;
/// Pieces of work for each thread, so that none is idle for long while another one is at its last.
const PIECES: usize = 16;

/// An item, and a document that has it with its weight: the number in the upper half, the weight as an `f32` below.
type Having = (u64, u64);

/// The scale on which weights become whole numbers: so fine that rounding does not matter, so coarse that sums fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Weights are whole numbers.
    Whole,
    /// Weights of a document add up to a small number.
    Fine,
}

impl Scale {
    fn mass(self, weight: f32) -> u64 {
        match self {
            Self::Whole => weight as u64,
            // A document of TF-IDF weights comes to at most the logarithm of the number of documents, below 2⁵.
            Self::Fine => (f64::from(weight) * (1u64 << 56) as f64) as u64,
        }
    }
}

/// What is joined.
pub(crate) struct Source<'a> {
    pub corpus: &'a Corpus,
    pub reading: &'a Reading,
    /// The documents that take part, by the numbers that pairs will have.
    pub documents: &'a [u32],
    pub items: Items<'a>,
    pub rule: Rule,
    pub threads: usize,
    pub folder: Option<&'a Path>,
    pub observer: &'a dyn Observer,
}

/// What documents share.
pub(crate) enum Items<'a> {
    /// Shingles, or weighted shingles.
    Shingles(&'a Preparation, Scale),
    /// Registers, each with its number.
    Registers,
}

/// What a join came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    /// Pairs that share something that both of them kept.
    pub seen: u64,
    /// Those of them that are candidates.
    pub taken: u64,
}

impl Source<'_> {
    fn scale(&self) -> Scale {
        match self.items {
            Items::Shingles(_, scale) => scale,
            Items::Registers => Scale::Whole,
        }
    }

    fn check(&self) -> Result<(), Error> {
        if self.observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }

    /// Adds all candidates that pass a last look to `pairs`.
    pub(crate) fn candidates(
        &self,
        passes: impl Fn(u32, u32) -> Result<bool, Error> + Sync,
        pairs: &mut Pairs<'_>,
    ) -> Result<Counted, Error> {
        let having = self.gather()?;
        let join = self.decide(&having)?;
        // Portions are put away as they come: their order does not show in the sums, and none has to wait in memory.
        let counts = Mutex::new(Runs::new(HELD * self.threads, self.folder));
        let put_away = |part| counts.lock().unwrap_or_else(PoisonError::into_inner).add(part);
        self.for_each_range(&having, |entries| self.count(&join, &entries, put_away), Ok)?;
        drop(having);
        let counts: Runs<'_, (u64, u64)> = counts.into_inner().unwrap_or_else(PoisonError::into_inner);

        let mut all = Counted::default();
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
    fn for_each_range<E: Entry, T: Send>(
        &self,
        runs: &Runs<'_, E>,
        work: impl Fn(Vec<E>) -> Result<T, Error> + Sync,
        receive: impl FnMut(T) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let together = runs.len() / (PIECES * self.threads);
        let ranges = runs.ranges(together.clamp(*MERGED.start(), *MERGED.end()));
        let merge = |(): &mut (), range: usize| {
            self.check()?;
            work(runs.merged(ranges[range].clone())?)
        };
        parallel::in_order(ranges.len(), self.threads, || (), merge, receive)
    }

    /// Finds out what each document leaves out.
    fn decide(&self, having: &Runs<'_, Having>) -> Result<Join, Error> {
        let mut census = Census::new(self.rule, self.documents.len());
        self.for_each_range(having, Ok, |entries| {
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
    fn cuts(&self, having: &Runs<'_, Having>, join: &Join) -> Result<Vec<(u32, Cuts)>, Error> {
        let spread = Spread::new(self.documents.len());
        let mut frequent = Runs::new(HELD * self.threads, self.folder);
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
        self.for_each_range(having, of_crowded, |found| frequent.add(found))?;

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

    /// Every item of every document, sorted.
    fn gather(&self) -> Result<Runs<'_, Having>, Error> {
        let mut runs = Runs::new(HELD * self.threads, self.folder);
        let together = self.documents.len().div_ceil(PIECES * self.threads).clamp(1, TOGETHER);
        let items = self.documents.len().div_ceil(together);
        let work = |(room, scratch, rows): &mut (Prepared, Scratch, RowReader<'_>),
                    item: usize|
         -> Result<_, Error> {
            self.check()?;
            let begin = item * together;
            let documents = &self.documents[begin..(begin + together).min(self.documents.len())];
            let mut entries: Vec<Having> = vec![];
            for (number, &document) in (begin as u64..).zip(documents) {
                let with = |weight: f32| number << 32 | u64::from(weight.to_bits());
                match &self.items {
                    Items::Registers => {
                        let row = rows.row(document)?;
                        let items = (0u64..).zip(row).map(|(at, &value)| fmix64(at << 32 | u64::from(value)));
                        entries.extend(items.map(|item| (item, with(1.0))));
                    }
                    Items::Shingles(preparation, _) => {
                        let place = self.reading.documents.place(document)?;
                        let read = self.corpus.read(&place, scratch)?;
                        match preparation.set(&read.text, room) {
                            DocumentSet::Plain(set) => {
                                entries.extend(set.as_slice().iter().map(|&shingle| (shingle, with(1.0))));
                            }
                            DocumentSet::Weighted(set) => {
                                let (shingles, weights) = (set.view().shingles(), set.view().weights());
                                entries.extend(
                                    shingles
                                        .iter()
                                        .zip(weights)
                                        .map(|(&shingle, &weight)| (shingle, with(weight as f32))),
                                );
                            }
                        }
                    }
                }
            }
            sort_mixed(&mut entries, &mut vec![]);
            Ok(entries)
        };
        let prepare = || {
            let rows = RowReader::new(&self.reading.documents, Which::Sketch);
            (Prepared::default(), Scratch::new(), rows)
        };
        parallel::in_order(items, self.threads, prepare, work, |entries| runs.add(entries))?;
        Ok(runs)
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
