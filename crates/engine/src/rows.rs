//! Rows: the part of each document's sketch that is kept while a run lasts.
//!
//! A row holds the registers themselves. With `--bits`, it holds only what later stages need of them: the key of every
//! band, and a few bits of each register for the filter.
//!
//! | row with `--bits` | words |
//! |---|---|
//! | band keys | 2 per band |
//! | bits | layout of [`BitRows`] |

use minwise::candidate::Banding;
use minwise::sketch::{BitRows, Bits};
use minwise::{Error, Spec};

/// Maximum number of documents that a shelf takes. A document is compared with at most the first `SHELF` documents on
/// each of its shelves. If clusters are stars, the shelf takes only kept documents, else all distinct ones. A shelf
/// thus holds 100,000 filled-in copies of one form, and comparing one document with them takes a tenth of a
/// millisecond.
pub const SHELF: usize = 1 << 17;

/// Layout of the rows of a run.
#[derive(Debug, Clone)]
pub(crate) struct RowLayout {
    banding: Banding,
    form: RowForm,
}

#[derive(Debug, Clone)]
enum RowForm {
    Registers(usize),
    Bits(BitRows),
}

impl RowLayout {
    pub(crate) fn new(spec: &Spec, banding: Banding, bits: Option<Bits>) -> Result<Self, Error> {
        let registers = spec.method.registers();
        let form = match bits {
            None => RowForm::Registers(registers),
            Some(bits) => RowForm::Bits(bits.rows(registers)?),
        };
        Ok(Self { banding, form })
    }

    pub(crate) fn bands(&self) -> usize {
        self.banding.bands()
    }

    /// Returns the number of 32-bit words per row.
    pub(crate) fn words(&self) -> usize {
        match &self.form {
            RowForm::Registers(registers) => *registers,
            RowForm::Bits(bits) => 2 * self.banding.bands() + bits.words(),
        }
    }

    /// Writes the row of a document, given its registers.
    pub(crate) fn store(&self, registers: &[u32], out: &mut [u32]) {
        let RowForm::Bits(bits) = &self.form else {
            out.copy_from_slice(registers);
            return;
        };
        let (keys, row) = out.split_at_mut(2 * self.banding.bands());
        for (band, out) in keys.chunks_exact_mut(2).enumerate() {
            let key = self.banding.key(band, registers);
            out.copy_from_slice(&[key as u32, (key >> 32) as u32]);
        }
        bits.pack_into(registers, row);
    }

    #[inline]
    pub(crate) fn key(&self, band: usize, row: &[u32]) -> u64 {
        match &self.form {
            RowForm::Registers(_) => self.banding.key(band, row),
            RowForm::Bits(_) => u64::from(row[2 * band]) | u64::from(row[2 * band + 1]) << 32,
        }
    }

    /// Returns the packed bits of a row and their layout, or `None` if rows hold whole registers.
    pub(crate) fn bits<'a>(&'a self, row: &'a [u32]) -> Option<(&'a BitRows, &'a [u32])> {
        match &self.form {
            RowForm::Registers(_) => None,
            RowForm::Bits(bits) => Some((bits, &row[2 * self.banding.bands()..])),
        }
    }

    /// Returns the part of a row that the filter compares: the packed bits, or the whole row if it holds registers.
    pub(crate) fn compared<'a>(&'a self, row: &'a [u32]) -> &'a [u32] {
        self.bits(row).map_or(row, |(_, bits)| bits)
    }

    /// Returns the layout of packed bits, or `None` if rows hold whole registers.
    pub(crate) fn bit_rows(&self) -> Option<&BitRows> {
        match &self.form {
            RowForm::Registers(_) => None,
            RowForm::Bits(bits) => Some(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use minwise::hash::fmix64;

    use super::*;
    use crate::settings::RunSettings;

    fn rows(bits: Option<&str>) -> RowLayout {
        let banding = Banding::new(16, 6, 128).unwrap();
        RowLayout::new(&Spec::default(), banding, bits.map(|bits| bits.parse().unwrap())).unwrap()
    }

    fn row(rows: &RowLayout, registers: &[u32]) -> Vec<u32> {
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
        assert_eq!(bits.words(), 32 + 8);
        assert!(whole.bits(&whole_row).is_none());
        assert_eq!(bits.bits(&bits_row).unwrap().1.len(), 8);
    }

    /// A sketch of a thousand registers takes at most 400 bytes if one bit of each register is kept.
    #[test]
    fn one_bit_of_each_register_takes_little() {
        let settings = RunSettings {
            spec: "nfkc+casefold / words:5 / minhash:1024 / seed:1".parse().unwrap(),
            bits: Some("1".parse().unwrap()),
            ..RunSettings::default()
        };
        let bytes = settings.plan().unwrap().row_bytes().unwrap();
        assert!(bytes <= 400, "{bytes} bytes");
    }
}
