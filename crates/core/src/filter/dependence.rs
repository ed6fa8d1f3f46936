//! Dependence between the registers of a sketch, and its effect on the filter.

use crate::sketch::one_permutation::Densification;
use crate::sketch::{Base, Method, RegisterSource};

/// Effect of the agreement of one register on the agreement of another, for a fixed pair of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dependence {
    /// There is no effect, so the number of matches is binomial.
    Independent,
    /// Agreement of one register makes agreement of others less likely, as in drawing without replacement. The number
    /// of matches varies less than a binomial number, so binomial tails, which are too large, are safe.
    Negative,
    /// Registers that are copies of one another agree together. If documents have fewer shingles than registers, the
    /// number of matches varies more than a binomial number, so its exact distribution is used. Registers must be
    /// compared in the order of [`shuffle`](super::shuffle).
    Positive(Densification),
}

impl Dependence {
    /// Returns the dependence between the registers, or bits of registers, that are compared for sketches of kind
    /// `method`; `None` if such sketches are compared in another way.
    #[must_use]
    pub fn of(method: Method) -> Option<Self> {
        of(method).map(|(_, dependence)| dependence)
    }
}

/// Returns the probability that two different registers count as agreeing, and the dependence.
pub(super) fn of(method: Method) -> Option<(f64, Dependence)> {
    let of_source = |source: RegisterSource| match source.base {
        Base::MinHash | Base::FamilyMinHash(_) => Dependence::Independent,
        Base::MinMax | Base::SuperMinHash | Base::FastSimilarity => Dependence::Negative,
        Base::OnePermutation => Dependence::Positive(Densification::Optimal),
        Base::OnePermutationRotation => Dependence::Positive(Densification::Rotation),
    };
    match method {
        Method::Registers(source) => Some((0.0, of_source(source))),
        // `zero-bit` registers agree with a probability above the similarity, but the filter assumes the similarity.
        // This is safe, because the filter then only rejects fewer pairs than with the true probability.
        Method::Weighted(_) => Some((0.0, Dependence::Independent)),
        Method::BBit(bits, source) => Some((1.0 / f64::from(1u32 << bits), of_source(source))),
        Method::BitHash(source) => Some((0.5, of_source(source))),
        // These sketches are not compared register by register, or not only by the Jaccard similarity.
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
