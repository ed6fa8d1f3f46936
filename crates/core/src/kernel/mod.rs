//! Loops that run once per byte, per shingle and register, or per pair of sketches, written for the vector units of the
//! machine.
//!
//! Five kinds of loops have hand-written vector code. [`Kernel::classify`] finds the word characters and the non-ASCII
//! bytes of a text, 64 bytes at a time. `Kernel::positions` lists the bits where tokens begin or end.
//! [`Kernel::minima`] takes the minima of k hash functions over a document's shingles. [`Kernel::sample`] draws k
//! samples of a weighted set. The loops of [`compare`] count in how many values two sketches agree. Each loop has a
//! portable form, which is the definition, and forms for AVX2, AVX-512 and NEON, which give the same bits. Two more
//! loops, [`Kernel::throw`] and `Kernel::windows`, are plain code that is compiled for a wider instruction set.
//!
//! This module holds all `unsafe` code of the library crates, except the line that maps files. A *lane* is one of the
//! equal parts of a vector register. One instruction computes all lanes together.
//!
//! | kernel | lanes of 32 bits | registers held while the shingles stream by |
//! |---|---|---|
//! | `portable` | as compiled | 16 |
//! | `neon` | 4 | 16 |
//! | `avx2` | 8 | 32 |
//! | `avx512`, `avx512-popcount` | 16 | 128 |

// Functions compiled for a wider instruction set are unsafe to call, and so are their loads and stores.
#![allow(unsafe_code)]

use std::fmt;

use crate::hash::rolling;

mod binary;
pub mod compare;
mod dart;
mod logarithm;
mod portable;
mod sample;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(test)]
mod tests;

pub(crate) use binary::{exponent, scaled};
pub(crate) use logarithm::float;
pub use logarithm::ln;
pub use sample::{Draw, Elements, Sample, SampledStep};

/// Number of bytes of text per [`ByteMasks`].
pub const BLOCK: usize = 64;

/// Result of [`Kernel::classify`] for 64 bytes: bit i of each mask describes byte i.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByteMasks {
    /// Bits of ASCII letters, ASCII digits and `_`.
    pub word: u64,
    /// Bits of bytes of 0x80 and above, which are parts of non-ASCII characters.
    pub high: u64,
}

/// Positions of the set bits of a list of masks: bit i of mask m has position 64·m + i.
#[derive(Debug, Clone)]
pub(crate) struct BitPositions {
    /// Buffer for positions. It is longer than needed, because kernels write more positions than there are and then
    /// count the real ones.
    room: Box<[u16]>,
    len: usize,
}

impl BitPositions {
    /// Maximum number of masks per call. The positions of 16 masks stay in the first-level cache beside the text.
    pub(crate) const MASKS: usize = 16;
    /// Maximum number of positions that a kernel writes at once.
    const AT_ONCE: usize = 32;

    /// Returns the positions in ascending order.
    pub(crate) fn as_slice(&self) -> &[u16] {
        &self.room[..self.len]
    }

    /// Returns the part of the buffer for the next `N` positions.
    #[inline(always)]
    fn room<const N: usize>(&mut self) -> &mut [u16; N] {
        const { assert!(N <= Self::AT_ONCE) };
        self.room[self.len..].first_chunk_mut().expect("there is room behind the last position")
    }

    /// Counts the next `by` positions of the buffer as real ones.
    #[inline(always)]
    fn advance(&mut self, by: usize) {
        self.len += by;
    }
}

impl Default for BitPositions {
    fn default() -> Self {
        Self { room: vec![0; Self::MASKS * BLOCK + Self::AT_ONCE].into_boxed_slice(), len: 0 }
    }
}

/// Coefficients of the family hᵢ(x) = aᵢ·x + bᵢ mod 2³².
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct Linear<'a> {
    /// Multipliers aᵢ, which are odd.
    pub a: &'a [u32],
    /// Offsets bᵢ.
    pub b: &'a [u32],
}

