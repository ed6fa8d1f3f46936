//! The filter for 8 registers at a time.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_LE_OQ, _mm256_add_ps, _mm256_and_si256, _mm256_cmp_ps, _mm256_cvtepi32_ps,
    _mm256_loadu_ps, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_mul_ps, _mm256_mullo_epi32,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_srli_epi32, _mm256_sub_ps, _mm256_xor_si256,
};

use super::{Contender, Elements, Entry, Filter, Sample, run};

const HALF: usize = 8;

#[target_feature(enable = "avx2")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, contenders| contend(entry, filter, contenders));
}

#[inline]
#[target_feature(enable = "avx2")]
fn contend(entry: Entry, filter: &Filter<'_>, contenders: &mut Vec<Contender>) {
    let key = _mm256_set1_epi32(entry.key.cast_signed());
    let share = _mm256_set1_ps(entry.share);
    let salts = filter.salts.as_flattened().as_chunks::<HALF>().0;
    let limits = filter.limits.as_flattened().as_chunks::<HALF>().0;
    for (half, (salts, limits)) in salts.iter().zip(limits).enumerate() {
        // SAFETY: both arrays hold exactly the 32 bytes that are loaded.
        let (salts, limits) =
            unsafe { (_mm256_loadu_si256(salts.as_ptr().cast()), _mm256_loadu_ps(limits.as_ptr())) };
        let bounds = bound(mix(_mm256_xor_si256(key, salts)));
        let within = _mm256_cmp_ps::<_CMP_LE_OQ>(bounds, _mm256_mul_ps(limits, share));
        let mut within = _mm256_movemask_ps(within).cast_unsigned();
        while within != 0 {
            let lane = half * HALF + within.trailing_zeros() as usize;
            contenders.push(Contender { lane: lane as u32, element: entry.element });
            within &= within - 1;
        }
    }
}

/// `fmix32`.
#[inline]
#[target_feature(enable = "avx2")]
fn mix(h: __m256i) -> __m256i {
    let h = _mm256_xor_si256(h, _mm256_srli_epi32::<16>(h));
    let h = _mm256_mullo_epi32(h, _mm256_set1_epi32(0x85eb_ca6b_u32.cast_signed()));
    let h = _mm256_xor_si256(h, _mm256_srli_epi32::<13>(h));
    let h = _mm256_mullo_epi32(h, _mm256_set1_epi32(0xc2b2_ae35_u32.cast_signed()));
    _mm256_xor_si256(h, _mm256_srli_epi32::<16>(h))
}

/// As in the portable filter.
#[inline]
#[target_feature(enable = "avx2")]
fn bound(outline: __m256i) -> __m256 {
    let one = _mm256_set1_ps(1.0);
    let eleven = _mm256_set1_epi32(0x7ff);
    let five = _mm256_set1_epi32(0x1f);
    let u1 = _mm256_cvtepi32_ps(_mm256_srli_epi32::<21>(outline));
    let u2 = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32::<10>(outline), eleven));
    let v1 = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32::<5>(outline), five));
    let v2 = _mm256_cvtepi32_ps(_mm256_and_si256(outline, five));
    let v = _mm256_mul_ps(_mm256_add_ps(v1, one), _mm256_add_ps(v2, one));
    let q = _mm256_sub_ps(_mm256_set1_ps(1024.0), v);
    let more = _mm256_add_ps(_mm256_mul_ps(q, _mm256_set1_ps(1.0 / 2048.0)), one);
    _mm256_mul_ps(_mm256_mul_ps(_mm256_mul_ps(u1, u2), q), more)
}
