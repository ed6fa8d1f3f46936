//! Sketches of shingles with their positions, for the setting `order`.

use minwise::Error;
use minwise::estimate::sectional::SectionalMatches;
use minwise::sketch::Sketcher;
use minwise::sketch::sectional::Tolerant;
use minwise::verify::order::TOLERANCE;

/// Number of registers by which the positions of shared shingles are compared.
pub(crate) const PLACED_REGISTERS: usize = 128;
/// Number of fine positions that [`Tolerant`] divides a document into.
const FINE: f64 = 64.0;

/// Makes and compares sketches of shingles with their positions.
#[derive(Debug)]
pub(crate) struct PositionSketcher {
    sketcher: Tolerant,
}

impl PositionSketcher {
    pub(crate) fn new(seed: u64) -> Result<Self, Error> {
        // Rounding positions down can move two shingles one step further apart, so the tolerance is one step larger.
        let steps = (TOLERANCE * FINE).floor() as u32 + 1;
        Ok(Self { sketcher: Tolerant::new(PLACED_REGISTERS, steps, seed)? })
    }

    pub(crate) fn words(&self) -> usize {
        self.sketcher.words()
    }

    pub(crate) fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        self.sketcher.sketch_into(shingles, out);
    }

    /// Counts the registers in which two sketches agree, and among these registers the ones whose shingles are at about
    /// the same position.
    pub(crate) fn matches(&self, a: &[u32], b: &[u32]) -> SectionalMatches {
        self.sketcher.matches(a, b)
    }
}
