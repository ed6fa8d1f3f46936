//! The result of verification for a document that does not stay.

/// Removed document, with the document that is kept in its stead.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Removed {
    /// Number of the removed document.
    pub document: u32,
    /// Number of the document that is kept in its stead.
    pub of: u32,
    /// Exact similarity of the two documents.
    pub similarity: f64,
}

impl Removed {
    /// Creates the result for a document that is removed in favour of the document `of`.
    #[must_use]
    pub fn new(document: u32, of: u32, similarity: f64) -> Self {
        Self { document, of, similarity }
    }
}
