//! Laws and statistics of the sketches of weighted sets.
//!
//! Inputs come from fixed seeds, and every bound follows from the tested distribution: a mean may be four of its own
//! standard errors away. `cargo test --test weighted -- --nocapture` prints the measured values.

#![allow(clippy::print_stdout, reason = "what was measured is worth seeing, whether or not it passes")]

use std::sync::Arc;

use minwise::estimate::minhash::{estimate, matches, variance};
use minwise::hash::{SplitMix64, fmix64};
use minwise::kernel::Kernel;
use minwise::sketch::dart::Dart;
use minwise::sketch::icws::Icws;
use minwise::sketch::minhash::EMPTY;
use minwise::sketch::{WeightedMethod, WeightedSketcher};
use minwise::verify::WeightedOverlap;
use minwise::weight::WeightedSet;

const REGISTERS: usize = 128;
/// Greatest distance of a mean from its expectation, in standard errors. A correct estimator exceeds it with
/// probability 1/16 000.
const SIGMAS: f64 = 4.0;

type Members = Vec<(u64, f64)>;

fn set(members: &[(u64, f64)]) -> WeightedSet {
    WeightedSet::new(members.iter().copied()).expect("weights are positive and shingles distinct")
}

fn sketch(sketcher: &dyn WeightedSketcher, set: &WeightedSet) -> Vec<u32> {
    let mut row = vec![7; sketcher.words()];
    sketcher.sketch_into(set, &mut row);
    row
}

fn build(method: WeightedMethod, seed: u64) -> Arc<dyn WeightedSketcher> {
    method.build(seed).expect("every method of the list can be made")
}

fn for_each(mut check: impl FnMut(WeightedMethod, &dyn WeightedSketcher)) {
    for method in WeightedMethod::all(REGISTERS) {
        check(method, &*build(method, 1));
    }
}

/// Returns `len` shingles whose weights are spread over this many powers of e.
fn spread(len: u64, powers: f64, seed: u64) -> Members {
    let mut random = SplitMix64::new(seed);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (0..len).map(|id| (fmix64(id + 1000 * seed), ((uniform() - 0.5) * powers).exp())).collect()
}

/// Returns the pairs of docs/sources/weights.md#consistent-weighted-sampling (weights 1, 2.5, 0.3 and so on), and other
/// pairs: short and long ones, and pairs with huge and tiny weights.
fn pairs() -> Vec<(&'static str, Members, Members)> {
    let unit = |range: std::ops::Range<u64>| range.map(|id| (fmix64(id), 1.0)).collect::<Members>();
    let scaled = |members: &Members, by: f64| members.iter().map(|&(x, w)| (x, w * by)).collect::<Members>();
    let base = spread(60, 4.0, 1);
    let edited: Members = base[..50].iter().map(|&(x, w)| (x, w * 1.25)).chain(spread(8, 4.0, 2)).collect();
    vec![
        ("docs/sources, 0.6383", vec![(1, 1.0), (2, 2.5), (3, 0.3)], vec![(1, 1.5), (2, 2.0), (4, 0.4)]),
        (
            "docs/sources, small weights",
            vec![(1, 0.01), (2, 0.02), (3, 0.005)],
            vec![(1, 0.012), (2, 0.02), (4, 0.01)],
        ),
        ("docs/sources, 0.1", vec![(1, 10.0), (2, 1.0)], vec![(1, 1.0), (2, 10.0)]),
        ("one shingle, 0.8", vec![(1, 5.0)], vec![(1, 4.0)]),
        ("one shingle, powers of two", vec![(1, 8.0)], vec![(1, 4.0)]),
        ("unit weights, 1/3", unit(0..12), unit(6..18)),
        ("spread weights", base.clone(), edited.clone()),
        ("times 1e30", scaled(&base, 1e30), scaled(&edited, 1e30)),
        ("times 1e-30", scaled(&base, 1e-30), scaled(&edited, 1e-30)),
        ("apart by 1e60", vec![(1, 1e30), (2, 1e-30)], vec![(1, 0.7e30), (3, 1e-30)]),
        ("nearly equal", base.clone(), base.iter().map(|&(x, w)| (x, w * 1.02)).collect()),
    ]
}

