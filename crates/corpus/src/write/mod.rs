//! Records of a corpus to outputs.

mod each;
mod overlap;
mod refuse;

pub use self::each::{annotate_each, copy_each};
pub use self::overlap::{refuse_overlap, refuse_shared};
pub use self::refuse::{refuse_annotation, refuse_same_names, refuse_shared_members, refuse_unlike};
