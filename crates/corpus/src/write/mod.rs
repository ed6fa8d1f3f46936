//! Writes records of a corpus to outputs.

mod columns;
mod convert;
mod each;
mod overlap;
mod refuse;

pub use self::convert::{check_conversion, convert_annotated, convert_records, refuse_conversion};
pub use self::each::{annotate_each, check_each, converted_name, copy_each};
pub use self::overlap::{refuse_overlap, refuse_shared};
pub use self::refuse::{
    refuse_annotation, refuse_other_files, refuse_same_names, refuse_shared_members, refuse_unlike,
};
