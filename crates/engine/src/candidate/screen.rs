//! The screen is the prefilter between candidates and verification. The screen rejects pairs by their sketches, so that
//! the documents of these pairs need not be read. The probability of rejecting a near-duplicate is at most the stated
//! error. Most pairs are rejected by their heads alone: up to four bits of each of the first values of a sketch.

use std::ops::Range;
use std::sync::Arc;

use minwise::Error;
use minwise::estimate::Estimate;
use minwise::filter::{ErrorBudget, Filter, bit_looks, default_looks, shuffle};
use minwise::sketch::{Method, ValueLayout};

use crate::candidate::head::{CROWDED, Condition, HeadRule, UNLIKE};
use crate::read::placed::{PLACED_REGISTERS, PositionSketcher};
use crate::rows::RowLayout;
use crate::settings::{Plan, Search};

/// Counts of the filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Screened {
    /// Number of pairs that the filter rejected.
    pub pairs: u64,
    /// Number of registers that the filter compared. Compared bits count as whole registers with the same number of
    /// bits.
    pub compared: u64,
    /// Number of registers of all pairs that the filter examined.
    pub registers: u64,
}

impl Screened {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.compared += other.compared;
        self.registers += other.registers;
    }
}

/// Returns the order in which the registers of a sketch are compared, or `None` if registers are exchangeable.
/// Registers are not exchangeable if neighbouring bins of one permutation hold copies of one another.
pub(crate) fn register_order(method: Method) -> Option<Vec<usize>> {
    method.copies_registers().then(|| shuffle(method.registers()))
}

/// Filter that rejects pairs by their rows.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    rules: Arc<Rules>,
}

#[derive(Debug, Default)]
struct Rules {
    /// Filters, each with the values that it compares: one for whole registers, or one per group of bits. Without
    /// filters, every pair passes.
    filters: Vec<(Filter, ValueLayout)>,
    /// Order in which registers are compared, if they are not exchangeable.
    shuffle: Option<Vec<usize>>,
    /// Rule that rejects most pairs of unlike documents by the heads of their sketches; `None` if the filter rejects no
    /// pair.
    head: Option<HeadRule>,
    /// Rule that rejects most pairs of a crowd by the heads of their sketches; `None` if the filter rejects no pair.
    crowd: Option<HeadRule>,
}

impl Screen {
    /// Returns the screen that the plan's search needs. If bands found the candidates, the screen compares their
    /// sketches. Every other search has compared sketches or shingles already, so the screen rejects nothing.
    pub(crate) fn new(plan: &Plan, rows: &RowLayout) -> Result<Self, Error> {
        match plan.search {
            Search::Banding => Self::of_all(plan, rows),
            Search::SortMerge | Search::SortMergeSketch | Search::All => Ok(Self::none()),
        }
    }

    /// Returns a screen that rejects nothing.
    pub(crate) fn none() -> Self {
        Self { rules: Arc::default() }
    }

    /// Returns the screen that compares the sketches of all pairs.
    pub(crate) fn of_all(plan: &Plan, rows: &RowLayout) -> Result<Self, Error> {
        match plan.budget() {
            None => Ok(Self::none()),
            Some(budget) => Self::of(plan.spec.method, plan.threshold, budget, plan.looks(), rows),
        }
    }

    /// Returns the screen for this method, threshold and error budget. If rows hold bits, the screen has one filter per
    /// group of bits. `looks` are numbers of registers, and replace the default looks.
    pub(crate) fn of(
        method: Method,
        threshold: f64,
        budget: ErrorBudget,
        looks: Option<&[usize]>,
        rows: &RowLayout,
    ) -> Result<Self, Error> {
        let shuffle = register_order(method);
        // If registers of a sketch are copies of one another, their bits depend on one another too. A distribution for
        // this is known only for whole registers.
        let filters: Vec<(Filter, ValueLayout)> = match rows.bit_rows() {
            Some(_) if shuffle.is_some() => vec![],
            Some(bits) => {
                let laws: Vec<(usize, f64)> = bits.laws(threshold).collect();
                let budget = budget.shared_by(laws.len());
                let groups = laws.into_iter().zip(bits.values().zip(bits.registers()));
                groups
                    .map(|((values, probability), (place, (first, together)))| {
                        let looks = looks.map_or_else(
                            || bit_looks(values),
                            |looks| looks_of_group(looks, first, together, values),
                        );
                        Ok((Filter::new(probability, values, &looks, budget)?, place))
                    })
                    .collect::<Result<_, Error>>()?
            }
            None => {
                let registers = method.registers();
                let looks = looks.map_or_else(|| default_looks(registers), <[usize]>::to_vec);
                let filter = Filter::of(method, threshold, 1, &looks, budget)?;
                filter.into_iter().map(|filter| (filter, ValueLayout::registers(registers))).collect()
            }
        };
        let [head, crowd] = [UNLIKE, CROWDED].map(|similarity| {
            let conditions =
                filters.iter().flat_map(|(filter, values)| Condition::of_filter(*values, filter));
            HeadRule::best(conditions, similarity)
        });
        Ok(Self { rules: Arc::new(Rules { filters, shuffle, head, crowd }) })
    }

    /// Reports whether the screen compares rows at all.
    pub(crate) fn asks(&self) -> bool {
        !self.rules.filters.is_empty()
    }

