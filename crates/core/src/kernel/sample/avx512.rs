//! The filter for 16 registers at a time.

use std::arch::x86_64::{
    __m512, __m512i, _CMP_LE_OQ, _mm512_and_si512, _mm512_cmp_ps_mask, _mm512_cvtepi32_ps, _mm512_loadu_ps,
    _mm512_loadu_si512, _mm512_madd_epi16, _mm512_mul_ps, _mm512_mullo_epi32, _mm512_permutex2var_ps,
    _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_ps, _mm512_srli_epi32, _mm512_xor_si512,
};

use super::draw::{FIRST_MULTIPLIER, SECOND_MULTIPLIER};
use super::{Elements, Entry, Filter, LANES, Sample, run};
use crate::kernel::logarithm::ln;

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
    multiply(_mm512_xor_si512(h, _mm512_srli_epi32::<15>(h)), SECOND_MULTIPLIER)
}

/// Where the portable filter has s + s²/4, this one looks −2 ln(1 − s/2) up, which is nearer to the truth.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bound(outline: __m512i) -> __m512 {
    // Products and sums of the two halves of a lane, the upper one moved down.
    let u = _mm512_and_si512(outline, _mm512_set1_epi32(0x07ff_07ff));
    let u = _mm512_madd_epi16(u, _mm512_srli_epi32::<16>(u));
    let s = _mm512_and_si512(_mm512_srli_epi32::<11>(outline), _mm512_set1_epi32(0x001f_001f));
    let s = _mm512_madd_epi16(s, _mm512_set1_epi16(1));
    let (lower, upper) = SCORES.split_at(LANES);
    // SAFETY: both halves hold exactly the 64 bytes that are loaded.
    let (lower, upper) = unsafe { (_mm512_loadu_ps(lower.as_ptr()), _mm512_loadu_ps(upper.as_ptr())) };
    let scores = _mm512_permutex2var_ps(lower, _mm512_srli_epi32::<1>(s), upper);
    _mm512_mul_ps(_mm512_cvtepi32_ps(u), scores)
}

/// At most 2⁵·c, for s from i/16 to (i + 1)/16.
const SCORES: [f32; 2 * LANES] = {
    let mut scores = [0.0; 2 * LANES];
    let mut i = 1;
    while i < scores.len() {
        scores[i] = (-64.0 * ln(1.0 - i as f64 / 32.0)) as f32;
        i += 1;
    }
    scores
};
