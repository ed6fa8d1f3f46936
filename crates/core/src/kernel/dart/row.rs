//! What one shingle throws into one row.
//!
//! Over the axis of weights and the axis of ranks of a shingle darts are scattered, one to a unit of area, each with a
//! register. Row b is the part with ranks from 2ᵇ to 2ᵇ⁺¹: along the weights, darts follow one another at distances that are
//! exponentially distributed with the mean 2⁻ᵇ. All randomness is a function of the shingle's key and the row's salt:
//!
//! | hash of key and salt | fields, upper bits first |
//! |---|---|
//! | [`first_gap`], 32 bits | the gap before the first dart |
//! | `fmix64` of a dart's [`state`] | 32 bits of the gap after it, 16 of its register, 16 of its rank within the row |
//!
//! So that short documents, whose shingles have many darts in a row, need not follow long chains, a row is cut into cells of
//! some darts each, and every cell has a chain of its own.
//!
//! The first gap stands alone, since it is all that is looked at where a shingle has no dart in a row: a linear function
//! and a comparison. A gap is at least 2⁻³³, so that a row is empty for a weight up to 2⁻³³⁻ᵇ, and only so many rows are
//! to be looked at.

use crate::hash::fmix64;
use crate::kernel::logarithm::{float, ln};

/// From one dart of a row to the next, and from one row's salt to the next.
pub(super) const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
/// From one cell of a row to the next.
const CELL_STRIDE: u64 = 0xa076_1d64_78bd_642f;
/// The weights of a cell, times 2ᵇ, and so its darts on average. More mean longer chains of gaps, fewer more chains.
pub(super) const CELL: f64 = 4.0;
/// Bits of a gap.
const GAP_BITS: u32 = 32;
/// Bits of a dart's register, and of its rank within its row.
const FIELD_BITS: u32 = 16;
/// Bits of a dart's place below the row.
const PLACE_BITS: u32 = 56;

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

/// The bits of the gap before the first dart, of the lower half of a key. Keys are mixed already.
#[inline(always)]
pub(super) fn first_gap(key: u32, (multiplier, offset): (u32, u32)) -> u32 {
    key.wrapping_mul(multiplier).wrapping_add(offset)
}

/// Where the first dart of a row has its bits from; those that follow are a [`STRIDE`] apart.
#[inline(always)]
pub(super) fn state(key: u64, salt: u64) -> u64 {
    key ^ salt
}

/// The state of the next cell's first dart, from that of this cell.
#[inline(always)]
pub(super) fn next_cell(state: u64) -> u64 {
    state.wrapping_add(CELL_STRIDE)
}

/// The bits of the gap before the first dart of a cell that is not the first of its row: as if a dart were before it.
#[inline(always)]
pub(super) fn cell_gap(state: u64) -> u32 {
    RawDart::of(state.wrapping_sub(STRIDE)).next_gap()
}

/// The gap −ln(1 − U) in units of 2⁻ᵇ, U being the middle of the cell that the bits name.
#[inline(always)]
pub(super) fn gap(bits: u32) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << GAP_BITS) as f64;
    -ln((float(u64::from(!bits)) + 0.5) * UNIT)
}

/// Less than the gap, without a logarithm: −ln(1 − U) > U, and by more than either is rounded.
#[inline(always)]
pub(super) fn least_gap(bits: u32) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << GAP_BITS) as f64;
    float(u64::from(bits)) * UNIT
}

/// A dart but for its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawDart(u64);

impl RawDart {
    #[inline(always)]
    pub(super) fn of(state: u64) -> Self {
        Self(fmix64(state))
    }

    /// The bits of the gap between this dart and the next.
    #[inline(always)]
    pub(super) fn next_gap(self) -> u32 {
        (self.0 >> GAP_BITS) as u32
    }

    /// Which of this many registers it is for. That some are hit more often does no harm: each has a uniform process.
    #[inline(always)]
    pub(super) fn register(self, registers: u64) -> usize {
        (((self.0 >> FIELD_BITS & 0xffff) * registers) >> FIELD_BITS) as usize
    }

    /// By what darts of one register are ordered: the row, counted from some row, the rank within it, and other bits, which
    /// make the order total.
    #[inline(always)]
    pub(super) fn place(self, row: u64) -> u64 {
        row << PLACE_BITS | (self.0 & 0xffff) << (PLACE_BITS - FIELD_BITS) | self.0 >> 24
    }
}

/// The name of the dart at a place, the same in whatever row a count begins.
#[inline(always)]
pub(super) fn name(place: u64) -> u32 {
    (fmix64(place & ((1 << PLACE_BITS) - 1)) >> 32) as u32
}
