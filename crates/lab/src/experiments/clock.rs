//! Measures the times of several functions in alternation, and their ratios.
//!
//! Times are processor time of the thread. The wall clock also runs while other programs have the processor. With it,
//! confidence intervals of ratios reached up to twenty times the median on a loaded machine.
//!
//! Other programs share caches and the clock frequency, and slow all functions of a round alike. A ratio within a round
//! is therefore more accurate than two times. The median of many rounds does not change if some rounds are disturbed.

use std::fmt;
use std::hint::black_box;

use cpu_time::ThreadTime;

use crate::plot::Point;

/// Minimum time of a function per round, in seconds. A shorter function is repeated, because otherwise the clock's own
/// cost would be part of its time.
const LEAST: f64 = 0.005;

/// Seconds of each function in each round.
pub(super) struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    /// Runs each function once per round, or as often as takes 5 ms. A first round is not counted, because caches are
    /// cold; it determines how often short functions are repeated.
    pub fn take<T>(rounds: u32, ways: &[&dyn Fn() -> T]) -> Self {
        let seconds = |way: &dyn Fn() -> T, times: u32| {
            let begin = ThreadTime::now();
            for _ in 0..times {
                black_box(way());
            }
            begin.elapsed().as_secs_f64() / f64::from(times)
        };
        let times: Vec<u32> =
            ways.iter().map(|way| (LEAST / seconds(way, 1).max(1e-7)).ceil().max(1.0) as u32).collect();
        let round = |_| ways.iter().zip(&times).map(|(way, &times)| seconds(way, times)).collect();
        Self((0..rounds).map(round).collect())
    }

    /// Returns the ratio of the times of two functions.
    pub fn ratio(&self, of: usize, over: usize) -> Median {
        Median::of(self.0.iter().map(|round| round[of] / round[over]).collect())
    }
}

/// Median with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Median {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Median {
    /// Computes the median. The ends of the interval are two of the values: the number of values below the true median
    /// is binomial, and lies outside the range n/2 ± 0.98·√n in 5 of 100 cases.
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let (middle, reach) = (last as f64 / 2.0, 0.98 * (values.len() as f64).sqrt());
        let at = |rank: f64| values[(rank.max(0.0) as usize).min(last)];
        let value = f64::midpoint(at(middle.floor()), at(middle.ceil()));
        Self { value, low: at((middle - reach).floor()), high: at((middle + reach).ceil()) }
    }

    /// Reports whether the whole interval is within a range.
    pub fn is_within(self, low: f64, high: f64) -> bool {
        low <= self.low && self.high <= high
    }

    /// Returns a point of a chart, with the interval as its error bar.
    pub fn point(self, x: f64) -> Point {
        Point { x, y: self.value, error: Some((self.low, self.high)) }
    }
}

impl fmt::Display for Median {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ({:.3} to {:.3})", self.value, self.low, self.high)
    }
}

/// Explanation of the error bars of times.
pub(super) const BARS: &str =
    "Points: medians of the rounds of this run. Bars: 95 % intervals of the medians, by order statistics.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_their_ranks() {
        let median = Median::of((1..=100).rev().map(f64::from).collect());
        // The ranks are 49.5 ± 9.8, counted from 0.
        assert_eq!((median.value, median.low, median.high), (50.5, 40.0, 61.0));
        let one = Median::of(vec![3.0]);
        assert_eq!((one.value, one.low, one.high), (3.0, 3.0, 3.0));
        assert!(median.is_within(40.0, 61.0) && !median.is_within(41.0, 70.0));
    }

    /// Waiting takes no processor time; computing does.
    #[test]
    fn waiting_is_not_counted() {
        let wait = || std::thread::sleep(std::time::Duration::from_millis(20));
        let compute = || {
            black_box((0..2_000_000_u64).map(black_box).fold(0, u64::wrapping_add));
        };
        let rounds = Rounds::take(3, &[&wait, &compute]);
        assert!(rounds.0.iter().all(|round| round[0] < 0.01 && round[1] > 0.0), "{:?}", rounds.0);
    }

    #[test]
    fn a_disturbed_round_does_not_move_a_ratio() {
        let mut rounds = vec![vec![1.0, 2.0]; 20];
        rounds[3] = vec![1.0, 50.0];
        assert_eq!(Rounds(rounds).ratio(1, 0).value, 2.0);
    }

    /// A function that takes longer than 5 ms runs once per round. A shorter one is repeated, and its time is that of
    /// one repetition.
    #[test]
    fn every_way_is_timed_in_every_round() {
        let [short, long] = [std::cell::Cell::new(0), std::cell::Cell::new(0)];
        let work = |steps: u64| black_box((0..steps).map(black_box).fold(0, u64::wrapping_add));
        let shorter = || {
            short.set(short.get() + 1);
            work(10_000);
        };
        let longer = || {
            long.set(long.get() + 1);
            work(100_000_000);
        };
        let rounds = Rounds::take::<()>(5, &[&shorter, &longer]);
        assert_eq!((rounds.0.len(), long.get()), (5, 6));
        assert!(short.get() > 20, "{}", short.get());
        assert!(rounds.ratio(1, 0).low > 100.0, "{}", rounds.ratio(1, 0));
    }
}
