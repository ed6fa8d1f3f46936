//! Fractional bits.
//!
//! - **Paper.** Yuan, Long, Zhang, Luo, Zhang and Gui, *f-Fractional bit minwise hashing*, 2012
//!   ([Yuan 2012](crate#sources)).
//! - **Idea.** A storage budget need not be a whole number of bits per register. Above one bit, some registers keep
//!   more bits than others ([`FractionalBit`]). Below one bit, registers share stored bits. [`XorBit`] stores the
//!   exclusive or of the bits of several registers. [`ThreeQuarterBit`] stores one bit for some pairs of registers, and
//!   one bit for each other register.
//! - **Symbols.** f → the mean number of bits per register; k → registers of the source for f ≥ 1, stored bits for f <
//!   1 (E-23); wᵢ, bᵢ → shares and widths; n → `halvings`; C₁, C₂ → [`Chance`].
//! - **Formula.** The bits of a register are those of [`BBit`](super::b_bit::BBit). A mixture gives registers to its
//!   groups in the order in which they are named, up to round(k·Σw). The words of the groups lie one after the other.
//!   Stored bit j of `XorBit` is the exclusive or of the lowest bits of registers j·2ⁿ to j·2ⁿ + 2ⁿ − 1.
//!   `ThreeQuarterBit` stores the pairs first, then the remaining registers one by one, in one plane. Of P registers,
//!   it makes ⌊P/3⌋ pairs in the printed form and ⌊P/4⌋ in the exact one.
//! - **Cost.** The cost of the source. Each group of a mixture takes as many words as in `BBit`. If f < 1, a sketch
//!   takes ⌈k/32⌉ words. Comparisons cost the same as in `BBit`.
//! - **Error.** A mixture is unbiased if its groups are pooled. Its variance contains the weights w (E-16), and is
//!   never below that of the better width at equal storage (E-17). For f < 1 the estimate is consistent, and clamped at
//!   low similarities (E-22). Tests below check the distributions of the counts over 2000 families of hash functions.
//! - **Differs.** Three errors are corrected: the variance, the numerator of R̂ for 1/2ⁿ (E-21), and ¾ bit, which is ⅔
//!   as printed (E-24). The ¾ bit as printed is available as `three-quarter,paper`. Groups can also be weighted by
//!   inverse variance. The layout is that of `b_bit`.
//! - **Vectors.** Another program computed the vectors in `estimate/fractional_bit.rs` from the definition. A second
//!   implementation of the formula computed the words in the tests below.
//!
//! - **Use when** storage is fixed and hashing is cheap: 1/2ⁿ bit beats one bit at equal storage above R = 0.58, 0.70
//!   and 0.80 for n = 1, 2 and 3.
//! - **Do not** use f < 1 to save hashing, because at equal registers one bit is always better (E-23).

use std::sync::Arc;

use super::b_bit::{MOST_BITS, check_bits, registers_of};
use super::packing::{DifferenceBound, Packing, ValueLayout};
use super::{Registers, Sketcher, Statistic, register_bits};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::estimate::b_bit::Chance;
use crate::estimate::fractional_bit::{self, Combination, WidthGroup};

/// Keeps more bits of some registers of another sketch than of others.
#[derive(Debug, Clone)]
pub struct FractionalBit {
    source: Arc<dyn Registers>,
    groups: Vec<WidthGroup>,
    packings: Vec<Packing>,
    combination: Combination,
}

