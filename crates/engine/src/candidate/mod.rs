//! The second stage finds candidates: documents that may be near-duplicates. There are several ways to search for them.

pub(crate) mod equals;
mod groups;
pub(crate) mod head;
pub(crate) mod neighbourhood;
mod join;
pub(crate) mod order;
mod partners;
pub(crate) mod plane;
pub(crate) mod screen;
pub(crate) mod tiles;

use std::ops::Range;

use minwise::candidate::sort_merge::CandidateRule;
use minwise::filter::Filter;
use minwise::kernel::Kernel;
use minwise::verify::Measure;
use minwise::{Observer, Stage};
use minwise_corpus::Corpus;

use crate::candidate::equals::Equals;
use crate::candidate::groups::{Groups, NewGroups};
use crate::candidate::join::{Items, JoinInput, WeightScale};
use crate::candidate::neighbourhood::Candidates;
use crate::candidate::order::KeeperOrder;
use crate::candidate::partners::CandidatePairs;
use crate::candidate::plane::Plane;
use crate::candidate::screen::{Screen, Screened};
use crate::candidate::tiles::Tiles;
use crate::error::{Error, ErrorKind};
use crate::gather::{GatheredKeys, gather_in_buckets, gather_in_parts};
use crate::memory::{KeyPart, WorkingMemory};
use crate::parallel;
use crate::read::Reading;
use crate::read::documents::{Documents, RowChoice, RowReader};
use crate::read::prepare::Preparation;
use crate::settings::{Plan, Search};

/// Maximum number of bands whose keys are in memory together. If the keys of more bands take at most `KEYS_BYTES`, more
/// bands are allowed.
const SORTED_TOGETHER: usize = 8;
const KEYS_BYTES: u64 = 64 << 20;
/// Bounds of the number of documents per plane in a search of all pairs. The lower bound holds even if memory is short.
/// The upper bound is needed, because places in a plane have 32 bits.
const LEAST_PORTION: usize = 1 << 10;
const MOST_PORTION: usize = 1 << 31;

