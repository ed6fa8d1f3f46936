//! Dart sketches.
//!
//! - **Paper.** Christiani, *`DartMinHash`: Fast Sketching for Weighted Sets*, 2020, for the idea; everything else is
//!   ours.
//! - **Idea.** Darts are points that are scattered over the weights and ranks of every shingle, each for one register.
//!   The sample of a register is its dart of least rank among the darts below the weights of the document. Two
//!   documents have the same sample with probability Jw: consider the dart of least rank below the greater of both
//!   weights, over all shingles. It is equally likely to lie anywhere there, and both documents have it if it also lies
//!   below the lesser weight of its shingle. All registers share the darts. Therefore k registers take about k ln k
//!   darts for a document of any length, where [`icws`](super::icws) processes all shingles k times.
//! - **Symbols.** b → the row, ranks from 2ᵇ to 2ᵇ⁺¹; θ → the greatest rank; k → `registers`.
//! - **Formula.** In row b of a shingle, the gaps between darts along the weights are −ln(1 − U)·2⁻ᵇ. Each row is thus
//!   a Poisson process, and all rows together are a uniform Poisson process. Each dart has a register, a rank in its
//!   row and a name of 32 bits, all keyed by shingle and row. The key of a shingle is fmix64(x ⊕ s₀), and the salts of
//!   the rows come from s₁, where s₀ and s₁ are the first two numbers of `SplitMix64` from the seed. A register holds
//!   the name of its dart.
//! - **Cost.** Some 35 linear hashes of 32 bits per shingle, for any k, and on average 1.5 k (ln k + ½) darts per
//!   document. For k = 128, the time is two to three times that of [`MinHash`](super::MinHash) on the same vector
//!   kernel for documents of 2000 shingles or more, nine times at 200 and 35 times at 40 (the benchmark `weighted` of
//!   this crate). 4k bytes per sketch.
//! - **Error.** The estimate is unbiased for Jw, with variance Jw(1−Jw)/k, because the registers of a Poisson process
//!   are independent; statistical tests check both. Gaps have 32 bits, which moves probabilities by 2⁻³² per shingle
//!   and row.
//! - **Differs.** The paper considers only weights of at least 1, divides the plane into areas that hold one dart on
//!   average, and draws the number of darts of each area. Here, rows have no least weight, and the number of darts is
//!   not drawn from a Poisson distribution. If a shingle has no dart in a row, one hash shows it.
//! - **Vectors.** Golden values that this crate computed itself.
//!
//! - **Use when** shingles have weights.
//! - **Do not** use it where sketches of fewer registers must be the beginnings of sketches of more registers, because
//!   the register of a dart depends on k. Do not merge sketches, because a sketch does not keep the ranks of its darts,
//!   from which the least dart of the union follows.

use super::minhash::{EMPTY, check_registers};
use super::weighted_sketcher::WeightedSketcher;
use crate::error::Error;
use crate::hash::{SplitMix64, fmix64};
use crate::kernel::{Elements, Kernel};
use crate::weight::WeightedSet;

/// Makes sketches of the least darts of k registers.
#[derive(Debug, Clone)]
pub struct Dart {
    registers: usize,
    key_seed: u64,
    row_seed: u64,
    kernel: Kernel,
}

impl Dart {
    /// Makes a sketcher of `registers` registers with darts scattered by `seed`, on the fastest kernel of this machine.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        let mut random = SplitMix64::new(seed);
        let (key_seed, row_seed) = (random.next_u64(), random.next_u64());
        Ok(Self { registers, key_seed, row_seed, kernel: Kernel::detect() })
    }

    /// Sets the kernel. All kernels give the same sketches.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }
}

impl super::sealed::Sealed for Dart {}

impl WeightedSketcher for Dart {
    fn words(&self) -> usize {
        self.registers
    }

    fn sketch_into(&self, set: &WeightedSet, out: &mut [u32]) {
        assert_eq!(out.len(), self.registers, "one word per register");
        out.fill(EMPTY);
        if set.is_empty() {
            return;
        }
        let keys: Vec<u64> = set.shingles().iter().map(|shingle| fmix64(shingle ^ self.key_seed)).collect();
        self.kernel.throw(Elements { keys: &keys, weights: set.weights() }, self.row_seed, out);
        for word in out {
            *word = (*word).min(EMPTY - 1);
        }
    }
}
