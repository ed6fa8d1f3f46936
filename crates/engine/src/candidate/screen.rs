//! Between candidates and verification: pairs that cannot be near-duplicates, but for a stated error, are put aside by
//! their sketches, so that their documents need not be read.

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

/// What the filter did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Screened {
    /// Pairs that it put aside.
    pub pairs: u64,
    /// Registers that it compared. If it compared a few bits of several registers, those that have as many bits.
    pub compared: u64,
    /// Registers that all pairs it saw have.
    pub registers: u64,
}

impl Screened {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.compared += other.compared;
        self.registers += other.registers;
    }
}

/// The order in which the registers of a sketch are compared, where they are not exchangeable: neighbouring bins of one
/// permutation hold copies of one another.
pub(crate) fn register_order(method: Method) -> Option<Vec<usize>> {
    method.copies_registers().then(|| shuffle(method.registers()))
}

/// Rejects pairs by their rows.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    rules: Arc<Rules>,
}

#[derive(Debug, Default)]
struct Rules {
    /// One filter for registers, one for each group of bits, with the values that it is about; none lets every pair pass.
    filters: Vec<(Filter, ValueLayout)>,
    /// The order in which registers are compared, where they are not exchangeable.
    shuffle: Option<Vec<usize>>,
    /// The head that rejects most pairs of unlike documents, if any pair can be rejected.
    head: Option<HeadRule>,
    /// The head that rejects most pairs of a crowd, if any pair can be rejected.
    crowd: Option<HeadRule>,
}

impl Screen {
    /// For candidates that bands gave; whoever counts what is shared, or compares all rows, has asked the sketches already.
    pub(crate) fn new(plan: &Plan, rows: &RowLayout) -> Result<Self, Error> {
        match plan.search {
            Search::Banding => Self::of_all(plan, rows),
            Search::SortMerge | Search::SortMergeSketch | Search::All => Ok(Self::none()),
        }
    }

    /// Rejects nothing.
    pub(crate) fn none() -> Self {
        Self { rules: Arc::default() }
    }

    /// For all pairs.
    pub(crate) fn of_all(plan: &Plan, rows: &RowLayout) -> Result<Self, Error> {
        match plan.budget() {
            None => Ok(Self::none()),
            Some(budget) => Self::of(plan.spec.method, plan.threshold, budget, plan.looks(), rows),
        }
    }

    /// For rows of one form, with these looks, in registers, instead of those that are taken otherwise.
    pub(crate) fn of(
        method: Method,
        threshold: f64,
        budget: ErrorBudget,
        looks: Option<&[usize]>,
        rows: &RowLayout,
    ) -> Result<Self, Error> {
        let shuffle = register_order(method);
        // Copies within a sketch make bits of it dependent too, in a way that only whole registers have a law for.
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

    /// Whether rows are asked at all.
    pub(crate) fn asks(&self) -> bool {
        !self.rules.filters.is_empty()
    }

    /// The head by which pairs are rejected in bulk, if any pair can be.
    pub(crate) fn rule(&self) -> Option<HeadRule> {
        self.rules.head
    }

    /// The same for the documents of a crowd, which are alike in much.
    pub(crate) fn crowd_rule(&self) -> Option<HeadRule> {
        self.rules.crowd
    }

    /// Registers, or values of bits, that the filters are about.
    pub(crate) fn registers(&self) -> u64 {
        self.rules.filters.iter().map(|(filter, _)| filter.registers() as u64).sum()
    }

    /// Whether the pair is put aside; counts what was compared.
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

    /// The same for rows whose words are only those that are compared, in the order of comparison.
    pub(crate) fn rejects_compared(&self, a: &[u32], b: &[u32], screened: &mut Screened) -> bool {
        // Nearly every run asks whole registers, for which nothing has to be found out at each look.
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

    /// Appends the words of a row in the order of comparison, given those that are compared.
    pub(crate) fn extend_compared(&self, row: &[u32], out: &mut Vec<u32>) {
        match &self.rules.shuffle {
            None => out.extend_from_slice(row),
            Some(order) => out.extend(order.iter().map(|&at| row[at])),
        }
    }
}

/// The looks of a group of values, given looks in registers: those that have a value of the group, and each once.
fn looks_of_group(looks: &[usize], first: usize, together: usize, values: usize) -> Vec<usize> {
    let mut own: Vec<usize> =
        looks.iter().map(|&look| (look.saturating_sub(first) / together).min(values)).collect();
    own.dedup();
    own.retain(|&look| look > 0);
    own
}

/// Finds pairs whose shared shingles clearly stand in other places.
#[derive(Debug)]
pub(crate) struct OrderScreen {
    placed: PositionSketcher,
    /// For each number of agreeing registers: the most aligned ones with which a pair is put aside.
    lower: Vec<Option<usize>>,
    threshold: f64,
}

/// A pair that was put aside because of its order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Misaligned {
    /// What the sketches say of its similarity, if that may reach the threshold.
    pub similar: Option<Estimate>,
    /// What they say of its alignment.
    pub alignment: Estimate,
}

impl OrderScreen {
    pub(crate) fn new(plan: &Plan) -> Result<Option<Self>, Error> {
        let (Some(order), Some(error)) = (plan.order, plan.filter) else { return Ok(None) };
        let lower = (0..=PLACED_REGISTERS)
            .map(|agreeing| match agreeing {
                0 => Ok(None),
                // One shared shingle in another place is enough.
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

    /// Puts a pair aside if a pair as well aligned as asked for would look like this with the stated error at most.
    pub(crate) fn rejects(&self, a: &[u32], b: &[u32]) -> Option<Misaligned> {
        let matches = self.placed.matches(a, b);
        // Shingles that agree by chance do not matter here: among n pairs of them there are n/2³².
        let lower = self.lower[matches.minima]?;
        if matches.aligned > lower {
            return None;
        }
        let similarity = matches.similarity();
        let similar = (similarity.interval.1 >= self.threshold).then_some(similarity);
        Some(Misaligned { similar, alignment: matches.alignment_rate()? })
    }
}
