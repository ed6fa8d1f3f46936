//! Limits on the cost of a document.

use std::time::Duration;

use super::Refusal;
use crate::setters::setters;

/// Limits on the cost of a document. A document above a limit is refused.
///
/// Documents may be hostile: a page of a few kilobytes can demand gigabytes of memory or hours of time. Every format
/// is read within these limits, which are far above the needs of ordinary documents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractLimits {
    /// Maximum size of the file, in bytes. Default: 256 MiB.
    pub bytes: u64,
    /// Maximum size of all decompressed parts together, and of the text, in bytes. Bytes are counted during
    /// decompression, because the sizes that the file states may be wrong. Default: 256 MiB.
    pub unfolded_bytes: u64,
    /// Maximum nesting depth of elements or objects. Default: 256.
    pub nesting: usize,
    /// Maximum number of pages of a PDF. Default: 20,000.
    pub pages: usize,
    /// Maximum time for one PDF. The time for other formats is proportional to their bytes. Default: 1 minute.
    pub time: Duration,
    /// Maximum number of threads of this process that read PDFs at once, including threads that are still running
    /// after their time was over. Default: no limit.
    pub threads: usize,
}

setters!(ExtractLimits {
    /// Maximum size of the file, in bytes. Default: 256 MiB.
    bytes: u64,
    /// Maximum size of all decompressed parts together, and of the text, in bytes. Bytes are counted during
    /// decompression, because the sizes that the file states may be wrong. Default: 256 MiB.
    unfolded_bytes: u64,
    /// Maximum nesting depth of elements or objects. Default: 256.
    nesting: usize,
    /// Maximum number of pages of a PDF. Default: 20,000.
    pages: usize,
    /// Maximum time for one PDF. The time for other formats is proportional to their bytes. Default: 1 minute.
    time: Duration,
    /// Maximum number of threads of this process that read PDFs at once, including threads that are still running
    /// after their time was over. Default: no limit.
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

    /// Returns the refusal of a file that decompresses to more than the limit.
    pub(super) fn unfolds_too_far(&self) -> Refusal {
        Refusal::TooLarge { bytes: self.unfolded_bytes.saturating_add(1), limit: self.unfolded_bytes }
    }
}
