//! Exact probabilities of decisions at the looks, by dynamic programming over the number of agreements.
//!
//! *Backward.* Of n registers, a random subset of x registers agrees. A register that is removed agrees with
//! probability x/n. This holds for every [`Law`]. So a walk from K down to 0 visits the distribution of the agreements
//! among the first k registers for every k. On the way, it can remove paths that reach a threshold at a look. The walk
//! computes the lower tail of the agreements at each look ([`tails`]), and the probability that a pair is *ever*
//! rejected ([`ever_at_most`]). Each path is removed at the last look that rejects it, so the parts are disjoint and
//! nothing has to be subtracted.
//!
//! *Forward.* Registers are compared one by one, as in a real comparison, and counted. The walk needs the probability
//! of the next agreement. This probability is known for independent registers, and for similarities that are spread
//! evenly from 0 to 1.
//!
//! Both walks take K times the width of the distribution, a fraction of K²/2 additions, and give the same bits on every
//! machine.

use super::Look;
use super::law::Law;

/// Probability mass that a walk may drop, relative to the target error: 2⁻⁷⁰, far below the rounding of this error.
const ASIDE: f64 = 1.0 / (1u128 << 70) as f64;

/// Distribution of the agreements among the first n registers, where n goes down from K.
struct Backward {
    registers: usize,
    /// Probability per number of agreements; 0 outside of `low..=high`.
    mass: Vec<f64>,
    /// Buffer for the next step.
    next: Vec<f64>,
    /// 0, 1, 2, … as floating-point numbers.
    index: Vec<f64>,
    low: usize,
    high: usize,
    negligible: f64,
    /// Mass that was dropped because it is small. Results add it in the way that makes the error largest.
    aside: f64,
}

impl Backward {
    fn new(law: &Law, error: f64) -> Self {
        let registers = law.registers();
        let mut mass = law.probabilities().to_vec();
        mass.push(0.0);
        let mut walk = Self {
            registers,
            next: vec![0.0; registers + 2],
            index: (0..=registers).map(|x| x as f64).collect(),
            mass,
            low: 0,
            high: registers,
            negligible: error * ASIDE / (registers + 1) as f64,
            aside: 0.0,
        };
        walk.narrow();
        walk
    }

    /// Walks back to the distribution of the first `registers` registers.
    fn back_to(&mut self, registers: usize) {
        while self.registers > registers {
            let n = self.registers as f64;
            let share = 1.0 / n;
            self.low = self.low.saturating_sub(1);
            let range = self.low..=self.high;
            // The slices are zipped, because compilers turn such loops into vector code.
            let here = self.mass[range.clone()].iter().zip(&self.mass[self.low + 1..=self.high + 1]);
            for ((next, (same, more)), x) in
                self.next[range.clone()].iter_mut().zip(here).zip(&self.index[range])
            {
                *next = same * ((n - x) * share) + more * ((x + 1.0) * share);
            }
            // The swapped buffer may hold values of an earlier step next to the written ones.
            self.next[self.high + 1] = 0.0;
            if let Some(below) = self.low.checked_sub(1) {
                self.next[below] = 0.0;
            }
            std::mem::swap(&mut self.mass, &mut self.next);
            self.registers -= 1;
            self.narrow();
        }
    }

    fn narrow(&mut self) {
        while self.low < self.high && self.mass[self.low] <= self.negligible {
            self.aside += std::mem::take(&mut self.mass[self.low]);
            self.low += 1;
        }
        while self.low < self.high && self.mass[self.high] <= self.negligible {
            self.aside += std::mem::take(&mut self.mass[self.high]);
            self.high -= 1;
        }
    }

    /// Removes all paths with at most `matches` agreements, and returns their probability.
    fn take(&mut self, matches: usize) -> f64 {
        let end = (matches + 1).clamp(self.low, self.high + 1);
        let taken = self.mass[self.low..end].iter().sum();
        self.mass[self.low..end].fill(0.0);
        self.low = end.min(self.high);
        taken
    }
}

