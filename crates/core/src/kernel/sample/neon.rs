//! Filter that finds the contenders of weighted samples, with vectors of 4 registers.

use std::arch::aarch64::{
    float32x4_t, uint32x4_t, vaddq_f32, vaddq_u32, vaddvq_u32, vandq_u32, vcleq_f32, vcvtq_f32_u32,
    vdupq_n_f32, vdupq_n_u32, veorq_u32, vld1q_f32, vld1q_u32, vmlaq_u32, vmulq_f32, vmulq_n_f32, vmulq_u32,
    vshrq_n_u32,
};

use super::{Elements, RaceEntry, RegisterFilter, Sample, run};

const QUARTER: usize = 4;

/// Bit of each lane in the mask of its quarter.
const BITS: [u32; QUARTER] = [1, 2, 4, 8];

#[target_feature(enable = "neon")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, masks| look(entry, filter, masks));
}

#[inline]
#[target_feature(enable = "neon")]
fn look(entry: RaceEntry, filter: &RegisterFilter<'_>, masks: &mut [u16]) {
    let key = vdupq_n_u32(entry.key);
    // SAFETY: the array holds exactly the 16 bytes that are loaded.
    let bits = unsafe { vld1q_u32(BITS.as_ptr()) };
    for ((multipliers, offsets, limits), mask) in filter.blocks().zip(masks) {
        let quarter = |from: usize| {
            let (multipliers, offsets, limits) = (
                &multipliers[from..from + QUARTER],
                &offsets[from..from + QUARTER],
                &limits[from..from + QUARTER],
            );
            // SAFETY: each slice holds exactly the 16 bytes that are loaded.
            let (multipliers, offsets, limits) = unsafe {
                (vld1q_u32(multipliers.as_ptr()), vld1q_u32(offsets.as_ptr()), vld1q_f32(limits.as_ptr()))
            };
            let h = vmlaq_u32(offsets, key, multipliers);
            let outline = veorq_u32(h, vshrq_n_u32::<15>(h));
            let within = vcleq_f32(bound(outline), vmulq_n_f32(limits, entry.share));
            (vaddvq_u32(vandq_u32(within, bits)) as u16) << from
        };
        *mask = quarter(0) | quarter(QUARTER) | quarter(2 * QUARTER) | quarter(3 * QUARTER);
    }
}

/// Computes `bound` of the portable filter, for 4 registers.
#[inline]
#[target_feature(enable = "neon")]
fn bound(outline: uint32x4_t) -> float32x4_t {
    let u = vandq_u32(outline, vdupq_n_u32(0x07ff_07ff));
    let u = vmulq_u32(vandq_u32(u, vdupq_n_u32(0x7ff)), vshrq_n_u32::<16>(u));
    let s = vandq_u32(vshrq_n_u32::<11>(outline), vdupq_n_u32(0x1f));
    let s = vaddq_u32(s, vshrq_n_u32::<27>(outline));
    let s = vcvtq_f32_u32(s);
    vmulq_f32(vmulq_f32(vcvtq_f32_u32(u), s), vaddq_f32(vmulq_n_f32(s, 1.0 / 128.0), vdupq_n_f32(1.0)))
}
