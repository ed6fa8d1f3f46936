//! The audit: a sample of documents compared with all others without bands, to measure what bands found.
//!
//! The expected recall rests on the similarities of the pairs that were found and on the S-curve. The audit rests on
//! neither:
//!
//! 1. Documents of the inputs are drawn with equal chances, by the seed of the spec.
//! 2. The sketch of each is compared with those of all documents. Two filters, each with an error of
//!    [`FILTER_ERROR`](crate::FILTER_ERROR), put aside pairs that cannot be similar. The rest is read and compared exactly. This
//!    gives the *true pairs* of the sample, those at or above the threshold.
//! 3. The audit looks up which of the true pairs the run had as candidates, crowded shelves included.
//!
//! Pairs are counted by document, as the expected recall has them: a document has a pair with each other shingle set that is
//! similar, and one with its own if it has equals, which is found whatever the bands. Two references are no pair, since
//! nothing is decided about them. Of a document with more partners than can be looked at or read, some stand for all.
//!
//! Precision needs no sample: every pair that decides anything has been compared exactly, so it is 1.
//!
//! # What it may cost
//!
//! Unless a number of documents was asked for, an audit may take a twentieth of the run. The cost is counted in bytes and comparisons
//! and not by the clock, so that the same input gives the same numbers on every machine: a byte of text takes some 6 ns until it is
//! decided about, a comparison of sketches of one bit per register some 4 ns, and one of whole rows several times that. Small
//! corpora may be audited whole, because that takes milliseconds.

mod met;
mod partners;
mod sample;
mod sieve;

use minwise::estimate::ratio::{Drawn, share_found};
use minwise::verify::Measure;
use minwise::{Observer, Stage};
use minwise_corpus::Corpus;
use partners::{LOOKED_AT, SamplePartners};
use serde::{Serialize, Serializer};
use sieve::Sieve;

use crate::candidate::gather::Equals;
use crate::candidate::neighbourhood::Candidates;
use crate::candidate::order::KeeperOrder;
use crate::error::Error;
use crate::read::Reading;
use crate::settings::{AuditSize, Plan, Search};

/// Bytes of the corpus that one comparison of two sketches is worth.
const BYTES_A_COMPARISON: u64 = 32;
/// Comparisons that it takes to make the row of a document ready for them.
const COMPARISONS_A_ROW: u64 = 8;
/// Comparisons that are made however small the corpus is.
const FREE_COMPARISONS: u64 = 1 << 20;
/// Rows that are made ready however small the corpus is.
const FREE_ROWS: u64 = 1 << 16;
/// Bytes that documents have, on average, for the time of all their rows to be a small part of that of the run.
const LEAST_BYTES: u64 = 512;
/// Bytes of the corpus for one that is read again.
const BYTES_A_BYTE: u64 = 64;
/// Bytes that are read again however small the corpus is.
const FREE_BYTES: u64 = 1 << 20;
/// The most documents that are drawn, unless more are asked for.
const AFFORDABLE: u64 = 1000;
/// Partners of each document that are read if so many documents were asked for, all of them of the average size.
const PARTNERS: u64 = 32;

/// Sets of the sample that are compared together, however many there are: each may take tens of kilobytes, for its row, the
/// documents near it and its pairs. A number of its own, and no share of the memory, since that changes no result.
const PORTION: usize = 1024;

/// The width from which on an interval says little.
const WIDE: f64 = 0.1;

/// What a sample says of the recall.
///
/// Serialised, `recall`, `low` and `high` are null if the sample has no pairs, because nothing was measured then.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Audit {
    /// Documents that were drawn.
    pub documents: u64,
    /// Their pairs at or above the threshold, as far as they were compared exactly.
    pub pairs: u64,
    /// Those of them that the run had as candidates.
    pub found: u64,
    /// The share of all such pairs that is found; 1 if there are none.
    pub recall: f64,
    /// The lower end of its 95 % confidence interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// An audit for which no document was drawn.