impl FractionalBit {
    /// Makes a sketcher that keeps bᵢ bits of a share wᵢ of the registers of `source`, for each (bᵢ, wᵢ) of `mixture`.
    ///
    /// The widths must differ, and the shares must add up to 1. Shares are rounded to whole registers;
    /// [`groups`](Self::groups) returns the result.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a number of bits is not from 1 to 16 or is
    /// repeated, if a share is not from 0 to 1, or if the shares do not add up to 1.
    pub fn new(
        source: Arc<dyn Registers>,
        mixture: &[(u32, f64)],
        combination: Combination,
    ) -> Result<Self, Error> {
        let registers = source.words();
        let mut groups: Vec<WidthGroup> = vec![];
        let (mut sum, mut given) = (0.0, 0);
        for (i, &(bits, share)) in mixture.iter().enumerate() {
            check_bits(bits)?;
            if mixture[..i].iter().any(|&(other, _)| other == bits) {
                let expected = "named once in a mixture";
                return Err(Error::out_of_range("the number of bits of a register", bits, expected));
            }
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::out_of_range("the share of a width", share, "from 0 to 1"));
            }
            sum += share;
            let end = ((sum * registers as f64).round() as usize).min(registers);
            if end > given {
                groups.push(WidthGroup::sparse(bits, end - given));
                given = end;
            }
        }
        if (sum - 1.0).abs() > 1e-6 || given != registers {
            return Err(Error::out_of_range("the sum of the shares", sum, "1"));
        }
        let packings = groups.iter().map(|group| Packing::new(group.registers, group.bits)).collect();
        Ok(Self { source, groups, packings, combination })
    }

    /// Returns the widths with the number of registers of each.
    #[must_use]
    pub fn groups(&self) -> &[WidthGroup] {
        &self.groups
    }

    /// Returns f, the mean number of bits per register after rounding.
    #[must_use]
    pub fn bits_per_register(&self) -> f64 {
        fractional_bit::bits_per_register(&self.groups)
    }

    /// Returns the number of registers per group in which two sketches agree. Elements after the last group are 0.
    ///
    /// # Panics
    /// Panics if a sketch has another length than this sketcher's.
    #[must_use]
    pub fn matches(&self, a: &[u32], b: &[u32]) -> [usize; MOST_BITS as usize] {
        assert!(
            a.len() == self.words() && b.len() == self.words(),
            "sketches of one spec have equally many words"
        );
        let mut counts = [0; MOST_BITS as usize];
        let mut begin = 0;
        for (count, packing) in counts.iter_mut().zip(&self.packings) {
            let end = begin + packing.words();
            *count = packing.matches(&a[begin..end], &b[begin..end]);
            begin = end;
        }
        counts
    }
}

impl super::sealed::Sealed for FractionalBit {}

impl Sketcher for FractionalBit {
    fn words(&self) -> usize {
        self.packings.iter().map(|packing| packing.words()).sum()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        let Some(values) = registers_of(&*self.source, self.words(), shingles, out) else { return };
        let (mut first, mut rest) = (0, out);
        for packing in &self.packings {
            let (row, behind) = rest.split_at_mut(packing.words());
            packing.pack(|i| register_bits(first + i, values[first + i]), row);
            first += packing.values();
            rest = behind;
        }
    }

    fn bounds(&self, threshold: f64) -> Vec<DifferenceBound> {
        let mut begin = 0;
        let of_group = |(group, packing): (usize, &Packing)| {
            let values = ValueLayout::new(begin, *packing);
            begin += packing.words();
            let least = fractional_bit::least_matches(group, &self.groups, self.combination, threshold);
            DifferenceBound { values, most: least.map(|least| packing.values() - least) }
        };
        self.packings.iter().enumerate().map(of_group).collect()
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        fractional_bit::estimate(&self.matches(a, b)[..self.groups.len()], &self.groups, self.combination)
    }
}

/// Stores one bit per 2ⁿ registers of another sketch, so that f = 1/2ⁿ.
#[derive(Debug, Clone)]
pub struct XorBit {
    source: Arc<dyn Registers>,
    halvings: u32,
    packing: Packing,
}

impl XorBit {
    /// Makes a sketcher that stores the exclusive or of the lowest bits of 2ⁿ registers of `source`, where n =
    /// `halvings` is from 0 to 8. The number of registers must be a multiple of 2ⁿ.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `halvings` is more than 8, or if the
    /// number of registers of `source` is not a multiple of 2ⁿ.
    pub fn new(source: Arc<dyn Registers>, halvings: u32) -> Result<Self, Error> {
        if halvings > 8 {
            return Err(Error::out_of_range("the number of halvings", halvings, "from 0 to 8"));
        }
        let registers = source.words();
        if !registers.is_multiple_of(1 << halvings) {
            let expected = "a multiple of those that share a stored bit";
            return Err(Error::out_of_range("the number of registers", registers, expected));
        }
        let packing = Packing::new(registers >> halvings, 1);
        Ok(Self { source, halvings, packing })
    }

