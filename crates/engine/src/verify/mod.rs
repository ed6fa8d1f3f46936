//! The third stage: neighbourhoods verified one by one, exactly.

pub mod compare;
mod huge;
pub(crate) mod loader;
pub(crate) mod screen;
pub(crate) mod sets;

use minwise::candidate::ExpectedRecall;
use minwise::cluster::{Found, Judge, Neighbourhood};
use minwise::{Observer, Stage};
use minwise_corpus::Corpus;

use crate::candidate::hoods::{Batch, Candidates, HoodRef, Meeting};
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::read::Reading;
use crate::read::documents::{Documents, RowReader, Which};
use crate::read::prepare::Preparation;
use crate::rows::{KEPT, Rows};
use crate::settings::Plan;
use crate::turn::Turns;
use crate::verify::loader::{Loader, Room, Sorting};
use crate::verify::screen::{OrderScreen, Screen, Screened};
use crate::verify::sets::{Budget, Sets};

/// Memory for shingle sets, for each thread.
const SETS_BYTES: usize = 24 << 20;
/// A neighbourhood with more text than this is worked on by all threads together.
const LARGE_BYTES: u64 = 8 << 20;
/// Text of a large neighbourhood that is read together, for each thread.
const AHEAD_BYTES: u64 = 1 << 20;
/// Reordered pairs that are remembered one by one; any more are counted only.
const LISTED: usize = 1 << 20;

/// A pair that reaches the threshold and is no near-duplicate, because what it shares stands in other places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reordered {
    /// One document.
    pub first: u32,
    /// The other, which was read later.
    pub second: u32,
    /// Their similarity.
    pub similarity: f64,
    /// The standard error of it; 0 if it is exact.
    pub similarity_error: f64,
    /// The share of their common shingles that stand in about the same places.
    pub alignment: f64,
    /// The standard error of it; 0 if it is exact.
    pub alignment_error: f64,
}

/// What verification adds up.
#[derive(Debug, Clone)]
pub struct Verification {
    /// Pairs that were looked at: those that share a band, or were found or compared in another way.
    pub candidates: u64,
    /// What the filter made of them.
    pub screened: Screened,
    /// Pairs that were compared exactly.
    pub compared: u64,
    /// Pairs of them that reach the threshold.
    pub verified: u64,
    /// Pairs that exactly reach the threshold, and are no near-duplicates because they are exactly reordered.
    pub reordered: u64,
    /// Pairs that were not compared exactly, because their sketches say that they are reordered; their similarity may
    /// reach the threshold.
    pub reordered_estimated: u64,
    /// The first million of both.
    pub reordered_pairs: Vec<Reordered>,
    /// The share of similar pairs that was found, as the banding implies it.
    pub expected_recall: ExpectedRecall,
}

impl Verification {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut expected_recall = ExpectedRecall::new(plan.curve());
        let order = plan.filter.filter(|_| plan.asks_places());
        for error in [plan.filter_error(), order].into_iter().flatten() {
            expected_recall = expected_recall.with_loss(error);
        }
        Self {
            candidates: 0,
            screened: Screened::default(),
            compared: 0,
            verified: 0,
            reordered: 0,
            reordered_estimated: 0,
            reordered_pairs: vec![],
            expected_recall,
        }
    }

    /// Counts a pair that reaches the threshold and stands for `pairs` pairs of documents.
    pub(crate) fn add(&mut self, found: &Found<'_>, pairs: u64) {
        self.verified += 1;
        self.expected_recall.add(found.similarity, found.narrowed, pairs);
    }

    /// Takes over what the judge of one neighbourhood has seen.
    fn take(&mut self, judge: ExactJudge<'_, '_>) {
        self.candidates += judge.candidates;
        self.screened.merge(&judge.screened);
        self.compared += judge.compared;
        self.reordered += judge.reordered;
        self.reordered_estimated += judge.reordered_estimated;
        self.reordered_pairs = judge.reordered_pairs;
    }

    fn merge(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.screened.merge(&other.screened);
        self.compared += other.compared;
        self.verified += other.verified;
        self.reordered += other.reordered;
        self.reordered_estimated += other.reordered_estimated;
        let room = LISTED - self.reordered_pairs.len();
        self.reordered_pairs.extend(other.reordered_pairs.iter().take(room));
        self.expected_recall.merge(&other.expected_recall);
    }
}

/// What all neighbourhoods are judged with.
struct Bench<'a> {
    rows: Rows,
    screen: Screen,
    order: Option<OrderScreen>,
    plan: &'a Plan,
    observer: &'a dyn Observer,
}

/// Compares documents of one neighbourhood: by their sketches, and if that leaves it open by their shingle sets.
pub(crate) struct ExactJudge<'a, 'r> {
    sets: Sets<'a>,
    hood: HoodRef<'a>,
    rows: &'a mut RowReader<'r>,
    placed_rows: &'a mut RowReader<'r>,
    bench: &'a Bench<'a>,
    candidates: u64,
    screened: Screened,
    compared: u64,
    reordered: u64,
    reordered_estimated: u64,
    reordered_pairs: Vec<Reordered>,
}

