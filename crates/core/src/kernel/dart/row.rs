//! The darts that one shingle throws into one row.
//!
//! Darts are scattered over the plane of weights and ranks of a shingle, on average one per unit of area, each with a
//! register. Row b is the part of the plane with ranks from 2ᵇ to 2ᵇ⁺¹. Along the weights of a row, the gaps between
//! darts are exponentially distributed with mean 2⁻ᵇ. All randomness is a function of the key of the shingle and the
//! salt of the row:
//!
//! | hash of key and salt | fields, upper bits first |
//! |---|---|
//! | [`first_gap`], 32 bits | the gap before the first dart |
//! | `fmix64` of a dart's [`state`] | 32 bits of the gap after the dart, 16 of its register, 16 of its rank |
//!
//! The *place* of a dart is the number by which the darts of one register are ordered. Short documents have shingles
//! with many darts per row. A row is therefore cut into cells of some darts each, and every cell has a chain of its
//! own, so no chain is long.
//!
//! The first gap has a hash of its own, because a shingle without a dart in the row needs only the first gap: a linear
//! function and a comparison. A gap is at least 2⁻³³, so a row is empty for weights up to 2⁻³³⁻ᵇ, and the number of
//! rows to process is bounded.

use crate::hash::fmix64;
use crate::kernel::logarithm::{float, ln};

/// Difference between the states of consecutive darts, and between the numbers that are mixed to the salts of
/// consecutive rows.
pub(super) const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Difference between the states of consecutive cells of a row.
const CELL_STRIDE: u64 = 0xa076_1d64_78bd_642f;
/// Width of a cell, in weights times 2ᵇ. A cell has the same number of darts on average. Larger cells mean longer
/// chains of gaps, and smaller cells more chains.
pub(super) const CELL: f64 = 4.0;
const GAP_BITS: u32 = 32;
/// Number of bits of a dart's register, and of its rank within its row.
const FIELD_BITS: u32 = 16;
/// Number of bits of a [`place`](RawDart::place) below its row: 16 bits of the rank, and 40 bits that break ties.
const PLACE_BITS: u32 = 56;

#[inline(always)]
pub(super) fn salt(seed: u64, row: i64) -> u64 {
    fmix64(seed.wrapping_add(row.cast_unsigned().wrapping_mul(STRIDE)))
}

/// Returns the multiplier and the offset of the linear function for the first gaps of a row.
#[inline(always)]
pub(super) fn coefficients(salt: u64) -> (u32, u32) {
    ((salt >> 32) as u32 | 1, salt as u32)
}

/// Returns the bits of the gap before the first dart. `key` is the lower half of a shingle's key, which is mixed
/// already.
#[inline(always)]
pub(super) fn first_gap(key: u32, (multiplier, offset): (u32, u32)) -> u32 {
    key.wrapping_mul(multiplier).wrapping_add(offset)
}

/// Returns the state of the first dart of a row. Consecutive darts are a [`STRIDE`] apart.
#[inline(always)]
pub(super) fn state(key: u64, salt: u64) -> u64 {
    key ^ salt
}

/// Returns the state of the first dart of the next cell, from the state of the first dart of this cell.
#[inline(always)]
pub(super) fn next_cell(state: u64) -> u64 {
    state.wrapping_add(CELL_STRIDE)
}

/// Returns the bits of the gap between the beginning of a later cell and its first dart, as if a dart were at the
/// beginning.
#[inline(always)]
pub(super) fn cell_gap(state: u64) -> u32 {
    RawDart::of(state.wrapping_sub(STRIDE)).next_gap()
}

/// Returns the gap −ln(1 − U) in units of 2⁻ᵇ. U is the middle of the interval of numbers that begin with `bits`.
#[inline(always)]
pub(super) fn gap(bits: u32) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << GAP_BITS) as f64;
    -ln((float(u64::from(!bits)) + 0.5) * UNIT)
}

/// Returns a lower bound of the gap without a logarithm. −ln(1 − U) > U, and the difference exceeds all rounding
/// errors.
#[inline(always)]
pub(super) fn least_gap(bits: u32) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << GAP_BITS) as f64;
    float(u64::from(bits)) * UNIT
}

/// A dart whose weight is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawDart(u64);

impl RawDart {
    #[inline(always)]
    pub(super) fn of(state: u64) -> Self {
        Self(fmix64(state))
    }

    /// Returns the bits of the gap between this dart and the next dart.
    #[inline(always)]
    pub(super) fn next_gap(self) -> u32 {
        (self.0 >> GAP_BITS) as u32
    }

    /// Returns the register of the dart, one of `registers`. Some registers are hit more often, which does no harm,
    /// because the darts of each register are uniformly distributed.
    #[inline(always)]
    pub(super) fn register(self, registers: u64) -> usize {
        (((self.0 >> FIELD_BITS & 0xffff) * registers) >> FIELD_BITS) as usize
    }

    /// Returns the value by which the darts of one register are ordered: `row`, then the rank within the row, then
    /// other bits that break ties. Rows may be counted from any row.
    #[inline(always)]
    pub(super) fn place(self, row: u64) -> u64 {
        row << PLACE_BITS | (self.0 & 0xffff) << (PLACE_BITS - FIELD_BITS) | self.0 >> 24
    }
}

/// Returns the name of the dart at a place. The name does not depend on the row from which rows are counted.
#[inline(always)]
pub(super) fn name(place: u64) -> u32 {
    (fmix64(place & ((1 << PLACE_BITS) - 1)) >> 32) as u32
}
