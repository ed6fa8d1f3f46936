//! The modular family of hash functions.
//!
//! - **Paper.** Carter and Wegman, *Universal classes of hash functions*, 1979; Hassanian-esfahani 2018, §2,
//!   Bergillos 2018, §6.1, and [Anonymous](crate#sources).
//! - **Idea.** Multiplying by a, adding b and taking the remainder modulo a prime permutes the numbers below the prime;
//!   drawing a and b at random draws a random permutation.
//! - **Symbols.** h(x) = (a·x + b) mod p, 1 ≤ a < p, 0 ≤ b < p.
//! - **Cost.** One 64 × 64 → 128 bit multiplication and one division per key and function.
//! - **Error.** On mixed keys, the family is as good as a random order. On raw ids it is not min-wise: {0..199} and
//!   {100..299} agree in 0.286 of the functions, not in 0.333, whatever the prime (E-35).
//! - **Differs.** The publications allow a = 0, which makes a function that is the same for all documents (E-33). They
//!   require p ≥ the largest key where p > is needed. They compute in 32 bits, which is no permutation for p > 46,341
//!   (E-34). They draw until all a and b differ, which never ends if there are more functions than numbers below p
//!   (E-46). This module mixes keys first, except in [`Modular::raw`].
//! - **Vectors.** Another program computed the golden values from the definition.
//!
//! - **Use when** results of these publications have to be repeated.
//! - **Do not** use it for speed: the family of [`MinHash`](crate::sketch::MinHash) takes one instruction per
//!   function.

use super::{SplitMix64, fmix64};
use crate::error::Error;

/// 2⁶¹ − 1, the prime modulus for mixed keys.
pub const MERSENNE_61: u64 = (1 << 61) - 1;

/// The largest prime below 2⁶⁴.
const LAST_PRIME: u64 = u64::MAX - 58;

const fn multiply_mod(a: u64, b: u64, modulus: u64) -> u64 {
    (a as u128 * b as u128 % modulus as u128) as u64
}

fn power_mod(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = multiply_mod(power, base, modulus);
        }
        base = multiply_mod(base, base, modulus);
        exponent /= 2;
    }
    power
}

/// Reports whether `n` is a prime, by Miller and Rabin's test; with these witnesses it is right for all `n` below 2⁶⁴.
#[must_use]
pub fn is_prime(n: u64) -> bool {
    const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    if let Some(divisor) = WITNESSES.into_iter().find(|divisor| n.is_multiple_of(*divisor)) {
        return n == divisor;
    }
    let twos = (n - 1).trailing_zeros();
    WITNESSES.into_iter().all(|witness| {
        let mut power = power_mod(witness, (n - 1) >> twos, n);
        let mut passes = power == 1 || power == n - 1;
        for _ in 1..twos {
            power = multiply_mod(power, power, n);
            passes |= power == n - 1;
        }
        passes
    })
}

/// Returns the smallest prime that is at least `n`, if there is one below 2⁶⁴.
#[must_use]
pub fn next_prime(n: u64) -> Option<u64> {
    (n..=LAST_PRIME).find(|&n| is_prime(n))
}

/// Returns a number below `bound`; all such numbers are equally likely.
fn below(bound: u64, random: &mut SplitMix64) -> u64 {
    // Numbers above the last whole multiple of the bound are drawn again, because they would make small results more
    // likely.
    let last = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = random.next_u64();
        if drawn < last {
            return drawn % bound;
        }
    }
}

/// Whether keys are mixed before the linear step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    Mixed,
    Raw,
}

/// Functions hᵢ(x) = (aᵢ·x + bᵢ) mod p.
#[derive(Debug, Clone)]
pub struct Modular {
    prime: u64,
    keys: Keys,
    coefficients: Vec<(u64, u64)>,
}

impl Modular {
    /// Creates `functions` functions of mixed keys, modulo 2⁶¹ − 1.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `functions` is 0.
    pub fn new(functions: usize, seed: u64) -> Result<Self, Error> {
        Self::draw(functions, MERSENNE_61, Keys::Mixed, seed)
    }