    /// Returns n: each stored bit belongs to 2ⁿ registers.
    #[must_use]
    pub fn halvings(&self) -> u32 {
        self.halvings
    }

    /// Returns k, the number of stored bits.
    #[must_use]
    pub fn stored_bits(&self) -> usize {
        self.packing.values()
    }

    /// Returns the number of stored bits in which two sketches agree.
    ///
    /// # Panics
    /// Panics if a sketch has another length than this sketcher's.
    #[must_use]
    pub fn matches(&self, a: &[u32], b: &[u32]) -> usize {
        self.packing.matches(a, b)
    }
}

/// Returns the exclusive or of the bits of some registers. Only its lowest bit is meaningful.
fn exclusive_or(values: &[u32], begin: usize, count: usize) -> u32 {
    (begin..begin + count).fold(0, |seen, i| seen ^ register_bits(i, values[i]))
}

impl super::sealed::Sealed for XorBit {}

impl Sketcher for XorBit {
    fn words(&self) -> usize {
        self.packing.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        if let Some(values) = registers_of(&*self.source, self.words(), shingles, out) {
            let together = 1 << self.halvings;
            self.packing.pack(|i| exclusive_or(&values, i * together, together), out);
        }
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualBits
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        let matches = self.matches(a, b);
        fractional_bit::xor_estimate(matches, self.stored_bits(), self.halvings, Chance::sparse(1))
    }
}

/// Share of the registers that ¾ bit pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
#[cfg_attr(feature = "exhaustive", expect(clippy::exhaustive_enums, reason = "tests list all of them"))]
pub enum ThreeQuarter {
    /// Half of the stored bits are pairs, as in [Yuan 2012](crate#sources), (36). The result is ⅔ bit per register.
    Paper,
    /// A third of the stored bits are pairs. The result is ¾ bit per register.
    Exact,
}

/// Stores one bit per pair for some registers of another sketch, and one bit for each other register.
#[derive(Debug, Clone)]
pub struct ThreeQuarterBit {
    source: Arc<dyn Registers>,
    pairs: usize,
    packing: Packing,
}

impl ThreeQuarterBit {
    /// Makes a sketcher that pairs two thirds (`Paper`) or half (`Exact`) of the registers of `source`, which must have
    /// 4 or more. If the number does not divide evenly, the remaining registers are not paired, and the estimator uses
    /// the actual shares.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `source` has fewer than 4 registers.
    pub fn new(source: Arc<dyn Registers>, form: ThreeQuarter) -> Result<Self, Error> {
        let registers = source.words();
        if registers < 4 {
            return Err(Error::out_of_range("the number of registers", registers, "at least 4"));
        }
        let pairs = match form {
            ThreeQuarter::Paper => registers / 3,
            ThreeQuarter::Exact => registers / 4,
        };
        Ok(Self { source, pairs, packing: Packing::new(registers - pairs, 1) })
    }

    /// Returns k, the number of stored bits.
    #[must_use]
    pub fn stored_bits(&self) -> usize {
        self.packing.values()
    }

    /// Returns w, the share of the stored bits that are exclusive ors of two registers.
    #[must_use]
    pub fn paired_share(&self) -> f64 {
        self.pairs as f64 / self.stored_bits() as f64
    }

    /// Returns the number of stored bits in which two sketches agree.
    ///
    /// # Panics
    /// Panics if a sketch has another length than this sketcher's.
    #[must_use]
    pub fn matches(&self, a: &[u32], b: &[u32]) -> usize {
        self.packing.matches(a, b)
    }
}

impl super::sealed::Sealed for ThreeQuarterBit {}

