//! The layout of the values of bit sketches, and their comparison.
//!
//! A value of 8, 16 or 32 bits is stored whole: 32/b such values per word, the first in the lowest bits, and a vector
//! instruction compares them. Values of other widths are stored in planes: with w = ⌈n/32⌉ words for n values, bit p of
//! value i is bit i mod 32 of word p·w + ⌊i/32⌋. Two rows then differ where the exclusive or of any plane has a one.
//! Every width takes as few instructions as it has bits, even if it does not divide a word. Bits after the last value
//! are 0 in both forms.
//!
//! Comparisons measured with 512-bit vectors, in nanoseconds for 128 and for 1024 values:
//!
//! | bits | whole | in planes | in planes of 64 values, block after block, without vectors |
//! |---|---|---|---|
//! | 2 | – | 5, 8 | 7, 27 |
//! | 4 | – | 7, 11 | 7, 31 |
//! | 8 | 3.5, 15 | 10, 22 | 8, 38 |
//! | 16 | 5, 28 | 18, 34 | 14, 71 |

use std::ops::Range;

use crate::kernel::Kernel;
use crate::kernel::compare::heads::{GROUP, MOST_PLANES};

/// Number of bits of a word.
const WORD: usize = 32;

/// Layout of some values of at most 32 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packing {
    values: usize,
    bits: usize,
    kernel: Kernel,
}

impl Packing {
    /// Makes the layout of `values` values of `bits` bits, from 1 to 32, on the fastest kernel of this machine.
    pub(super) fn new(values: usize, bits: u32) -> Self {
        Self { values, bits: bits as usize, kernel: Kernel::detect() }
    }

    pub(super) fn values(self) -> usize {
        self.values
    }

    /// Reports whether values are stored whole, and not in planes.
    fn whole(self) -> bool {
        matches!(self.bits, 8 | 16 | 32)
    }

    pub(super) fn words(self) -> usize {
        if self.whole() { self.values.div_ceil(32 / self.bits) } else { self.bits * self.values.div_ceil(32) }
    }

    /// Writes all values. `value` returns a value in its lowest bits; its other bits are ignored.
    pub(super) fn pack(self, value: impl Fn(usize) -> u32, out: &mut [u32]) {
        // Single bits lie the same way whole or in one plane, and writing them whole needs no transposition.
        if self.whole() || self.bits == 1 {
            self.pack_whole(value, out);
        } else {
            self.pack_planes(value, out);
        }
    }

    fn pack_whole(self, value: impl Fn(usize) -> u32, out: &mut [u32]) {
        let (together, mask) = (32 / self.bits, u32::MAX >> (32 - self.bits));
        for (word, first) in out.iter_mut().zip((0..).step_by(together)) {
            let here = first..self.values.min(first + together);
            *word = here.fold(0, |word, i| word | (value(i) & mask) << ((i - first) * self.bits));
        }
    }

    fn pack_planes(self, value: impl Fn(usize) -> u32, out: &mut [u32]) {
        let words = self.values.div_ceil(32);
        for word in 0..words {
            let mut rows = [0; 32];
            for (row, i) in rows.iter_mut().zip(32 * word..self.values) {
                *row = value(i);
            }
            if self.bits > 2 {
                transpose(&mut rows);
            } else {
                let plane = |plane: u32| (0..32).fold(0, |word, i| word | (rows[i] >> plane & 1) << i);
                [rows[0], rows[1]] = [plane(0), plane(1)];
            }
            for (plane, row) in rows.into_iter().take(self.bits).enumerate() {
                out[plane * words + word] = row;
            }
        }
    }

    /// Returns the number of values that agree in all their bits.
    ///
    /// # Panics
    /// Panics if a row has another length than this layout.
    pub(super) fn matches(self, a: &[u32], b: &[u32]) -> usize {
        assert!(
            a.len() == self.words() && b.len() == self.words(),
            "sketches of one spec have equally many words"
        );
        let places = self.words() * 32 / self.bits;
        let different = match self.bits {
            1 => self.kernel.different_bits(a, b),
            8 => places - self.kernel.equal_bytes(a, b),
            16 => places - self.kernel.equal_half_words(a, b),
            32 => places - self.kernel.equal_words(a, b),
            bits => self.kernel.different_in_planes(a, b, bits),
        };
        // The row of an empty document is all ones, also after the last value. Two rows may therefore differ in more
        // places than they have values.
        self.values.saturating_sub(different)
    }
}

