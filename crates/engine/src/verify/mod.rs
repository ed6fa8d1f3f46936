//! The third stage verifies neighbourhoods exactly, one by one.
//!
//! | file | does |
//! |---|---|
//! | `walk` | passes all neighbourhoods, batch by batch, to the code that decides about them ([`Decide`], [`Receive`]) |
//! | `judge` | compares two documents of a neighbourhood: first their sketches, then their shingle sets |
//! | `crowd` | screens documents against a whole crowd at once |
//! | `sum` | adds up the counts of all comparisons of a run, and finds the bands in which found pairs agree |
//! | `removed` | the type of a removed document, with the kept document |
//! | `sets` | caches the shingle sets of one neighbourhood in bounded memory |
//! | `loader` | reads a document again and makes its shingle set |
//! | `huge` | compares documents whose shingle sets do not fit into memory |
//! | `compare` | compares two texts in full, with the passages that they share |

pub mod compare;
mod crowd;
mod huge;
mod judge;
pub(crate) mod loader;
mod removed;
pub(crate) mod sets;
mod sum;
mod walk;

pub(crate) use self::judge::ExactJudge;
pub use self::removed::Removed;
pub(crate) use self::sum::Agreement;
pub use self::sum::{Reordered, Verification};
pub(crate) use self::walk::{Decide, Receive, Verified, Walk};
