//! Comparison of the expected recall of a run with the true recall, on many kinds of corpora; `measured` does the same
//! for the measured recall.
//!
//! | run | its recall |
//! |---|---|
//! | `pairs` | found pairs over all pairs at or above the threshold |
//! | `dedup`, stars | found pairs over all pairs of a document and a kept document before it in keeper order |
//! | `dedup`, components | pairs at or above the threshold that share a band, over all pairs at or above the threshold |
//!
//! In `dedup`, a pair counts once per copy of its later document, and a document that equals a kept one counts as
//! found.
//!
//! Brute force finds all pairs. The expected recall of a run must be within 0.01 of the true recall, or its lower bound
//! must hold.

mod corpora;
mod measured;
mod truth;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use minwise::Spec;
use minwise::cluster::Clustering;
use minwise_engine::stages::dedup;
use minwise_engine::stages::pairs;
use minwise_engine::{Bands, Observer, Plan, RunSettings, Unobserved, Verification, Warning};

use self::corpora::{ALL, Kind, Make, make};
use self::truth::Truth;
use crate::support::Documents;

/// Number of documents that a shelf takes, unless a kind sets another number.
const SHELF: usize = 1 << 17;
/// Largest error of the expected recall that is accepted without a look at its lower bound.
const OFF: f64 = 0.01;

/// Kind of run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Star,
    OneBit,
    Components,
    Pairs,
}

const MODES: [Mode; 4] = [Mode::Star, Mode::OneBit, Mode::Components, Mode::Pairs];

/// Recalls of one run: the true one, the expected one and its lower bound.
struct Measured {
    truth: f64,
    expected: f64,
    low: Option<f64>,
}

impl Measured {
    fn off(&self) -> f64 {
        (self.expected - self.truth).abs()
    }

    fn holds(&self) -> bool {
        self.low.is_none_or(|low| low <= self.truth)
    }
}

fn settings(kind: &Kind, spec: Spec, mode: Mode, recall: f64) -> RunSettings {
    RunSettings::default()
        .spec(spec)
        .threshold(kind.threshold)
        .bands(kind.bands.map_or(Bands::ForRecall(recall), |(bands, rows)| Bands::Given { bands, rows }))
        .bits((mode == Mode::OneBit).then(|| "1".parse().unwrap()))
        .cluster(if mode == Mode::Components { Clustering::Components } else { Clustering::Star })
        .audit(None)
        .threads(1)
}

fn measure(documents: &Documents, truth: &Truth, plan: &Plan, mode: Mode, shelf: usize) -> Measured {
    let reading = documents.read_by(plan);
    if mode == Mode::Pairs {
        let found = pairs(&documents.corpus, &reading, None, plan, &Unobserved).unwrap();
        return measured(truth.pairs(), &found.verification);
    }
    let decisions = dedup(&documents.corpus, &reading, plan, &Unobserved, |_| {}).unwrap();
    let is_removed =
        |document: u32| decisions.removed.binary_search_by_key(&document, |removed| removed.document).is_ok();
    let verification = &decisions.verification;
    if mode == Mode::Components {
        let truth = truth.sharing_a_band(plan.spec(), plan.banding(), shelf, is_removed);
        let (expected, low) = (verification.expected_recall.value(), verification.expected_recall_low());
        return Measured { truth, expected, low };
    }
    measured(truth.star_pairs(is_removed), verification)
}

fn measured(there: f64, verification: &Verification) -> Measured {
    let found = verification.expected_recall.sums()[0];
    assert!(found <= there, "{found} found of {there}");
    let truth = if there > 0.0 { found / there } else { 1.0 };
    let (expected, low) = (verification.expected_recall.value(), verification.expected_recall_low());
    Measured { truth, expected, low }
}

/// Returns the number of worker threads.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs one kind with several seeds. A seed determines the corpus and the hash functions. Returns the results per mode
/// and wanted recall.
fn run(maker: Make, seeds: std::ops::Range<u64>, recalls: &[f64], modes: &[Mode]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![];
    for seed in seeds {
        let kind = make(maker, seed);
        let documents = Documents::new(&kind.texts);
        let spec: Spec =
            format!("nfkc+casefold / {} / minhash:128 / seed:{seed}", kind.shingling).parse().unwrap();
        let truth = Truth::new(&kind.texts, &spec, kind.threshold);
        let shelf = kind.shelf.unwrap_or(SHELF);
        // A kind with given bands does not depend on the wanted recall, so one recall is enough.
        let recalls = if kind.bands.is_some() { &recalls[..1] } else { recalls };
        let every = recalls.iter().flat_map(|&recall| modes.iter().map(move |&mode| (recall, mode)));
        for (at, (recall, mode)) in every.enumerate() {
            let plan = settings(&kind, spec, mode, recall).plan().unwrap().with_shelf(shelf);
            if cells.len() <= at {
                cells.push(Cell { name: kind.name, recall, mode, runs: vec![] });
            }
            cells[at].runs.push(measure(&documents, &truth, &plan, mode, shelf));
        }
    }
    cells
}

/// All runs of one kind in one mode.
struct Cell {
    name: &'static str,
    recall: f64,
    mode: Mode,
    runs: Vec<Measured>,
}

