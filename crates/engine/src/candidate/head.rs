//! Chooses the head that rejects pairs of unlike documents at the least cost. A head is up to four bits of each of the
//! first values of a sketch.
//!
//! A longer head rejects more pairs, but takes longer to compare. [`HeadRule::best`] weighs both, for every look at
//! which pairs can be rejected and every number of bits. One byte of each of the first 16 registers would reject as
//! many pairs as two bits of 64 registers, with as many instructions, but would need a second kernel.

use std::f64::consts::TAU;
use std::ops::Range;

use minwise::filter::Filter;
use minwise::kernel::Kernel;
use minwise::kernel::compare::heads::Heads;
use minwise::sketch::{HeadShape, ValueLayout};

/// Similarity of two unrelated documents. Unrelated English texts have about this similarity.
pub(crate) const UNLIKE: f64 = 0.02;
/// Similarity of two documents of a crowd. Filled-in copies of a form and near-copies of a text have about this
/// similarity.
pub(crate) const CROWDED: f64 = 0.45;
/// Cost of [`Kernel::near`] in instructions per eight pairs: `WORD_COST` per word of a head, `GROUP_COST` per group of
/// 64 values, and a fixed `BLOCK_COST`.
const WORD_COST: f64 = 2.0;
const GROUP_COST: f64 = 2.0;
const BLOCK_COST: f64 = 4.0;
/// Number of instructions to compare the rows of eight pairs.
const ROW_COST: f64 = 1000.0;

/// Returns the number of instructions that [`Kernel::near`] takes per eight heads of this shape.
pub(crate) fn near_cost(groups: usize, planes: usize) -> f64 {
    BLOCK_COST + groups as f64 * (GROUP_COST + WORD_COST * planes as f64)
}

/// Rule that leaves a pair open or rejects it by the heads of both sketches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadRule {
    values: ValueLayout,
    shape: HeadShape,
    /// Maximum number of values in which the heads of an open pair differ.
    most: usize,
}

/// Necessary condition for similar pairs: at most `most` of the first `first` values differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Condition {
    pub(crate) values: ValueLayout,
    pub(crate) first: usize,
    pub(crate) most: usize,
}

impl Condition {
    /// Returns the conditions of a filter that only rejects, one per look.
    pub(crate) fn of_filter(values: ValueLayout, filter: &Filter) -> impl Iterator<Item = Self> {
        filter.looks().iter().filter_map(move |look| {
            let most = look.registers.checked_sub(look.lower? + 1)?;
            Some(Self { values, first: look.registers, most })
        })
    }

    /// Returns the cost of screening documents of this similarity: the cost of [`Kernel::near`] with `planes` planes,
    /// and the cost of the pairs that it does not reject.
    fn cost(&self, planes: usize, similarity: f64) -> f64 {
        let shape = HeadShape { values: self.first, planes };
        let chance = similarity + (1.0 - similarity) / f64::from(1_u32 << planes);
        let open = at_most(self.most, self.first, 1.0 - chance);
        near_cost(shape.groups(), planes) + ROW_COST * open
    }
}

/// Returns the probability that at most `most` of n values differ, if each differs with `probability`. Bahadur and
/// Rao's form of Chernoff's bound gives it with an error of a few per cent.
fn at_most(most: usize, n: usize, probability: f64) -> f64 {
    // If `most` is 0, half a value replaces it, because the logarithm of 0 is infinite.
    let (share, n) = ((most as f64).max(0.5) / n as f64, n as f64);
    if share >= probability {
        return 1.0;
    }
    let distance =
        share * (share / probability).ln() + (1.0 - share) * ((1.0 - share) / (1.0 - probability)).ln();
    let ratio = share * (1.0 - probability) / ((1.0 - share) * probability);
    ((-n * distance).exp() / ((TAU * n * share * (1.0 - share)).sqrt() * (1.0 - ratio))).min(1.0)
}

impl HeadRule {
    /// Returns the head that screens pairs of documents of this similarity at the least cost, or `None` if there are no
    /// conditions.
    pub(crate) fn best(conditions: impl Iterator<Item = Condition>, similarity: f64) -> Option<Self> {
        conditions
            .filter(|condition| condition.first > 0)
            .flat_map(|condition| (1..=condition.values.most_planes()).map(move |planes| (condition, planes)))
            .map(|(condition, planes)| (condition.cost(planes, similarity), condition, planes))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, Condition { values, first, most }, planes)| Self {
                values,
                shape: HeadShape { values: first, planes },
                most,
            })
    }

    /// Returns the number of whole values that have as many bits as a head.
    pub(crate) fn compared(&self) -> usize {
        (self.shape.values * self.shape.planes).div_ceil(self.values.bits())
    }

    /// Returns the number of instructions that [`Kernel::near`] takes per eight pairs.
    pub(crate) fn cost(&self) -> f64 {
        near_cost(self.shape.groups(), self.shape.planes)
    }

    /// Creates an empty list of heads.
    pub(crate) fn heads(&self) -> Heads {
        Heads::new(self.shape.groups(), self.shape.planes)
    }

    /// Adds the head of a row.
    pub(crate) fn push(&self, row: &[u32], heads: &mut Heads) {
        let mut head = vec![0; heads.words()];
        self.values.head_into(row, self.shape, &mut head);
        heads.push(&head);
    }

    /// Appends to `open`, in ascending order, the heads in `range` that the rule does not reject against head `of` of
    /// `probes`.
    pub(crate) fn screen(
        &self,
        probes: &Heads,
        of: usize,
        heads: &Heads,
        range: Range<usize>,
        kernel: Kernel,
        open: &mut Vec<u32>,
    ) {
        kernel.near(probes, of, heads, range, self.most, open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_approximation_is_near_the_sum() {
        for (most, n, probability) in
            [(21, 64, 0.5), (28, 64, 0.75), (40, 64, 0.94), (102, 256, 0.5), (5, 16, 0.9)]
        {
            let mut term = (1.0_f64 - probability).powf(n as f64);
            let mut sum = 0.0;
            for k in 0..=most {
                sum += term;
                term *= (n - k) as f64 / (k + 1) as f64 * probability / (1.0 - probability);
            }
            let found = at_most(most, n, probability);
            assert!((found / sum).ln().abs() < 0.2, "{found} for {sum}");
        }
    }
}
