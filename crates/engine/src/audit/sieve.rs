//! The sieve compares two sketches: it decides whether their documents may be similar, and counts the values in which
//! they agree.
//!
//! If rows hold whole, exchangeable registers, a drawn document is first compared with all others by one bit per
//! register. The bits of 128 registers take 16 bytes, so a few thousand documents stay in the first-level cache, and a
//! comparison takes a few nanoseconds. The remaining pairs are compared by all registers at once, because most of these
//! pairs are similar. Pairs of other rows are screened like candidates.

use minwise::filter::{ErrorBudget, Filter};
use minwise::kernel::Kernel;
use minwise::sketch::{BitRows, Bits};

use crate::candidate::screen::{Screen, Screened, register_order};
use crate::error::Error;
use crate::rows::RowLayout;
use crate::settings::{FILTER_ERROR, Plan};

use super::values::Values;

/// Cost of a comparison of whole rows, in comparisons of bits.
const ROW_COST: u64 = 8;

/// Filter that decides which documents may be similar.
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
    /// Maximum number of bits in which two near rows differ.
    most: u32,
    /// Minimum number of registers in which two near rows agree.
    least: usize,
    kernel: Kernel,
}

/// Rows of documents, prepared for comparison with a probe.
#[derive(Debug, Default)]
pub(super) struct RowBlock {
    rows: Vec<u32>,
    bits: Vec<u32>,
    counts: Vec<u32>,
}

/// Row of a document that is compared with other rows.
#[derive(Debug, Default)]
pub(super) struct Probe {
    row: Vec<u32>,
    bits: Vec<u32>,
}

impl Sieve {
    /// Creates the sieve for the rows of a run. Returns `None` if the rows cannot reject any pair.
    pub(super) fn new(plan: &Plan) -> Result<Option<Self>, Error> {
        // The filter of the run may have a larger error, or the run may have no filter.
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

    /// Returns the values of rows.
    pub(super) fn values(&self) -> Values {
        self.values
    }

    /// Returns the layout of rows.
    pub(super) fn rows(&self) -> &RowLayout {
        &self.rows
    }

    /// Returns the number of values in which two rows agree, or `None` if their documents cannot be similar.
    pub(super) fn near(&self, a: &[u32], b: &[u32]) -> Option<u32> {
        let agreeing = self.values.agreeing(&self.rows, a, b);
        let is_near = match &self.bits {
            Some(sieve) => agreeing as usize >= sieve.least,
            None => !self.screen.rejects(&self.rows, a, b, &mut Screened::default()),
        };
        is_near.then_some(agreeing)
    }

    /// Returns the cost of a comparison, in comparisons of bits.
    pub(super) fn cost(&self) -> u64 {
        if self.bits.is_some() { 1 } else { ROW_COST }
    }

    /// Prepares a row for comparison with other rows.
    pub(super) fn probe(&self, row: &[u32]) -> Probe {
        let bits = self.bits.as_ref().map_or(vec![], |sieve| {
            let mut bits = vec![0; sieve.rows.words()];
            sieve.rows.pack_into(row, &mut bits);
            bits
        });
        Probe { row: row.to_vec(), bits }
    }

    /// Calls `fill` to write rows into `block`, and packs the bits of these rows for the first comparison.
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

    /// Visits the documents of a block that may be similar to the document of `probe`, with the number of values in
    /// which they agree. `wanted` gets the place of a document in the block. If `wanted` returns `None`, the document
    /// is left out.
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
    /// Creates a sieve that compares one bit per register. Returns `None` if single bits cannot distinguish documents
    /// that share nothing from similar ones.
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
