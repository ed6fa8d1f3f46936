//! What is kept of each document's sketch while a run lasts, and what can be asked of it.
//!
//! Either the registers themselves, or, with `--bits`, what they would be asked for later: the key of every band, keys
//! to split crowded shelves by, and a few bits of each register for the filter.
//!
//! | row of bits | words |
//! |---|---|
//! | band keys | 2 a band |
//! | split keys: two spare registers, hashed to 32 bits | 1 for each two registers that no band uses |
//! | bits | as [`BitRows`] has them |

use minwise::candidate::shelf::Limits;
use minwise::candidate::{Banding, Splits};
use minwise::hash::fmix64;
use minwise::sketch::{BitRows, Bits};
use minwise::{Error, Spec};

/// Registers that each split of a shelf asks for.
const SPLIT_REGISTERS: usize = 2;

/// The form of a run's rows.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    banding: Banding,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Registers { registers: usize, splits: Splits },
    Bits { registers: usize, bits: BitRows },
}

impl Rows {
    pub(crate) fn new(spec: &Spec, banding: Banding, bits: Option<Bits>) -> Result<Self, Error> {
        let registers = spec.method.registers();
        let form = match bits {
            None => Form::Registers { registers, splits: banding.splits(registers, SPLIT_REGISTERS) },
            Some(bits) => Form::Bits { registers, bits: bits.rows(registers)? },
        };
        Ok(Self { banding, form })
    }

    /// Words of a row.
    pub(crate) fn words(&self) -> usize {
        match &self.form {
            Form::Registers { registers, .. } => *registers,
            Form::Bits { bits, .. } => 2 * self.banding.bands() + self.spare_pairs() + bits.words(),
        }
    }

    /// Writes a document's row, given its registers.
    pub(crate) fn store(&self, registers: &[u32], out: &mut [u32]) {
        let Form::Bits { bits, .. } = &self.form else {
            out.copy_from_slice(registers);
            return;
        };
        let (keys, rest) = out.split_at_mut(2 * self.banding.bands());
        for (band, out) in keys.chunks_exact_mut(2).enumerate() {
            let key = self.banding.key(band, registers);
            out.copy_from_slice(&[key as u32, (key >> 32) as u32]);
        }
        let (splits, row) = rest.split_at_mut(self.spare_pairs());
        let used = self.banding.bands() * self.banding.rows();
        for (out, pair) in splits.iter_mut().zip(registers[used..].chunks_exact(SPLIT_REGISTERS)) {
            *out = (fmix64(u64::from(pair[0]) | u64::from(pair[1]) << 32) >> 32) as u32;
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
            Form::Bits { .. } => {
                let at = (band + split) % self.spare_pairs();
                u64::from(row[2 * self.banding.bands() + at])
            }
        }
    }

    /// The bits of a row, and how they lie, if rows have bits only.
    pub(crate) fn bits<'a>(&'a self, row: &'a [u32]) -> Option<(&'a BitRows, &'a [u32])> {
        match &self.form {
            Form::Registers { .. } => None,
            Form::Bits { bits, .. } => Some((bits, &row[2 * self.banding.bands() + self.spare_pairs()..])),
        }
    }

    /// When shelves are split.
    pub(crate) fn limits(&self, (most, full): (usize, usize)) -> Limits {
        let splits = match &self.form {
            Form::Registers { registers, .. } => self.banding.most_splits(*registers, SPLIT_REGISTERS),
            Form::Bits { .. } => self.spare_pairs(),
        };
        Limits { most, splits, registers: SPLIT_REGISTERS, full }
    }

    /// Pairs of registers that no band uses.
    fn spare_pairs(&self) -> usize {
        let (Form::Registers { registers, .. } | Form::Bits { registers, .. }) = &self.form;
        (registers - self.banding.bands() * self.banding.rows()) / SPLIT_REGISTERS
    }
}

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
        let splits = bits.limits((64, 256)).splits;
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
    fn without_spare_registers_shelves_are_not_split() {
        let banding = Banding::new(16, 8, 128).unwrap();
        let rows = Rows::new(&Spec::default(), banding, Some("1".parse().unwrap())).unwrap();
        assert_eq!(rows.limits((64, 256)).splits, 0);
    }
}
