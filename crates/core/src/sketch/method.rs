//! Kinds of sketches: the list of all, their text forms, and their construction.
//!
//! | text form | sketch |
//! |---|---|
//! | `minhash:128`, `min-max:128`, `super-minhash:128`, `fast-similarity:128` | registers |
//! | `minhash,modular:128`, `minhash,multiplicative:128`, `minhash,murmur3:128` | registers, by a hash family of the [sources](crate#sources) |
//! | `one-permutation:128`, `one-permutation,rotation:128`, `one-permutation,raw:128` | bins, densified or not |
//! | `bottom-k:128` | the least values |
//! | `b-bit:2/minhash:256`, `bit-hash/minhash:256` | bits of registers |
//! | `fractional:1x0.5+2x0.5/minhash:256`, `fractional,pooled:…` | a mixture of widths |
//! | `xor:1/minhash:256`, `three-quarter/minhash:256`, `three-quarter,paper/…` | less than one bit per register |
//! | `connected:4x1/minhash:256`, `odd:1024/minhash:256` | joined bits; parities of an odd sketch |
//! | `dart:128`, `icws:128`, `cws:128`, `zero-bit:128` | samples of weighted shingles; without a weighting, weights are counts |
//! | `sectional:s=2/minhash:128`, `s=2,last`, `s=2,mask`, `s=2,tolerant`, `s=2,pre` | registers with the sections of their shingles |

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::bit_hash::BitHash;
use super::bottom_k::BottomK;
use super::connected_bit::ConnectedBit;
use super::family::{Family, FamilyMinHash};
use super::fast_similarity::FastSimilarity;
use super::fractional_bit::{FractionalBit, ThreeQuarter, ThreeQuarterBit, XorBit};
use super::min_max::MinMax;
use super::odd::Odd;
use super::one_permutation::{Densification, OnePermutation};
use super::sectional::{Policy, PreTagged, Sectional, Tolerant};
use super::super_minhash::SuperMinHash;
use super::weighted::{CountedShingles, WeightedMethod};
use super::{MinHash, Registers, Sketcher, b_bit::BBit};
use crate::error::Error;
use crate::estimate;
use crate::estimate::b_bit::Chance;
use crate::estimate::fractional_bit::{Combination, WidthGroup};

/// A kind of sketch whose words are registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
#[cfg_attr(feature = "exhaustive", expect(clippy::exhaustive_enums, reason = "tests list all of them"))]
pub enum Base {
    /// The minima of k functions.
    MinHash,
    /// The minima of k functions of another hash family.
    FamilyMinHash(Family),
    /// The minima and maxima of k/2 functions.
    MinMax,
    /// The least values in k bins of one function; an empty bin copies a random other bin.
    OnePermutation,
    /// The least values in k bins of one function; an empty bin copies the next bin that is not empty.
    OnePermutationRotation,
    /// The minima of values that grow along a random order of the registers, with one order per shingle.
    SuperMinHash,
    /// The minima of rounds, until every register is filled.
    FastSimilarity,
}

/// Registers of one kind, with their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct RegisterSource {
    /// The kind of the registers.
    pub base: Base,
    /// Number of registers (k).
    pub registers: usize,
}

/// Widths in bits, each with the share of registers that have it, in thousandths; at most four widths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mixture {
    parts: [(u8, u16); 4],
    len: usize,
}

