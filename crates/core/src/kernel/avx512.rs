//! Loops over bytes and shingles with vectors of 512 bits, for x86-64.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi16, _mm512_add_epi32, _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask,
    _mm512_cmple_epu8_mask, _mm512_cvtepu8_epi16, _mm512_extracti64x4_epi64, _mm512_loadu_si512,
    _mm512_maskz_compress_epi8, _mm512_min_epu32, _mm512_movepi8_mask, _mm512_mullo_epi32, _mm512_or_si512,
    _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32, _mm512_storeu_si512, _mm512_sub_epi8,
};

use super::{BLOCK, BitPositions, ByteMasks, Linear, fold_portions, portable};
use crate::hash::rolling;

const LANES: usize = 16;

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn classify(blocks: &[[u8; BLOCK]], out: &mut Vec<ByteMasks>) {
    out.extend(blocks.iter().map(|block| {
        // SAFETY: the block holds exactly the 64 bytes that are loaded.
        let v = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let letters = _mm512_sub_epi8(_mm512_or_si512(v, splat(0x20)), splat(b'a'));
        let digits = _mm512_sub_epi8(v, splat(b'0'));
        ByteMasks {
            word: _mm512_cmple_epu8_mask(letters, splat(25))
                | _mm512_cmple_epu8_mask(digits, splat(9))
                | _mm512_cmpeq_epi8_mask(v, splat(b'_')),
            high: _mm512_movepi8_mask(v),
        }
    }));
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn splat(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}

/// Lists positions on processors with `vpcompressb`, which writes the positions of 64 bits at once.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
pub(super) fn compressed_positions(masks: &[u64], out: &mut BitPositions) {
    const HALF: usize = 32;
    const COUNTING: [u8; BLOCK] = {
        let mut counting = [0; BLOCK];
        let mut at = 0;
        while at < BLOCK {
            counting[at] = at as u8;
            at += 1;
        }
        counting
    };
    // SAFETY: the array holds exactly the 64 bytes that are loaded.
    let counting = unsafe { _mm512_loadu_si512(COUNTING.as_ptr().cast()) };
    for (number, &mask) in masks.iter().enumerate() {
        let base = _mm512_set1_epi16(((number * BLOCK) as u16).cast_signed());
        let positions = _mm512_maskz_compress_epi8(mask, counting);
        let count = mask.count_ones() as usize;
        let low = _mm512_add_epi16(base, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(positions)));
        let room: &mut [u16; HALF] = out.room();
        // SAFETY: the room holds exactly the 64 bytes that are stored.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), low) };
        out.advance(count.min(HALF));
        // Tokens have at most 32 positions per mask: two of them take at least four bytes with their separators.
        if count > HALF {
            let high = _mm512_extracti64x4_epi64::<1>(positions);
            let high = _mm512_add_epi16(base, _mm512_cvtepu8_epi16(high));
            let room: &mut [u16; HALF] = out.room();
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), high) };
            out.advance(count - HALF);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub(super) fn windows(tokens: &[u64], size: usize, out: &mut Vec<u64>) {
    rolling::windows_apart_into(tokens, size, out);
}

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn minima(shingles: &[u64], seed: u32, family: Linear<'_>, registers: &mut [u32]) {
    fold_portions(shingles, seed, |keys| {
        // The default sketch of 128 registers is one block: eight vectors each of multipliers, offsets and minima leave
        // eight of the thirty-two vector registers for the key and the products. So the keys are read only once.
        let done = hold_blocks::<8>(keys, family, registers, 0);
        let done = hold_blocks::<1>(keys, family, registers, done);
        let rest = Linear { a: &family.a[done..], b: &family.b[done..] };
        portable::minima_of_keys(keys, rest, &mut registers[done..]);
    });
}

/// Processes the registers from `done` on in blocks of `VECTORS` vectors, and returns the first register after them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn hold_blocks<const VECTORS: usize>(
    keys: &[u32],
    family: Linear<'_>,
    registers: &mut [u32],
    mut done: usize,
) -> usize {
    while registers.len() - done >= VECTORS * LANES {
        let end = done + VECTORS * LANES;
        hold::<VECTORS>(keys, &family.a[done..end], &family.b[done..end], &mut registers[done..end]);
        done = end;
    }
    done
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn hold<const VECTORS: usize>(keys: &[u32], a: &[u32], b: &[u32], held: &mut [u32]) {
    let (a, b) = (load::<VECTORS>(a), load::<VECTORS>(b));
    let mut least = load::<VECTORS>(held);
    for &key in keys {
        let key = _mm512_set1_epi32(key.cast_signed());
        for i in 0..VECTORS {
            least[i] = _mm512_min_epu32(least[i], _mm512_add_epi32(_mm512_mullo_epi32(key, a[i]), b[i]));
        }
    }
    for (lanes, least) in held.as_chunks_mut::<LANES>().0.iter_mut().zip(least) {
        // SAFETY: the array holds exactly the 64 bytes that are stored.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), least) };
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load<const VECTORS: usize>(values: &[u32]) -> [__m512i; VECTORS] {
    let (lanes, _) = values.as_chunks::<LANES>();
    // SAFETY: each chunk holds exactly the 64 bytes that are loaded.
    std::array::from_fn(|i| unsafe { _mm512_loadu_si512(lanes[i].as_ptr().cast()) })
}
