//! The parts of the Spark job that are not Python.
//!
//! | file | does |
//! |---|---|
//! | `batch` | takes Arrow tables apart and makes batches |
//! | `plan` | settings of a job, checked once on the driver |
//! | `rank` | bytes that sort as columns of a row do |
//! | `task` | sketches, screens and compares, on executors |
//! | `texts` | makes the rows of the second reading |
//! | `group` | brings equal documents and documents of one shelf together, on executors |
//! | `file` | reads and copies files of records, on executors |
//! | `block` | makes tasks of shelves whose pairs are not listed |
//! | `scan` | compares parity bits of such shelves |
//! | `screen` | screens the pairs of such shelves, on executors |
//! | `rounds` | works out which pairs are compared next, on the driver |
//! | `shelves` | works out the same for a part of the shelves or of the components, on executors |
//!
//! Each task works with one thread, because the engine runs one task per core.

mod batch;
mod block;
mod file;
mod group;
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
pub use group::{spark_group, spark_sort};
pub use plan::{spark_allowed, spark_ignored, spark_plan, spark_rules};
pub use rounds::{BUCKET_BYTES, BUCKET_PAIRS, PySparkRounds};
pub use screen::PySparkBlocks;
pub use shelves::{spark_ask, spark_name, spark_settle, spark_wait};
pub use task::{PySparkTask, spark_audit};