/// A kind of sketch and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
#[cfg_attr(feature = "exhaustive", expect(clippy::exhaustive_enums, reason = "tests list all of them"))]
pub enum Method {
    /// Whole registers.
    Registers(RegisterSource),
    /// The bins of one-permutation hashing, some of which stay empty; the number is the number of bins.
    RawOnePermutation(usize),
    /// The k least values of one function; the number is k.
    BottomK(usize),
    /// The lowest b bits of every register; the number is b.
    BBit(u32, RegisterSource),
    /// The parity of every register.
    BitHash(RegisterSource),
    /// A mixture of registers with more bits and registers with fewer.
    Fractional(Mixture, Combination, RegisterSource),
    /// One bit per 2ⁿ registers; the number is n.
    Xor(u32, RegisterSource),
    /// One bit for each single register and for each pair.
    ThreeQuarter(ThreeQuarter, RegisterSource),
    /// Groups of registers that must agree together: the size of a group, and the number of bits per register.
    Connected(usize, u32, RegisterSource),
    /// An odd sketch, in which each register flips one bit; the number is the number of bits.
    Odd(usize, RegisterSource),
    /// Minima with the sections of their shingles (post-tag).
    Sectional {
        /// Number of sections (s).
        sections: usize,
        /// The section of a shingle that occurs in several sections.
        policy: Policy,
        /// Number of registers (k).
        registers: usize,
    },
    /// Minima with fine positions, which agree if they are at most half a section apart.
    Tolerant {
        /// Number of sections (s).
        sections: usize,
        /// Number of registers (k).
        registers: usize,
    },
    /// Registers of shingles that were hashed together with their sections (pre-tag).
    PreTagged {
        /// Number of sections (s).
        sections: usize,
        /// Kind and number of the registers.
        source: RegisterSource,
    },
    /// Samples of weighted shingles.
    Weighted(WeightedMethod),
}

impl Base {
    /// Reports whether registers may be copies of one another.
    #[must_use]
    pub fn is_one_permutation(self) -> bool {
        match self {
            Self::OnePermutation | Self::OnePermutationRotation => true,
            Self::MinHash
            | Self::FamilyMinHash(_)
            | Self::MinMax
            | Self::SuperMinHash
            | Self::FastSimilarity => false,
        }
    }
}

impl RegisterSource {
    /// Makes the sketcher.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless the number of registers is from 1 to
    /// 65,536, and even for `min-max`.
    pub fn build(self, seed: u64) -> Result<Arc<dyn Registers>, Error> {
        let k = self.registers;
        let densified = |densification| {
            let bins = OnePermutation::new(k, densification, seed)?;
            // `densified` never returns `None` here, because only the raw form has no registers, and no `Base` stands
            // for the raw form.
            bins.densified().ok_or_else(|| Error::parse("base of a sketch", "raw", "a densified form"))
        };
        Ok(match self.base {
            Base::MinHash => Arc::new(MinHash::new(k, seed)?),
            Base::FamilyMinHash(family) => Arc::new(FamilyMinHash::new(family, k, seed)?),
            Base::MinMax => Arc::new(MinMax::new(k, seed)?),
            Base::OnePermutation => Arc::new(densified(Densification::Optimal)?),
            Base::OnePermutationRotation => Arc::new(densified(Densification::Rotation)?),
            Base::SuperMinHash => Arc::new(SuperMinHash::new(k, seed)?),
            Base::FastSimilarity => Arc::new(FastSimilarity::new(k, seed)?),
        })
    }
}

impl Mixture {
    pub(super) fn shares(&self) -> Vec<(u32, f64)> {
        self.parts[..self.len]
            .iter()
            .map(|&(bits, share)| (u32::from(bits), f64::from(share) / 1000.0))
            .collect()
    }
}

impl Method {
    /// Returns `MinHash` with this many registers.
    #[must_use]
    pub fn minhash(registers: usize) -> Self {
        Self::Registers(RegisterSource { base: Base::MinHash, registers })
    }

    /// Returns one method of each kind and variant for sets, with about `size` registers or stored bits. `size` must be
    /// a multiple of 4. Methods for weighted sets are in [`WeightedMethod::all`].
    #[must_use]
    pub fn all(size: usize) -> Vec<Self> {
        let bases = [
            Base::MinHash,
            Base::MinMax,
            Base::OnePermutation,
            Base::OnePermutationRotation,
            Base::SuperMinHash,
            Base::FastSimilarity,
        ];
        let families = Family::ALL.map(Base::FamilyMinHash);
        let minhash = |registers| RegisterSource { base: Base::MinHash, registers };
        let source = minhash(size);
        let half = Mixture { parts: [(1, 500), (2, 500), (0, 0), (0, 0)], len: 2 };
        let mut all: Vec<Self> = bases
            .into_iter()
            .chain(families)
            .map(|base| Self::Registers(RegisterSource { base, registers: size }))
            .collect();
        all.extend([Self::RawOnePermutation(size), Self::BottomK(size)]);
        all.extend((1..=16).map(|bits| Self::BBit(bits, source)));
        all.push(Self::BitHash(source));
        all.extend([
            Self::Fractional(half, Combination::InverseVariance, source),
            Self::Fractional(half, Combination::Pooled, source),
        ]);
        all.extend((1..=3).map(|halvings| Self::Xor(halvings, minhash(size << halvings))));
        all.extend([
            Self::ThreeQuarter(ThreeQuarter::Exact, minhash(size * 4 / 3)),
            Self::ThreeQuarter(ThreeQuarter::Paper, minhash(size * 3 / 2)),
            Self::Connected(2, 1, source),
            Self::Connected(4, 1, source),
            Self::Odd(size, source),
        ]);
        for policy in [Policy::First, Policy::Last, Policy::Mask] {
            all.push(Self::Sectional { sections: 2, policy, registers: size });
        }
        all.push(Self::Tolerant { sections: 2, registers: size });
        all.push(Self::PreTagged { sections: 2, source });
        all
    }

