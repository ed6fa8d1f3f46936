//! Sketches measured, and what was measured drawn.
//!
//! - [`plot`]: line and point charts as SVG.
//! - [`measure`]: the error of real sketches of generated documents, over fixed seeds.
//! - [`concepts`]: the pictures and the table of `docs/concepts`, made of the two.

pub mod concepts;
pub mod measure;
pub mod plot;
