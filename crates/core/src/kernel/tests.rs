//! Tests of every kernel of this machine against the definition.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn minima(kernel: Kernel, shingles: &[u64], seed: u32, a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut registers = vec![u32::MAX; a.len()];
    kernel.minima(shingles, seed, Linear { a, b }, &mut registers);
    registers
}

/// Computes the minimum of each register separately, without blocks.
fn minima_by_definition(shingles: &[u64], seed: u32, a: &[u32], b: &[u32]) -> Vec<u32> {
    let least = |(&a, &b): (&u32, &u32)| {
        let hashes = shingles.iter().map(|&x| fold(x, seed).wrapping_mul(a).wrapping_add(b));
        hashes.min().unwrap_or(u32::MAX)
    };
    a.iter().zip(b).map(least).collect()
}

/// Lists positions bit by bit.
fn positions_by_definition(masks: &[u64]) -> Vec<u16> {
    let is_set = |&at: &usize| masks[at / BLOCK] >> (at % BLOCK) & 1 == 1;
    (0..masks.len() * BLOCK).filter(is_set).map(|at| at as u16).collect()
}

/// Generates masks with none, few, some or all of 64 bits.
fn any_mask() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        any::<u64>(),
        any::<(u64, u64)>().prop_map(|(a, b)| a & b),
        any::<(u64, u64)>().prop_map(|(a, b)| a | b),
        (0..BLOCK).prop_map(|bit| 1 << bit),
    ]
}

proptest! {
    #[test]
    fn positions_are_the_same_in_every_kernel(masks in vec(any_mask(), 0..=BitPositions::MASKS)) {
        let expected = positions_by_definition(&masks);
        let mut out = BitPositions::default();
        for kernel in Kernel::available() {
            kernel.positions(&masks, &mut out);
            prop_assert_eq!(out.as_slice(), &expected, "{}", kernel);
        }
    }

    #[test]
    fn windows_are_the_same_in_every_kernel(tokens in vec(any::<u64>(), 0..120), size in 1usize..40) {
        let expected: Vec<u64> = tokens.windows(size).map(rolling::whole).collect();
        for kernel in Kernel::available() {
            let mut out = vec![];
            kernel.windows(&tokens, size, &mut out);
            prop_assert_eq!(&out, &expected, "{}", kernel);
        }
    }

    #[test]
    fn minima_are_the_same_in_every_kernel(
        shingles in vec(any::<u64>(), 0..600),
        seed: u32,
        coefficients in vec(any::<(u32, u32)>(), 0..300),
    ) {
        let (a, b): (Vec<u32>, Vec<u32>) = coefficients.into_iter().map(|(a, b)| (a | 1, b)).unzip();
        let expected = minima_by_definition(&shingles, seed, &a, &b);
        for kernel in Kernel::available() {
            prop_assert_eq!(&minima(kernel, &shingles, seed, &a, &b), &expected, "{}", kernel);
        }
    }

    #[test]
    fn masks_are_the_same_in_every_kernel(blocks in vec(vec(any::<u8>(), BLOCK), 0..20)) {
        let bytes = blocks.concat();
        let mut out = vec![];
        for kernel in Kernel::available() {
            kernel.classify(&bytes, &mut out);
            prop_assert_eq!(out.len() * BLOCK, bytes.len());
            for (i, &byte) in bytes.iter().enumerate() {
                let bit = |mask: u64| mask >> (i % BLOCK) & 1 == 1;
                let masks = out[i / BLOCK];
                prop_assert_eq!(bit(masks.word), byte.is_ascii_alphanumeric() || byte == b'_', "{} at {}", kernel, i);
                prop_assert_eq!(bit(masks.high), byte >= 0x80, "{} at {}", kernel, i);
            }
        }
    }
}

#[test]
fn every_byte_is_classified_alike() {
    let bytes: Vec<u8> = (0..=255).collect();
    let mut expected = vec![];
    Kernel(Kind::Portable).classify(&bytes, &mut expected);
    let mut ran = vec![];
    for kernel in Kernel::available() {
        let mut masks = vec![];
        kernel.classify(&bytes, &mut masks);
        assert_eq!(masks, expected, "{kernel}");
        ran.push(kernel.name());
    }
    println!("kernels of this machine: {}", ran.join(", "));
}

#[test]
fn all_bits_of_all_masks_have_a_position() {
    let masks = [u64::MAX; BitPositions::MASKS];
    let mut out = BitPositions::default();
    for kernel in Kernel::available() {
        kernel.positions(&masks, &mut out);
        assert_eq!(out.as_slice(), positions_by_definition(&masks), "{kernel}");
    }
}

#[test]
fn detect_takes_the_last_available() {
    assert_eq!(Some(Kernel::detect()), Kernel::available().last());
    assert_eq!(Kernel::available().next().map(Kernel::name), Some("portable"));
}

#[test]
fn folding_small_ids_loses_none() {
    let mut folded: Vec<u32> = (0..100_000).map(|id| fold(id, 7)).collect();
    folded.sort_unstable();
    folded.dedup();
    assert_eq!(folded.len(), 100_000);
}