/// An instruction set that this machine has.
///
/// Only [`detect`](Kernel::detect) and [`available`](Kernel::available) return values of this type, so a value proves
/// that the machine has the instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX-512 with `vpopcntq` and `vpcompressb`, which processors got one generation later.
    #[cfg(target_arch = "x86_64")]
    Avx512Popcount,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Kernel {
    /// Returns the fastest kernel of this machine.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(debug_assertions)]
        if let Some(kernel) = Self::forced() {
            return kernel;
        }
        Self::available().next_back().unwrap_or(Self(Kind::Portable))
    }

    /// Returns the kernel that `MINWISE_KERNEL` names, if this machine has it. Only builds with debug assertions read
    /// this variable; tests use it to run two processes on one machine with different kernels.
    #[cfg(debug_assertions)]
    fn forced() -> Option<Self> {
        static FORCED: std::sync::OnceLock<Option<Kernel>> = std::sync::OnceLock::new();
        *FORCED.get_or_init(|| {
            let name = std::env::var("MINWISE_KERNEL").ok()?;
            Self::available().find(|kernel| kernel.name() == name)
        })
    }

    /// Returns all kernels of this machine, slowest first.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let (avx2, avx512, popcount) = {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq");
            let popcount = avx512
                && is_x86_feature_detected!("avx512vpopcntdq")
                && is_x86_feature_detected!("avx512vbmi2");
            (avx2, avx512, popcount)
        };
        let kinds = [
            Some(Kind::Portable),
            #[cfg(target_arch = "x86_64")]
            avx2.then_some(Kind::Avx2),
            #[cfg(target_arch = "x86_64")]
            avx512.then_some(Kind::Avx512),
            #[cfg(target_arch = "x86_64")]
            popcount.then_some(Kind::Avx512Popcount),
            #[cfg(target_arch = "aarch64")]
            std::arch::is_aarch64_feature_detected!("neon").then_some(Kind::Neon),
        ];
        kinds.into_iter().flatten().map(Self)
    }

    /// Returns the name of the kernel, such as `avx2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Popcount => "avx512-popcount",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => "neon",
        }
    }

    /// Replaces the content of `out` by one [`ByteMasks`] per block of `bytes`.
    ///
    /// # Panics
    /// Panics if the length of `bytes` is not a multiple of [`BLOCK`].
    pub fn classify(self, bytes: &[u8], out: &mut Vec<ByteMasks>) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        assert!(rest.is_empty(), "the text is padded to whole blocks");
        out.clear();
        out.reserve(blocks.len());
        match self.0 {
            Kind::Portable => portable::classify(blocks, out),
            // SAFETY: a `Kernel` of this kind exists only where its features were detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { avx2::classify(blocks, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 | Kind::Avx512Popcount => unsafe { avx512::classify(blocks, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { neon::classify(blocks, out) },
        }
    }

    /// Replaces the content of `out` by the positions of the set bits of `masks`.
    ///
    /// # Panics
    /// Panics if there are more than [`BitPositions::MASKS`] masks.
    pub(crate) fn positions(self, masks: &[u64], out: &mut BitPositions) {
        assert!(masks.len() <= BitPositions::MASKS, "there is room for the positions");
        out.len = 0;
        match self.0 {
            Kind::Portable => portable::positions(masks, out),
            // SAFETY: a `Kernel` of this kind exists only where its features were detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 | Kind::Avx512 => unsafe { avx2::positions(masks, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Popcount => unsafe { avx512::compressed_positions(masks, out) },
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => portable::positions(masks, out),
        }
    }

    /// Appends to `out` the hash of every window of `size` neighbours in `tokens`, as defined in [`rolling`].
    ///
    /// # Panics
    /// Panics if `size` is zero.
    pub(crate) fn windows(self, tokens: &[u64], size: usize, out: &mut Vec<u64>) {
        match self.0 {
            // SAFETY: a `Kernel` of this kind exists only where its features were detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 | Kind::Avx512Popcount if size <= rolling::APART => unsafe {
                avx512::windows(tokens, size, out);
            },
            // AVX2 multiplies 64-bit numbers in three steps, which takes as long as rolling the windows.
            _ => rolling::windows_into(tokens, size, out),
        }
    }

    /// Lowers each register i to the minimum of hᵢ(fmix32(x)) over the `shingles`, if the minimum is smaller. x is the
    /// shingle folded to 32 bits with `seed`.
    ///
    /// # Panics
    /// Panics if `family` and `registers` differ in length.
    pub fn minima(self, shingles: &[u64], seed: u32, family: Linear<'_>, registers: &mut [u32]) {
        assert!(
            family.a.len() == registers.len() && family.b.len() == registers.len(),
            "one coefficient pair a register"
        );
        match self.0 {
            Kind::Portable => portable::minima(shingles, seed, family, registers),
            // SAFETY: a `Kernel` of this kind exists only where its features were detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { avx2::minima(shingles, seed, family, registers) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 | Kind::Avx512Popcount => unsafe {
                avx512::minima(shingles, seed, family, registers);
            },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { neon::minima(shingles, seed, family, registers) },
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Folds a 64-bit shingle to 32 bits, and mixes these bits for the linear family.
///
/// Linear functions are not min-wise on structured keys such as consecutive ids (E-35), so keys are mixed first. For
/// keys below 2³² the whole step is a bijection.
#[inline(always)]
pub(crate) const fn fold(shingle: u64, seed: u32) -> u32 {
    let upper = ((shingle >> 32) as u32).wrapping_mul(0x9e37_79b1);
    crate::hash::fmix32((shingle as u32).wrapping_add(upper) ^ seed)
}

/// Number of shingles that are folded at a time. 256 keys fit on the stack and into the first-level cache, and the
/// registers are loaded and stored only once per 256 shingles.
const PORTION: usize = 256;

/// Folds the shingles portion by portion and passes the keys to `each`. This function is inlined into each kernel, and
/// so compiled for the instruction set of the kernel.
#[inline(always)]
fn fold_portions(shingles: &[u64], seed: u32, mut each: impl FnMut(&[u32])) {
    let mut keys = [0; PORTION];
    for portion in shingles.chunks(PORTION) {
        for (key, &shingle) in keys.iter_mut().zip(portion) {
            *key = fold(shingle, seed);
        }
        each(&keys[..portion.len()]);
    }
}