    /// Makes the sketcher.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a number of registers, bits, shares or
    /// sections is out of its range. The constructors of the sketches, such as [`BBit::new`], list the ranges.
    pub fn build(self, seed: u64) -> Result<Arc<dyn Sketcher>, Error> {
        Ok(match self {
            Self::Registers(source) => source.build(seed)?,
            Self::RawOnePermutation(bins) => Arc::new(OnePermutation::new(bins, Densification::None, seed)?),
            Self::BottomK(values) => Arc::new(BottomK::new(values, seed)?),
            Self::BBit(bits, source) => Arc::new(BBit::new(source.build(seed)?, bits)?),
            Self::BitHash(source) => Arc::new(BitHash::new(source.build(seed)?)?),
            Self::Fractional(mixture, combination, source) => {
                Arc::new(FractionalBit::new(source.build(seed)?, &mixture.shares(), combination)?)
            }
            Self::Xor(halvings, source) => Arc::new(XorBit::new(source.build(seed)?, halvings)?),
            Self::ThreeQuarter(form, source) => Arc::new(ThreeQuarterBit::new(source.build(seed)?, form)?),
            Self::Connected(connected, bits, source) => {
                Arc::new(ConnectedBit::new(source.build(seed)?, bits, connected)?)
            }
            Self::Odd(bits, source) => Arc::new(Odd::new(source.build(seed)?, bits)?),
            Self::Sectional { sections, policy, registers } => {
                Arc::new(Sectional::new(registers, sections, policy, seed)?)
            }
            Self::Tolerant { sections, registers } => {
                if !(1..=256).contains(&sections) {
                    return Err(Error::out_of_range("the number of sections", sections, "from 1 to 256"));
                }
                let tolerance = Tolerant::tolerance_of_sections(sections as u32);
                Arc::new(Tolerant::new(registers, tolerance, seed)?)
            }
            Self::PreTagged { sections, source } => {
                Arc::new(PreTagged::new(source.build(seed)?, sections, Policy::First)?)
            }
            Self::Weighted(method) => Arc::new(CountedShingles::new(method, seed)?),
        })
    }

    /// Returns the number of registers by which documents can be banded; `None` if the sketch cannot be banded.
    ///
    /// A band of r such registers agrees with probability Jʳ.
    #[must_use]
    pub fn bandable(self) -> Option<usize> {
        match self {
            Self::Registers(source) => Some(source.registers),
            Self::Weighted(method) => method.bandable(),
            // Bits also agree by chance, and a register with a position agrees only if the position does, too.
            Self::RawOnePermutation(_)
            | Self::BottomK(_)
            | Self::BBit(..)
            | Self::BitHash(_)
            | Self::Fractional(..)
            | Self::Xor(..)
            | Self::ThreeQuarter(..)
            | Self::Connected(..)
            | Self::Odd(..)
            | Self::Sectional { .. }
            | Self::Tolerant { .. }
            | Self::PreTagged { .. } => None,
        }
    }

