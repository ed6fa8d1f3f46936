//! Verification: the exact measures that decide, computed from whole shingle sets.
//!
//! | measure | computes | use when |
//! |---|---|---|
//! | [`jaccard`] | shared shingles over all shingles of both sets | near-duplicates are decided; it is the default |
//! | [`weighted`] | shared weight over the weight of both sets | rare or repeated shingles should count more |
//! | [`containment`] | shared shingles over the shingles of one set | one document may be a part of the other |
//! | [`parity`] | whether two sets can be similar at all | very many pairs are nearly similar |
//! | [`reduced`] | the measure of [`jaccard`] or [`containment`] | very many sets share most of their shingles |
//! | [`order`] | the share of common shingles at the same places | reordered documents should be kept |
//! | [`passages`] | the shared passages and their places | a person wants to see the evidence |
//!
//! Measures are exact on 64-bit shingle hashes. Two different shingles of ordinary text have the same hash with
//! probability 2⁻⁶⁴. Shingles whose tokens are rearranged in certain ways collide more often, as
//! [`crate::hash::rolling`] explains.

pub mod containment;
pub mod jaccard;
mod measure;
pub mod order;
pub mod parity;
pub mod passages;
pub mod reduced;
mod set;
pub mod weighted;

pub use jaccard::Overlap;
pub use measure::Measure;
pub use set::ShingleSet;
pub use weighted::WeightedOverlap;
