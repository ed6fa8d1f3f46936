//! Tests `MinHash` on shingles of several kinds: its intervals and bands, its agreement by accident, and the bias of
//! unmixed ids, which it avoids.

use std::collections::BTreeSet;

use minwise::candidate::{Banding, Curve};
use minwise::estimate::minhash::{estimate, matches, variance};
use minwise::estimate::wilson_interval;
use minwise::hash::SplitMix64;
use minwise::kernel::{Kernel, Linear};
use minwise::shingle::{Shingler, Shingles, Shingling};
use minwise::sketch::MinHash;
use minwise::text::Normalization;

use crate::law::binomial;
use crate::measure::{Findings, SIGMAS};

/// Number of registers, k.
const REGISTERS: usize = 128;
/// Greatest relative error of the variance.
const VARIANCE_WITHIN: f64 = 0.10;
/// Least number of trials of a measurement.
const TRIALS: usize = 4000;
const SIMILARITIES: [f64; 5] = [0.1, 0.3, 0.5, 0.8, 0.95];

/// Two sets of shingles whose similarity is known from their construction.
struct Pair {
    a: Vec<u64>,
    b: Vec<u64>,
    jaccard: f64,
}

/// Divides `union` items between two sets with this similarity. A gets the items from 0 to the first returned number,
/// and B gets the items from the second returned number to the end.
fn deal(union: usize, similarity: f64) -> (usize, usize) {
    let shared = (union as f64 * similarity).round() as usize;
    let end_of_a = (union + shared).div_ceil(2);
    (end_of_a, end_of_a - shared)
}

/// Returns two overlapping ranges of distinct ids.
fn overlapping(ids: &[u64], similarity: f64) -> Pair {
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids are distinct");
    let (end_of_a, start_of_b) = deal(ids.len(), similarity);
    let shared = end_of_a - start_of_b;
    Pair {
        a: ids[..end_of_a].to_vec(),
        b: ids[start_of_b..].to_vec(),
        jaccard: shared as f64 / ids.len() as f64,
    }
}

