//! The audit: near-duplicates that a run kept, looked for without its bands, to measure its recall.
//!
//! # What is measured
//!
//! The *recall of decisions*: of the documents that repeat a kept one, the share that was removed.
//!
//! ```text
//! recall = removed / (removed + missed)
//! ```
//!
//! Every removed document was compared exactly with the one in whose favour it goes, so their number is known, and precision is 1.
//! A *missed duplicate* is a document of the inputs that was kept although a kept document before it in keeper order is similar. By
//! components, it is one whose cluster has a document that is similar to a document of an earlier cluster. So the audit looks for
//! similar documents in the output, and needs to know nothing of the bands, shelves and filters that may have missed them.
//!
//! The expected recall is another quantity: the share of *pairs*. A document of several pairs is removed if one of them is found, so
//! the recall of decisions is the higher one, unless most documents have one pair.
//!
//! # How it is measured
//!
//! 1. Kept documents are drawn with equal chances, by the seed of the spec (`draw`). Mostly, all are.
//! 2. Documents whose sketches are near that of a drawn one are found: in a small corpus, and if a number of documents was asked for,
//!    by comparing sketches with all others (`near`); else by bands of the audit's own, which find a pair with a probability that
//!    follows from its two sketches (`bands`). Sketches that are near miss a similar pair with an error of
//!    [`FILTER_ERROR`](crate::FILTER_ERROR), twice at most.
//! 3. Near documents are read and compared exactly (`exact`).
//! 4. A missed duplicate is seen if it is drawn and its pair is found, both with known probabilities, so the number that was missed
//!    has limits ([`minwise::estimate::missed`]). All pairs are looked up in the same bands; the values in which two pairs agree say
//!    how far they are found together, and the limits allow for that.
//!
//! The probability of a missed duplicate is that of one similar pair. A document with several of them is found more often, so that
//! it counts for more than it should: the stated recall is too low there, and never too high.
//!
//! # What it may cost
//!
//! Unless a number of documents was asked for, an audit may take a twentieth of the run or a fifth of a second. The cost is counted in
//! bytes, documents and comparisons and not by the clock, so that the same input gives the same numbers on every machine
//! (`AuditBounds`). If that is not enough for all documents, half of the drawn documents are left out, as often as needed.

mod bands;
mod draw;
mod exact;
mod near;
mod sieve;
mod values;

use std::ops::RangeInclusive;

use minwise::estimate::missed::SampledMisses;
use minwise::verify::Measure;
use minwise::{Observer, Stage};
use minwise_corpus::Corpus;
use serde::{Serialize, Serializer};

use self::bands::AuditBands;
use self::draw::KeptDraw;
pub use self::draw::audit_rank;
use self::near::NearPair;
use self::sieve::Sieve;
use crate::candidate::gather::Equals;
use crate::candidate::order::KeeperOrder;
use crate::error::{Error, ErrorKind};
use crate::read::Reading;
use crate::settings::{AuditSize, Plan, Search};
use crate::verify::Removed;

/// Sets of the sample that are compared together, however many there are: each may take tens of kilobytes, for its row and its
/// pairs. A number of its own, and no share of the memory, because it changes no result.
const PORTION: usize = 1024;

/// The width from which on an interval says little.
const WIDE: f64 = 0.1;

/// The recall of decisions that was measured.
///
/// Serialised, `recall`, `low` and `high` are null if no duplicate was found or missed, because nothing was measured then.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Audit {
    /// Kept documents of the inputs that have a text.
    pub kept: u64,
    /// Kept documents that were drawn and looked at.
    pub documents: u64,
    /// Duplicates that the run found.
    pub removed: u64,
    /// Missed duplicates among the documents that were drawn.
    pub missed: u64,
    /// The share of all duplicates that the run found; 1 if there are none.
    pub recall: f64,
    /// The lower end of its 95 % confidence interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// An audit for which no document was drawn.
impl Default for Audit {
    fn default() -> Self {
        Self { kept: 0, documents: 0, removed: 0, missed: 0, recall: 1.0, low: 0.0, high: 1.0 }
    }
}

