//! The parts of the Spark job that are written in Rust. `python/minwise/spark` calls them.
//!
//! | file | does |
//! |---|---|
//! | `batch` | reads Arrow tables and makes Arrow batches |
//! | `plan` | checks the settings of a job, once, on the driver |
//! | `rank` | encodes columns as bytes that sort as the columns do |
//! | `task` | sketches, screens and compares documents, on executors |
//! | `texts` | makes the rows of the second reading of the texts |
//! | `group` | groups equal documents and documents of one shelf, on executors |
//! | `file` | reads and copies files of records, on executors |
//! | `block` | divides blocks, which are shelves whose pairs are not listed, into tasks |
//! | `scan` | compares the parity bits of the rows of a block |
//! | `screen` | screens the pairs of blocks, on executors |
//! | `here` | compares pairs on the driver |
//! | `rounds` | computes the pairs that are compared in the next round, for all shelves, on the driver |
//! | `shelves` | computes these pairs for a part of the shelves or of the components, on executors |
//!
//! Each task works with one thread, because Spark runs one task per core.

mod batch;
mod block;
mod file;
mod group;
mod here;
mod plan;
mod rank;
mod rounds;
mod scan;
mod screen;
mod shelves;
mod task;
mod texts;

pub use batch::PySparkBatch;
pub use file::PySparkFile;
pub use group::{spark_group, spark_group_here, spark_sort};
pub use plan::{spark_allowed, spark_ignored, spark_plan, spark_rules};
pub use rounds::{BUCKET_BYTES, BUCKET_PAIRS, PySparkRounds};
pub use screen::PySparkBlocks;
pub use shelves::{spark_ask, spark_name, spark_settle, spark_wait};
pub use task::{PySparkTask, spark_audit};
