//! Converts charts to PNG, for readers who cannot use SVG.
//!
//! The letters come from the fonts of the machine. PNG files therefore differ between machines, unlike all other files
//! of a record. They have the light colours, and two pixels per pixel of the SVG.
//!
//! The renderer takes longer to build than the rest of the lab, so it is behind the feature `png`, which `minwise-lab`
//! has by default.

#[cfg_attr(feature = "png", path = "enabled.rs")]
#[cfg_attr(not(feature = "png"), path = "disabled.rs")]
mod renderer;

pub use renderer::Renderer;
