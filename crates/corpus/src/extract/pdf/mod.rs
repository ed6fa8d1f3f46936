//! Extracts the text of PDF files, page by page.
//!
//! A PDF states the places of glyphs, but not the words. `hayro-syntax` parses the file, `hayro-font` maps the codes
//! of its fonts to characters, [`content`] follows the operators that place glyphs, and [`layout`] makes words and
//! lines of the places. `cargo x bench pdf` compares the words with those of `pdftotext`.
//!
//! Files may be hostile, so a PDF is read on a [`worker`] thread with a large stack, a time limit and `catch_unwind`.
//! The bytes to which streams decompress are [counted](bombs) before the file is parsed. Streams whose filters are
//! unknown at that time are counted after parsing.
//!
//! An encrypted file with an empty password, which anybody may open, is read like any other.
//!
//! Without the feature `pdf`, every PDF is refused, and only `disabled` is compiled.

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
