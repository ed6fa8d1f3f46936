//! Loops that run once per pair of sketches, and count agreeing registers or different bits.
//!
//! All loops take sketches as slices of words, so a loop over a matrix passes the rows of the matrix directly. All
//! counts are exact, so every kernel gives the same number. [`Kernel::different_bits_of_rows`] compares one row with
//! many rows and chooses the kernel once. A search of all pairs uses [`Kernel::near`], which screens the [`heads`] of
//! many sketches.
//!
//! | kernel | compares at once | counts ones by |
//! |---|---|---|
//! | `portable` | as compiled | arithmetic |
//! | `neon` | 128 bits | `cnt` |
//! | `avx2`, `avx512` | 256 bits | a table of 16 entries, looked up by `vpshufb` |
//! | `avx512-popcount` | 512 bits | `vpopcntq` |

use std::ops::Range;

use self::heads::{Heads, LANES};
use super::{Kernel, Kind};

pub mod heads;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(test)]
mod tests;

/// Number of words per row for which [`Kernel::different_bits_of_rows`] is unrolled: 32, for sketches of 1024 bits.
const UNROLLED: usize = 32;

/// Number of blocks that are compared before their near heads are listed.
const BLOCKS: usize = 512;
/// Maximum number of words of a probe that needs no allocation.
const PROBE_WORDS: usize = 32;

/// Calls the form of a loop that is written for the kernel.
macro_rules! form_of {
    ($kernel:expr, $name:ident($($argument:expr),*)) => {
        match $kernel.0 {
            Kind::Portable => portable::$name($($argument),*),
            // The 512-bit forms need an instruction that the first processors with AVX-512 lack.
            // SAFETY: a `Kernel` of this kind exists only where its features were detected, AVX2 among them.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 | Kind::Avx512 => unsafe { avx2::$name($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Popcount => unsafe { avx512::$name($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { neon::$name($($argument),*) },
        }
    };
}

impl Kernel {
    /// Returns the number of words in which two rows agree.
    ///
    /// # Panics
    /// Panics if the rows differ in length.
    #[must_use]
    pub fn equal_words(self, a: &[u32], b: &[u32]) -> usize {
        check(a, b);
        form_of!(self, equal_words(a, b))
    }

    /// Returns the number of 16-bit values in which two rows agree. A word has two such values.
    ///
    /// # Panics
    /// Panics if the rows differ in length.
    #[must_use]
    pub fn equal_half_words(self, a: &[u32], b: &[u32]) -> usize {
        check(a, b);
        form_of!(self, equal_half_words(a, b))
    }

    /// Returns the number of 8-bit values in which two rows agree. A word has four such values.
    ///
    /// # Panics
    /// Panics if the rows differ in length.
    #[must_use]
    pub fn equal_bytes(self, a: &[u32], b: &[u32]) -> usize {
        check(a, b);
        form_of!(self, equal_bytes(a, b))
    }

    /// Returns the number of bits in which two rows differ.
    ///
    /// # Panics
    /// Panics if the rows differ in length.
    #[must_use]
    pub fn different_bits(self, a: &[u32], b: &[u32]) -> usize {
        check(a, b);
        form_of!(self, different_in_planes(a, b, 1))
    }

    /// Returns the number of values in which two rows of `planes` planes differ. All planes have equally many words,
    /// and bit i of each plane belongs to value i.
    ///
    /// # Panics
    /// Panics if the rows differ in length, if `planes` is 0, or if the number of words is not a multiple of `planes`.
    #[must_use]
    pub fn different_in_planes(self, a: &[u32], b: &[u32], planes: usize) -> usize {
        check(a, b);
        assert!(planes > 0 && a.len().is_multiple_of(planes), "planes have equally many words");
        form_of!(self, different_in_planes(a, b, planes))
    }

