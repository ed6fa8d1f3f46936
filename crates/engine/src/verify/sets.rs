//! Shingle sets of a neighbourhood, which are loaded when they are needed and kept while there is memory.

use std::sync::Mutex;

use minwise::kernel::Kernel;
use minwise::verify::Measure;
use minwise::verify::order::alignment_share;
use minwise::verify::parity::{self, Bound, parity_into, words_for};
use minwise::verify::reduced::{CommonShingles, ReducedSet};

use crate::error::Error;
use crate::parallel;
use crate::read::prepare::DocumentSet;
use crate::verify::huge::Sorted;
use crate::verify::loader::{Loader, Room};

/// Pool of buffers for loading. Threads reuse buffers, so that they are not allocated again for every portion.
#[derive(Debug, Default)]
struct Rooms(Mutex<Vec<Room>>);

impl Rooms {
    fn lend(&self) -> Lent<'_> {
        let room = self.0.lock().ok().and_then(|mut rooms| rooms.pop()).unwrap_or_default();
        Lent { room, rooms: self }
    }
}

/// Buffers from a pool, which return to the pool when this guard is dropped.
struct Lent<'a> {
    room: Room,
    rooms: &'a Rooms,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Ok(mut rooms) = self.rooms.0.lock() {
            rooms.push(std::mem::take(&mut self.room));
        }
    }
}

/// Shingle sets of one neighbourhood.
pub(crate) struct Sets<'a> {
    loader: &'a Loader<'a>,
    documents: &'a [u32],
    room: &'a mut Room,
    rooms: Rooms,
    /// For each document, the index of its set in `held`, or [`NONE`].
    slots: Vec<u32>,
    held: Vec<Held>,
    /// Shingles that most sets have, if sets are held as differences from these shingles.
    common: Option<CommonShingles>,
    /// Sorted shingles of the last two documents that were compared on disk, because the next comparison may need one
    /// of these documents again.
    sorted: Vec<(u32, Sorted<'a>)>,
    marks: Marks,
    now: u64,
    ahead: Ahead,
    size_bytes: usize,
    budget: Budget,
    /// Maximum number of bytes of text that may be cut whole at the same time.
    whole_bytes: u64,
}

/// Number of bytes of text that are loaded together if two consecutive documents are needed again.
const AGAIN_BYTES: u64 = 16 << 10;
/// Slot of a document whose set is not in memory.
const NONE: u32 = u32::MAX;

/// Maximum number of documents whose marks are kept, which take 18 MB.
const MARKED: usize = 1 << 17;
/// Reciprocal of the share of the memory for sets that marks may take.
const MARKS_SHARE: usize = 4;
/// Number of sets in the sample by which common shingles are chosen.
const SAMPLED: usize = 64;
/// Number of pairs per task of a thread that compares.
const TASK_PAIRS: usize = 1024;

/// Marks of documents. A mark is the size of a set and its [`parity`] bits, and is kept even if the set is evicted.
#[derive(Debug, Default)]
struct Marks {
    /// For each document, the index of its mark, or [`NONE`].
    slots: Vec<u32>,
    sizes: Vec<u32>,
    words: Vec<u32>,
}

impl Marks {
    /// Returns the number of bytes that the marks take if `marked` of `documents` documents have a mark.
    fn bytes_of(documents: usize, marked: usize) -> usize {
        size_of::<u32>() * (documents + marked * (1 + parity::WORDS))
    }

    /// Returns the number of bytes that the marks take.
    fn size_bytes(&self) -> usize {
        Self::bytes_of(self.slots.len(), self.sizes.len())
    }

    fn words(&self, slot: usize) -> &[u32] {
        &self.words[slot * parity::WORDS..][..parity::WORDS]
    }
}

/// Set in memory.
struct Held {
    document: u32,
    /// Time of the last use. If memory is short, the sets with the lowest times are evicted first.
    used: u64,
    set: HeldSet,
}

/// Form in which a set is in memory.
enum HeldSet {
    Whole(DocumentSet),
    /// Set as a difference from the common shingles.
    Reduced(ReducedSet),
}

