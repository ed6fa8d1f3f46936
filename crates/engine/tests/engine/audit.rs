//! Tests that an audit measures the true recall of a run, and that its intervals are right.

use std::collections::BTreeSet;

use minwise::cluster::Clustering;
use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::audit::Audit;
use minwise_engine::stages::{dedup, read};
use minwise_engine::{AuditSize, Bands, Decisions, MemoryLimit, RunSettings, Search, Unobserved};

use crate::oracle::Oracle;
use crate::support::{Documents, Random, with_registers};

const THRESHOLD: f64 = 0.6;

/// Makes families of one to nine documents with similarities around the threshold and above, some with equal documents.
fn families(documents: usize) -> Vec<String> {
    let mut random = Random(5);
    let mut texts: Vec<String> = vec![];
    for family in 0.. {
        let words: Vec<String> = (0..50).map(|at| format!("f{family}w{at}")).collect();
        for member in 0..=random.below(9).min(random.below(9)) {
            if random.below(8) == 0 && member > 0 {
                texts.push(texts[texts.len() - 1].clone());
                continue;
            }
            let mut words = words.clone();
            for changed in 0..random.below(11) {
                let at = random.below(50);
                words[at] = format!("f{family}m{member}x{changed}");
            }
            texts.push(words.join(" "));
        }
        if texts.len() >= documents {
            break;
        }
    }
    texts.truncate(documents);
    texts
}

/// Returns settings with bands that miss many pairs.
fn weak(seed: u64, audit: u64) -> RunSettings {
    let mut settings = with_registers("words:1", THRESHOLD, 5, 8, 128);
    settings.spec.seed = seed;
    settings.audit = Some(AuditSize::Documents(audit));
    settings.threads = Some(1);
    settings
}

/// Similar pairs of a corpus, found without sketches.
struct Truth {
    pairs: Vec<(u32, u32)>,
}

impl Truth {
    fn new(texts: &[String]) -> Self {
        Self { pairs: Oracle::new(texts, 1).pairs(THRESHOLD).iter().map(|&(a, b, _)| (a, b)).collect() }
    }

    /// Returns the number of kept documents that repeat an earlier kept document. For components, these are the keepers
    /// whose cluster has a document that is similar to a document of an earlier cluster.
    fn missed(&self, decisions: &Decisions, cluster: Clustering, references: u32) -> u64 {
        let removed = &decisions.removed;
        let keeper = |document: u32| {
            removed
                .binary_search_by_key(&document, |removed| removed.document)
                .map_or(document, |at| removed[at].of)
        };
        let mut missed = BTreeSet::new();
        for &(a, b) in &self.pairs {
            let (of_a, of_b) = (keeper(a), keeper(b));
            let are_kept = of_a == a && of_b == b;
            if of_a != of_b && (cluster == Clustering::Components || are_kept) {
                missed.insert(of_a.max(of_b));
            }
        }
        missed.iter().filter(|&&document| document >= references).count() as u64
    }
}

fn recall(decisions: &Decisions, missed: u64) -> f64 {
    decisions.removed.len() as f64 / (decisions.removed.len() as u64 + missed) as f64
}

fn audit(documents: &Documents, settings: &RunSettings) -> Audit {
    documents.dedup(settings).audit.unwrap()
}

#[test]
fn a_sample_of_all_documents_is_the_truth() {
    let texts = families(300);
    let (documents, truth) = (Documents::new(&texts), Truth::new(&texts));
    for cluster in [Clustering::Star, Clustering::Components] {
        for seed in 0..5 {
            let settings = weak(seed, 300).cluster(cluster);
            let decisions = documents.dedup(&settings);
            let missed = truth.missed(&decisions, cluster, 0);
            assert!(missed > 3, "{missed} missed by {cluster:?}");
            let audit = decisions.audit.unwrap();
            assert_eq!(
                (audit.removed, audit.missed),
                (decisions.removed.len() as u64, missed),
                "{cluster:?}"
            );
            assert_eq!((audit.documents, audit.kept), (300 - audit.removed, 300 - audit.removed));
            assert_eq!([audit.recall, audit.low, audit.high], [recall(&decisions, missed); 3]);
            // With so few documents, the default audit also compares all documents.
            assert_eq!(documents.dedup(&settings.audit(AuditSize::Affordable)).audit, Some(audit));
        }
    }
}

/// References always stay, so they are not missed duplicates. Kept inputs that repeat a reference are.
#[test]
fn documents_that_repeat_a_reference_are_missed() {
    let texts = families(300);
    let truth = Truth::new(&texts);
    let folder = tempfile::tempdir().unwrap();
    let [references, inputs] =
        [("references", &texts[..100]), ("inputs", &texts[100..])].map(|(name, texts)| {
            let path = folder.path().join(format!("{name}.jsonl"));
            let lines: Vec<String> = texts.iter().map(|text| format!("{{\"text\": \"{text}\"}}\n")).collect();
            fs_err::write(&path, lines.concat()).unwrap();
            path.into()
        });
    let corpus =
        Corpus::open_against(&[references], &[inputs], &ReadOptions::default(), &Unobserved).unwrap();
    for cluster in [Clustering::Star, Clustering::Components] {
        let plan = weak(2, 300).cluster(cluster).plan().unwrap();
        let reading = read(&corpus, &plan.reading(), &Unobserved).unwrap();
        let decisions = dedup(&corpus, &reading, &plan, &Unobserved, |_| {}).unwrap();
        let missed = truth.missed(&decisions, cluster, 100);
        let audit = decisions.audit.unwrap();
        assert!(
            missed > 3 && missed < truth.missed(&decisions, cluster, 0),
            "{missed} missed by {cluster:?}"
        );
        assert_eq!((audit.missed, audit.kept), (missed, 200 - audit.removed), "{cluster:?}");
    }
}

