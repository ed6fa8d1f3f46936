//! What one shingle throws into one row.
//!
//! Over the axis of weights and the axis of ranks of a shingle darts are scattered, one to a unit of area, each with a
//! register. Row b is the part with ranks from 2ᵇ to 2ᵇ⁺¹: along the weights, darts follow one another at distances that are
//! exponentially distributed with the mean 2⁻ᵇ. All randomness is a function of the shingle's key and the row's salt:
//!
//! | hash of key and salt | fields, upper bits first |
//! |---|---|
//! | [`first_gap`], 32 bits | the gap before the first dart |
//! | `fmix64` of a dart's [`state`] | 32 bits of the gap after it, and its name, 32 bits |
//! | `fmix64` of that | the 32 bits of its register; the last 24 are those of its rank within the row |
//!
//! The first gap stands alone, since it is all that is looked at where a shingle has no dart in a row: a linear function
//! and a comparison. A gap is at least 2⁻³³, so that a row is empty for a weight up to 2⁻³³⁻ᵇ, and only so many rows are
//! to be looked at.

use crate::hash::fmix64;
use crate::kernel::logarithm::{float, ln};

/// From one dart of a row to the next, and from one row's salt to the next.
pub(super) const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Separates the second hash of a dart from the first.
const SECOND: u64 = 0xd1b5_4a32_d192_ed03;
/// Bits of a dart's rank within its row.
const RANK_BITS: u32 = 24;
/// Bits of a gap, and of a dart's name.
const FIELD_BITS: u32 = 32;

/// The salt of a row.
#[inline(always)]
pub(super) fn salt(seed: u64, row: i64) -> u64 {
    fmix64(seed.wrapping_add(row.cast_unsigned().wrapping_mul(STRIDE)))
}

/// Multiplier and offset of the linear function that gives a row's first gaps.
#[inline(always)]
pub(super) fn coefficients(salt: u64) -> (u32, u32) {
    ((salt >> 32) as u32 | 1, salt as u32)
}

/// The bits of the gap before the first dart. Keys are mixed already.
#[inline(always)]
pub(super) fn first_gap(key: u64, (multiplier, offset): (u32, u32)) -> u32 {
    (key as u32).wrapping_mul(multiplier).wrapping_add(offset)
}

/// Where the first dart of a row has its bits from; those that follow are a [`STRIDE`] apart.
#[inline(always)]
pub(super) fn state(key: u64, salt: u64) -> u64 {
    key ^ salt
}

/// The gap −ln(1 − U) in units of 2⁻ᵇ, U being the middle of the cell that the bits name.
#[inline(always)]
pub(super) fn gap(bits: u32) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << FIELD_BITS) as f64;
    -ln((float(u64::from(!bits)) + 0.5) * UNIT)
}

/// A dart but for its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dart {
    first: u64,
    second: u64,
}

impl Dart {
    #[inline(always)]
    pub(super) fn of(state: u64) -> Self {
        let first = fmix64(state);
        Self { first, second: fmix64(first ^ SECOND) }
    }

    /// The bits of the gap between this dart and the next.
    #[inline(always)]
    pub(super) fn next_gap(self) -> u32 {
        (self.first >> FIELD_BITS) as u32
    }

    /// Which of this many registers it is for.
    #[inline(always)]
    pub(super) fn register(self, registers: u64) -> usize {
        (((self.second >> FIELD_BITS) * registers) >> FIELD_BITS) as usize
    }

    /// By what darts of one register are ordered: the row, counted from some row, the rank within it, and the name, which
    /// makes the order total.
    #[inline(always)]
    pub(super) fn place(self, row: u64) -> u64 {
        let rank = self.second & ((1 << RANK_BITS) - 1);
        row << (RANK_BITS + FIELD_BITS) | rank << FIELD_BITS | self.first & u64::from(u32::MAX)
    }
}
