//! The third stage: neighbourhoods verified one by one, exactly.

use minwise::candidate::ExpectedRecall;
use minwise::cluster::{Found, Judge, Neighbourhood};
use minwise::sketch::Sketches;
use minwise_corpus::Corpus;

use crate::error::{Error, ErrorKind};
use crate::hoods::{Candidates, HoodRef, Meeting};
use crate::observe::{Observer, Stage};
use crate::parallel;
use crate::prepare::Preparation;
use crate::read::Reading;
use crate::rows::Rows;
use crate::screen::{OrderScreen, Screen, Screened};
use crate::sets::{Budget, Loader, Room, Sets};
use crate::settings::{KEPT, Settings};

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
    pub(crate) fn new(settings: &Settings) -> Self {
        let mut expected_recall = ExpectedRecall::new(settings.curve());
        let order = settings.filter.filter(|_| settings.asks_places());
        for error in [settings.filter_error(), order].into_iter().flatten() {
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
    fn take(&mut self, judge: ExactJudge<'_>) {
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
    order: Option<OrderScreen<'a>>,
    sketches: &'a Sketches,
    settings: &'a Settings,
    observer: &'a dyn Observer,
}

/// Compares documents of one neighbourhood: by their sketches, and if that leaves it open by their shingle sets.
pub(crate) struct ExactJudge<'a> {
    sets: Sets<'a>,
    hood: HoodRef<'a>,
    bench: &'a Bench<'a>,
    candidates: u64,
    screened: Screened,
    compared: u64,
    reordered: u64,
    reordered_estimated: u64,
    reordered_pairs: Vec<Reordered>,
}

impl ExactJudge<'_> {
    /// The exact similarity, whether it reaches the threshold or not.
    pub(crate) fn exact(&mut self, a: u32, b: u32) -> Result<f64, Error> {
        let (a, b) = self.sets.both(a, b)?;
        Ok(a.measure(b, self.bench.settings.measure))
    }

    /// Remembers a reordered pair while there are not too many.
    fn note_reordered(&mut self, pair: Reordered) {
        if self.reordered_pairs.len() < LISTED {
            self.reordered_pairs.push(pair);
        }
    }

    /// Whether the sketches put a pair aside.
    fn is_screened(&mut self, a: u32, b: u32) -> bool {
        let bench = self.bench;
        let [row_a, row_b] = [a, b].map(|document| bench.sketches.row(document as usize));
        if bench.screen.rejects(&bench.rows, row_a, row_b, &mut self.screened) {
            return true;
        }
        let Some(misaligned) = bench.order.as_ref().and_then(|order| order.rejects(a, b)) else {
            return false;
        };
        let Some(similarity) = misaligned.similar else {
            self.screened.pairs += 1;
            return true;
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
        true
    }
}

impl Judge for ExactJudge<'_> {
    type Error = Error;

    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Error> {
        // A neighbourhood can be large, and whoever asks to stop should not have to wait for its end.
        if self.candidates.is_multiple_of(64) && self.bench.observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        self.candidates += 1;
        let [first, second] = [a, b].map(|number| self.hood.documents[number as usize]);
        if self.is_screened(first, second) {
            return Ok(None);
        }
        self.compared += 1;
        let settings = self.bench.settings;
        let (set_a, set_b) = self.sets.both(a, b)?;
        let similarity = set_a.at_least(set_b, settings.measure, settings.threshold);
        let (Some(similarity), Some(order)) = (similarity, settings.order) else { return Ok(similarity) };
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
            Meeting::Shelves(_) => unreachable!("they are asked of a neighbourhood of pairs only"),
        }
    }

    fn split_key(&self, document: u32, band: u32, split: usize) -> u64 {
        let row = self.bench.sketches.row(self.hood.documents[document as usize] as usize);
        self.bench.rows.split_key(band as usize, split, row)
    }
}

