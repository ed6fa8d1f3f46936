//! Min-max hash.
//!
//! - **Paper.** Ji, Li, Yan, Tian and Zhang, *Min-max hash for Jaccard similarity*, ICDM 2013;
//!   [Hassanian-esfahani 2018](crate#sources), Table 1.
//! - **Idea.** The greatest value of a hash function is as good a sample of the document as the least one.
//!   Keeping both takes half as many functions for k registers.
//! - **Symbols.** k → `registers`, even; u = |A∪B|, a = |A∩B|.
//! - **Formula.** The functions hᵢ of [`minhash`](super::minhash) with k/2 registers and the same seed. Register i <
//!   k/2 is min hᵢ; register k/2 + i is 2³² − 1 − max hᵢ, which is the minimum of −aᵢ·m(x) − bᵢ − 1 mod 2³².
//! - **Cost.** The cost of [`minhash`](super::minhash) with k registers; 4k bytes per sketch.
//! - **Error.** The estimate is unbiased, with variance (J/k)·(u+a−2)/(u−1) − 2J²/k, which is at most J(1−J)/k. The
//!   tests in this file check it.
//! - **Differs.** The complement of a maximum is stored, so that every register is a minimum. Therefore an empty
//!   document has empty registers, and sketches merge by minimum. One vector kernel fills all registers with one
//!   multiplication each. This draws fewer coefficients than `MinHash`, but saves no time.
//! - **Vectors.** Another program computed the variance and the worked example.
//!
//! - **Use when** documents have few shingles, where its variance is lower than that of `MinHash` at the same cost.
//! - **Do not** expect a difference for long documents: beyond a few hundred shingles it is below 1 %.

use crate::error::Error;
use crate::estimate::{self, Estimate};
use crate::hash::SplitMix64;
use crate::kernel::{Kernel, Linear};

use super::minhash::EMPTY;
use super::{Registers, Sketcher, Statistic, merge_minima};

/// Makes sketches of the minima and the maxima of k/2 functions.
#[derive(Debug, Clone)]
pub struct MinMax {
    seed: u32,
    multipliers: Vec<u32>,
    offsets: Vec<u32>,
    kernel: Kernel,
}

impl MinMax {
    /// Makes a sketcher with `registers`/2 hash functions, which `seed` chooses, on the fastest kernel of this machine.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is even and from 2 to
    /// 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        if !(2..=1 << 16).contains(&registers) || registers % 2 == 1 {
            return Err(Error::out_of_range(
                "the number of min-max registers",
                registers,
                "even, from 2 to 65,536",
            ));
        }
        let mut random = SplitMix64::new(seed);
        let seed = random.next_u32();
        let (mut multipliers, mut offsets): (Vec<u32>, Vec<u32>) = (0..registers / 2)
            .map(|_| {
                let drawn = random.next_u64();
                ((drawn >> 32) as u32 | 1, drawn as u32)
            })
            .unzip();
        // A maximum is stored as a minimum of the complement, and !(a·x + b) = −a·x + !b.
        multipliers.extend_from_within(..);
        multipliers[registers / 2..].iter_mut().for_each(|a| *a = a.wrapping_neg());
        offsets.extend_from_within(..);
        offsets[registers / 2..].iter_mut().for_each(|b| *b = !*b);
        Ok(Self { seed, multipliers, offsets, kernel: Kernel::detect() })
    }

    /// Sets the kernel. All kernels give the same sketches.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }
}

impl super::sealed::Sealed for MinMax {}

impl Sketcher for MinMax {
    fn words(&self) -> usize {
        self.multipliers.len()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        out.fill(EMPTY);
        let family = Linear { a: &self.multipliers, b: &self.offsets };
        self.kernel.minima(shingles, self.seed, family, out);
    }

    fn merge_into(&self, a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
        merge_minima(a, b, out)
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualWords
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        estimate::min_max::estimate(a, b)
    }
}

impl Registers for MinMax {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::MinHash;
    use crate::sketch::trials::{check, check_laws, check_merge, sketch};

    #[test]
    fn laws_of_sketches() {
        let sketcher = MinMax::new(64, 1).unwrap();
        check_laws(&sketcher);
        check_merge(&sketcher);
    }

    #[test]
    fn minima_as_minhash_and_maxima_complemented() {
        let shingles: Vec<u64> = (0..20).collect();
        let (mut values, mut lows) = (vec![0; 8], vec![u32::MAX; 8]);
        let mut highs = vec![0; 8];
        let minhash = MinHash::new(8, 5).unwrap();
        for &shingle in &shingles {
            minhash.sketch_into(&[shingle], &mut values);
            lows.iter_mut().zip(&values).for_each(|(low, &value)| *low = value.min(*low));
            highs.iter_mut().zip(&values).for_each(|(high, &value)| *high = value.max(*high));
        }
        let both: Vec<u32> = lows.into_iter().chain(highs.into_iter().map(|high| !high)).collect();
        assert_eq!(sketch(&MinMax::new(16, 5).unwrap(), &shingles), both);
    }

    #[test]
    fn documented_example() {
        // The minima are 5 and 5, and the maxima are 87 and 99.
        let estimate = MinMax::new(2, 1).unwrap().estimate(&[5, !87], &[5, !99]);
        assert_eq!(estimate.value, 0.5);
    }

    #[test]
    fn unbiased_with_the_variance_of_the_formula() {
        for (union, common) in [(2, 1), (7, 3), (40, 30), (200, 100)] {
            let variance = estimate::min_max::variance(union as usize, common as usize, 64);
            check(4000, (union, common), variance, |seed| MinMax::new(64, seed).unwrap());
        }
    }

    #[test]
    fn the_number_of_registers_is_checked() {
        for wrong in [0, 1, 65, 65538] {
            assert!(MinMax::new(wrong, 1).unwrap_err().to_string().contains("even, from 2 to 65,536"));
        }
    }
}
