//! `MinHash` by the hash families of the [sources](crate#sources).
//!
//! - **Paper.** [Bergillos 2018](crate#sources), §6, compares three families; Hassanian-esfahani 2018, §2,
//!   and Anonymous use modular hashing.
//! - **Idea.** The registers are those of [`MinHash`](super::MinHash), except that the functions come from another
//!   family. Each register is the least value of one function.
//! - **Symbols.** k → registers; the functions are those of [`Modular`], [`Multiplicative`] and [`Murmur3`].
//! - **Formula.** The files of the families have the formulas. `Murmur3` begins with the upper half of `SplitMix64`'s
//!   first number.
//! - **Cost.** k functions per shingle are computed one after the other. This takes some 100 times as long as the
//!   default family, which is vectorised.
//! - **Error.** As for `MinHash`, the estimate is unbiased with variance J(1−J)/k, because keys are mixed first.
//!   Registers keep 32 bits.
//! - **Differs.** The sources hash row numbers unmixed, with the biases of E-33 to E-36; here keys are mixed first.
//! - **Vectors.** The families have vectors of their own. The golden values of sketches come from this crate itself.
//!
//! - **Use when** results of a source are to be repeated, or other programs use one of these families.
//! - **Do not** use them for speed.

use super::minhash::check_registers;
use super::{Registers, Sketcher, Statistic, merge_minima};
use crate::error::Error;
use crate::estimate::{self, Estimate};
use crate::hash::SplitMix64;
use crate::hash::modular::Modular;
use crate::hash::multiplicative::Multiplicative;
use crate::hash::murmur3::Murmur3;

/// A family of hash functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Functions (a·x + b) modulo a prime.
    Modular,
    /// Functions that take the upper bits of products.
    Multiplicative,
    /// `MurmurHash3` with consecutive seeds.
    Murmur3,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 3] = [Self::Modular, Self::Multiplicative, Self::Murmur3];
}

/// Makes sketches of k minima by the functions of one family.
#[derive(Debug, Clone)]
pub struct FamilyMinHash {
    functions: Functions,
}

#[derive(Debug, Clone)]
enum Functions {
    Modular(Modular),
    Multiplicative(Multiplicative),
    Murmur3(Murmur3),
}

impl FamilyMinHash {
    /// Makes a sketcher with `registers` functions of `family`, which `seed` chooses.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(family: Family, registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        let functions = match family {
            Family::Modular => Functions::Modular(Modular::new(registers, seed)?),
            Family::Multiplicative => Functions::Multiplicative(Multiplicative::new(registers, seed)?),
            Family::Murmur3 => Functions::Murmur3(Murmur3::new(registers, SplitMix64::new(seed).next_u32())?),
        };
        Ok(Self { functions })
    }
}

impl super::sealed::Sealed for FamilyMinHash {}

impl Sketcher for FamilyMinHash {
    fn words(&self) -> usize {
        match &self.functions {
            Functions::Modular(functions) => functions.functions(),
            Functions::Multiplicative(functions) => functions.functions(),
            Functions::Murmur3(functions) => functions.functions(),
        }
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        match &self.functions {
            Functions::Modular(functions) => functions.minima_into(shingles, out),
            Functions::Multiplicative(functions) => functions.minima_into(shingles, out),
            Functions::Murmur3(functions) => functions.minima_into(shingles, out),
        }
    }

    fn merge_into(&self, a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
        merge_minima(a, b, out)
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualWords
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        estimate::minhash::estimate(a, b)
    }
}

impl Registers for FamilyMinHash {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;

    #[test]
    fn registers_are_minima_of_the_family() {
        let shingles: Vec<u64> = (0..50).map(fmix64).collect();
        let modular = Modular::new(8, 3).unwrap();
        let mut out = [0; 8];
        FamilyMinHash::new(Family::Modular, 8, 3).unwrap().sketch_into(&shingles, &mut out);
        let least = |i| shingles.iter().map(|&shingle| modular.hash(i, shingle)).min().unwrap();
        assert!((0..8).all(|i| out[i] == (least(i) >> 29) as u32));
    }

    #[test]
    fn the_number_of_registers_is_checked() {
        for family in Family::ALL {
            assert!(FamilyMinHash::new(family, 0, 1).is_err());
            assert!(FamilyMinHash::new(family, 1 << 17, 1).is_err());
        }
    }
}
