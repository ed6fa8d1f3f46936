//! Sketches measured, and what was measured drawn.
//!
//! - [`plot`]: line and point charts as SVG.
//! - [`measure`]: the error of real sketches of generated documents, over fixed seeds.
//! - [`concepts`]: the pictures and the table of `docs/concepts`, made of the two.
//! - [`catalogue`]: the experiments of the sources, each a [`definition`] and a runner in `experiments`, which turns what
//!   `simulate` and the library give into [checks](check); the [`verdict`] follows from these.
//! - [`beyond`]: sketches that the library does not have; [`comparison`]: all sketches at equal bytes and at equal time.
//! - [`corpus`]: documents of any number whose near-duplicates are known; [`enlarge`]: a real corpus many times over.
//! - [`record`] and [`report`]: what is kept of a run, and one page of it; [`png`]: its pictures once more.

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
pub mod measure;
pub mod plot;
pub mod png;
pub mod record;
pub mod report;
mod simulate;
pub mod table;
pub mod verdict;

/// The Rust programs of the repository's README and guides. They are tested here because this crate is not published: the files lie
/// outside of the package.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/guides/lsh.md")]
struct Readme;
