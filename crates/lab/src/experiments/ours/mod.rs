//! Experiments of this project: the accuracy of the engine, and the variance of sketches per byte.

mod beside;
pub(crate) mod dedup;
mod oracle;
mod peers;
pub(crate) mod variance_per_byte;
