//! Comparisons with vectors of 512 bits, for x86-64 with `vpopcntq`. A lane is a part of a vector, of 32, 64 or 128
//! bits.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_add_epi64, _mm512_cmpeq_epi8_mask, _mm512_cmpeq_epi16_mask,
    _mm512_cmpeq_epi32_mask, _mm512_cmple_epu64_mask, _mm512_load_si512, _mm512_loadu_si512,
    _mm512_madd_epi16, _mm512_maskz_loadu_epi32, _mm512_or_si512, _mm512_packus_epi32, _mm512_popcnt_epi64,
    _mm512_reduce_add_epi64, _mm512_set1_epi16, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_shuffle_i32x4, _mm512_storeu_si512, _mm512_xor_si512,
};

use super::heads::{Lanes, with_shape};
use super::{UNROLLED, portable, row_by_row};

const LANES: usize = 16;

#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
pub(super) fn equal_words(a: &[u32], b: &[u32]) -> usize {
    let count = |x, y| _mm512_cmpeq_epi32_mask(x, y).count_ones();
    equal(a, b, count, portable::equal_words)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
pub(super) fn equal_half_words(a: &[u32], b: &[u32]) -> usize {
    let count = |x, y| _mm512_cmpeq_epi16_mask(x, y).count_ones();
    equal(a, b, count, portable::equal_half_words)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
pub(super) fn equal_bytes(a: &[u32], b: &[u32]) -> usize {
    let count = |x, y| _mm512_cmpeq_epi8_mask(x, y).count_ones();
    equal(a, b, count, portable::equal_bytes)
}

/// Returns the sum of `count` over all pairs of whole vectors, plus the result of `rest` for the remaining words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn equal(
    a: &[u32],
    b: &[u32],
    count: impl Fn(__m512i, __m512i) -> u32,
    rest: impl Fn(&[u32], &[u32]) -> usize,
) -> usize {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut whole = 0;
    // Iterators are compiled without these features and would not inline the closure, so this is a loop.
    for (a, b) in a.iter().zip(b) {
        whole += count(load(a), load(b)) as usize;
    }
    whole + rest(a_rest, b_rest)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
pub(super) fn different_in_planes(a: &[u32], b: &[u32], planes: usize) -> usize {
    let words = a.len() / planes;
    let mut ones = _mm512_setzero_si512();
    for begin in (0..words).step_by(LANES) {
        let lanes = LANES.min(words - begin);
        let mut seen = _mm512_setzero_si512();
        for plane in 0..planes {
            let part = plane * words + begin..plane * words + begin + lanes;
            seen = _mm512_or_si512(seen, _mm512_xor_si512(load_part(&a[part.clone()]), load_part(&b[part])));
        }
        ones = _mm512_add_epi64(ones, _mm512_popcnt_epi64(seen));
    }
    _mm512_reduce_add_epi64(ones) as usize
}

#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
pub(super) fn different_bits_at(row: &[u32], rows: &[u32], places: &[u32], counts: &mut Vec<u32>) {
    // Parity bits of whole sets are compared a hundred million times, so this case is unrolled.
    if let Ok(row) = <&[u32; UNROLLED]>::try_from(row) {
        let rows = rows.as_chunks::<UNROLLED>().0;
        for &place in places {
            counts.push(different_bits_unrolled(row, &rows[place as usize]) as u32);
        }
        return;
    }
    for &place in places {
        let other = &rows[place as usize * row.len()..][..row.len()];
        counts.push(different_in_planes(row, other, 1) as u32);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
pub(super) fn different_bits_of_rows(row: &[u32], rows: &[u32], counts: &mut [u32]) {
    let Ok(row) = <&[u32; UNROLLED]>::try_from(row) else {
        row_by_row(row, rows, counts, |a, b| different_in_planes(a, b, 1));
        return;
    };
    let (rows, _) = rows.as_chunks::<UNROLLED>();
    let (blocks, rows_left) = rows.as_chunks::<LANES>();
    let (count_blocks, counts_left) = counts.as_chunks_mut::<LANES>();
    let row = halves(row);
    for (counts, rows) in count_blocks.iter_mut().zip(blocks) {
        let fours: [__m512i; 4] = std::array::from_fn(|i| sums_of_four(row, &rows.as_chunks::<4>().0[i]));
        let sums = add_lanes(add_lanes(fours[0], fours[1]), add_lanes(fours[2], fours[3]));
        // SAFETY: the array holds exactly the 64 bytes that are stored.
        unsafe { _mm512_storeu_si512(counts.as_mut_ptr().cast(), sums) };
    }
    for (count, other) in counts_left.iter_mut().zip(rows_left) {
        *count = _mm512_reduce_add_epi64(different_ones(row, other)) as u32;
    }
}

/// Returns the counts of four rows. Each lane of 128 bits has one sum per row, over this lane of the row.
///
/// A count of 64 bits is small, so its upper parts are zero and packing loses nothing. After two rounds of packing,
/// each row has two counts of 16 bits per lane, which one instruction adds.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn sums_of_four(row: [__m512i; 2], rows: &[[u32; UNROLLED]; 4]) -> __m512i {
    let [a, b, c, d] = std::array::from_fn(|i| different_ones(row, &rows[i]));
    let packed = _mm512_packus_epi32(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
    _mm512_madd_epi16(packed, _mm512_set1_epi16(1))
}

/// Adds neighbouring lanes of 128 bits. The sums of `a` are the first two lanes of the result, the sums of `b` the last
/// two.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn add_lanes(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi32(_mm512_shuffle_i32x4::<0b10_00_10_00>(a, b), _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b))
}

/// Returns the number of bits that differ, as one count per lane of 64 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn different_ones(row: [__m512i; 2], other: &[u32; UNROLLED]) -> __m512i {
    let other = halves(other);
    let [low, high] = std::array::from_fn(|i| _mm512_popcnt_epi64(_mm512_xor_si512(row[i], other[i])));
    _mm512_add_epi64(low, high)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn halves(row: &[u32; UNROLLED]) -> [__m512i; 2] {
    let (halves, _) = row.as_chunks::<LANES>();
    [load(&halves[0]), load(&halves[1])]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn load(words: &[u32; LANES]) -> __m512i {
    // SAFETY: the array holds exactly the 64 bytes that are loaded.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Loads up to 16 words, and zeros after them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn load_part(words: &[u32]) -> __m512i {
    let mask = ((1_u32 << words.len()) - 1) as u16;
    // SAFETY: words are read only where the mask has a bit, and the mask has as many bits as the slice has
    // words.
    unsafe { _mm512_maskz_loadu_epi32(mask, words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn different_bits_unrolled(a: &[u32; UNROLLED], b: &[u32; UNROLLED]) -> usize {
    const { assert!(UNROLLED == 2 * LANES, "two vectors") }
    let [a_low, a_high] = [&a.as_chunks::<LANES>().0[0], &a.as_chunks::<LANES>().0[1]];
    let [b_low, b_high] = [&b.as_chunks::<LANES>().0[0], &b.as_chunks::<LANES>().0[1]];
    let low = _mm512_popcnt_epi64(_mm512_xor_si512(load(a_low), load(b_low)));
    let high = _mm512_popcnt_epi64(_mm512_xor_si512(load(a_high), load(b_high)));
    _mm512_reduce_add_epi64(_mm512_add_epi64(low, high)) as usize
}

#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
pub(super) fn near(
    probe: &[u64],
    lanes: &[Lanes],
    allowances: &[Lanes],
    planes: usize,
    most: u64,
    out: &mut [u8],
) {
    with_shape!(planes, probe.len() / planes, near_of(probe, lanes, allowances, most, out));
}

/// Computes [`near`] for constant numbers of planes and groups. If `GROUPS` is 0, the number of groups is not constant.
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn near_of<const PLANES: usize, const GROUPS: usize>(
    probe: &[u64],
    lanes: &[Lanes],
    allowances: &[Lanes],
    most: u64,
    out: &mut [u8],
) {
    let (probe, _) = probe.as_chunks::<PLANES>();
    let (lanes, _) = lanes.as_chunks::<PLANES>();
    let groups = if GROUPS == 0 { probe.len() } else { GROUPS };
    let probe = &probe[..groups];
    let most = _mm512_set1_epi64(most.cast_signed());
    for (at, (out, block)) in out.iter_mut().zip(lanes.chunks_exact(groups)).enumerate() {
        let mut counts = _mm512_setzero_si512();
        for (probe, lanes) in probe.iter().zip(block) {
            let mut differ = _mm512_setzero_si512();
            for plane in 0..PLANES {
                let word = _mm512_set1_epi64(probe[plane].cast_signed());
                differ = _mm512_or_si512(differ, _mm512_xor_si512(word, load_lanes(&lanes[plane])));
            }
            counts = _mm512_add_epi64(counts, _mm512_popcnt_epi64(differ));
        }
        let allowed = match allowances.get(at) {
            Some(lanes) => _mm512_add_epi64(most, load_lanes(lanes)),
            None => most,
        };
        *out = _mm512_cmple_epu64_mask(counts, allowed);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt")]
fn load_lanes(lanes: &Lanes) -> __m512i {
    // SAFETY: `Lanes` is exactly the 64 bytes that are loaded, and aligned to 64 bytes.
    unsafe { _mm512_load_si512(std::ptr::from_ref(lanes).cast()) }
}
