//! The audit searches the output of a run for near-duplicates that the run missed, to measure its recall. The audit
//! does not use the bands of the run.
//!
//! # Measured quantity
//!
//! The audit measures the *recall of decisions*: the share of removed documents among all documents that repeat a kept
//! document.
//!
//! ```text
//! recall = removed / (removed + missed)
//! ```
//!
//! Every removed document was compared exactly with the document that is kept in its stead, so the number of removed
//! documents is known, and precision is 1. A *missed duplicate* is a document of the inputs that was kept although it
//! is similar to a kept document before it in keeper order. If clusters are components, a missed duplicate is a kept
//! document whose cluster has a document that is similar to a document of an earlier cluster. The audit therefore
//! searches only the output for similar documents, regardless of the bands, shelves and filters that may have missed
//! pairs.
//!
//! The expected recall is a different quantity: the share of *pairs* that were found. A document of several pairs is
//! removed if one of these pairs is found. The recall of decisions is therefore higher than the expected recall, unless
//! most documents have one pair.
//!
//! # Method
//!
//! 1. Kept documents are drawn with equal chances, by the seed of the spec (`draw`). In a small corpus, all kept
//!    documents are drawn.
//! 2. The audit searches for documents whose sketches are near (similar to) that of a drawn document. In a small
//!    corpus, or if a number of documents was requested, the sketch is compared with all others (`near`). Otherwise the
//!    audit uses bands of its own, which find a pair with a probability that follows from its two sketches (`bands`).
//!    The comparison of sketches misses a similar pair with a probability of at most twice
//!    [`FILTER_ERROR`](crate::FILTER_ERROR).
//! 3. Near documents are read and compared exactly (`exact`).
//! 4. A missed duplicate is counted if it is drawn and its pair is found. The probabilities of being drawn and of being
//!    found are known, so the number of missed duplicates has a confidence interval ([`minwise::estimate::missed`]).
//!    All pairs are looked up in the same bands, so pairs that agree in the same values tend to be found together. The
//!    audit counts the values that two pairs share, and widens the interval accordingly.
//!
//! The calculation uses the probability of finding one similar pair per missed duplicate. A document with several
//! similar pairs is found more often, so it counts too much. The reported recall is then too low, but never too high.
//!
//! # Cost
//!
//! Unless a number of documents was requested, an audit may take a twentieth of the time of the run, or a fifth of a
//! second if that is more. The cost is counted in bytes, documents and comparisons and not by the clock, so that the
//! same input gives the same numbers on every machine (`AuditBounds`). If the cost of all documents is too high, half
//! of the drawn documents are left out, and again half of the rest until the cost fits.

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
use crate::candidate::equals::Equals;
use crate::candidate::order::KeeperOrder;
use crate::error::{Error, ErrorKind};
use crate::read::Reading;
use crate::settings::{AuditSize, Plan, Search};
use crate::verify::Removed;

/// Number of drawn documents that are compared together. A document may take tens of kilobytes, for its row and its
/// pairs. The number is fixed and not a share of the memory, because it changes no result.
const PORTION: usize = 1024;

/// Width above which a confidence interval is too wide to be useful.
const WIDE: f64 = 0.1;

/// Measured recall of the decisions of a run.
///
/// In the serialised form, `recall`, `low` and `high` are null if no duplicate was found or missed, because nothing was
/// measured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Audit {
    /// Number of kept documents of the inputs that have a text.
    pub kept: u64,
    /// Number of kept documents that were drawn and examined.
    pub documents: u64,
    /// Number of duplicates that the run found.
    pub removed: u64,
    /// Number of missed duplicates among the drawn documents.
    pub missed: u64,
    /// Share of all duplicates that the run found, or 1 if there are no duplicates.
    pub recall: f64,
    /// Lower end of the 95 % confidence interval of `recall`.
    pub low: f64,
    /// Upper end of the 95 % confidence interval of `recall`.
    pub high: f64,
}

