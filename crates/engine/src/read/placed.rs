//! Sketches that know where shared shingles stand, for the `order` setting.

use minwise::Error;
use minwise::estimate::sectional::SectionalMatches;
use minwise::sketch::Sketcher;
use minwise::sketch::sectional::Tolerant;
use minwise::verify::order::TOLERANCE;

/// Registers by which the places of shared shingles are compared.
pub(crate) const PLACED_REGISTERS: usize = 128;
/// Fine positions of a document, as [`Tolerant`] has them.
const FINE: f64 = 64.0;

/// Sketches places, and compares such sketches.
#[derive(Debug)]
pub(crate) struct PositionSketcher {
    sketcher: Tolerant,
}

impl PositionSketcher {
    pub(crate) fn new(seed: u64) -> Result<Self, Error> {
        // Positions are rounded down, so places within the tolerance are at most one step further apart.
        let steps = (TOLERANCE * FINE).floor() as u32 + 1;
        Ok(Self { sketcher: Tolerant::new(PLACED_REGISTERS, steps, seed)? })
    }

    pub(crate) fn words(&self) -> usize {
        self.sketcher.words()
    }

    pub(crate) fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        self.sketcher.sketch_into(shingles, out);
    }

    /// The registers in which two sketches agree, and those of them that stand in about the same places.
    pub(crate) fn matches(&self, a: &[u32], b: &[u32]) -> SectionalMatches {
        self.sketcher.matches(a, b)
    }
}
