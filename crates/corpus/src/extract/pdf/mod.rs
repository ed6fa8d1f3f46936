//! PDF, page by page.
//!
//! A PDF states where glyphs stand, not what a word is. `hayro-syntax` parses the file, `hayro-font` maps the codes of its fonts
//! to characters, [`content`] follows the operators that place glyphs, and [`layout`] makes words and lines of the places.
//! `cargo x bench pdf` compares the words with those of `pdftotext`.
//!
//! A PDF is read on a [`worker`] thread with a large stack, a time limit and `catch_unwind`, because files come from strangers. The
//! bytes to which streams decompress are [counted](bombs) before the file is parsed, and afterwards for streams whose filters could
//! not be seen before.
//!
//! A file that is encrypted, but without a password, so that anybody may open it, is read.
//!
//! This module is compiled with the feature `pdf`; without it, every PDF is refused.

#[cfg(feature = "pdf")]
mod bombs;
#[cfg(feature = "pdf")]
mod content;
#[cfg(not(feature = "pdf"))]
mod disabled;
#[cfg(feature = "pdf")]
mod enabled;
#[cfg(feature = "pdf")]
mod fonts;
#[cfg(feature = "pdf")]
mod layout;
#[cfg(feature = "pdf")]
mod lines;
#[cfg(feature = "pdf")]
mod properties;
#[cfg(feature = "pdf")]
mod strings;
#[cfg(feature = "pdf")]
mod worker;

#[cfg(not(feature = "pdf"))]
pub(super) use disabled::extract;
#[cfg(feature = "pdf")]
pub(super) use enabled::extract;