    /// Reports whether registers of a sketch may be copies of one another. Copies lie beside each other, so the
    /// registers of such a sketch are compared in a shuffled order.
    #[must_use]
    pub fn copies_registers(self) -> bool {
        match self {
            Self::Registers(source) => source.base.is_one_permutation(),
            Self::RawOnePermutation(_)
            | Self::BottomK(_)
            | Self::BBit(..)
            | Self::BitHash(_)
            | Self::Fractional(..)
            | Self::Xor(..)
            | Self::ThreeQuarter(..)
            | Self::Connected(..)
            | Self::Odd(..)
            | Self::Sectional { .. }
            | Self::Tolerant { .. }
            | Self::PreTagged { .. }
            | Self::Weighted(_) => false,
        }
    }

    /// Returns the number of registers from which a sketch is made, or the number of values that it keeps.
    #[must_use]
    pub fn registers(self) -> usize {
        match self {
            Self::Registers(source)
            | Self::BBit(_, source)
            | Self::BitHash(source)
            | Self::Fractional(_, _, source)
            | Self::Xor(_, source)
            | Self::ThreeQuarter(_, source)
            | Self::Connected(_, _, source)
            | Self::Odd(_, source)
            | Self::PreTagged { source, .. } => source.registers,
            Self::RawOnePermutation(count) | Self::BottomK(count) => count,
            Self::Sectional { registers, .. } | Self::Tolerant { registers, .. } => registers,
            Self::Weighted(method) => method.registers(),
        }
    }

    /// Returns the number of bytes per sketch; 0 if the sketch cannot be made.
    #[must_use]
    pub fn size_bytes(self) -> usize {
        self.build(1).map_or(0, |sketcher| sketcher.words() * size_of::<u32>())
    }

    /// Returns the variance of the estimate at this similarity, for large documents whose shared shingles stand at the
    /// same places.
    #[must_use]
    pub fn variance(self, similarity: f64) -> f64 {
        let one = Chance::sparse(1);
        match self {
            // For large documents all kinds of registers have the same variance. For small documents some kinds have a
            // lower variance.
            Self::Registers(_)
            | Self::RawOnePermutation(_)
            | Self::BottomK(_)
            | Self::Sectional { .. }
            | Self::Tolerant { .. }
            | Self::PreTagged { .. }
            | Self::Weighted(_) => estimate::minhash::variance(similarity, self.registers()),
            Self::BBit(bits, source) => {
                estimate::b_bit::variance(similarity, source.registers, Chance::sparse(bits))
            }
            Self::BitHash(source) => estimate::b_bit::hamming_variance(similarity, source.registers),
            Self::Fractional(mixture, combination, source) => {
                let registers = |share: f64| (share * source.registers as f64).round() as usize;
                let groups: Vec<WidthGroup> = mixture
                    .shares()
                    .into_iter()
                    .map(|(bits, share)| WidthGroup::sparse(bits, registers(share)))
                    .collect();
                estimate::fractional_bit::variance(similarity, &groups, combination)
            }
            Self::Xor(halvings, source) => {
                let stored = source.registers >> halvings;
                estimate::fractional_bit::xor_variance(similarity, stored, halvings, one)
            }
            Self::ThreeQuarter(form, source) => {
                let (stored, pairs) = match form {
                    ThreeQuarter::Paper => (source.registers * 2 / 3, 1.0 / 2.0),
                    ThreeQuarter::Exact => (source.registers * 3 / 4, 1.0 / 3.0),
                };
                estimate::fractional_bit::three_quarter_variance(similarity, stored, pairs, one)
            }
            Self::Connected(connected, bits, source) => estimate::connected_bit::variance(
                similarity,
                source.registers,
                connected,
                Chance::sparse(bits),
            ),
            Self::Odd(bits, source) => estimate::odd::variance(similarity, source.registers, bits),
        }
    }

    /// Returns the number of hash values that are computed per shingle of a long document.
    #[must_use]
    pub fn hashes_per_shingle(self) -> usize {
        let of = |source: RegisterSource| match source.base {
            Base::MinHash | Base::FamilyMinHash(_) | Base::MinMax => source.registers,
            Base::OnePermutation
            | Base::OnePermutationRotation
            | Base::SuperMinHash
            | Base::FastSimilarity => 1,
        };
        match self {
            Self::RawOnePermutation(_) | Self::BottomK(_) => 1,
            Self::Sectional { registers, .. } | Self::Tolerant { registers, .. } => registers,
            Self::Weighted(method) => method.registers(),
            Self::Registers(source)
            | Self::BBit(_, source)
            | Self::BitHash(source)
            | Self::Fractional(_, _, source)
            | Self::Xor(_, source)
            | Self::ThreeQuarter(_, source)
            | Self::Connected(_, _, source)
            | Self::Odd(_, source)
            | Self::PreTagged { source, .. } => of(source),
        }
    }
}

