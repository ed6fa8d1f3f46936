//! The bits of band keys by which rows are looked up, for many rows at a time.
//!
//! The hashes of a block of rows are computed while its rows are in the cache, and lie together band by band. A thread that
//! fills the table of one band then reads its hashes one behind the other, and not one cache line of each row: going through
//! the rows once per band took most of the time of a bulk insertion.

use crate::candidate::Banding;
use crate::sketch::minhash::EMPTY;

/// Rows of a block.
pub(super) const BLOCK: usize = 64;

/// The hash of a row without shingles, which no band key has.
pub(super) const NONE: u32 = u32::MAX;

/// Whether a row is that of a document without shingles.
pub(super) fn is_empty(row: &[u32]) -> bool {
    row.iter().all(|&register| register == EMPTY)
}

/// Calls `visit` with the hash of each band of a row.
#[inline]
pub(super) fn for_each_hash(banding: Banding, row: &[u32], mut visit: impl FnMut(usize, u32)) {
    let has_none = is_empty(row);
    for band in 0..banding.bands() {
        let hash = ((banding.key(band, row) >> 32) as u32).min(NONE - 1);
        visit(band, if has_none { NONE } else { hash });
    }
}

/// The hashes of many rows.
pub(super) struct Hashes {
    rows: usize,
    bands: usize,
    /// Block by block: the hashes of the first band, then those of the second.
    values: Vec<u32>,
}

impl Hashes {
    /// Room for the hashes of so many rows.
    pub(super) fn new(rows: usize, banding: Banding) -> Self {
        let bands = banding.bands();
        Self { rows, bands, values: vec![NONE; rows.next_multiple_of(BLOCK) * bands] }
    }

    /// The blocks, to be filled.
    pub(super) fn blocks(&mut self) -> std::slice::ChunksMut<'_, u32> {
        self.values.chunks_mut(BLOCK * self.bands)
    }

    /// Fills a block with the hashes of up to [`BLOCK`] rows of so many words.
    pub(super) fn fill(block: &mut [u32], banding: Banding, rows: &[u32], words: usize) {
        for (at, row) in rows.chunks_exact(words).enumerate() {
            for_each_hash(banding, row, |band, hash| block[band * BLOCK + at] = hash);
        }
    }

    /// The hashes of all rows in one band.
    pub(super) fn of_band(&self, band: usize) -> impl Iterator<Item = u32> {
        let blocks = self.values.chunks_exact(BLOCK * self.bands);
        blocks.flat_map(move |block| &block[band * BLOCK..][..BLOCK]).copied().take(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;

    #[test]
    fn hashes_of_blocks_are_those_of_rows() {
        let banding = Banding::new(3, 2, 7).unwrap();
        let mut random = SplitMix64::new(1);
        let mut rows: Vec<u32> = (0..150 * 7).map(|_| random.next_u32()).collect();
        rows[7 * 70..7 * 71].fill(EMPTY);
        let mut hashes = Hashes::new(150, banding);
        for (block, rows) in hashes.blocks().zip(rows.chunks(BLOCK * 7)) {
            Hashes::fill(block, banding, rows, 7);
        }
        for band in 0..3 {
            let mut expected = vec![];
            for row in rows.chunks(7) {
                for_each_hash(banding, row, |number, hash| expected.extend((number == band).then_some(hash)));
            }
            assert_eq!(expected[70], NONE);
            assert_eq!(expected.iter().filter(|&&hash| hash == NONE).count(), 1);
            assert!(hashes.of_band(band).eq(expected));
        }
    }
}