impl Default for Audit {
    fn default() -> Self {
        Self::NONE
    }
}

impl Audit {
    /// An audit for which no document was drawn.
    const NONE: Self = Self { documents: 0, pairs: 0, found: 0, recall: 1.0, low: 0.0, high: 1.0 };

    /// Whether the interval is too wide to say much, so that more documents had better be drawn.
    #[must_use]
    pub fn says_little(&self) -> bool {
        self.high - self.low > WIDE
    }

    /// Whether every document was drawn and all its pairs were compared, so that the recall is exact.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.documents > 0 && self.low >= self.high
    }
}

impl Serialize for Audit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields {
            documents: u64,
            pairs: u64,
            found: u64,
            recall: Option<f64>,
            low: Option<f64>,
            high: Option<f64>,
        }
        let Self { documents, pairs, found, .. } = *self;
        let [recall, low, high] =
            [self.recall, self.low, self.high].map(|value| (pairs > 0).then_some(value));
        Fields { documents, pairs, found, recall, low, high }.serialize(serializer)
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
    /// Documents near one of the sample whose rows are looked at, about.
    looked_at: u64,
    /// Sets that are compared together, at most.
    portion: usize,
}

/// What was seen of a set of the sample.
#[derive(Debug, Clone, Copy, Default)]
struct SampleCounts {
    /// Its partners among the documents that were compared exactly.
    pairs: u64,
    /// Those of them that the run had as candidates.
    found: u64,
    /// How many documents near it each of those compared stands for.
    stand_for: f64,
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
        Self { corpus, reading, equals, order, plan, observer, looked_at: LOOKED_AT, portion: PORTION }
    }

    /// Audits a run, given its candidates and which documents repeat another. Nothing where no audit is wanted, where nothing
    /// can be missed, or where sketches cannot say what is unlike.
    pub(crate) fn audit(
        &self,
        candidates: &Candidates,
        is_duplicate: impl Fn(u32) -> bool,
    ) -> Result<Option<Audit>, Error> {
        let Self { reading, plan, .. } = *self;
        let inputs = reading.references..reading.documents.len() as u32;
        let banded = plan.search == Search::Banding && plan.measure == Measure::Jaccard;
        let Some(asked) = plan.audit.filter(|_| banded && !inputs.is_empty()) else { return Ok(None) };
        let Some(sieve) = Sieve::new(plan)? else { return Ok(None) };
        let bounds = Bounds::new(self.corpus.size_bytes(), reading.documents.len() as u64);
        let size = bounds.sample(asked, sieve.cost()).min(inputs.len() as u64);
        if size == 0 {
            return Ok(Some(Audit::NONE));
        }
        let read_again = bounds.read_again(asked, size);
        let mut drawn = sample::draw(inputs.clone(), size as usize, plan.spec.seed);
        // Records that are no documents have numbers, too. What is left of a fair sample without them is one.
        drawn.retain(|&document| !reading.documents.is_skipped(document));
        if drawn.is_empty() {
            return Ok(None);
        }

        // Equal documents have one set, which is compared once.
        let mut sets: Vec<u32> = drawn.iter().map(|&document| self.equals.first(document)).collect();
        sets.sort_unstable();
        sets.dedup();
        let portions = sets.len().div_ceil(self.portion);
        self.observer.begin(Stage::Audit, (portions * reading.documents.len()) as u64);
        let mut seen = vec![SampleCounts::default(); sets.len()];
        for first in 0..portions {
            // From everywhere in the corpus, since it is by the others of its portion that a set is told to be of a large family.
            let portion: Vec<u32> = sets.iter().skip(first).step_by(portions).copied().collect();
            let all = self.see(&sieve, &portion, read_again / portions as u64, candidates, &is_duplicate)?;
            for (seen, of_set) in seen.iter_mut().skip(first).step_by(portions).zip(all) {
                *seen = of_set;
            }
        }
        let documents = inputs.len() as u64 - reading.documents.skipped(reading.references);
        let unseen = 1.0 - drawn.len() as f64 / documents as f64;
        Ok(Some(self.add_up(&drawn, &sets, &seen, unseen)))
    }

    /// Compares some sets with all documents, and looks up which of their pairs the run had. Reads about so many bytes for it.
    fn see(
        &self,
        sieve: &Sieve,
        sets: &[u32],
        read_bytes: u64,
        candidates: &Candidates,
        is_duplicate: impl Fn(u32) -> bool,
    ) -> Result<Vec<SampleCounts>, Error> {
        let partners = partners::find(self, sieve, sets, read_bytes)?;
        let pairs: Vec<(u32, u32)> = sets
            .iter()
            .zip(&partners)
            .flat_map(|(&set, partners)| partners.similar.iter().map(move |&partner| (set, partner)))
            .collect();
        let met = met::met(self, candidates, is_duplicate, &pairs)?;
        let mut met = met.iter();
        let seen = |SamplePartners { similar, stand_for }: &SamplePartners| {
            let found = met.by_ref().take(similar.len()).filter(|&&met| met).count() as u64;
            SampleCounts { pairs: similar.len() as u64, found, stand_for: *stand_for }
        };
        Ok(partners.iter().map(seen).collect())
    }

    /// Adds up what was seen of the drawn documents, given what was seen of their sets.
    fn add_up(&self, drawn: &[u32], sets: &[u32], seen: &[SampleCounts], unseen: f64) -> Audit {
        let mut audit =
            Audit { documents: drawn.len() as u64, pairs: 0, found: 0, recall: 1.0, low: 0.0, high: 1.0 };
        let mut whole = true;
        let by_document: Vec<Drawn> = drawn
            .iter()
            .map(|&document| {
                let first = self.equals.first(document);
                let certain = u64::from(self.equals.copies(first) > 1);
                let at = sets.binary_search(&first).unwrap_or_else(|_| unreachable!("its set was compared"));
                let SampleCounts { pairs, found, stand_for } = seen[at];
                audit.pairs += certain + pairs;
                audit.found += certain + found;
                whole &= stand_for == 1.0;
                let counted = |seen: u64| certain as f64 + stand_for * seen as f64;
                Drawn { pairs: counted(pairs), found: counted(found) }
            })
            .collect();
        let share = share_found(&by_document, if whole { unseen } else { 1.0 });
        Audit { recall: share.value, low: share.interval.0, high: share.interval.1, ..audit }
    }
}

