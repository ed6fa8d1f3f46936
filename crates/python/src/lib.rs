//! The extension module of the Python package: wrappers of the library's types and runs, without algorithms of its own.
//!
//! The package `python/minwise` wraps this module. The package has the adapters for tables of other libraries, converts
//! results to the type of the input, and defines the exceptions.

#![allow(
    clippy::needless_pass_by_value,
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    clippy::unused_self,
    clippy::struct_excessive_bools,
    clippy::unnecessary_wraps,
    clippy::used_underscore_items,
    clippy::cast_possible_wrap,
    reason = "arguments of Python arrive as values, its documentation is for Python, and its lengths are signed"
)]
#![allow(missing_docs, clippy::missing_errors_doc, reason = "the stubs of the package document the module")]

// Each module uses only modules above it. `cargo x lint` checks this order.
mod error;
mod figure;
mod column;
mod arrow;
mod texts;
mod run;
mod shared;
mod comparison;
mod sketches;
mod spec;
mod dedup;
mod lsh;
mod index;
mod datasketch;
mod spark;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _minwise {
    use pyo3::prelude::{Bound, PyModule, PyResult};

    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::comparison::{PyComparison, PyEstimate, PyPassage};
    #[pymodule_export]
    use crate::datasketch::affine32;
    #[pymodule_export]
    use crate::dedup::{
        PyDeduplicated, PyFoundPairs, decision_stream, keep_fields, plan, run_dedup, run_pairs,
    };
    #[pymodule_export]
    use crate::figure::{interval, lower_bound, percent, probability};
    #[pymodule_export]
    use crate::index::PyArchive;
    #[pymodule_export]
    use crate::lsh::PyLsh;
    #[pymodule_export]
    use crate::shared::PySpec;
    #[pymodule_export]
    use crate::sketches::PySketches;
    #[pymodule_export]
    use crate::spark::{
        PySparkBatch, PySparkBlocks, PySparkFile, PySparkRounds, PySparkTask, spark_allowed, spark_ask,
        spark_audit, spark_group, spark_group_here, spark_ignored, spark_name, spark_plan, spark_rules,
        spark_settle, spark_sort, spark_wait,
    };

    #[cfg(debug_assertions)]
    #[pymodule_export]
    use crate::error::fault::{Faulty, fail_next};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::catch_panics(module.py())
    }

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Upper bound of the bytes of text in one bucket of pairs of a Spark job.
    #[pymodule_export]
    const SPARK_BUCKET_BYTES: u64 = crate::spark::BUCKET_BYTES;

    /// Upper bound of the number of pairs in one bucket of a Spark job.
    #[pymodule_export]
    const SPARK_BUCKET_PAIRS: usize = crate::spark::BUCKET_PAIRS;

    /// Number of documents that a shelf of a Spark job takes, as in the command.
    #[pymodule_export]
    const SPARK_SHELF: usize = minwise_engine::SHELF;
}
