//! Dart sketches.
//!
//! - **Paper.** Christiani, *`DartMinHash`: Fast Sketching for Weighted Sets*, 2020, for the idea; everything else is
//!   ours.
//! - **Idea.** Darts are scattered over the weights and ranks of every shingle, each for one register. The
//!   sample of a register is its dart of least rank among those below the weights of the document. Two
//!   documents have the same sample with probability Jw: the least dart below the greater of both weights is
//!   uniform there, and both documents have it if it lies below the lesser weight. All registers share the
//!   darts, so k registers take about k ln k darts for a document of any length, where [`icws`](super::icws)
//!   processes all shingles k times.
//! - **Symbols.** b → the row, ranks from 2ᵇ to 2ᵇ⁺¹; θ → the greatest rank; k → `registers`.
//! - **Formula.** In row b of a shingle, the gaps between darts along the weights are −ln(1 − U)·2⁻ᵇ, so that
//!   each row is a Poisson process and all rows together a uniform one. Each dart has a register, a rank in
//!   its row and a name of 32 bits, keyed by shingle and row. The key of a shingle is fmix64(x ⊕ s₀), and the
//!   salts of the rows come from s₁, where s₀ and s₁ are the first two numbers of `SplitMix64` from the seed.
//!   The register holds the name.
//! - **Cost.** some 35 linear hashes of 32 bits per shingle, for any k, and on average 1.5 k (ln k + ½) darts
//!   per document. For k = 128, two to three times [`MinHash`](super::MinHash) on the same vector kernel from
//!   2000 shingles on, nine times at 200 and 35 times at 40 (the benchmark `weighted` of this crate). 4k
//!   bytes per sketch.
//! - **Error.** unbiased for Jw, variance Jw(1−Jw)/k: the registers of a Poisson process are independent;
//!   checked by statistical tests. Gaps have 32 bits, which moves probabilities by 2⁻³² per shingle and row.
//! - **Differs.** The paper divides the plane into areas of about one dart, from weights of 1 upwards, and
//!   draws the number of darts of each area. Rows have no least weight, no number is drawn from a Poisson
//!   distribution, and one hash shows that a shingle has no dart in a row.
//! - **Vectors.** golden values of our own.
//!
//! - **Use when** shingles have weights.
//! - **Do not** use it where sketches of fewer registers must be the beginnings of those of more, because a
//!   dart's register depends on k. Do not merge sketches, because the least dart of a union is known without
//!   its rank.

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
    /// Dart sketches of `registers` registers with darts scattered by `seed`, on the fastest kernel of this
    /// machine.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        let mut random = SplitMix64::new(seed);
        let (key_seed, row_seed) = (random.next_u64(), random.next_u64());
        Ok(Self { registers, key_seed, row_seed, kernel: Kernel::detect() })
    }

    /// Uses another kernel. The sketches are the same.
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
        assert_eq!(out.len(), self.registers, "one word a register");
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
