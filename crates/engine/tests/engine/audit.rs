//! The audit measures the recall that there was, as surely as it says.

use minwise::shingle::Shingles;
use minwise_engine::audit::Audit;
use minwise_engine::{AuditSize, Bands, MemoryLimit, RunSettings, Search};

use crate::oracle::Oracle;
use crate::support::{Documents, Random, with_registers};

const THRESHOLD: f64 = 0.6;

/// Families of one to nine documents at similarities around the threshold and above, some of them with equals.
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

/// Weak enough that every fourth pair is missed.
fn weak(seed: u64, audit: u64) -> RunSettings {
    let mut settings = with_registers("words:1", THRESHOLD, 8, 6, 128);
    settings.spec.seed = seed;
    settings.audit = Some(AuditSize::Documents(audit));
    settings.threads = Some(1);
    settings
}

/// What is known of a corpus without any sketch.
struct Truth {
    texts: Vec<String>,
    /// For each document, the first of its similar partners' equals, and whether it has equals itself.
    partners: Vec<(Vec<usize>, bool)>,
}

impl Truth {
    fn new(texts: &[String]) -> Self {
        let oracle = Oracle::new(texts, 1);
        let first = |document: usize| (0..=document).find(|&a| oracle.are_equal(a, document)).unwrap();
        let firsts: Vec<usize> = (0..texts.len()).map(first).collect();
        let of = |document: usize| {
            let similar = |other: &usize| {
                firsts[*other] == *other
                    && firsts[document] != *other
                    && oracle.jaccard(document, *other) >= THRESHOLD
            };
            let copies = firsts.iter().filter(|&&first| first == firsts[document]).count();
            ((0..texts.len()).filter(similar).collect(), copies > 1)
        };
        Self { texts: texts.to_vec(), partners: (0..texts.len()).map(of).collect() }
    }

    /// Pairs of all documents, and those of them that share a band of these sketches.
    fn pairs(&self, settings: &RunSettings) -> (u64, u64) {
        let spec = &settings.spec;
        let sketcher = spec.method.build(spec.seed).unwrap();
        let mut shingles = Shingles::new();
        let sketch = |text: &String| {
            spec.shingler().shingle_into(text, &mut shingles);
            let mut row = vec![0; sketcher.words()];
            sketcher.sketch_into(shingles.hashes(), &mut row);
            row
        };
        let rows: Vec<Vec<u32>> = self.texts.iter().map(sketch).collect();
        let banding = settings.plan().unwrap().banding();
        let (mut all, mut found) = (0, 0);
        for (document, (partners, has_equals)) in self.partners.iter().enumerate() {
            let shares = |&&other: &&usize| {
                (0..banding.bands())
                    .any(|band| banding.key(band, &rows[document]) == banding.key(band, &rows[other]))
            };
            all += partners.len() as u64 + u64::from(*has_equals);
            found += partners.iter().filter(shares).count() as u64 + u64::from(*has_equals);
        }
        (all, found)
    }

    fn recall(&self, settings: &RunSettings) -> f64 {
        let (all, found) = self.pairs(settings);
        found as f64 / all as f64
    }
}

fn audit(documents: &Documents, settings: &RunSettings) -> Audit {
    documents.dedup(settings).audit.unwrap()
}

#[test]
fn a_sample_of_all_documents_is_the_truth() {
    let texts = families(300);
    let (documents, truth) = (Documents::new(&texts), Truth::new(&texts));
    for seed in 0..5 {
        let settings = weak(seed, 300);
        let (all, found) = truth.pairs(&settings);
        let audit = audit(&documents, &settings);
        assert_eq!((audit.documents, audit.pairs, audit.found), (300, all, found));
        assert_eq!(audit.recall, found as f64 / all as f64);
        assert_eq!((audit.low, audit.high), (audit.recall, audit.recall));
    }
}

/// Of runs that each have a sketch and a sample of their own, the intervals of 95 % cover the recall that the run had. Fewer by
/// three standard deviations would not do: fewer than 930 of 1000. Gives the mean of those recalls.
fn covered(runs: u64, documents: usize, (bands, rows): (usize, usize)) -> f64 {
    let texts = families(documents);
    let (documents, truth) = (Documents::new(&texts), Truth::new(&texts));
    let (mut covered, mut sum) = (0, 0.0);
    for seed in 0..runs {
        let settings = weak(seed, 60).bands(Bands::Given { bands, rows });
        let (recall, audit) = (truth.recall(&settings), audit(&documents, &settings));
        covered += u32::from((audit.low..=audit.high).contains(&recall));
        sum += recall;
    }
    let runs = runs as f64;
    let least = 0.95 * runs - 3.0 * (runs * 0.95 * 0.05).sqrt();
    assert!(f64::from(covered) >= least, "{covered} of {runs} intervals cover the truth");
    sum / runs
}

#[test]
fn the_interval_covers_the_truth() {
    let recall = covered(1000, 300, (8, 6));
    assert!((0.7..0.85).contains(&recall), "{recall}: this banding is not as weak as it should be");
}

/// Most samples have no pair that was missed.
#[test]
fn the_interval_covers_the_truth_where_little_is_missed() {
    let recall = covered(1000, 300, (32, 4));
    assert!((0.97..0.999).contains(&recall), "{recall}: this banding is not as strong as it should be");
}

/// Next to nothing of the corpus is seen.
#[test]
fn the_interval_covers_the_truth_of_a_larger_corpus() {
    covered(400, 900, (8, 6));
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

/// Rows of bits, copied bins and a filter that errs are audited by the same truth.
#[test]
fn all_rows_and_filters() {
    let texts = families(300);
    let (documents, truth) = (Documents::new(&texts), Truth::new(&texts));
    for bits in [None, Some("1"), Some("2.5")] {
        for filter in [None, Some(1e-6)] {
            let settings = weak(1, 300).bits(bits.map(|bits| bits.parse().unwrap())).filter_error(filter);
            assert_eq!(audit(&documents, &settings).recall, truth.recall(&settings), "{bits:?} {filter:?}");
        }
    }
    // What a filter puts aside by mistake is missed, too.
    let strict = weak(1, 300).filter_error(0.4);
    assert!(audit(&documents, &strict).recall < truth.recall(&strict));
    // Copied bins of so few shingles reject next to nothing, so some documents stand for all that are near.
    let mut copied = weak(1, 300);
    copied.spec.method = "one-permutation:128".parse().unwrap();
    let (audit, (all, found)) = (audit(&documents, &copied), truth.pairs(&copied));
    assert!(audit.pairs < all, "{} of {all}", audit.pairs);
    assert!((audit.low..audit.high).contains(&(found as f64 / all as f64)), "{audit:?}");
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
