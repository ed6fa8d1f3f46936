//! Verification: the exact measures that decide, computed from whole shingle sets.
//!
//! | measure | computes | use when |
//! |---|---|---|
//! | [`jaccard`] | how much of both together is shared | near-duplicates; every decision uses it |
//! | [`weighted`] | the same, of weighted sets | rare or repeated shingles are to count more |
//! | [`containment`] | how much of one is found in the other | one document may be a part of the other |
//! | [`parity`] | whether both can be similar at all | very many pairs are nearly similar |
//! | [`reduced`] | the same as [`jaccard`] | very many sets share most of their shingles |
//! | [`order`] | how much of what is shared stands in the same places | reordered documents are to stay |
//! | [`passages`] | which stretches are shared, and where | a person wants to see why |
//!
//! Measures are exact on 64-bit shingle hashes. Two different shingles of ordinary text have the same hash with
//! probability 2⁻⁶⁴; [`crate::hash::rolling`] describes arrangements for which it is greater.

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