impl Packing {
    /// Returns the number of values in `range` in which two rows differ.
    ///
    /// # Panics
    /// Panics if a row has another length than this layout, or `range` ends after the last value.
    fn different_within(self, a: &[u32], b: &[u32], range: Range<usize>) -> usize {
        assert!(
            a.len() == self.words() && b.len() == self.words() && range.end <= self.values,
            "rows of this layout, and values that they have"
        );
        if self.whole() {
            let together = WORD / self.bits;
            let (begin, end) = (range.start.div_ceil(together), range.end / together);
            if begin > end {
                return self.different_one_by_one(a, b, range);
            }
            let (a_words, b_words) = (&a[begin..end], &b[begin..end]);
            let equal = match self.bits {
                8 => self.kernel.equal_bytes(a_words, b_words),
                16 => self.kernel.equal_half_words(a_words, b_words),
                _ => self.kernel.equal_words(a_words, b_words),
            };
            (end - begin) * together - equal
                + self.different_one_by_one(a, b, range.start..begin * together)
                + self.different_one_by_one(a, b, end * together..range.end)
        } else if self.bits == 1 && range.start.is_multiple_of(WORD) && range.end.is_multiple_of(WORD) {
            let words = range.start / WORD..range.end / WORD;
            self.kernel.different_bits(&a[words.clone()], &b[words])
        } else {
            let words = self.values.div_ceil(WORD);
            let differ = |word: usize| {
                let planes = (0..self.bits).map(|plane| plane * words + word);
                let all = planes.fold(0, |seen, at| seen | (a[at] ^ b[at]));
                (all & bits_within(word * WORD, &range)).count_ones() as usize
            };
            (range.start / WORD..range.end.div_ceil(WORD)).map(differ).sum()
        }
    }

    /// Does the work of [`different_within`](Self::different_within) for the few whole values that share a word with
    /// values outside of the range.
    fn different_one_by_one(self, a: &[u32], b: &[u32], range: Range<usize>) -> usize {
        range.filter(|&i| self.whole_value(a, i) != self.whole_value(b, i)).count()
    }

    fn whole_value(self, row: &[u32], i: usize) -> u32 {
        let together = WORD / self.bits;
        row[i / together] >> (i % together * self.bits) & (u32::MAX >> (WORD - self.bits))
    }

    /// Writes the head of a row: up to four bits of each of its first values (see
    /// [`heads`](crate::kernel::compare::heads)).
    fn head_into(self, row: &[u32], shape: HeadShape, out: &mut [u64]) {
        let HeadShape { values, planes } = shape;
        out.fill(0);
        if self.whole() {
            for i in 0..values {
                let value = self.whole_value(row, i);
                // The low bits of some registers are not evenly distributed, so registers are mixed here. Values of bit
                // sketches were mixed before.
                let bits = if self.bits == 32 { value.wrapping_mul(0x9e37_79b1) >> 28 } else { value };
                for (plane, word) in out[i / GROUP * planes..][..planes].iter_mut().enumerate() {
                    *word |= u64::from(bits >> plane & 1) << (i % GROUP);
                }
            }
            return;
        }
        let words = self.values.div_ceil(WORD);
        for word in 0..values.div_ceil(WORD) {
            let kept = bits_within(word * WORD, &(0..values));
            for plane in 0..planes {
                let bits = u64::from(row[plane * words + word] & kept);
                out[word / 2 * planes + plane] |= bits << (word % 2 * WORD);
            }
        }
    }
}

/// Returns a mask of the bits that belong to values of `range`, in the word whose first bit belongs to value `first`.
fn bits_within(first: usize, range: &Range<usize>) -> u32 {
    let below = |end: usize| match end.saturating_sub(first) {
        bits @ 0..WORD => (1_u32 << bits) - 1,
        _ => u32::MAX,
    };
    below(range.end) & !below(range.start)
}

/// Size of a head: how many values of a sketch it covers, and how many bits of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct HeadShape {
    /// Number of values in the head, counted from the first value of the sketch.
    pub values: usize,
    /// Number of bits that the head keeps per value.
    pub planes: usize,
}

impl HeadShape {
    /// Returns the number of groups of 64 values.
    #[must_use]
    pub fn groups(self) -> usize {
        self.values.div_ceil(GROUP)
    }
}

/// The layout of values of one width in the rows of a sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueLayout {
    /// Index of the word in the row at which the first value begins.
    begin: usize,
    packing: Packing,
}

