//! Measures sketches and draws the measurements.
//!
//! - [`plot`]: line and point charts as SVG.
//! - [`measure`]: the error of real sketches on generated documents, over fixed seeds.
//! - [`concepts`]: the charts and the table of `docs/concepts`.
//! - [`catalogue`]: the experiments of the sources. Each consists of a [`definition`] and a runner in `experiments`. A
//!   runner computes [checks](check) with `simulate` and the library; the [`verdict`] follows from them.
//! - [`beyond`]: sketches that the library does not have; [`comparison`]: all sketches at equal bytes and at equal
//!   time.
//! - [`corpus`]: generated corpora of any size with known near-duplicates; [`enlarge`]: many spelled copies of a real
//!   corpus.
//! - [`machine`]: the machine and the build, in words.
//! - [`record`] and [`report`]: the stored results of a run, and a page of them; [`png`]: the charts as PNG.

#![allow(
    clippy::missing_errors_doc,
    reason = "the lab is not published, and its errors are messages for people"
)]
#![allow(clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "the lab is not published")]

pub mod beyond;
pub mod catalogue;
pub mod check;
pub mod comparison;
pub mod concepts;
pub mod corpus;
mod data;
pub mod definition;
pub mod enlarge;
pub mod experiment;
mod experiments;
pub mod machine;
pub mod measure;
pub mod plot;
pub mod png;
pub mod record;
pub mod report;
mod simulate;
pub mod table;
pub mod verdict;

/// Rust programs of the README and the guides of the repository. They are tested in this crate because it is not
/// published: the files are outside the package.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/guides/lsh.md")]
struct Readme;