/// Returns the mean and the variance of the estimate over many seeds.
fn moments(method: WeightedMethod, a: &Members, b: &Members, trials: u64) -> (f64, f64) {
    let (a, b) = (set(a), set(b));
    let (mut sum, mut squares) = (0.0, 0.0);
    for seed in 0..trials {
        let sketcher = build(method, seed);
        let value = estimate(&sketch(&*sketcher, &a), &sketch(&*sketcher, &b)).value;
        sum += value;
        squares += value * value;
    }
    let n = trials as f64;
    (sum / n, (squares - sum * sum / n) / (n - 1.0))
}

fn exact(a: &Members, b: &Members) -> f64 {
    WeightedOverlap::of(&set(a), &set(b)).jaccard()
}

/// Checks that the mean is Jw and the variance Jw(1−Jw)/k. A variance that is estimated from n numbers has the relative
/// variance 2/n + κ/n, where κ is the excess kurtosis of the binomial distribution.
fn check_statistics(method: fn(usize) -> WeightedMethod, trials: u64) {
    for (name, a, b) in pairs() {
        let similarity = exact(&a, &b);
        let method = method(REGISTERS);
        let (mean, measured) = moments(method, &a, &b, trials);
        let expected = method.variance(similarity);
        let n = trials as f64;
        println!(
            "{method}, {name}: Jw {similarity:.4}, mean {mean:.4}, variance ratio {:.3}",
            measured / expected
        );
        let error = (expected / n).sqrt();
        assert!((mean - similarity).abs() <= SIGMAS * error, "{name}: mean {mean}, not {similarity}");
        let excess =
            (1.0 - 6.0 * similarity * (1.0 - similarity)) / (expected * (REGISTERS * REGISTERS) as f64);
        let error = expected * ((2.0 + excess) / n).sqrt();
        assert!((measured - expected).abs() <= SIGMAS * error, "{name}: variance {measured}, not {expected}");
    }
}

#[test]
fn dart_is_unbiased_and_has_its_variance() {
    check_statistics(WeightedMethod::Dart, 4000);
}

#[test]
fn icws_is_unbiased_and_has_its_variance() {
    check_statistics(WeightedMethod::Icws, 4000);
}

#[test]
fn cws_is_unbiased_and_has_its_variance() {
    check_statistics(WeightedMethod::Cws, 1000);
}

/// Returns the distance of the mean estimate from its expectation, in standard errors, for sets without shared
/// shingles. Registers of 32 bits agree by accident with probability 2⁻³². `spoil` may change a sketch before it is
/// compared.
fn away_at_similarity_0(method: WeightedMethod, trials: u64, spoil: impl Fn(&mut [u32])) -> f64 {
    let accident = 2f64.powi(-32);
    let (a, b) = (spread(60, 4.0, 3), spread(60, 4.0, 4));
    assert_eq!(exact(&a, &b), 0.0);
    let (a, b) = (set(&a), set(&b));
    let mut sum = 0.0;
    for seed in 0..trials {
        let sketcher = build(method, seed);
        let [a, b] = [&a, &b].map(|set| {
            let mut row = sketch(&*sketcher, set);
            spoil(&mut row);
            row
        });
        sum += sketcher.estimate(&a, &b).value;
    }
    let error = (variance(accident, REGISTERS) / trials as f64).sqrt();
    (sum / trials as f64 - accident) / error
}

#[test]
fn unlike_sets_agree_by_accident_only() {
    for method in WeightedMethod::all(REGISTERS) {
        let away = away_at_similarity_0(method, 250, |_| {});
        assert!(away.abs() <= SIGMAS, "{method}: {away} standard errors");
    }
}

/// Tests the test above: a register that never changes must be detected.
#[test]
fn a_register_that_never_changes_is_seen_at_similarity_0() {
    for method in WeightedMethod::all(REGISTERS) {
        let away = away_at_similarity_0(method, 20, |row| row[0] = 7);
        assert!(away > SIGMAS, "{method}: {away} standard errors");
    }
}