fn random_ids(count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

/// A made-up language whose words are drawn by Zipf's law: the n-th most frequent word has a weight of 1/n.
struct Language {
    words: Vec<String>,
    /// Sum of the weights up to each word.
    weights: Vec<f64>,
    /// Separator of words. Sometimes a pause replaces it.
    between: &'static str,
    pauses: [&'static str; 2],
    random: SplitMix64,
}

impl Language {
    fn of(words: Vec<String>, between: &'static str, pauses: [&'static str; 2], seed: u64) -> Self {
        let mut sum = 0.0;
        let weights = (1..=words.len())
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Self { words, weights, between, pauses, random: SplitMix64::new(seed) }
    }

    /// Makes a language of 4000 words of one to four syllables, written with spaces and punctuation.
    fn spaced(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut pick = |from: &[&'static str]| from[random.next_u64() as usize % from.len()];
        let mut words = BTreeSet::new();
        while words.len() < 4000 {
            let mut word = String::new();
            for _ in 0..pick(&["1", "12", "123", "1234"]).len() {
                word += pick(&["b", "d", "gr", "k", "l", "m", "n", "p", "s", "st", "t", "v", "ж", "ł"]);
                word += pick(&["a", "e", "i", "o", "u", "é", "ai", "ou"]);
            }
            words.insert(word);
        }
        // The words are shuffled, because sorted words would give all frequent words the same beginning.
        let mut words: Vec<String> = words.into_iter().collect();
        words.sort_by_key(|word| {
            word.bytes().fold(seed, |key, byte| (key ^ u64::from(byte)).wrapping_mul(31))
        });
        Self::of(words, " ", [", ", ". "], seed)
    }

    /// Makes a language of 3000 Han characters, written without spaces.
    fn unspaced(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut characters = BTreeSet::new();
        while characters.len() < 3000 {
            characters.extend(char::from_u32(0x4e00 + random.next_u32() % 0x5000));
        }
        Self::of(characters.into_iter().map(String::from).collect(), "", ["，", "。"], seed)
    }

    fn draw(&mut self) -> String {
        let all = self.weights.last().copied().expect("a language has words");
        let at = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * all;
        self.words[self.weights.partition_point(|&sum| sum <= at)].clone()
    }

    fn write(&mut self, words: &[String]) -> String {
        let mut text = String::new();
        for word in words {
            text += word;
            text += match self.random.next_u64() % 20 {
                0 => self.pauses[0],
                1 => self.pauses[1],
                _ => self.between,
            };
        }
        text
    }

    /// Returns the shingles of two overlapping extracts of one text of `union` shingles, with different punctuation.
    ///
    /// The similarity is that of the sets of word sequences, each of five words, counted without any hash.
    fn pair(&mut self, union: usize, similarity: f64) -> Pair {
        const SIZE: usize = 5;
        let words: Vec<String> = (0..union + SIZE - 1).map(|_| self.draw()).collect();
        let (end_of_a, start_of_b) = deal(union, similarity);
        let (a, b) = (&words[..end_of_a + SIZE - 1], &words[start_of_b..]);

        let set = |words: &[String]| words.windows(SIZE).map(<[String]>::to_vec).collect::<BTreeSet<_>>();
        let (set_a, set_b) = (set(a), set(b));
        let jaccard = set_a.intersection(&set_b).count() as f64 / set_a.union(&set_b).count() as f64;

        let shingler = Shingler::new(Normalization::default(), Shingling::default());
        let mut cut = |words: &[String]| {
            let text = self.write(words);
            let mut shingles = Shingles::new();
            shingler.shingle_into(&text, &mut shingles);
            assert_eq!(shingles.units(), words.len(), "the shingler sees the words that were written");
            shingles.hashes().to_vec()
        };
        let (a, b) = (cut(a), cut(b));
        assert_eq!(a.iter().collect::<BTreeSet<_>>().len(), set_a.len(), "no two shingles share a hash");
        Pair { a, b, jaccard }
    }
}

/// A function that makes a pair of about the given similarity.
type Source = Box<dyn FnMut(f64) -> Pair>;

/// Returns the sources of shingles. Results must not depend on the source.
fn sources() -> Vec<(&'static str, Source)> {
    let ids = |ids: Vec<u64>| Box::new(move |similarity| overlapping(&ids, similarity));
    let mut spaced = Language::spaced(5);
    let mut unspaced = Language::unspaced(6);
    vec![
        ("consecutive ids, 20", ids((0..20).collect())),
        ("consecutive ids, 1000", ids((0..1000).collect())),
        // Only the upper halves of the shingles differ, and only in their lowest bits.
        ("ids times 2³², 1000", ids((0..1000).map(|id| id << 32).collect())),
        ("random ids, 20", ids(random_ids(20, 3))),
        ("random ids, 1000", ids(random_ids(1000, 4))),
        ("words with spaces", Box::new(move |similarity| spaced.pair(1000, similarity))),
        ("words without spaces", Box::new(move |similarity| unspaced.pair(1000, similarity))),
    ]
}

/// Sketches the pair with `trials` families of hash functions, and passes the two sketches of each family to `show`.
fn for_each_family(pair: &Pair, trials: usize, mut show: impl FnMut(&[u32], &[u32])) {
    let (mut a, mut b) = ([0; REGISTERS], [0; REGISTERS]);
    for seed in 1..=trials as u64 {
        let minhash = MinHash::new(REGISTERS, seed).expect("a number of registers in range");
        minhash.sketch_into(&pair.a, &mut a);
        minhash.sketch_into(&pair.b, &mut b);
        show(&a, &b);
    }
}

/// The mean and the sample variance of some values.
#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
    }

    fn variance(&self) -> f64 {
        self.squares / (self.count - 1.0)
    }
}

/// Returns the number of trials after which `VARIANCE_WITHIN` is `SIGMAS` standard deviations of a sample variance, at
/// similarity `j`.
///
/// The sample variance of N values has a relative variance of (κ − 1)/N. Here κ is the kurtosis of the values: 3 for
/// the normal distribution, and 3 + (1 − 6pq)/(kpq) for the binomial distribution.
fn trials_for_the_variance(j: f64) -> usize {
    let pq = j * (1.0 - j);
    let kurtosis = 3.0 + (1.0 - 6.0 * pq) / (REGISTERS as f64 * pq);
    let wanted = (SIGMAS / VARIANCE_WITHIN).powi(2) * (kurtosis - 1.0);
    (wanted.ceil() as usize).max(TRIALS)
}