    /// Counts the bits in which a row differs from each of `rows`, which lie one after the other.
    ///
    /// Rows of 32 words are compared fastest. To compare all pairs of a large matrix, pass as many `rows` at a time as
    /// the second-level cache holds, and call this function for every row with them.
    ///
    /// # Panics
    /// Panics if the row is empty, or if `rows` does not have one row of the same length per element of `counts`.
    pub fn different_bits_of_rows(self, row: &[u32], rows: &[u32], counts: &mut [u32]) {
        assert!(!row.is_empty(), "a row has at least one word");
        assert_eq!(rows.len(), row.len() * counts.len(), "one count per row");
        form_of!(self, different_bits_of_rows(row, rows, counts));
    }

    /// Appends to `found` the numbers of the near heads in `range`, in ascending order. A head is near if it differs
    /// from head `of` of `probes` in at most `most` values, plus the allowance of the head if it has one. Allowances of
    /// `probes` are ignored.
    ///
    /// # Panics
    /// Panics if `probes` and `heads` have different shapes, or if a head does not exist.
    pub fn near(
        self,
        probes: &Heads,
        of: usize,
        heads: &Heads,
        range: Range<usize>,
        most: usize,
        found: &mut Vec<u32>,
    ) {
        assert!(probes.words() == heads.words() && probes.planes() == heads.planes(), "heads of one shape");
        assert!(range.end <= heads.len(), "heads that are there");
        // The sum of `most` and an allowance stays below 2⁶³, because comparisons are signed.
        let most = (most as u64).min(heads::ALL);
        let mut few = [0; PROBE_WORDS];
        let many: Vec<u64>;
        let probe: &[u64] = if let Some(few) = few.get_mut(..heads.words()) {
            few.iter_mut().zip(probes.head(of)).for_each(|(out, word)| *out = word);
            few
        } else {
            many = probes.head(of).collect();
            &many
        };
        let mut near = [0; BLOCKS];
        let all = range.start / LANES..range.end.div_ceil(LANES).max(range.start / LANES);
        for first in all.clone().step_by(BLOCKS) {
            let blocks = first..(first + BLOCKS).min(all.end);
            let lanes = heads.blocks(blocks.clone());
            // The loop over words reads whole words of 64 bits, and the last word may have more bytes than there are
            // blocks.
            near[blocks.len()..blocks.len().next_multiple_of(8)].fill(0);
            let out = &mut near[..blocks.len()];
            let allowances = heads.allowances(blocks.clone());
            form_of!(self, near(probe, lanes, allowances, heads.planes(), most, out));
            for (word, bytes) in
                near[..blocks.len().next_multiple_of(8)].as_chunks::<8>().0.iter().enumerate()
            {
                // Bit i of byte j belongs to head 8·j + i.
                let mut bits = u64::from_le_bytes(*bytes);
                while bits != 0 {
                    let head = (first + word * 8) * LANES + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    // The first and the last block may reach beyond the range.
                    if range.contains(&head) {
                        found.push(head as u32);
                    }
                }
            }
        }
    }

    /// Appends to `counts` the number of bits in which a row differs from each of the rows at `places`. `rows` lie one
    /// after the other.
    ///
    /// # Panics
    /// Panics if `rows` has no row at one of the places.
    pub fn different_bits_at(self, row: &[u32], rows: &[u32], places: &[u32], counts: &mut Vec<u32>) {
        counts.reserve(places.len());
        form_of!(self, different_bits_at(row, rows, places, counts));
    }
}

fn check(a: &[u32], b: &[u32]) {
    assert_eq!(a.len(), b.len(), "rows of one length");
}

/// Counts row by row. This function is inlined into the form of each kernel.
#[inline(always)]
fn row_by_row(row: &[u32], rows: &[u32], counts: &mut [u32], different: impl Fn(&[u32], &[u32]) -> usize) {
    for (count, other) in counts.iter_mut().zip(rows.chunks_exact(row.len())) {
        *count = different(row, other) as u32;
    }
}