impl ExactJudge<'_, '_> {
    /// The exact similarity, whether it reaches the threshold or not.
    pub(crate) fn exact(&mut self, a: u32, b: u32) -> Result<f64, Error> {
        self.sets.measure(a, b, self.bench.plan.measure)
    }

    /// Gives back the sets, when no more is compared.
    pub(crate) fn give_back(&mut self) {
        self.sets.give_back();
    }

    /// Remembers a reordered pair while there are not too many.
    fn note_reordered(&mut self, pair: Reordered) {
        if self.reordered_pairs.len() < LISTED {
            self.reordered_pairs.push(pair);
        }
    }

    /// Whether the sketches put a pair aside.
    fn is_screened(&mut self, a: u32, b: u32) -> Result<bool, Error> {
        let bench = self.bench;
        if bench.screen.asks() {
            let (row_a, row_b) = self.rows.pair(a, b)?;
            if bench.screen.rejects(&bench.rows, row_a, row_b, &mut self.screened) {
                return Ok(true);
            }
        }
        let Some(order) = &bench.order else { return Ok(false) };
        let (row_a, row_b) = self.placed_rows.pair(a, b)?;
        let Some(misaligned) = order.rejects(row_a, row_b) else { return Ok(false) };
        let Some(similarity) = misaligned.similar else {
            self.screened.pairs += 1;
            return Ok(true);
        };
        self.reordered_estimated += 1;
        self.note_reordered(Reordered {
            first: a.min(b),
            second: a.max(b),
            similarity: similarity.value,
            similarity_error: similarity.standard_error,
            alignment: misaligned.alignment.value,
            alignment_error: misaligned.alignment.standard_error,
        });
        Ok(true)
    }
}

impl Judge for ExactJudge<'_, '_> {
    type Error = Error;

    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Error> {
        // A neighbourhood can be large, and whoever asks to stop should not have to wait for its end.
        if self.candidates.is_multiple_of(64) && self.bench.observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        self.candidates += 1;
        let [first, second] = [a, b].map(|number| self.hood.documents[number as usize]);
        if self.is_screened(first, second)? {
            return Ok(None);
        }
        self.compared += 1;
        let plan = self.bench.plan;
        let similarity = self.sets.at_least(a, b, plan.measure, plan.threshold)?;
        let (Some(similarity), Some(order)) = (similarity, plan.order) else { return Ok(similarity) };
        let alignment = self.sets.alignment_share(a, b)?;
        if alignment >= order {
            return Ok(Some(similarity));
        }
        self.reordered += 1;
        self.note_reordered(Reordered {
            first: first.min(second),
            second: first.max(second),
            similarity,
            similarity_error: 0.0,
            alignment,
            alignment_error: 0.0,
        });
        Ok(None)
    }

    fn partners(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        match self.hood.meeting {
            Meeting::Pairs(pairs) => pairs.partners(document, out),
            Meeting::Shelves(_) | Meeting::Large(_) => unreachable!("asked in a neighbourhood of pairs only"),
        }
    }

    fn shelves(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        match self.hood.meeting {
            Meeting::Large(shelves) => shelves.of(document, out),
            Meeting::Shelves(_) | Meeting::Pairs(_) => unreachable!("asked in a large neighbourhood only"),
        }
    }

    fn split_key(&mut self, document: u32, band: u32, split: usize) -> Result<u64, Error> {
        let row = self.rows.row(self.hood.documents[document as usize])?;
        Ok(self.bench.rows.split_key(band as usize, split, row))
    }
}

/// How far verification has come.
#[derive(Debug, Clone)]
pub(crate) struct Verified {
    /// The first neighbourhood that is not done.
    pub next: usize,
    /// What was added up over those that are.
    pub sum: Verification,
}

impl Verified {
    /// Nothing is done.
    pub(crate) fn nothing(candidates: &Candidates, plan: &Plan) -> Self {
        let mut sum = Verification::new(plan);
        // Whoever compared all rows to find candidates has put pairs aside already.
        sum.screened = candidates.screened();
        sum.candidates = sum.screened.pairs;
        Self { next: 0, sum }
    }
}

