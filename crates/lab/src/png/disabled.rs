//! No PNG, in a command that was built without it.

use anyhow::{Result, bail};

/// Makes PNG of SVG; there is none.
#[derive(Debug)]
pub enum Renderer {}

impl Renderer {
    /// An error, always.
    pub fn new() -> Result<Self> {
        bail!("`minwise-lab` was built without its feature `png`")
    }

    /// The PNG file of a picture.
    pub fn png(&self, _svg: &str) -> Result<Vec<u8>> {
        match *self {}
    }
}