/// Asserts that 95 % intervals cover the true recall in enough runs, each with its own sketch and sample. The limit is
/// three standard deviations below 95 %, for example 930 of 1,000 runs. Returns the mean true recall.
fn covered(runs: u64, documents: usize, (bands, rows): (usize, usize), cluster: Clustering) -> f64 {
    let texts = families(documents);
    let (documents, truth) = (Documents::new(&texts), Truth::new(&texts));
    let (mut covered, mut sum, mut width) = (0, 0.0, 0.0);
    for seed in 0..runs {
        let settings = weak(seed, 60).bands(Bands::Given { bands, rows }).cluster(cluster);
        let decisions = documents.dedup(&settings);
        let recall = recall(&decisions, truth.missed(&decisions, cluster, 0));
        let audit = decisions.audit.unwrap();
        assert_eq!(audit.documents, 60);
        covered += u32::from((audit.low..=audit.high).contains(&recall));
        (sum, width) = (sum + recall, width + audit.high - audit.low);
    }
    let runs = runs as f64;
    let least = 0.95 * runs - 3.0 * (runs * 0.95 * 0.05).sqrt();
    assert!(f64::from(covered) >= least, "{covered} of {runs} intervals cover the truth");
    assert!(width / runs < 0.35, "{} wide on average", width / runs);
    sum / runs
}

#[test]
fn the_interval_covers_the_truth() {
    let recall = covered(1000, 300, (5, 8), Clustering::Star);
    assert!((0.3..0.95).contains(&recall), "{recall}: this banding is not as weak as it should be");
}

/// Most samples contain no missed document.
#[test]
fn the_interval_covers_the_truth_where_little_is_missed() {
    let recall = covered(500, 300, (32, 4), Clustering::Star);
    assert!((0.97..0.9999).contains(&recall), "{recall}: this banding is not as strong as it should be");
}

/// The sample is only a small part of the corpus.
#[test]
fn the_interval_covers_the_truth_of_a_larger_corpus() {
    covered(300, 900, (5, 8), Clustering::Star);
}

#[test]
fn the_interval_covers_the_truth_of_components() {
    covered(300, 300, (5, 8), Clustering::Components);
}

#[test]
fn it_does_not_depend_on_threads_or_memory() {
    let texts = families(2500);
    let documents = Documents::new(&texts);
    let alone = audit(&documents, &weak(3, 200));
    assert_eq!(alone.documents, 200);
    let little = MemoryLimit::with_room(256 << 10);
    for (threads, memory) in [(2, MemoryLimit::default()), (1, little), (3, little)] {
        let settings = weak(3, 200).threads(threads).memory(memory);
        assert_eq!(audit(&documents, &settings), alone);
    }
}

/// The input order decides which document of a family is kept, but not which kept documents are drawn.
#[test]
fn it_draws_by_what_documents_say() {
    let texts: Vec<String> = (0..400).map(|n| format!("d{n}a d{n}b d{n}c d{}d", n / 2)).collect();
    let backwards: Vec<String> = texts.iter().rev().cloned().collect();
    let [one, other] = [&texts, &backwards].map(|texts| audit(&Documents::new(texts), &weak(3, 100)));
    assert_eq!(one, other);
    assert_eq!((one.documents, one.kept), (100, 400));
}

/// The measured recall equals the true one for rows of bits and for filters that lose pairs.
#[test]
fn all_rows_and_filters() {
    let texts = families(300);
    let (documents, truth) = (Documents::new(&texts), Truth::new(&texts));
    let measured = |settings: &RunSettings| {
        let decisions = documents.dedup(settings);
        let missed = truth.missed(&decisions, Clustering::Star, 0);
        assert_eq!(decisions.audit.unwrap().recall, recall(&decisions, missed), "{settings:?}");
        missed
    };
    for bits in [None, Some("1"), Some("2.5")] {
        for filter in [None, Some(1e-6)] {
            measured(&weak(1, 300).bits(bits.map(|bits| bits.parse().unwrap())).filter_error(filter));
        }
    }
    // Duplicates that the filter rejects by mistake also count as missed.
    assert!(measured(&weak(1, 300).filter_error(0.4)) > measured(&weak(1, 300)));
    let mut copied = weak(1, 300);
    copied.spec.method = "one-permutation:128".parse().unwrap();
    measured(&copied);
}

#[test]
fn where_nothing_can_be_missed_nothing_is_audited() {
    let texts = families(50);
    let documents = Documents::new(&texts);
    for search in [Search::SortMerge, Search::SortMergeSketch, Search::All] {
        assert_eq!(documents.dedup(&weak(1, 50).search(search)).audit, None);
    }
    assert_eq!(documents.dedup(&weak(1, 50).audit(None)).audit, None);
}
