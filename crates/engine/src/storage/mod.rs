//! Data on disk: stored files, the external sort, and the work folder of a run.

pub(crate) mod runs;
pub(crate) mod store;
pub mod work;
