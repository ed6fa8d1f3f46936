//! Improved consistent weighted sampling.
//!
//! - **Paper.** Ioffe, *Improved consistent sampling, weighted minhash and L1 sketching*, 2010.
//! - **Idea.** For every shingle, a register places steps on the axis of weights. The logarithms of the steps have
//!   equal distances; the distance and the shift are random. Each step has a random rank. The rank of a shingle is the
//!   rank of the highest step that is not above its weight, and the sample is the shingle of least rank. Two
//!   documents have the same sample, including the step, with probability Jw.
//! - **Symbols.** r, β → the distance and the shift of the steps; c → the score; t → the step; a → the rank; k →
//!   `registers`.
//! - **Formula.** r and c have the distribution Gamma(2, 1) and β is uniform, all keyed by shingle and register (see
//!   [`Draw`](crate::kernel::Draw)): t = ⌊ln w / r + β⌋, ln a = ln c − r(t − β + 1). The key of a shingle is fmix64(x ⊕
//!   s₀), where sᵢ are the numbers of `SplitMix64` from the seed. The salt of register i is sᵢ₊₁. The register holds 32
//!   bits of a hash of the key and t.
//! - **Cost.** k linear hashes of 32 bits per shingle, and about twenty draws per register that the kernel finishes,
//!   for a document of any length. For k = 128 and 2000 shingles, it takes ten to twelve times as long as
//!   [`MinHash`](super::MinHash) on the same vector kernel, and four to five times on the portable kernel. The factor
//!   falls with the length of the document (the benchmark `weighted` of this crate). 4k bytes per sketch.
//! - **Error.** The estimate is unbiased for Jw, with variance Jw(1−Jw)/k; statistical tests check both. Registers of
//!   32 bits agree by accident with probability 2⁻³². Uniform numbers have at least 21 random bits, so probabilities
//!   are wrong by at most about 2⁻²⁰.
//! - **Differs.** The paper compares a itself. Here only logarithms are compared, so that weights from 10⁻³⁰⁰ to 10³⁰⁰
//!   are possible.
//! - **Vectors.** Another program computed the vectors in the kernel's tests. The golden values of sketches come from
//!   this crate itself.
//!
//! - **Use when** sketches of fewer registers must be the beginnings of sketches of more registers. Otherwise
//!   [`dart`](super::dart) has the same error and is several times faster.
//! - **Do not** merge sketches, because the sample of a union of weights does not follow from the samples of its parts.

use super::minhash::{EMPTY, check_registers};
use super::weighted_sketcher::{WeightedSketcher, register};
use crate::error::Error;
use crate::hash::{SplitMix64, fmix64};
use crate::kernel::{Elements, Kernel, Sample};
use crate::weight::WeightedSet;

/// Makes sketches of k samples.
#[derive(Debug, Clone)]
pub struct Icws {
    seed: u64,
    salts: Vec<u64>,
    kernel: Kernel,
}

impl Icws {
    /// Makes a sketcher with `registers` samplers, which `seed` chooses, on the fastest kernel of this machine.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        let mut random = SplitMix64::new(seed);
        let seed = random.next_u64();
        let salts = (0..registers).map(|_| random.next_u64()).collect();
        Ok(Self { seed, salts, kernel: Kernel::detect() })
    }

    /// Sets the kernel. All kernels give the same sketches.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// Returns k, the number of registers.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.salts.len()
    }

    /// Writes one register per sample: the value that `register` computes from the sample's key and step.
    pub(super) fn samples_into(
        &self,
        set: &WeightedSet,
        out: &mut [u32],
        register: impl Fn(u64, i64) -> u32,
    ) {
        assert_eq!(out.len(), self.registers(), "one word per register");
        out.fill(EMPTY);
        if set.is_empty() {
            return;
        }
        let keys: Vec<u64> = set.shingles().iter().map(|shingle| fmix64(shingle ^ self.seed)).collect();
        let mut samples = vec![Sample::default(); self.registers()];
        self.kernel.sample(Elements { keys: &keys, weights: set.weights() }, &self.salts, &mut samples);
        for (word, sample) in out.iter_mut().zip(samples) {
            *word = register(keys[sample.element as usize], sample.step);
        }
    }
}

impl super::sealed::Sealed for Icws {}

impl WeightedSketcher for Icws {
    fn words(&self) -> usize {
        self.registers()
    }

    fn sketch_into(&self, set: &WeightedSet, out: &mut [u32]) {
        self.samples_into(set, out, |key, step| register(key, step.cast_unsigned()));
    }
}
