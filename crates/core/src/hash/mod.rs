//! Hash functions. They are frozen: their values are stored in files, so changing any of them is a breaking change.
//!
//! All steps after the shingler take integers. [`token`] turns the bytes of one token into 64 bits, [`rolling`] turns a
//! window of tokens into one shingle, and the mixers of this module spread integers over all their bits.
//!
//! | function | from → to | use |
//! |---|---|---|
//! | [`fmix32`] | 32 → 32, a bijection | mixing shingles before the linear step of [`MinHash`](crate::sketch::MinHash) |
//! | [`fmix64`] | 64 → 64, a bijection | deriving seeds, mixing ids |
//! | [`fold_multiply`] | 2 × 64 → 64 | hashing bytes, band keys |
//! | [`SplitMix64`] | seed → sequence | the coefficients of hash families |
//! | [`modular`], [`multiplicative`], [`murmur3`] | 64 → 32, families | families of the [sources](crate#sources), for comparison |
//! | [`vector`] | rows → a band key | hashes of the [sources](crate#sources), for comparison |
//! | [`cantor`] | 2 × 64 → one number | a minimum and its section in one number |
//! | [`token`] | bytes → 64 | one token |
//! | [`rolling`] | window of tokens of 64 bits → 64 | one shingle |
//!
//! No function of this module is cryptographic: collisions can be constructed.

pub mod cantor;
pub mod modular;
pub mod multiplicative;
pub mod murmur3;
pub mod rolling;
pub mod token;
pub mod vector;

/// Applies the 32-bit finaliser of `MurmurHash3`: every input bit affects every output bit, and different inputs have
/// different outputs.
#[inline(always)]
#[must_use]
pub const fn fmix32(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// Applies the 64-bit finaliser of `MurmurHash3`.
#[inline(always)]
#[must_use]
pub const fn fmix64(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^= h >> 33;
    h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}

/// Returns the exclusive or of the two halves of the 128-bit product of `a` and `b`.
///
/// One multiplication mixes 128 bits of input into 64. If an operand is 0, the other operand is lost, so callers must
/// avoid operands of 0.
#[inline(always)]
#[must_use]
pub const fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Inverts [`fmix64`]: returns the number x with `fmix64(x) == mixed`.
#[must_use]
pub const fn unfmix64(mixed: u64) -> u64 {
    // An exclusive or with a shift by more than half of the bits is its own inverse. The factors are the inverses mod
    // 2⁶⁴ of the factors in `fmix64`.
    let mut h = mixed;
    h = (h ^ (h >> 33)).wrapping_mul(0x9cb4_b2f8_1293_37db);
    h = (h ^ (h >> 33)).wrapping_mul(0x4f74_430c_22a5_4005);
    h ^ (h >> 33)
}

/// Steele, Lea and Flood's `SplitMix64`: the generator of all coefficients of this library. It is so small that it can
/// easily be written in any language.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Starts the sequence that belongs to `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the upper half of the next 64 bits.
    #[inline]
    pub const fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fmix64_gives_documented_values() {
        assert_eq!(fmix64(0), 0);
        assert_eq!(fmix64(1), 0xb456_bcfc_34c2_cb2c);
        assert_eq!(fmix64(2), 0x3abf_2a20_6506_83e7);
        assert_eq!(fmix64(123_456_789), 0x8f7c_2920_6384_f886);
    }

    #[test]
    fn unmixing_undoes_mixing() {
        for number in [0, 1, 2, 123_456_789, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef] {
            assert_eq!(unfmix64(fmix64(number)), number);
        }
    }

    #[test]
    fn fmix32_ends_murmur3_of_the_empty_key() {
        // murmur3_32("", seed) is fmix32(seed): docs/sources/hashing.md#murmurhash3.
        assert_eq!(fmix32(0), 0);
        assert_eq!(fmix32(1), 0x514e_28b7);
        assert_eq!(fmix32(0xffff_ffff), 0x81f1_6f39);
    }

    #[test]
    fn splitmix64_starts_as_documented() {
        for (seed, first) in
            [(0, 0xe220_a839_7b1d_cdaf), (1, 0x910a_2dec_8902_5cc1), (2, 0x9758_35de_1c97_56ce)]
        {
            assert_eq!(SplitMix64::new(seed).next_u64(), first);
        }
    }

    #[test]
    fn fold_multiply_folds_the_halves() {
        assert_eq!(fold_multiply(1 << 63, 2), 1);
        assert_eq!(fold_multiply(3, 5), 15);
    }
}
