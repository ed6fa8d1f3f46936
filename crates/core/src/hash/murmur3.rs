//! `MurmurHash3` with 32 bits, in the form for x86.
//!
//! - **Paper.** Appleby, *`MurmurHash3`*, 2011; [Bergillos 2018](crate#sources), §6.3.
//! - **Idea.** Four bytes at a time are multiplied, rotated and folded into the state, which is mixed at the end.
//! - **Formula.** See [`murmur3_32`]; all arithmetic is mod 2³². In a family, function i is the hash with seed s + i.
//! - **Cost.** About 1 ns per four bytes; the family hashes each key anew for each function.
//! - **Error.** The family is as good as a random order; a test in this file checks it.
//! - **Differs.** The listing of Bergillos 2018, §6.3, does not say that blocks and tail are read with the lowest byte
//!   first, and that arithmetic wraps (E-37).
//! - **Vectors.** The `mmh3` library computed the golden values.
//!
//! - **Use when** other programs must compute the same values.
//! - **Do not** use the family for speed, or the hash for untrusted input, because collisions are easy to construct.

use super::fmix32;
use crate::error::Error;

const fn mix(block: u32) -> u32 {
    block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

/// Returns the `MurmurHash3` of `bytes`, in the 32-bit form for x86.
#[inline]
#[must_use]
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = blocks.iter().fold(seed, |hash, &block| {
        (hash ^ mix(u32::from_le_bytes(block))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    // An empty tail reads as zero, and mixing zero gives zero.
    hash ^= mix(tail.iter().rev().fold(0, |tail, &byte| tail << 8 | u32::from(byte)));
    fmix32(hash ^ bytes.len() as u32)
}

/// Functions that differ only in their seeds.
#[derive(Debug, Clone)]
pub struct Murmur3 {
    functions: usize,
    seed: u32,
}

impl Murmur3 {
    /// Creates `functions` functions with seeds from `seed` on; the family of Bergillos 2018 begins at seed 0.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `functions` is 0.
    pub fn new(functions: usize, seed: u32) -> Result<Self, Error> {
        if functions == 0 {
            return Err(Error::out_of_range("the number of functions", functions, "at least 1"));
        }
        Ok(Self { functions, seed })
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.functions
    }

    /// Returns the value of one function for the eight bytes of the key, lowest byte first.
    #[inline]
    #[must_use]
    pub fn hash(&self, function: usize, key: u64) -> u32 {
        murmur3_32(&key.to_le_bytes(), self.seed.wrapping_add(function as u32))
    }

    /// Writes the minimum of each function over the keys; `u32::MAX` if there are no keys.
    ///
    /// # Panics
    /// Panics if `out` does not have one element per function.
    pub fn minima_into(&self, keys: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.functions, "one register per function");
        for (function, out) in out.iter_mut().enumerate() {
            *out = keys.iter().map(|&key| self.hash(function, key)).min().unwrap_or(u32::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_values() {
        let fox = b"The quick brown fox jumps over the lazy dog";
        let vectors: [(&[u8], u32, u32); 22] = [
            (b"", 0, 0),
            (b"", 1, 0x514e_28b7),
            (b"", 0xffff_ffff, 0x81f1_6f39),
            (&[0], 0, 0x514e_28b7),
            (&[0; 4], 0, 0x2362_f9de),
            (&[0xff; 4], 0, 0x7629_3b50),
            (&[0x21, 0x43, 0x65, 0x87], 0, 0xf55b_516b),
            (&[0x21, 0x43, 0x65, 0x87], 0x5082_edee, 0x2362_f9de),
            (&[0x21, 0x43, 0x65], 0, 0x7e4a_8634),
            (&[0x21, 0x43], 0, 0xa0f7_b07a),
            (&[0x21], 0, 0x7266_1cf4),
            (b"test", 0, 0xba6b_d213),
            (b"test", 0x9747_b28c, 0x704b_81dc),
            (b"Hello, world!", 0, 0xc036_3e43),
            (b"Hello, world!", 0x9747_b28c, 0x2488_4cba),
            (fox, 0, 0x2e4f_f723),
            (fox, 0x9747_b28c, 0x2fa8_26cd),
            (b"abc", 0, 0xb3dd_93fa),
            (b"a", 0x9747_b28c, 0x7fa0_9ea6),
            (b"aa", 0x9747_b28c, 0x5d21_1726),
            (b"aaa", 0x9747_b28c, 0x283e_0130),
            (b"aaaa", 0x9747_b28c, 0x5a97_808a),
        ];
        for (key, seed, hash) in vectors {
            assert_eq!(murmur3_32(key, seed), hash, "{key:?} {seed:#x}");
        }
        for (key, seed_0, seed_1) in [
            (0u32, 0x2362_f9de, 0x78ed_212d),
            (1, 0xfbf1_402a, 0x5e11_e574),
            (2, 0x40b2_3b7f, 0xdb9a_7e8c),
            (123_456, 0xb2d9_7cd0, 0x50db_174f),
        ] {
            assert_eq!(murmur3_32(&key.to_le_bytes(), 0), seed_0);
            assert_eq!(murmur3_32(&key.to_le_bytes(), 1), seed_1);
        }
    }

    #[test]
    fn the_family_is_min_wise_on_consecutive_ids() {
        const FUNCTIONS: usize = 20_000;
        let family = Murmur3::new(FUNCTIONS, 0).unwrap();
        for (left, right, similarity) in [(0..200, 100..300, 1.0 / 3.0), (0..100, 1..100, 0.99)] {
            let minima = |ids: std::ops::Range<u64>| {
                let mut out = vec![0; FUNCTIONS];
                family.minima_into(&ids.collect::<Vec<_>>(), &mut out);
                out
            };
            let agreeing = minima(left).iter().zip(minima(right)).filter(|(a, b)| **a == *b).count();
            let share = agreeing as f64 / FUNCTIONS as f64;
            let error = (similarity * (1.0 - similarity) / FUNCTIONS as f64).sqrt();
            assert!((share - similarity).abs() <= 4.0 * error, "{share}, {similarity} expected");
        }
    }

    #[test]
    fn settings_and_no_keys() {
        assert!(Murmur3::new(0, 1).is_err());
        let mut out = [0; 2];
        Murmur3::new(2, 1).unwrap().minima_into(&[], &mut out);
        assert_eq!(out, [u32::MAX; 2]);
    }
}
