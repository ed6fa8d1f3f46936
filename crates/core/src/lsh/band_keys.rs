//! The band keys of many rows.
//!
//! The keys of a block of rows are computed while its rows are in the cache, and stored band by band. The thread that
//! fills the table of a band then reads its keys consecutively, instead of one cache line per row. Reading all rows
//! once per band took most of the time of a bulk insertion.

use crate::candidate::Banding;
use crate::sketch::minhash::EMPTY;

/// Number of rows per block.
pub(super) const BLOCK: usize = 64;

/// Band key of a row without shingles. No query finds this key.
pub(super) const NONE: u64 = u64::MAX;

/// Reports whether a row belongs to a document without shingles.
pub(super) fn is_empty(row: &[u32]) -> bool {
    row.iter().all(|&register| register == EMPTY)
}

/// Calls `visit` with the number and the key of each band of a row.
#[inline]
pub(super) fn for_each_key(banding: Banding, row: &[u32], mut visit: impl FnMut(usize, u64)) {
    let has_none = is_empty(row);
    for band in 0..banding.bands() {
        let key = banding.key(band, row).min(NONE - 1);
        visit(band, if has_none { NONE } else { key });
    }
}

/// The band keys of many rows.
pub(super) struct BandKeys {
    rows: usize,
    bands: usize,
    /// Keys of all rows, block by block. In a block, the keys of the first band come first, then the keys of the second
    /// band, and so on.
    keys: Vec<u64>,
}

impl BandKeys {
    /// Allocates memory for the keys of `rows` rows.
    pub(super) fn new(rows: usize, banding: Banding) -> Self {
        let bands = banding.bands();
        Self { rows, bands, keys: vec![0; rows.next_multiple_of(BLOCK) * bands] }
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Returns the blocks, which [`fill`](Self::fill) fills.
    pub(super) fn blocks(&mut self) -> std::slice::ChunksMut<'_, u64> {
        self.keys.chunks_mut(BLOCK * self.bands)
    }

    /// Fills a block with the keys of up to [`BLOCK`] rows, each of `words` words.
    pub(super) fn fill(block: &mut [u64], banding: Banding, rows: &[u32], words: usize) {
        for (at, row) in rows.chunks_exact(words).enumerate() {
            for_each_key(banding, row, |band, key| block[band * BLOCK + at] = key);
        }
    }

    /// Returns the keys of all rows in one band, one slice per block.
    pub(super) fn of_band(&self, band: usize) -> impl Iterator<Item = &[u64]> {
        let blocks = self.keys.chunks_exact(BLOCK * self.bands).enumerate();
        // The last block may have fewer than `BLOCK` rows.
        blocks.map(move |(number, block)| &block[band * BLOCK..][..BLOCK.min(self.rows - number * BLOCK)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;

    #[test]
    fn keys_of_blocks_are_those_of_rows() {
        let banding = Banding::new(3, 2, 7).unwrap();
        let mut random = SplitMix64::new(1);
        let mut rows: Vec<u32> = (0..150 * 7).map(|_| random.next_u32()).collect();
        rows[7 * 70..7 * 71].fill(EMPTY);
        let mut keys = BandKeys::new(150, banding);
        for (block, rows) in keys.blocks().zip(rows.chunks(BLOCK * 7)) {
            BandKeys::fill(block, banding, rows, 7);
        }
        for band in 0..3 {
            let mut expected = vec![];
            for row in rows.chunks(7) {
                for_each_key(banding, row, |number, key| expected.extend((number == band).then_some(key)));
            }
            assert_eq!(expected[70], NONE);
            assert_eq!(expected.iter().filter(|&&key| key == NONE).count(), 1);
            assert_eq!(keys.of_band(band).collect::<Vec<_>>().concat(), expected);
        }
    }
}