    /// Creates `functions` functions of unmixed ids 0 … `ids` − 1, modulo the smallest prime that is at least `ids`.
    /// This is the form of the publications (see the header), which is biased.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `functions` is 0, if `ids` is 0, or if no
    /// prime below 2⁶⁴ is as large as `ids`.
    pub fn raw(functions: usize, ids: u64, seed: u64) -> Result<Self, Error> {
        let prime = next_prime(ids).filter(|_| ids > 0);
        let prime = prime.ok_or_else(|| {
            Error::out_of_range("the number of ids", ids, "from 1 to the largest prime below 2^64")
        })?;
        Self::draw(functions, prime, Keys::Raw, seed)
    }

    fn draw(functions: usize, prime: u64, keys: Keys, seed: u64) -> Result<Self, Error> {
        if functions == 0 {
            return Err(Error::out_of_range("the number of functions", functions, "at least 1"));
        }
        let mut random = SplitMix64::new(seed);
        let coefficients =
            (0..functions).map(|_| (1 + below(prime - 1, &mut random), below(prime, &mut random))).collect();
        Ok(Self { prime, keys, coefficients })
    }

    /// Returns the prime p.
    #[must_use]
    pub fn prime(&self) -> u64 {
        self.prime
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.coefficients.len()
    }

    /// Returns the value of one function. If keys are raw, a key of p or more collides with its remainder modulo p.
    ///
    /// # Panics
    /// Panics if `function` is not below the number of functions.
    #[inline]
    #[must_use]
    pub fn hash(&self, function: usize, key: u64) -> u64 {
        let (a, b) = self.coefficients[function];
        let key = match self.keys {
            Keys::Mixed => fmix64(key),
            Keys::Raw => key,
        };
        // The sum is below 2¹²⁸, because a, the key and b are below 2⁶⁴.
        ((u128::from(a) * u128::from(key) + u128::from(b)) % u128::from(self.prime)) as u64
    }

