//! Hashes of vectors, as two [sources](crate#sources) use them for band keys.
//!
//! - **Paper.** [Bergillos 2018](crate#sources), §5.1, which is Boost's `hash_combine`; [Anonymous](crate#sources), §4.
//! - **Idea.** The rows of a band are combined into one number, and documents with the same number are candidates.
//! - **Formula.** [`hash_vec_32`], [`hash_vec_64`]: h = length; h ← h ⊕ (v + 0x9e3779b9 + (h≪6) + (h≫2)) for each v.
//!   [`ModularSum`]: h = Σᵢ ((aᵢ·xᵢ + bᵢ) mod p) mod p.
//! - **Cost.** `hash_vec`: four additions per element. `ModularSum`: one multiplication and one division per element.
//! - **Error.** `hash_vec`: among the vectors of two numbers below 300 there are 170,090 colliding pairs in both
//!   widths, where 0.94 are expected by chance for 32 bits (E-38). `ModularSum`: two different bands collide with
//!   probability 1/p. With p near the number of documents, a query finds one false candidate per band (E-40).
//! - **Differs.** Bergillos 2018, §5.1, states no width for `hash_vec`; this module has two widths. aᵢ = 0 is not drawn
//!   (E-33).
//! - **Vectors.** Another program computed the golden values from the definition.
//!
//! - **Use when** results of these publications have to be repeated.
//! - **Do not** use these hashes for band keys, because false candidates cost much time. [`Banding`](crate::candidate)
//!   mixes all bits of a band into 64 bits.

use super::modular::{Modular, next_prime};
use crate::error::Error;

/// Computes `hash_vec` of [Bergillos 2018](crate#sources), §5.1, in words of 32 bits.
#[must_use]
pub fn hash_vec_32(vector: &[u32]) -> u32 {
    vector.iter().fold(vector.len() as u32, |hash, value| {
        hash ^ value.wrapping_add(0x9e37_79b9).wrapping_add(hash << 6).wrapping_add(hash >> 2)
    })
}

/// Computes `hash_vec` of [Bergillos 2018](crate#sources), §5.1, in words of 64 bits.
#[must_use]
pub fn hash_vec_64(vector: &[u64]) -> u64 {
    vector.iter().fold(vector.len() as u64, |hash, value| {
        hash ^ value.wrapping_add(0x9e37_79b9).wrapping_add(hash << 6).wrapping_add(hash >> 2)
    })
}

/// Hash of vectors of fixed length, as in [Anonymous](crate#sources), §4.
#[derive(Debug, Clone)]
pub struct ModularSum {
    functions: Modular,
}

impl ModularSum {
    /// Creates a hash of vectors of `len` elements, modulo the smallest prime that is at least `documents`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `len` or `documents` is 0, or if no prime
    /// below 2⁶⁴ is as large as `documents`.
    pub fn new(len: usize, documents: u64, seed: u64) -> Result<Self, Error> {
        if documents == 0 || next_prime(documents).is_none() {
            let range = "from 1 to the largest prime below 2^64";
            return Err(Error::out_of_range("the number of documents", documents, range));
        }
        Ok(Self { functions: Modular::raw(len, documents, seed)? })
    }

    /// Returns p, the number of buckets.
    #[must_use]
    pub fn prime(&self) -> u64 {
        self.functions.prime()
    }

    /// Returns the bucket of a vector, from 0 to p − 1.
    ///
    /// # Panics
    /// Panics if the vector does not have `len` elements.
    #[must_use]
    pub fn hash(&self, vector: &[u64]) -> u64 {
        assert_eq!(vector.len(), self.functions.functions(), "vectors of one length");
        let prime = u128::from(self.prime());
        let sum = vector.iter().enumerate().map(|(i, &value)| u128::from(self.functions.hash(i, value)));
        // The sum fits 128 bits, because memory holds fewer than 2⁶⁴ terms below 2⁶⁴.
        (sum.sum::<u128>() % prime) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;

    #[test]
    fn documented_values() {
        let ten: Vec<u64> = (0..10).collect();
        let vectors: [(&[u64], u32, u64); 8] = [
            (&[], 0, 0),
            (&[0], 0x9e37_79f8, 0x9e37_79f8),
            (&[1], 0x9e37_79fb, 0x9e37_79fb),
            (&[1, 2], 0xcd94_9c71, 0x28_cd94_9c71),
            (&[2, 1], 0xcd94_9cb1, 0x28_cd94_9cb1),
            (&[1, 2, 3], 0xfb2b_5814, 0x0a16_fb2b_5814),
            (&[0, 0, 0], 0xfb2b_4489, 0x0a16_fb2b_4489),
            (&ten, 0x0a90_d58c, 0x6f20_1439_eee8_d58c),
        ];
        for (vector, in_32, in_64) in vectors {
            let narrow: Vec<u32> = vector.iter().map(|&value| value as u32).collect();
            assert_eq!((hash_vec_32(&narrow), hash_vec_64(vector)), (in_32, in_64), "{vector:?}");
        }
        assert_eq!(hash_vec_32(&[0, 0]), hash_vec_32(&[1, 189]));
        assert_eq!(hash_vec_32(&[0, 0]), hash_vec_32(&[2, 126]));
    }

    fn colliding_pairs(mut hashes: Vec<u64>) -> usize {
        hashes.sort_unstable();
        hashes.chunk_by(|a, b| a == b).map(|equal| equal.len() * (equal.len() - 1) / 2).sum()
    }

    #[test]
    fn hash_vec_collides_on_small_numbers() {
        let pairs = || (0..300u32).flat_map(|a| (0..300u32).map(move |b| [a, b]));
        assert_eq!(colliding_pairs(pairs().map(|pair| hash_vec_32(&pair).into()).collect()), 170_090);
        assert_eq!(colliding_pairs(pairs().map(|pair| hash_vec_64(&pair.map(u64::from))).collect()), 170_090);
    }

    #[test]
    fn the_sum_collides_once_in_p() {
        // The expected hash is computed by the formula, for one vector.
        let hash = ModularSum::new(3, 1000, 1).unwrap();
        assert_eq!(hash.prime(), 1009);
        let vector = [5, 77, 1008];
        let by_hand: u64 = (0..3).map(|i| hash.functions.hash(i, vector[i])).sum();
        assert_eq!(hash.hash(&vector), by_hand % 1009);

        // About one in p pairs of 3000 random bands collides, for every p.
        for documents in [1000, 30_000] {
            let mut random = SplitMix64::new(8);
            let hash = ModularSum::new(5, documents, 2).unwrap();
            let mut band = || [(); 5].map(|()| random.next_u64() % hash.prime());
            let pairs = 3000.0 * 2999.0 / 2.0;
            let expected = pairs / hash.prime() as f64;
            let found = colliding_pairs((0..3000).map(|_| hash.hash(&band())).collect()) as f64;
            assert!((found - expected).abs() <= 4.0 * expected.sqrt(), "{found}, {expected} expected");
        }
    }

    #[test]
    fn settings_are_checked() {
        assert!(ModularSum::new(0, 10, 1).is_err() && ModularSum::new(5, 0, 1).is_err());
    }
}
