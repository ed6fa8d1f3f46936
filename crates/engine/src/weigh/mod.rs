//! Document frequencies: in how many documents of a corpus each shingle stands.
//!
//! They are counted in a pass of their own, exactly and over every document, and kept as a table of shingles in ascending
//! order with their frequencies, which is a file of our own form (`storage/store`): mapped, checked, and good for further runs.

mod count;
mod table;
mod weighing;

pub use count::{CountedDocuments, NewTable, count, count_for_a_run, create};
pub use table::FrequencyTable;
pub use weighing::WeightTables;