impl ValueLayout {
    pub(super) fn new(begin: usize, packing: Packing) -> Self {
        Self { begin, packing }
    }

    /// Makes the layout of whole registers, one word each.
    #[must_use]
    pub fn registers(registers: usize) -> Self {
        Self::new(0, Packing::new(registers, 32))
    }

    /// Reports whether the values are whole registers, one word each, that begin with the first word.
    #[must_use]
    pub fn are_registers(&self) -> bool {
        self.begin == 0 && self.packing.bits == 32
    }

    /// Makes the layout of single bits that fill `words` words.
    #[must_use]
    pub fn single_bits(words: usize) -> Self {
        Self::new(0, Packing::new(words * WORD, 1))
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(self) -> usize {
        self.packing.values
    }

    /// Returns the number of bits per value.
    #[must_use]
    pub fn bits(self) -> usize {
        self.packing.bits
    }

    /// Returns the greatest number of bits per value that a head can have.
    #[must_use]
    pub fn most_planes(self) -> usize {
        self.packing.bits.min(MOST_PLANES)
    }

    /// Returns the number of values in `range` in which two rows differ.
    ///
    /// # Panics
    /// Panics if a row is too short, or `range` ends after the last value.
    #[must_use]
    pub fn different_within(self, a: &[u32], b: &[u32], range: Range<usize>) -> usize {
        self.packing.different_within(self.part(a), self.part(b), range)
    }

    /// Writes the head of a row.
    ///
    /// # Panics
    /// Panics if the row is too short, if the head has more values or [planes](Self::most_planes) than this layout, or
    /// if `out` does not have as many words as the head.
    pub fn head_into(self, row: &[u32], shape: HeadShape, out: &mut [u64]) {
        assert!(shape.values <= self.count() && shape.planes <= self.most_planes(), "a head of these values");
        assert_eq!(out.len(), shape.groups() * shape.planes, "as many words as the head has");
        self.packing.head_into(self.part(row), shape, out);
    }

    fn part(self, row: &[u32]) -> &[u32] {
        &row[self.begin..][..self.packing.words()]
    }
}

/// A condition that two documents must meet for their estimate to reach a threshold: at most some number of values may
/// differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct DifferenceBound {
    /// Layout of the values to which the condition applies.
    pub values: ValueLayout,
    /// Greatest number of values in which two documents may differ; `None` if no estimate reaches the threshold.
    pub most: Option<usize>,
}

impl DifferenceBound {
    /// Returns the bound on the differing values of a sketch, for an estimate that rises with the number of matches.
    pub(super) fn of_all(packing: Packing, threshold: f64, estimate: impl Fn(usize) -> f64) -> Self {
        let values = packing.values;
        let least = partition_point(values + 1, |matches| estimate(matches) < threshold);
        Self { values: ValueLayout::new(0, packing), most: values.checked_sub(least) }
    }
}