impl Cell {
    fn count(&self, is: impl Fn(&Measured) -> bool) -> usize {
        self.runs.iter().filter(|run| is(run)).count()
    }

    /// Reports whether at least 98 % of the runs have a small error, or at least 98 % have a bound that holds.
    fn is_right(&self) -> bool {
        let enough = self.runs.len() * 98;
        let is_enough = |count: usize| count * 100 >= enough;
        is_enough(self.count(|run| run.off() <= OFF)) || is_enough(self.count(Measured::holds))
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, recall, mode, runs } = self;
        let mean = |of: fn(&Measured) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let least = runs.iter().map(|run| run.truth).fold(1.0, f64::min);
        let off = runs.iter().map(Measured::off).fold(0.0, f64::max);
        write!(
            f,
            "| {name:25} | {recall:4} | {:10} | {:.4} | {least:.4} | {:.4} | {off:.4} | {:7} | {:.4} | {:5} |",
            format!("{mode:?}").to_lowercase(),
            mean(|run| run.truth),
            mean(|run| run.expected),
            self.count(|run| run.off() <= OFF),
            mean(|run| run.low.unwrap_or(0.0)),
            self.count(Measured::holds),
        )
    }
}

const HEAD: &str = "| kind | wanted | run | true, mean | least | expected | off by at most | within 0.01 | at least | holds |\n\
                    |---|---|---|---|---|---|---|---|---|---|";

/// On every kind, with a few seeds, no run is wrong. `cargo x bench recall` runs more seeds, and accepts two wrong runs
/// per hundred.
#[test]
fn the_expected_recall_is_right_on_every_kind_of_corpus() {
    for maker in ALL {
        for cell in run(maker, 1..4, &[0.99, 0.7], &MODES) {
            let wrong = cell.count(|run| !run.holds() && run.off() > OFF);
            assert!(wrong == 0, "{wrong} of {} runs are wrong\n{HEAD}\n{cell}", cell.runs.len());
        }
    }
}

/// Observer that collects the warnings of a run.
#[derive(Default)]
struct Warnings(Mutex<Vec<Warning>>);

impl Observer for Warnings {
    fn warn(&self, warning: &Warning) {
        self.0.lock().unwrap().push(warning.clone());
    }
}

fn warnings(kind: &Kind, mode: Mode, shelf: usize) -> Vec<Warning> {
    // With 16 registers, the recall of 0.99 can only be reached by bands of one row.
    let spec = format!("nfkc+casefold / {} / minhash:16 / seed:1", kind.shingling).parse().unwrap();
    let plan = settings(kind, spec, mode, 0.99).plan().unwrap().with_shelf(shelf);
    let documents = Documents::new(&kind.texts);
    let reading = documents.read_by(&plan);
    let warnings = Warnings::default();
    match mode {
        Mode::Pairs => drop(pairs(&documents.corpus, &reading, None, &plan, &warnings).unwrap()),
        _ => drop(dedup(&documents.corpus, &reading, &plan, &warnings, |_| {}).unwrap()),
    }
    warnings.0.into_inner().unwrap()
}

#[test]
fn a_recall_below_the_wanted_one_is_warned_of() {
    // Every document is half a form, so half of the bands have the key of the form and their shelves fill up.
    let kind = corpora::filled();
    for mode in [Mode::Star, Mode::Components, Mode::Pairs] {
        assert_eq!(warnings(&kind, mode, SHELF), []);
        let warned = warnings(&kind, mode, 5);
        let [
            full @ Warning::FullShelves { shelves, documents, most: 5, .. },
            Warning::LowRecall { expected, wanted, .. },
        ] = &warned[..]
        else {
            panic!("{mode:?}: {warned:?}")
        };
        assert!(*shelves > 0 && documents > shelves, "{shelves} {documents}");
        assert!(expected < wanted && wanted == "99.00 %", "{expected} {wanted}");
        let text = full.message().as_flags("minwise");
        assert!(text.contains("`--ignore-text FILE` leaves it out"), "{text}");
        assert!(text.contains("`--candidates all` compares every pair"), "{text}");
    }
}

/// `cargo x bench recall` prints this table.
#[test]
#[ignore = "long: 25 kinds of corpora with 100 seeds each"]
fn the_expected_recall_is_right_with_a_hundred_seeds() {
    let seeds: u64 = std::env::var("MINWISE_SEEDS").map_or(100, |seeds| seeds.parse().unwrap());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut cells = vec![];
        while let Some(&maker) = ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            let modes = [Mode::Star, Mode::Components, Mode::Pairs];
            cells.extend(run(maker, 1..1 + seeds, &[0.99, 0.9, 0.7], &modes));
            // Bits change the filter but not the bands, so one wanted recall is enough for this mode.
            cells.extend(run(maker, 1..1 + seeds, &[0.99], &[Mode::OneBit]));
        }
        cells
    };
    let cells: Vec<Cell> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    println!("{HEAD}");
    let mut wrong = vec![];
    for maker in ALL {
        let name = make(maker, 1).name;
        for cell in cells.iter().filter(|cell| cell.name == name) {
            println!("{cell}");
            if !cell.is_right() {
                wrong.push(cell.to_string());
            }
        }
    }
    assert!(wrong.is_empty(), "wrong in more than 2 of 100 runs:\n{HEAD}\n{}", wrong.join("\n"));
}