impl Default for Method {
    fn default() -> Self {
        Self::minhash(128)
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MinHash => "minhash",
            Self::FamilyMinHash(Family::Modular) => "minhash,modular",
            Self::FamilyMinHash(Family::Multiplicative) => "minhash,multiplicative",
            Self::FamilyMinHash(Family::Murmur3) => "minhash,murmur3",
            Self::MinMax => "min-max",
            Self::OnePermutation => "one-permutation",
            Self::OnePermutationRotation => "one-permutation,rotation",
            Self::SuperMinHash => "super-minhash",
            Self::FastSimilarity => "fast-similarity",
        })
    }
}

impl fmt::Display for RegisterSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.base, self.registers)
    }
}

impl fmt::Display for Mixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (bits, share)) in self.shares().into_iter().enumerate() {
            write!(f, "{}{bits}x{share}", if at == 0 { "" } else { "+" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registers(source) => write!(f, "{source}"),
            Self::RawOnePermutation(bins) => write!(f, "one-permutation,raw:{bins}"),
            Self::BottomK(values) => write!(f, "bottom-k:{values}"),
            Self::BBit(bits, source) => write!(f, "b-bit:{bits}/{source}"),
            Self::BitHash(source) => write!(f, "bit-hash/{source}"),
            Self::Fractional(mixture, Combination::InverseVariance, source) => {
                write!(f, "fractional:{mixture}/{source}")
            }
            Self::Fractional(mixture, Combination::Pooled, source) => {
                write!(f, "fractional,pooled:{mixture}/{source}")
            }
            Self::Xor(halvings, source) => write!(f, "xor:{halvings}/{source}"),
            Self::ThreeQuarter(ThreeQuarter::Exact, source) => write!(f, "three-quarter/{source}"),
            Self::ThreeQuarter(ThreeQuarter::Paper, source) => write!(f, "three-quarter,paper/{source}"),
            Self::Connected(connected, bits, source) => write!(f, "connected:{connected}x{bits}/{source}"),
            Self::Odd(bits, source) => write!(f, "odd:{bits}/{source}"),
            Self::Sectional { sections, policy, registers } => {
                let policy = match policy {
                    Policy::First => "",
                    Policy::Last => ",last",
                    Policy::Mask => ",mask",
                };
                write!(f, "sectional:s={sections}{policy}/minhash:{registers}")
            }
            Self::Tolerant { sections, registers } => {
                write!(f, "sectional:s={sections},tolerant/minhash:{registers}")
            }
            Self::PreTagged { sections, source } => write!(f, "sectional:s={sections},pre/{source}"),
            Self::Weighted(method) => write!(f, "{method}"),
        }
    }
}

impl FromStr for RegisterSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::parse("sketch", text, "registers such as `minhash:128` or `super-minhash:128`");
        let (name, registers) = text.split_once(':').ok_or_else(wrong)?;
        let registers = registers.parse().map_err(|_| wrong())?;
        let base = match name {
            "minhash" => Base::MinHash,
            "minhash,modular" => Base::FamilyMinHash(Family::Modular),
            "minhash,multiplicative" => Base::FamilyMinHash(Family::Multiplicative),
            "minhash,murmur3" => Base::FamilyMinHash(Family::Murmur3),
            "min-max" => Base::MinMax,
            "one-permutation" => Base::OnePermutation,
            "one-permutation,rotation" => Base::OnePermutationRotation,
            "super-minhash" => Base::SuperMinHash,
            "fast-similarity" => Base::FastSimilarity,
            _ => return Err(wrong()),
        };
        Ok(Self { base, registers })
    }
}

