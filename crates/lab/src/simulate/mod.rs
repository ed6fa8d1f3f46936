//! Data for experiments: random numbers from seeds, minima of permutations, and documents with known differences.

pub(crate) mod binomial;
pub(crate) mod documents;
pub(crate) mod minima;
pub(crate) mod random;

pub(crate) use documents::{Edit, Vocabulary};
pub(crate) use minima::Universe;
pub(crate) use random::Random;
