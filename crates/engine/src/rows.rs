//! What is kept of each document's sketch while a run lasts, and what can be asked of it.
//!
//! Either the registers themselves, or, with `--bits`, what they would be asked for later: the key of every band, keys
//! to split crowded shelves by, and a few bits of each register for the filter.
//!
//! | row of bits | words |
//! |---|---|
//! | band keys | 2 a band |
//! | split keys: two registers, hashed to 32 bits | 1 for each two registers that no band uses, and at least 16 |
//! | bits | as [`BitRows`] has them |

use minwise::candidate::shelf::Limits;
use minwise::candidate::{Banding, Splits};
use minwise::hash::fmix64;
use minwise::sketch::{BitRows, Bits};
use minwise::{Error, Spec};

/// Registers that each split of a shelf asks for.
const SPLIT_REGISTERS: usize = 2;
/// Split keys that are kept of bits, if there are as many pairs of registers: enough for very crowded shelves.
const LEAST_SPLITS: usize = 16;

/// The form of a run's rows.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    banding: Banding,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Registers { registers: usize, splits: Splits },
    Bits { splits: BitSplits, bits: BitRows },
}

/// The pairs of registers whose keys are kept to split shelves by.
#[derive(Debug, Clone)]
struct BitSplits {
    pairs: Vec<[usize; SPLIT_REGISTERS]>,
    /// For each band, the pairs that have none of its registers.
    of_band: Vec<Vec<usize>>,
}

impl BitSplits {
    fn new(banding: Banding, registers: usize) -> Self {
        let used = banding.bands() * banding.rows();
        // Registers that no band uses come first. If they are too few, some of the bands' own follow; a band passes over
        // those that it has itself.
        let spare: Vec<usize> = (used..registers).collect();
        let others: Vec<usize> = (0..used).collect();
        let mut pairs: Vec<[usize; SPLIT_REGISTERS]> = spare.as_chunks().0.to_vec();
        let missing = LEAST_SPLITS.saturating_sub(pairs.len());
        pairs.extend(others.as_chunks().0.iter().take(missing));
        let of_band = (0..banding.bands())
            .map(|band| {
                let own = band * banding.rows()..(band + 1) * banding.rows();
                let free = |at: &usize| pairs[*at].iter().all(|register| !own.contains(register));
                let first = band % pairs.len().max(1);
                // Bands begin with different pairs, so that they do not succeed and fail together.
                (0..pairs.len()).map(|at| (first + at) % pairs.len()).filter(free).collect()
            })
            .collect();
        Self { pairs, of_band }
    }

    /// Splits that every band has.
    fn most(&self) -> usize {
        self.of_band.iter().map(Vec::len).min().unwrap_or(0)
    }
}

impl Rows {
    pub(crate) fn new(spec: &Spec, banding: Banding, bits: Option<Bits>) -> Result<Self, Error> {
        let registers = spec.method.registers();
        let form = match bits {
            None => Form::Registers { registers, splits: banding.splits(registers, SPLIT_REGISTERS) },
            Some(bits) => {
                Form::Bits { splits: BitSplits::new(banding, registers), bits: bits.rows(registers)? }
            }
        };
        Ok(Self { banding, form })
    }

    /// How many bands there are.
    pub(crate) fn bands(&self) -> usize {
        self.banding.bands()
    }

    /// Words of a row.
    pub(crate) fn words(&self) -> usize {
        match &self.form {
            Form::Registers { registers, .. } => *registers,
            Form::Bits { splits, bits } => 2 * self.banding.bands() + splits.pairs.len() + bits.words(),
        }
    }

    /// Writes a document's row, given its registers.
    pub(crate) fn store(&self, registers: &[u32], out: &mut [u32]) {
        let Form::Bits { splits, bits } = &self.form else {
            out.copy_from_slice(registers);
            return;
        };
        let (keys, rest) = out.split_at_mut(2 * self.banding.bands());
        for (band, out) in keys.chunks_exact_mut(2).enumerate() {
            let key = self.banding.key(band, registers);
            out.copy_from_slice(&[key as u32, (key >> 32) as u32]);
        }
        let (split_keys, row) = rest.split_at_mut(splits.pairs.len());
        for (out, pair) in split_keys.iter_mut().zip(&splits.pairs) {
            let [low, high] = pair.map(|register| u64::from(registers[register]));
            *out = (fmix64(low | high << 32) >> 32) as u32;
        }
        bits.pack_into(registers, row);
    }

    /// The key of one band.
    #[inline]
    pub(crate) fn key(&self, band: usize, row: &[u32]) -> u64 {
        match &self.form {
            Form::Registers { .. } => self.banding.key(band, row),
            Form::Bits { .. } => u64::from(row[2 * band]) | u64::from(row[2 * band + 1]) << 32,
        }
    }

