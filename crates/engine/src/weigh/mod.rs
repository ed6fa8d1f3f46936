//! Document frequencies: in how many documents of a corpus each shingle stands.
//!
//! They are counted in a pass of their own, exactly and over every document, and kept in a file: the shingles in ascending order,
//! with their frequencies. The file has a checksum of every block, is mapped into memory, and can be used by further runs.

mod count;
mod table;
mod weighing;

pub use count::{CountedDocuments, NewTable, count, count_for_a_run, create};
pub use table::FrequencyTable;
pub use weighing::WeightTables;