/// In long documents, samples come from the tails of the draws and from the lowest rows of darts.
#[test]
fn dart_and_icws_are_unbiased_for_long_documents() {
    for (method, len) in [WeightedMethod::Dart(REGISTERS), WeightedMethod::Icws(REGISTERS)]
        .into_iter()
        .flat_map(|method| [(method, 1000), (method, 30_000)])
    {
        let a = spread(len, 6.0, 3);
        let b: Members = a.iter().map(|&(x, w)| (x, if x % 3 == 0 { w * 0.5 } else { w * 1.1 })).collect();
        let similarity = exact(&a, &b);
        let trials = 400_000 / len + 40;
        let (mean, _) = moments(method, &a, &b, trials);
        let error = (variance(similarity, REGISTERS) / trials as f64).sqrt();
        println!("{method}, {len} shingles: Jw {similarity:.4}, mean {mean:.4} ± {error:.4}");
        assert!((mean - similarity).abs() <= SIGMAS * error, "{mean}, not {similarity}");
    }
}

/// Compares the bias of samples without their step with docs/sources/weights.md#improved-consistent-weighted-sampling.
/// The test treats the expected values as means of 12,000 draws.
#[test]
fn zero_bit_is_biased_for_few_shingles_and_not_for_many() {
    const TRIALS: u64 = 400;
    let pairs = pairs();
    let draws = (REGISTERS as u64 * TRIALS) as f64;
    let mean = |at: usize| {
        let (_, a, b) = &pairs[at];
        moments(WeightedMethod::ZeroBit(REGISTERS), a, b, TRIALS).0
    };
    for (at, expected) in [(0, 0.7215), (2, 0.1818)] {
        let spread = expected * (1.0 - expected) * (1.0 / draws + 1.0 / 12_000.0);
        let found = mean(at);
        println!("zero-bit, {}: {found:.4}, {expected} in docs/sources", pairs[at].0);
        assert!((found - expected).abs() <= SIGMAS * f64::sqrt(spread), "{found}, not {expected}");
        let similarity = exact(&pairs[at].1, &pairs[at].2);
        assert!(
            found > similarity + SIGMAS * (similarity * (1.0 - similarity) / draws).sqrt(),
            "the bias shows"
        );
    }
    assert_eq!(mean(3), 1.0, "a single shingle always agrees with itself");

    // Each document has 300 shingles, of which a third differ. The bias is below the standard error of one sketch.
    let a = spread(300, 2.0, 4);
    let b: Members = a[..200].iter().copied().chain(spread(100, 2.0, 5)).collect();
    let similarity = exact(&a, &b);
    let (long, _) = moments(WeightedMethod::ZeroBit(REGISTERS), &a, &b, TRIALS);
    assert!((long - similarity).abs() < variance(similarity, REGISTERS).sqrt(), "{long}, not {similarity}");
}

#[test]
fn the_empty_set_has_empty_words_and_no_other_set_has() {
    for_each(|method, sketcher| {
        assert!(sketch(sketcher, &WeightedSet::default()).iter().all(|&word| word == EMPTY), "{method}");
        assert!(sketch(sketcher, &set(&[(5, 1e-300)])).iter().all(|&word| word != EMPTY), "{method}");
        assert_eq!(sketcher.exact(&WeightedSet::default(), &WeightedSet::default()), 1.0);
    });
}

#[test]
fn equal_sets_agree_everywhere_and_disjoint_ones_nowhere() {
    for_each(|method, sketcher| {
        for (_, a, b) in pairs() {
            let (a, b) = (set(&a), set(&b));
            let row = sketch(sketcher, &a);
            assert_eq!(row, sketch(sketcher, &a), "{method}");
            assert_eq!(sketcher.estimate(&row, &row).value, 1.0, "{method}");
            assert_eq!(sketcher.exact(&a, &b), WeightedOverlap::of(&a, &b).jaccard());
        }
        let (a, b) = (set(&spread(40, 3.0, 6)), set(&spread(40, 3.0, 7)));
        assert_eq!(matches(&sketch(sketcher, &a), &sketch(sketcher, &b)), 0, "{method}");
    });
}

