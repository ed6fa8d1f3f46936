//! `MinHash`.
//!
//! - **Paper.** Broder, *On the resemblance and containment of documents*, 1997; Hassanian-esfahani 2018, §2,
//!   Bergillos 2018, §4, and [Anonymous](crate#sources), §1.
//! - **Idea.** Under a random order of all shingles, the first shingle of A and the first of B are the same shingle
//!   with probability J(A, B). A register keeps the least value of one hash function over the document. The share of
//!   registers in which two documents agree estimates their Jaccard similarity.
//! - **Symbols.** k → `registers`; hᵢ(x) = aᵢ·m(x) + bᵢ mod 2³², where m folds the shingle to 32 mixed bits and aᵢ is
//!   odd.
//! - **Formula.** The seed starts `SplitMix64`. The upper half of its first number is s. Each further number n gives
//!   one function: aᵢ = (n ≫ 32) | 1, bᵢ = n mod 2³². A shingle x folds to m(x) = fmix32(((x mod 2³²) + 0x9e3779b1 · (x
//!   ≫ 32)) mod 2³² ⊕ s).
//! - **Cost.** k multiplications per shingle, vectorised: about 7 ns per shingle for k = 128 with AVX-512; 4k bytes per
//!   sketch.
//! - **Error.** The estimate is unbiased, with variance J(1−J)/k. Statistical tests check both for consecutive ids,
//!   random ids and the shingles of texts. Registers of 32 bits let two documents of n shingles each agree by accident
//!   with probability n/2³³ on average, which is 0.0001 for a million shingles.
//! - **Differs.** The sources use aᵢ·x + bᵢ on raw row numbers, which is not min-wise on structured ids (E-35), and
//!   allow aᵢ = 0 (E-33) or aᵢ even, which loses shingles. Here ids are mixed first and aᵢ is odd, so that every hᵢ is
//!   a permutation of the mixed keys. Registers are compared one by one, never as sets (E-09).
//! - **Vectors.** Golden values that this crate computed itself.
//!
//! - **Use when** in doubt. Registers merge by minimum, so parts of a document can be sketched separately.
//! - **Do not** use it for documents of far more than 10⁷ shingles if an estimate finer than 0.001 matters.

use super::{Registers, Sketcher, Statistic, merge_minima};
use crate::error::Error;
use crate::estimate::{self, Estimate};
use crate::hash::SplitMix64;
use crate::kernel::{Kernel, Linear};

/// Value of every register of a document without shingles.
pub const EMPTY: u32 = u32::MAX;

/// Greatest number of registers of a sketch.
pub(super) const MOST_REGISTERS: usize = 1 << 16;

pub(super) fn check_registers(registers: usize) -> Result<(), Error> {
    if (1..=MOST_REGISTERS).contains(&registers) {
        Ok(())
    } else {
        Err(Error::out_of_range("the number of registers", registers, "from 1 to 65,536"))
    }
}

/// Makes sketches of the minima of k functions.
#[derive(Debug, Clone)]
pub struct MinHash {
    seed: u32,
    multipliers: Vec<u32>,
    offsets: Vec<u32>,
    kernel: Kernel,
}

impl MinHash {
    /// Makes a sketcher with `registers` hash functions, which `seed` chooses, on the fastest kernel of this machine.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        let mut random = SplitMix64::new(seed);
        let seed = random.next_u32();
        let (multipliers, offsets) = (0..registers)
            .map(|_| {
                let drawn = random.next_u64();
                ((drawn >> 32) as u32 | 1, drawn as u32)
            })
            .unzip();
        Ok(Self { seed, multipliers, offsets, kernel: Kernel::detect() })
    }

    /// Sets the kernel. All kernels give the same sketches.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// Returns k, the number of registers.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.multipliers.len()
    }

    /// Writes the sketch of a set of shingles; repeats and order do not matter.
    ///
    /// # Panics
    /// Panics if `out` does not have [`registers`](Self::registers) elements.
    pub fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        out.fill(EMPTY);
        let family = Linear { a: &self.multipliers, b: &self.offsets };
        self.kernel.minima(shingles, self.seed, family, out);
    }
}

impl super::sealed::Sealed for MinHash {}

impl Sketcher for MinHash {
    fn words(&self) -> usize {
        self.registers()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        self.sketch_into(shingles, out);
    }

    fn merge_into(&self, a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
        merge_minima(a, b, out)
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualWords
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        estimate::minhash::estimate(a, b)
    }
}

impl Registers for MinHash {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sketch(shingles: &[u64]) -> Vec<u32> {
        let minhash = MinHash::new(40, 1).unwrap();
        let mut out = vec![0; 40];
        minhash.sketch_into(shingles, &mut out);
        out
    }

    proptest! {
        #[test]
        fn neither_order_nor_repeats_matter(mut shingles in proptest::collection::vec(any::<u64>(), 1..50)) {
            let expected = sketch(&shingles);
            shingles.extend_from_within(..);
            shingles.reverse();
            prop_assert_eq!(sketch(&shingles), expected);
        }

        #[test]
        fn a_union_merges_by_minimum(shingles in proptest::collection::vec(any::<u64>(), 0..50), cut: prop::sample::Index) {
            let (a, b) = shingles.split_at(cut.index(shingles.len() + 1));
            let merged: Vec<u32> = sketch(a).into_iter().zip(sketch(b)).map(|(a, b)| a.min(b)).collect();
            prop_assert_eq!(merged, sketch(&shingles));
        }
    }

    #[test]
    fn nothing_gives_empty_registers() {
        assert_eq!(sketch(&[]), [EMPTY; 40]);
    }

    #[test]
    fn more_registers_begin_like_fewer() {
        let shingles = [1, 2, 3];
        let mut long = vec![0; 60];
        MinHash::new(60, 1).unwrap().sketch_into(&shingles, &mut long);
        assert_eq!(long[..40], sketch(&shingles));
    }

    #[test]
    fn seeds_differ() {
        let mut other = vec![0; 40];
        MinHash::new(40, 2).unwrap().sketch_into(&[1, 2, 3], &mut other);
        assert!(other.iter().zip(sketch(&[1, 2, 3])).filter(|(a, b)| **a == *b).count() < 3);
    }

    #[test]
    fn the_number_of_registers_is_checked() {
        for wrong in [0, MOST_REGISTERS + 1] {
            let message = MinHash::new(wrong, 1).unwrap_err().to_string();
            assert!(message.contains("from 1 to 65,536"), "{message}");
        }
    }
}
