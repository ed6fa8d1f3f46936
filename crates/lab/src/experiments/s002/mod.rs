//! Experiments of Yuan 2012 with f-fractional bits: figures 1 to 5, and the formulas as printed.

pub(crate) mod figure_1;
pub(crate) mod figure_2;
pub(crate) mod figure_3;
pub(crate) mod figure_4;
pub(crate) mod figure_5;
pub(crate) mod formulas_29_32;
mod printed;

use anyhow::Result;
use minwise::estimate::fractional_bit::{Combination, WidthGroup, similarity};
use minwise::sketch::Method;

use crate::measure::{ShinglePair, TrialStatistics, spread};
use crate::simulate::{Random, Universe};

/// Width of registers between one bit and two bits.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Fraction(f64);

impl Fraction {
    /// Returns the number of registers with one bit, and the number with two bits.
    fn split(self, registers: usize) -> [usize; 2] {
        let two = ((self.0 - 1.0) * registers as f64).round() as usize;
        [registers - two, two]
    }

    /// Returns the groups of registers of sets that fill the share `r` of the range. A share of 0 stands for "hardly
    /// any".
    fn groups(self, registers: usize, r: f64) -> Vec<WidthGroup> {
        let [one, two] = self.split(registers);
        [(1, one), (2, two)]
            .into_iter()
            .filter(|&(_, registers)| registers > 0)
            .map(|(bits, registers)| WidthGroup::known(bits, registers, r, r))
            .collect()
    }

    /// Returns the sketch of the library with this width.
    fn method(self, registers: usize) -> Result<Method> {
        let two = self.0 - 1.0;
        Ok(match two {
            0.0 => format!("b-bit:1/minhash:{registers}"),
            1.0 => format!("b-bit:2/minhash:{registers}"),
            two => format!("fractional,pooled:1x{}+2x{two}/minhash:{registers}", 1.0 - two),
        }
        .parse()?)
    }
}

/// Trials of pooled sketches of one size.
struct Trials {
    registers: usize,
    count: u64,
    seed: u64,
}

impl Trials {
    /// Returns the similarity of two sets, and its estimates by sketches of the library. The sets are much smaller than
    /// the range of their hash values.
    fn sparse(&self, fraction: Fraction, similarity: f64) -> Result<(f64, TrialStatistics)> {
        let pair = ShinglePair::of(UNION, (similarity * UNION as f64).round() as usize);
        Ok((similarity, spread(fraction.method(self.registers)?, &pair, self.count)?))
    }

    /// Returns, for each fraction, the similarity of two sets, and its estimates by ranks of permutations. Each set
    /// fills a share of the range.
    fn dense(&self, fractions: &[Fraction], universe: Universe, point: u64) -> Vec<(f64, TrialStatistics)> {
        let (r, _) = universe.shares();
        let mut estimates = vec![vec![]; fractions.len()];
        for trial in 0..self.count {
            let mut random = Random::new(self.seed, &[point, trial]);
            let pairs: Vec<u64> =
                (0..self.registers).map(|_| universe.minima(&mut random)).map(|(a, b)| a ^ b).collect();
            for (&fraction, estimates) in fractions.iter().zip(&mut estimates) {
                let [one, _] = fraction.split(self.registers);
                let agree = |part: &[u64], mask: u64| part.iter().filter(|&&bits| bits & mask == 0).count();
                let counts = [agree(&pairs[..one], 1), agree(&pairs[one..], 3)];
                let groups = fraction.groups(self.registers, r);
                let matches: Vec<usize> =
                    groups.iter().map(|group| counts[group.bits as usize - 1]).collect();
                estimates.push(similarity(&matches, &groups, Combination::Pooled));
            }
        }
        estimates.iter().map(|estimates| (universe.similarity(), TrialStatistics::of(estimates))).collect()
    }
}

/// Number of distinct shingles of the two documents of a trial together.
const UNION: usize = 1000;