/// Returns an audit for which no document was drawn.
impl Default for Audit {
    fn default() -> Self {
        Self { kept: 0, documents: 0, removed: 0, missed: 0, recall: 1.0, low: 0.0, high: 1.0 }
    }
}

impl Audit {
    /// Returns the audit in which `drawn` of `kept` documents were compared with all others, and `missed` of them are
    /// missed duplicates.
    #[must_use]
    pub fn of_counts(kept: u64, drawn: u64, removed: u64, missed: u64) -> Self {
        let seen = vec![1.0; missed as usize];
        let share = if drawn == kept { 1.0 } else { drawn as f64 / kept as f64 };
        let misses =
            SampledMisses { found: removed, seen: &seen, open: 0, covariance: 0.0, drawn: share, least: 1.0 };
        Self::new(kept, drawn, misses)
    }

    /// Returns the audit of `documents` drawn documents with these results.
    fn new(kept: u64, documents: u64, misses: SampledMisses<'_>) -> Self {
        let share = misses.share_found();
        let (low, high) = share.interval;
        let (removed, missed) = (misses.found, misses.seen.len() as u64);
        Self { kept, documents, removed, missed, recall: share.value, low, high }
    }

    /// Reports whether the recall is known, which requires that the run found or missed a duplicate.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.removed + self.missed > 0
    }

    /// Reports whether the interval is so wide that more documents should be drawn.
    #[must_use]
    pub fn says_little(&self) -> bool {
        self.high - self.low > WIDE
    }

    /// Reports whether every kept document was looked up, and not only a sample.
    #[must_use]
    pub fn is_of_all(&self) -> bool {
        self.documents > 0 && self.documents == self.kept
    }

    /// Reports whether every document was compared with all others, so that the recall is exact.
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

/// Parts of a run that the audit reads: its documents, their order and its plan.
#[derive(Clone, Copy)]
pub(crate) struct AuditedRun<'a> {
    corpus: &'a Corpus,
    reading: &'a Reading,
    equals: &'a Equals,
    order: &'a KeeperOrder,
    plan: &'a Plan,
    observer: &'a dyn Observer,
    /// Maximum number of drawn documents that are compared together.
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

    /// Audits a run, given the duplicates that it found, sorted by document. Returns `None` if no audit is wanted, if
    /// nothing can be missed, or if sketches cannot show that two documents are unlike.
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
        // Without bands, there is time to read more.
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
        // If nothing is kept, nothing is missed, although all references were searched by bands.
        let least = bands.as_ref().filter(|_| kept > 0).map_or(1.0, AuditBands::least);
        let found = SampledMisses { found, seen: &seen, open: misses.open, covariance, drawn, least };
        Ok(Audit::new(kept, documents, found))
    }

    /// Reports to the observer that the audit begins, and how many documents it will examine.
    fn begin(&self, documents: usize) {
        self.observer.begin(Stage::Audit, documents as u64);
    }

    fn check(&self) -> Result<(), Error> {
        if self.observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }
}

/// Nanoseconds that an audit may take even if the run is short.
const FREE_NANOSECONDS: u64 = 120_000_000;
/// Approximate nanoseconds per byte that a run with one thread takes. `RUN_NANOSECONDS_PER_DOCUMENT` are added per
/// document.
const RUN_NANOSECONDS_PER_BYTE: u64 = 6;
const RUN_NANOSECONDS_PER_DOCUMENT: u64 = 1500;
/// Number of bytes of a short document.
const SHORT_BYTES: u64 = 300;
/// Reciprocal of the share of the run's time that an audit may take.
const RUN_SHARE: u64 = 20;
/// Nanoseconds per band and document, for computing the key and sorting it.
const BAND_NANOSECONDS: u64 = 50;
/// Nanoseconds per comparison of two rows at random places in memory.
const PAIR_NANOSECONDS: u64 = 80;
/// Nanoseconds per byte of text that is read again, cut into shingles and compared.
const READ_NANOSECONDS: u64 = 12;
/// Nanoseconds per pair of sketches if one sketch is compared with all others.
const BIT_NANOSECONDS: u64 = 4;
/// Maximum number of bands. With 24 bands, nearly all pairs at usual thresholds are found.
const MOST_BANDS: u64 = 24;
/// Minimum number of bands, for corpora so large that there is no time for more.
const LEAST_BANDS: u64 = 2;
/// Maximum number of near pairs, of 12 bytes each, that are in memory together.
const MOST_NEAR: u64 = 1 << 19;
/// Average number of near pairs per document that are kept and read, if a number of documents was requested.
const PARTNERS: u64 = 32;

