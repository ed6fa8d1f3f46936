//! The filter for 4 registers at a time.

use std::arch::aarch64::{
    float32x4_t, uint32x4_t, vaddq_f32, vaddq_u32, vaddvq_u32, vandq_u32, vcleq_f32, vcvtq_f32_u32,
    vdupq_n_f32, vdupq_n_u32, veorq_u32, vld1q_f32, vld1q_u32, vmulq_f32, vmulq_n_f32, vmulq_n_u32,
    vshrq_n_u32,
};

use super::draw::{FIRST_MULTIPLIER, SECOND_MULTIPLIER};
use super::{Elements, Entry, Filter, Sample, run};

const QUARTER: usize = 4;

/// The bit that each lane of a quarter stands for.
const BITS: [u32; QUARTER] = [1, 2, 4, 8];

#[target_feature(enable = "neon")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, masks| look(entry, filter, masks));
}

#[inline]
#[target_feature(enable = "neon")]
fn look(entry: Entry, filter: &Filter<'_>, masks: &mut [u16]) {
    let key = vdupq_n_u32(entry.key);
    // SAFETY: the array holds exactly the 16 bytes that are loaded.
    let bits = unsafe { vld1q_u32(BITS.as_ptr()) };
    for ((salts, limits), mask) in filter.salts.iter().zip(filter.limits).zip(masks) {
        let quarters = salts.as_chunks::<QUARTER>().0.iter().zip(limits.as_chunks::<QUARTER>().0);
        *mask = quarters.enumerate().fold(0, |mask, (quarter, (salts, limits))| {
            // SAFETY: both arrays hold exactly the 16 bytes that are loaded.
            let (salts, limits) = unsafe { (vld1q_u32(salts.as_ptr()), vld1q_f32(limits.as_ptr())) };
            let within = vcleq_f32(bound(outline(key, salts)), vmulq_n_f32(limits, entry.share));
            mask | (vaddvq_u32(vandq_u32(within, bits)) as u16) << (quarter * QUARTER)
        });
    }
}

/// As the draw defines it.
#[inline]
#[target_feature(enable = "neon")]
fn outline(key: uint32x4_t, salts: uint32x4_t) -> uint32x4_t {
    let h = vmulq_n_u32(veorq_u32(key, salts), FIRST_MULTIPLIER);
    vmulq_n_u32(veorq_u32(h, vshrq_n_u32::<15>(h)), SECOND_MULTIPLIER)
}

/// As in the portable filter.
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
