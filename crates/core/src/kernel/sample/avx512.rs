//! Filter that finds the contenders of weighted samples, with vectors of 16 registers.

use std::arch::x86_64::{
    __m512, __m512i, _CMP_LE_OQ, _mm512_add_epi32, _mm512_add_ps, _mm512_and_si512, _mm512_cmp_ps_mask,
    _mm512_cvtepi32_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_mul_ps,
    _mm512_mullo_epi32, _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_ps, _mm512_srli_epi32,
    _mm512_xor_si512,
};

use super::{Elements, RaceEntry, RegisterFilter, Sample, run};

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, masks| look(entry, filter, masks));
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn look(entry: RaceEntry, filter: &RegisterFilter<'_>, masks: &mut [u16]) {
    let key = _mm512_set1_epi32(entry.key.cast_signed());
    let share = _mm512_set1_ps(entry.share);
    for ((multipliers, offsets, limits), mask) in filter.blocks().zip(masks) {
        // SAFETY: each array holds exactly the 64 bytes that are loaded.
        let (multipliers, offsets, limits) = unsafe {
            (
                _mm512_loadu_si512(multipliers.as_ptr().cast()),
                _mm512_loadu_si512(offsets.as_ptr().cast()),
                _mm512_loadu_ps(limits.as_ptr()),
            )
        };
        let h = _mm512_add_epi32(_mm512_mullo_epi32(key, multipliers), offsets);
        let outline = _mm512_xor_si512(h, _mm512_srli_epi32::<15>(h));
        *mask = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(bound(outline), _mm512_mul_ps(limits, share));
    }
}

/// Computes `bound` of the portable filter, for 16 registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bound(outline: __m512i) -> __m512 {
    // `madd` adds the products of both halves of a lane. For U₁·U₂ the upper half is moved down, so
    // one product is 0.
    let u = _mm512_and_si512(outline, _mm512_set1_epi32(0x07ff_07ff));
    let u = _mm512_madd_epi16(u, _mm512_srli_epi32::<16>(u));
    let s = _mm512_and_si512(_mm512_srli_epi32::<11>(outline), _mm512_set1_epi32(0x001f_001f));
    let s = _mm512_cvtepi32_ps(_mm512_madd_epi16(s, _mm512_set1_epi16(1)));
    let more = _mm512_add_ps(_mm512_mul_ps(s, _mm512_set1_ps(1.0 / 128.0)), _mm512_set1_ps(1.0));
    _mm512_mul_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(u), s), more)
}