    /// Returns the rule that rejects most pairs by the heads of their sketches; `None` if the filter rejects no pair.
    pub(crate) fn rule(&self) -> Option<HeadRule> {
        self.rules.head
    }

    /// Returns the rule that rejects most pairs of a crowd by the heads of their sketches; `None` if the filter rejects
    /// no pair.
    pub(crate) fn crowd_rule(&self) -> Option<HeadRule> {
        self.rules.crowd
    }

    /// Returns the number of registers, or of values of bits, that the filters cover.
    pub(crate) fn registers(&self) -> u64 {
        self.rules.filters.iter().map(|(filter, _)| filter.registers() as u64).sum()
    }

    /// Reports whether the pair is rejected, and counts the compared registers.
    pub(crate) fn rejects(&self, rows: &RowLayout, a: &[u32], b: &[u32], screened: &mut Screened) -> bool {
        let (a, b) = match (rows.bits(a), rows.bits(b)) {
            (Some((_, a)), Some((_, b))) => (a, b),
            _ => (a, b),
        };
        match &self.rules.shuffle {
            None => self.rejects_compared(a, b, screened),
            Some(order) => self
                .rejects_by(screened, |_, range| order[range].iter().filter(|&&at| a[at] == b[at]).count()),
        }
    }

    /// Does the same as [`rejects`](Self::rejects) for rows that consist only of the compared words, in the order of
    /// comparison.
    pub(crate) fn rejects_compared(&self, a: &[u32], b: &[u32], screened: &mut Screened) -> bool {
        // Nearly every run compares whole registers, whose matches are counted without a layout of bits at each look.
        if let [(filter, values)] = &self.rules.filters[..]
            && values.are_registers()
        {
            let screening = filter.screen(a, b);
            screened.registers += filter.registers() as u64;
            screened.compared += screening.compared as u64;
            screened.pairs += u64::from(screening.rejected);
            return screening.rejected;
        }
        self.rejects_by(screened, |values, range| range.len() - values.different_within(a, b, range))
    }

    #[inline]
    fn rejects_by(
        &self,
        screened: &mut Screened,
        count: impl Fn(ValueLayout, Range<usize>) -> usize,
    ) -> bool {
        let mut rejected = false;
        for (filter, values) in &self.rules.filters {
            screened.registers += filter.registers() as u64;
            if !rejected {
                let screening = filter.screen_by(|range| count(*values, range));
                screened.compared += screening.compared as u64;
                rejected = screening.rejected;
            }
        }
        screened.pairs += u64::from(rejected);
        rejected
    }

    /// Appends the words of a row in the order of comparison. `row` has only the compared words.
    pub(crate) fn extend_compared(&self, row: &[u32], out: &mut Vec<u32>) {
        match &self.rules.shuffle {
            None => out.extend_from_slice(row),
            Some(order) => out.extend(order.iter().map(|&at| row[at])),
        }
    }
}

/// Converts looks in registers to looks in the values of a group. Looks without a value of the group and repeated looks
/// are left out.
fn looks_of_group(looks: &[usize], first: usize, together: usize, values: usize) -> Vec<usize> {
    let mut own: Vec<usize> =
        looks.iter().map(|&look| (look.saturating_sub(first) / together).min(values)).collect();
    own.dedup();
    own.retain(|&look| look > 0);
    own
}

/// Finds pairs whose shared shingles are clearly at different positions.
#[derive(Debug)]
pub(crate) struct OrderScreen {
    placed: PositionSketcher,
    /// For each number of agreeing registers, the maximum number of aligned registers with which a pair is rejected.
    lower: Vec<Option<usize>>,
    threshold: f64,
}

/// Pair that was rejected because of its order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Misaligned {
    /// Estimated similarity, if it may reach the threshold.
    pub similar: Option<Estimate>,
    /// Estimated alignment share.
    pub alignment: Estimate,
}

impl OrderScreen {
    pub(crate) fn new(plan: &Plan) -> Result<Option<Self>, Error> {
        let (Some(order), Some(error)) = (plan.order, plan.filter) else { return Ok(None) };
        let lower = (0..=PLACED_REGISTERS)
            .map(|agreeing| match agreeing {
                0 => Ok(None),
                // If all shared shingles must be aligned, a single one at another position rejects the pair.
                _ if order == 1.0 => Ok(Some(agreeing - 1)),
                _ => {
                    let filter = Filter::new(order, agreeing, &[agreeing], ErrorBudget::Exact(error))?;
                    Ok(filter.looks().first().and_then(|look| look.lower))
                }
            })
            .collect::<Result<_, Error>>()?;
        let placed = PositionSketcher::new(plan.spec.seed)?;
        Ok(Some(Self { placed, lower, threshold: plan.threshold }))
    }

    /// Rejects a pair if the probability that a sufficiently aligned pair has these sketches is at most the stated
    /// error.
    pub(crate) fn rejects(&self, a: &[u32], b: &[u32]) -> Option<Misaligned> {
        let matches = self.placed.matches(a, b);
        // Shingles that agree by chance can be neglected: among n pairs of shingles, n/2³² agree by chance.
        let lower = self.lower[matches.minima]?;
        if matches.aligned > lower {
            return None;
        }
        let similarity = matches.similarity();
        let similar = (similarity.interval.1 >= self.threshold).then_some(similarity);
        Some(Misaligned { similar, alignment: matches.alignment_rate()? })
    }
}
