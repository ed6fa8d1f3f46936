//! Compares the filter with its vectors, with simulated registers, and with real sketches at the threshold.

use std::fmt::Debug;

use minwise::filter::{
    Dependence, ErrorBudget, Filter, FilterDecision, Look, Screening, Use, default_looks, shuffle,
};
use minwise::hash::{SplitMix64, fmix64};
use minwise::sketch::{Method, register_bits};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde::Deserialize;

/// A printed number, which is correct to half a unit of its last digit.
#[derive(Deserialize, Clone)]
#[serde(try_from = "String")]
struct Printed {
    value: f64,
    half_unit: f64,
}

impl TryFrom<String> for Printed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |error: &dyn Debug| format!("{text}: {error:?}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.split_once('.').map_or("", |(_, digits)| digits);
        let exponent: i32 = exponent.parse().map_err(|error| wrong(&error))?;
        let half_unit = digits.chars().fold(0.5 * 10f64.powi(exponent), |unit, _| unit / 10.0);
        Ok(Self { value: text.parse().map_err(|error| wrong(&error))?, half_unit })
    }
}

impl Printed {
    #[track_caller]
    fn check(&self, found: f64) {
        // A number halfway between two printed numbers may be printed as either.
        let allowed = self.half_unit * (1.0 + 1e-6);
        assert!((found - self.value).abs() <= allowed, "{found} is not {}", self.value);
    }
}

#[derive(Deserialize)]
struct File {
    tail: Vec<Tail>,
    threshold: Vec<Limits>,
    spent: Vec<Spent>,
    budget: Vec<Shared>,
    default: Vec<Default>,
    comparisons: Vec<Comparisons>,
    even_spread: Vec<EvenSpread>,
    rate: Vec<Rate>,
    shuffle: Vec<Shuffle>,
}

#[derive(Deserialize)]
struct Tail {
    threshold: f64,
    look: usize,
    matches: usize,
    at_most: Option<Printed>,
    below: Option<Printed>,
    above: Option<Printed>,
    at_least: Option<Printed>,
}

#[derive(Deserialize)]
struct Limits {
    threshold: f64,
    look: usize,
    error: f64,
    lower: Option<usize>,
    upper: Option<usize>,
}

#[derive(Deserialize)]
struct Spent {
    threshold: f64,
    registers: usize,
    error: f64,
    looks: Vec<usize>,
    rejected: Printed,
    accepted: Printed,
}

#[derive(Deserialize)]
struct Shared {
    threshold: f64,
    registers: usize,
    looks: Vec<usize>,
    total: f64,
    error: f64,
    too_large: f64,
}

#[derive(Deserialize)]
struct Default {
    threshold: f64,
    registers: usize,
    total: f64,
    looks: Vec<usize>,
    lower: Vec<usize>,
}

#[derive(Deserialize)]
struct Comparisons {
    threshold: f64,
    registers: usize,
    error: f64,
    looks: Vec<usize>,
    probability: f64,
    mean: Printed,
}

#[derive(Deserialize)]
struct EvenSpread {
    threshold: f64,
    registers: usize,
    error: f64,
    looks: Vec<usize>,
    mean: Printed,
}

#[derive(Deserialize)]
struct Rate {
    threshold: f64,
    look: usize,
    error: f64,
    lower: usize,
    upper: usize,
    rejection: Printed,
    acceptance: Printed,
}

#[derive(Deserialize)]
struct Shuffle {
    registers: usize,
    order: Vec<usize>,
}

#[expect(clippy::disallowed_methods, reason = "a test reads its own repository")]
fn vectors() -> File {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/filter.toml");
    let text = std::fs::read_to_string(path).expect("the vectors are in the repository");
    toml::from_str(&text).unwrap_or_else(|error| panic!("filter.toml: {error}"))
}

fn per_look(threshold: f64, registers: usize, looks: &[usize], error: f64) -> Filter {
    Filter::new(threshold, registers, looks, ErrorBudget::PerLook(error)).expect("settings in range")
}

