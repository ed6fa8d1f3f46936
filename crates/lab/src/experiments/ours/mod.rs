//! Experiments of our own: what the command finds, and what sketches cost.

pub(crate) mod dedup;
mod oracle;
pub(crate) mod variance_per_byte;
