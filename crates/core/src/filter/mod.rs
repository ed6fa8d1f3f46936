//! The filter: rejects candidates that cannot be near-duplicates after comparing a few registers.
//!
//! - **Paper.** [Yuan 2019](crate#sources), §5, "early termination", with errata E-47 to E-52 and E-58.
//! - **Idea.** Registers are compared in portions. A *look* after k registers rejects a pair with far fewer agreements
//!   than a pair at the threshold would have. Most pairs of unlike documents end at the first look.
//! - **Symbols.** k₁ < … < kₙ → `looks`; K → `registers`; X → `matches`; T → the probability that a register of two
//!   documents at the threshold agrees; e → the error at one look; α → the error at all looks together.
//! - **Formula.** `m_lower` = max{m : P(X ≤ m) ≤ e} and `m_upper` = min{m : P(X ≥ m) ≤ e}. Both are computed at the
//!   threshold, which is the worst case, because P(X ≤ m) falls with the similarity. A look rejects at X ≤ `m_lower`
//!   and accepts at X ≥ `m_upper`.
//! - **Cost.** Making a filter takes a few walks of at most K²/2 steps each: 3 ms for 1024 registers, one second for
//!   1024 densified bins. A comparison takes two integer comparisons per look.
//! - **Error.** All looks together reject a pair at the threshold with probability α at most, and a more similar pair
//!   with a smaller probability. Yuan 2019 allows e at each look, which amounts to five times e at nine looks (E-51).
//! - **Differs.** The tables of Yuan 2019 are shifted by one and computed on a grid (E-47, E-48), and for small k a
//!   threshold may not exist (E-58). Between candidates and verification only rejection is used ([`Filter::screen`]).
//!   Early acceptance reports similarities that are too high (E-51), and a final comparison with T·K loses half of the
//!   pairs at the threshold; [`Filter::decide`] has both, for estimates without verification. A small P(X ≤ m) does not
//!   prove that a pair is dissimilar (E-50).
//! - **Vectors.** Another program computed the golden values from the definition.
//!
//! | budget | error of all looks | use |
//! |---|---|---|
//! | [`ErrorBudget::Exact`] | α, as nearly as integers allow | always |
//! | [`ErrorBudget::Bonferroni`] | at most α, often half of it | to check `Exact` |
//! | [`ErrorBudget::PerLook`] | up to n·e | to compare with Yuan 2019 |

mod compare;
mod densified;
mod dependence;
mod law;
mod looks;
mod stored;
mod thresholds;
mod walk;

pub use compare::{FilterDecision, Screening};
pub use dependence::Dependence;
pub use looks::{bit_looks, default_looks, shuffle};
pub use thresholds::ErrorBudget;
pub use walk::FilterOutcome;

use crate::error::Error;
use crate::sketch::Method;
use law::Law;
use thresholds::SideThresholds;

/// Maximum number of registers of a filter.
const MOST_REGISTERS: usize = 1 << 16;

/// Smallest error that a budget may have. It is far above the smallest probabilities of the distributions.
const LEAST_ERROR: f64 = 1e-200;

/// A number of compared registers at which a comparison may end, with its thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct Look {
    /// k: number of registers that have been compared.
    pub registers: usize,
    /// Largest number of matches with which the look rejects a pair; `None` if it rejects no pair.
    pub lower: Option<usize>,
    /// Smallest number of matches with which the look accepts a pair; `None` if it accepts no pair.
    pub upper: Option<usize>,
}

impl Look {
    /// Returns the share of pairs that the look would reject if similarities were spread evenly from 0 to 1: (`m_lower`
    /// + 1)/(k + 1).
    #[must_use]
    pub fn rejection_rate(&self) -> f64 {
        self.lower.map_or(0.0, |lower| (lower + 1) as f64 / (self.registers + 1) as f64)
    }

    /// Returns the share of pairs that the look would accept if similarities were spread evenly from 0 to 1: (k −
    /// `m_upper` + 1)/(k + 1).
    #[must_use]
    pub fn acceptance_rate(&self) -> f64 {
        self.upper.map_or(0.0, |upper| (self.registers + 1 - upper) as f64 / (self.registers + 1) as f64)
    }
}

/// Ways to use a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Use {
    /// Only reject pairs; all other pairs are verified ([`Filter::screen`]).
    Screen,
    /// Reject and accept pairs ([`Filter::decide`]).
    Decide,
}

/// Looks with their thresholds, for pairs of sketches of one kind and for one similarity threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    registers: usize,
    /// Smallest number of matches of all registers with which a pair counts as similar: ⌈T·K⌉.
    needed: usize,
    looks: Vec<Look>,
    error_per_look: f64,
}

impl Filter {
    /// Creates a filter for `registers` registers. If the documents are exactly at the threshold, each register agrees
    /// with probability `probability`, independently or with a negative dependence.
    ///
    /// Looks that can decide nothing are dropped. If none remains, every pair passes.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `probability` is above 0 and below 1,
    /// `registers` is from 1 to 65,536, the error of `budget` is from 1e-200 to 0.5, and `looks` ascend from 1 to at
    /// most `registers`.
    pub fn new(
        probability: f64,
        registers: usize,
        looks: &[usize],
        budget: ErrorBudget,
    ) -> Result<Self, Error> {
        check(probability, registers, looks, budget)?;
        let law = [Law::independent(probability, registers)];
        Ok(Self::of_laws(probability, &law, &law, looks, budget))
    }

