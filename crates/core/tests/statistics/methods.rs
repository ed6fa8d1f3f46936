//! Tests every method over many seeds. Its count must follow its distribution, and its estimate must have the mean and
//! the variance of the distribution. If there is no distribution, the mean and the variance must be those that the
//! formula claims.
//!
//! A point is a method, a similarity, a set size and a number of registers. Each point has its own seeds.

use minwise::hash::SplitMix64;
use minwise::sketch::{Method, Sketcher};

use crate::law::binomial;
use crate::measure::{Findings, Measured, Moments, chi_square, is_long};
use crate::model::{Model, accident, claimed_variance, exact, model};
use crate::pair::Overlap;

const SIMILARITIES: [f64; 6] = [0.0, 0.1, 0.3, 0.5, 0.8, 0.95];

/// Set sizes |A∪B|: less than the number of registers, about as large, and much larger.
const SMALL: usize = 40;
const MEDIUM: usize = 320;
const LARGE: usize = 3000;

/// Passes two sketches of one point to `show`, for each of `trials` seeds.
fn for_each_seed(
    method: Method,
    overlap: Overlap,
    trials: usize,
    number: u64,
    mut show: impl FnMut(&dyn Sketcher, &mut [u32], &mut [u32]),
) {
    let mut random = SplitMix64::new(number);
    let (a, b) = overlap.documents(random.next_u64());
    for trial in 0..trials {
        let sketcher = method.build(random.next_u64()).unwrap();
        if trial == 0 {
            assert_eq!(sketcher.exact(&a, &b), exact(method, overlap), "{method}: what was planted");
        }
        let (mut row_a, mut row_b) = (vec![0; sketcher.words()], vec![0; sketcher.words()]);
        sketcher.sketch_into(&a, &mut row_a);
        sketcher.sketch_into(&b, &mut row_b);
        show(&*sketcher, &mut row_a, &mut row_b);
    }
}

/// Measures one method at one point: the mean and the variance of the estimate, and the distribution of the count.
/// `spoil` may change a sketch before it is compared.
fn measure(
    method: Method,
    overlap: Overlap,
    trials: usize,
    number: u64,
    spoil: impl Fn(&mut [u32]),
) -> Vec<Measured> {
    let what = format!("{method}, u = {}, J = {}", overlap.union, overlap.similarity());
    let (expected, variance) = (exact(method, overlap), claimed_variance(method, overlap));
    let model = model(method, overlap);
    // Whole registers of dissimilar documents agree only by accident.
    let accident = accident(method, overlap).filter(|_| overlap.shared == 0);
    let mut values = Vec::with_capacity(trials);
    let mut counts = vec![0; model.as_ref().map_or(0, |model| model.law.len())];
    for_each_seed(method, overlap, trials, number, |sketcher, a, b| {
        spoil(a);
        spoil(b);
        let estimate = sketcher.estimate(a, b);
        values.push(estimate.value);
        if let Some(Model { outcome, estimate: of_outcome, .. }) = &model {
            let outcome = outcome(a, b);
            counts[outcome] += 1;
            assert_eq!(estimate, of_outcome(outcome), "{what}: the estimate is that of what was counted");
        }
    });
    if variance == 0.0 && accident.is_none() {
        assert!(values.iter().all(|&value| value == expected), "{what}: nothing is left to chance");
        return vec![];
    }

    let found = Moments::of_sample(&values);
    let law = match (accident, &model) {
        (Some(accident), _) => {
            let registers = method.registers();
            Moments::of_law(&binomial(registers, accident), |agreeing| agreeing as f64 / registers as f64)
        }
        (None, Some(model)) => Moments::of_law(&model.law, |outcome| (model.estimate)(outcome).value),
        (None, None) => Moments::shaped_like(&found, expected, variance),
    };
    let mut measured = vec![
        Measured::new(format!("{what}: mean"), found.mean, law.mean, law.error_of_mean(trials)),
        Measured::new(
            format!("{what}: variance"),
            found.variance,
            law.variance,
            law.error_of_variance(trials),
        ),
    ];
    let away = model.and_then(|model| chi_square(&counts, &model.law));
    measured.extend(away.map(|away| Measured::standardised(format!("{what}: law"), away)));
    measured
}

