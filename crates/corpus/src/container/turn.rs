//! Limits of extraction, for the first reading of a document and for later readings.

use std::time::Duration;

use crate::extract::ExtractLimits;
use crate::options::ReadOptions;

/// Whether a document is read for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadPass {
    /// The first reading, which may reject the document.
    First,
    /// A later reading, after the document was accepted.
    Again,
}

impl ReadPass {
    /// Returns the limits of extraction. The time of a later reading is not limited, because a busier machine would
    /// reject a document that was already accepted.
    pub(super) fn limits(self, options: &ReadOptions) -> ExtractLimits {
        let default = ExtractLimits::default();
        ExtractLimits {
            bytes: options.record_limit(),
            unfolded_bytes: options.record_limit().min(default.unfolded_bytes),
            time: if self == Self::First { default.time } else { Duration::MAX },
            ..default
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_documents_are_not_timed_again() {
        let options = ReadOptions { max_record_bytes: 1000, ..ReadOptions::default() };
        assert_eq!(ReadPass::First.limits(&options).time, ExtractLimits::default().time);
        assert_eq!(ReadPass::Again.limits(&options).time, Duration::MAX);
        assert_eq!(ReadPass::First.limits(&options).unfolded_bytes, 1000);
    }
}