impl Audit {
    /// The audit of which `drawn` of `kept` documents were compared with all others, and `missed` of them are missed duplicates.
    #[must_use]
    pub fn of_counts(kept: u64, drawn: u64, removed: u64, missed: u64) -> Self {
        let seen = vec![1.0; missed as usize];
        let share = if drawn == kept { 1.0 } else { drawn as f64 / kept as f64 };
        let misses =
            SampledMisses { found: removed, seen: &seen, open: 0, covariance: 0.0, drawn: share, least: 1.0 };
        Self::new(kept, drawn, misses)
    }

    /// The audit of so many documents with these results.
    fn new(kept: u64, documents: u64, misses: SampledMisses<'_>) -> Self {
        let share = misses.share_found();
        let (low, high) = share.interval;
        let (removed, missed) = (misses.found, misses.seen.len() as u64);
        Self { kept, documents, removed, missed, recall: share.value, low, high }
    }

    /// Whether there is a duplicate, so that a recall was measured.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.removed + self.missed > 0
    }

    /// Whether the interval is too wide to say much, so that more documents had better be drawn.
    #[must_use]
    pub fn says_little(&self) -> bool {
        self.high - self.low > WIDE
    }

    /// Whether every document was compared with all others, so that the recall is exact.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.low >= self.high
    }
}

impl Serialize for Audit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields {
            kept: u64,
            documents: u64,
            removed: u64,
            missed: u64,
            recall: Option<f64>,
            low: Option<f64>,
            high: Option<f64>,
        }
        let Self { kept, documents, removed, missed, .. } = *self;
        let [recall, low, high] =
            [self.recall, self.low, self.high].map(|value| self.is_known().then_some(value));
        Fields { kept, documents, removed, missed, recall, low, high }.serialize(serializer)
    }
}

/// The run that is audited.
#[derive(Clone, Copy)]
pub(crate) struct AuditedRun<'a> {
    corpus: &'a Corpus,
    reading: &'a Reading,
    equals: &'a Equals,
    order: &'a KeeperOrder,
    plan: &'a Plan,
    observer: &'a dyn Observer,
    /// Drawn documents that are compared together, at most.
    portion: usize,
}

impl<'a> AuditedRun<'a> {
    pub(crate) fn new(
        corpus: &'a Corpus,
        reading: &'a Reading,
        equals: &'a Equals,
        order: &'a KeeperOrder,
        plan: &'a Plan,
        observer: &'a dyn Observer,
    ) -> Self {
        Self { corpus, reading, equals, order, plan, observer, portion: PORTION }
    }

    /// Audits a run, given the duplicates that it found, by document. Nothing if no audit is wanted, if nothing can be missed, or if
    /// sketches cannot say what is unlike.
    pub(crate) fn audit(&self, removed: &[Removed], spared: &[Removed]) -> Result<Option<Audit>, Error> {
        let Self { reading, plan, .. } = *self;
        let inputs = reading.references..reading.documents.len() as u32;
        let banded = plan.search == Search::Banding && plan.measure == Measure::Jaccard;
        let Some(asked) = plan.audit.filter(|_| banded && !inputs.is_empty()) else { return Ok(None) };
        let Some(sieve) = Sieve::new(plan)? else { return Ok(None) };
        let mut bounds = AuditBounds::new(self.corpus.size_bytes(), reading.documents.len() as u64);
        if let Some(bands) = plan.audit_bands {
            bounds = bounds.with_bands(bands);
        }
        self.audit_within(asked, &bounds, &sieve, removed, spared).map(Some)
    }

