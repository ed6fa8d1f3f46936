//! Keeps traits from being implemented elsewhere.

/// Only this crate can name this trait, so only its types can be sketchers.
pub trait Sealed {}