impl Sketcher for ThreeQuarterBit {
    fn words(&self) -> usize {
        self.packing.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        let Some(values) = registers_of(&*self.source, self.words(), shingles, out) else { return };
        let pairs = self.pairs;
        let stored = |i: usize| {
            if i < pairs { exclusive_or(&values, 2 * i, 2) } else { exclusive_or(&values, pairs + i, 1) }
        };
        self.packing.pack(stored, out);
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualBits
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        let (matches, w) = (self.matches(a, b), self.paired_share());
        fractional_bit::three_quarter_estimate(matches, self.stored_bits(), w, Chance::sparse(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::b_bit::BBit;
    use super::super::b_bit::testing::{binomial, conforms, follows, sets, sketch, source};
    use super::*;

    const COMBINATIONS: [Combination; 2] = [Combination::Pooled, Combination::InverseVariance];

    #[test]
    fn all_conform() {
        for combination in COMBINATIONS {
            for mixture in [&[(1, 0.5), (2, 0.5)][..], &[(1, 0.2), (2, 0.3), (3, 0.5)], &[(8, 0.1), (1, 0.9)]]
            {
                conforms(&FractionalBit::new(source(200, 1), mixture, combination).unwrap());
            }
        }
        for halvings in 0..=3 {
            conforms(&XorBit::new(source(1024, 1), halvings).unwrap());
        }
        for form in [ThreeQuarter::Paper, ThreeQuarter::Exact] {
            conforms(&ThreeQuarterBit::new(source(200, 1), form).unwrap());
        }
    }

    #[test]
    fn shares_become_whole_registers() {
        let groups = |registers, mixture: &[(u32, f64)]| {
            let made = FractionalBit::new(source(registers, 1), mixture, Combination::Pooled).unwrap();
            let words = |group: &WidthGroup| group.bits as usize * group.registers.div_ceil(32);
            assert_eq!(made.words(), made.groups().iter().map(words).sum::<usize>());
            made.groups().iter().map(|group| (group.bits, group.registers)).collect::<Vec<_>>()
        };
        assert_eq!(groups(101, &[(1, 0.25), (2, 0.75)]), [(1, 25), (2, 76)]);
        assert_eq!(groups(10, &[(1, 0.2), (2, 0.3), (3, 0.5)]), [(1, 2), (2, 3), (3, 5)]);
        // A share that rounds to no register makes no group.
        assert_eq!(groups(10, &[(1, 0.01), (2, 0.99)]), [(2, 10)]);
        assert_eq!(groups(10, &[(1, 1.0), (2, 0.0)]), [(1, 10)]);
        let third = 1.0 / 3.0;
        assert_eq!(groups(100, &[(1, third), (2, third), (3, third)]), [(1, 33), (2, 34), (3, 33)]);
    }

    #[test]
    fn one_width_or_no_halving_is_b_bit() {
        let (a, b) = sets(90, 60);
        let plain = BBit::new(source(100, 1), 1).unwrap();
        let (row_a, row_b) = (sketch(&plain, &a), sketch(&plain, &b));
        let mixed = FractionalBit::new(source(100, 1), &[(1, 1.0), (2, 0.0)], Combination::Pooled).unwrap();
        let xor = XorBit::new(source(100, 1), 0).unwrap();
        for other in [&mixed as &dyn Sketcher, &xor] {
            assert_eq!(sketch(other, &a), row_a);
            assert_eq!(other.estimate(&row_a, &row_b), plain.estimate(&row_a, &row_b));
        }
    }

    #[test]
    fn the_weights_of_three_quarters() {
        let made = ThreeQuarterBit::new(source(300, 1), ThreeQuarter::Paper).unwrap();
        assert_eq!((made.stored_bits(), made.paired_share()), (200, fractional_bit::THREE_QUARTER_PAPER));
        let made = ThreeQuarterBit::new(source(400, 1), ThreeQuarter::Exact).unwrap();
        assert_eq!((made.stored_bits(), made.paired_share()), (300, fractional_bit::THREE_QUARTER_EXACT));
    }

    /// The pooled estimator is linear in this count. The test therefore shows that its variance contains w, not w²
    /// (E-16).
    #[test]
    fn the_matches_of_mixtures_follow_their_law() {
        for (mixture, shared) in [
            (&[(1, 0.5), (2, 0.5)][..], 60),
            (&[(1, 0.75), (2, 0.25)], 96),
            (&[(1, 0.2), (2, 0.3), (3, 0.5)], 60),
        ] {
            follows(
                200,
                (120, shared),
                |source| FractionalBit::new(source, mixture, Combination::Pooled).unwrap(),
                |sketcher, a, b| sketcher.matches(a, b).iter().sum(),
                |j| {
                    let made = FractionalBit::new(source(200, 0), mixture, Combination::Pooled).unwrap();
                    let chance = fractional_bit::pooled_chance(made.groups());
                    let variance = fractional_bit::variance(j, made.groups(), Combination::Pooled);
                    (200.0 * chance.match_probability(j), variance * (200.0 * (1.0 - chance.c2)).powi(2))
                },
            );
        }
    }

    #[test]
    fn the_inverse_variance_estimate_has_its_variance() {
        let mixture = [(1, 0.5), (8, 0.5)];
        let (a, b) = sets(120, 72);
        let (runs, mut sum, mut squares) = (2000, 0.0, 0.0);
        let mut expected = 0.0;
        for seed in 0..runs {
            let made = FractionalBit::new(source(400, seed), &mixture, Combination::InverseVariance).unwrap();
            let found = made.estimate(&sketch(&made, &a), &sketch(&made, &b)).value;
            sum += found;
            squares += found * found;
            expected = fractional_bit::variance(0.6, made.groups(), Combination::InverseVariance);
        }
        let n = runs as f64;
        let mean = sum / n;
        let variance = (squares - n * mean * mean) / (n - 1.0);
        assert!((mean - 0.6).abs() < 4.0 * (expected / n).sqrt(), "{mean}");
        assert!((variance / expected - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{variance}, not {expected}");
    }

    #[test]
    fn the_matches_below_one_bit_are_binomial() {
        let chance = Chance::sparse(1);
        for (halvings, shared) in [(1, 60), (1, 108), (2, 96), (3, 108)] {
            follows(
                512,
                (120, shared),
                |source| XorBit::new(source, halvings).unwrap(),
                XorBit::matches,
                |j| binomial(512 >> halvings, fractional_bit::xor_match_probability(j, halvings, chance)),
            );
        }
        for form in [ThreeQuarter::Paper, ThreeQuarter::Exact] {
            follows(
                240,
                (120, 96),
                |source| ThreeQuarterBit::new(source, form).unwrap(),
                ThreeQuarterBit::matches,
                |j| {
                    let made = ThreeQuarterBit::new(source(240, 0), form).unwrap();
                    let pairs = binomial(made.pairs, fractional_bit::xor_match_probability(j, 1, chance));
                    let plain = binomial(240 - 2 * made.pairs, chance.match_probability(j));
                    (pairs.0 + plain.0, pairs.1 + plain.1)
                },
            );
        }
    }

    #[test]
    fn settings_are_checked() {
        for wrong in [
            &[][..],
            &[(1, 0.5)],
            &[(0, 1.0)],
            &[(17, 1.0)],
            &[(1, 0.5), (1, 0.5)],
            &[(1, 1.5), (2, -0.5)],
            &[(1, f64::NAN), (2, 0.5)],
            &[(1, 0.6), (2, 0.6)],
        ] {
            assert!(FractionalBit::new(source(8, 1), wrong, Combination::Pooled).is_err(), "{wrong:?}");
        }
        assert!(XorBit::new(source(512, 1), 9).is_err());
        assert!(XorBit::new(source(10, 1), 2).is_err());
        assert!(ThreeQuarterBit::new(source(3, 1), ThreeQuarter::Paper).is_err());
    }

    #[test]
    fn the_words_are_frozen() {
        let words = |sketcher: &dyn Sketcher| sketch(sketcher, &[1, 2, 3]);
        assert_eq!(words(&XorBit::new(source(96, 1), 1).unwrap()), [0x2242_5bd6, 0x0000_d55c]);
        let three_quarter = |form| words(&ThreeQuarterBit::new(source(96, 1), form).unwrap());
        assert_eq!(three_quarter(ThreeQuarter::Paper), [0x2242_5bd6, 0x611e_2d93]);
        assert_eq!(three_quarter(ThreeQuarter::Exact), [0xfb42_5bd6, 0x1e2d_9307, 0x0000_0061]);
        let mixture = FractionalBit::new(source(96, 1), &[(1, 0.5), (3, 0.5)], Combination::Pooled).unwrap();
        let one = [0x2d8a_a12b, 0x0000_e3c8];
        let three = [0x2d93_07fb, 0x0000_611e, 0x7fcb_d2a0, 0x0000_3619, 0x0c4d_feea, 0x0000_7e9d];
        assert_eq!(words(&mixture), [&one[..], &three].concat());
    }
}