/// Returns the probability that a filter with one look rejects, if the look rejects up to `matches` matches.
fn at_most(matches: usize, k: usize, p: f64) -> f64 {
    let law = |e: f64| per_look(p, k, &[k], e);
    // Bisection finds the least error e at which the look rejects this many matches.
    let rejects = |e: f64| law(e).looks().first().and_then(|look| look.lower).is_some_and(|m| m >= matches);
    let (mut low, mut high) = (0.0, 0.5);
    for _ in 0..1100 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        *(if rejects(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

#[test]
fn tails_as_corrected() {
    for row in vectors().tail {
        let (k, m, p) = (row.look, row.matches, row.threshold);
        // Errors of a look are at most one half, so a tail above one half is computed from the opposite tail.
        let lower = |m: usize| {
            let found = at_most(m, k, p);
            if found < 0.5 { found } else { 1.0 - at_most(k - m - 1, k, 1.0 - p) }
        };
        let upper = |m: usize| {
            let found = at_most(k - m, k, 1.0 - p);
            if found < 0.5 { found } else { 1.0 - at_most(m - 1, k, p) }
        };
        if m < k {
            row.at_most.inspect(|printed| printed.check(lower(m)));
            row.above.inspect(|printed| printed.check(upper(m + 1)));
        }
        row.below.inspect(|printed| printed.check(lower(m - 1)));
        row.at_least.inspect(|printed| printed.check(upper(m)));
    }
}

#[test]
fn thresholds() {
    for row in vectors().threshold {
        let filter = per_look(row.threshold, row.look, &[row.look], row.error);
        let expected = Look { registers: row.look, lower: row.lower, upper: row.upper };
        // A look that cannot decide is not part of the filter.
        let expected = (row.lower.is_some() || row.upper.is_some()).then_some(expected);
        assert_eq!(filter.looks(), expected.as_slice(), "{} {} {}", row.threshold, row.look, row.error);
    }
}

#[test]
fn what_all_looks_spend() {
    for row in vectors().spent {
        let filter = per_look(row.threshold, row.registers, &row.looks, row.error);
        let outcome = filter.outcome(row.threshold, Use::Decide);
        row.rejected.check(outcome.rejected);
        row.accepted.check(outcome.accepted);
        assert!(outcome.rejected <= row.error * row.looks.len() as f64);
    }
}

#[test]
fn the_error_of_a_look_that_keeps_to_a_budget() {
    for row in vectors().budget {
        let spent = |error: f64| {
            let filter = per_look(row.threshold, row.registers, &row.looks, error);
            let outcome = filter.outcome(row.threshold, Use::Decide);
            outcome.rejected.max(outcome.accepted)
        };
        assert!(spent(row.error) <= row.total && row.total < spent(row.too_large), "{}", row.error);
        // With an exact budget, each side of the filter has the greatest error that it may have by itself.
        let ours =
            Filter::new(row.threshold, row.registers, &row.looks, ErrorBudget::Exact(row.total)).unwrap();
        let theirs = per_look(row.threshold, row.registers, &row.looks, row.error);
        for (ours, theirs) in ours.looks().iter().zip(theirs.looks()) {
            assert!(ours.lower >= theirs.lower && ours.upper <= theirs.upper, "{ours:?} {theirs:?}");
        }
    }
}

#[test]
fn the_default_looks_and_thresholds_are_frozen() {
    for row in vectors().default {
        let looks = default_looks(row.registers);
        let filter =
            Filter::new(row.threshold, row.registers, &looks, ErrorBudget::Exact(row.total)).unwrap();
        let found: Vec<(usize, usize)> =
            filter.looks().iter().filter_map(|look| Some((look.registers, look.lower?))).collect();
        let expected: Vec<(usize, usize)> = row.looks.into_iter().zip(row.lower).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn expected_work() {
    let file = vectors();
    for row in file.comparisons {
        let filter = per_look(row.threshold, row.registers, &row.looks, row.error);
        row.mean.check(filter.expected_comparisons(row.probability, Use::Decide));
    }
    for row in file.even_spread {
        let filter = per_look(row.threshold, row.registers, &row.looks, row.error);
        row.mean.check(filter.outcome_of_even_spread(Use::Decide).comparisons);
    }
    for row in file.rate {
        let filter = per_look(row.threshold, 1000, &[row.look], row.error);
        let look = filter.looks()[0];
        assert_eq!((look.lower, look.upper), (Some(row.lower), Some(row.upper)));
        row.rejection.check(look.rejection_rate());
        row.acceptance.check(look.acceptance_rate());
        // All pairs reach the first look, so the closed forms of this look give the outcome.
        let outcome = filter.outcome_of_even_spread(Use::Decide);
        row.rejection.check(outcome.rejected);
        row.acceptance.check(outcome.accepted);
    }
}

#[test]
fn the_order_of_registers_is_frozen() {
    for row in vectors().shuffle {
        assert_eq!(shuffle(row.registers), row.order);
    }
    let mut order = shuffle(1000);
    order.sort_unstable();
    assert!(order.into_iter().eq(0..1000));
    assert!(shuffle(0).is_empty());
}

#[test]
fn settings_are_checked_and_explained() {
    let refuse = |probability, registers, looks: &[usize], budget, words: &str| {
        let message = Filter::new(probability, registers, looks, budget).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    };
    let exact = ErrorBudget::Exact(1e-6);
    for probability in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
        refuse(probability, 128, &[64], exact, "above 0 and below 1");
        let method = Method::minhash(128);
        assert!(Filter::of(method, probability, 1, &[64], exact).is_err());
    }
    for error in [0.0, -1e-6, 1e-201, 0.51, f64::NAN] {
        for budget in [ErrorBudget::Exact(error), ErrorBudget::Bonferroni(error), ErrorBudget::PerLook(error)]
        {
            refuse(0.8, 128, &[64], budget, "and at most 0.5");
        }
    }
    refuse(0.8, 128, &[64, 64], exact, "cannot be 64: it must be above 64, the look before it");
    refuse(0.8, 128, &[64, 32], exact, "above 64");
    refuse(0.8, 128, &[0, 32], exact, "above 0");
    refuse(0.8, 128, &[64, 129], exact, "at most 128");
    refuse(0.8, 0, &[], exact, "from 1 to 65,536");
    refuse(0.8, 65_537, &[], exact, "from 1 to 65,536");
    assert!(Filter::new(0.8, 65_536, &[16, 65_536], exact).is_ok());
    // The least error that is allowed lies between 0.2²⁸⁷ and 0.2²⁸⁶.
    let least = |look| per_look(0.8, 1000, &[look], 1e-200).looks().first().and_then(|look| look.lower);
    assert_eq!((least(286), least(287)), (None, Some(0)));
    // Without looks that can decide, every pair passes.
    for looks in [&[][..], &[1, 2, 3]] {
        let filter = Filter::new(0.8, 8, looks, exact).unwrap();
        assert!(filter.looks().is_empty());
        assert_eq!(filter.screen(&[0; 8], &[1; 8]), Screening { rejected: false, compared: 0 });
        assert_eq!(filter.expected_comparisons(0.1, Use::Screen), 0.0);
    }
}

#[test]
fn which_sketches_can_be_filtered() {
    use minwise::sketch::one_permutation::Densification;
    for (form, expected) in [
        ("minhash:64", Some(Dependence::Independent)),
        ("b-bit:2/minhash:64", Some(Dependence::Independent)),
        ("super-minhash:64", Some(Dependence::Negative)),
        ("bit-hash/min-max:64", Some(Dependence::Negative)),
        ("one-permutation:64", Some(Dependence::Positive(Densification::Optimal))),
        ("b-bit:1/one-permutation,rotation:64", Some(Dependence::Positive(Densification::Rotation))),
        ("one-permutation,raw:64", None),
        ("odd:64/minhash:64", None),
        ("sectional:s=2/minhash:64", None),
    ] {
        let method: Method = form.parse().unwrap();
        assert_eq!(Dependence::of(method), expected, "{form}");
        let filter = Filter::of(method, 0.8, 50, &default_looks(64), ErrorBudget::Exact(1e-6)).unwrap();
        assert_eq!(filter.is_some(), expected.is_some(), "{form}");
    }
    // Bits agree more often than registers, so their threshold is that of a higher probability.
    let thresholds = |form: &str| {
        let filter =
            Filter::of(form.parse().unwrap(), 0.8, 1, &[64], ErrorBudget::Exact(1e-6)).unwrap().unwrap();
        filter.looks()[0].lower
    };
    assert_eq!(thresholds("b-bit:1/minhash:64"), per_look(0.9, 64, &[64], 1e-6).looks()[0].lower);
    assert!(thresholds("one-permutation:64") < thresholds("minhash:64"), "fewer are rejected");
    // The exact probability distribution is not computed for this many registers, so there is no filter.
    let large = "one-permutation:2048".parse().unwrap();
    assert_eq!(Filter::of(large, 0.8, 1, &[64], ErrorBudget::Exact(1e-6)).unwrap(), None);
}

/// Returns two rows, each register of which agrees with probability `p`.
fn rows(p: f64, registers: usize, random: &mut SplitMix64) -> (Vec<u32>, Vec<u32>) {
    let limit = (p * 4_294_967_296.0) as u64;
    let a: Vec<u32> = (0..registers).map(|_| random.next_u32()).collect();
    let b = a.iter().map(|&value| value ^ u32::from(u64::from(random.next_u32()) >= limit)).collect();
    (a, b)
}

#[test]
fn simulated_pairs_at_the_threshold() {
    const TRIALS: usize = 20_000;
    let n = TRIALS as f64;
    let mut random = SplitMix64::new(9);
    for looks in [
        vec![100],
        vec![100, 200, 400, 600, 800],
        (1..10).map(|i| 100 * i).collect(),
        (1..20).map(|i| 50 * i).collect(),
    ] {
        for (threshold, alpha) in [(0.8, 0.02), (0.5, 0.005)] {
            let filter = Filter::new(threshold, 1000, &looks, ErrorBudget::Exact(alpha)).unwrap();
            let (mut rejected, mut compared) = (0, 0);
            for _ in 0..TRIALS {
                let (a, b) = rows(threshold, 1000, &mut random);
                let screening = filter.screen(&a, &b);
                rejected += usize::from(screening.rejected);
                compared += screening.compared;
            }
            let rate = rejected as f64 / n;
            let expected = filter.outcome(threshold, Use::Screen);
            let standard_error = (expected.rejected * (1.0 - expected.rejected) / n).sqrt();
            assert!(expected.rejected <= alpha);
            assert!((rate - expected.rejected).abs() <= 4.0 * standard_error, "{rate} {expected:?}");
            // Only rejected pairs save comparisons, and each saves at most all registers.
            let mean = compared as f64 / n;
            let allowed = 4.0 * 1000.0 * (expected.rejected / n).sqrt();
            assert!((mean - expected.comparisons).abs() <= allowed, "{mean} {expected:?}");
        }
    }
}

#[test]
fn pairs_below_the_threshold_are_rejected_early() {
    let filter = Filter::new(0.8, 128, &default_looks(128), ErrorBudget::Exact(1e-6)).unwrap();
    let mut random = SplitMix64::new(4);
    let n = 2000;
    let compared: usize = (0..n)
        .map(|_| {
            let (a, b) = rows(0.05, 128, &mut random);
            filter.screen(&a, &b).compared
        })
        .sum();
    let mean = compared as f64 / f64::from(n);
    let expected = filter.expected_comparisons(0.05, Use::Screen);
    // A look has 16 registers, and almost no pair needs more than two looks.
    assert!((mean - expected).abs() < 4.0 * 16.0 / f64::from(n).sqrt(), "{mean} {expected}");
    assert!(expected < 128.0 / 7.0);
}

/// Returns the share of rejected pairs among pairs of documents whose similarity is the threshold, by real sketches.
fn false_rejections(form: &str, threshold: f64, union: usize, alpha: f64, trials: u64) -> f64 {
    let method: Method = form.parse().expect("a text form");
    let registers = method.registers();
    let filter = Filter::of(method, threshold, union, &default_looks(registers), ErrorBudget::Exact(alpha))
        .expect("settings in range")
        .expect("a sketch that can be filtered");
    // Bits are counted on the registers from which they are taken, which gives the same number as counting stored bits.
    let (mask, source) = match method {
        Method::BBit(bits, source) => ((1 << bits) - 1, Method::Registers(source)),
        Method::BitHash(source) => (1, Method::Registers(source)),
        Method::Registers(_)
        | Method::RawOnePermutation(_)
        | Method::BottomK(_)
        | Method::Fractional(..)
        | Method::Xor(..)
        | Method::ThreeQuarter(..)
        | Method::Connected(..)
        | Method::Odd(..)
        | Method::Sectional { .. }
        | Method::Tolerant { .. }
        | Method::PreTagged { .. }
        | Method::Weighted(_) => (u32::MAX, method),
    };
    let common = (threshold * union as f64).round() as usize;
    assert!((common as f64 / union as f64 - threshold).abs() < 1e-12, "the documents are at the threshold");
    let middle = common + (union - common) / 2;
    let order = shuffle(registers);
    let mut rejected = 0;
    for seed in 0..trials {
        let ids: Vec<u64> = (0..union as u64).map(|id| fmix64(id ^ seed << 32)).collect();
        let sketcher = source.build(fmix64(seed)).expect("a sketch that can be made");
        let sketch = |shingles: &[u64]| {
            let mut row = vec![0; registers];
            sketcher.sketch_into(shingles, &mut row);
            row
        };
        let (a, b) = (sketch(&ids[..middle]), sketch(&[&ids[..common], &ids[middle..]].concat()));
        let bits = |row: &[u32], i: usize| {
            if mask == u32::MAX { row[i] } else { register_bits(i, row[i]) & mask }
        };
        let screening =
            filter.screen_by(|range| order[range].iter().filter(|&&i| bits(&a, i) == bits(&b, i)).count());
        rejected += u64::from(screening.rejected);
    }
    rejected as f64 / trials as f64
}

#[test]
fn real_sketches_at_the_threshold() {
    const TRIALS: u64 = 4000;
    const ALPHA: f64 = 0.02;
    for (form, union) in [
        ("minhash:128", 500),
        ("min-max:128", 500),
        ("super-minhash:128", 20),
        ("super-minhash:128", 500),
        ("fast-similarity:128", 500),
        ("one-permutation:128", 5),
        ("one-permutation:128", 40),
        ("one-permutation:128", 160),
        ("one-permutation:128", 2000),
        ("one-permutation,rotation:128", 5),
        ("one-permutation,rotation:128", 40),
        ("one-permutation,rotation:128", 160),
        ("one-permutation,rotation:128", 2000),
        ("b-bit:1/minhash:256", 300),
        ("b-bit:4/super-minhash:128", 300),
        ("b-bit:2/one-permutation,rotation:128", 40),
    ] {
        for threshold in [0.8, 0.5] {
            // Five shingles cannot have a similarity of one half, but ten can.
            let union = if threshold == 0.5 && union == 5 { 10 } else { union };
            let rate = false_rejections(form, threshold, union, ALPHA, TRIALS);
            let most = ALPHA + 4.0 * (ALPHA * (1.0 - ALPHA) / TRIALS as f64).sqrt();
            assert!(rate <= most, "{form}, {union} shingles, {threshold}: {rate}");
        }
    }
}

/// Binomial tails are too small for copied registers, so copied registers have a distribution of their own
/// (docs/sources/filter.md#expected-work).
#[test]
fn binomial_thresholds_are_wrong_for_copied_registers() {
    let trials = 4000;
    let alpha = 0.02;
    let filter = Filter::new(0.8, 128, &default_looks(128), ErrorBudget::Exact(alpha)).unwrap();
    let method: Method = "one-permutation,rotation:128".parse().unwrap();
    let order = shuffle(128);
    let rejected = (0..trials)
        .filter(|&seed| {
            let sketcher = method.build(seed).unwrap();
            let sketch = |shingles: std::ops::Range<u64>| {
                let mut row = vec![0; 128];
                sketcher.sketch_into(&shingles.map(fmix64).collect::<Vec<u64>>(), &mut row);
                row
            };
            let (a, b) = (sketch(0..36), sketch(4..40));
            filter.screen_by(|range| order[range].iter().filter(|&&i| a[i] == b[i]).count()).rejected
        })
        .count();
    let rate = rejected as f64 / trials as f64;
    assert!(rate > alpha + 4.0 * (alpha * (1.0 - alpha) / trials as f64).sqrt(), "{rate}");
}

#[test]
fn ties_are_similar_whatever_the_product_of_threshold_and_registers_rounds_to() {
    for (threshold, needed) in [(0.55, 55), (0.29, 29), (0.58, 58), (0.8, 80), (0.801, 81)] {
        // Without looks, all registers are compared.
        let filter = per_look(threshold, 100, &[], 1e-6);
        let decide = |matches| {
            filter.decide_by(|range| {
                assert_eq!(range, 0..100);
                matches
            })
        };
        let share = needed as f64 / 100.0;
        assert_eq!(decide(needed), FilterDecision::Accept { compared: 100, share }, "{threshold}");
        assert_eq!(decide(needed - 1), FilterDecision::Reject { compared: 100 }, "{threshold}");
    }
}

/// E-51: similarities of pairs that were accepted early are too high on average.
#[test]
fn early_accepted_shares_are_too_high() {
    let looks: Vec<usize> = (1..10).map(|i| 100 * i).collect();
    let filter = per_look(0.8, 1000, &looks, 1e-5);
    let mut random = SplitMix64::new(51);
    let n = 4000;
    let (mut early, mut full) = (0.0, 0.0);
    for _ in 0..n {
        let (a, b) = rows(0.9, 1000, &mut random);
        let share = a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / 1000.0;
        let FilterDecision::Accept { share: at_once, .. } = filter.decide(&a, &b) else {
            panic!("nine in ten are far above eight in ten")
        };
        early += at_once;
        full += share;
    }
    let n = f64::from(n);
    // E-51 gives the early share a root mean squared error of 0.0193 and a bias of 0.0055.
    let standard_error = 0.0193 / n.sqrt();
    assert!((full / n - 0.9).abs() < 4.0 * (0.9_f64 * 0.1 / 1000.0 / n).sqrt());
    assert!((early / n - 0.9055).abs() < 4.0 * standard_error, "{}", early / n);
}

/// E-50: a small tail at the threshold does not determine the similarity. If all pairs are just below the threshold,
/// every early acceptance is wrong.
#[test]
fn acceptance_of_pairs_below_the_threshold_is_rare_but_never_right() {
    let filter = per_look(0.8, 1000, &[100], 1e-5);
    let accepted = filter.outcome(0.79, Use::Decide).accepted;
    Printed::try_from("1.3e-6".to_owned()).unwrap().check(accepted);
}

fn increasing_looks(registers: usize) -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::btree_set(1..=registers, 1..8).prop_map(|looks| looks.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        // There is no `main.rs` beside this file, so by default proptest would search for one up to the root of the
        // file system.
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn thresholds_grow_with_looks_and_errors(
        p in 0.02..0.98f64,
        looks in increasing_looks(150),
        exponent in 1.0..12.0f64,
    ) {
        let error = 10f64.powf(-exponent);
        let (strict, loose) = (per_look(p, 150, &looks, error / 3.0), per_look(p, 150, &looks, error));
        let at = |filter: &Filter, k: usize| filter.looks().iter().find(|look| look.registers == k).copied();
        for pair in loose.looks().windows(2) {
            prop_assert!(pair[0].lower <= pair[1].lower);
        }
        for look in loose.looks() {
            // A look never rejects and accepts the same number of matches, and thresholds do not exceed the number of
            // registers.
            prop_assert!(look.lower.is_none_or(|lower| lower < look.registers));
            prop_assert!(look.upper.is_none_or(|upper| 0 < upper && upper <= look.registers));
            if let (Some(lower), Some(upper)) = (look.lower, look.upper) {
                prop_assert!(lower < upper);
            }
        }
        for look in strict.looks() {
            let loose = at(&loose, look.registers).expect("a look that a stricter filter has");
            prop_assert!(look.lower <= loose.lower);
            prop_assert!(look.upper.is_none() || loose.upper <= look.upper);
        }
    }

    #[test]
    fn the_budget_is_kept_and_used(p in 0.1..0.95f64, looks in increasing_looks(120), exponent in 1.0..9.0f64) {
        let alpha = 10f64.powf(-exponent);
        // Relative rounding error of walks of 120 steps.
        let rounding = 1.0 + 1e4 * f64::EPSILON;
        let new = |budget| Filter::new(p, 120, &looks, budget).unwrap();
        let (exact, even) = (new(ErrorBudget::Exact(alpha)), new(ErrorBudget::Bonferroni(alpha)));
        let spent = |filter: &Filter| filter.outcome(p, Use::Screen).rejected;
        prop_assert!(spent(&exact) <= alpha * rounding);
        prop_assert!(spent(&even) <= spent(&exact) * rounding);
        prop_assert!(spent(&exact) <= exact.error_per_look() * looks.len() as f64 * rounding, "union bound");
        prop_assert!(exact.error_per_look() <= alpha);
        // The filter's error per look is the greatest possible: the next greater error that changes a threshold is too
        // large, unless a single look would spend all of it.
        let lowers = |filter: &Filter| -> Vec<(usize, usize)> {
            filter.looks().iter().filter_map(|look| Some((look.registers, look.lower?))).collect()
        };
        let larger = (1..400)
            .map(|i| per_look(p, 120, &looks, (exact.error_per_look() * 1.02f64.powi(i)).min(0.5)))
            .find(|filter| lowers(filter) != lowers(&exact));
        if let Some(larger) = larger {
            prop_assert!(spent(&larger) > alpha / rounding);
        }
        // Pairs that are more similar are rejected less often, and less similar pairs are compared for a shorter time.
        prop_assert!(exact.outcome(p + 0.04, Use::Screen).rejected <= spent(&exact));
        prop_assert!(exact.expected_comparisons(p - 0.08, Use::Screen) <= exact.expected_comparisons(p, Use::Screen) * rounding);
    }

    #[test]
    fn comparisons_do_what_the_tables_say(
        p in 0.3..0.9f64,
        similarity in 0.0..1.0f64,
        looks in increasing_looks(200),
        seed: u64,
    ) {
        let filter = Filter::new(p, 200, &looks, ErrorBudget::Exact(0.01)).unwrap();
        let (a, b) = rows(similarity, 200, &mut SplitMix64::new(seed));
        let matches = |k: usize| a[..k].iter().zip(&b[..k]).filter(|(a, b)| a == b).count();

        let stop = (0..filter.looks().len()).find(|&i| filter.rejects(i, matches(filter.looks()[i].registers)));
        let last = filter.looks().iter().rfind(|look| look.lower.is_some()).map_or(0, |look| look.registers);
        let expected = Screening {
            rejected: stop.is_some(),
            compared: stop.map_or(last, |look| filter.looks()[look].registers),
        };
        prop_assert_eq!(filter.screen(&a, &b), expected);

        let needed = (0..=200).find(|&m| f64::from(m) / 200.0 >= p).unwrap() as usize;
        let similar = matches(200) >= needed;
        match filter.decide(&a, &b) {
            FilterDecision::Reject { compared } => {
                let look = filter.looks().iter().find(|look| look.registers == compared);
                let by_table = look.and_then(|look| look.lower).is_some_and(|lower| matches(compared) <= lower);
                prop_assert!(by_table || !similar, "what is not in the table loses nothing");
            }
            FilterDecision::Accept { compared, share } => {
                prop_assert_eq!(share, matches(compared) as f64 / compared as f64);
                let look = filter.looks().iter().find(|look| look.registers == compared);
                let by_table = look.and_then(|look| look.upper).is_some_and(|upper| matches(compared) >= upper);
                prop_assert!(by_table || similar, "what is not in the table loses nothing");
            }
        }
    }
}
