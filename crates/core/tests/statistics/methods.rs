//! Every method over many seeds: what it counts follows its law, and its estimate has the mean and the variance that follow
//! from the law, or that the formula claims where there is no law.
//!
//! A point is a method, a similarity, a set size and a number of registers. Its trials are seeds of their own.

use minwise::hash::SplitMix64;
use minwise::sketch::Method;

use crate::measure::{Findings, Moments, chi_square, is_long};
use crate::model::{Model, claimed_variance, exact, model};
use crate::pair::Overlap;

const SIMILARITIES: [f64; 6] = [0.0, 0.1, 0.3, 0.5, 0.8, 0.95];

/// Set sizes |A∪B|: fewer shingles than registers, about as many, and many more.
const SMALL: usize = 40;
const MEDIUM: usize = 320;
const LARGE: usize = 3000;

/// One method at one point; gives the share of trials whose interval held the truth, unless nothing is left to chance.
fn check_point(
    method: Method,
    overlap: Overlap,
    trials: usize,
    number: u64,
    findings: &mut Findings,
) -> Option<f64> {
    let what = format!("{method}, u = {}, J = {}", overlap.union, overlap.similarity());
    let (a, b) = overlap.documents(number);
    let expected = exact(method, overlap);
    let model = model(method, overlap);

    let mut seeds = SplitMix64::new(number);
    let mut values = Vec::with_capacity(trials);
    let mut covered = 0;
    let mut counts = vec![0; model.as_ref().map_or(0, |model| model.law.len())];
    for trial in 0..trials {
        let sketcher = method.build(seeds.next_u64()).unwrap();
        if trial == 0 {
            assert_eq!(sketcher.exact(&a, &b), expected, "{what}: what was planted");
        }
        let (mut row_a, mut row_b) = (vec![0; sketcher.words()], vec![0; sketcher.words()]);
        sketcher.sketch_into(&a, &mut row_a);
        sketcher.sketch_into(&b, &mut row_b);
        let estimate = sketcher.estimate(&row_a, &row_b);
        values.push(estimate.value);
        covered += usize::from(estimate.interval.0 <= expected && expected <= estimate.interval.1);
        if let Some(Model { outcome, estimate: of_outcome, .. }) = &model {
            let outcome = outcome(&row_a, &row_b);
            counts[outcome] += 1;
            assert_eq!(estimate, of_outcome(outcome), "{what}: the estimate is that of what was counted");
        }
    }

    if claimed_variance(method, overlap) == 0.0 {
        assert!(values.iter().all(|&value| value == expected), "{what}: nothing is left to chance");
        return None;
    }
    let found = Moments::of_sample(&values);
    let law = match &model {
        Some(model) => Moments::of_law(&model.law, |outcome| (model.estimate)(outcome).value),
        None => Moments::shaped_like(&found, expected, claimed_variance(method, overlap)),
    };
    findings.check(&format!("{what}: mean"), found.mean, law.mean, law.error_of_mean(trials));
    findings.check(&format!("{what}: variance"), found.variance, law.variance, law.error_of_variance(trials));
    if let Some(away) = model.and_then(|model| chi_square(&counts, &model.law)) {
        findings.check_away(&format!("{what}: law"), away, "chi-square");
    }
    Some(covered as f64 / trials as f64)
}

/// All methods at all similarities. `number` tells the points of one test from those of another.
fn check_methods(registers: usize, union: usize, trials: usize, number: u64) {
    let mut findings = Findings::default();
    let mut points = number << 32;
    for method in Method::all(registers) {
        let mut covered = vec![];
        for similarity in SIMILARITIES {
            points += 1;
            let overlap = Overlap::new(union, similarity);
            covered.extend(check_point(method, overlap, trials, points, &mut findings));
        }
        // Where there is a law, `formulas` sums over it.
        if model(method, Overlap::new(union, SIMILARITIES[0])).is_none() {
            let all = covered.len() as f64;
            let short_of = 0.95 - covered.iter().sum::<f64>() / all;
            let error = (0.95 * 0.05 / (all * trials as f64)).sqrt();
            let what = format!("{method}, u = {union}: intervals cover less than 95 % by");
            findings.check_away(&what, (short_of / error).max(0.0), &format!("{short_of:.4}"));
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

/// The other combinations, in the long mode only.
#[test]
fn every_size_and_number_of_registers() {
    if is_long() {
        let others = [(256, SMALL), (1024, SMALL), (64, MEDIUM), (1024, MEDIUM), (256, LARGE), (1024, LARGE)];
        for (number, (registers, union)) in (4..).zip(others) {
            check_methods(registers, union, 2000, number);
        }
    }
}
