//! Splits the comparison of every row of sketches with every other row into tiles that stay in the cache.

use std::ops::Range;

/// Number of rows per tile. A stretch of other rows in the first-level cache is compared with all rows of a tile.
const TILE: usize = 16;
/// Number of bytes per stretch: rows that are compared with a whole tile while they stay in the first-level cache.
const STRETCH_BYTES: usize = 32 << 10;

/// Division of all pairs of rows into tiles, which are pieces of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tiles {
    first: usize,
    second: usize,
    /// Whether both sides are the same rows. Each pair then occurs once, and no row is paired with itself.
    within_one: bool,
    stretch: usize,
}

impl Tiles {
    /// Divides the pairs among `rows` rows of `words` words each.
    pub(crate) fn within(rows: usize, words: usize) -> Self {
        Self { within_one: true, ..Self::between(rows, rows, words) }
    }

    /// Divides the pairs of `first` rows with `second` other rows.
    pub(crate) fn between(first: usize, second: usize, words: usize) -> Self {
        let stretch = (STRETCH_BYTES / (words * size_of::<u32>())).clamp(TILE, 1 << 16);
        Self { first, second, within_one: false, stretch }
    }

    /// Returns the number of tiles.
    pub(crate) fn len(&self) -> usize {
        self.first.div_ceil(TILE)
    }

    /// Returns the rows of the first side in a tile.
    pub(crate) fn rows(&self, tile: usize) -> Range<usize> {
        tile * TILE..((tile + 1) * TILE).min(self.first)
    }

    /// Visits the pairs of one tile: each row of the first side with stretches of rows of the second side. The
    /// stretches of a row come in ascending order.
    pub(crate) fn for_each_stretch(&self, tile: usize, mut visit: impl FnMut(usize, Range<usize>)) {
        let rows = self.rows(tile);
        let begin = if self.within_one { rows.start + 1 } else { 0 };
        for stretch in (begin..self.second).step_by(self.stretch) {
            let end = (stretch + self.stretch).min(self.second);
            for row in rows.clone() {
                let from = if self.within_one { stretch.max(row + 1) } else { stretch };
                if from < end {
                    visit(row, from..end);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(tiles: Tiles) -> Vec<(usize, usize)> {
        let mut pairs = vec![];
        for tile in 0..tiles.len() {
            tiles.for_each_stretch(tile, |row, others| pairs.extend(others.map(|other| (row, other))));
        }
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn every_pair_comes_once() {
        for rows in [0, 1, 2, 16, 17, 100] {
            // Long rows make short stretches.
            for words in [1, 1 << 14] {
                let within: Vec<_> = (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b))).collect();
                assert_eq!(pairs(Tiles::within(rows, words)), within);
                let between: Vec<_> = (0..rows).flat_map(|a| (0..37).map(move |b| (a, b))).collect();
                assert_eq!(pairs(Tiles::between(rows, 37, words)), between);
            }
        }
    }
}
