//! The list of the sketches of weighted sets.
//!
//! | text form | sketch |
//! |---|---|
//! | `dart:128` | least darts, drawn once for all registers; the default |
//! | `icws:128` | samples with their steps; several times slower |
//! | `cws:128` | samples with their points, as first published; hundreds of times slower |
//! | `zero-bit:128` | samples without their steps; biased, for long documents only |

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::cws::Cws;
use super::dart::Dart;
use super::icws::Icws;
use super::zero_bit::ZeroBit;
use super::{Sketcher, Statistic};
use crate::error::Error;
use crate::estimate::{self, Estimate};
use crate::weight::{Weigher, Weighting};

pub use super::weighted_sketcher::WeightedSketcher;

/// A sketcher of weighted sets as a sketcher of shingles: the weight of a shingle is the number of its occurrences.
#[derive(Debug)]
pub(super) struct CountedShingles {
    sketcher: Arc<dyn WeightedSketcher>,
    weigher: Weigher,
}

impl CountedShingles {
    pub(super) fn new(method: WeightedMethod, seed: u64) -> Result<Self, Error> {
        Ok(Self { sketcher: method.build(seed)?, weigher: Weigher::new(Weighting::Count)? })
    }
}

impl super::sealed::Sealed for CountedShingles {}

impl Sketcher for CountedShingles {
    fn words(&self) -> usize {
        self.sketcher.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        self.sketcher.sketch_into(&self.weigher.weigh(shingles), out);
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualWords
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        self.sketcher.estimate(a, b)
    }

    fn exact(&self, a: &[u64], b: &[u64]) -> f64 {
        self.sketcher.exact(&self.weigher.weigh(a), &self.weigher.weigh(b))
    }
}

/// A kind of sketch of weighted sets, with its number of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
#[cfg_attr(feature = "exhaustive", expect(clippy::exhaustive_enums, reason = "tests list all of them"))]
pub enum WeightedMethod {
    /// Dart sketches.
    Dart(usize),
    /// Improved consistent weighted sampling.
    Icws(usize),
    /// Consistent weighted sampling.
    Cws(usize),
    /// The shingles that `Icws` samples, without their steps.
    ZeroBit(usize),
}

impl WeightedMethod {
    /// Returns one method per kind, each with this many registers.
    #[must_use]
    pub fn all(registers: usize) -> [Self; 4] {
        [Self::Dart(registers), Self::Icws(registers), Self::Cws(registers), Self::ZeroBit(registers)]
    }

    /// Makes the sketcher.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless the number of registers is from 1 to
    /// 65,536.
    pub fn build(self, seed: u64) -> Result<Arc<dyn WeightedSketcher>, Error> {
        Ok(match self {
            Self::Dart(registers) => Arc::new(Dart::new(registers, seed)?),
            Self::Icws(registers) => Arc::new(Icws::new(registers, seed)?),
            Self::Cws(registers) => Arc::new(Cws::new(registers, seed)?),
            Self::ZeroBit(registers) => Arc::new(ZeroBit::new(registers, seed)?),
        })
    }

    /// Returns k, the number of registers.
    #[must_use]
    pub fn registers(self) -> usize {
        match self {
            Self::Dart(registers)
            | Self::Icws(registers)
            | Self::Cws(registers)
            | Self::ZeroBit(registers) => registers,
        }
    }

    /// Returns the number of registers by which documents can be banded; `None` if the sketch cannot be banded.
    ///
    /// A band of r such registers agrees with probability Jwʳ. Registers of `zero-bit` agree more often, by an amount
    /// that depends on the documents.
    #[must_use]
    pub fn bandable(self) -> Option<usize> {
        match self {
            Self::Dart(registers) | Self::Icws(registers) | Self::Cws(registers) => Some(registers),
            Self::ZeroBit(_) => None,
        }
    }

    /// Returns the variance of the estimate at this weighted Jaccard similarity. For `zero-bit` it is the variance for
    /// long documents.
    #[must_use]
    pub fn variance(self, similarity: f64) -> f64 {
        estimate::minhash::variance(similarity, self.registers())
    }
}

impl Default for WeightedMethod {
    fn default() -> Self {
        Self::Dart(128)
    }
}

impl fmt::Display for WeightedMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Dart(_) => "dart",
            Self::Icws(_) => "icws",
            Self::Cws(_) => "cws",
            Self::ZeroBit(_) => "zero-bit",
        };
        write!(f, "{name}:{}", self.registers())
    }
}

impl FromStr for WeightedMethod {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::parse(
                "sketch of weights",
                text,
                "a form such as `dart:128`, `icws:128`, `cws:128` or `zero-bit:128`",
            )
        };
        let (name, registers) = text.split_once(':').ok_or_else(wrong)?;
        let registers = registers.parse().map_err(|_| wrong())?;
        let method = match name {
            "dart" => Self::Dart(registers),
            "icws" => Self::Icws(registers),
            "cws" => Self::Cws(registers),
            "zero-bit" => Self::ZeroBit(registers),
            _ => return Err(wrong()),
        };
        // Constructing the sketcher here refuses invalid numbers before a run begins.
        method.build(1)?;
        Ok(method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        for method in WeightedMethod::all(48) {
            assert_eq!(method.to_string().parse::<WeightedMethod>().unwrap(), method);
            assert_eq!(method.build(1).unwrap().words(), 48);
        }
        assert_eq!(WeightedMethod::default().to_string(), "dart:128");
        for wrong in ["", "icws", "icws:0", "icws:-1", "icws:99999999", "minhash:128", "zero_bit:8"] {
            assert!(wrong.parse::<WeightedMethod>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_agrees_with_probability_j_can_be_banded() {
        assert_eq!(
            WeightedMethod::all(48).map(WeightedMethod::bandable),
            [Some(48), Some(48), Some(48), None]
        );
    }
}
