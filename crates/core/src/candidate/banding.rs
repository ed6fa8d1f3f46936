//! Banding: documents whose sketches agree in a whole band are candidates.
//!
//! - **Paper.** Broder, *On the resemblance and containment of documents*, 1997; Indyk and Motwani, *Approximate
//!   nearest neighbors: towards removing the curse of dimensionality*, 1998; Hassanian-esfahani 2018, §2, Bergillos
//!   2018, §5, and [Anonymous](crate#sources), §4.
//! - **Idea.** A sketch is cut into b bands of r registers (rows). Two documents at similarity s agree in all rows of
//!   one band with probability sʳ, so they agree in at least one band with probability 1 − (1 − sʳ)ᵇ.
//! - **Symbols.** b → `bands`, r → `rows`.
//! - **Formula.** key ← fmix64(band + 1); for each pair of rows l, u: key ← fold((key ⊕ (l + 2³²·u)) · K); if r is odd,
//!   the last row is l with u = 0; the result is fmix64(key). K = 0xc4ceb9fe1a85ec53, and fold is defined in
//!   [`crate::hash`].
//! - **Cost.** One 64-bit key per band and document; the keys are sorted band by band.
//! - **Differs.** [Anonymous](crate#sources), §4, identifies a band by a number below N, which makes about b false
//!   candidates per query (E-40), and the vector hash of Bergillos 2018, §5.1, collides on small values (E-38). A key
//!   of this module is 64 mixed bits of the band's number and all its rows.
//! - **Vectors.** The golden values are our own.

use crate::error::{Error, ErrorKind};
use crate::hash::{fmix64, fold_multiply};
use crate::sort::sort_mixed;

/// Division of sketches into bands of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "Unchecked"))]
pub struct Banding {
    bands: usize,
    rows: usize,
}

/// The fields of a serialised [`Banding`], before they are checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Unchecked {
    bands: usize,
    rows: usize,
}

#[cfg(feature = "serde")]
impl TryFrom<Unchecked> for Banding {
    type Error = Error;

    fn try_from(Unchecked { bands, rows }: Unchecked) -> Result<Self, Error> {
        // A `Banding` is stored without its sketches, so the number of registers is unknown. The check uses 2¹⁶, the
        // largest number of registers of a sketch.
        Self::new(bands, rows, 1 << 16)
    }
}

impl Banding {
    /// Divides sketches of `registers` registers into `bands` bands of `rows` rows. If `bands` · `rows` is less than
    /// `registers`, the last registers belong to no band.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`] if `bands` or `rows` is 0, and with [`ErrorKind::TooFewRegisters`] if
    /// `bands` times `rows` is more than `registers`.
    pub fn new(bands: usize, rows: usize, registers: usize) -> Result<Self, Error> {
        if bands == 0 {
            return Err(Error::out_of_range("the number of bands", bands, "at least 1"));
        }
        if rows == 0 {
            return Err(Error::out_of_range("the number of rows", rows, "at least 1"));
        }
        if bands.checked_mul(rows).is_none_or(|used| used > registers) {
            return Err(ErrorKind::TooFewRegisters { bands, rows, registers }.into());
        }
        Ok(Self { bands, rows })
    }

    /// Returns the number of bands.
    #[must_use]
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// Returns the number of rows per band.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the key of one band of a sketch. If the rows of two sketches are equal, so are the keys; if the rows
    /// differ, the keys are equal with probability 2⁻⁶⁴.
    ///
    /// # Panics
    /// Panics if the sketch is shorter than the banding was made for.
    #[inline]
    #[must_use]
    pub fn key(&self, band: usize, sketch: &[u32]) -> u64 {
        rows_key(band as u64, self.rows_in(band, sketch))
    }