/// What an audit may do, as the corpus allows it.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    bytes: u64,
    documents: u64,
}

impl Bounds {
    fn new(bytes: u64, documents: u64) -> Self {
        Self { bytes, documents: documents.max(1) }
    }

    /// Bytes of a document, on average.
    fn average(self) -> u64 {
        (self.bytes / self.documents).max(1)
    }

    /// Bytes of text that a twentieth of the run is enough to read again.
    fn affordable(self) -> u64 {
        (self.bytes / BYTES_A_BYTE).max(FREE_BYTES)
    }

    /// Bytes of text that may be read again for a sample.
    fn read_again(self, asked: AuditSize, sample: u64) -> u64 {
        match asked {
            AuditSize::Affordable => self.affordable(),
            AuditSize::Documents(_) => {
                self.affordable().max(sample.saturating_mul(PARTNERS.saturating_mul(self.average())))
            }
        }
    }

    /// How many documents are drawn, if comparing two sketches costs this much; none, where even one would cost too much.
    fn sample(self, asked: AuditSize, cost: u64) -> u64 {
        if let AuditSize::Documents(documents) = asked {
            return documents;
        }
        if self.documents > FREE_ROWS && self.average() < LEAST_BYTES {
            return 0;
        }
        let comparisons = (self.bytes / BYTES_A_COMPARISON).max(FREE_COMPARISONS) / cost;
        // A document and one partner of it are to be read.
        let read = self.affordable() / self.average().saturating_mul(2);
        let each = (comparisons / self.documents).saturating_sub(COMPARISONS_A_ROW / cost);
        AFFORDABLE.min(each).min(read).max(1)
    }
}

