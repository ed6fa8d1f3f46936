//! What lies on disk: files of our own, sorting beyond the memory, and the folder of a run.

pub(crate) mod runs;
pub(crate) mod store;
pub mod work;
