//! Errors of the [sources](crate#sources): their claims, and the correct statements.
//!
//! Modules name entries by their numbers, such as E-11, and implement the correct statement. Three stars
//! (★★★) mark an error that changes results if it is built as printed, two stars a wrong claim, and one star
//! a slip or an ambiguity. The tests of this crate show each of them.
//!
#![allow(clippy::doc_markdown, reason = "names of sketches that are also names of types")]
#![doc = include_str!("errata.md")]
