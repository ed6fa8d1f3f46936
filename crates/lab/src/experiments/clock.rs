//! Times of several ways to do something, taken in turns, and their ratios.
//!
//! A machine that does other work slows all ways of a round alike, so a ratio within a round says more than two times do. The
//! median of many rounds does not move if some of them are disturbed.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use crate::plot::Point;

/// Seconds of each way in each round.
pub(super) struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    /// Does each of the ways once per round. One round goes before and is not counted, because it finds cold caches.
    pub fn take<T>(rounds: u32, ways: &[&dyn Fn() -> T]) -> Self {
        let seconds = |way: &&dyn Fn() -> T| {
            let begin = Instant::now();
            black_box(way());
            begin.elapsed().as_secs_f64()
        };
        let round = |_| ways.iter().map(seconds).collect();
        Self((0..=rounds).map(round).skip(1).collect())
    }

    /// The time of one way over that of another.
    pub fn ratio(&self, of: usize, over: usize) -> Median {
        Median::of(self.0.iter().map(|round| round[of] / round[over]).collect())
    }
}

/// A median and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Median {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Median {
    /// The interval is between two of the values: the number of values below the median of their law is binomial, and leaves the
    /// range n/2 ± 0.98·√n in 5 of 100 cases.
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let (middle, reach) = (last as f64 / 2.0, 0.98 * (values.len() as f64).sqrt());
        let at = |rank: f64| values[(rank.max(0.0) as usize).min(last)];
        let value = f64::midpoint(at(middle.floor()), at(middle.ceil()));
        Self { value, low: at((middle - reach).floor()), high: at((middle + reach).ceil()) }
    }

    /// A point of a chart, with the interval as its bar.
    pub fn point(self, x: f64) -> Point {
        Point { x, y: self.value, error: Some((self.low, self.high)) }
    }

    /// Whether the interval has something in common with a range.
    pub fn meets(self, low: f64, high: f64) -> bool {
        self.low <= high && low <= self.high
    }
}

impl fmt::Display for Median {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ({:.3} to {:.3})", self.value, self.low, self.high)
    }
}

/// How bars of times are to be read.
pub(super) const BARS: &str =
    "Points: medians of the rounds of this run. Bars: 95 % intervals of the medians, by order statistics.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_their_ranks() {
        let median = Median::of((1..=100).rev().map(f64::from).collect());
        // Ranks 49.5 ± 9.8, counted from 0.
        assert_eq!((median.value, median.low, median.high), (50.5, 40.0, 61.0));
        let one = Median::of(vec![3.0]);
        assert_eq!((one.value, one.low, one.high), (3.0, 3.0, 3.0));
        assert!(median.meets(61.0, 70.0) && !median.meets(61.5, 70.0) && !median.meets(0.0, 39.0));
    }

    #[test]
    fn a_disturbed_round_does_not_move_a_ratio() {
        let mut rounds = vec![vec![1.0, 2.0]; 20];
        rounds[3] = vec![1.0, 50.0];
        assert_eq!(Rounds(rounds).ratio(1, 0).value, 2.0);
    }

    #[test]
    fn every_way_is_timed_in_every_round() {
        let count = std::cell::Cell::new(0);
        let (short, long) = (|| count.set(count.get() + 1), || count.set(count.get() + 100));
        let rounds = Rounds::take::<()>(5, &[&short, &long]);
        assert_eq!((rounds.0.len(), count.get()), (5, 6 * 101));
        assert!(rounds.ratio(1, 0).value >= 0.0);
    }
}
