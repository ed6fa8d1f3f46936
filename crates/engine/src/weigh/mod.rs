//! Document frequencies: the number of documents of a corpus that contain each shingle.
//!
//! A separate pass counts the frequencies exactly, over every document, and writes them to a file: the shingles in
//! ascending order, and their frequencies. The file has a checksum per block, is mapped into memory, and can be used by
//! other runs.

mod count;
mod table;
mod weighing;

pub use count::{CountedDocuments, NewTable, count, count_for_a_run, create};
pub use table::FrequencyTable;
pub use weighing::WeightTables;