impl HeldSet {
    fn new(set: DocumentSet, common: Option<&CommonShingles>) -> Self {
        match (set, common) {
            (DocumentSet::Plain(set), Some(common)) => Self::Reduced(common.reduce(&set)),
            (set, _) => Self::Whole(set),
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Self::Whole(set) => set.size_bytes(),
            Self::Reduced(set) => set.size_bytes(),
        }
    }
}

/// Returns the measure of two sets, or `None` if the measure is below the threshold.
fn at_least(
    common: Option<&CommonShingles>,
    (a, b): (&HeldSet, &HeldSet),
    measure: Measure,
    threshold: f64,
) -> Option<f64> {
    match (a, b, common) {
        (HeldSet::Whole(a), HeldSet::Whole(b), _) => a.at_least(b, measure, threshold),
        (HeldSet::Reduced(a), HeldSet::Reduced(b), Some(common)) => common.at_least(a, b, measure, threshold),
        _ => unreachable!("all sets are held in one way"),
    }
}

impl Held {
    /// Returns the number of bytes of the set and of its entry in `held`. The entry counts twice, because `held` may be
    /// half empty, which matters if there are many small sets.
    fn size_bytes(&self) -> usize {
        2 * size_of::<Self>() + self.set.size_bytes()
    }
}

/// Amount of text that is loaded ahead. Documents are first needed in order, so documents that were never loaded are
/// loaded with as much text as allowed. A set that was evicted is loaded alone if it is needed again, because that may
/// be by chance. If the following documents are needed again too, the amount grows from document to document.
#[derive(Debug, Default)]
struct Ahead {
    /// Number after the highest document loaded so far.
    frontier: u32,
    /// Number after the most recently loaded document.
    next: u32,
    bytes: u64,
}

impl Ahead {
    /// Returns the number of text bytes to load ahead from `document`, at most `most`. Returns 0 if the document is
    /// loaded alone.
    fn of(&mut self, document: u32, most: u64) -> u64 {
        self.bytes = if document >= self.frontier {
            most
        } else if document == self.next {
            most.min((2 * self.bytes).max(AGAIN_BYTES))
        } else {
            0
        };
        self.bytes
    }

    fn loaded(&mut self, document: u32) {
        self.next = document + 1;
        self.frontier = self.frontier.max(self.next);
    }
}

/// Limits for one neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Number of bytes of memory for sets and marks.
    pub bytes: usize,
    /// Number of threads that load sets.
    pub threads: usize,
    /// Number of bytes of text that are loaded together, because documents are mostly needed in order.
    pub ahead_bytes: u64,
    /// Number of bytes of memory for the parity bits of a crowd.
    pub crowd_bytes: usize,
}

impl<'a> Sets<'a> {
    pub(crate) fn new(
        loader: &'a Loader<'a>,
        documents: &'a [u32],
        room: &'a mut Room,
        budget: Budget,
    ) -> Self {
        Self {
            loader,
            documents,
            room,
            rooms: Rooms::default(),
            slots: vec![NONE; documents.len()],
            held: vec![],
            common: None,
            sorted: vec![],
            marks: Marks::default(),
            now: 0,
            ahead: Ahead::default(),
            size_bytes: 0,
            budget,
            whole_bytes: loader.preparation.whole_bytes(budget.threads),
        }
    }

    /// Returns the measure of two documents of the neighbourhood.
    pub(crate) fn measure(&mut self, a: u32, b: u32, measure: Measure) -> Result<f64, Error> {
        if self.are_huge(a, b)? {
            return self.measure_huge(a, b, measure);
        }
        Ok(match self.both(a, b)? {
            (HeldSet::Whole(a), HeldSet::Whole(b), _) => a.measure(b, measure),
            (HeldSet::Reduced(a), HeldSet::Reduced(b), Some(common)) => {
                measure.of_overlap(&common.overlap(a, b))
            }
            _ => unreachable!("all sets are held in one way"),
        })
    }

