//! The filter for 8 registers at a time.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_LE_OQ, _mm256_add_ps, _mm256_and_si256, _mm256_cmp_ps, _mm256_cvtepi32_ps,
    _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_movemask_ps, _mm256_mul_ps,
    _mm256_mullo_epi32, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps, _mm256_srli_epi32,
    _mm256_xor_si256,
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
    multiply(_mm256_xor_si256(h, _mm256_srli_epi32::<15>(h)), SECOND_MULTIPLIER)
}

/// As in the portable filter.
#[inline]
#[target_feature(enable = "avx2")]
fn bound(outline: __m256i) -> __m256 {
    // Products and sums of the two halves of a lane, the upper one moved down.
    let u = _mm256_and_si256(outline, _mm256_set1_epi32(0x07ff_07ff));
    let u = _mm256_madd_epi16(u, _mm256_srli_epi32::<16>(u));
    let s = _mm256_and_si256(_mm256_srli_epi32::<11>(outline), _mm256_set1_epi32(0x001f_001f));
    let s = _mm256_madd_epi16(s, _mm256_set1_epi16(1));
    let s = _mm256_cvtepi32_ps(s);
    let more = _mm256_add_ps(_mm256_mul_ps(s, _mm256_set1_ps(1.0 / 128.0)), _mm256_set1_ps(1.0));
    _mm256_mul_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(u), s), more)
}
