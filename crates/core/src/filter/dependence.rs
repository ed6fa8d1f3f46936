//! How the registers of a sketch depend on each other, and what the filter makes of it.

use crate::sketch::one_permutation::Densification;
use crate::sketch::{Base, Method, RegisterSource};

/// How the agreement of one register bears on that of another, for a fixed pair of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dependence {
    /// Not at all: the matches are binomial.
    Independent,
    /// Agreements make others less likely, as in drawing without replacement. The matches spread less than binomial
    /// ones, whose tails are used and are too large.
    Negative,
    /// Registers that were copied from one another agree together. The matches of documents with fewer shingles than
    /// registers spread more than binomial ones, and their exact law is used. Registers are to be compared in the order
    /// of [`shuffle`](super::shuffle).
    Positive(Densification),
}

impl Dependence {
    /// Of the registers, or bits of registers, that sketches of this kind are compared by; nothing for sketches that
    /// are compared in another way.
    #[must_use]
    pub fn of(method: Method) -> Option<Self> {
        of(method).map(|(_, dependence)| dependence)
    }
}

/// The probability that registers which differ count as agreeing, and the dependence.
pub(super) fn of(method: Method) -> Option<(f64, Dependence)> {
    let of_source = |source: RegisterSource| match source.base {
        Base::MinHash | Base::FamilyMinHash(_) => Dependence::Independent,
        Base::MinMax | Base::SuperMinHash | Base::FastSimilarity => Dependence::Negative,
        Base::OnePermutation => Dependence::Positive(Densification::Optimal),
        Base::OnePermutationRotation => Dependence::Positive(Densification::Rotation),
    };
    match method {
        Method::Registers(source) => Some((0.0, of_source(source))),
        // Those of `zero-bit` agree more often than the similarity says, so that fewer are rejected.
        Method::Weighted(_) => Some((0.0, Dependence::Independent)),
        Method::BBit(bits, source) => Some((1.0 / f64::from(1u32 << bits), of_source(source))),
        Method::BitHash(source) => Some((0.5, of_source(source))),
        // Not compared register by register, or not by the Jaccard similarity alone.
        Method::RawOnePermutation(_)
        | Method::BottomK(_)
        | Method::Fractional(..)
        | Method::Xor(..)
        | Method::ThreeQuarter(..)
        | Method::Connected(..)
        | Method::Odd(..)
        | Method::Sectional { .. }
        | Method::Tolerant { .. }
        | Method::PreTagged { .. } => None,
    }
}