    /// Returns the measure of two documents of the neighbourhood, or `None` if the measure is below the threshold.
    pub(crate) fn at_least(
        &mut self,
        a: u32,
        b: u32,
        measure: Measure,
        threshold: f64,
    ) -> Result<Option<f64>, Error> {
        if self.are_huge(a, b)? {
            return Ok(Some(self.measure_huge(a, b, measure)?).filter(|&found| found >= threshold));
        }
        let (a, b, common) = self.both(a, b)?;
        Ok(at_least(common, (a, b), measure, threshold))
    }

    /// Compares each document with its `others`. Documents of `others[i]` whose measure reaches the threshold are
    /// appended to `similar[i]`, with the measure and in the order of `others[i]`. Threads share the pairs.
    ///
    /// Returns `false` and appends nothing if a document is huge or the sets do not fit into memory together.
    pub(crate) fn at_least_many(
        &mut self,
        documents: &[u32],
        others: &[Vec<u32>],
        (measure, threshold): (Measure, f64),
        similar: &mut [Vec<(u32, f64)>],
    ) -> Result<bool, Error> {
        let compared = documents.iter().zip(others).filter(|(_, others)| !others.is_empty());
        if !self.hold(compared.flat_map(|(document, others)| others.iter().chain([document])))? {
            return Ok(false);
        }
        let tasks: Vec<(usize, &[u32])> = (0..)
            .zip(others)
            .flat_map(|(at, others)| others.chunks(TASK_PAIRS).map(move |some| (at, some)))
            .collect();
        let (common, slots, held) = (self.common.as_ref(), &self.slots, &self.held);
        let set = |document: u32| &held[slots[document as usize] as usize].set;
        let work = |(): &mut (), task: usize| {
            let (at, others) = tasks[task];
            let one = set(documents[at]);
            let reaching = others
                .iter()
                .filter_map(|&other| Some((other, at_least(common, (one, set(other)), measure, threshold)?)));
            Ok::<_, Error>((at, reaching.collect::<Vec<_>>()))
        };
        parallel::in_order(
            tasks.len(),
            self.budget.threads,
            || (),
            work,
            |(at, mut reaching)| {
                similar[at].append(&mut reaching);
                Ok(())
            },
        )?;
        Ok(true)
    }

