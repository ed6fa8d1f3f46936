//! The supertrait that seals the traits of sketches, so that no other crate can implement them.

/// Supertrait of all sketchers. Other crates cannot name it, so only types of this crate can be
/// sketchers.
pub trait Sealed {}