/// Returns the first number below `end` for which `is_before` returns `false`, or `end` if there is none. `is_before`
/// must return `true` up to some number and `false` from it on.
pub(super) fn partition_point(end: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Transposes a square of bits: bit i of row j becomes bit j of row i (Warren, *Hacker's Delight*, 7-3).
fn transpose(rows: &mut [u32; 32]) {
    let mut mask = 0x0000_ffff;
    for step in [16, 8, 4, 2, 1] {
        for block in rows.chunks_exact_mut(2 * step) {
            let (low, high) = block.split_at_mut(step);
            for (low, high) in low.iter_mut().zip(high) {
                let swap = (*low >> step ^ *high) & mask;
                *low ^= swap << step;
                *high ^= swap;
            }
        }
        mask ^= mask << (step / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;

    #[test]
    fn the_layout_of_the_planes() {
        let mut out = [9; 6];
        // The layout is three planes of two words.
        Packing::new(40, 3).pack(|i| if i == 33 { 0b101 } else { 0 }, &mut out);
        assert_eq!(out, [0, 2, 0, 0, 0, 2]);
        // The layout is three planes of one word. Bits above the width are not kept.
        Packing::new(32, 3).pack(|i| if i == 5 { 0b1110 } else { 0 }, &mut out[..3]);
        assert_eq!(out[..3], [0, 32, 32]);
        // Every bit of a transposed square is at its new place.
        let mut random = SplitMix64::new(1);
        let rows: [u32; 32] = std::array::from_fn(|_| random.next_u32());
        let mut turned = rows;
        transpose(&mut turned);
        assert!((0..1024).all(|i| rows[i / 32] >> (i % 32) & 1 == turned[i % 32] >> (i / 32) & 1));
    }

    #[test]
    fn the_layout_of_whole_values() {
        let mut out = [9; 3];
        let packed = |bits, out: &mut [u32]| Packing::new(3, bits).pack(|i| 0x1234_5670 + i as u32, out);
        packed(8, &mut out[..1]);
        assert_eq!(out[0], 0x0072_7170);
        packed(16, &mut out[..2]);
        assert_eq!(out[..2], [0x5671_5670, 0x5672]);
        packed(32, &mut out);
        assert_eq!(out, [0x1234_5670, 0x1234_5671, 0x1234_5672]);
    }

    #[test]
    fn values_agree_where_all_their_bits_do() {
        let mut random = SplitMix64::new(2);
        for values in [1, 3, 31, 32, 33, 96, 97, 200, 513] {
            let a: Vec<u32> = (0..values).map(|_| random.next_u32()).collect();
            let b: Vec<u32> = a.iter().map(|value| value ^ 1_u32.rotate_left(random.next_u32())).collect();
            for bits in 1..=32 {
                let packing = Packing::new(values, bits);
                let [mut row_a, mut row_b] = [0; 2].map(|_| vec![7; packing.words()]);
                packing.pack(|i| a[i], &mut row_a);
                packing.pack(|i| b[i], &mut row_b);
                let expected = (0..values).filter(|&i| (a[i] ^ b[i]) << (32 - bits) == 0).count();
                assert_eq!(packing.matches(&row_a, &row_b), expected, "{values} values of {bits} bits");
                assert_eq!(packing.matches(&row_a, &row_a), values);
            }
        }
    }

    #[test]
    fn ranges_of_values_and_heads_agree_with_all_values() {
        let mut random = SplitMix64::new(3);
        for count in [1, 31, 64, 65, 130, 200] {
            let a: Vec<u32> = (0..count).map(|_| random.next_u32()).collect();
            let b: Vec<u32> =
                a.iter().map(|value| value ^ (random.next_u32() & random.next_u32() & 5)).collect();
            for bits in 1..=32 {
                let packing = Packing::new(count, bits);
                // Three words of another group lie before this group.
                let [mut row_a, mut row_b] = [9, 8].map(|other| vec![other; packing.words() + 3]);
                packing.pack(|i| a[i], &mut row_a[3..]);
                packing.pack(|i| b[i], &mut row_b[3..]);
                let values = ValueLayout::new(3, packing);
                let differ = |i: &usize| (a[*i] ^ b[*i]) << (32 - bits) != 0;
                for range in [0..count, 0..count / 2, count / 2..count, count / 3..count / 2, 0..0] {
                    let expected = range.clone().filter(differ).count();
                    assert_eq!(
                        values.different_within(&row_a, &row_b, range.clone()),
                        expected,
                        "{bits} {range:?}"
                    );
                }
                for planes in 1..=values.most_planes() {
                    for first in [1, count / 2, count].into_iter().filter(|&first| first > 0) {
                        let shape = HeadShape { values: first, planes };
                        let [mut head_a, mut head_b] = [7; 2].map(|_| vec![7; shape.groups() * planes]);
                        values.head_into(&row_a, shape, &mut head_a);
                        values.head_into(&row_b, shape, &mut head_b);
                        let kept = |value: u32| match bits {
                            32 => value.wrapping_mul(0x9e37_79b1) >> 28 & ((1 << planes) - 1),
                            _ => value & ((1 << planes) - 1),
                        };
                        let expected = (0..first).filter(|&i| kept(a[i]) != kept(b[i])).count();
                        let groups = head_a.chunks(planes).zip(head_b.chunks(planes));
                        let found: u32 = groups
                            .map(|(a, b)| a.iter().zip(b).fold(0, |seen, (a, b)| seen | (a ^ b)).count_ones())
                            .sum();
                        assert_eq!(
                            found as usize, expected,
                            "{first} of {count} values, {planes} of {bits} bits"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn an_empty_document_has_no_count_below_nought() {
        for bits in [1, 3, 8, 16, 32] {
            let packing = Packing::new(1, bits);
            let words = packing.words();
            assert_eq!(packing.matches(&vec![u32::MAX; words], &vec![0; words]), 0);
        }
    }
}