/// Checks the share `found` of trials against the probability `expected`.
fn check_share(findings: &mut Findings, what: &str, found: f64, expected: f64, trials: usize) {
    let rarer = expected.min(1.0 - expected) * trials as f64;
    assert!(rarer >= 10.0, "{what}: too rare for the normal law, choose another case");
    findings.check(what, found, expected, (expected * (1.0 - expected) / trials as f64).sqrt());
}

/// Checks a variance against a formula.
fn check_ratio(findings: &mut Findings, what: &str, found: f64, expected: f64, within: f64) {
    let ratio = found / expected;
    println!("{what:58} expected {expected:.3e}  found {found:.3e}  ratio {ratio:.4}");
    if ratio.is_nan() || (ratio - 1.0).abs() > within {
        findings.add(format!("{what}: {found} is {ratio} times {expected}"));
    }
}

#[test]
fn the_estimate_is_unbiased_with_the_variance_it_claims() {
    let mut findings = Findings::default();
    for (name, mut source) in sources() {
        for similarity in SIMILARITIES {
            let pair = source(similarity);
            let claimed = variance(pair.jaccard, REGISTERS);
            let trials = trials_for_the_variance(pair.jaccard);
            let mut found = Moments::default();
            for_each_family(&pair, trials, |a, b| found.add(estimate(a, b).value));
            let what = format!("{name}, J = {:.4}", pair.jaccard);
            findings.check(
                &format!("{what}: mean"),
                found.mean,
                pair.jaccard,
                (claimed / trials as f64).sqrt(),
            );
            check_ratio(
                &mut findings,
                &format!("{what}: variance"),
                found.variance(),
                claimed,
                VARIANCE_WITHIN,
            );
        }
    }
    findings.conclude();
}

/// If all registers must agree, or all must differ, the result is certain.
#[test]
fn equal_and_disjoint_sets_are_told_for_certain() {
    let ids = random_ids(2000, 7);
    let (a, b) = ids.split_at(1000);
    let equal = Pair { a: a.to_vec(), b: a.to_vec(), jaccard: 1.0 };
    for_each_family(&equal, 100, |a, b| assert_eq!(matches(a, b), REGISTERS));
    assert_eq!(keys_in_common(a, b), 0, "no two of these few ids fold to one key");
    let disjoint = Pair { a: a.to_vec(), b: b.to_vec(), jaccard: 0.0 };
    for_each_family(&disjoint, 100, |a, b| assert_eq!(matches(a, b), 0));
}

#[test]
fn intervals_and_standard_errors_cover_what_they_say() {
    let mut findings = Findings::default();
    let k = REGISTERS as f64;
    // Two rows in which exactly m registers agree give the estimate for m.
    let at = |m: usize| {
        let zeros = [0; REGISTERS];
        let mut other = [1; REGISTERS];
        other[..m].fill(0);
        estimate(&zeros, &other)
    };
    let expect = |j: f64, of: &dyn Fn(usize) -> f64| -> f64 {
        binomial(REGISTERS, j).iter().enumerate().map(|(m, probability)| probability * of(m)).sum()
    };
    let covers = |m: usize, j: f64| f64::from(u8::from(at(m).interval.0 <= j && j <= at(m).interval.1));
    let near = |m: usize, j: f64| f64::from(u8::from((at(m).value - j).abs() <= at(m).standard_error));

    let ids = random_ids(1000, 8);
    for similarity in SIMILARITIES {
        let pair = overlapping(&ids, similarity);
        let j = pair.jaccard;
        let (mut covered, mut inside, mut squared) = (0, 0, Moments::default());
        for_each_family(&pair, TRIALS, |a, b| {
            let estimate = estimate(a, b);
            covered += usize::from(estimate.interval.0 <= j && j <= estimate.interval.1);
            inside += usize::from((estimate.value - j).abs() <= estimate.standard_error);
            squared.add(estimate.standard_error.powi(2));
        });
        let share = |count: usize| count as f64 / TRIALS as f64;
        let coverage = expect(j, &|m| covers(m, j));
        check_share(
            &mut findings,
            &format!("J = {j}: inside the interval"),
            share(covered),
            coverage,
            TRIALS,
        );
        let nearness = expect(j, &|m| near(m, j));
        check_share(
            &mut findings,
            &format!("J = {j}: within a standard error"),
            share(inside),
            nearness,
            TRIALS,
        );

        // The squared standard error estimates the variance, and its expected mean is known exactly.
        let mean = expect(j, &|m| at(m).standard_error.powi(2));
        let spread = (expect(j, &|m| at(m).standard_error.powi(4)) - mean.powi(2)).max(0.0);
        findings.check(
            &format!("J = {j}: squared standard error times k"),
            squared.mean * k,
            mean * k,
            k * (spread / TRIALS as f64).sqrt(),
        );
        check_ratio(
            &mut findings,
            &format!("J = {j}: squared standard error and variance"),
            mean,
            variance(j, REGISTERS),
            VARIANCE_WITHIN,
        );
    }

    // The coverage of an interval for a discrete distribution goes up and down with J. The stated 95 % are the mean
    // over all J, rounded to whole percent.
    let steps = 1000;
    let coverage =
        |step: usize| expect(step as f64 / steps as f64, &|m| covers(m, step as f64 / steps as f64));
    let mean = (1..steps).map(coverage).sum::<f64>() / (steps - 1) as f64;
    println!("interval, all J alike: covers {mean:.4}");
    assert_eq!((mean * 100.0).round(), 95.0);
    assert_eq!(wilson_interval(64.0, k), at(64).interval);
    findings.conclude();
}