    /// Returns a filter for sketches of kind `method` and documents whose similarity must reach `threshold`. Returns
    /// `None` if such sketches cannot be compared register by register; then all pairs must be verified.
    ///
    /// The two documents of a pair have at least `shingles` distinct shingles together. This number matters only for
    /// sketches with [`Dependence::Positive`]. A filter for such sketches must not be used for pairs with fewer
    /// shingles, and never accepts early.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) under the conditions of [`new`](Self::new),
    /// with `threshold` in place of the probability and the registers of `method`.
    pub fn of(
        method: Method,
        threshold: f64,
        shingles: usize,
        looks: &[usize],
        budget: ErrorBudget,
    ) -> Result<Option<Self>, Error> {
        let Some((chance, dependence)) = dependence::of(method) else { return Ok(None) };
        let registers = method.registers();
        check(threshold, registers, looks, budget)?;
        let probability = chance + (1.0 - chance) * threshold;
        let Dependence::Positive(densification) = dependence else {
            return Self::new(probability, registers, looks, budget).map(Some);
        };
        if registers > densified::MOST_REGISTERS {
            return Ok(None);
        }
        let floor = budget.least_error(looks.len()) * densified::FLOOR;
        let laws: Vec<Law> = densified::laws(densification, threshold, shingles, registers, floor)
            .into_iter()
            .map(|law| if chance > 0.0 { law.with_chance(chance, floor) } else { law })
            .collect();
        Ok(Some(Self::of_laws(probability, &laws, &[], looks, budget)))
    }

    /// Returns a filter from distributions of pairs at the threshold: `below` for pairs that must not be rejected,
    /// `above` for pairs that must not be accepted.
    fn of_laws(probability: f64, below: &[Law], above: &[Law], looks: &[usize], budget: ErrorBudget) -> Self {
        let registers = below[0].registers();
        let lower = SideThresholds::new(below, looks, budget);
        let mirrored: Vec<Law> = above.iter().map(Law::mirrored).collect();
        let upper = SideThresholds::new(&mirrored, looks, budget);
        let looks = looks
            .iter()
            .zip(lower.thresholds.iter().zip(&upper.thresholds))
            .map(|(&registers, (&lower, upper))| Look {
                registers,
                lower,
                upper: upper.map(|m| registers - m),
            })
            .filter(|look| look.lower.is_some() || look.upper.is_some())
            .collect();
        // The share m/K and the threshold round to the same number if they are equal, but the product T·K may not round
        // to m.
        let reaches = |matches: usize| matches as f64 / registers as f64 >= probability;
        let needed = (0..registers).find(|&matches| reaches(matches)).unwrap_or(registers);
        Self { registers, needed, looks, error_per_look: lower.error }
    }

    /// Returns the looks in ascending order of registers.
    #[must_use]
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Returns K, the number of registers.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Returns e: the largest probability with which one look rejects a pair at the threshold.
    #[must_use]
    pub fn error_per_look(&self) -> f64 {
        self.error_per_look
    }

    /// Reports whether look number `look` rejects a pair with `matches` matches.
    ///
    /// # Panics
    /// Panics if there is no such look.
    #[inline]
    #[must_use]
    pub fn rejects(&self, look: usize, matches: usize) -> bool {
        self.looks[look].lower.is_some_and(|lower| matches <= lower)
    }

    /// Returns the outcome for pairs whose registers agree with this probability, independently of each other.
    ///
    /// The values are exact up to rounding, except that [`decide`](Self::decide) saves a few more comparisons, because
    /// it ends when the remaining registers cannot change the decision.
    #[must_use]
    pub fn outcome(&self, probability: f64, purpose: Use) -> FilterOutcome {
        self.walk(purpose, |_, _| probability)
    }

    /// Returns the outcome for pairs whose registers agree with a probability that is spread evenly from 0 to 1.
    #[must_use]
    pub fn outcome_of_even_spread(&self, purpose: Use) -> FilterOutcome {
        // Laplace's rule of succession gives the probability of the next agreement.
        self.walk(purpose, |matches, compared| (matches + 1.0) / (compared + 2.0))
    }

    /// Returns the mean number of compared registers, for pairs whose registers agree with this probability.
    #[must_use]
    pub fn expected_comparisons(&self, probability: f64, purpose: Use) -> f64 {
        self.outcome(probability, purpose).comparisons
    }

    fn walk(&self, purpose: Use, chance: impl Fn(f64, f64) -> f64) -> FilterOutcome {
        match purpose {
            Use::Decide => walk::forward(self.registers, &self.looks, chance),
            Use::Screen => {
                let rejecting = self.looks.iter().filter(|look| look.lower.is_some());
                let looks: Vec<Look> = rejecting.map(|&look| Look { upper: None, ..look }).collect();
                // `screen` compares no registers after its last look.
                walk::forward(looks.last().map_or(0, |look| look.registers), &looks, chance)
            }
        }
    }
}

fn check(probability: f64, registers: usize, looks: &[usize], budget: ErrorBudget) -> Result<(), Error> {
    // Comparisons with NaN are false, so `!(a && b)` refuses NaN too.
    if !(probability > 0.0 && probability < 1.0) {
        let setting = "the threshold of the filter";
        return Err(Error::out_of_range(setting, probability, "above 0 and below 1"));
    }
    if !(1..=MOST_REGISTERS).contains(&registers) {
        return Err(Error::out_of_range("the number of registers", registers, "from 1 to 65,536"));
    }
    let error = budget.error();
    if !(LEAST_ERROR..=0.5).contains(&error) {
        return Err(Error::out_of_range(
            "the error of the filter",
            error,
            "above 0 (1e-200 or more) and at most 0.5",
        ));
    }
    let mut before = 0;
    for &look in looks {
        if look <= before || look > registers {
            let expected = format!("above {before}, the look before it, and at most {registers}");
            return Err(Error::out_of_range("a look of the filter", look, &expected));
        }
        before = look;
    }
    Ok(())
}
