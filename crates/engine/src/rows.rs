//! What is kept of each document's sketch while a run lasts, and what can be asked of it.
//!
//! Either the registers themselves, or, with `--bits`, what they would be asked for later: the key of every band, and a few
//! bits of each register for the filter.
//!
//! | row of bits | words |
//! |---|---|
//! | band keys | 2 per band |
//! | bits | as [`BitRows`] has them |

use minwise::candidate::Banding;
use minwise::sketch::{BitRows, Bits};
use minwise::{Error, Spec};

/// N: documents that a shelf takes. A document is compared with no more than the first N on each of its shelves: those that
/// are kept, if clusters are stars, and else all that are distinct. A hundred thousand fillings of one form fit, and one
/// document scans them in a tenth of a millisecond.
pub(crate) const SHELF: usize = 1 << 17;

/// The form of a run's rows.
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

    /// How many bands there are.
    pub(crate) fn bands(&self) -> usize {
        self.banding.bands()
    }

    /// Words of a row.
    pub(crate) fn words(&self) -> usize {
        match &self.form {
            RowForm::Registers(registers) => *registers,
            RowForm::Bits(bits) => 2 * self.banding.bands() + bits.words(),
        }
    }

    /// Writes a document's row, given its registers.
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

    /// The key of one band.
    #[inline]
    pub(crate) fn key(&self, band: usize, row: &[u32]) -> u64 {
        match &self.form {
            RowForm::Registers(_) => self.banding.key(band, row),
            RowForm::Bits(_) => u64::from(row[2 * band]) | u64::from(row[2 * band + 1]) << 32,
        }
    }

    /// The bits of a row, and how they lie, if rows have bits only.
    pub(crate) fn bits<'a>(&'a self, row: &'a [u32]) -> Option<(&'a BitRows, &'a [u32])> {
        match &self.form {
            RowForm::Registers(_) => None,
            RowForm::Bits(bits) => Some((bits, &row[2 * self.banding.bands()..])),
        }
    }

    /// The words of a row that the filter compares.
    pub(crate) fn compared<'a>(&'a self, row: &'a [u32]) -> &'a [u32] {
        self.bits(row).map_or(row, |(_, bits)| bits)
    }

    /// How bits lie, if rows have bits only.
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

    /// A sketch of a thousand registers takes no more than 400 bytes if one bit of each is kept.
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
