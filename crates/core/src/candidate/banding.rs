//! Banding: documents whose sketches agree in a whole band are candidates.
//!
//! Paper      Broder 1997; Indyk and Motwani 1998; the sources' digest 02, 2.
//! Idea       The registers are cut into b bands of r rows. Two documents at similarity s agree in all rows of one band
//!            with probability sʳ, so they meet in at least one of the bands with probability 1 − (1 − sʳ)ᵇ.
//! Symbols    b → `bands`, r → `rows`.
//! Formula    key ← fmix64(band + 1); for each pair of rows l, u: key ← fold((key ⊕ (l + 2³²·u)) · K), a last odd row with
//!            u = 0; the key is fmix64 of that. K = 0xc4ceb9fe1a85ec53, and fold is that of [`crate::hash`].
//! Cost       one 64-bit key a band and document, sorted band by band.
//! Differs    The fifth source takes a number below N for the identity of a band, which makes about b false candidates
//!            a query (E-40); the second one's vector hash collides on small values (E-38). A key here is 64 mixed bits
//!            of the band's number and all its rows.
//! Vectors    `vectors/minhash.toml`, ours.

use crate::error::{Error, ErrorKind};
use crate::hash::{SplitMix64, fmix64, fold_multiply};
use crate::sort::sort_mixed;

/// A cut of sketches into bands of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Banding {
    bands: usize,
    rows: usize,
}

impl Banding {
    /// `bands` bands of `rows` rows, on sketches of `registers` registers; registers left over take no part.
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

    /// b.
    #[must_use]
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// r.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The key of one band of a sketch: equal keys, equal rows (but for one in 2⁶⁴).
    ///
    /// # Panics
    /// If the sketch is shorter than the banding was made for.
    #[inline]
    #[must_use]
    pub fn key(&self, band: usize, sketch: &[u32]) -> u64 {
        rows_key(band as u64, &sketch[band * self.rows..][..self.rows])
    }

    /// How often the documents of a band can be split by `more` of the registers that are not its own.
    #[must_use]
    pub fn most_splits(&self, registers: usize, more: usize) -> usize {
        (registers - self.rows) / more
    }

    /// The further registers by which the documents of each band are split when they are too many.
    #[must_use]
    pub fn splits(&self, registers: usize, more: usize) -> Splits {
        let used = self.bands * self.rows;
        let further = |band: usize| {
            // Registers that no band uses come first, other ones for each band; then those of the other bands,
            // shuffled. Taking the next band's rows instead would make neighbouring bands succeed and fail together.
            let spare = registers - used;
            let mut further: Vec<u32> =
                (0..spare).map(|at| (used + (band * more + at) % spare) as u32).collect();
            let own = band * self.rows..(band + 1) * self.rows;
            let mut others: Vec<u32> = (0..used).filter(|at| !own.contains(at)).map(|at| at as u32).collect();
            let mut random = SplitMix64::new(band as u64);
            for left in (1..others.len()).rev() {
                others.swap(left, (random.next_u64() % (left as u64 + 1)) as usize);
            }
            further.append(&mut others);
            further
        };
        Splits { more, further: (0..self.bands).map(further).collect() }
    }
}

/// Further registers for each band.
#[derive(Debug, Clone)]
pub struct Splits {
    more: usize,
    further: Vec<Vec<u32>>,
}

impl Splits {
    /// The key of a sketch for one split of a band.
    ///
    /// # Panics
    /// If there is no such split, or the sketch is shorter than the banding was made for.
    #[must_use]
    pub fn key(&self, band: usize, split: usize, sketch: &[u32]) -> u64 {
        let at = &self.further[band][split * self.more..][..self.more];
        let rows: Vec<u32> = at.iter().map(|&at| sketch[at as usize]).collect();
        rows_key(band as u64, &rows)
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

/// Sorts the keys of one band and calls `visit` with the documents of every key that has more than one, each time in
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
        assert!(error.to_string().contains("need 36893488147419103230 registers"), "{error}");
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
        // The same rows in two bands are no match.
        assert_ne!(banding.key(0, &[7; 13]), banding.key(1, &[7; 13]));
    }

    #[test]
    fn splits_take_every_register_but_the_band_s_own_once() {
        let banding = Banding::new(4, 3, 16).unwrap();
        let splits = banding.splits(16, 2);
        let most = banding.most_splits(16, 2);
        assert_eq!(most, 6);
        let sketch: Vec<u32> = (0..16).collect();
        for band in 0..4 {
            for register in 0..16 {
                let mut changed = sketch.clone();
                changed[register] += 100;
                let seen = (0..most)
                    .filter(|&split| splits.key(band, split, &changed) != splits.key(band, split, &sketch))
                    .count();
                let own = (band * 3..band * 3 + 3).contains(&register);
                // One register of the thirteen others is left over when they are taken in twos.
                assert!(
                    seen == usize::from(!own) || (seen == 0 && splits.further[band][12] == register as u32)
                );
            }
        }
    }

    #[test]
    fn the_first_splits_of_different_bands_share_no_register() {
        let splits = Banding::new(16, 6, 128).unwrap().splits(128, 2);
        let mut first: Vec<u32> = splits.further.iter().flat_map(|further| further[..2].to_vec()).collect();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first, (96..128).collect::<Vec<u32>>());
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
