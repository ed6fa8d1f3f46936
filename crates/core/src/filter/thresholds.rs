//! Thresholds of all looks on one side, rejection or acceptance, for an error that the looks share.
//!
//! The thresholds are step functions of e, and the probability of ever being rejected grows with them. So only values
//! of e at which a threshold changes are tried, by bisection: a few walks for 128 registers, a dozen for 65,536.

use super::law::Law;
use super::walk::{Tail, ever_at_most, tails};

/// Allowed error on one side, for pairs exactly at the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ErrorBudget {
    /// Error e at every look. All looks together may err with e times the number of looks.
    PerLook(f64),
    /// Error α of all looks together. Each look has α divided by the number of looks.
    Bonferroni(f64),
    /// Error α of all looks together: e is the largest value at which the probability of ever erring is at most α.
    Exact(f64),
}

impl ErrorBudget {
    /// Returns the largest error of `looks` looks together.
    #[must_use]
    pub fn total(self, looks: usize) -> f64 {
        match self {
            Self::PerLook(error) => (error * looks as f64).min(1.0),
            Self::Bonferroni(error) | Self::Exact(error) => error,
        }
    }
}

impl ErrorBudget {
    /// Returns the budget of each of several filters for the same pairs, so that all filters together keep to this
    /// budget.
    #[must_use]
    pub fn shared_by(self, filters: usize) -> Self {
        let share = |error: f64| error / filters.max(1) as f64;
        match self {
            // A budget per look is the same for each look of each filter.
            Self::PerLook(_) => self,
            Self::Bonferroni(error) => Self::Bonferroni(share(error)),
            Self::Exact(error) => Self::Exact(share(error)),
        }
    }

    pub(super) fn error(self) -> f64 {
        match self {
            Self::PerLook(error) | Self::Bonferroni(error) | Self::Exact(error) => error,
        }
    }

    /// Returns the smallest e that this budget gives to `looks` looks.
    pub(super) fn least_error(self, looks: usize) -> f64 {
        match self {
            Self::PerLook(error) => error,
            Self::Bonferroni(error) | Self::Exact(error) => error / looks.max(1) as f64,
        }
    }
}

/// Thresholds of one side: for every look, the largest number of matches that is too small.
#[derive(Debug)]
pub(super) struct SideThresholds {
    pub(super) error: f64,
    pub(super) thresholds: Vec<Option<usize>>,
}

impl SideThresholds {
    /// Computes thresholds that keep to the budget under each of the distributions.
    pub(super) fn new(laws: &[Law], looks: &[usize], budget: ErrorBudget) -> Self {
        let least = budget.least_error(looks.len());
        let most = if let ErrorBudget::Exact(error) = budget { error } else { least };
        let tails: Vec<Vec<Tail>> = laws.iter().map(|law| tails(law, looks, least, most)).collect();
        let at = |error: f64| -> Vec<Option<usize>> {
            // `None` is the minimum, so a look has no threshold if one of the distributions gives it none.
            (0..looks.len())
                .map(|look| tails.iter().map(|tails| tails[look].threshold(error)).min().flatten())
                .collect()
        };
        let mut error = least;
        if let ErrorBudget::Exact(limit) = budget {
            let mut steps: Vec<f64> =
                tails.iter().flatten().flat_map(|tail| tail.steps_above(least)).collect();
            steps.sort_by(f64::total_cmp);
            steps.dedup();
            let keeps = |&step: &f64| {
                let thresholds = at(step);
                laws.iter().all(|law| ever_at_most(law, looks, &thresholds, limit) <= limit)
            };
            if let Some(last) = steps.partition_point(keeps).checked_sub(1) {
                error = steps[last];
            }
        }
        Self { error, thresholds: at(error) }
    }
}