    fn audit_within(
        &self,
        asked: AuditSize,
        bounds: &AuditBounds,
        sieve: &Sieve,
        removed: &[Removed],
        spared: &[Removed],
    ) -> Result<Audit, Error> {
        let most = match asked {
            AuditSize::Affordable => None,
            AuditSize::Documents(documents) => Some(documents),
        };
        let draw = KeptDraw::new(self, [removed, spared], most)?;
        let found = (removed.len() + spared.len()) as u64;
        let searched = draw.documents().count() as u64;
        let is_small = searched.saturating_mul(searched) / 2 <= bounds.compared_with_all / sieve.cost();
        let (searched, bands) = if most.is_some() || is_small {
            let near = bounds.near.max(most.unwrap_or(0).saturating_mul(PARTNERS));
            (near::compare_all(self, sieve, &draw, self.portion, near)?, None)
        } else {
            let bands = AuditBands::new(self, sieve, &draw, searched, bounds.bands(searched))?;
            (bands.search(self, sieve, &draw, bounds.comparisons, bounds.near)?, Some(bands))
        };
        // Without bands there is time to read more.
        let affordable = if bands.is_none() { 3 * bounds.read } else { bounds.read };
        let read = affordable.max(most.unwrap_or(0).saturating_mul(PARTNERS * bounds.average));
        let misses = exact::compare(self, &draw, searched, read)?;
        let probability =
            |pair: &NearPair| bands.as_ref().map_or(1.0, |bands| bands.probability(pair.agreeing.0));
        let seen: Vec<f64> = misses.pairs.iter().map(probability).collect();
        let covariance = match &bands {
            Some(bands) => bands.covariance(self, sieve, &misses.pairs)?,
            None => 0.0,
        };
        let (kept, documents) = (draw.kept(), draw.len(misses.halvings));
        let drawn = if documents == kept { 1.0 } else { documents as f64 / kept as f64 };
        let least = bands.as_ref().map_or(1.0, AuditBands::least);
        let found = SampledMisses { found, seen: &seen, open: misses.open, covariance, drawn, least };
        Ok(Audit::new(kept, documents, found))
    }

    /// Tells the observer that the audit begins, and how many documents it will look at.
    fn begin(&self, documents: usize) {
        self.observer.begin(Stage::Audit, documents as u64);
    }

    fn check(&self) -> Result<(), Error> {
        if self.observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }
}

/// Nanoseconds that an audit may take, however short the run is.
const FREE_NANOSECONDS: u64 = 120_000_000;
/// Nanoseconds that a run takes per byte and per document, about, with one thread.
const RUN_NANOSECONDS_PER_BYTE: u64 = 6;
const RUN_NANOSECONDS_PER_DOCUMENT: u64 = 1500;
/// Bytes of a document that is short.
const SHORT_BYTES: u64 = 300;
/// The share of the run that an audit may take: one part in so many.
const RUN_SHARE: u64 = 20;
/// Nanoseconds per band and document: its key, and its place in the order of keys.
const BAND_NANOSECONDS: u64 = 50;
/// Nanoseconds per pair of rows that are anywhere in memory.
const PAIR_NANOSECONDS: u64 = 80;
/// Nanoseconds per byte that is read again, cut into shingles and compared.
const READ_NANOSECONDS: u64 = 12;
/// Nanoseconds per pair of sketches if one is compared with all.
const BIT_NANOSECONDS: u64 = 4;
/// The most bands that are drawn: nearly all pairs at usual thresholds are found by then.
const MOST_BANDS: u64 = 24;
/// The fewest bands, which find too few pairs to be worth more.
const LEAST_BANDS: u64 = 2;
/// Near pairs that are in memory together, at most: 12 bytes each.
const MOST_NEAR: u64 = 1 << 19;
/// Near pairs of each document that are kept and read if so many documents were asked for, on average.
const PARTNERS: u64 = 32;

/// The bounds of an audit if no number of documents was asked for.
#[derive(Debug, Clone)]
struct AuditBounds {
    /// Bytes per document, on average.
    average: u64,
    /// Documents times bands.
    band_keys: u64,
    /// Pairs of sketches that are compared because they share a band.
    comparisons: u64,
    /// Pairs of sketches in a corpus so small that all are compared.
    compared_with_all: u64,
    /// The fewest and the most bands that are drawn.
    bands: RangeInclusive<u64>,
    /// Near pairs.
    near: u64,
    /// Bytes of text that are read again.
    read: u64,
}

