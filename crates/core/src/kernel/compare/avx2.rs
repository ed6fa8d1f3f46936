//! Comparisons with vectors of 256 bits, for x86-64.

use std::arch::x86_64::{
    __m256i, _mm_setr_epi8, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256, _mm256_broadcastsi128_si256,
    _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_cmpeq_epi16, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32,
    _mm256_cmpgt_epi64, _mm256_extract_epi64, _mm256_load_si256, _mm256_loadu_si256, _mm256_maskload_epi32,
    _mm256_movemask_pd, _mm256_or_si256, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi32,
    _mm256_sub_epi8, _mm256_xor_si256,
};

use super::heads::{Lanes, with_shape};
use super::{UNROLLED, portable, row_by_row};

const LANES: usize = 8;

/// Number of vectors whose equal bytes a byte counter can count without overflow.
const COUNTED_IN_BYTES: usize = 255;

#[target_feature(enable = "avx2")]
pub(super) fn equal_words(a: &[u32], b: &[u32]) -> usize {
    equal(a, b, |x, y| _mm256_cmpeq_epi32(x, y), 4, portable::equal_words)
}

#[target_feature(enable = "avx2")]
pub(super) fn equal_half_words(a: &[u32], b: &[u32]) -> usize {
    equal(a, b, |x, y| _mm256_cmpeq_epi16(x, y), 2, portable::equal_half_words)
}

#[target_feature(enable = "avx2")]
pub(super) fn equal_bytes(a: &[u32], b: &[u32]) -> usize {
    equal(a, b, |x, y| _mm256_cmpeq_epi8(x, y), 1, portable::equal_bytes)
}

/// Counts the bytes that `compare` sets in whole vectors, divides the count by the `bytes` per value, and adds the
/// result of `rest` for the remaining words.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(
    a: &[u32],
    b: &[u32],
    compare: impl Fn(__m256i, __m256i) -> __m256i,
    bytes: usize,
    rest: impl Fn(&[u32], &[u32]) -> usize,
) -> usize {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut total = _mm256_setzero_si256();
    for (a, b) in a.chunks(COUNTED_IN_BYTES).zip(b.chunks(COUNTED_IN_BYTES)) {
        let mut counts = _mm256_setzero_si256();
        for (a, b) in a.iter().zip(b) {
            // `compare` sets a byte to −1, so subtracting adds 1.
            counts = _mm256_sub_epi8(counts, compare(load(a), load(b)));
        }
        total = _mm256_add_epi64(total, add_bytes(counts));
    }
    sum(total) / bytes + rest(a_rest, b_rest)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn different_in_planes(a: &[u32], b: &[u32], planes: usize) -> usize {
    let words = a.len() / planes;
    let mut ones = _mm256_setzero_si256();
    for begin in (0..words).step_by(LANES) {
        let lanes = LANES.min(words - begin);
        let mut seen = _mm256_setzero_si256();
        for plane in 0..planes {
            let part = plane * words + begin..plane * words + begin + lanes;
            seen = _mm256_or_si256(seen, _mm256_xor_si256(load_part(&a[part.clone()]), load_part(&b[part])));
        }
        ones = _mm256_add_epi64(ones, add_bytes(ones_of_bytes(seen)));
    }
    sum(ones)
}

#[target_feature(enable = "avx2")]
pub(super) fn different_bits_at(row: &[u32], rows: &[u32], places: &[u32], counts: &mut Vec<u32>) {
    for &place in places {
        let other = &rows[place as usize * row.len()..][..row.len()];
        counts.push(different_in_planes(row, other, 1) as u32);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn different_bits_of_rows(row: &[u32], rows: &[u32], counts: &mut [u32]) {
    let Ok(row) = <&[u32; UNROLLED]>::try_from(row) else {
        row_by_row(row, rows, counts, |a, b| different_in_planes(a, b, 1));
        return;
    };
    let row = quarters(row);
    for (count, other) in counts.iter_mut().zip(rows.as_chunks::<UNROLLED>().0) {
        let other = quarters(other);
        let [a, b, c, d] = std::array::from_fn(|i| ones_of_bytes(_mm256_xor_si256(row[i], other[i])));
        // The sum of four bytes with up to 8 ones each does not overflow.
        let ones = _mm256_add_epi8(_mm256_add_epi8(a, b), _mm256_add_epi8(c, d));
        *count = sum(add_bytes(ones)) as u32;
    }
}

/// Returns the number of ones in each byte, as the sum of the table entries of its two halves.
#[inline]
#[target_feature(enable = "avx2")]
fn ones_of_bytes(v: __m256i) -> __m256i {
    let table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    let low = _mm256_set1_epi8(0x0f);
    _mm256_add_epi8(
        _mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi32::<4>(v), low)),
    )
}

/// Returns the sums of the bytes of each lane of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn add_bytes(v: __m256i) -> __m256i {
    _mm256_sad_epu8(v, _mm256_setzero_si256())
}

