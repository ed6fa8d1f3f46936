//! Loops over bytes and shingles with vectors of 256 bits, for x86-64.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_min_epu32,
    _mm256_movemask_epi8, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_storeu_si256, _mm256_sub_epi8,
};

use super::{BLOCK, BitPositions, ByteMasks, Linear, fold_portions, portable};

/// Number of registers that stay in vector registers while all keys are processed. Four vectors each of multipliers,
/// offsets and minima leave four of the sixteen vector registers for the key and the products.
const HELD: usize = 32;
const LANES: usize = 8;

#[target_feature(enable = "avx2")]
pub(super) fn classify(blocks: &[[u8; BLOCK]], out: &mut Vec<ByteMasks>) {
    out.extend(blocks.iter().map(|block| {
        let (halves, _) = block.as_chunks::<32>();
        let (low, high) = (half(&halves[0]), half(&halves[1]));
        ByteMasks {
            word: u64::from(low.0) | u64::from(high.0) << 32,
            high: u64::from(low.1) | u64::from(high.1) << 32,
        }
    }));
}

/// Returns the word mask and the high mask of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn half(bytes: &[u8; 32]) -> (u32, u32) {
    // SAFETY: the array holds exactly the 32 bytes that are loaded.
    let v = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    let letters = at_most(_mm256_sub_epi8(_mm256_or_si256(v, splat(0x20)), splat(b'a')), 25);
    let digits = at_most(_mm256_sub_epi8(v, splat(b'0')), 9);
    let underscores = _mm256_cmpeq_epi8(v, splat(b'_'));
    let word = _mm256_or_si256(_mm256_or_si256(letters, digits), underscores);
    (_mm256_movemask_epi8(word).cast_unsigned(), _mm256_movemask_epi8(v).cast_unsigned())
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte.cast_signed())
}

#[inline]
#[target_feature(enable = "avx2")]
fn at_most(v: __m256i, limit: u8) -> __m256i {
    _mm256_cmpeq_epi8(_mm256_min_epu8(v, splat(limit)), v)
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
pub(super) fn positions(masks: &[u64], out: &mut BitPositions) {
    portable::positions(masks, out);
}

#[target_feature(enable = "avx2")]
pub(super) fn minima(shingles: &[u64], seed: u32, family: Linear<'_>, registers: &mut [u32]) {
    let (a_blocks, a_rest) = family.a.as_chunks::<HELD>();
    let (b_blocks, b_rest) = family.b.as_chunks::<HELD>();
    let (blocks, rest) = registers.as_chunks_mut::<HELD>();
    fold_portions(shingles, seed, |keys| {
        for ((a, b), held) in a_blocks.iter().zip(b_blocks).zip(blocks.iter_mut()) {
            hold(keys, a, b, held);
        }
        portable::minima_of_keys(keys, Linear { a: a_rest, b: b_rest }, rest);
    });
}

#[inline]
#[target_feature(enable = "avx2")]
fn hold(keys: &[u32], a: &[u32; HELD], b: &[u32; HELD], held: &mut [u32; HELD]) {
    let (a, b) = (load(a), load(b));
    let mut least = load(held);
    for &key in keys {
        let key = _mm256_set1_epi32(key.cast_signed());
        for i in 0..HELD / LANES {
            least[i] = _mm256_min_epu32(least[i], _mm256_add_epi32(_mm256_mullo_epi32(key, a[i]), b[i]));
        }
    }
    for (lanes, least) in held.as_chunks_mut::<LANES>().0.iter_mut().zip(least) {
        // SAFETY: the array holds exactly the 32 bytes that are stored.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), least) };
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(values: &[u32; HELD]) -> [__m256i; HELD / LANES] {
    let (lanes, _) = values.as_chunks::<LANES>();
    // SAFETY: each chunk holds exactly the 32 bytes that are loaded.
    std::array::from_fn(|i| unsafe { _mm256_loadu_si256(lanes[i].as_ptr().cast()) })
}
