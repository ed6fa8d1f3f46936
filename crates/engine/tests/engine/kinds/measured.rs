//! Comparison of the measured recall with the true recall, on all kinds of corpora.
//!
//! The true recall is that of the decisions: the removed documents, divided by the documents that repeat a kept one
//! before them, whether removed or not. Most of these corpora are so small that an audit compares all of their
//! documents and is exact. To test audits of large corpora, some runs use bands of the audit's own or a sample.

use std::sync::atomic::{AtomicUsize, Ordering};

use minwise::Spec;
use minwise::cluster::Clustering;
use minwise_engine::audit::Audit;
use minwise_engine::{AuditSize, Bands, RunSettings};

use super::corpora::{ALL, Make, make};
use super::truth::Truth;
use super::{SHELF, threads};
use crate::support::Documents;

/// Method of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The default method, which compares all documents of a small corpus.
    Whole,
    /// This number of bands that the audit draws.
    Bands(u32),
    /// A sample of this size, compared with all other documents.
    Documents(u64),
}

/// The runs per kind: wanted recall, clustering and audit method.
const RUNS: [(f64, Clustering, Way); 10] = [
    (0.99, Clustering::Star, Way::Whole),
    (0.7, Clustering::Star, Way::Whole),
    (0.99, Clustering::Star, Way::Bands(24)),
    (0.7, Clustering::Star, Way::Bands(24)),
    (0.7, Clustering::Star, Way::Bands(4)),
    // Two bands are the minimum of an audit, used from about 600,000 documents on.
    (0.7, Clustering::Star, Way::Bands(2)),
    (0.7, Clustering::Star, Way::Documents(40)),
    (0.7, Clustering::Components, Way::Whole),
    (0.7, Clustering::Components, Way::Bands(12)),
    (0.7, Clustering::Components, Way::Documents(40)),
];

/// Result of one audit, with the true recall.
struct Audited {
    audit: Audit,
    truth: f64,
}

impl Audited {
    fn is_covered(&self) -> bool {
        // The tolerance is for rounding: the bounds and the truth are quotients of different numbers.
        self.audit.low <= self.truth + 1e-12 && self.truth <= self.audit.high + 1e-12
    }
}

/// Audits of one kind of corpus by one method.
struct Cell {
    name: &'static str,
    run: (f64, Clustering, Way),
    audits: Vec<Audited>,
}

impl Cell {
    fn covered(&self) -> usize {
        self.audits.iter().filter(|audited| audited.is_covered()).count()
    }

    fn mean(&self, of: impl Fn(&Audited) -> f64) -> f64 {
        self.audits.iter().map(of).sum::<f64>() / self.audits.len() as f64
    }
}

const HEAD: &str = "| kind | wanted | clusters | audit | true, mean | measured, mean | width, mean | covered |\n\
                    |---|---|---|---|---|---|---|---|";

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (recall, cluster, way) = self.run;
        write!(
            f,
            "| {:25} | {recall:4} | {:10} | {:13} | {:.4} | {:.4} | {:.4} | {} of {} |",
            self.name,
            cluster.to_string(),
            format!("{way:?}").to_lowercase(),
            self.mean(|one| one.truth),
            self.mean(|one| one.audit.recall),
            self.mean(|one| one.audit.high - one.audit.low),
            self.covered(),
            self.audits.len(),
        )
    }
}

