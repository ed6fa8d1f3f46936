//! Experiments of this project: the accuracy of the engine, and the cost of sketches.

mod beside;
pub(crate) mod dedup;
mod oracle;
mod peers;
pub(crate) mod variance_per_byte;
