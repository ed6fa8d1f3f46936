//! The filter for 4 registers at a time.

use std::arch::aarch64::{
    float32x4_t, uint32x4_t, vaddq_f32, vandq_u32, vcleq_f32, vcvtq_f32_u32, vdupq_n_f32, vdupq_n_u32,
    veorq_u32, vld1q_f32, vld1q_u32, vmaxvq_u32, vmulq_f32, vmulq_n_f32, vmulq_n_u32, vshrq_n_u32, vst1q_u32,
    vsubq_f32,
};

use super::{Contender, Elements, Entry, Filter, Sample, run};

const QUARTER: usize = 4;

#[target_feature(enable = "neon")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, contenders| contend(entry, filter, contenders));
}

#[inline]
#[target_feature(enable = "neon")]
fn contend(entry: Entry, filter: &Filter<'_>, contenders: &mut Vec<Contender>) {
    let key = vdupq_n_u32(entry.key);
    let salts = filter.salts.as_flattened().as_chunks::<QUARTER>().0;
    let limits = filter.limits.as_flattened().as_chunks::<QUARTER>().0;
    for (quarter, (salts, limits)) in salts.iter().zip(limits).enumerate() {
        // SAFETY: both arrays hold exactly the 16 bytes that are loaded.
        let (salts, limits) = unsafe { (vld1q_u32(salts.as_ptr()), vld1q_f32(limits.as_ptr())) };
        let bounds = bound(mix(veorq_u32(key, salts)));
        let within = vcleq_f32(bounds, vmulq_n_f32(limits, entry.share));
        if vmaxvq_u32(within) != 0 {
            let mut lanes = [0; QUARTER];
            // SAFETY: the array holds exactly the 16 bytes that are stored.
            unsafe { vst1q_u32(lanes.as_mut_ptr(), within) };
            for (i, _) in lanes.iter().enumerate().filter(|(_, within)| **within != 0) {
                let lane = quarter * QUARTER + i;
                contenders.push(Contender { lane: lane as u32, element: entry.element });
            }
        }
    }
}

/// `fmix32`.
#[inline]
#[target_feature(enable = "neon")]
fn mix(h: uint32x4_t) -> uint32x4_t {
    let h = vmulq_n_u32(veorq_u32(h, vshrq_n_u32::<16>(h)), 0x85eb_ca6b);
    let h = vmulq_n_u32(veorq_u32(h, vshrq_n_u32::<13>(h)), 0xc2b2_ae35);
    veorq_u32(h, vshrq_n_u32::<16>(h))
}

/// As in the portable filter.
#[inline]
#[target_feature(enable = "neon")]
fn bound(outline: uint32x4_t) -> float32x4_t {
    let one = vdupq_n_f32(1.0);
    let u1 = vcvtq_f32_u32(vshrq_n_u32::<21>(outline));
    let u2 = vcvtq_f32_u32(vandq_u32(vshrq_n_u32::<10>(outline), vdupq_n_u32(0x7ff)));
    let v1 = vcvtq_f32_u32(vandq_u32(vshrq_n_u32::<5>(outline), vdupq_n_u32(0x1f)));
    let v2 = vcvtq_f32_u32(vandq_u32(outline, vdupq_n_u32(0x1f)));
    let q = vsubq_f32(vdupq_n_f32(1024.0), vmulq_f32(vaddq_f32(v1, one), vaddq_f32(v2, one)));
    let more = vaddq_f32(vmulq_n_f32(q, 1.0 / 2048.0), one);
    vmulq_f32(vmulq_f32(vmulq_f32(u1, u2), q), more)
}