/// Returns the sum of the lanes of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn sum(v: __m256i) -> usize {
    let low = _mm256_extract_epi64::<0>(v) + _mm256_extract_epi64::<1>(v);
    let high = _mm256_extract_epi64::<2>(v) + _mm256_extract_epi64::<3>(v);
    (low + high) as usize
}

#[inline]
#[target_feature(enable = "avx2")]
fn quarters(row: &[u32; UNROLLED]) -> [__m256i; 4] {
    let (quarters, _) = row.as_chunks::<LANES>();
    std::array::from_fn(|i| load(&quarters[i]))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32; LANES]) -> __m256i {
    // SAFETY: the array holds exactly the 32 bytes that are loaded.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// Loads up to 8 words, and zeros after them.
#[inline]
#[target_feature(enable = "avx2")]
fn load_part(words: &[u32]) -> __m256i {
    let mask = _mm256_cmpgt_epi32(
        _mm256_set1_epi32((words.len() as u32).cast_signed()),
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
    );
    // SAFETY: words are read only where the mask is set, and the mask has as many as the slice.
    unsafe { _mm256_maskload_epi32(words.as_ptr().cast(), mask) }
}

#[target_feature(enable = "avx2")]
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
#[target_feature(enable = "avx2")]
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
    // The comparison is signed, and `most` and every allowance are below 2⁶².
    let above = _mm256_set1_epi64x((most + 1).cast_signed());
    for (at, (out, block)) in out.iter_mut().zip(lanes.chunks_exact(groups)).enumerate() {
        let mut counts = [_mm256_setzero_si256(); 2];
        for (probe, lanes) in probe.iter().zip(block) {
            let mut differ = [_mm256_setzero_si256(); 2];
            for plane in 0..PLANES {
                let word = _mm256_set1_epi64x(probe[plane].cast_signed());
                let [low, high] = load_lanes(&lanes[plane]);
                differ[0] = _mm256_or_si256(differ[0], _mm256_xor_si256(word, low));
                differ[1] = _mm256_or_si256(differ[1], _mm256_xor_si256(word, high));
            }
            for half in 0..2 {
                counts[half] = _mm256_add_epi64(counts[half], add_bytes(ones_of_bytes(differ[half])));
            }
        }
        let above = match allowances.get(at) {
            Some(lanes) => load_lanes(lanes).map(|lanes| _mm256_add_epi64(above, lanes)),
            None => [above; 2],
        };
        let [low, high] = std::array::from_fn(|half| {
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(above[half], counts[half])))
        });
        *out = (low | high << 4) as u8;
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_lanes(lanes: &Lanes) -> [__m256i; 2] {
    let lanes: *const __m256i = std::ptr::from_ref(lanes).cast();
    // SAFETY: `Lanes` is exactly the 64 bytes that are loaded in two halves, and aligned to 64 bytes.
    unsafe { [_mm256_load_si256(lanes), _mm256_load_si256(lanes.add(1))] }
}