/// Measures all methods at all similarities. `number` makes the seeds of one test differ from those of another.
fn check_methods(registers: usize, union: usize, trials: usize, number: u64) {
    let mut findings = Findings::default();
    let mut point = number << 32;
    for method in Method::all(registers) {
        for similarity in SIMILARITIES {
            point += 1;
            let overlap = Overlap::new(union, similarity);
            findings
                .confirm(trials, point, |trials, number| measure(method, overlap, trials, number, |_| {}));
        }
    }
    findings.conclude();
}

fn trials(short: usize) -> usize {
    if is_long() { 10 * short } else { short }
}

#[test]
fn small_sets() {
    check_methods(64, SMALL, trials(2500), 1);
}

#[test]
fn medium_sets() {
    check_methods(256, MEDIUM, trials(1000), 2);
}

#[test]
fn large_sets() {
    check_methods(64, LARGE, trials(500), 3);
}

// The tests above leave out the following combinations. Each combination is a test of its own, so that all cores are
// busy.

#[test]
#[ignore = "long: minutes of sketching"]
fn small_sets_and_256_registers() {
    check_methods(256, SMALL, 2000, 4);
}

#[test]
#[ignore = "long: minutes of sketching"]
fn small_sets_and_1024_registers() {
    check_methods(1024, SMALL, 2000, 5);
}

#[test]
#[ignore = "long: minutes of sketching"]
fn medium_sets_and_64_registers() {
    check_methods(64, MEDIUM, 2000, 6);
}

#[test]
#[ignore = "long: minutes of sketching"]
fn medium_sets_and_1024_registers() {
    check_methods(1024, MEDIUM, 2000, 7);
}

#[test]
#[ignore = "long: minutes of sketching"]
fn large_sets_and_256_registers() {
    check_methods(256, LARGE, 2000, 8);
}

#[test]
#[ignore = "long: minutes of sketching"]
fn large_sets_and_1024_registers() {
    check_methods(1024, LARGE, 2000, 9);
}

/// Tests the tests above: if some registers are equal in all sketches, dissimilar documents agree, and every method
/// must fail at similarity 0.
#[test]
fn registers_that_never_change_are_seen_at_similarity_0() {
    // A register is one word, or two in `BottomK`. In bit sketches, one word has the first bits of 32 registers,
    // another word their second bits, and so on. Half of the registers of such a word never change.
    let spoil = |row: &mut [u32]| {
        for word in &mut *row {
            *word |= 0xffff_0000;
        }
        row[..2].fill(7);
    };
    let overlap = Overlap::new(MEDIUM, 0.0);
    for (point, method) in (300 << 32..).zip(Method::all(64)) {
        let measured = measure(method, overlap, 200, point, spoil);
        assert!(measured.iter().any(Measured::is_far), "{method}: nothing is seen");
    }
}

/// Only methods without a distribution are tested here, because `formulas` tests the others by sums over their
/// distribution.
#[test]
fn intervals_of_methods_without_a_law_cover() {
    let mut findings = Findings::default();
    let similarities = &SIMILARITIES[1..];
    let mut point = 200 << 32;
    for (registers, union) in [(64, SMALL), (256, MEDIUM), (64, LARGE)] {
        for method in Method::all(registers) {
            if model(method, Overlap::new(union, similarities[0])).is_some() {
                continue;
            }
            point += 1;
            findings.confirm(trials(500), point, |trials, number| {
                let (mut all, mut covered) = (0.0, 0.0);
                for (number, &similarity) in (number..).zip(similarities) {
                    let overlap = Overlap::new(union, similarity);
                    for_each_seed(method, overlap, trials, number, |sketcher, a, b| {
                        let (low, high) = sketcher.estimate(a, b).interval;
                        covered += f64::from(u8::from((low..=high).contains(&overlap.similarity())));
                        all += 1.0;
                    });
                }
                let share = covered / all;
                // A higher coverage than claimed is not a failure.
                let what = format!("{method}, u = {union}: intervals cover");
                vec![Measured::new(what, share.min(0.95), 0.95, (0.95_f64 * 0.05 / all).sqrt())]
            });
        }
    }
    findings.conclude();
}