/// Runs `work` on every neighbourhood that `verified` leaves, and hands its results to `receive`, in the order of the
/// neighbourhoods. `done` is told after each batch.
#[expect(clippy::too_many_arguments, reason = "the run and what it is given, and three things to do with it")]
pub(crate) fn each_hood<T: Send>(
    corpus: &Corpus,
    reading: &Reading,
    candidates: &Candidates,
    plan: &Plan,
    observer: &dyn Observer,
    mut verified: Verified,
    work: impl Fn(HoodRef<'_>, &Neighbourhood, &mut ExactJudge<'_, '_>, &mut Verification) -> Result<T, Error>
    + Sync,
    receive: impl FnMut(usize, T) + Send,
    mut done: impl FnMut(&Verified) -> Result<(), Error>,
) -> Result<Verification, Error> {
    observer.begin(Stage::Verify, candidates.all_documents().len() as u64);
    observer.advance((0..verified.next).map(|number| candidates.documents(number).len() as u64).sum());
    let preparation = Preparation::new(&plan.spec, &plan.weighing)?;
    let rows = plan.rows()?;
    let placed = reading.documents.shape().placed_words.is_some();
    let bench = Bench {
        screen: Screen::new(plan, &rows)?,
        order: if placed { OrderScreen::new(plan)? } else { None },
        rows,
        plan,
        observer,
    };
    let memory = plan.memory.room(plan.threads, reading.documents.len());
    let folder = plan.temporary.as_deref();
    let sorting = Sorting::new(memory, plan.threads, folder);
    let turns = Turns::default();
    let loader = Loader { corpus, documents: &reading.documents, preparation: &preparation, sorting, turns };
    let run = |batch: &Batch<'_>, number: usize, seat: &mut Seat<'_>, budget: Budget| -> Result<_, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let hood = batch.hood(number);
        let references = hood.documents.partition_point(|&document| document < reading.references) as u32;
        let neighbourhood = hood.neighbourhood(KEPT.split_above).with_given(references);
        let mut judge = ExactJudge {
            sets: Sets::new(&loader, hood.documents, &mut seat.room, budget),
            hood,
            rows: &mut seat.rows,
            placed_rows: &mut seat.placed_rows,
            bench: &bench,
            candidates: 0,
            screened: Screened::default(),
            compared: 0,
            reordered: 0,
            reordered_estimated: 0,
            reordered_pairs: vec![],
        };
        let mut verification = Verification::new(plan);
        let result = work(hood, &neighbourhood, &mut judge, &mut verification)?;
        verification.take(judge);
        observer.advance(hood.documents.len() as u64);
        Ok((result, verification))
    };

    let all = Budget {
        bytes: SETS_BYTES * plan.threads,
        threads: plan.threads,
        ahead_bytes: AHEAD_BYTES.min(preparation.whole_bytes(1)) * plan.threads as u64,
    };
    let one = Budget { bytes: SETS_BYTES, threads: 1, ahead_bytes: 0 };
    let seat = || Seat::new(&reading.documents);
    let mut receive = receive;
    for hoods in candidates.batches(verified.next, memory, plan.work.is_some()) {
        let batch = candidates.load(hoods.clone(), memory, folder)?;
        // Large neighbourhoods by all threads together, small ones by one thread each.
        let (large, small): (Vec<usize>, Vec<usize>) = hoods
            .clone()
            .partition(|&number| plan.threads > 1 && candidates.text_bytes(number) > LARGE_BYTES);
        let mut delivery = Delivery {
            results: std::iter::repeat_with(|| None).take(hoods.len()).collect(),
            first: hoods.start,
            verified: &mut verified,
            receive: &mut receive,
        };
        let mut common = seat();
        for number in large {
            delivery.put(number, run(&batch, number, &mut common, all)?);
        }
        drop(common);
        let work = |seat: &mut Seat<'_>, item: usize| Ok((small[item], run(&batch, small[item], seat, one)?));
        parallel::in_order(small.len(), plan.threads, seat, work, |(number, result)| {
            delivery.put(number, result);
            Ok::<(), Error>(())
        })?;
        done(&verified)?;
    }
    Ok(verified.sum)
}

/// One thread's room to verify in.
struct Seat<'a> {
    room: Room,
    rows: RowReader<'a>,
    placed_rows: RowReader<'a>,
}

impl<'a> Seat<'a> {
    fn new(documents: &'a Documents) -> Self {
        Self {
            room: Room::default(),
            rows: RowReader::new(documents, Which::Sketch),
            placed_rows: RowReader::new(documents, Which::Placed),
        }
    }
}

/// Results of a batch that come in any order and are handed on in the order of the neighbourhoods, so that not even the
/// last bit of a sum depends on the threads.
struct Delivery<'a, T, R> {
    results: Vec<Option<(T, Verification)>>,
    /// The number of the first neighbourhood of the batch.
    first: usize,
    verified: &'a mut Verified,
    receive: &'a mut R,
}

impl<T, R: FnMut(usize, T)> Delivery<'_, T, R> {
    fn put(&mut self, number: usize, result: (T, Verification)) {
        self.results[number - self.first] = Some(result);
        let Verified { next, sum } = self.verified;
        while let Some((result, verification)) =
            self.results.get_mut(*next - self.first).and_then(Option::take)
        {
            sum.merge(&verification);
            (self.receive)(*next, result);
            *next += 1;
        }
    }
}