impl FromStr for Mixture {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::parse("mixture of widths", text, "bits and shares such as `1x0.5+2x0.5`");
        let mut mixture = Self { parts: [(0, 0); 4], len: 0 };
        for part in text.split('+') {
            let (bits, share) = part.split_once('x').ok_or_else(wrong)?;
            let number: f64 = share.parse().map_err(|_| wrong())?;
            let slot = mixture.parts.get_mut(mixture.len).ok_or_else(wrong)?;
            if !(0.0..=1.0).contains(&number) {
                return Err(wrong());
            }
            let thousandths = (number * 1000.0).round();
            // Parsing and dividing give the same number for the same decimal, because both round to the nearest number.
            if thousandths / 1000.0 != number {
                let expected = format!("in whole thousandths, such as {}", thousandths / 1000.0);
                return Err(Error::out_of_range("the share of a width", share, &expected));
            }
            *slot = (bits.parse().map_err(|_| wrong())?, thousandths as u16);
            mixture.len += 1;
        }
        Ok(mixture)
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::parse("sketch", text, "a form such as `minhash:128` or `b-bit:2/minhash:256`");
        let method = match text.split_once('/') {
            None => match text.split_once(':') {
                Some(("one-permutation,raw", bins)) => {
                    Self::RawOnePermutation(bins.parse().map_err(|_| wrong())?)
                }
                Some(("bottom-k", values)) => Self::BottomK(values.parse().map_err(|_| wrong())?),
                Some(("dart" | "icws" | "cws" | "zero-bit", _)) => Self::Weighted(text.parse()?),
                _ => Self::Registers(text.parse().map_err(|_| wrong())?),
            },
            Some((packing, source)) => Self::packed(packing, source.parse()?).ok_or_else(wrong)??,
        };
        // Constructing the sketcher here refuses invalid numbers before a run begins.
        method.build(1)?;
        Ok(method)
    }
}

