//! What a document may cost before it is refused.

use std::time::Duration;

use super::Refusal;
use crate::setters::setters;

/// What a document may cost before it is refused.
///
/// Documents come from strangers: a page of a few kilobytes can ask for gigabytes of memory or for hours. Every format
/// is read within these bounds, which are far above what documents of people need.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractLimits {
    /// Bytes of the file. Default: 256 MiB.
    pub bytes: u64,
    /// Bytes that what is compressed in it may unfold to, all parts together, and bytes of the text. They are counted
    /// while they are unfolded: what the file says about itself is not believed. Default: 256 MiB.
    pub unfolded_bytes: u64,
    /// Elements or objects inside one another. Default: 256.
    pub nesting: usize,
    /// Pages of a PDF. Default: 20 000.
    pub pages: usize,
    /// The time that one PDF may take. The other formats take time in proportion to their bytes, as they are and unfolded.
    /// Default: a minute.
    pub time: Duration,
    /// Threads of this process that read PDFs at once, those among them that were given up and have not ended. Default: as many as
    /// are asked for.
    pub threads: usize,
}

setters!(ExtractLimits {
    bytes: u64,
    unfolded_bytes: u64,
    nesting: usize,
    pages: usize,
    time: Duration,
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

    /// The refusal of a file that unfolds to more than it may.
    pub(super) fn unfolds_too_far(&self) -> Refusal {
        Refusal::TooLarge { bytes: self.unfolded_bytes.saturating_add(1), limit: self.unfolded_bytes }
    }
}
