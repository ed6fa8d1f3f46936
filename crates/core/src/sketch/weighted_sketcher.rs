//! The trait of all sketches of weighted sets.

use std::fmt;

use super::minhash::EMPTY;
use crate::estimate::{self, Estimate};
use crate::hash::fmix64;
use crate::weight::{WeightedSet, merged};

/// Makes sketches of weighted sets of one kind and compares them. A sketch is a row of registers of 32 bits.
/// Sealed, as [`Sketcher`](super::Sketcher) is.
pub trait WeightedSketcher: super::sealed::Sealed + fmt::Debug + Send + Sync {
    /// Returns the number of words of one sketch, which are its registers.
    fn words(&self) -> usize;

    /// Writes the sketch of a weighted set. For an empty set, every word is [`EMPTY`], which no other set
    /// has.
    ///
    /// # Panics
    /// Panics if `out` does not have [`words`](Self::words) elements.
    fn sketch_into(&self, set: &WeightedSet, out: &mut [u32]);

    /// Estimates the similarity of two sets that are not empty.
    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        estimate::minhash::estimate(a, b)
    }

    /// Returns the estimated value, computed from the sets themselves: the weighted Jaccard similarity.
    fn exact(&self, a: &WeightedSet, b: &WeightedSet) -> f64 {
        let (shared, all) = merged(a, b).fold((0.0, 0.0), |(shared, all), (left, right): (f64, f64)| {
            (shared + left.min(right), all + left.max(right))
        });
        if all == 0.0 { 1.0 } else { shared / all }
    }
}

/// Returns the register of a sample: 32 bits of a shingle's key and of the other data that must agree.
pub(super) fn register(key: u64, sample: u64) -> u32 {
    let mixed = fmix64(fmix64(key).wrapping_add(sample)) >> 32;
    (mixed as u32).min(EMPTY - 1)
}
