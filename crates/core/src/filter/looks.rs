//! The numbers of registers at which looks take place, and the order in which registers are compared.

use crate::hash::SplitMix64;

/// Number of registers that the vector units of all machines compare in whole steps.
const BLOCK: usize = 16;
/// Number of values per word of 64 bits, at one bit per value.
const WORD: usize = 64;

/// Returns the looks for K registers, at whole blocks of 16 registers. Each look comes an eighth of the registers so
/// far, or at least one block, after the previous one; the last look has all registers.
///
/// Dissimilar pairs end at the first look that can reject, so the early looks are close together. Later looks concern
/// ever fewer pairs. A further look adds little error, because neighbouring looks err on the same pairs.
#[must_use]
pub fn default_looks(registers: usize) -> Vec<usize> {
    looks_after_blocks(registers, BLOCK)
}

/// Returns the looks for K values of a few bits each, at whole words of 64 values, with the distances of
/// [`default_looks`].
#[must_use]
pub fn bit_looks(values: usize) -> Vec<usize> {
    looks_after_blocks(values, WORD)
}

fn looks_after_blocks(registers: usize, block: usize) -> Vec<usize> {
    let next = |look: usize| look + (look / 8).next_multiple_of(block).max(block);
    let mut looks: Vec<usize> = std::iter::successors(Some(block), |&look| Some(next(look)))
        .take_while(|&look| look < registers)
        .collect();
    looks.push(registers);
    looks
}

/// Seed of [`shuffle`].
const SEED: u64 = 0x6669_6c74_6572_2031;

/// Returns the order in which the registers of a sketch are compared if neighbours depend on each other: a fixed random
/// permutation of 0..K. The permutation must never change, because stored filters rely on it.
///
/// The shuffle is that of Fisher and Yates: for i from K − 1 down to 1, element i is swapped with element
/// ⌊h·(i+1)/2⁶⁴⌋, where h is the next number of a `SplitMix64`.
#[must_use]
pub fn shuffle(registers: usize) -> Vec<usize> {
    let mut random = SplitMix64::new(SEED);
    let mut order: Vec<usize> = (0..registers).collect();
    for i in (1..registers).rev() {
        let other = (u128::from(random.next_u64()) * (i as u128 + 1)) >> 64;
        order.swap(i, other as usize);
    }
    order
}
