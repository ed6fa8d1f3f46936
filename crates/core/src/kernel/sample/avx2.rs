//! Filter that finds the contenders of weighted samples, with vectors of 8 registers.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_LE_OQ, _mm256_add_epi32, _mm256_add_ps, _mm256_and_si256, _mm256_cmp_ps,
    _mm256_cvtepi32_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_movemask_ps,
    _mm256_mul_ps, _mm256_mullo_epi32, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_srli_epi32, _mm256_xor_si256,
};

use super::{Elements, RaceEntry, RegisterFilter, Sample, run};

const HALF: usize = 8;

#[target_feature(enable = "avx2")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, masks| look(entry, filter, masks));
}

#[inline]
#[target_feature(enable = "avx2")]
fn look(entry: RaceEntry, filter: &RegisterFilter<'_>, masks: &mut [u16]) {
    for ((multipliers, offsets, limits), mask) in filter.blocks().zip(masks) {
        let half = |from: usize| {
            let (multipliers, offsets, limits) =
                (&multipliers[from..from + HALF], &offsets[from..from + HALF], &limits[from..from + HALF]);
            // SAFETY: each slice holds exactly the 32 bytes that are loaded.
            let (multipliers, offsets, limits) = unsafe {
                (
                    _mm256_loadu_si256(multipliers.as_ptr().cast()),
                    _mm256_loadu_si256(offsets.as_ptr().cast()),
                    _mm256_loadu_ps(limits.as_ptr()),
                )
            };
            let key = _mm256_set1_epi32(entry.key.cast_signed());
            let h = _mm256_add_epi32(_mm256_mullo_epi32(key, multipliers), offsets);
            let outline = _mm256_xor_si256(h, _mm256_srli_epi32::<15>(h));
            let most = _mm256_mul_ps(limits, _mm256_set1_ps(entry.share));
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(bound(outline), most)) as u16
        };
        *mask = half(0) | half(HALF) << HALF;
    }
}

/// Computes `bound` of the portable filter, for 8 registers.
#[inline]
#[target_feature(enable = "avx2")]
fn bound(outline: __m256i) -> __m256 {
    // `madd` adds the products of both halves of a lane. For U₁·U₂ the upper half is moved down, so
    // one product is 0.
    let u = _mm256_and_si256(outline, _mm256_set1_epi32(0x07ff_07ff));
    let u = _mm256_madd_epi16(u, _mm256_srli_epi32::<16>(u));
    let s = _mm256_and_si256(_mm256_srli_epi32::<11>(outline), _mm256_set1_epi32(0x001f_001f));
    let s = _mm256_madd_epi16(s, _mm256_set1_epi16(1));
    let s = _mm256_cvtepi32_ps(s);
    let more = _mm256_add_ps(_mm256_mul_ps(s, _mm256_set1_ps(1.0 / 128.0)), _mm256_set1_ps(1.0));
    _mm256_mul_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(u), s), more)
}
