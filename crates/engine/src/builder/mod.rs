//! Entry points of most programs: [`dedup`] and [`pairs`], and the builders [`Dedup`] and [`Pairs`] behind them.
//!
//! A builder collects options and makes a [`DedupRun`](crate::DedupRun) or a [`PairsRun`](crate::PairsRun) of them.
//! Results identify a document by its index: its position among the records of the inputs. For a list of texts, this is
//! the position in the list.

mod positions;
mod shared;

mod dedup;
mod pairs;

pub use dedup::{Dedup, Deduplicated, Duplicate, DuplicateCluster};
pub use pairs::{FoundPair, FoundPairs, Pairs};

use crate::error::Error;

/// Finds the near-duplicates in a list of texts, and decides which texts stay.
///
/// The first text of each cluster stays. The function uses the default options; [`Dedup`] has all options.
///
/// ```
/// let texts = ["a rose is a rose", "A rose is a rose!", "a lily"];
/// let result = minwise_engine::dedup(texts)?;
/// let kept: Vec<&str> = result.kept().map(|index| texts[index]).collect();
/// assert_eq!(kept, ["a rose is a rose", "a lily"]);
/// assert_eq!(result.removed()[0].duplicate_of, 0);
/// # Ok::<(), minwise_engine::Error>(())
/// ```
///
/// # Errors
/// Fails with [`ErrorKind::TooLittleMemory`](crate::ErrorKind::TooLittleMemory) if half of the machine's memory is too
/// little, and with [`ErrorKind::TooManyDocuments`](crate::ErrorKind::TooManyDocuments) if there are more than
/// 4,294,967,294 texts. Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or
/// [`ErrorKind::File`](crate::ErrorKind::File) if the system's folder for temporary files is needed and cannot be used.
pub fn dedup<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Deduplicated, Error> {
    Dedup::new().texts(texts).run()
}

/// Finds the near-duplicate pairs in a list of texts.
///
/// The function uses the default options; [`Pairs`] has all options.
///
/// ```
/// let texts = ["a rose is a rose", "A rose is a rose!", "a lily"];
/// for pair in &minwise_engine::pairs(texts)? {
///     assert_eq!((pair.first, pair.second, pair.similarity), (0, 1, 1.0));
/// }
/// # Ok::<(), minwise_engine::Error>(())
/// ```
///
/// # Errors
/// Fails for the same reasons as [`dedup`](fn@dedup).
pub fn pairs<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<FoundPairs, Error> {
    Pairs::new().texts(texts).run()
}