#[test]
fn candidates_follow_the_s_curve() {
    let mut findings = Findings::default();
    // The bandings are the default, a permissive and a strict one, each at similarities at which its curve is neither 0
    // nor 1.
    let bandings: [(usize, usize, &[f64]); 3] =
        [(16, 6, &[0.3, 0.5, 0.8]), (32, 4, &[0.1, 0.3, 0.5]), (9, 13, &[0.7, 0.8, 0.9])];
    for (name, mut source) in sources() {
        for (bands, rows, similarities) in bandings {
            let banding = Banding::new(bands, rows, REGISTERS).unwrap();
            for &similarity in similarities {
                let pair = source(similarity);
                let expected = Curve::from(banding).probability(pair.jaccard);
                let mut found = 0;
                for_each_family(&pair, TRIALS, |a, b| {
                    let mut all = 0..bands;
                    found += usize::from(all.any(|band| banding.key(band, a) == banding.key(band, b)));
                });
                check_share(
                    &mut findings,
                    &format!("{name}, {bands} × {rows}, J = {:.4}", pair.jaccard),
                    found as f64 / TRIALS as f64,
                    expected,
                    TRIALS,
                );
            }
        }
    }
    findings.conclude();
}

/// Returns the 32-bit key to which a shingle folds. It is the register of the function x ↦ 1·x + 0.
fn key(shingle: u64) -> u32 {
    let mut register = [u32::MAX];
    Kernel::detect().minima(&[shingle], 7, Linear { a: &[1], b: &[0] }, &mut register);
    register[0]
}

fn keys_in_common(a: &[u64], b: &[u64]) -> usize {
    let keys = |ids: &[u64]| ids.iter().map(|&id| key(id)).collect::<BTreeSet<u32>>();
    keys(a).intersection(&keys(b)).count()
}

/// The functions of a family are permutations of the folded keys. Registers of disjoint documents therefore agree
/// exactly where two of their shingles fold to one key. The test has two halves, because measuring how often sketches
/// of a million shingles agree by accident, in one register of ten thousand, would take hours.
#[test]
fn registers_agree_by_accident_as_often_as_claimed() {
    let mut findings = Findings::default();

    // The first half: two sets of n random shingles share n²/2³² keys, so their similarity is n/2³³ instead of 0.
    let size = 500_000;
    let ids = random_ids(2 * size, 9);
    let (a, b) = ids.split_at(size);
    let found = keys_in_common(a, b) as f64;
    let expected = (size as f64).powi(2) / 2f64.powi(32);
    findings.check("keys that disjoint sets share", found, expected, expected.sqrt());
    println!(
        "so registers of {size} shingles agree with probability {:.2e}; claimed {:.2e}",
        found / (2.0 * size as f64 - found),
        size as f64 / 2f64.powi(33)
    );

    // The second half: c shared keys have the same effect as c shared shingles. A partner folds to the same key as an
    // id, because its upper half is larger by one, and its lower half is less by the multiplier of the upper half.
    let a = random_ids(500, 10);
    let mut b = random_ids(500, 11);
    for (partner, &id) in b.iter_mut().zip(&a).take(100) {
        let (upper, lower) = ((id >> 32) as u32, id as u32);
        let other = upper.wrapping_add(1);
        *partner = u64::from(other) << 32 | u64::from(lower.wrapping_sub(0x9e37_79b1));
    }
    assert!(a.iter().all(|id| !b.contains(id)), "the sets are disjoint");
    assert_eq!(keys_in_common(&a, &b), 100);
    let pair = Pair { a, b, jaccard: 100.0 / 900.0 };
    let mut found = Moments::default();
    for_each_family(&pair, TRIALS, |a, b| found.add(estimate(a, b).value));
    let error = (variance(pair.jaccard, REGISTERS) / TRIALS as f64).sqrt();
    findings.check("agreement of sets that share keys only", found.mean, pair.jaccard, error);
    findings.conclude();
}

