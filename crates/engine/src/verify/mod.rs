//! The third stage: neighbourhoods verified one by one, exactly.
//!
//! | file | does |
//! |---|---|
//! | `walk` | takes all neighbourhoods, batch by batch, to whoever decides about them ([`Decide`], [`Receive`]) |
//! | `judge` | compares two documents of a neighbourhood: first their sketches, then their shingle sets |
//! | `crowd` | screens documents against all of a crowd at once |
//! | `sum` | the counts of all comparisons of a run, and the bands in which found pairs agree |
//! | `removed` | a document that goes in favour of another one |
//! | `sets` | a bounded cache of the shingle sets of one neighbourhood |
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