    /// Writes the minimum of each function over the keys, or the upper 32 bits of this minimum if p has more than 32
    /// bits; `u32::MAX` if there are no keys.
    ///
    /// # Panics
    /// Panics if `out` does not have one element per function.
    pub fn minima_into(&self, keys: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.functions(), "one register per function");
        let surplus = (u64::BITS - self.prime.leading_zeros()).saturating_sub(32);
        for (function, out) in out.iter_mut().enumerate() {
            let least = keys.iter().map(|&key| self.hash(function, key)).min();
            *out = least.map_or(u32::MAX, |least| (least >> surplus) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn documented_primes() {
        for (from, prime) in [
            (0, 2),
            (1, 2),
            (1000, 1009),
            (1001, 1009),
            (10_000, 10_007),
            (24_000, 24_001),
            (46_341, 46_349),
            (50_000, 50_021),
            (100_000, 100_003),
            (1_000_000, 1_000_003),
            (MERSENNE_61, MERSENNE_61),
            (LAST_PRIME, LAST_PRIME),
        ] {
            assert_eq!(next_prime(from), Some(prime));
        }
        assert_eq!(next_prime(LAST_PRIME + 1), None);
    }

    #[test]
    fn primes_as_a_sieve_finds_them() {
        let mut composite = vec![false; 20_000];
        for n in 2..composite.len() {
            assert_eq!(is_prime(n as u64), !composite[n], "{n}");
            for multiple in (n * n..composite.len()).step_by(n) {
                composite[multiple] = true;
            }
        }
        // Strong pseudoprimes to base 2; to bases 2, 3, 5 and 7; to the first nine primes.
        for pseudoprime in [2047, 3_215_031_751, 3_825_123_056_546_413_051] {
            assert!(!is_prime(pseudoprime));
        }
    }

    #[test]
    fn raw_functions_are_permutations() {
        for ids in [1, 2, 30, 60_000, 100_000] {
            let family = Modular::raw(3, ids, 1).unwrap();
            for function in 0..3 {
                let values: HashSet<u64> = (0..family.prime()).map(|id| family.hash(function, id)).collect();
                assert_eq!(values.len() as u64, family.prime());
            }
        }
    }

    #[test]
    fn thirty_two_bits_lose_values() {
        const DRAWS: u32 = 200;
        // Anonymous computes in 32 bits (E-34). Each row has the number of distinct values as a share of p.
        for (prime, share) in [(50_021u64, 0.98), (100_003, 0.83), (300_007, 0.64)] {
            let mut random = SplitMix64::new(5);
            let mut seen = vec![0; prime as usize];
            let shares: Vec<f64> = (1..=DRAWS)
                .map(|draw| {
                    let (a, b) = (1 + below(prime - 1, &mut random), below(prime, &mut random));
                    let masked =
                        |x: u64| (a as u32).wrapping_mul(x as u32).wrapping_add(b as u32) & 0x7fff_ffff;
                    let fresh = (0..prime).filter(|&x| {
                        let value = u64::from(masked(x)) % prime;
                        std::mem::replace(&mut seen[value as usize], draw) != draw
                    });
                    fresh.count() as f64 / prime as f64
                })
                .collect();
            let mean = shares.iter().sum::<f64>() / f64::from(DRAWS);
            let variance =
                shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / f64::from(DRAWS - 1);
            // The documented share (docs/sources/hashing.md#modular-hashing) is itself a mean of twenty draws.
            let error = (variance / 20.0 + variance / f64::from(DRAWS)).sqrt();
            assert!((mean - share).abs() <= 4.0 * error + 0.005 && mean < 0.995, "{prime}: {mean} ± {error}");
        }
    }

    #[test]
    fn no_function_is_constant_and_few_ids_do_no_harm() {
        // There are more functions than numbers below the prime (E-46), and no function has a = 0 (E-33).
        let family = Modular::raw(500, 4, 9).unwrap();
        assert_eq!(family.prime(), 5);
        assert!((0..500).all(|function| family.hash(function, 0) != family.hash(function, 1)));
        assert_eq!(family.coefficients.iter().map(|(a, _)| a).collect::<HashSet<_>>().len(), 4);
    }

    /// Returns the share of functions in which two intervals of ids agree, over many families and positions of the
    /// intervals, and its standard error.
    fn agreement(family: impl Fn(u64) -> Modular, place: impl Fn(u64) -> u64) -> (f64, f64) {
        const FAMILIES: u64 = 2000;
        const FUNCTIONS: usize = 16;
        let mut agreeing = 0;
        for seed in 0..FAMILIES {
            let (family, at) = (family(seed), place(seed));
            let minima = |from: u64| {
                let ids: Vec<u64> = (at + from..at + from + 200).collect();
                let mut out = [0; FUNCTIONS];
                family.minima_into(&ids, &mut out);
                out
            };
            agreeing += minima(0).iter().zip(minima(100)).filter(|(a, b)| **a == *b).count();
        }
        let trials = FAMILIES as f64 * FUNCTIONS as f64;
        let share = agreeing as f64 / trials;
        (share, (share * (1.0 - share) / trials).sqrt())
    }

    #[test]
    fn raw_ids_are_biased_and_mixed_ones_are_not() {
        let (share, error) = agreement(|seed| Modular::raw(16, 10_000, seed).unwrap(), |_| 0);
        assert!((share - 0.286).abs() <= 4.0 * error + 0.0005, "{share}");
        let (share, error) = agreement(|seed| Modular::new(16, seed).unwrap(), |seed| fmix64(seed) >> 8);
        assert!((share - 1.0 / 3.0).abs() <= 4.0 * error, "{share}");
    }

    #[test]
    fn settings_and_no_keys() {
        assert!(Modular::new(0, 1).is_err() && Modular::raw(4, 0, 1).is_err());
        let mut out = [0; 2];
        Modular::new(2, 1).unwrap().minima_into(&[], &mut out);
        assert_eq!(out, [u32::MAX; 2]);
    }
}
