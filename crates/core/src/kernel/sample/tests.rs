//! Tests of the samples of every kernel against samples for which all draws are finished.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::hash::SplitMix64;
use crate::kernel::logarithm::ln;

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

/// Computes the sample of a register by finishing every draw.
fn by_definition(elements: Elements<'_>, salt: u64) -> Sample {
    let mut least = f64::INFINITY;
    let mut sample = Sample::default();
    for (element, (&key, &weight)) in elements.keys.iter().zip(elements.weights).enumerate() {
        let place = Draw::of(key, salt).place(ln(weight));
        if place.log_rank < least {
            least = place.log_rank;
            sample = Sample { element: element as u32, step: place.step as i64 };
        }
    }
    sample
}

fn check(weights: &[f64], registers: usize, seed: u64) {
    let (keys, salts) = (random(weights.len(), seed), random(registers, !seed));
    let elements = Elements { keys: &keys, weights };
    let expected: Vec<Sample> = salts.iter().map(|&salt| by_definition(elements, salt)).collect();
    for kernel in Kernel::available() {
        let mut out = vec![Sample::default(); registers];
        kernel.sample(elements, &salts, &mut out);
        assert_eq!(out, expected, "{kernel}: {} elements, {registers} registers", weights.len());
    }
}

proptest! {
    #[test]
    fn samples_are_the_same_in_every_kernel(
        logs in vec(-60.0..60.0f64, 1..120),
        spread in 0.0..1.0f64,
        registers in 1usize..70,
        seed: u64,
    ) {
        let weights: Vec<f64> = logs.iter().map(|log| (log * spread).exp()).collect();
        check(&weights, registers, seed);
    }
}

#[test]
fn long_documents() {
    let mut random = SplitMix64::new(5);
    for len in [1, 2, 500, 20_000] {
        let weights: Vec<f64> = (0..len).map(|_| (random.next_u64() % 1000 + 1) as f64).collect();
        check(&weights, 128, len);
        check(&vec![1.0; len as usize], 128, len);
    }
}

#[test]
fn weights_at_the_ends_of_their_range() {
    for weights in [
        vec![f64::MIN_POSITIVE / 8.0, 5e-324],
        vec![1e300, 1e-300],
        vec![1e300, 1e300, 5e-324],
        vec![1e-40, 1e-4, 1.0],
    ] {
        check(&weights, 300, 9);
    }
}

/// The limits must never be too small, and be at most a tenth too large.
#[test]
fn limits_are_upper_bounds() {
    let mut random = SplitMix64::new(6);
    for _ in 0..100_000 {
        let log = (random.next_u64() % 1_000_000) as f64 / 1e4 - 60.0;
        let limit = f64::from(filter_limit(log, 0.0));
        let exact = (log + BOUND_BITS * std::f64::consts::LN_2).exp();
        assert!(limit >= exact && limit <= exact * 1.1, "{log}: {limit} {exact}");
    }
}
