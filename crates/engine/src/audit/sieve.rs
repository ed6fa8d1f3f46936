//! What the sketches of a sample are compared with those of all documents by.
//!
//! One bit of each register comes first, where registers are kept whole and are exchangeable: 128 of them are 16 bytes, so
//! that a few thousand documents stay in the nearest cache, and a comparison takes some 2 ns. What is left, and all pairs of
//! other rows, is screened as candidates are.

use minwise::filter::{Budget, Filter};
use minwise::kernel::Kernel;
use minwise::sketch::{BitRows, Bits};

use crate::error::Error;
use crate::rows::Rows;
use crate::screen::{Screen, Screened, register_order};
use crate::settings::{FILTER_ERROR, Settings};

/// What a comparison of whole rows costs, in comparisons of bits.
const ROW_COST: u64 = 8;

/// Tells which documents may be similar.
#[derive(Debug)]
pub(super) struct Sieve {
    bits: Option<BitSieve>,
    screen: Screen,
    rows: Rows,
}

#[derive(Debug)]
struct BitSieve {
    rows: BitRows,
    /// The most bits in which two rows may differ.
    most: u32,
    kernel: Kernel,
}

/// Rows of consecutive documents, made ready to be compared with.
#[derive(Debug, Default)]
pub(super) struct Block {
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
    pub(super) fn new(settings: &Settings) -> Result<Option<Self>, Error> {
        // The run's own filter may err more, or there may be none.
        let settings = Settings { filter: Some(FILTER_ERROR), ..settings.clone() };
        let rows = settings.rows()?;
        let screen = Screen::of_all(&settings, &rows)?;
        if !screen.asks() {
            return Ok(None);
        }
        let whole = rows.bit_rows().is_none() && register_order(settings.spec.method).is_none();
        let bits = if whole { BitSieve::new(&settings)? } else { None };
        Ok(Some(Self { bits, screen, rows }))
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
        block: &mut Block,
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

    /// Visits the documents of a block, by their places in it, that may be similar to one.
    pub(super) fn for_each_near(&self, probe: &Probe, block: &mut Block, mut visit: impl FnMut(usize)) {
        let Block { rows, bits, counts } = block;
        let passes =
            |other: &[u32]| !self.screen.rejects(&self.rows, &probe.row, other, &mut Screened::default());
        let others = rows.chunks_exact(self.rows.words());
        match &self.bits {
            None => others.enumerate().filter(|(_, other)| passes(other)).for_each(|(at, _)| visit(at)),
            Some(sieve) => {
                sieve.kernel.different_bits_of_rows(&probe.bits, bits, counts);
                for (at, other) in others.enumerate() {
                    if counts[at] <= sieve.most && passes(other) {
                        visit(at);
                    }
                }
            }
        }
    }
}

impl BitSieve {
    /// Nothing if not even documents that share nothing can be told apart from similar ones.
    fn new(settings: &Settings) -> Result<Option<Self>, Error> {
        let rows = "1".parse::<Bits>()?.rows(settings.spec.method.registers())?;
        let law = rows.laws(settings.threshold).next();
        let Some((values, probability)) = law else { return Ok(None) };
        let filter = Filter::new(probability, values, &[values], Budget::Exact(FILTER_ERROR))?;
        let lower = filter.looks().first().and_then(|look| look.lower);
        Ok(lower.map(|lower| Self { rows, most: (values - lower - 1) as u32, kernel: Kernel::detect() }))
    }
}