/// Lower tail of the agreements at one look, in the range of errors that may be used.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    /// Smallest number of agreements whose probability is not negligible.
    first: usize,
    /// P(X ≤ first), P(X ≤ first + 1), … up to the largest error that may be used.
    sums: Vec<f64>,
}

impl Tail {
    /// Returns max{m : P(X ≤ m) ≤ e}; `None` if there is no such m.
    pub(super) fn threshold(&self, error: f64) -> Option<usize> {
        (self.first + self.sums.partition_point(|&sum| sum <= error)).checked_sub(1)
    }

    /// Returns the errors above `error` at which the threshold changes.
    pub(super) fn steps_above(&self, error: f64) -> impl Iterator<Item = f64> {
        self.sums.iter().copied().filter(move |&sum| sum > error)
    }
}

/// Returns the lower tails at the looks, which must ascend. Each tail ends at `most`; errors below `least` are not
/// needed.
pub(super) fn tails(law: &Law, looks: &[usize], least: f64, most: f64) -> Vec<Tail> {
    let mut walk = Backward::new(law, least);
    let mut tails: Vec<Tail> = looks
        .iter()
        .rev()
        .map(|&look| {
            walk.back_to(look);
            let sums = walk.mass[walk.low..=walk.high]
                .iter()
                .scan(walk.aside, |sum, mass| {
                    *sum += mass;
                    Some(*sum)
                })
                .take_while(|&sum| sum <= most)
                .collect();
            Tail { first: walk.low, sums }
        })
        .collect();
    tails.reverse();
    tails
}

/// Returns the probability that at one or more looks the agreements do not exceed the threshold of the look. If this
/// probability is above `limit`, the result may be any number above `limit`.
pub(super) fn ever_at_most(law: &Law, looks: &[usize], thresholds: &[Option<usize>], limit: f64) -> f64 {
    let mut walk = Backward::new(law, limit);
    let mut taken = 0.0;
    for (&look, threshold) in looks.iter().zip(thresholds).rev() {
        let Some(threshold) = *threshold else { continue };
        walk.back_to(look);
        taken += walk.take(threshold);
        if taken > limit {
            return taken;
        }
    }
    taken + walk.aside
}

/// Outcome of the filter for pairs of one similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FilterOutcome {
    /// Probability that a look rejects the pair.
    pub rejected: f64,
    /// Probability that a look accepts the pair.
    pub accepted: f64,
    /// Mean number of compared registers.
    pub comparisons: f64,
}

/// Computes the outcome for `registers` registers that are compared one by one until a look ends the comparison.
/// `chance` returns the probability that the next register agrees, given the numbers of agreeing and of compared
/// registers.
pub(super) fn forward(registers: usize, looks: &[Look], chance: impl Fn(f64, f64) -> f64) -> FilterOutcome {
    /// Smaller numbers are set to 0, because subnormal numbers are slow.
    const NOTHING: f64 = 1e-290;
    let mut mass = vec![0.0; registers + 1];
    mass[0] = 1.0;
    let (mut low, mut high) = (0, 0);
    let mut outcome = FilterOutcome { rejected: 0.0, accepted: 0.0, comparisons: 0.0 };
    let mut compared = 0;
    for look in looks {
        while compared < look.registers {
            let k = compared as f64;
            high += 1;
            for x in (low..=high).rev() {
                let comes = if x > low { mass[x - 1] * chance(x as f64 - 1.0, k) } else { 0.0 };
                let next = mass[x] * (1.0 - chance(x as f64, k)) + comes;
                mass[x] = if next > NOTHING { next } else { 0.0 };
            }
            while low < high && mass[low] == 0.0 {
                low += 1;
            }
            compared += 1;
        }
        let mut stop = |range: std::ops::Range<usize>| {
            let stopped: f64 = mass[range.clone()].iter().sum();
            mass[range].fill(0.0);
            outcome.comparisons += look.registers as f64 * stopped;
            stopped
        };
        outcome.rejected += look.lower.map_or(0.0, |lower| stop(0..lower + 1));
        outcome.accepted += look.upper.map_or(0.0, |upper| stop(upper..look.registers + 1));
    }
    outcome.comparisons += registers as f64 * mass.iter().sum::<f64>();
    outcome
}
