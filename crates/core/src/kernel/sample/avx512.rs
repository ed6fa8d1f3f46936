//! The filter for 16 registers at a time.

use std::arch::x86_64::{
    __m512, __m512i, _CMP_LE_OQ, _mm512_add_epi32, _mm512_add_ps, _mm512_and_si512, _mm512_cmp_ps_mask,
    _mm512_cvtepi32_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mul_ps, _mm512_mullo_epi32,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_srli_epi32, _mm512_xor_si512,
};

use super::draw::{FIRST_MULTIPLIER, SECOND_MULTIPLIER};
use super::{Elements, Entry, Filter, Sample, run};

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, masks| look(entry, filter, masks));
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn look(entry: Entry, filter: &Filter<'_>, masks: &mut [u16]) {
    let key = _mm512_set1_epi32(entry.key.cast_signed());
    let share = _mm512_set1_ps(entry.share);
    for ((salts, limits), mask) in filter.salts.iter().zip(filter.limits).zip(masks) {
        // SAFETY: both arrays hold exactly the 64 bytes that are loaded.
        let (salts, limits) =
            unsafe { (_mm512_loadu_si512(salts.as_ptr().cast()), _mm512_loadu_ps(limits.as_ptr())) };
        let bounds = bound(outline(key, salts));
        *mask = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(bounds, _mm512_mul_ps(limits, share));
    }
}

/// As the draw defines it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn outline(key: __m512i, salts: __m512i) -> __m512i {
    let multiply = |h, by: u32| _mm512_mullo_epi32(h, _mm512_set1_epi32(by.cast_signed()));
    let h = multiply(_mm512_xor_si512(key, salts), FIRST_MULTIPLIER);
    let h = multiply(_mm512_xor_si512(h, _mm512_srli_epi32::<15>(h)), SECOND_MULTIPLIER);
    _mm512_xor_si512(h, _mm512_srli_epi32::<16>(h))
}

/// As in the portable filter.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bound(outline: __m512i) -> __m512 {
    let (eleven, five) = (_mm512_set1_epi32(0x7ff), _mm512_set1_epi32(0x1f));
    let u1 = _mm512_cvtepi32_ps(_mm512_srli_epi32::<21>(outline));
    let u2 = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32::<10>(outline), eleven));
    let v1 = _mm512_and_si512(_mm512_srli_epi32::<5>(outline), five);
    let s = _mm512_cvtepi32_ps(_mm512_add_epi32(v1, _mm512_and_si512(outline, five)));
    let more = _mm512_add_ps(_mm512_mul_ps(s, _mm512_set1_ps(1.0 / 128.0)), _mm512_set1_ps(1.0));
    _mm512_mul_ps(_mm512_mul_ps(_mm512_mul_ps(u1, u2), s), more)
}
