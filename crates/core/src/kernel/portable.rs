//! The loops over bytes and shingles in plain code, which runs on every machine and is the definition.

use super::{BLOCK, BitPositions, ByteMasks, Linear, fold_portions};

const WORD: u8 = 1;
const HIGH: u8 = 2;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() || b == b'_' {
            class[byte] = WORD;
        } else if b >= 0x80 {
            class[byte] = HIGH;
        }
        byte += 1;
    }
    class
};

pub(super) fn classify(blocks: &[[u8; BLOCK]], out: &mut Vec<ByteMasks>) {
    out.extend(blocks.iter().map(|block| {
        let mut masks = ByteMasks { word: 0, high: 0 };
        for (bit, &byte) in block.iter().enumerate() {
            let class = CLASS[byte as usize];
            masks.word |= u64::from(class & WORD) << bit;
            masks.high |= u64::from(class >> 1) << bit;
        }
        masks
    }));
}

/// Lists positions bit by bit. Kernels with instructions for single bits but none for positions inline this function,
/// so it is compiled for their instruction set.
#[inline(always)]
pub(super) fn positions(masks: &[u64], out: &mut BitPositions) {
    // The number of tokens per 64 bytes changes from block to block. A loop that ends after the last token would be
    // mispredicted in each block. Nearly all blocks of natural languages have at most 16 tokens.
    const AT_ONCE: usize = 16;
    for (number, &mask) in masks.iter().enumerate() {
        let base = (number * BLOCK) as u16;
        let (mut left, mut bits) = (mask.count_ones() as usize, mask);
        while left > 0 {
            let room: &mut [u16; AT_ONCE] = out.room();
            for position in room {
                *position = base + bits.trailing_zeros() as u16;
                bits &= bits.wrapping_sub(1);
            }
            let taken = left.min(AT_ONCE);
            out.advance(taken);
            left -= taken;
        }
    }
}

pub(super) fn minima(shingles: &[u64], seed: u32, family: Linear<'_>, registers: &mut [u32]) {
    fold_portions(shingles, seed, |keys| minima_of_keys(keys, family, registers));
}

/// Lowers the registers to the minima over folded keys. The vector kernels call this function for the registers after
/// their last whole block.
pub(super) fn minima_of_keys(keys: &[u32], family: Linear<'_>, registers: &mut [u32]) {
    // A block of 16 fits into the machine registers of every target.
    const HELD: usize = 16;
    let (a_blocks, a_rest) = family.a.as_chunks::<HELD>();
    let (b_blocks, b_rest) = family.b.as_chunks::<HELD>();
    let (blocks, rest) = registers.as_chunks_mut::<HELD>();
    for ((a, b), held) in a_blocks.iter().zip(b_blocks).zip(blocks) {
        let mut least = *held;
        for &key in keys {
            for i in 0..HELD {
                least[i] = least[i].min(key.wrapping_mul(a[i]).wrapping_add(b[i]));
            }
        }
        *held = least;
    }
    for ((&a, &b), held) in a_rest.iter().zip(b_rest).zip(rest) {
        *held = keys.iter().fold(*held, |least, key| least.min(key.wrapping_mul(a).wrapping_add(b)));
    }
}
