//! Loops over bytes and shingles with vectors of 128 bits, for 64-bit ARM.

use std::arch::aarch64::{
    uint8x16_t, uint32x4_t, vaddv_u8, vandq_u8, vceqq_u8, vcgeq_u8, vcleq_u8, vdupq_n_u8, vdupq_n_u32,
    vget_high_u8, vget_low_u8, vld1q_u8, vld1q_u32, vminq_u32, vmlaq_u32, vorrq_u8, vst1q_u32, vsubq_u8,
};

use super::{BLOCK, ByteMasks, Linear, fold_portions, portable};

/// Number of registers that stay in vector registers while all keys are processed: four vectors each of multipliers,
/// offsets and minima.
const HELD: usize = 16;
const LANES: usize = 4;

/// Bit of each byte in the mask of its half vector.
const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

#[target_feature(enable = "neon")]
pub(super) fn classify(blocks: &[[u8; BLOCK]], out: &mut Vec<ByteMasks>) {
    out.extend(blocks.iter().map(|block| {
        let mut masks = ByteMasks { word: 0, high: 0 };
        for (i, quarter) in block.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: the array holds exactly the 16 bytes that are loaded.
            let v = unsafe { vld1q_u8(quarter.as_ptr()) };
            let letters = vsubq_u8(vorrq_u8(v, vdupq_n_u8(0x20)), vdupq_n_u8(b'a'));
            let digits = vsubq_u8(v, vdupq_n_u8(b'0'));
            let word = vorrq_u8(
                vorrq_u8(vcleq_u8(letters, vdupq_n_u8(25)), vcleq_u8(digits, vdupq_n_u8(9))),
                vceqq_u8(v, vdupq_n_u8(b'_')),
            );
            masks.word |= mask(word) << (16 * i);
            masks.high |= mask(vcgeq_u8(v, vdupq_n_u8(0x80))) << (16 * i);
        }
        masks
    }));
}

/// Returns one bit per byte, for bytes that are all ones or all zeros.
#[inline]
#[target_feature(enable = "neon")]
fn mask(v: uint8x16_t) -> u64 {
    // SAFETY: the array holds exactly the 16 bytes that are loaded.
    let bits = vandq_u8(v, unsafe { vld1q_u8(BITS.as_ptr()) });
    u64::from(vaddv_u8(vget_low_u8(bits))) | u64::from(vaddv_u8(vget_high_u8(bits))) << 8
}

#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
fn hold(keys: &[u32], a: &[u32; HELD], b: &[u32; HELD], held: &mut [u32; HELD]) {
    let (a, b) = (load(a), load(b));
    let mut least = load(held);
    for &key in keys {
        let key = vdupq_n_u32(key);
        for i in 0..HELD / LANES {
            least[i] = vminq_u32(least[i], vmlaq_u32(b[i], key, a[i]));
        }
    }
    for (lanes, least) in held.as_chunks_mut::<LANES>().0.iter_mut().zip(least) {
        // SAFETY: the array holds exactly the 16 bytes that are stored.
        unsafe { vst1q_u32(lanes.as_mut_ptr(), least) };
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load(values: &[u32; HELD]) -> [uint32x4_t; HELD / LANES] {
    let (lanes, _) = values.as_chunks::<LANES>();
    // SAFETY: each chunk holds exactly the 16 bytes that are loaded.
    std::array::from_fn(|i| unsafe { vld1q_u32(lanes[i].as_ptr()) })
}
