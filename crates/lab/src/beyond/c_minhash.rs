//! `C-MinHash` sketches: all registers come from two permutations.
//!
//! - **Paper.** Li and Li, *`C-MinHash`: Rigorously Reducing K Permutations to Two*, 2021, arXiv:2109.03337, algorithm 2.
//! - **Idea.** A first permutation σ breaks the structure of the data. A second permutation π, shifted cyclically by k
//!   places, gives the k-th register. Shifts of one permutation are not independent, and their dependence lowers the
//!   variance.
//! - **Symbols.** K → `registers`; D → the range; hₖ(v) = min π(σ(i) − k mod D) over the members i of v.
//! - **Formula.** Here D = 2⁶⁴: σ(x) = fmix64(x ⊕ s₀), π(i) = fmix64(i ⊕ s₁), s₀ and s₁ from `SplitMix64` of the seed, and a
//!   register keeps the upper 32 bits of its minimum.
//! - **Cost.** K mixed values per shingle, as for `MinHash`; only the storage of permutations is saved. 4K bytes.
//! - **Error.** unbiased. The paper's variance is below J(1−J)/K for every D and tends to it as D grows beside |A∪B|,
//!   so with shingles of 64 bits there is no gain. Tests cover both cases: a range of five, where the variance is that
//!   of all pairs of permutations, and 2⁶⁴.
//! - **Use when** permutations are stored as tables. **Do not** expect it to beat `MinHash` on hashed shingles.

use minwise::hash::{SplitMix64, fmix64};

use super::{BeyondSketch, agreement};

/// Makes `C-MinHash` sketches.
#[derive(Debug, Clone)]
pub struct CMinHash {
    registers: usize,
    first: u64,
    second: u64,
}

impl CMinHash {
    /// Returns a maker of sketches with this many registers.
    #[must_use]
    pub fn new(registers: usize, seed: u64) -> Self {
        let mut keys = SplitMix64::new(seed);
        Self { registers, first: keys.next_u64(), second: keys.next_u64() }
    }
}

impl BeyondSketch for CMinHash {
    fn bytes(&self) -> usize {
        4 * self.registers
    }

    fn sketch(&self, shingles: &[u64]) -> Vec<u32> {
        let mut least = vec![u32::MAX; self.registers];
        for &shingle in shingles {
            let place = fmix64(shingle ^ self.first);
            for (k, least) in (0..).zip(&mut least) {
                let value = fmix64(place.wrapping_sub(k) ^ self.second);
                *least = (*least).min((value >> 32) as u32);
            }
        }
        least
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> f64 {
        agreement(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Permuted, follows, trials, vectors};
    use super::*;
    use crate::measure::TrialStatistics;
    use crate::simulate::Random;

    /// Returns the share of K registers that agree, from tables of permutations over a small range.
    fn by_tables(sigma: &[usize], pi: &[usize], registers: usize, a: &[usize], b: &[usize]) -> f64 {
        let range = sigma.len();
        let least = |set: &[usize], k: usize| set.iter().map(|&i| pi[(sigma[i] + range - k) % range]).min();
        let agrees = |k: &usize| least(a, *k) == least(b, *k);
        (0..registers).filter(agrees).count() as f64 / registers as f64
    }

    /// `vectors/beyond.toml` has the variance over all 120² pairs of permutations of a range of five. The variance of
    /// `MinHash` is J(1−J)/K: 0.0833, 0.0625 and 0.0469.
    #[test]
    fn small_ranges_have_the_variance_of_all_permutations() {
        const TRIALS: u64 = 40_000;
        for Permuted { registers, a, b, similarity, variance } in vectors().c_minhash_variance {
            let mut random = Random::new(1, &[registers as u64]);
            let estimates: Vec<f64> = (0..TRIALS)
                .map(|_| {
                    let mut tables = [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]];
                    for table in &mut tables {
                        random.shuffle(table);
                    }
                    by_tables(&tables[0], &tables[1], registers, &a, &b)
                })
                .collect();
            follows(TrialStatistics::of(&estimates), TRIALS, similarity, variance, 0.0);
            assert!(variance < similarity * (1.0 - similarity) / registers as f64);
        }
    }

    #[test]
    fn large_ranges_have_that_of_minhash() {
        for (union, common) in [(200, 160), (200, 60), (20, 10)] {
            let j = f64::from(common) / f64::from(union);
            let found = trials(|seed| CMinHash::new(64, seed), union as usize, common as usize, 1500);
            follows(found, 1500, j, j * (1.0 - j) / 64.0, 0.0);
        }
    }
}
