//! The trait of all sketches of weighted sets.

use std::fmt;

use super::minhash::EMPTY;
use crate::estimate::{self, Estimate};
use crate::hash::fmix64;
use crate::weight::{WeightedSet, merged};

/// Makes and compares sketches of weighted sets, all of one kind. A sketch is a row of 32-bit registers. The trait is
/// sealed, as [`Sketcher`](super::Sketcher) is.
pub trait WeightedSketcher: super::sealed::Sealed + fmt::Debug + Send + Sync {
    /// Returns the number of words of one sketch, which is its number of registers.
    fn words(&self) -> usize;

    /// Writes the sketch of a weighted set. Every word of the sketch of an empty set is [`EMPTY`], which occurs in no
    /// other sketch.
    ///
    /// # Panics
    /// Panics if `out` does not have [`words`](Self::words) elements.
    fn sketch_into(&self, set: &WeightedSet, out: &mut [u32]);

    /// Estimates the similarity of two sets that are not empty.
    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        estimate::minhash::estimate(a, b)
    }

    /// Returns the exact value that the sketch estimates, computed from the sets: the weighted Jaccard similarity.
    fn exact(&self, a: &WeightedSet, b: &WeightedSet) -> f64 {
        let (shared, all) = merged(a, b).fold((0.0, 0.0), |(shared, all), (left, right): (f64, f64)| {
            (shared + left.min(right), all + left.max(right))
        });
        if all == 0.0 { 1.0 } else { shared / all }
    }
}

/// Returns the register for a sample: a 32-bit hash of the shingle's key and of `sample`, the other data that must
/// agree.
pub(super) fn register(key: u64, sample: u64) -> u32 {
    let mixed = fmix64(fmix64(key).wrapping_add(sample)) >> 32;
    (mixed as u32).min(EMPTY - 1)
}
