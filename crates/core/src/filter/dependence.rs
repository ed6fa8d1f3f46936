//! The dependence between registers of a sketch, and its effect on the filter.

use crate::sketch::one_permutation::Densification;
use crate::sketch::{Base, Method, RegisterSource};

/// The effect of the agreement of one register on that of another, for a fixed pair of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dependence {
    /// No effect: the matches are binomial.
    Independent,
    /// Agreements make others less likely, as in drawing without replacement. The matches spread less than
    /// binomial ones, so binomial tails are used, which are too large.
    Negative,
    /// Registers that are copies of one another agree together. The matches of documents with fewer shingles
    /// than registers spread more than binomial ones, so their exact law is used. Registers must be compared
    /// in the order of [`shuffle`](super::shuffle).
    Positive(Densification),
}

impl Dependence {
    /// Returns the dependence of the registers, or bits of registers, by which sketches of this kind are compared;
    /// `None` for sketches that are compared in another way.
    #[must_use]
    pub fn of(method: Method) -> Option<Self> {
        of(method).map(|(_, dependence)| dependence)
    }
}

/// Returns the probability that different registers count as agreeing, and the dependence.
pub(super) fn of(method: Method) -> Option<(f64, Dependence)> {
    let of_source = |source: RegisterSource| match source.base {
        Base::MinHash | Base::FamilyMinHash(_) => Dependence::Independent,
        Base::MinMax | Base::SuperMinHash | Base::FastSimilarity => Dependence::Negative,
        Base::OnePermutation => Dependence::Positive(Densification::Optimal),
        Base::OnePermutationRotation => Dependence::Positive(Densification::Rotation),
    };
    match method {
        Method::Registers(source) => Some((0.0, of_source(source))),
        // `zero-bit` registers agree more often than the similarity, so fewer pairs are rejected.
        Method::Weighted(_) => Some((0.0, Dependence::Independent)),
        Method::BBit(bits, source) => Some((1.0 / f64::from(1u32 << bits), of_source(source))),
        Method::BitHash(source) => Some((0.5, of_source(source))),
        // These sketches are not compared register by register, or not by the Jaccard similarity alone.
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