/// E-35: mixing avoids a bias. The sources hash raw ids by a·x + b mod p, with ids in order of appearance, so documents
/// are nearly intervals of ids. On intervals, linear functions are not min-wise for any p.
#[test]
fn linear_functions_of_raw_ids_are_biased_and_ours_are_not() {
    const PRIME: u64 = (1 << 61) - 1;
    let mut findings = Findings::default();
    let modulo_prime = |random: &mut SplitMix64| {
        let a = 1 + random.next_u64() % (PRIME - 1);
        let b = random.next_u64() % PRIME;
        move |x: u64| ((u128::from(a) * u128::from(x) + u128::from(b)) % u128::from(PRIME)) as u64
    };
    let modulo_word = |random: &mut SplitMix64| {
        let (a, b) = (random.next_u32() | 1, random.next_u32());
        move |x: u64| u64::from((x as u32).wrapping_mul(a).wrapping_add(b))
    };

    // docs/sources/hashing.md#modular-hashing has these two measurements with three digits.
    for (a, b, published) in [(0..200, 100..300, 0.286), (0..100, 1..100, 0.978)] {
        let (a, b): (Vec<u64>, Vec<u64>) = (a.collect(), b.collect());
        let shared = a.iter().filter(|id| b.contains(id)).count();
        let jaccard = shared as f64 / (a.len() + b.len() - shared) as f64;
        let pair = Pair { a, b, jaccard };

        let trials = 100_000;
        let of_prime = agreement(&pair, trials, modulo_prime);
        let of_word = agreement(&pair, trials, modulo_word);
        for (name, found) in [("2⁶¹ − 1", of_prime), ("2³², as ours but for the mixing", of_word)] {
            let away = (jaccard - found) / (jaccard * (1.0 - jaccard) / trials as f64).sqrt();
            println!(
                "raw ids modulo {name}: J = {jaccard:.4}, agreement {found:.4}, {away:.0} standard errors below"
            );
            if away <= SIGMAS {
                findings.add(format!("modulo {name}: {found} shows no bias from {jaccard}"));
            }
        }
        let error = (published * (1.0 - published) / trials as f64).sqrt();
        let half_a_digit = 0.0005;
        if (of_prime - published).abs() > SIGMAS * error + half_a_digit {
            findings.add(format!("{of_prime} is not the published {published}"));
        }

        let mut ours = Moments::default();
        for_each_family(&pair, TRIALS, |a, b| ours.add(estimate(a, b).value));
        let error = (variance(jaccard, REGISTERS) / TRIALS as f64).sqrt();
        findings.check("mixed first", ours.mean, jaccard, error);
    }
    findings.conclude();
}

/// Returns the share of functions, each drawn separately, for which the minima of the two sets agree.
fn agreement<F: Fn(u64) -> u64>(
    pair: &Pair,
    trials: usize,
    mut draw: impl FnMut(&mut SplitMix64) -> F,
) -> f64 {
    let mut random = SplitMix64::new(12);
    let mut agreeing = 0;
    for _ in 0..trials {
        let function = draw(&mut random);
        let least = |ids: &[u64]| ids.iter().map(|&id| function(id)).min();
        agreeing += usize::from(least(&pair.a) == least(&pair.b));
    }
    agreeing as f64 / trials as f64
}