    /// Loads the sets of documents, so that all these sets are in memory at the same time. Returns `false` if they do
    /// not fit, or if a document is huge.
    fn hold<'d>(&mut self, documents: impl Iterator<Item = &'d u32>) -> Result<bool, Error> {
        self.now += 1;
        for &document in documents {
            if let Some(held) = self.held.get_mut(self.slots[document as usize] as usize) {
                held.used = self.now;
                continue;
            }
            if self.is_huge(document)? {
                return Ok(false);
            }
            self.load(document)?;
            if self.all_bytes() > self.budget.bytes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes from `others` the documents whose Jaccard similarity to `document` is certainly below the threshold.
    /// Returns the number of removed documents.
    pub(crate) fn bound(
        &mut self,
        document: u32,
        others: &mut Vec<u32>,
        threshold: f64,
    ) -> Result<u64, Error> {
        let Some((size, words)) = self.parity(document)? else { return Ok(0) };
        let (kernel, words) = (Kernel::detect(), words.to_vec());
        let mut bound = Bound::new(size as usize, threshold);
        let (before, mut left) = (others.len(), 0);
        for at in 0..before {
            let other = others[at];
            let is_open = self.parity(other)?.is_none_or(|(size, other)| {
                bound.leaves_open(size as usize, kernel.different_bits(&words, other))
            });
            others[left] = other;
            left += usize::from(is_open);
        }
        others.truncate(left);
        Ok((before - left) as u64)
    }

    /// Returns the number of words of parity bits that distinguish the sets of `documents`, within the memory for
    /// crowds.
    pub(crate) fn parity_words(&mut self, documents: &[u32]) -> Result<usize, Error> {
        let mut sizes = vec![];
        for &document in documents {
            if !self.are_huge(document, document)? {
                sizes.push(match self.both(document, document)?.0 {
                    HeldSet::Whole(DocumentSet::Weighted(_)) => 0,
                    HeldSet::Whole(DocumentSet::Plain(set)) => set.len(),
                    HeldSet::Reduced(set) => set.len(),
                });
            }
        }
        sizes.sort_unstable();
        let wanted = words_for(sizes.get(sizes.len() / 2).copied().unwrap_or_default());
        // A crowd holds each array twice: whole and folded.
        let crowd = 2 * size_of::<u32>() * self.documents.len().min(MARKED);
        let fit = self.budget.crowd_bytes / crowd.max(1);
        Ok(wanted.min(if fit == 0 { 0 } else { 1 << fit.ilog2() }).max(parity::WORDS))
    }

    /// Stores sets as differences from the shingles that most sets of a sample of `documents` have, if these common
    /// shingles are most of a set.
    pub(crate) fn reduce(&mut self, documents: &[u32]) -> Result<(), Error> {
        if self.common.is_some() {
            return Ok(());
        }
        let mut sample = vec![];
        for &document in documents.iter().step_by(documents.len().div_ceil(SAMPLED).max(1)) {
            if !self.are_huge(document, document)?
                && let (HeldSet::Whole(DocumentSet::Plain(set)), ..) = self.both(document, document)?
            {
                // The set is cloned, because loading another set of the sample may evict it.
                sample.push(set.clone());
            }
        }
        let Some(common) = CommonShingles::of_most(&sample.iter().collect::<Vec<_>>()) else { return Ok(()) };
        self.size_bytes = 0;
        for held in &mut self.held {
            if let HeldSet::Whole(DocumentSet::Plain(set)) = &held.set {
                held.set = HeldSet::Reduced(common.reduce(set));
            }
            self.size_bytes += held.size_bytes();
        }
        self.common = Some(common);
        Ok(())
    }

    /// Writes the [parity bits](parity) of the set of a document, and returns the size of the set. Returns `None` if
    /// the set is huge or has weights.
    pub(crate) fn parity_into(&mut self, document: u32, out: &mut [u32]) -> Result<Option<u32>, Error> {
        if self.are_huge(document, document)? {
            return Ok(None);
        }
        let (set, _, common) = self.both(document, document)?;
        Ok(match (set, common) {
            (HeldSet::Whole(DocumentSet::Plain(set)), _) => {
                parity_into(set, out);
                Some(set.len() as u32)
            }
            (HeldSet::Reduced(set), Some(common)) => {
                common.parity_into(set, out);
                Some(set.len() as u32)
            }
            _ => None,
        })
    }

    /// Returns the size and the parity bits of the set of a document. Both are kept as the mark of the document.
    /// Returns `None` if the set is huge or has weights, or if there are too many marks.
    fn parity(&mut self, document: u32) -> Result<Option<(u32, &[u32])>, Error> {
        let slot = self.mark(document)?;
        Ok(slot.map(|slot| (self.marks.sizes[slot], self.marks.words(slot))))
    }

    /// Returns the index of the mark of a document. If there is no mark, makes one if memory allows.
    fn mark(&mut self, document: u32) -> Result<Option<usize>, Error> {
        let slot = self.marks.slots.get(document as usize).copied().unwrap_or(NONE);
        if slot != NONE {
            return Ok(Some(slot as usize));
        }
        let marked = self.marks.sizes.len();
        let bytes = Marks::bytes_of(self.documents.len(), marked + 1);
        if marked >= MARKED || bytes > self.budget.bytes / MARKS_SHARE {
            return Ok(None);
        }
        let mut words = [0; parity::WORDS];
        let Some(size) = self.parity_into(document, &mut words)? else { return Ok(None) };
        self.marks.slots.resize(self.documents.len(), NONE);
        self.marks.slots[document as usize] = marked as u32;
        self.marks.sizes.push(size);
        self.marks.words.extend_from_slice(&words);
        // Sets are evicted if the new mark needs their memory. Marks are never evicted.
        self.make_room();
        Ok(Some(marked))
    }

    /// Reports whether at least one of two documents is huge.
    fn are_huge(&self, a: u32, b: u32) -> Result<bool, Error> {
        for document in [a, b] {
            // The set of a huge document is never held.
            let is_held = self.slots[document as usize] != NONE;
            if !is_held && self.is_huge(document)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reports whether a document is so large that it is compared on disk.
    fn is_huge(&self, document: u32) -> Result<bool, Error> {
        Ok(self.loader.preparation.cuts_blocks()
            && self.loader.text_bytes(self.documents[document as usize])? > self.whole_bytes)
    }

    fn measure_huge(&mut self, a: u32, b: u32, measure: Measure) -> Result<f64, Error> {
        self.sorted.retain(|(document, _)| [a, b].contains(document));
        for document in [a, b] {
            if self.sorted.iter().all(|(there, _)| *there != document) {
                let sorted = Sorted::load(self.loader, self.documents[document as usize], self.room)?;
                self.sorted.push((document, sorted));
            }
        }
        match &self.sorted[..] {
            [(_, one), (_, other)] => Ok(measure.of_overlap(&one.overlap(other)?)),
            _ => unreachable!("two documents are compared"),
        }
    }

    /// Returns the sets of two documents of the neighbourhood, and the common shingles if there are any.
    fn both(&mut self, a: u32, b: u32) -> Result<(&HeldSet, &HeldSet, Option<&CommonShingles>), Error> {
        self.now += 1;
        // The use of both sets is noted before anything is loaded, so that loading one set does not evict the other
        // set.
        for document in [a, b] {
            if let Some(held) = self.held.get_mut(self.slots[document as usize] as usize) {
                held.used = self.now;
            }
        }
        for document in [a, b] {
            if self.slots[document as usize] == NONE {
                self.load(document)?;
            }
        }
        let [a, b] = [a, b].map(|document| &self.held[self.slots[document as usize] as usize].set);
        Ok((a, b, self.common.as_ref()))
    }

    /// Returns the alignment share of two documents. The documents are read again, because sets have no order.
    pub(crate) fn alignment_share(&mut self, a: u32, b: u32) -> Result<f64, Error> {
        let [a, b] = [a, b].map(|document| self.documents[document as usize]);
        let text_bytes = self.loader.text_bytes(a)?.max(self.loader.text_bytes(b)?);
        let _turn = self.loader.turns.take(text_bytes > self.whole_bytes);
        let first = self.loader.shingle(a, self.room)?.to_vec();
        let share = alignment_share(&first, self.loader.shingle(b, self.room)?);
        if text_bytes > self.whole_bytes {
            self.room.give_back();
        }
        Ok(share)
    }

    fn load(&mut self, document: u32) -> Result<(), Error> {
        match self.ahead.of(document, self.budget.ahead_bytes) {
            0 => {
                let set = self.loader.load(self.documents[document as usize], self.room, self.whole_bytes)?;
                let set = HeldSet::new(set, self.common.as_ref());
                self.ahead.loaded(document);
                self.put(document, set);
            }
            ahead_bytes => self.load_ahead(document, ahead_bytes)?,
        }
        self.make_room();
        Ok(())
    }

    /// Loads a document and some documents after it, with several threads. Huge documents are left out, because they
    /// are compared on disk.
    fn load_ahead(&mut self, document: u32, ahead_bytes: u64) -> Result<(), Error> {
        let (mut text_bytes, mut largest) = (0, 1);
        let mut missing: Vec<u32> = vec![];
        for next in (document..self.documents.len() as u32).filter(|&next| self.slots[next as usize] == NONE)
        {
            if next != document && self.is_huge(next)? {
                continue;
            }
            let bytes = self.loader.text_bytes(self.documents[next as usize])?;
            text_bytes += bytes;
            if next != document && text_bytes > ahead_bytes {
                break;
            }
            largest = largest.max(bytes);
            missing.push(next);
        }
        let mut loaded = Vec::with_capacity(missing.len());
        let (loader, documents, whole_bytes) = (self.loader, self.documents, self.whole_bytes);
        let common = self.common.as_ref();
        let work = |room: &mut Lent<'_>, item: usize| {
            let set = loader.load(documents[missing[item] as usize], &mut room.room, whole_bytes)?;
            Ok::<_, Error>(HeldSet::new(set, common))
        };
        let prepare = || self.rooms.lend();
        // The number of threads is limited so that their texts may be cut whole at the same time, even if each text is
        // as large as the largest.
        let threads = (whole_bytes / largest).clamp(1, self.budget.threads as u64) as usize;
        parallel::in_order(missing.len(), threads, prepare, work, |set| {
            loaded.push(set);
            Ok(())
        })?;
        for (next, set) in missing.into_iter().zip(loaded) {
            self.ahead.loaded(next);
            self.put(next, set);
        }
        Ok(())
    }

    fn put(&mut self, document: u32, set: HeldSet) {
        let held = Held { document, used: self.now, set };
        self.size_bytes += held.size_bytes();
        self.slots[document as usize] = self.held.len() as u32;
        self.held.push(held);
    }

    /// Evicts all sets.
    pub(crate) fn give_back(&mut self) {
        for held in std::mem::take(&mut self.held) {
            self.slots[held.document as usize] = NONE;
        }
        self.size_bytes = 0;
    }

    /// Returns the number of bytes that sets and marks take.
    fn all_bytes(&self) -> usize {
        self.size_bytes + self.marks.size_bytes()
    }

    /// Evicts the sets that were used longest ago, until half of the budget is free. Sets that are in use stay.
    fn make_room(&mut self) {
        if self.all_bytes() <= self.budget.bytes {
            return;
        }
        self.held.sort_by_key(|held| (held.used, held.document));
        let (mut thrown, now) = (0, self.now);
        for held in self.held.iter().take_while(|held| held.used < now) {
            if self.all_bytes() <= self.budget.bytes / 2 {
                break;
            }
            self.size_bytes -= held.size_bytes();
            self.slots[held.document as usize] = NONE;
            thrown += 1;
        }
        self.held.drain(..thrown);
        for (slot, held) in (0..).zip(&self.held) {
            self.slots[held.document as usize] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use minwise_corpus::{Corpus, ReadOptions, Scratch, Unobserved};

    use super::*;
    use crate::memory;
    use crate::read::documents::{ComparisonKind, DocumentColumns, Documents, NewRow, RowShape};
    use crate::read::prepare::Preparation;
    use crate::turn::LargeDocumentLock;
    use crate::verify::loader::Sorting;
    use crate::weigh::WeightTables;

    fn documents(corpus: &Corpus) -> Documents {
        let shape = RowShape { words: 1, placed_words: None, rank_words: 0 };
        let mut columns = DocumentColumns::new(shape);
        for chunk in corpus.chunks(u64::MAX) {
            let mut add = |place, _| {
                columns.add(
                    &NewRow { place, id: None, kind: ComparisonKind::Shingled, equality_key: 0 },
                    |_| {},
                );
            };
            corpus
                .scan(&chunk, &mut Scratch::new(), &mut |place, document| add(place, document.is_ok()))
                .unwrap();
        }
        let mut all = Documents::new(shape);
        all.append(&mut columns, 0);
        all
    }

    /// Runs `test` with the sets of a corpus of these texts.
    fn with_sets(texts: &[&str], budget: Budget, test: impl FnOnce(&mut Sets<'_>)) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("in.jsonl");
        let lines: Vec<String> = texts.iter().map(|text| format!("{{\"text\":\"{text}\"}}\n")).collect();
        fs_err::write(&file, lines.concat()).unwrap();
        let corpus = Corpus::open(&[file.into()], &ReadOptions::default(), &Unobserved).unwrap();
        let spec = "casefold / words:2 / minhash:16 / seed:1".parse().unwrap();
        let preparation = Preparation::new(&spec, &WeightTables::default()).unwrap();
        let loader = Loader {
            corpus: &corpus,
            documents: &documents(&corpus),
            preparation: &preparation,
            sorting: Sorting::new(memory::WorkingMemory::none(), 1, None),
            turns: LargeDocumentLock::default(),
        };
        let numbers: Vec<u32> = (0..texts.len() as u32).collect();
        test(&mut Sets::new(&loader, &numbers, &mut Room::default(), budget));
    }

    fn held(sets: &Sets<'_>) -> Vec<bool> {
        sets.slots.iter().map(|&slot| slot != NONE).collect()
    }

    #[test]
    fn what_is_compared_on_disk_is_not_loaded_ahead() {
        let texts = ["one two three", "one two four", &"long ".repeat(1 << 18), "one two five"];
        let budget = Budget { bytes: 1 << 30, threads: 1, ahead_bytes: 9 << 20, crowd_bytes: 0 };
        with_sets(&texts, budget, |sets| {
            assert_eq!(sets.measure(0, 1, Measure::Jaccard).unwrap(), 1.0 / 3.0);
            assert_eq!(held(sets), [true, true, false, true]);
            assert_eq!(sets.measure(2, 3, Measure::Jaccard).unwrap(), 0.0);
            assert_eq!(sets.slots[2], NONE);
        });
    }

    #[test]
    fn what_was_thrown_out_is_loaded_again_alone() {
        let texts = ["one two three"; 6];
        let line_bytes = "{\"text\":\"one two three\"}\n".len() as u64;
        // Three documents are loaded at a time, and there is memory only for the sets in use.
        let budget = Budget { bytes: 0, threads: 1, ahead_bytes: 3 * line_bytes, crowd_bytes: 0 };
        with_sets(&texts, budget, |sets| {
            sets.measure(0, 1, Measure::Jaccard).unwrap();
            assert_eq!(held(sets), [true, true, true, false, false, false]);
            sets.measure(3, 4, Measure::Jaccard).unwrap();
            assert_eq!(held(sets), [false, false, false, true, true, true]);
            sets.measure(0, 4, Measure::Jaccard).unwrap();
            assert_eq!(held(sets), [true, false, false, false, true, false]);
            // If documents are needed again in order, the next documents are loaded too.
            sets.measure(1, 4, Measure::Jaccard).unwrap();
            assert_eq!(held(sets), [false, true, true, true, true, false]);
        });
    }

    /// Returns texts of one form: forty words that all texts have, and three words of their own.
    fn filled(count: usize) -> Vec<String> {
        let form: Vec<String> = (0..40).map(|at| format!("form{at}")).collect();
        (0..count).map(|i| format!("{} a{i} b{i} c{i}", form.join(" "))).collect()
    }

    #[test]
    fn marks_are_part_of_the_budget() {
        let texts = filled(400);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let budget = Budget { bytes: 64 << 10, threads: 1, ahead_bytes: 0, crowd_bytes: 0 };
        with_sets(&texts, budget, |sets| {
            // Without marks, sets fill the memory.
            for document in 0..400 {
                sets.measure(0, document, Measure::Jaccard).unwrap();
            }
            assert!(sets.all_bytes() > 32 << 10, "{} bytes", sets.all_bytes());
            let mut others: Vec<u32> = (1..400).collect();
            // Two texts share 39 of 45 shingles.
            let bounded = sets.bound(0, &mut others, 0.9).unwrap();
            // A mark takes 132 bytes, and its entry in the list of all documents takes 4 bytes.
            let marked = sets.marks.sizes.len() as u64;
            assert_eq!(marked, ((16 << 10) - 400 * 4) / 132);
            // In a few marks, two shingles flip the same bit and cancel, so these marks do not rule out their pairs.
            assert!((marked - 9..marked).contains(&bounded), "{bounded} of {marked} are ruled out");
            assert!(sets.marks.size_bytes() <= 16 << 10, "{} bytes of marks", sets.marks.size_bytes());
            assert!(sets.all_bytes() <= 64 << 10, "{} bytes", sets.all_bytes());
        });
        // If no mark fits into its share of the memory, no marks are made, and no pair is rejected by marks.
        with_sets(&texts, Budget { bytes: 1 << 10, ..budget }, |sets| {
            let mut others: Vec<u32> = (1..400).collect();
            assert_eq!(sets.bound(0, &mut others, 0.9).unwrap(), 0);
            assert_eq!((others.len(), sets.marks.size_bytes()), (399, 0));
        });
    }

    #[test]
    fn sets_of_a_form_are_reduced_and_measured_as_before() {
        let texts = filled(100);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let budget = Budget { bytes: 1 << 20, threads: 3, ahead_bytes: 1 << 20, crowd_bytes: 0 };
        let measures = |sets: &mut Sets<'_>| -> Vec<f64> {
            (0..100).map(|other| sets.measure(7, other, Measure::Jaccard).unwrap()).collect()
        };
        with_sets(&texts, budget, |sets| {
            let whole = measures(sets);
            let (words, before) = (sets.parity_words(&[1, 2, 3]).unwrap(), sets.size_bytes);
            let mut parity = vec![[0; 32]; 2];
            sets.parity_into(9, &mut parity[0]).unwrap();
            sets.reduce(&(0..100).collect::<Vec<_>>()).unwrap();
            assert!(sets.size_bytes < before / 2, "{} of {before} bytes", sets.size_bytes);
            assert_eq!(measures(sets), whole);
            assert_eq!(sets.parity_words(&[1, 2, 3]).unwrap(), words);
            sets.parity_into(9, &mut parity[1]).unwrap();
            assert_eq!(parity[0], parity[1]);
            // Sets that are loaded again are reduced too.
            sets.give_back();
            assert_eq!(measures(sets), whole);
            assert!(sets.size_bytes < before / 2, "{} of {before} bytes", sets.size_bytes);
            assert_eq!(sets.size_bytes, sets.held.iter().map(Held::size_bytes).sum::<usize>());
        });
    }

    #[test]
    fn many_are_compared_as_one_is() {
        let texts = filled(60);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let budget = Budget { bytes: 1 << 20, threads: 3, ahead_bytes: 1 << 20, crowd_bytes: 0 };
        let (documents, others) = ([5, 6, 9], [vec![1, 2, 5, 44], vec![], vec![59, 3]]);
        let expected = [
            vec![(1, 39.0 / 45.0), (2, 39.0 / 45.0), (5, 1.0), (44, 39.0 / 45.0)],
            vec![],
            vec![(59, 39.0 / 45.0), (3, 39.0 / 45.0)],
        ];
        let compare = |sets: &mut Sets<'_>| {
            let mut similar = vec![vec![]; 3];
            let is = sets.at_least_many(&documents, &others, (Measure::Jaccard, 0.8), &mut similar).unwrap();
            (is, similar)
        };
        with_sets(&texts, budget, |sets| {
            assert_eq!(compare(sets), (true, expected.to_vec()));
            sets.reduce(&(0..60).collect::<Vec<_>>()).unwrap();
            assert_eq!(compare(sets), (true, expected.to_vec()));
        });
        // If the sets do not fit into memory together, the caller must compare the pairs one by one.
        with_sets(&texts, Budget { bytes: 1 << 10, ..budget }, |sets| {
            assert_eq!(compare(sets), (false, vec![vec![]; 3]));
        });
    }

    #[test]
    fn whoever_goes_on_in_order_is_given_more_and_more() {
        let mut ahead = Ahead::default();
        let mut of = |document, last| {
            let bytes = ahead.of(document, 1 << 20);
            ahead.loaded(last);
            bytes
        };
        assert_eq!(of(0, 99), 1 << 20);
        assert_eq!(of(100, 120), 1 << 20);
        assert_eq!([of(7, 7), of(8, 9), of(10, 15), of(16, 30)], [0, 16 << 10, 32 << 10, 64 << 10]);
        assert_eq!([of(40, 40), of(41, 44)], [0, 16 << 10]);
        assert_eq!(of(121, 130), 1 << 20);
    }
}
