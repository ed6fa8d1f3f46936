//! What the sketches of a sample are compared with those of all documents by.
//!
//! One bit of each register comes first, where registers are kept whole and are exchangeable: 128 of them are 16 bytes, so
//! that a few thousand documents stay in the nearest cache, and a comparison takes some 2 ns. Of what is left, all registers
//! are compared at once, since most of it is similar. All pairs of other rows are screened as candidates are.

use minwise::filter::{Budget, Filter};
use minwise::kernel::Kernel;

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
    /// Words that the bits of a row take.
    words: usize,
    /// The most bits in which two rows may differ.
    most: u32,
    /// The least registers in which they agree.
    least: usize,
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
            let mut bits = vec![0; sieve.words];
            pack_into(row, &mut bits);
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
            block.bits.resize(documents * sieve.words, 0);
            let rows = block.rows.chunks_exact(self.rows.words());
            for (row, out) in rows.zip(block.bits.chunks_exact_mut(sieve.words)) {
                pack_into(row, out);
            }
            block.counts.resize(documents, 0);
        }
        Ok(())
    }

    /// Visits the documents of a block, by their places in it, that may be similar to one; of those only for which `wanted` has
    /// something.
    pub(super) fn for_each_near<T>(
        &self,
        probe: &Probe,
        block: &mut Block,
        wanted: impl Fn(usize) -> Option<T>,
        mut visit: impl FnMut(usize, T),
    ) {
        let Block { rows, bits, counts } = block;
        let rows = rows.chunks_exact(self.rows.words()).enumerate();
        match &self.bits {
            None => {
                for (at, other) in rows {
                    let Some(wanted) = wanted(at) else { continue };
                    if !self.screen.rejects(&self.rows, &probe.row, other, &mut Screened::default()) {
                        visit(at, wanted);
                    }
                }
            }
            Some(sieve) => {
                sieve.kernel.different_bits_of_rows(&probe.bits, bits, counts);
                for (at, other) in rows.filter(|&(at, _)| counts[at] <= sieve.most) {
                    let Some(wanted) = wanted(at) else { continue };
                    if sieve.kernel.equal_words(&probe.row, other) >= sieve.least {
                        visit(at, wanted);
                    }
                }
            }
        }
    }
}

impl BitSieve {
    /// Nothing if not even documents that share nothing can be told apart from similar ones.
    fn new(settings: &Settings) -> Result<Option<Self>, Error> {
        let (method, threshold) = (settings.spec.method, settings.threshold);
        let registers = method.registers();
        let budget = Budget::Exact(FILTER_ERROR);
        // What differs has the same bit every other time.
        let bits = Filter::new(f64::midpoint(1.0, threshold), registers, &[registers], budget)?;
        let whole = Filter::of(method, threshold, 1, &[registers], budget)?;
        let lower = |filter: &Filter| filter.looks().first().and_then(|look| look.lower);
        Ok(lower(&bits).map(|lower_bits| Self {
            words: registers.div_ceil(32),
            most: (registers - lower_bits - 1) as u32,
            least: whole.as_ref().and_then(lower).map_or(0, |lower| lower + 1),
            kernel: Kernel::detect(),
        }))
    }
}

/// Puts one bit of each register into words. Minima are small, so it is the last bits that tell them apart; the first bit of
/// a product depends on all of them.
fn pack_into(registers: &[u32], out: &mut [u32]) {
    const ODD: u32 = 0x9e37_79b1;
    for (word, registers) in out.iter_mut().zip(registers.chunks(32)) {
        *word = (0..)
            .zip(registers)
            .fold(0, |word, (at, &register)| word | register.wrapping_mul(ODD) >> 31 << at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_registers_that_differ_agree_every_other_time() {
        // Minima of a thousand hash values, as documents have them.
        let mut state = 1u64;
        let mut minimum = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            minwise::hash::fmix64(state) as u32 / 1000
        };
        let mut row = || (0..4000).map(|_| minimum()).collect::<Vec<u32>>();
        let [a, b] = [row(), row()].map(|row| {
            let mut bits = vec![0; 125];
            pack_into(&row, &mut bits);
            assert_eq!(bits[3] >> 7 & 1, row[3 * 32 + 7].wrapping_mul(0x9e37_79b1) >> 31);
            bits
        });
        let different = Kernel::detect().different_bits(&a, &b);
        assert!((1800..2200).contains(&different), "{different} of 4000");
    }
}
