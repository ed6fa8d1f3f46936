//! How the bit sketches lay out their values, and compare them.
//!
//! A value of 8, 16 or 32 bits lies whole: 32/b of them to a word, the first in the lowest bits, and a vector
//! instruction compares them as they are. Values of other widths lie in planes: with w = ⌈n/32⌉ words for n values, bit
//! p of value i is bit i mod 32 of word p·w + ⌊i/32⌋. Two rows then differ where the exclusive or of any plane has a
//! one, and every width is compared in as few instructions as it has bits, also one that does not divide a word. Bits
//! beyond the last value are 0 in both forms.
//!
//! Measured with 512-bit vectors, nanoseconds a comparison of 128 and of 1024 values:
//!
//! | bits | whole | in planes | in planes of 64 values, block after block, without vectors |
//! |---|---|---|---|
//! | 2 | – | 5, 8 | 7, 27 |
//! | 4 | – | 7, 11 | 7, 31 |
//! | 8 | 3.5, 15 | 10, 22 | 8, 38 |
//! | 16 | 5, 28 | 18, 34 | 14, 71 |

use crate::kernel::Kernel;

/// The layout of some values of at most 32 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packing {
    values: usize,
    bits: usize,
    kernel: Kernel,
}

impl Packing {
    /// `values` values of `bits` bits, from 1 to 32, on the fastest kernel of this machine.
    pub(super) fn new(values: usize, bits: u32) -> Self {
        Self { values, bits: bits as usize, kernel: Kernel::detect() }
    }

    /// How many values there are.
    pub(super) fn values(self) -> usize {
        self.values
    }

    /// Whether values lie whole.
    fn whole(self) -> bool {
        matches!(self.bits, 8 | 16 | 32)
    }

    pub(super) fn words(self) -> usize {
        if self.whole() { self.values.div_ceil(32 / self.bits) } else { self.bits * self.values.div_ceil(32) }
    }

    /// Writes all values, of which `value` gives each in its lowest bits.
    pub(super) fn pack(self, value: impl Fn(usize) -> u32, out: &mut [u32]) {
        // Single bits are whole values too, which planes would take a detour for.
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

    /// How many values agree in all their bits.
    ///
    /// # Panics
    /// If a row has another length.
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
        // The row of an empty document is all ones, also beyond the last value.
        self.values.saturating_sub(different)
    }
}

/// Bit i of row j becomes bit j of row i (Warren, *Hacker's Delight*, 7-3).
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
        // Three planes of two words.
        Packing::new(40, 3).pack(|i| if i == 33 { 0b101 } else { 0 }, &mut out);
        assert_eq!(out, [0, 2, 0, 0, 0, 2]);
        // Three planes of one word; bits above the width are not kept.
        Packing::new(32, 3).pack(|i| if i == 5 { 0b1110 } else { 0 }, &mut out[..3]);
        assert_eq!(out[..3], [0, 32, 32]);
        // Every bit of a transposed square is where it belongs.
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
    fn an_empty_document_has_no_count_below_nought() {
        for bits in [1, 3, 8, 16, 32] {
            let packing = Packing::new(1, bits);
            let words = packing.words();
            assert_eq!(packing.matches(&vec![u32::MAX; words], &vec![0; words]), 0);
        }
    }
}