impl AuditBounds {
    fn new(bytes: u64, documents: u64) -> Self {
        let share = |bytes: u64| {
            let run = bytes * RUN_NANOSECONDS_PER_BYTE + documents * RUN_NANOSECONDS_PER_DOCUMENT;
            (run / RUN_SHARE).max(FREE_NANOSECONDS)
        };
        // The size of a corpus depends on its format. Documents are taken to be short here, so that the same documents have the
        // same audit in every format, unless near documents are more than can be read.
        let nanoseconds = share(documents * SHORT_BYTES);
        Self {
            average: (bytes / documents.max(1)).max(1),
            band_keys: nanoseconds / 2 / BAND_NANOSECONDS,
            comparisons: nanoseconds / 4 / PAIR_NANOSECONDS,
            compared_with_all: FREE_NANOSECONDS / 4 / BIT_NANOSECONDS,
            bands: LEAST_BANDS..=MOST_BANDS,
            near: MOST_NEAR,
            read: share(bytes) / 4 / READ_NANOSECONDS,
        }
    }

    /// These bounds with so many bands, however small the corpus is.
    fn with_bands(self, bands: u32) -> Self {
        Self { compared_with_all: 0, bands: bands.into()..=bands.into(), ..self }
    }

    /// How many bands are looked up among so many documents.
    fn bands(&self, documents: u64) -> u32 {
        (self.band_keys / documents.max(1)).clamp(*self.bands.start(), *self.bands.end()) as u32
    }
}

#[cfg(test)]
mod tests {
    use minwise::Unobserved;
    use minwise_corpus::ReadOptions;
    use tempfile::TempDir;

    use super::*;
    use crate::candidate::order::KeeperOrder;
    use crate::read::read;
    use crate::settings::RunSettings;

    struct Texts {
        corpus: Corpus,
        _folder: TempDir,
    }

    impl Texts {
        /// Pairs of documents at 16/24 to 24/24 of each other, and as many documents that are alone.
        fn pairs(pairs: u64) -> Self {
            let text = |pair: u64, second: bool| {
                let changed = minwise::hash::fmix64(pair) % 6;
                let word = |at: u64| format!("p{pair}{}{at}", if second && at < changed { "x" } else { "w" });
                (0..24).map(word).collect::<Vec<String>>().join(" ")
            };
            Self::new(pairs, text)
        }

        /// Pairs of documents, and as many documents that are alone.
        fn new(pairs: u64, text: impl Fn(u64, bool) -> String) -> Self {
            let both = (0..pairs).flat_map(|pair| [text(pair, false), text(pair, true)]);
            let all = both.chain((pairs..2 * pairs).map(|alone| text(alone, false)));
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("in.jsonl");
            let lines: Vec<String> = all.map(|text| format!("{{\"text\":\"{text}\"}}\n")).collect();
            fs_err::write(&file, lines.concat()).unwrap();
            let corpus = Corpus::open(&[file.into()], &ReadOptions::default(), &Unobserved).unwrap();
            Self { corpus, _folder: folder }
        }

        /// Pairs of documents at 80/100 of each other, and as many that are alone, all of which contain a form of 60 words.
        fn pairs_in_a_form(pairs: u64) -> Self {
            let form: Vec<String> = (0..60).map(|at| format!("form{at}")).collect();
            let form = format!(" {}", form.join(" "));
            let text = |pair: u64, second: bool| {
                let word = |at: u64| format!("p{pair}{}{at}", if second && at < 10 { "x" } else { "w" });
                (0..30).map(word).collect::<Vec<String>>().join(" ") + &form
            };
            Self::new(pairs, text)
        }

