//! Zero-bit consistent weighted sampling.
//!
//! - **Paper.** Li, *0-bit consistent weighted sampling*, 2015.
//! - **Idea.** A register keeps the shingle of a sample without its step. If documents have many shingles of small
//!   weight, two documents that sample the same shingle have mostly sampled the same step.
//! - **Formula.** The samples are those of [`Icws`]; a register holds 32 bits of a hash of the key.
//! - **Cost.** The cost of [`Icws`]. The method can save bits, because a sample can be stored as the number of a
//!   shingle.
//! - **Error.** The estimate is **biased upwards, without bound.** Registers agree with at least the probability Jw,
//!   and more often for fewer shingles: 0.72 for Jw = 0.64 with three shingles, 0.18 for Jw = 0.10 with two, and always
//!   1 for a single shingle of any weight. For a few hundred shingles of similar weights, the bias is below the
//!   standard error of 128 registers. Statistical tests check the bias.
//!
//! - **Use when** documents are long and the samples themselves are of use.
//! - **Do not** use it for short documents or for banding, because the S-curve would be that of another similarity.

use super::icws::Icws;
use super::weighted_sketcher::{WeightedSketcher, register};
use crate::error::Error;
use crate::weight::WeightedSet;

/// Makes sketches of k sampled shingles.
#[derive(Debug, Clone)]
pub struct ZeroBit(Icws);

impl ZeroBit {
    /// Makes a sketcher with `registers` samplers, which `seed` chooses.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        Ok(Self(Icws::new(registers, seed)?))
    }
}

impl super::sealed::Sealed for ZeroBit {}

impl WeightedSketcher for ZeroBit {
    fn words(&self) -> usize {
        self.0.registers()
    }

    fn sketch_into(&self, set: &WeightedSet, out: &mut [u32]) {
        self.0.samples_into(set, out, |key, _| register(key, 0));
    }
}
