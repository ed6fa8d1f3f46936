//! The hash of one token.
//!
//! - **Idea.** A token is read in windows of 16 bytes, with the bytes after its end masked to zero. Each window is
//!   folded into the state by one full 64 × 64 → 128 bit multiplication. Nearly every token of a natural language has
//!   at most 16 bytes and costs two loads and one multiplication, whatever its length.
//! - **Formula.** h₀ = 0, and for each window of at most 16 bytes, read as two little-endian words l and u: h ← fold((l
//!   ⊕ K₀ ⊕ h) · (u ⊕ K₁ ⊕ length)). The fold is the exclusive or of the halves of the 128-bit product, length is the
//!   length of the whole token in bytes, K₀ = 0xff51afd7ed558ccd and K₁ = 0xc4ceb9fe1a85ec53.
//! - **Cost.** About 2 ns per token.
//! - **Vectors.** The golden values are our own.
//!
//! The two constants contain bytes that never occur in UTF-8 (0xff and 0xfe). So an operand without bytes of the token
//! is never zero, and the other operand is not lost.

use super::fold_multiply;

/// Number of bytes that must be readable after the end of a token.
pub const PADDING: usize = 16;

const K0: u64 = 0xff51_afd7_ed55_8ccd;
const K1: u64 = 0xc4ce_b9fe_1a85_ec53;

/// Masks for the two words of a window. The index is the number of bytes of the token in the window, from 0 to 16.
const MASKS: [(u64, u64); 17] = {
    let mut masks = [(0, 0); 17];
    let mut len = 0;
    while len <= 16 {
        masks[len] = (low_bytes(if len < 8 { len } else { 8 }), low_bytes(len.saturating_sub(8)));
        len += 1;
    }
    masks
};

const fn low_bytes(count: usize) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - 8 * count) }
}

/// Hashes the `len` bytes of `padded` that begin at `start`.
///
/// # Panics
/// Panics if fewer than [`PADDING`] bytes follow the token. Text buffers are padded so that this cannot happen.
#[inline(always)]
#[must_use]
pub fn hash(padded: &[u8], start: usize, len: usize) -> u64 {
    if len <= 16 { window(padded, start, len, 0, len) } else { long(padded, start, len) }
}

#[inline(always)]
fn window(padded: &[u8], start: usize, held: usize, state: u64, len: usize) -> u64 {
    let bytes: &[u8; 16] = padded[start..start + 16].first_chunk().expect("the slice has 16 bytes");
    let (low, high) = bytes.split_at(8);
    let low = u64::from_le_bytes(*low.first_chunk().expect("8 of 16 bytes"));
    let high = u64::from_le_bytes(*high.first_chunk().expect("8 of 16 bytes"));
    let (low_mask, high_mask) = MASKS[held];
    fold_multiply((low & low_mask) ^ K0 ^ state, (high & high_mask) ^ K1 ^ len as u64)
}

#[inline(never)]
fn long(padded: &[u8], mut start: usize, len: usize) -> u64 {
    let mut state = 0;
    let mut left = len;
    while left > 16 {
        state = window(padded, start, 16, state, len);
        start += 16;
        left -= 16;
    }
    window(padded, start, left, state, len)
}

/// Returns the hash of one character as a token of its own. Character shingles use it.
#[inline(always)]
#[must_use]
pub const fn hash_char(c: char) -> u64 {
    fold_multiply(c as u64 ^ K0, K1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn of(token: &str, after: &str) -> u64 {
        let mut padded = token.as_bytes().to_vec();
        padded.extend_from_slice(after.as_bytes());
        padded.resize(padded.len() + PADDING, 0);
        hash(&padded, 0, token.len())
    }

    #[test]
    fn what_follows_the_token_does_not_matter() {
        for len in 1..60 {
            let token: String = ('a'..='z').cycle().take(len).collect();
            assert_eq!(of(&token, ""), of(&token, "more text behind it"), "length {len}");
        }
    }

    #[test]
    fn neighbouring_tokens_differ() {
        let mut seen = HashSet::new();
        let mut tokens = 0;
        for a in "abcdefghijklmnopqrstuvwxyz0123456789_éß中".chars() {
            for b in "abcdefghijklmnopqrstuvwxyz0123456789_éß中".chars() {
                for tail in
                    ["", "a", "aaaaaaa", "aaaaaaaa", "aaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
                {
                    seen.insert(of(&format!("{a}{b}{tail}"), " "));
                    tokens += 1;
                }
            }
        }
        assert_eq!(seen.len(), tokens);
    }

    #[test]
    fn every_byte_of_a_long_token_counts() {
        let token: String = ('a'..='z').cycle().take(70).collect();
        let base = of(&token, "");
        for at in 0..token.len() {
            let mut changed = token.clone();
            changed.replace_range(at..=at, "#");
            assert_ne!(of(&changed, ""), base, "byte {at}");
        }
    }
}
