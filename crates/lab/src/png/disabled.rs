//! Replaces the PNG renderer if `minwise-lab` was built without it.

use anyhow::{Result, bail};

/// Renderer that cannot be made.
#[derive(Debug)]
pub enum Renderer {}

impl Renderer {
    /// Returns an error.
    pub fn new() -> Result<Self> {
        bail!("`minwise-lab` was built without its feature `png`")
    }

    /// Returns the PNG file of an SVG chart.
    pub fn png(&self, _svg: &str) -> Result<Vec<u8>> {
        match *self {}
    }
}
