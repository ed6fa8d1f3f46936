//! PDF, page by page.
//!
//! A PDF says where glyphs stand, not what a word is, and the programs that make it take liberties. `pdf-extract` reads it
//! best of what there is in Rust and panics on what it does not expect, by policy; so a page is read under `catch_unwind`,
//! and a page on which that fails is read again by the plainer way of `lopdf`. All of it happens on a [`worker`] thread with
//! a large stack and a time limit. What neither a panic nor a time limit can catch, because memory or the stack ends first,
//! is looked for [before the file is parsed](bombs) and [after](disarm).
//!
//! A file that is encrypted so that anybody may open it is read. Its streams cannot be looked at before it is parsed.
//!
//! Compiled with the feature `pdf`; without it, a PDF is a kind of file that is not read.

#[cfg(feature = "pdf")]
mod bombs;
#[cfg(not(feature = "pdf"))]
mod disabled;
#[cfg(feature = "pdf")]
mod disarm;
#[cfg(feature = "pdf")]
mod enabled;
#[cfg(feature = "pdf")]
mod lines;
#[cfg(feature = "pdf")]
mod properties;
#[cfg(feature = "pdf")]
mod worker;

#[cfg(not(feature = "pdf"))]
pub(super) use disabled::extract;
#[cfg(feature = "pdf")]
pub(super) use enabled::extract;
