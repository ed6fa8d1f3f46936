//! Candidates: the pairs worth a closer look.
//!
//! Comparing every document with every other is quadratic. [`banding`] finds, by sorting, the documents whose
//! sketches agree in a whole band of registers. [`tune`] computes the probability that a pair is found, and
//! chooses bands and rows by it. [`recall`] estimates the share of all pairs that a run found.
//!
//! | way | finds a pair at similarity s with probability | use when |
//! |---|---|---|
//! | [`banding`] | 1 − (1 − sʳ)ᵇ | always; b and r come from [`tune::choose`] |
//! | [`sort_merge`] | 1 | containment, which bands do not see; or no pair may be missed |
//! | [`winnow`] | 1, if a long run of text is shared | any shared passage is to be found, however small a part of either document it is |

pub mod banding;
pub mod recall;
pub mod shelf;
pub mod sort_merge;
pub mod tune;
pub mod winnow;

pub use banding::Banding;
pub use recall::{ExpectedRecall, Followers};
pub use shelf::FullShelves;
pub use tune::Curve;
pub use winnow::{Fingerprint, Winnow};
