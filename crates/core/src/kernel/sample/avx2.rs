//! The filter for 8 registers at a time.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_LE_OQ, _mm256_add_epi32, _mm256_add_ps, _mm256_and_si256, _mm256_cmp_ps,
    _mm256_cvtepi32_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_mul_ps,
    _mm256_mullo_epi32, _mm256_set1_epi32, _mm256_set1_ps, _mm256_srli_epi32, _mm256_xor_si256,
};

use super::draw::{FIRST_MULTIPLIER, SECOND_MULTIPLIER};
use super::{Elements, Entry, Filter, Sample, run};

const HALF: usize = 8;

#[target_feature(enable = "avx2")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, masks| look(entry, filter, masks));
}

#[inline]
#[target_feature(enable = "avx2")]
fn look(entry: Entry, filter: &Filter<'_>, masks: &mut [u16]) {
    let key = _mm256_set1_epi32(entry.key.cast_signed());
    let share = _mm256_set1_ps(entry.share);
    for ((salts, limits), mask) in filter.salts.iter().zip(filter.limits).zip(masks) {
        let halves = salts.as_chunks::<HALF>().0.iter().zip(limits.as_chunks::<HALF>().0);
        let mut bits = halves.map(|(salts, limits)| {
            // SAFETY: both arrays hold exactly the 32 bytes that are loaded.
            let (salts, limits) =
                unsafe { (_mm256_loadu_si256(salts.as_ptr().cast()), _mm256_loadu_ps(limits.as_ptr())) };
            let bounds = bound(outline(key, salts));
            let within = _mm256_cmp_ps::<_CMP_LE_OQ>(bounds, _mm256_mul_ps(limits, share));
            _mm256_movemask_ps(within) as u16
        });
        *mask = bits.next().unwrap_or_default() | bits.next().unwrap_or_default() << HALF;
    }
}

/// As the draw defines it.
#[inline]
#[target_feature(enable = "avx2")]
fn outline(key: __m256i, salts: __m256i) -> __m256i {
    let multiply = |h, by: u32| _mm256_mullo_epi32(h, _mm256_set1_epi32(by.cast_signed()));
    let h = multiply(_mm256_xor_si256(key, salts), FIRST_MULTIPLIER);
    let h = multiply(_mm256_xor_si256(h, _mm256_srli_epi32::<15>(h)), SECOND_MULTIPLIER);
    _mm256_xor_si256(h, _mm256_srli_epi32::<16>(h))
}

/// As in the portable filter.
#[inline]
#[target_feature(enable = "avx2")]
fn bound(outline: __m256i) -> __m256 {
    let (eleven, five) = (_mm256_set1_epi32(0x7ff), _mm256_set1_epi32(0x1f));
    let u1 = _mm256_cvtepi32_ps(_mm256_srli_epi32::<21>(outline));
    let u2 = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32::<10>(outline), eleven));
    let v1 = _mm256_and_si256(_mm256_srli_epi32::<5>(outline), five);
    let s = _mm256_cvtepi32_ps(_mm256_add_epi32(v1, _mm256_and_si256(outline, five)));
    let more = _mm256_add_ps(_mm256_mul_ps(s, _mm256_set1_ps(1.0 / 128.0)), _mm256_set1_ps(1.0));
    _mm256_mul_ps(_mm256_mul_ps(_mm256_mul_ps(u1, u2), s), more)
}