        /// The audit of a run that removed the documents of some of the pairs, given by `removed`.
        fn audit(
            &self,
            settings: &RunSettings,
            removed: impl Fn(u32) -> bool,
            bounds: impl Fn(AuditBounds) -> AuditBounds,
        ) -> Audit {
            let plan = settings.plan().unwrap();
            let reading = read(&self.corpus, &plan.reading(), &Unobserved).unwrap();
            let documents = reading.documents.len() as u32;
            let order = KeeperOrder::new(&reading.documents, &plan.keep, 0).unwrap();
            let room = plan.memory.room(1, order.len());
            let equals = Equals::find(&reading.documents, &order, plan.threads, room).unwrap();
            // Second documents of pairs that are equal to the first are removed by every run.
            let is_second = |document: &u32| *document < documents * 2 / 3 && document % 2 == 1;
            let is_removed = |document: &u32| !equals.is_first(*document) || removed(*document);
            let removed: Vec<Removed> = (0..documents)
                .filter(is_second)
                .filter(is_removed)
                .map(|document| Removed { document, of: document - 1, similarity: 1.0 })
                .collect();
            let run = AuditedRun::new(&self.corpus, &reading, &equals, &order, &plan, &Unobserved);
            let sieve = Sieve::new(&plan).unwrap().unwrap();
            let bounds = bounds(AuditBounds::new(self.corpus.size_bytes(), u64::from(documents)));
            run.audit_within(plan.audit.unwrap(), &bounds, &sieve, &removed, &[]).unwrap()
        }
    }

    fn settings(seed: u64) -> RunSettings {
        let spec = format!("casefold / words:1 / minhash:128 / seed:{seed}").parse().unwrap();
        RunSettings { spec, threshold: 0.6, threads: Some(1), ..RunSettings::default() }
    }

    /// Every fourth pair was missed. The audit's own bands see nearly all of them if there are many bands, and fewer if there are few;
    /// the interval covers the truth, whatever rows are made of.
    #[test]
    fn bands_of_its_own_find_what_was_missed() {
        const RUNS: u64 = 40;
        let texts = Texts::pairs(200);
        for (bits, bands) in [(None, 24), (None, 4), (Some("1"), 24), (Some("2.5"), 8)] {
            let (mut covered, mut sum, mut truth) = (0, 0.0, 0.0);
            for seed in 0..RUNS {
                let settings = settings(seed).bits(bits.map(|bits| bits.parse().unwrap()));
                let missed = |document: u32| !(document / 2).is_multiple_of(4);
                let exact = texts.audit(&settings, missed, |bounds| bounds);
                assert!(exact.is_complete() && exact.missed > 20, "{exact:?}");
                let audit = texts.audit(&settings, missed, |bounds| bounds.with_bands(bands));
                assert_eq!(
                    (audit.documents, audit.kept, audit.removed),
                    (exact.kept, exact.kept, exact.removed)
                );
                assert!(audit.missed <= exact.missed);
                covered += u64::from((audit.low..=audit.high).contains(&exact.recall));
                sum += audit.recall;
                truth = exact.recall;
            }
            assert!(
                covered >= RUNS - 5,
                "{covered} of {RUNS} intervals cover the truth with {bits:?} and {bands} bands"
            );
            assert!(
                (sum / RUNS as f64 - truth).abs() < 0.01,
                "{sum} and {truth} with {bits:?} and {bands} bands"
            );
        }
    }

    /// Pairs that share a form agree in the registers of the form, so that a band finds most of them or few. The interval covers the
    /// truth all the same, also with the fewest bands.
    #[test]
    fn misses_that_are_found_together_widen_the_interval() {
        const RUNS: u64 = 60;
        const PAIRS: u64 = 250;
        let texts = Texts::pairs_in_a_form(PAIRS);
        for bands in [2, 24] {
            let mut covered = 0;
            for seed in 0..RUNS {
                let settings = settings(seed).threshold(0.8);
                let removed = |document: u32| (document / 2).is_multiple_of(5);
                let audit = texts.audit(&settings, removed, |bounds| bounds.with_bands(bands));
                assert_eq!(audit.removed, PAIRS / 5);
                // One of five was removed.
                covered += u64::from((audit.low..=audit.high).contains(&0.2));
            }
            assert!(covered * 10 >= RUNS * 9, "{covered} of {RUNS} cover the truth by {bands} bands");
        }
    }

