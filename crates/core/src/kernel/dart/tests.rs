//! Tests of every kernel against a computation of all darts.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::hash::SplitMix64;

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

/// Returns the darts of a shingle in a row that lie below the weight `limit`, given in units of 2⁻ᵇ.
fn darts(key: u64, seed: u64, row: i64, limit: f64) -> impl Iterator<Item = RawDart> {
    let salt = row::salt(seed, row);
    let state = row::state(key, salt);
    let cells = (limit / row::CELL).ceil() as usize;
    let states = std::iter::successors(Some(state), |&state| Some(row::next_cell(state))).take(cells);
    states.enumerate().flat_map(move |(cell, mut state)| {
        let mut gap = if cell == 0 {
            row::first_gap(key as u32, row::coefficients(salt))
        } else {
            row::cell_gap(state)
        };
        let limit = (limit - cell as f64 * row::CELL).min(row::CELL);
        let mut reached = 0.0;
        std::iter::from_fn(move || {
            reached += row::gap(gap);
            let dart = RawDart::of(state);
            (gap, state) = (dart.next_gap(), state.wrapping_add(row::STRIDE));
            (reached < limit).then_some(dart)
        })
    })
}

/// Computes every dart of every row, from far below the lowest dart up to the row in which no register is empty.
fn by_definition(elements: Elements<'_>, seed: u64, registers: usize) -> Vec<u32> {
    let greatest = elements.weights.iter().copied().fold(0.0, f64::max);
    let lowest = -exponent(greatest) - 40;
    let mut least = vec![u64::MAX; registers];
    for row in lowest.. {
        for (&key, &weight) in elements.keys.iter().zip(elements.weights) {
            for dart in darts(key, seed, row, scaled(weight, row)) {
                let least = &mut least[dart.register(registers as u64)];
                *least = (*least).min(dart.place((row - lowest) as u64));
            }
        }
        if least.iter().all(|&place| place != u64::MAX) {
            break;
        }
    }
    least.into_iter().map(row::name).collect()
}

fn check(weights: &[f64], registers: usize, seed: u64) {
    let keys = random(weights.len(), seed);
    let elements = Elements { keys: &keys, weights };
    let expected = by_definition(elements, seed, registers);
    for kernel in Kernel::available() {
        let mut names = vec![0; registers];
        kernel.throw(elements, seed, &mut names);
        assert_eq!(names, expected, "{kernel}: {} elements, {registers} registers", weights.len());
    }
}

proptest! {
    #[test]
    fn darts_are_the_same_in_every_kernel(
        logs in vec(-60.0..60.0f64, 1..120),
        spread in 0.0..1.0f64,
        registers in 1usize..140,
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
        vec![f64::MAX, f64::MAX, 5e-324],
        vec![1e-40, 1e-4, 1.0],
    ] {
        check(&weights, 300, 9);
    }
}

/// The darts of a row must be a Poisson process: the number of darts below a limit has this limit as mean and variance.
/// Registers must share the darts evenly and independently.
#[test]
fn darts_have_their_distribution() {
    const ROWS: u64 = 100_000;
    let mut random = SplitMix64::new(3);
    for limit in [0.01, 0.7, 9.0] {
        let (mut sum, mut squares, mut even, mut both) = (0.0, 0.0, 0.0, 0.0);
        for row in 0..ROWS {
            let (mut count, mut left) = (0.0, 0.0);
            for dart in darts(random.next_u64(), 7, row.cast_signed(), limit) {
                count += 1.0;
                left += f64::from(u8::from(dart.register(2) == 0));
            }
            sum += count;
            squares += (count - limit) * (count - limit);
            even += left;
            both += (left - limit / 2.0) * (count - left - limit / 2.0);
        }
        let n = ROWS as f64;
        let within = |name: &str, found: f64, mean: f64, variance: f64| {
            assert!(
                (found / n - mean).abs() <= 4.0 * (variance / n).sqrt(),
                "{name}: {}, not {mean}",
                found / n
            );
        };
        within("mean", sum, limit, limit);
        // The fourth central moment of a Poisson distribution with mean m is m + 3m².
        within("variance", squares, limit, limit + 2.0 * limit * limit);
        within("share of a register", even, limit / 2.0, limit / 2.0);
        within("covariance of registers", both, 0.0, limit * limit / 4.0);
    }
}