/// Finds the neighbourhoods. Of equal documents, only the first takes part, because it represents all of them.
pub(crate) fn find(
    corpus: &Corpus,
    reading: &Reading,
    equals: &Equals,
    order: &KeeperOrder,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<Candidates, Error> {
    let documents = &reading.documents;
    let wanted = |document: u32| equals.is_first(document) && documents.has_shingles(document);
    let look: fn(&PairSearch<'_>, &mut CandidatePairs<'_>) -> Result<Screened, Error> = match plan.search {
        Search::Banding => {
            let resumed = match plan.work.as_deref() {
                Some(work) => groups::resumed(work, documents.len(), plan.banding.bands())?,
                None => None,
            };
            let groups = match resumed {
                Some(groups) => groups,
                None => by_bands(documents, wanted, order, plan, observer)?,
            };
            let folder = plan.temporary.as_deref();
            return Candidates::of_groups(&groups, order, documents, plan.threads, folder);
        }
        Search::SortMerge => |search, pairs| search.by_shingles(pairs),
        Search::SortMergeSketch => |search, pairs| search.by_registers(pairs),
        Search::All => |search, pairs| search.all(pairs),
    };
    let taken: Vec<u32> = (0..order.len() as u32)
        .map(|place| order.document(place))
        .filter(|&document| wanted(document))
        .collect();
    // A document is visited again for each document that equals it. Later documents may have been kept by then, so it
    // needs its partners after it too.
    let again = taken.iter().map(|&document| equals.copies(document) > 1).collect();
    let room = plan.memory.room(plan.threads, documents.len());
    let mut pairs = CandidatePairs::new(again, room, plan.threads, plan.temporary.as_deref());
    let search = PairSearch { corpus, reading, documents: &taken, plan, room, observer };
    let screened = look(&search, &mut pairs)?;
    Candidates::of_pairs(pairs, &taken, screened, documents, plan.threads)
}

/// Returns the groups of documents that share a key in one band, for all bands.
pub(crate) fn by_bands(
    documents: &Documents,
    wanted: impl Fn(u32) -> bool + Sync,
    order: &KeeperOrder,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<Groups, Error> {
    let bands = plan.banding.bands();
    let rows = plan.rows()?;
    let room = plan.memory.gathering_room(documents.len());
    let mut groups = NewGroups::new(room.held(), plan.temporary.as_deref(), plan.work.as_deref())?;
    let Some(together) = bands_together(bands, documents.len(), room) else {
        by_parts(documents, wanted, order, plan, observer, &mut groups)?;
        return groups.finish();
    };
    observer.begin(Stage::Candidates, bands as u64);
    let stretches = documents.stretches_for(plan.threads);
    for first in (0..bands).step_by(together) {
        let here = first..bands.min(first + together);
        let collect = |stretch: usize, keys: &mut [Vec<(u64, u32)>]| {
            if observer.cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let stretch = &stretches[stretch];
            documents.band_keys(stretch, here.clone(), &rows, KeyPart::ALL, &wanted, |document, band, key| {
                // The place in keeper order is stored instead of the document, so that all later data are in keeper
                // order without another sort.
                keys[band].push((key, order.place(document)));
            })
        };
        let find = |words: &mut Vec<u32>, band: usize, places: &[u32]| {
            groups::push(words, first + band, places.iter().copied());
        };
        let receive = |words: Vec<u32>| groups.add(&words);
        gather_in_buckets(
            here.len(),
            documents.len(),
            stretches.len(),
            plan.threads,
            collect,
            find,
            receive,
        )?;
        observer.advance(here.len() as u64);
    }
    groups.finish()
}

/// Finds the groups if the keys of a band do not fit into memory: the range of keys is processed part by part.
fn by_parts(
    documents: &Documents,
    wanted: impl Fn(u32) -> bool + Sync,
    order: &KeeperOrder,
    plan: &Plan,
    observer: &dyn Observer,
    groups: &mut NewGroups<'_>,
) -> Result<(), Error> {
    let bands = plan.banding.bands();
    let rows = plan.rows()?;
    let room = plan.memory.gathering_room(documents.len());
    let threads = plan.threads;
    let parts = room.parts(threads as u64 * documents.len() as u64 * GatheredKeys::<u64>::ENTRY_BYTES);
    observer.begin(Stage::Candidates, (bands * parts.len()) as u64);
    let stretches = documents.stretches(usize::MAX);
    let collect = |band: usize, part: KeyPart, keys: &mut GatheredKeys<u64>| {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        for stretch in &stretches {
            documents.band_keys(stretch, band..band + 1, &rows, part, &wanted, |document, _, key| {
                keys.push(key, order.place(document));
            })?;
        }
        observer.advance(1);
        Ok(())
    };
    let find = |words: &mut Vec<u32>, band: usize, places: &[u32]| {
        groups::push(words, band, places.iter().copied());
    };
    let receive = |words: Vec<u32>| groups.add(&words);
    gather_in_parts(bands, documents.len(), parts, threads, collect, find, receive)
}

/// Returns the number of bands whose keys are in memory together, or `None` if the keys of one band do not fit.
///
/// Several bands share a pass, because the rows of many documents do not fit into a cache and every pass fetches all
/// rows from memory. With 100,000 documents and 14 bands, one pass per band took a quarter of the time of a run.
fn bands_together(bands: usize, documents: usize, room: WorkingMemory) -> Option<usize> {
    // Threads sort one small bucket at a time, so the keys of a band are in memory only once.
    let band_bytes = (documents * size_of::<(u64, u32)>()) as u64;
    let most = (KEYS_BYTES / band_bytes.max(1)).max(SORTED_TOGETHER as u64);
    let together = usize::try_from(most).unwrap_or(bands).min(bands);
    // Several bands share a pass only if twice their keys fit. When the pass begins, the allocator has not returned all
    // memory of the reading yet: 600,000 rows of 7 bytes took up to 214 MiB, although the limit was 192 MiB.
    let fits = |together: &usize| {
        let times = if *together > 1 { 2 } else { 1 };
        room.parts(times * *together as u64 * band_bytes).len() == 1
    };
    (1..=together).rev().find(fits)
}

/// Input of a search for pairs.
struct PairSearch<'a> {
    corpus: &'a Corpus,
    reading: &'a Reading,
    /// Documents among which pairs are searched. Pairs hold indices into this list.
    documents: &'a [u32],
    plan: &'a Plan,
    room: WorkingMemory,
    observer: &'a dyn Observer,
}

impl PairSearch<'_> {
    /// Returns a reader of rows, for one thread.
    fn rows(&self) -> RowReader<'_> {
        RowReader::new(&self.reading.documents, RowChoice::Sketch)
    }

    fn source<'s>(&'s self, items: Items<'s>, rule: CandidateRule) -> JoinInput<'s> {
        JoinInput {
            corpus: self.corpus,
            reading: self.reading,
            documents: self.documents,
            items,
            rule,
            threads: self.plan.threads,
            room: self.room,
            folder: self.plan.temporary.as_deref(),
            observer: self.observer,
        }
    }

    /// Finds the pairs that share enough shingles, or enough weight of shingles. Sketches are not compared.
    fn by_shingles(&self, pairs: &mut CandidatePairs<'_>) -> Result<Screened, Error> {
        let plan = self.plan;
        self.observer.begin(Stage::Candidates, 0);
        let preparation = Preparation::of_checked(&plan.spec, &plan.weighing)?;
        let scale =
            if plan.spec.weights.weighting.is_whole() { WeightScale::Whole } else { WeightScale::Fine };
        let rule = match plan.measure {
            Measure::Containment => CandidateRule::Containment(plan.threshold),
            _ => CandidateRule::Jaccard(plan.threshold),
        };
        self.source(Items::Shingles(&preparation, scale), rule).candidates(|_, _| Ok(true), pairs)?;
        Ok(Screened::default())
    }

    /// Finds the pairs that the filter does not reject, because they share enough registers.
    fn by_registers(&self, pairs: &mut CandidatePairs<'_>) -> Result<Screened, Error> {
        let Self { plan, .. } = self;
        self.observer.begin(Stage::Candidates, 0);
        let registers = plan.spec.method.registers();
        let filter = match plan.budget() {
            None => None,
            Some(budget) => {
                let (method, threshold) = (plan.spec.method, plan.threshold);
                Filter::of(method, threshold, 1, &[registers], budget)?
            }
        };
        let lower = filter.as_ref().and_then(|filter| filter.looks().first()?.lower);
        let source = self.source(Items::Registers, CandidateRule::MoreThan(lower.unwrap_or(0) as u64));
        let Some(filter) = filter.filter(|_| lower.is_some()) else {
            source.candidates(|_, _| Ok(true), pairs)?;
            return Ok(Screened::default());
        };
        // The join assumes that a pair shares the frequent registers that it left uncounted, so a pair may share too
        // few registers.
        let passes = |a: u32, b: u32| {
            let mut rows = self.rows();
            let (a, b) = rows.pair(self.documents[a as usize], self.documents[b as usize])?;
            Ok(!filter.screen(a, b).rejected)
        };
        let counted = source.candidates(passes, pairs)?;
        let compared = counted.seen * registers as u64;
        Ok(Screened { pairs: counted.seen - counted.taken, compared, registers: compared })
    }

    /// Finds all pairs that their sketches do not reject.
    fn all(&self, pairs: &mut CandidatePairs<'_>) -> Result<Screened, Error> {
        let Self { documents, plan, observer, .. } = self;
        observer.begin(Stage::Candidates, documents.len() as u64);
        let rows = plan.rows()?;
        let screen = Screen::of_all(plan, &rows)?;
        let mut all = Screened::default();
        let Some(plane) = Plane::new(&screen, &rows) else {
            self.without_screen(pairs)?;
            return Ok(all);
        };
        let kernel = Kernel::detect();
        // Two planes are in memory together. If all rows fit into one plane, the second is never filled.
        let portion = self.room.entries(2 * plane.row_bytes()).clamp(LEAST_PORTION, MOST_PORTION);
        let (mut probes, mut others) = (plane.empty(), plane);
        for first in (0..documents.len()).step_by(portion) {
            self.fill(&mut probes, first..documents.len().min(first + portion))?;
            for second in (first..documents.len()).step_by(portion) {
                let within = second == first;
                if !within {
                    self.fill(&mut others, second..documents.len().min(second + portion))?;
                }
                let plane = if within { &probes } else { &others };
                let words = plane.head_bytes() / size_of::<u32>();
                let tiles = if within {
                    Tiles::within(probes.len(), words)
                } else {
                    Tiles::between(probes.len(), plane.len(), words)
                };
                let is_last = second + plane.len() == documents.len();
                let work = |open: &mut Vec<u32>, tile: usize| -> Result<_, Error> {
                    if observer.cancelled() {
                        return Err(ErrorKind::Cancelled.into());
                    }
                    let (mut found, mut screened) = (vec![], Screened::default());
                    tiles.for_each_stretch(tile, |a, range| {
                        open.clear();
                        plane.screen(range, &probes, a, kernel, open, &mut screened);
                        let pair = |&b: &u32| ((first + a) as u32, second as u32 + b);
                        found.extend(open.iter().map(pair));
                    });
                    if is_last {
                        observer.advance(tiles.rows(tile).len() as u64);
                    }
                    Ok((found, screened))
                };
                parallel::in_order(tiles.len(), plan.threads, Vec::new, work, |(found, screened)| {
                    all.merge(&screened);
                    pairs.add(&found)
                })?;
            }
        }
        Ok(all)
    }

    /// Fills a plane with the rows of some of the documents.
    fn fill(&self, plane: &mut Plane, range: Range<usize>) -> Result<(), Error> {
        plane.clear();
        let mut rows = self.rows();
        self.documents[range].iter().try_for_each(|&document| {
            plane.push(rows.row(document)?);
            Ok(())
        })
    }

    /// Adds every pair, because the sketches cannot reject any.
    fn without_screen(&self, pairs: &mut CandidatePairs<'_>) -> Result<(), Error> {
        let Self { documents, observer, .. } = self;
        let tiles = Tiles::within(documents.len(), 1);
        let work = |(): &mut (), tile: usize| -> Result<_, Error> {
            if observer.cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let mut found = vec![];
            tiles.for_each_stretch(tile, |a, others| found.extend(others.map(|b| (a as u32, b as u32))));
            observer.advance(tiles.rows(tile).len() as u64);
            Ok(found)
        };
        parallel::in_order(tiles.len(), self.plan.threads, || (), work, |found| pairs.add(&found))
    }
}