/// Limits of an audit, if no number of documents was requested.
#[derive(Debug, Clone)]
struct AuditBounds {
    /// Average number of bytes per document.
    average: u64,
    /// Maximum number of band keys: documents times bands.
    band_keys: u64,
    /// Maximum number of pairs of sketches that are compared because they share a band.
    comparisons: u64,
    /// Maximum number of pairs of sketches in a corpus that is so small that all pairs are compared.
    compared_with_all: u64,
    /// Minimum and maximum number of bands.
    bands: RangeInclusive<u64>,
    /// Maximum number of near pairs.
    near: u64,
    /// Maximum number of bytes of text that are read again.
    read: u64,
}

impl AuditBounds {
    fn new(bytes: u64, documents: u64) -> Self {
        let share = |bytes: u64| {
            let run = bytes * RUN_NANOSECONDS_PER_BYTE + documents * RUN_NANOSECONDS_PER_DOCUMENT;
            (run / RUN_SHARE).max(FREE_NANOSECONDS)
        };
        // The size of a corpus depends on its format. All documents are assumed to be short, so that the same documents
        // get the same audit in every format. The limit on the bytes that are read again is the only one that depends
        // on the true size.
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

    /// Returns these limits with exactly `bands` bands, even if the corpus is small.
    fn with_bands(self, bands: u32) -> Self {
        Self { compared_with_all: 0, bands: bands.into()..=bands.into(), ..self }
    }

    /// Returns the number of bands that are looked up among `documents` documents.
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
        /// Creates pairs of documents that differ in 0 to 5 of 24 words, and per pair one document that is alone.
        fn pairs(pairs: u64) -> Self {
            let text = |pair: u64, second: bool| {
                let changed = minwise::hash::fmix64(pair) % 6;
                let word = |at: u64| format!("p{pair}{}{at}", if second && at < changed { "x" } else { "w" });
                (0..24).map(word).collect::<Vec<String>>().join(" ")
            };
            Self::new(pairs, text)
        }

        /// Creates pairs of documents, and per pair one document that is alone.
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

        /// Creates pairs of documents with a similarity of 80/100, and per pair one document that is alone. All
        /// documents contain a form of 60 words.
        fn pairs_in_a_form(pairs: u64) -> Self {
            let form: Vec<String> = (0..60).map(|at| format!("form{at}")).collect();
            let form = format!(" {}", form.join(" "));
            let text = |pair: u64, second: bool| {
                let word = |at: u64| format!("p{pair}{}{at}", if second && at < 10 { "x" } else { "w" });
                (0..30).map(word).collect::<Vec<String>>().join(" ") + &form
            };
            Self::new(pairs, text)
        }

        /// Audits a run that removed the second documents of pairs for which `removed` returns `true`.
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
            // Every run removes a second document that equals the first document of its pair.
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

    /// Returns the least number of `runs` intervals that may cover the truth, if each covers it with a probability of
    /// 95 %: fewer have a probability of at most 5 %, by the binomial distribution.
    fn least_covered(runs: u64) -> u64 {
        const OUTSIDE: f64 = 0.05;
        let (mut term, mut sum) = ((1.0 - OUTSIDE).powf(runs as f64), 0.0);
        for outside in 0..=runs {
            sum += term;
            if sum >= 1.0 - OUTSIDE {
                return runs - outside;
            }
            term *= (runs - outside) as f64 / (outside + 1) as f64 * OUTSIDE / (1.0 - OUTSIDE);
        }
        0
    }

    /// Printed tables of the binomial distribution have P(Bin(20, 0.05) ≤ 3) = 0.9841 and P(Bin(20, 0.05) ≤ 2) =
    /// 0.9245.
    #[test]
    fn the_least_number_of_covering_intervals_is_binomial() {
        assert_eq!(least_covered(20), 17);
        assert_eq!([40, 60, 100].map(least_covered), [36, 54, 91]);
    }

    /// Every fourth pair was missed. Many bands of the audit find nearly all missed pairs, and few bands find fewer.
    /// The interval covers the truth for rows of every form.
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
                covered >= least_covered(RUNS),
                "{covered} of {RUNS} intervals cover the truth with {bits:?} and {bands} bands"
            );
            assert!(
                (sum / RUNS as f64 - truth).abs() < 0.01,
                "{sum} and {truth} with {bits:?} and {bands} bands"
            );
        }
    }

    /// Returns how many of `runs` audits by `bands` bands cover the truth, if one of five of `pairs` duplicates was
    /// removed and all documents share a form. Calls `check` with each audit.
    fn covered_in_a_form(pairs: u64, bands: u32, runs: u64, check: impl Fn(&Audit)) -> u64 {
        let texts = Texts::pairs_in_a_form(pairs);
        let mut covered = 0;
        for seed in 0..runs {
            let settings = settings(seed).threshold(0.8);
            let removed = |document: u32| (document / 2).is_multiple_of(5);
            // All documents are drawn, however many pairs share the form.
            let bounds = |bounds: AuditBounds| AuditBounds {
                comparisons: u64::MAX,
                near: u64::MAX,
                read: 1 << 30,
                ..bounds.with_bands(bands)
            };
            let audit = texts.audit(&settings, removed, bounds);
            assert_eq!((audit.removed, audit.documents), (pairs / 5, audit.kept));
            check(&audit);
            covered += u64::from((audit.low..=audit.high).contains(&0.2));
        }
        covered
    }

    /// Pairs that share a form agree in the registers of the form, so a band finds either most of these pairs or few.
    /// The interval covers the truth nevertheless, even with the fewest bands.
    #[test]
    fn misses_that_are_found_together_widen_the_interval() {
        const RUNS: u64 = 300;
        for bands in [2, 24] {
            let covered = covered_in_a_form(250, bands, RUNS, |_| ());
            assert!(covered >= least_covered(RUNS), "{covered} of {RUNS} cover the truth by {bands} bands");
        }
    }

    /// More misses are seen than have their covariance computed, so a part of the misses represents all of them.
    #[test]
    fn a_part_of_the_misses_represents_all_in_the_interval() {
        const RUNS: u64 = 300;
        let check = |audit: &Audit| assert!(audit.missed > bands::MOST_COVARIED as u64, "{audit:?}");
        let covered = covered_in_a_form(750, 24, RUNS, check);
        assert!(covered >= least_covered(RUNS), "{covered} of {RUNS} cover the truth");
    }

    /// If few comparisons are allowed, the draw is halved until they are enough.
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

    /// Neither memory nor threads change an audit by bands, although short memory makes it look bands up part by part.
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
        // The audit of a small corpus may take a fifth of a second, less the time that is not counted.
        let small = bounds(75_000_000, 50_000);
        assert_eq!((small.bands(45_000), small.comparisons), (24, 375_000));
        // With three million documents, the audit may take half a second, because the run takes ten seconds or more.
        // The format matters only for the bytes that are read.
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
