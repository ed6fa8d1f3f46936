//! What verification leads to: a document that goes in favour of another one.

/// A document that does not stay.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Removed {
    /// The document.
    pub document: u32,
    /// The document that is kept in its stead.
    pub of: u32,
    /// Their exact similarity.
    pub similarity: f64,
}

impl Removed {
    /// A document that does not stay, because of another one with this similarity.
    #[must_use]
    pub fn new(document: u32, of: u32, similarity: f64) -> Self {
        Self { document, of, similarity }
    }
}
