//! The rolling hash of windows of tokens.
//!
//! - **Idea.** A window w₁ … wₙ hashes to Σ wᵢ Bⁿ⁻ⁱ mod 2⁶⁴, and sliding it by one token costs two multiplications for
//!   any n. The sum is then mixed, because a minimum needs every bit to be random.
//! - **Formula.** B = 0x9e3779b97f4a7c15; z = (Σ ⊕ Σ≫32) · 0xd6e8feb86659fd93 mod 2⁶⁴; the hash is z ⊕ z≫32.
//! - **Error.** The hashes of tokens are random 64-bit numbers, so two different windows collide with a probability of
//!   about 2⁻⁶⁴. Rearrangements of the same tokens collide more often, because Bⁱ − Bʲ is even. Exchanging two tokens
//!   in a window of up to 256 tokens collides with probability 2⁻⁵⁴ or less. The worst known arrangement is the
//!   Thue–Morse sequence of two tokens against its complement: it collides with probability 2⁻²⁰ at 256 tokens, and
//!   would be certain to collide at 1024. For this reason windows have at most 256 tokens.
//! - **Vectors.** The golden values are our own.

/// Base of the polynomial. It is odd, because a power of an even base loses bits.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the sum of a window over all bits.
#[inline(always)]
const fn finish(sum: u64) -> u64 {
    let z = (sum ^ (sum >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}

/// Returns the hash of the window that consists of all `tokens`.
#[inline]
#[must_use]
pub fn whole(tokens: &[u64]) -> u64 {
    finish(tokens.iter().fold(0, |sum: u64, &token| sum.wrapping_mul(BASE).wrapping_add(token)))
}

/// Appends to `out` the hash of every window of `size` neighbours in `tokens`, in order.
///
/// Appends nothing if there are fewer than `size` tokens.
///
/// # Panics
/// Panics if `size` is zero.
#[inline]
pub fn windows_into(tokens: &[u64], size: usize, out: &mut Vec<u64>) {
    assert!(size > 0, "a window holds at least one token");
    let Some((first, rest)) = tokens.split_at_checked(size) else { return };
    let mut sum = first.iter().fold(0, |sum: u64, &token| sum.wrapping_mul(BASE).wrapping_add(token));
    let leave = (0..size).fold(1u64, |power, _| power.wrapping_mul(BASE));
    out.reserve(rest.len() + 1);
    out.push(finish(sum));
    out.extend(tokens.iter().zip(rest).map(|(&old, &new)| {
        sum = sum.wrapping_mul(BASE).wrapping_add(new).wrapping_sub(old.wrapping_mul(leave));
        finish(sum)
    }));
}

// Only kernels of x86-64 call the functions below. On other processors they would be unused outside of the tests.

/// Largest window size for which kernels with vector multiplication of 64-bit numbers hash each window separately.
#[cfg(target_arch = "x86_64")]
pub(crate) const APART: usize = 16;

/// Appends the same hashes as [`windows_into`], but computes each window separately. Neighbouring windows then fill a
/// vector; in a rolled hash, each window waits for the previous one.
#[cfg(any(test, target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn windows_apart_into(tokens: &[u64], size: usize, out: &mut Vec<u64>) {
    assert!(size > 0, "a window holds at least one token");
    let windows = (tokens.len() + 1).saturating_sub(size);
    out.reserve(windows);
    let mut done = 0;
    // Four vectors of eight numbers hide the latency of a multiplication.
    while windows - done >= 32 {
        out.extend_from_slice(&neighbours::<32>(&tokens[done..], size));
        done += 32;
    }
    while windows - done >= 8 {
        out.extend_from_slice(&neighbours::<8>(&tokens[done..], size));
        done += 8;
    }
    out.extend(tokens[done..].windows(size).map(whole));
}

/// Returns the hashes of the first `N` windows.
#[cfg(any(test, target_arch = "x86_64"))]
#[inline(always)]
fn neighbours<const N: usize>(tokens: &[u64], size: usize) -> [u64; N] {
    let mut sums = [0u64; N];
    for first in 0..size {
        let tokens: &[u64; N] = tokens[first..].first_chunk().expect("the windows are there");
        for (sum, &token) in sums.iter_mut().zip(tokens) {
            *sum = sum.wrapping_mul(BASE).wrapping_add(token);
        }
    }
    sums.map(finish)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rolling_agrees_with_hashing_each_window(seed: u64, len in 0usize..120, size in 1usize..20) {
            let mut random = SplitMix64::new(seed);
            let tokens: Vec<u64> = (0..len).map(|_| random.next_u64()).collect();
            let mut rolled = vec![];
            windows_into(&tokens, size, &mut rolled);
            let direct: Vec<u64> = tokens.windows(size).map(whole).collect();
            prop_assert_eq!(&rolled, &direct);
            let mut apart = vec![];
            windows_apart_into(&tokens, size, &mut apart);
            prop_assert_eq!(apart, direct);
        }
    }

    #[test]
    fn order_and_length_matter() {
        let [a, b, c] = [11, 22, 33].map(crate::hash::fmix64);
        assert_ne!(whole(&[a, b]), whole(&[b, a]));
        assert_ne!(whole(&[a, b, c]), whole(&[a, c, b]));
        assert_ne!(whole(&[a]), whole(&[a, a]));
    }
}
