//! The comparison of two sketches: whether their documents may be similar, and in how many values they agree.
//!
//! A drawn document that is compared with all others is compared by one bit of each register first, if registers are kept whole and
//! are exchangeable: 128 of them are 16 bytes, so that a few thousand documents stay in the nearest cache, and a comparison takes a
//! few nanoseconds. Pairs that remain are compared by all registers at once, because most of them are similar. Pairs of
//! other rows are screened as candidates are.

use minwise::filter::{ErrorBudget, Filter};
use minwise::kernel::Kernel;
use minwise::sketch::{BitRows, Bits};

use crate::candidate::screen::{Screen, Screened, register_order};
use crate::error::Error;
use crate::rows::RowLayout;
use crate::settings::{FILTER_ERROR, Plan};

use super::values::Values;

/// What a comparison of whole rows costs, in comparisons of bits.
const ROW_COST: u64 = 8;

/// Tells which documents may be similar.
#[derive(Debug)]
pub(super) struct Sieve {
    bits: Option<BitSieve>,
    screen: Screen,
    rows: RowLayout,
    values: Values,
}

#[derive(Debug)]
struct BitSieve {
    rows: BitRows,
    /// The most bits in which two rows may differ.
    most: u32,
    /// The least registers in which they agree.
    least: usize,
    kernel: Kernel,
}

/// Rows of documents, made ready to be compared with.
#[derive(Debug, Default)]
pub(super) struct RowBlock {
    rows: Vec<u32>,
    bits: Vec<u32>,
    counts: Vec<u32>,
}

/// The row of a document that is compared with others.
#[derive(Debug, Default)]
pub(super) struct Probe {
    row: Vec<u32>,
    bits: Vec<u32>,
}

impl Sieve {
    /// For the rows of a run; nothing if they put no pair aside.
    pub(super) fn new(plan: &Plan) -> Result<Option<Self>, Error> {
        // The run's own filter may err more, or there may be none.
        let plan = Plan { filter: Some(FILTER_ERROR), looks: None, error_per_look: None, ..plan.clone() };
        let rows = plan.rows()?;
        let screen = Screen::of_all(&plan, &rows)?;
        if !screen.asks() {
            return Ok(None);
        }
        let whole = rows.bit_rows().is_none() && register_order(plan.spec.method).is_none();
        let bits = if whole { BitSieve::new(&plan)? } else { None };
        let values = Values::new(&rows);
        Ok(Some(Self { bits, screen, rows, values }))
    }

    /// The values of rows.
    pub(super) fn values(&self) -> Values {
        self.values
    }

    /// The form of rows.
    pub(super) fn rows(&self) -> &RowLayout {
        &self.rows
    }

    /// The number of values in which two rows agree, if their documents may be similar.
    pub(super) fn near(&self, a: &[u32], b: &[u32]) -> Option<u32> {
        let agreeing = self.values.agreeing(&self.rows, a, b);
        let is_near = match &self.bits {
            Some(sieve) => agreeing as usize >= sieve.least,
            None => !self.screen.rejects(&self.rows, a, b, &mut Screened::default()),
        };
        is_near.then_some(agreeing)
    }

    /// What a comparison costs, in comparisons of bits.
    pub(super) fn cost(&self) -> u64 {
        if self.bits.is_some() { 1 } else { ROW_COST }
    }

    /// Makes a row ready to be compared with others.
    pub(super) fn probe(&self, row: &[u32]) -> Probe {
        let bits = self.bits.as_ref().map_or(vec![], |sieve| {
            let mut bits = vec![0; sieve.rows.words()];
            sieve.rows.pack_into(row, &mut bits);
            bits
        });
        Probe { row: row.to_vec(), bits }
    }

    /// Takes in the rows that `fill` gives.
    pub(super) fn take_in(
        &self,
        block: &mut RowBlock,
        fill: impl FnOnce(&mut Vec<u32>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        fill(&mut block.rows)?;
        let documents = block.rows.len() / self.rows.words();
        if let Some(sieve) = &self.bits {
            let words = sieve.rows.words();
            block.bits.resize(documents * words, 0);
            let rows = block.rows.chunks_exact(self.rows.words());
            for (row, out) in rows.zip(block.bits.chunks_exact_mut(words)) {
                sieve.rows.pack_into(row, out);
            }
            block.counts.resize(documents, 0);
        }
        Ok(())
    }

    /// Visits the documents of a block that may be similar to one, with the number of values in which they agree. `wanted` is given
    /// their places in the block; a document for which it returns nothing is left out.
    pub(super) fn for_each_near<T>(
        &self,
        probe: &Probe,
        block: &mut RowBlock,
        wanted: impl Fn(usize) -> Option<T>,
        mut visit: impl FnMut(T, u32),
    ) {
        let RowBlock { rows, bits, counts } = block;
        let rows = rows.chunks_exact(self.rows.words()).enumerate();
        match &self.bits {
            None => {
                for (at, other) in rows {
                    let Some(wanted) = wanted(at) else { continue };
                    if let Some(agreeing) = self.near(&probe.row, other) {
                        visit(wanted, agreeing);
                    }
                }
            }
            Some(sieve) => {
                sieve.kernel.different_bits_of_rows(&probe.bits, bits, counts);
                for (at, other) in rows.filter(|&(at, _)| counts[at] <= sieve.most) {
                    let Some(wanted) = wanted(at) else { continue };
                    if let Some(agreeing) = self.near(&probe.row, other) {
                        visit(wanted, agreeing);
                    }
                }
            }
        }
    }
}

impl BitSieve {
    /// Nothing if not even documents that share nothing can be told apart from similar ones.
    fn new(plan: &Plan) -> Result<Option<Self>, Error> {
        let (method, threshold) = (plan.spec.method, plan.threshold);
        let registers = method.registers();
        let budget = ErrorBudget::Exact(FILTER_ERROR);
        let rows = "1".parse::<Bits>()?.rows(registers)?;
        let Some((values, probability)) = rows.laws(threshold).next() else { return Ok(None) };
        let bits = Filter::new(probability, values, &[values], budget)?;
        let whole = Filter::of(method, threshold, 1, &[registers], budget)?;
        let lower = |filter: &Filter| filter.looks().first().and_then(|look| look.lower);
        Ok(lower(&bits).map(|lower_bits| Self {
            rows,
            most: (values - lower_bits - 1) as u32,
            least: whole.as_ref().and_then(lower).map_or(0, |lower| lower + 1),
            kernel: Kernel::detect(),
        }))
    }
}