    /// The key by which a crowded shelf of a band is split.
    pub(crate) fn split_key(&self, band: usize, split: usize, row: &[u32]) -> u64 {
        match &self.form {
            Form::Registers { splits, .. } => splits.key(band, split, row),
            Form::Bits { splits, .. } => {
                u64::from(row[2 * self.banding.bands() + splits.of_band[band][split]])
            }
        }
    }

    /// The bits of a row, and how they lie, if rows have bits only.
    pub(crate) fn bits<'a>(&'a self, row: &'a [u32]) -> Option<(&'a BitRows, &'a [u32])> {
        match &self.form {
            Form::Registers { .. } => None,
            Form::Bits { splits, bits } => {
                Some((bits, &row[2 * self.banding.bands() + splits.pairs.len()..]))
            }
        }
    }

    /// How bits lie, if rows have bits only.
    pub(crate) fn bit_rows(&self) -> Option<&BitRows> {
        match &self.form {
            Form::Registers { .. } => None,
            Form::Bits { bits, .. } => Some(bits),
        }
    }

    /// When shelves are split.
    pub(crate) fn limits(&self, shelf: ShelfLimits) -> Limits {
        let splits = match &self.form {
            Form::Registers { registers, .. } => self.banding.most_splits(*registers, SPLIT_REGISTERS),
            Form::Bits { splits, .. } => splits.most(),
        };
        Limits { most: shelf.split_above, splits, registers: SPLIT_REGISTERS, full: shelf.most }
    }
}

/// When shelves are split, and how many documents they take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShelfLimits {
    /// A shelf with more kept documents than this is split.
    pub(crate) split_above: usize,
    /// A shelf that cannot be split takes no more documents than this.
    pub(crate) most: usize,
}

/// 64 kept documents with one band key that are not near-duplicates of one another are a sign of boilerplate.
pub(crate) const KEPT: ShelfLimits = ShelfLimits { split_above: 64, most: 256 };
/// For clusterings that stop comparing once a document is connected.
pub(crate) const CONNECTED: ShelfLimits = ShelfLimits { split_above: 256, most: 1024 };
/// For runs that compare all with all.
pub(crate) const ALL: ShelfLimits = ShelfLimits { split_above: 4096, most: 16_384 };

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bits: Option<&str>) -> Rows {
        let banding = Banding::new(16, 6, 128).unwrap();
        Rows::new(&Spec::default(), banding, bits.map(|bits| bits.parse().unwrap())).unwrap()
    }

    fn row(rows: &Rows, registers: &[u32]) -> Vec<u32> {
        let mut row = vec![0; rows.words()];
        rows.store(registers, &mut row);
        row
    }

    #[test]
    fn band_keys_are_the_same_in_both_forms() {
        let registers: Vec<u32> = (0..128).map(|i| fmix64(i) as u32).collect();
        let (whole, bits) = (rows(None), rows(Some("2")));
        let (whole_row, bits_row) = (row(&whole, &registers), row(&bits, &registers));
        assert!((0..16).all(|band| whole.key(band, &whole_row) == bits.key(band, &bits_row)));
        assert_eq!(bits.words(), 32 + 16 + 8);
        assert!(whole.bits(&whole_row).is_none());
        assert_eq!(bits.bits(&bits_row).unwrap().1.len(), 8);
    }

    #[test]
    fn split_keys_depend_on_two_spare_registers() {
        let bits = rows(Some("1"));
        let registers: Vec<u32> = (0..128).map(|i| fmix64(i) as u32).collect();
        let before = row(&bits, &registers);
        let splits = bits.limits(KEPT).splits;
        assert_eq!(splits, 16);
        for register in 0..128 {
            let mut changed = registers.clone();
            changed[register] ^= 1;
            let after = row(&bits, &changed);
            for band in [0, 7, 15] {
                let differing = (0..splits).filter(|&split| {
                    bits.split_key(band, split, &before) != bits.split_key(band, split, &after)
                });
                assert_eq!(differing.count(), usize::from(register >= 96));
            }
        }
    }

    #[test]
    fn without_spare_registers_bands_lend_theirs_to_others() {
        let banding = Banding::new(16, 8, 128).unwrap();
        let rows = Rows::new(&Spec::default(), banding, Some("1".parse().unwrap())).unwrap();
        let splits = rows.limits(KEPT).splits;
        // Sixteen pairs, of which four bands have four each.
        assert_eq!((splits, rows.words()), (12, 32 + 16 + 4));
        let registers: Vec<u32> = (0..128).map(|i| fmix64(i) as u32).collect();
        let before = row(&rows, &registers);
        for band in 0..16 {
            let mut changed = registers.clone();
            changed[8 * band..8 * band + 8].fill(7);
            let after = row(&rows, &changed);
            let same = |split| rows.split_key(band, split, &before) == rows.split_key(band, split, &after);
            assert!((0..splits).all(same), "band {band} is split by none of its own");
        }
    }
}