#[test]
fn the_order_of_members_does_not_matter() {
    let mut members = spread(100, 3.0, 8);
    let sorted = set(&members);
    members.reverse();
    for_each(|method, sketcher| {
        assert_eq!(sketch(sketcher, &sorted), sketch(sketcher, &set(&members)), "{method}");
    });
}

#[test]
fn seeds_give_other_sketches_and_more_samplers_begin_like_fewer() {
    let document = set(&spread(100, 3.0, 9));
    for (short, long) in WeightedMethod::all(40).into_iter().zip(WeightedMethod::all(60)) {
        let of = |method: WeightedMethod, seed| sketch(&*build(method, seed), &document);
        match short {
            WeightedMethod::Icws(_) | WeightedMethod::Cws(_) | WeightedMethod::ZeroBit(_) => {
                assert_eq!(of(long, 1)[..40], of(short, 1), "{short}");
            }
            // The register of a dart depends on the number of registers, so long sketches do not begin like short ones.
            WeightedMethod::Dart(_) => {}
        }
        assert!(matches(&of(short, 1), &of(short, 2)) < 3, "{short}");
    }
}

/// A register of a document agrees with the register of the document with all weights times λ, with probability min(λ,
/// 1/λ). Scaling both documents of a pair does not change its agreement.
#[test]
fn scaling_moves_the_steps_by_its_own_law() {
    let base = spread(30, 3.0, 10);
    for factor in [1.5, 8.0] {
        let more: Members = base.iter().map(|&(x, w)| (x, w * factor)).collect();
        for method in WeightedMethod::all(REGISTERS).into_iter().filter(|method| method.bandable().is_some())
        {
            let (mean, _) = moments(method, &base, &more, 300);
            let error = (variance(1.0 / factor, REGISTERS) / 300.0).sqrt();
            assert!((mean - 1.0 / factor).abs() <= SIGMAS * error, "{method} at {factor}: {mean}");
        }
    }
}

/// Consistency: if one set covers another set, and its sample lies within the other set, both have the same sample. If
/// A and C agree, every B between them therefore agrees, too.
#[test]
fn a_set_between_two_agrees_wherever_they_agree() {
    let least = spread(60, 3.0, 11);
    let scaled =
        |by: f64| least.iter().enumerate().map(move |(i, &(x, w))| (x, w * (1.0 + by * (i % 4) as f64)));
    let sets = [0.0, 0.2, 0.5].map(|by| WeightedSet::new(scaled(by)).unwrap());
    for_each(|method, sketcher| {
        let [low, middle, high] = [0, 1, 2].map(|at| sketch(sketcher, &sets[at]));
        let mut shared = 0;
        for i in 0..REGISTERS {
            if low[i] == high[i] {
                shared += 1;
                assert_eq!(middle[i], low[i], "{method}, register {i}");
            }
        }
        assert!(shared > 0, "{method}");
    });
}

#[test]
fn every_kernel_makes_the_same_bytes() {
    for (name, a, b) in pairs() {
        for members in [a, b] {
            let set = set(&members);
            let rows: Vec<[Vec<u32>; 2]> = Kernel::available()
                .map(|kernel| {
                    let icws = Icws::new(100, 3).unwrap().with_kernel(kernel);
                    let dart = Dart::new(100, 3).unwrap().with_kernel(kernel);
                    [sketch(&icws, &set), sketch(&dart, &set)]
                })
                .collect();
            assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "{name}");
        }
    }
}

#[test]
fn a_weight_of_any_size_will_do() {
    for_each(|method, sketcher| {
        let members = [(1, f64::MAX), (2, f64::MAX), (3, 5e-324), (4, f64::MIN_POSITIVE)];
        let row = sketch(sketcher, &set(&members));
        // The two great weights leave the other shingles no probability of being sampled.
        assert_eq!(row, sketch(sketcher, &set(&members[..2])), "{method}");
        let tiny = sketch(sketcher, &set(&members[2..3]));
        assert!(tiny.iter().all(|&word| word != EMPTY), "{method}");
    });
}
