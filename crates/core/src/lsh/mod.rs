//! An index in memory: documents are inserted one by one, and a query finds similar documents without comparing all.
//!
//! - **Paper.** Indyk and Motwani 1998; the [banding](crate::candidate::banding) is that of a run, updated per
//!   document.
//! - **Idea.** Each band has a hash table from band keys to the documents that have them. A query looks up its own band
//!   keys, and compares the sketches of the documents that it finds under them.
//! - **Cost.** Per document 4 bytes per register, and some 22 bytes per band. An insertion or a query looks up one
//!   bucket per band, and a query compares one sketch per candidate; sketching the text takes most of the time.
//! - **Error.** A document at similarity s is among the candidates with probability 1 − (1 − sʳ)ᵇ for b bands of r
//!   rows. Its similarity is estimated with a stated standard error, or exact if the index [keeps
//!   shingles](LshBuilder::keep_shingles).
//! - **Use when** documents arrive one by one, or are to be looked up by similarity, and their sketches fit into
//!   memory.
//! - **Do not** use it to deduplicate a complete corpus, because a run compares fewer pairs and needs less memory.

mod band_keys;
mod builder;
mod bulk;
mod index;
mod search;
#[cfg(feature = "serde")]
mod stored;
mod table;
mod threads;

#[cfg(test)]
mod tests;

pub use builder::LshBuilder;
pub use index::{Iter, Lsh, Sketchable};
pub use search::{Searcher, Similar};
