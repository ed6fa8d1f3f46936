//! Every row of sketches against every other, in tiles that stay in the cache.

use std::ops::Range;

/// Rows whose partners are looked for together: a stretch of others that is in the nearest cache is used as often.
const TILE: usize = 16;
/// Rows that go by together and stay in the nearest cache, in bytes.
const STRETCH_BYTES: usize = 32 << 10;

/// A cut of all pairs into pieces of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tiles {
    first: usize,
    second: usize,
    /// Both are the same rows, so that each pair comes once and none with itself.
    within_one: bool,
    stretch: usize,
}

impl Tiles {
    /// The pairs of `rows` rows of so many words among themselves.
    pub(crate) fn within(rows: usize, words: usize) -> Self {
        Self { within_one: true, ..Self::between(rows, rows, words) }
    }

    /// The pairs of `first` rows with `second` others.
    pub(crate) fn between(first: usize, second: usize, words: usize) -> Self {
        let stretch = (STRETCH_BYTES / (words * size_of::<u32>())).clamp(TILE, 1 << 16);
        Self { first, second, within_one: false, stretch }
    }

    /// Pieces of work.
    pub(crate) fn len(&self) -> usize {
        self.first.div_ceil(TILE)
    }

    /// The rows of the first side that a piece is about.
    pub(crate) fn rows(&self, tile: usize) -> Range<usize> {
        tile * TILE..((tile + 1) * TILE).min(self.first)
    }

    /// Goes through the pairs of one piece: a row of the first side, and a stretch of the second. Stretches of one row come in
    /// ascending order.
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