/// Runs one kind with several seeds. A seed determines the corpus, the hash functions and the sample.
fn run(maker: Make, seeds: std::ops::Range<u64>) -> Vec<Cell> {
    let name = make(maker, seeds.start).name;
    let mut cells: Vec<Cell> = RUNS.into_iter().map(|run| Cell { name, run, audits: vec![] }).collect();
    for seed in seeds {
        let kind = make(maker, seed);
        let documents = Documents::new(&kind.texts);
        let spec: Spec =
            format!("nfkc+casefold / {} / minhash:128 / seed:{seed}", kind.shingling).parse().unwrap();
        let truth = Truth::new(&kind.texts, &spec, kind.threshold);
        for cell in &mut cells {
            let (recall, cluster, way) = cell.run;
            let bands =
                kind.bands.map_or(Bands::ForRecall(recall), |(bands, rows)| Bands::Given { bands, rows });
            let audit = match way {
                Way::Documents(documents) => AuditSize::Documents(documents),
                Way::Whole | Way::Bands(_) => AuditSize::Affordable,
            };
            let settings = RunSettings::default().spec(spec).threshold(kind.threshold).bands(bands);
            let settings = settings.cluster(cluster).audit(audit).threads(1);
            let mut plan = settings.plan().unwrap().with_shelf(kind.shelf.unwrap_or(SHELF));
            if let Way::Bands(bands) = way {
                plan = plan.with_audit_bands(bands);
            }
            let decisions = documents.dedup_by(&plan);
            let removed = &decisions.removed;
            let keeper = |document: u32| {
                removed.binary_search_by_key(&document, |one| one.document).ok().map(|at| removed[at].of)
            };
            let missed = truth.missed(cluster, keeper);
            let audit = decisions.audit.unwrap();
            assert!(audit.missed <= missed, "{name}: {audit:?} of {missed}");
            assert!(audit.low <= audit.recall && audit.recall <= audit.high, "{name}: {audit:?}");
            let truth = audit.removed as f64 / (audit.removed + missed).max(1) as f64;
            // Without duplicates the recall is undefined, so 1 is used, which the interval of such an audit covers.
            let truth = if audit.removed + missed == 0 { 1.0 } else { truth };
            cell.audits.push(Audited { audit, truth });
        }
    }
    cells
}

/// On every kind, with a few seeds, audits that compare all documents are exact. Of all intervals, at least 94 % cover
/// the truth.
#[test]
fn the_measured_recall_is_right_on_every_kind_of_corpus() {
    let (mut all, mut covered, mut wrong) = (0, 0, vec![]);
    for maker in ALL {
        for cell in run(maker, 1..3) {
            let is_exact = cell.audits.iter().all(|one| one.audit.is_complete() && one.is_covered());
            if cell.run.2 == Way::Whole && !is_exact {
                wrong.push(cell.to_string());
            }
            (all, covered) = (all + cell.audits.len(), covered + cell.covered());
        }
    }
    assert!(wrong.is_empty(), "not exact:\n{HEAD}\n{}", wrong.join("\n"));
    assert!(covered * 100 >= all * 94, "{covered} of {all} intervals cover the truth");
}

/// `cargo x bench recall` prints this table. `MINWISE_SEEDS` sets another number of seeds, and `MINWISE_KINDS`, such as
/// `0..5`, runs some of the kinds.
#[test]
#[ignore = "long: 25 kinds of corpora with 100 seeds each"]
fn the_measured_recall_is_right_with_a_hundred_seeds() {
    let seeds: u64 = std::env::var("MINWISE_SEEDS").map_or(100, |seeds| seeds.parse().unwrap());
    let kinds = std::env::var("MINWISE_KINDS").map_or(0..ALL.len(), |kinds| {
        let (first, end) = kinds.split_once("..").unwrap();
        first.parse().unwrap()..end.parse().unwrap()
    });
    let makers = &ALL[kinds];
    let next = AtomicUsize::new(0);
    let work = || {
        let mut cells = vec![];
        while let Some(&maker) = makers.get(next.fetch_add(1, Ordering::Relaxed)) {
            cells.extend(run(maker, 1..1 + seeds));
        }
        cells
    };
    let cells: Vec<Cell> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    println!("{HEAD}");
    let mut wrong = vec![];
    for &maker in makers {
        let name = make(maker, 1).name;
        for cell in cells.iter().filter(|cell| cell.name == name) {
            println!("{cell}");
            if cell.covered() * 10 < cell.audits.len() * 9 {
                wrong.push(cell.to_string());
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "fewer than 90 of 100 intervals cover the truth:\n{HEAD}\n{}",
        wrong.join("\n")
    );
    for run in RUNS {
        let of_run = || cells.iter().filter(|cell| cell.run == run);
        let (all, covered): (usize, usize) =
            (of_run().map(|cell| cell.audits.len()).sum(), of_run().map(Cell::covered).sum());
        println!("{run:?}: {covered} of {all} intervals cover the truth");
        assert!(covered * 100 >= all * 94, "{run:?}: {covered} of {all} intervals cover the truth");
    }
}
