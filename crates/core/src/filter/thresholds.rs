//! Thresholds of all looks, on one side, for an error that they share.
//!
//! The thresholds are steps in e, and the probability of ever being rejected grows with them. So it is enough to try
//! the values of e at which one of them changes, and since it grows, to halve their list again and again: a
//! handful of walks for 128 registers, a dozen for 65 536.

use super::law::Law;
use super::walk::{Tail, ever_at_most, tails};

/// How large an error is allowed, for pairs exactly at the threshold and on one side.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ErrorBudget {
    /// e at every look; all looks together may err up to as many times as there are looks.
    PerLook(f64),
    /// α for all looks, of which each has the n-th part.
    Bonferroni(f64),
    /// α for all looks: the greatest e at which the probability of ever erring is not above α.
    Exact(f64),
}

impl ErrorBudget {
    /// The error of so many looks together, at most.
    #[must_use]
    pub fn total(self, looks: usize) -> f64 {
        match self {
            Self::PerLook(error) => (error * looks as f64).min(1.0),
            Self::Bonferroni(error) | Self::Exact(error) => error,
        }
    }
}

impl ErrorBudget {
    /// The part that each of some filters has that are asked about the same pairs, so that all of them keep to it.
    #[must_use]
    pub fn shared_by(self, filters: usize) -> Self {
        let share = |error: f64| error / filters.max(1) as f64;
        match self {
            // An error per look is what it is called, for each look of each filter.
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

    /// The least e that it comes to at so many looks.
    pub(super) fn least_error(self, looks: usize) -> f64 {
        match self {
            Self::PerLook(error) => error,
            Self::Bonferroni(error) | Self::Exact(error) => error / looks.max(1) as f64,
        }
    }
}

/// The thresholds of one side: the most matches that are too few, at every look.
#[derive(Debug)]
pub(super) struct SideThresholds {
    pub(super) error: f64,
    pub(super) thresholds: Vec<Option<usize>>,
}

impl SideThresholds {
    /// Thresholds that keep to the budget under each of the laws.
    pub(super) fn new(laws: &[Law], looks: &[usize], budget: ErrorBudget) -> Self {
        let least = budget.least_error(looks.len());
        let most = if let ErrorBudget::Exact(error) = budget { error } else { least };
        let tails: Vec<Vec<Tail>> = laws.iter().map(|law| tails(law, looks, least, most)).collect();
        let at = |error: f64| -> Vec<Option<usize>> {
            // Without a threshold under one of the laws there is none: `None` is the least.
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
