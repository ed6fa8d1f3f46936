//! Pictures as PNG, for those who cannot use SVG.
//!
//! A picture has the letters of the fonts of the machine, so PNG files are not the same everywhere, as everything else of
//! a record is. They have the light colours, and two pixels for each of the SVG.
//!
//! The renderer takes longer to build than the rest of the lab: it is there with the feature `png`, which `minwise-lab`
//! has unless it is built without default features.

#[cfg_attr(feature = "png", path = "enabled.rs")]
#[cfg_attr(not(feature = "png"), path = "disabled.rs")]
mod renderer;

pub use renderer::Renderer;
