//! Binomial distribution, computed in a simple way.
//!
//! The filter of the library has its own implementation of this distribution. The experiments check its decisions
//! against this one, which shares no code with it.

/// Distribution of the number of successes in n trials.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Binomial {
    probabilities: Vec<f64>,
}

impl Binomial {
    /// Returns the distribution for `trials` trials that succeed with this probability.
    pub fn new(trials: usize, probability: f64) -> Self {
        let mut probabilities = vec![0.0; trials + 1];
        let mode = ((trials + 1) as f64 * probability).floor().min(trials as f64) as usize;
        // The values are computed from the mode to both sides, each from its neighbour, and then scaled to sum to 1.
        probabilities[mode] = 1.0;
        let odds = probability / (1.0 - probability);
        for x in mode..trials {
            probabilities[x + 1] = probabilities[x] * odds * (trials - x) as f64 / (x + 1) as f64;
        }
        for x in (0..mode).rev() {
            probabilities[x] = probabilities[x + 1] / odds * (x + 1) as f64 / (trials - x) as f64;
        }
        let total: f64 = probabilities.iter().sum();
        for probability in &mut probabilities {
            *probability /= total;
        }
        Self { probabilities }
    }

    /// Returns P(X = x) for each x.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Returns P(X ≥ x) for each x, and 0 after the last x.
    pub fn tails(&self) -> Vec<f64> {
        let mut tails = vec![0.0; self.probabilities.len() + 1];
        for (x, p) in self.probabilities.iter().enumerate().rev() {
            tails[x] = tails[x + 1] + p;
        }
        tails
    }

    /// Returns P(X ≤ x), summed from the smallest x.
    pub fn at_most(&self, x: usize) -> f64 {
        self.probabilities.iter().take(x + 1).sum()
    }

    /// Returns P(X ≥ x), summed from the largest x.
    pub fn at_least(&self, x: usize) -> f64 {
        self.probabilities.iter().skip(x).rev().sum()
    }

    /// Returns the probability of the values for which `is_one` is true.
    pub fn probability(&self, is_one: impl Fn(usize) -> bool) -> f64 {
        self.probabilities.iter().enumerate().filter(|(x, _)| is_one(*x)).map(|(_, p)| p).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers() {
        let law = Binomial::new(3, 0.5);
        assert_eq!(
            (law.at_most(0), law.at_most(1), law.at_least(2), law.at_least(4)),
            (0.125, 0.5, 0.5, 0.0)
        );
        assert_eq!(law.probability(|x| x == 1 || x == 2), 0.75);
        assert_eq!(Binomial::new(2, 0.0).at_most(0), 1.0);
        assert_eq!(law.tails(), [1.0, 0.875, 0.5, 0.125, 0.0]);
    }

    /// The tails are those of docs/sources/filter.md#thresholds.
    #[test]
    fn tails_of_the_digest() {
        let law = Binomial::new(100, 0.8);
        for (found, expected) in [
            (law.at_most(61), 9.683_793e-6),
            (law.at_least(96), 3.703_173e-6),
            (law.at_most(5), 9.901_45e-60),
        ] {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }
    }
}
