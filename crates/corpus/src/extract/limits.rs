//! Limits on the cost of a document.

use std::time::Duration;

use super::Refusal;
use crate::setters::setters;

/// Limits on the cost of a document. A document above a limit is refused.
///
/// Documents come from strangers: a page of a few kilobytes can ask for gigabytes of memory or for hours. Every format
/// is read within these bounds, which are far above what documents of people need.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractLimits {
    /// Maximum size of the file, in bytes. Default: 256 MiB.
    pub bytes: u64,
    /// Maximum size of all decompressed parts together, and of the text, in bytes. The bytes are counted while they are
    /// decompressed; the sizes that the file states are not believed. Default: 256 MiB.
    pub unfolded_bytes: u64,
    /// Maximum depth of elements or objects inside one another. Default: 256.
    pub nesting: usize,
    /// Maximum number of pages of a PDF. Default: 20,000.
    pub pages: usize,
    /// Maximum time for one PDF. Other formats take time in proportion to their bytes. Default: 1 minute.
    pub time: Duration,
    /// Maximum number of threads of this process that read PDFs at once, including those that were given up and have not ended.
    /// Default: no limit.
    pub threads: usize,
}

setters!(ExtractLimits {
    /// Maximum size of the file, in bytes. Default: 256 MiB.
    bytes: u64,
    /// Maximum size of all decompressed parts together, and of the text, in bytes. The bytes are counted while they are
    /// decompressed; the sizes that the file states are not believed. Default: 256 MiB.
    unfolded_bytes: u64,
    /// Maximum depth of elements or objects inside one another. Default: 256.
    nesting: usize,
    /// Maximum number of pages of a PDF. Default: 20,000.
    pages: usize,
    /// Maximum time for one PDF. Other formats take time in proportion to their bytes. Default: 1 minute.
    time: Duration,
    /// Maximum number of threads of this process that read PDFs at once, including those that were given up and have not ended.
    /// Default: no limit.
    threads: usize,
    ;
});

impl Default for ExtractLimits {
    fn default() -> Self {
        Self {
            bytes: 256 << 20,
            unfolded_bytes: 256 << 20,
            nesting: 256,
            pages: 20_000,
            time: Duration::from_mins(1),
            threads: usize::MAX,
        }
    }
}

impl ExtractLimits {
    /// Refuses a file that is over the limit.
    pub(super) fn check_bytes(&self, bytes: usize) -> Result<(), Refusal> {
        let bytes = bytes as u64;
        if bytes <= self.bytes { Ok(()) } else { Err(Refusal::TooLarge { bytes, limit: self.bytes }) }
    }

    /// The refusal of a file that decompresses to more than the limit.
    pub(super) fn unfolds_too_far(&self) -> Refusal {
        Refusal::TooLarge { bytes: self.unfolded_bytes.saturating_add(1), limit: self.unfolded_bytes }
    }
}
