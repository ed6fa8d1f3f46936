//! Between candidates and verification: pairs that cannot be near-duplicates, but for a stated error, are put aside by
//! their sketches, so that their documents need not be read.

use minwise::Error;
use minwise::estimate::Estimate;
use minwise::filter::{Budget, Filter, default_looks, shuffle};
use minwise::sketch::Method;

use crate::read::placed::{PLACED_REGISTERS, Placed};
use crate::rows::Rows;
use crate::settings::{Plan, Search};

/// What the filter did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Screened {
    /// Pairs that it put aside.
    pub pairs: u64,
    /// Registers that it compared.
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
#[derive(Debug)]
pub(crate) struct Screen {
    /// One filter for registers, one for each group of bits; none lets every pair pass.
    filters: Vec<Filter>,
    /// The order in which registers are compared, where they are not exchangeable.
    shuffle: Option<Vec<usize>>,
}

impl Screen {
    /// For candidates that bands gave; whoever counts what is shared, or compares all rows, has asked the sketches already.
    pub(crate) fn new(plan: &Plan, rows: &Rows) -> Result<Self, Error> {
        match plan.search {
            Search::Banding => Self::of_all(plan, rows),
            Search::SortMerge | Search::SortMergeSketch | Search::All => {
                Ok(Self { filters: vec![], shuffle: None })
            }
        }
    }

    /// For all pairs.
    pub(crate) fn of_all(plan: &Plan, rows: &Rows) -> Result<Self, Error> {
        let Some(error) = plan.filter_error() else {
            return Ok(Self { filters: vec![], shuffle: None });
        };
        let method = plan.spec.method;
        let shuffle = register_order(method);
        // Copies within a sketch make bits of it dependent too, in a way that only whole registers have a law for.
        let filters = match rows.bit_rows() {
            Some(_) if shuffle.is_some() => vec![],
            Some(bits) => {
                let laws: Vec<(usize, f64)> = bits.laws(plan.threshold).collect();
                let budget = Budget::Exact(error / laws.len() as f64);
                laws.into_iter()
                    .map(|(values, probability)| Filter::new(probability, values, &[values], budget))
                    .collect::<Result<_, _>>()?
            }
            None => {
                let looks = default_looks(method.registers());
                Filter::of(method, plan.threshold, 1, &looks, Budget::Exact(error))?.into_iter().collect()
            }
        };
        Ok(Self { filters, shuffle })
    }

    /// Whether rows are asked at all.
    pub(crate) fn asks(&self) -> bool {
        !self.filters.is_empty()
    }

    /// Whether the pair is put aside; counts what was compared.
    pub(crate) fn rejects(&self, rows: &Rows, a: &[u32], b: &[u32], screened: &mut Screened) -> bool {
        let mut rejected = false;
        if let (Some((bits, a)), Some((_, b))) = (rows.bits(a), rows.bits(b)) {
            for (filter, matches) in self.filters.iter().zip(bits.matches(a, b)) {
                screened.compared += filter.registers() as u64;
                screened.registers += filter.registers() as u64;
                rejected |= !filter.looks().is_empty() && filter.rejects(0, matches);
            }
        } else if let [filter] = &self.filters[..] {
            let screening = match &self.shuffle {
                None => filter.screen(a, b),
                Some(order) => {
                    filter.screen_by(|range| order[range].iter().filter(|&&at| a[at] == b[at]).count())
                }
            };
            screened.compared += screening.compared as u64;
            screened.registers += filter.registers() as u64;
            rejected = screening.rejected;
        }
        screened.pairs += u64::from(rejected);
        rejected
    }
}

/// Finds pairs whose shared shingles clearly stand in other places.
#[derive(Debug)]
pub(crate) struct OrderScreen {
    placed: Placed,
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
                    let filter = Filter::new(order, agreeing, &[agreeing], Budget::Exact(error))?;
                    Ok(filter.looks().first().and_then(|look| look.lower))
                }
            })
            .collect::<Result<_, Error>>()?;
        let placed = Placed::new(plan.spec.seed)?;
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