#[cfg(test)]
mod tests {
    use minwise::{Spec, Unobserved};
    use minwise_corpus::ReadOptions;
    use tempfile::TempDir;

    use super::*;
    use crate::candidate;
    use crate::read::read;
    use crate::settings::{Bands, RunSettings};

    /// A corpus of texts.
    pub(super) struct AuditTexts {
        corpus: Corpus,
        _folder: TempDir,
    }

    impl AuditTexts {
        pub(super) fn new(texts: impl Iterator<Item = String>) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("in.jsonl");
            let lines: Vec<String> = texts.map(|text| format!("{{\"text\":\"{text}\"}}\n")).collect();
            fs_err::write(&file, lines.concat()).unwrap();
            let corpus = Corpus::open(&[file.into()], &ReadOptions::default(), &Unobserved).unwrap();
            Self { corpus, _folder: folder }
        }
    }

    /// What a run has found out before it is audited.
    pub(super) struct AuditInput<'a> {
        corpus: &'a Corpus,
        reading: Reading,
        equals: Equals,
        order: KeeperOrder,
    }

    impl<'a> AuditInput<'a> {
        pub(super) fn new(texts: &'a AuditTexts, plan: &Plan) -> Self {
            let reading = read(&texts.corpus, &plan.reading(), &Unobserved).unwrap();
            let order = KeeperOrder::new(&reading.documents, &plan.keep, 0).unwrap();
            let room = plan.memory.room(1, order.len());
            let equals = Equals::find(&reading.documents, &order, room).unwrap();
            Self { corpus: &texts.corpus, reading, equals, order }
        }

        pub(super) fn run<'r>(&'r self, plan: &'r Plan, looked_at: u64) -> AuditedRun<'r> {
            let Self { corpus, reading, equals, order } = self;
            AuditedRun { looked_at, ..AuditedRun::new(corpus, reading, equals, order, plan, &Unobserved) }
        }
    }

    /// Families of twenty to sixty documents at similarities around the threshold and above, some with equals; and as many
    /// documents that are alone.
    fn families() -> impl Iterator<Item = String> {
        let text = |family: u64, member: u64| {
            let chance = |at: u64| minwise::hash::fmix64(family << 40 | member << 20 | at);
            let edits = chance(50) % 11;
            let word = |at: u64| {
                let is_own = chance(at) % 50 < edits;
                if is_own { format!("f{family}m{member}x{at}") } else { format!("f{family}w{at}") }
            };
            (0..50).map(word).collect::<Vec<String>>().join(" ")
        };
        let members =
            (0..12).flat_map(|family| (0..20 + 40 * (family % 2)).map(move |member| (family, member)));
        members
            .chain((0..400).map(|alone| (1000 + alone, 0)))
            .map(move |(family, member)| text(family, member))
    }

    fn settings(spec: Spec) -> RunSettings {
        let bands = Bands::Given { bands: 8, rows: 6 };
        RunSettings { spec, threshold: 0.6, bands, threads: Some(1), ..RunSettings::default() }
    }

    #[test]
    fn the_interval_covers_the_truth_where_some_stand_for_many() {
        const RUNS: u32 = 200;
        let texts = AuditTexts::new(families());
        let (mut covered, mut narrow) = (0, 0);
        for seed in 0..RUNS {
            let spec = format!("casefold / words:1 / minhash:128 / seed:{seed}").parse().unwrap();
            let settings = settings(spec);
            let plan = settings.plan().unwrap();
            let read = AuditInput::new(&texts, &plan);
            let AuditInput { corpus, reading, equals, order } = &read;
            let candidates = candidate::find(corpus, reading, equals, order, &plan, &Unobserved).unwrap();
            let audit = |documents, looked_at| {
                let audit = Some(AuditSize::Documents(documents));
                let plan = RunSettings { audit, ..settings.clone() }.plan().unwrap();
                read.run(&plan, looked_at).audit(&candidates, |_| false).unwrap().unwrap()
            };
            let truth = audit(10_000, LOOKED_AT);
            assert_eq!((truth.low, truth.high), (truth.recall, truth.recall));
            let sample = audit(100, 4);
            covered += u32::from((sample.low..=sample.high).contains(&truth.recall));
            narrow += u32::from(sample.high - sample.low < 0.5);
        }
        // Three standard deviations below 95 %.
        assert!(covered >= 181, "{covered} of {RUNS} intervals cover the truth");
        assert!(narrow >= RUNS / 2, "{narrow} of {RUNS} intervals say anything");
    }

    #[test]
    fn a_sample_may_be_seen_in_portions() {
        let texts = AuditTexts::new(families());
        let spec = "casefold / words:1 / minhash:128 / seed:1".parse().unwrap();
        let audit = Some(AuditSize::Documents(300));
        let plan = RunSettings { audit, ..settings(spec) }.plan().unwrap();
        let read = AuditInput::new(&texts, &plan);
        let AuditInput { corpus, reading, equals, order } = &read;
        let candidates = candidate::find(corpus, reading, equals, order, &plan, &Unobserved).unwrap();
        let audit = |portion| {
            let run = AuditedRun { portion, ..read.run(&plan, LOOKED_AT) };
            run.audit(&candidates, |_| false).unwrap().unwrap()
        };
        let whole = audit(1000);
        assert!(whole.found > 100 && whole.found < whole.pairs, "{whole:?}");
        for portion in [299, 100] {
            assert_eq!(audit(portion), whole, "{portion} at once");
        }
    }

    #[test]
    fn small_corpora_are_seen_whole_and_large_ones_in_part() {
        let sample =
            |bytes, documents, cost| Bounds::new(bytes, documents).sample(AuditSize::Affordable, cost);
        assert_eq!(sample(300 * 1000, 300, 1).min(300), 300);
        // 5 million documents of 3.2 kB: a hundred comparisons each, or so.
        assert_eq!(sample(16_000_000_000, 5_000_000, 1), 92);
        assert_eq!(sample(16_000_000_000, 5_000_000, 8), 11);
        assert_eq!(sample(170_000_000_000, 5_000_000, 1), 1000);
        // A hundred documents of a megabyte: one of them is a hundredth of the run.
        assert_eq!(sample(100_000_000, 100, 1), 1);
    }

    /// Of short documents the rows alone take more than a twentieth of the run, unless there are few.
    #[test]
    fn many_short_documents_are_not_seen() {
        let sample = |bytes, documents| Bounds::new(bytes, documents).sample(AuditSize::Affordable, 1);
        assert_eq!(sample(1_000_000 * 511, 1_000_000), 0);
        assert_eq!(sample(1_000_000 * 512, 1_000_000), 8);
        assert_eq!(sample(60_000 * 170, 60_000), 9);
        let asked = AuditSize::Documents(20);
        assert_eq!(Bounds::new(1_000_000 * 170, 1_000_000).sample(asked, 1), 20);
    }

    #[test]
    fn what_is_asked_for_is_done() {
        let (bounds, asked) = (Bounds::new(16_000_000_000, 5_000_000), AuditSize::Documents(20_000));
        assert_eq!(bounds.sample(asked, 8), 20_000);
        assert_eq!(bounds.read_again(asked, 20_000), 20_000 * PARTNERS * 3200);
        assert_eq!(bounds.read_again(AuditSize::Affordable, 1), 250_000_000);
        assert_eq!(bounds.read_again(AuditSize::Documents(1), 1), 250_000_000);
    }
}