/// Runs `work` on every neighbourhood and hands its results to `receive`, in the order of the neighbourhoods.
pub(crate) fn each_hood<T: Send>(
    corpus: &Corpus,
    reading: &Reading,
    candidates: &Candidates,
    settings: &Settings,
    observer: &dyn Observer,
    work: impl Fn(HoodRef<'_>, &Neighbourhood, &mut ExactJudge<'_>, &mut Verification) -> Result<T, Error> + Sync,
    mut receive: impl FnMut(HoodRef<'_>, T) + Send,
) -> Result<Verification, Error> {
    observer.begin(Stage::Verify, candidates.documents() as u64);
    let preparation = Preparation::new(&settings.spec, &settings.weighing)?;
    let rows = settings.rows()?;
    let order = reading.places.as_ref().map(|places| OrderScreen::new(settings, places)).transpose()?;
    let bench = Bench {
        screen: Screen::new(settings, &rows)?,
        order: order.flatten(),
        rows,
        sketches: &reading.sketches,
        settings,
        observer,
    };
    let loader = Loader { corpus, documents: &reading.documents, preparation: &preparation };
    let run = |number: usize, room: &mut Room, budget: Budget| -> Result<(T, Verification), Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let hood = candidates.hood(number);
        let neighbourhood = neighbourhood(hood, KEPT.0);
        let mut judge = ExactJudge {
            sets: Sets::new(&loader, hood.documents, room, budget),
            hood,
            bench: &bench,
            candidates: 0,
            screened: Screened::default(),
            compared: 0,
            reordered: 0,
            reordered_estimated: 0,
            reordered_pairs: vec![],
        };
        let mut verification = Verification::new(settings);
        let result = work(hood, &neighbourhood, &mut judge, &mut verification)?;
        verification.take(judge);
        observer.advance(hood.documents.len() as u64);
        Ok((result, verification))
    };

    // Large neighbourhoods by all threads together, small ones by one thread each.
    let text_bytes = |number: usize| -> u64 {
        let documents = candidates.hood(number).documents.iter();
        documents.map(|&document| u64::from(reading.documents.place(document).len)).sum()
    };
    let (large, small): (Vec<usize>, Vec<usize>) =
        (0..candidates.len()).partition(|&number| settings.threads > 1 && text_bytes(number) > LARGE_BYTES);

    let mut sum = Verification::new(settings);
    // Whoever compared all rows to find candidates has put pairs aside already.
    sum.screened = candidates.screened();
    sum.candidates = sum.screened.pairs;
    let mut delivery =
        Delivery { results: std::iter::repeat_with(|| None).take(candidates.len()).collect(), next: 0, sum };
    let mut deliver = |number: usize, result| {
        delivery.put(number, result, |number, result| receive(candidates.hood(number), result));
    };
    let all = Budget {
        bytes: SETS_BYTES * settings.threads,
        threads: settings.threads,
        ahead_bytes: AHEAD_BYTES * settings.threads as u64,
    };
    let mut room = Room::default();
    for number in large {
        deliver(number, run(number, &mut room, all)?);
    }
    let one = Budget { bytes: SETS_BYTES, threads: 1, ahead_bytes: 0 };
    let work = |room: &mut Room, item: usize| Ok((small[item], run(small[item], room, one)?));
    parallel::in_order(small.len(), settings.threads, Room::default, work, |(number, result)| {
        deliver(number, result);
        Ok::<(), Error>(())
    })?;
    Ok(delivery.sum)
}

/// Results that come in any order and are handed on in the order of the neighbourhoods, so that not even the last bit of
/// a sum depends on the threads.
struct Delivery<T> {
    results: Vec<Option<(T, Verification)>>,
    next: usize,
    sum: Verification,
}

impl<T> Delivery<T> {
    fn put(&mut self, number: usize, result: (T, Verification), mut hand_on: impl FnMut(usize, T)) {
        self.results[number] = Some(result);
        while let Some((result, verification)) = self.results.get_mut(self.next).and_then(Option::take) {
            self.sum.merge(&verification);
            hand_on(self.next, result);
            self.next += 1;
        }
    }
}

/// How the documents of a neighbourhood meet. Shelves that are too small ever to be split and hold the same documents in
/// several bands are taken once.
fn neighbourhood(hood: HoodRef<'_>, unsplit: usize) -> Neighbourhood {
    let shelves = match hood.meeting {
        Meeting::Pairs(_) => return Neighbourhood::of_pairs(hood.documents.len()),
        Meeting::Shelves(shelves) => shelves,
    };
    let (mut small, large): (Vec<_>, Vec<_>) =
        shelves.iter().partition(|(_, members)| members.len() <= unsplit);
    small.sort_unstable_by_key(|&(band, members)| (members, band));
    small.dedup_by_key(|(_, members)| *members);
    Neighbourhood::new(hood.documents.len(), small.into_iter().chain(large))
}
