//! The limits of a search for a text, when it is read for the first time and again.

use std::time::Duration;

use crate::extract::ExtractLimits;
use crate::options::ReadOptions;

/// When a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadPass {
    /// For the first time.
    First,
    /// After it was accepted.
    Again,
}

impl ReadPass {
    /// The limits of extraction. A document that was accepted once is not timed again, because a busier machine would reject it.
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
    fn what_was_accepted_is_not_timed_again() {
        let options = ReadOptions { max_record_bytes: 1000, ..ReadOptions::default() };
        assert_eq!(ReadPass::First.limits(&options).time, ExtractLimits::default().time);
        assert_eq!(ReadPass::Again.limits(&options).time, Duration::MAX);
        assert_eq!(ReadPass::First.limits(&options).unfolded_bytes, 1000);
    }
}
