//! The filter for 16 registers at a time.

use std::arch::x86_64::{
    __m512, __m512i, _CMP_LE_OQ, _mm512_add_ps, _mm512_and_si512, _mm512_cmp_ps_mask, _mm512_cvtepi32_ps,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mul_ps, _mm512_mullo_epi32, _mm512_set1_epi32,
    _mm512_set1_ps, _mm512_srli_epi32, _mm512_sub_ps, _mm512_xor_si512,
};

use super::{Contender, Elements, Entry, Filter, LANES, Sample, run};

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, |entry, filter, contenders| contend(entry, filter, contenders));
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn contend(entry: Entry, filter: &Filter<'_>, contenders: &mut Vec<Contender>) {
    let key = _mm512_set1_epi32(entry.key.cast_signed());
    let share = _mm512_set1_ps(entry.share);
    for (block, (salts, limits)) in filter.salts.iter().zip(filter.limits).enumerate() {
        // SAFETY: both arrays hold exactly the 64 bytes that are loaded.
        let (salts, limits) =
            unsafe { (_mm512_loadu_si512(salts.as_ptr().cast()), _mm512_loadu_ps(limits.as_ptr())) };
        let bounds = bound(mix(_mm512_xor_si512(key, salts)));
        let mut within = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(bounds, _mm512_mul_ps(limits, share));
        while within != 0 {
            let lane = block * LANES + within.trailing_zeros() as usize;
            contenders.push(Contender { lane: lane as u32, element: entry.element });
            within &= within - 1;
        }
    }
}

/// `fmix32`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn mix(h: __m512i) -> __m512i {
    let h = _mm512_xor_si512(h, _mm512_srli_epi32::<16>(h));
    let h = _mm512_mullo_epi32(h, _mm512_set1_epi32(0x85eb_ca6b_u32.cast_signed()));
    let h = _mm512_xor_si512(h, _mm512_srli_epi32::<13>(h));
    let h = _mm512_mullo_epi32(h, _mm512_set1_epi32(0xc2b2_ae35_u32.cast_signed()));
    _mm512_xor_si512(h, _mm512_srli_epi32::<16>(h))
}

/// As in the portable filter.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bound(outline: __m512i) -> __m512 {
    let one = _mm512_set1_ps(1.0);
    let eleven = _mm512_set1_epi32(0x7ff);
    let five = _mm512_set1_epi32(0x1f);
    let u1 = _mm512_cvtepi32_ps(_mm512_srli_epi32::<21>(outline));
    let u2 = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32::<10>(outline), eleven));
    let v1 = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32::<5>(outline), five));
    let v2 = _mm512_cvtepi32_ps(_mm512_and_si512(outline, five));
    let v = _mm512_mul_ps(_mm512_add_ps(v1, one), _mm512_add_ps(v2, one));
    let q = _mm512_sub_ps(_mm512_set1_ps(1024.0), v);
    let more = _mm512_add_ps(_mm512_mul_ps(q, _mm512_set1_ps(1.0 / 2048.0)), one);
    _mm512_mul_ps(_mm512_mul_ps(_mm512_mul_ps(u1, u2), q), more)
}
