//! Experiments of our own: what the command finds, and what sketches cost.

mod beside;
pub(crate) mod dedup;
mod oracle;
mod peers;
pub(crate) mod variance_per_byte;
