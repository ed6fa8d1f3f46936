//! Refuses PDF, because the feature `pdf` is missing.

use super::super::{ExtractLimits, Extracted, Refusal};

/// Refuses every PDF.
pub(in super::super) fn extract(_bytes: &[u8], _limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    Err(Refusal::MissingFeature { what: "a PDF", feature: "pdf" })
}