    /// Writes the keys of all bands of a sketch.
    ///
    /// ```
    /// use minwise::candidate::Banding;
    ///
    /// let banding = Banding::new(2, 3, 6)?;
    /// let mut keys = [0; 2];
    /// banding.keys_into(&[1, 2, 3, 4, 5, 6], &mut keys);
    /// assert_eq!(keys[1], banding.key(1, &[1, 2, 3, 4, 5, 6]));
    /// # Ok::<(), minwise::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the sketch is shorter than the banding was made for, or `out` does not have one element per band.
    #[inline]
    pub fn keys_into(&self, sketch: &[u32], out: &mut [u64]) {
        assert_eq!(out.len(), self.bands, "one key per band");
        for (band, key) in out.iter_mut().enumerate() {
            *key = self.key(band, sketch);
        }
    }

    #[inline]
    pub(crate) fn rows_in<'s>(&self, band: usize, sketch: &'s [u32]) -> &'s [u32] {
        &sketch[band * self.rows..][..self.rows]
    }
}

#[inline(always)]
fn rows_key(band: u64, rows: &[u32]) -> u64 {
    const K: u64 = 0xc4ce_b9fe_1a85_ec53;
    let mut key = fmix64(band + 1);
    let (pairs, rest) = rows.as_chunks::<2>();
    for &[low, high] in pairs {
        key = fold_multiply(key ^ (u64::from(low) | u64::from(high) << 32), K);
    }
    for &last in rest {
        key = fold_multiply(key ^ u64::from(last), K);
    }
    fmix64(key)
}

/// Sorts the keys of one band and calls `visit` once per key that several documents have, with these documents in
/// ascending order.
pub fn for_each_group(
    keys: &mut Vec<(u64, u32)>,
    scratch: &mut Vec<(u64, u32)>,
    mut visit: impl FnMut(&[(u64, u32)]),
) {
    sort_mixed(keys, scratch);
    for group in keys.chunk_by(|a, b| a.0 == b.0) {
        if group.len() > 1 {
            visit(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked() {
        let message = Banding::new(20, 8, 128).unwrap_err();
        assert_eq!(message.to_string(), "20 bands of 8 rows need 160 registers, but a sketch has 128");
        assert_eq!(message.hint().unwrap().to_string(), "`registers = 160` would be enough");
        assert!(Banding::new(0, 8, 128).is_err());
        assert!(Banding::new(8, 0, 128).is_err());
        let error = Banding::new(usize::MAX, 2, 128).unwrap_err();
        assert!(error.to_string().contains("need 36,893,488,147,419,103,230 registers"), "{error}");
        assert!(error.hint().is_none());
    }

    #[test]
    fn keys_depend_on_the_band_and_on_all_of_its_rows_only() {
        let banding = Banding::new(4, 3, 13).unwrap();
        let sketch: Vec<u32> = (100..113).collect();
        for band in 0..4 {
            for register in 0..13 {
                let mut changed = sketch.clone();
                changed[register] ^= 1;
                let inside = (band * 3..band * 3 + 3).contains(&register);
                assert_eq!(banding.key(band, &changed) != banding.key(band, &sketch), inside);
            }
        }
        // Equal rows in two different bands must have different keys.
        assert_ne!(banding.key(0, &[7; 13]), banding.key(1, &[7; 13]));
    }

    #[test]
    fn all_keys_are_those_of_each_band() {
        for (bands, rows) in [(1, 1), (4, 3), (6, 2), (13, 1), (1, 13)] {
            let banding = Banding::new(bands, rows, 13).unwrap();
            let sketch: Vec<u32> = (100..113).collect();
            let mut keys = vec![0; bands];
            banding.keys_into(&sketch, &mut keys);
            let one_by_one: Vec<u64> = (0..bands).map(|band| banding.key(band, &sketch)).collect();
            assert_eq!(keys, one_by_one);
        }
    }

    #[test]
    fn groups_are_found_and_ordered() {
        let mut keys: Vec<(u64, u32)> =
            (0..200).map(|doc| (fmix64(u64::from(doc) % 50), 199 - doc)).collect();
        keys.push((fmix64(999), 7));
        let mut groups = 0;
        for_each_group(&mut keys, &mut vec![], |group| {
            groups += 1;
            assert_eq!(group.len(), 4);
            assert!(group.is_sorted_by(|a, b| a.1 < b.1));
        });
        assert_eq!(groups, 50);
    }
}