    /// With few comparisons, the draw is halved until they are enough.
    #[test]
    fn a_draw_that_costs_too_much_is_halved() {
        let texts = Texts::pairs(200);
        let missed = |document: u32| !(document / 2).is_multiple_of(2);
        let audit = |comparisons| {
            let bounds = |bounds: AuditBounds| AuditBounds { comparisons, ..bounds.with_bands(16) };
            texts.audit(&settings(1), missed, bounds)
        };
        let (whole, part) = (audit(u64::MAX), audit(16 * 25));
        assert_eq!(whole.documents, whole.kept);
        assert!(part.documents < part.kept * 3 / 4 && part.missed < whole.missed, "{part:?}");
        assert!(part.high - part.low > whole.high - whole.low, "{part:?} {whole:?}");
        assert!((part.low..=part.high).contains(&whole.recall), "{part:?} {whole:?}");
        let read = |read| texts.audit(&settings(1), missed, |bounds| AuditBounds { read, ..bounds });
        let (whole, part) = (read(1 << 20), read(1500));
        assert!(part.documents < whole.documents && part.missed < whole.missed, "{part:?} {whole:?}");
    }

    /// Neither memory nor threads change an audit by bands, though bands are looked up part by part.
    #[test]
    fn memory_and_threads_change_nothing() {
        let texts = Texts::pairs(1500);
        let missed = |document: u32| !(document / 2).is_multiple_of(3);
        let audit = |room, threads, comparisons| {
            let memory = crate::memory::MemoryLimit::with_room(room);
            let settings = settings(4).memory(memory).threads(threads);
            let bounds = |bounds: AuditBounds| AuditBounds { comparisons, ..bounds.with_bands(9) };
            texts.audit(&settings, missed, bounds)
        };
        for comparisons in [u64::MAX, 1500] {
            let one = audit(1 << 30, 1, comparisons);
            assert!(one.missed > 10, "{one:?}");
            for (room, threads) in [(1 << 30, 3), (1 << 18, 1), (1 << 18, 2), (1 << 20, 2)] {
                assert_eq!(audit(room, threads, comparisons), one, "{room} bytes and {threads} threads");
            }
        }
    }

    #[test]
    fn the_cost_is_bounded_by_the_corpus() {
        let bounds = |bytes, documents| AuditBounds::new(bytes, documents);
        // A small corpus has a fifth of a second, less what cannot be counted.
        let small = bounds(75_000_000, 50_000);
        assert_eq!((small.bands(45_000), small.comparisons), (24, 375_000));
        // Three million documents: half a second of a run of ten seconds or more. The format does not matter, except for what is read.
        let [short, long] = [170, 5000].map(|bytes| bounds(3_000_000 * bytes, 3_000_000));
        assert_eq!((short.bands(3_000_000), short.comparisons), (2, 1_546_875));
        assert_eq!((long.bands(3_000_000), long.comparisons), (2, 1_546_875));
        assert!(short.read < long.read);
        // There are bands for any number of documents.
        assert_eq!(bounds(1 << 40, 1 << 32).bands(1 << 32), 2);
    }

    #[test]
    fn counts_of_a_comparison_with_all() {
        let audit = Audit::of_counts(1000, 1000, 300, 100);
        assert_eq!((audit.recall, audit.low, audit.high), (0.75, 0.75, 0.75));
        assert!(audit.is_complete() && audit.is_known());
        let some = Audit::of_counts(1000, 100, 300, 10);
        assert!(some.recall == 0.75 && some.low < 0.75 && some.high > 0.75 && some.says_little(), "{some:?}");
        assert!(!Audit::of_counts(1000, 100, 0, 0).is_known());
        // If nothing is kept, nothing is missed.
        assert_eq!(Audit::of_counts(0, 0, 5, 0).low, 1.0);
    }
}
