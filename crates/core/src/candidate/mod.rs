//! Candidates: the pairs of documents that are worth comparing exactly.
//!
//! Comparing every document with every other document takes quadratic time. [`banding`] finds, by sorting, the
//! documents whose sketches agree in a whole band of registers. [`tune`] computes the probability that a pair is found,
//! and chooses bands and rows by this probability. [`recall`] estimates the share of all pairs that a run found.
//!
//! | method | finds a pair at similarity s with probability | use when |
//! |---|---|---|
//! | [`banding`] | 1 − (1 − sʳ)ᵇ | always, with b and r from [`tune::choose`], except in the cases below |
//! | [`sort_merge`] | 1 | containment is wanted, which bands cannot find; or no pair may be missed |
//! | [`winnow`] | 1, if the pair shares a long run of text | every shared passage is wanted, however small |

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
