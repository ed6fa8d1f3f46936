//! Filter that finds the contenders of weighted samples, in plain code.

use super::{Elements, LANES, RaceEntry, RegisterFilter, Sample, draw, run};

pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, look);
}

fn look(entry: RaceEntry, filter: &RegisterFilter<'_>, masks: &mut [u16]) {
    for ((multipliers, offsets, limits), mask) in filter.blocks().zip(masks) {
        let mut bits = [0; LANES];
        for i in 0..LANES {
            let outline = draw::spread(entry.key.wrapping_mul(multipliers[i]).wrapping_add(offsets[i]));
            bits[i] = u16::from(bound(outline) <= limits[i] * entry.share) << i;
        }
        *mask = bits.iter().fold(0, |mask, bit| mask | bit);
    }
}

/// Returns a lower bound of 2²⁷·a·w from the first bits of the draw: U₁U₂·(s + s²/4), with the smallest U₁, U₂ and s
/// that begin with these bits.
#[inline(always)]
fn bound(outline: u32) -> f32 {
    let float = |integer: u32| integer.cast_signed() as f32;
    let u = (outline >> 16 & 0x7ff) * (outline & 0x7ff);
    let s = (outline >> 27) + (outline >> 11 & 0x1f);
    (float(u) * float(s)) * (float(s) * (1.0 / 128.0) + 1.0)
}