impl Method {
    /// Parses the part before the `/`, for a sketch of the registers of `source`. Returns `None` if the part has no
    /// known form.
    fn packed(packing: &str, source: RegisterSource) -> Option<Result<Self, Error>> {
        let number = |text: &str| text.parse::<usize>().ok();
        let bits = |text: &str| text.parse::<u32>().ok();
        Some(Ok(match packing.split_once(':') {
            None => match packing {
                "bit-hash" => Self::BitHash(source),
                "three-quarter" => Self::ThreeQuarter(ThreeQuarter::Exact, source),
                "three-quarter,paper" => Self::ThreeQuarter(ThreeQuarter::Paper, source),
                _ => return None,
            },
            Some(("b-bit", width)) => Self::BBit(bits(width)?, source),
            Some(("xor", halvings)) => Self::Xor(bits(halvings)?, source),
            Some(("odd", size)) => Self::Odd(number(size)?, source),
            Some(("connected", form)) => {
                let (connected, width) = form.split_once('x')?;
                Self::Connected(number(connected)?, bits(width)?, source)
            }
            Some((name @ ("fractional" | "fractional,pooled"), mixture)) => {
                let combination =
                    if name == "fractional" { Combination::InverseVariance } else { Combination::Pooled };
                match mixture.parse() {
                    Ok(mixture) => Self::Fractional(mixture, combination, source),
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(("sectional", form)) => {
                let (sections, form) = form.split_once(',').unwrap_or((form, ""));
                let sections = number(sections.strip_prefix("s=")?)?;
                let registers = source.registers;
                let of_minhash = source.base == Base::MinHash;
                match form {
                    "pre" => Self::PreTagged { sections, source },
                    "tolerant" if of_minhash => Self::Tolerant { sections, registers },
                    "" if of_minhash => Self::Sectional { sections, policy: Policy::First, registers },
                    "last" if of_minhash => Self::Sectional { sections, policy: Policy::Last, registers },
                    "mask" if of_minhash => Self::Sectional { sections, policy: Policy::Mask, registers },
                    _ => return None,
                }
            }
            Some(_) => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_text_form_of_its_own_and_can_be_made() {
        let all = Method::all(48);
        let mut forms: Vec<String> = all.iter().map(Method::to_string).collect();
        for (method, form) in all.iter().zip(&forms) {
            assert_eq!(form.parse::<Method>().unwrap(), *method, "{form}");
            assert!(method.build(1).unwrap().words() > 0, "{form}");
        }
        forms.sort();
        forms.dedup();
        assert_eq!(forms.len(), all.len());
    }

    #[test]
    fn the_forms_of_the_issue() {
        for form in [
            "b-bit:2/minhash:256",
            "fractional:1x0.5+2x0.5/minhash:256",
            "sectional:s=2,tolerant/minhash:128",
            "one-permutation,rotation:128",
            "connected:4x1/super-minhash:128",
            "dart:128",
            "icws:128",
            "cws:64",
            "zero-bit:128",
        ] {
            assert_eq!(form.parse::<Method>().unwrap().to_string(), form);
        }
    }

    #[test]
    fn wrong_forms_are_refused() {
        for form in [
            "",
            "minhash",
            "minhash:0",
            "minhash:-1",
            "minhash:99999999",
            "simhash:64",
            "min-max:7",
            "b-bit:17/minhash:8",
            "b-bit:0/minhash:8",
            "b-bit/minhash:8",
            "b-bit:1/bottom-k:8",
            "fractional:1x0.5/minhash:8",
            "fractional:1x2/minhash:8",
            "fractional:a/minhash:8",
            "xor:3/minhash:12",
            "connected:3x1/minhash:8",
            "sectional:2/minhash:8",
            "sectional:s=0/minhash:8",
            "sectional:s=2,mask/super-minhash:8",
            "odd:1/minhash:8",
            "icws:0",
            "icws",
            "b-bit:1/icws:8",
        ] {
            assert!(form.parse::<Method>().is_err(), "{form}");
        }
    }

    #[test]
    fn shares_are_thousandths_and_never_rounded() {
        for thousandths in 0..=1000 {
            let share = f64::from(thousandths) / 1000.0;
            let form = format!("1x{share}+2x{:.3}", 1.0 - share);
            let parsed: Mixture = form.parse().unwrap();
            assert_eq!(parsed.shares()[0], (1, share), "{form}");
        }
        assert_eq!("1x0.3330+2x667e-3".parse::<Mixture>().unwrap().to_string(), "1x0.333+2x0.667");
        for (form, message) in [
            (
                "fractional:1x0.3333+2x0.6667/minhash:8",
                "the share of a width cannot be 0.3333: it must be in whole thousandths, such as 0.333",
            ),
            (
                "fractional,pooled:1x0.5+2x0.49999/minhash:8",
                "the share of a width cannot be 0.49999: it must be in whole thousandths, such as 0.5",
            ),
        ] {
            assert_eq!(form.parse::<Method>().unwrap_err().to_string(), message);
        }
    }

    /// Compares variance times stored bits with docs/sources/bits.md#variance-times-stored-bits, at equal storage.
    #[test]
    fn documented_storage_table() {
        #[rustfmt::skip]
        let table = [
            (0.5, [8.00, 2.016, 1.133, 0.833, 0.750, 0.938, 3.98]),
            (0.7, [6.72, 1.689, 0.920, 0.620, 0.510, 0.388, 0.501]),
            (0.8, [5.12, 1.286, 0.693, 0.453, 0.360, 0.231, 0.198]),
            (0.9, [2.880, 0.723, 0.387, 0.247, 0.190, 0.106, 0.0670]),
            (0.95, [1.520, 0.382, 0.203, 0.128, 0.0975, 0.0514, 0.0286]),
        ];
        let forms = [
            "minhash:1024",
            "b-bit:8/minhash:1024",
            "b-bit:4/minhash:1024",
            "b-bit:2/minhash:1024",
            "b-bit:1/minhash:1024",
            "xor:1/minhash:1024",
            "xor:2/minhash:1024",
        ];
        for (similarity, row) in table {
            for (form, expected) in forms.into_iter().zip(row) {
                let method: Method = form.parse().unwrap();
                let found = method.variance(similarity) * method.size_bytes() as f64 * 8.0;
                assert!(
                    (found / expected - 1.0).abs() < 6e-3,
                    "{form} at {similarity}: {found}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn only_registers_can_be_banded() {
        assert_eq!("super-minhash:64".parse::<Method>().unwrap().bandable(), Some(64));
        assert_eq!("b-bit:1/minhash:64".parse::<Method>().unwrap().bandable(), None);
    }
}
