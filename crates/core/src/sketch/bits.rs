//! Rows that keep only some bits of a document's registers.
//!
//! After the band keys of a document are computed, its registers serve only for comparison, and some of their bits are
//! enough. A whole number b keeps b bits of each register ([`b_bit`](super::b_bit)). A number between two whole numbers
//! keeps more bits of some registers than of others. The numbers ½, ¼ and ⅛ keep one bit per 2, 4 or 8 registers.
//! Numbers that are not whole are described in [`fractional_bit`](super::fractional_bit). The rows are equal to the
//! sketches of these two modules.

use std::fmt;
use std::str::FromStr;

use super::packing::{Packing, ValueLayout};
use super::register_salt;
use crate::error::Error;
use crate::estimate::b_bit::Chance;
use crate::estimate::fractional_bit::xor_match_probability;
use crate::hash::fmix32;

/// Number of bits that are kept per register: from 1 to 16 in steps of a thousandth, or 0.5, 0.25 or 0.125.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    thousandths: u32,
}

impl Bits {
    /// Returns the setting for a whole number of bits per register; `None` if `bits` is not from 1 to 16.
    #[must_use]
    pub fn whole(bits: u32) -> Option<Self> {
        (1..=16).contains(&bits).then(|| Self { thousandths: bits * 1000 })
    }
}

const FORM: &str = "0.125, 0.25, 0.5, or a number from 1 to 16 with at most three decimals";

impl FromStr for Bits {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::parse("number of bits", text, FORM);
        let number: f64 = text.parse().map_err(|_| wrong())?;
        let thousandths = (number * 1000.0).round();
        let possible =
            (1000.0..=16_000.0).contains(&thousandths) || [125.0, 250.0, 500.0].contains(&thousandths);
        if possible && (number * 1000.0 - thousandths).abs() < 1e-6 {
            Ok(Self { thousandths: thousandths as u32 })
        } else {
            Err(wrong())
        }
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.thousandths) / 1000.0)
    }
}

/// A range of registers that keep the same number of bits.
#[derive(Debug, Clone, Copy)]
struct RegisterGroup {
    /// Number of the first register of the group.
    first: usize,
    /// Number of bits per value.
    bits: u32,
    /// The exponent n if 2ⁿ registers share one value.
    halvings: u32,
    packing: Packing,
}

/// The layout of the bits of a sketch's registers.
#[derive(Debug, Clone)]
pub struct BitRows {
    groups: Vec<RegisterGroup>,
    /// Salt of each register, computed once because millions of rows are packed.
    salts: Vec<u32>,
}

impl Bits {
    /// Returns the layout for sketches of `registers` registers.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if several registers share a bit and
    /// `registers` is not a multiple of their number.
    pub fn rows(self, registers: usize) -> Result<BitRows, Error> {
        let group = |first, registers: usize, bits, halvings| RegisterGroup {
            first,
            bits,
            halvings,
            packing: Packing::new(registers >> halvings, bits),
        };
        let groups = match self.thousandths {
            below @ 0..1000 => {
                let halvings = (1000 / below).ilog2();
                if !registers.is_multiple_of(1 << halvings) {
                    let expected = format!("a multiple of {} to keep {self} bits of each", 1 << halvings);
                    return Err(Error::out_of_range("the number of registers", registers, &expected));
                }
                vec![group(0, registers, 1, halvings)]
            }
            above => {
                let (narrow, share) = (above / 1000, f64::from(above % 1000) / 1000.0);
                let wide = ((registers as f64) * share).round() as usize;
                let mut groups = vec![group(0, registers - wide, narrow, 0)];
                groups.extend((wide > 0).then(|| group(registers - wide, wide, narrow + 1, 0)));
                groups.retain(|group| group.packing.values() > 0);
                groups
            }
        };
        Ok(BitRows { groups, salts: (0..registers).map(register_salt).collect() })
    }
}

impl BitRows {
    /// Returns the number of words per row.
    #[must_use]
    pub fn words(&self) -> usize {
        self.groups.iter().map(|group| group.packing.words()).sum()
    }

    /// Writes the bits of a document's registers.
    ///
    /// # Panics
    /// Panics if there are fewer registers than the rows were made for, or `out` does not have [`words`](Self::words)
    /// elements.
    pub fn pack_into(&self, registers: &[u32], out: &mut [u32]) {
        assert_eq!(out.len(), self.words(), "as many words as a row has");
        let (registers, salts) = (&registers[..self.salts.len()], &self.salts[..]);
        let mut rest = out;
        for group in &self.groups {
            let (row, behind) = rest.split_at_mut(group.packing.words());
            let (registers, salts) = (&registers[group.first..], &salts[group.first..]);
            let bits = |i: usize| fmix32(registers[i] ^ salts[i]);
            if group.halvings == 0 {
                group.packing.pack(bits, row);
            } else {
                let together = 1 << group.halvings;
                let value = |i: usize| (i * together..(i + 1) * together).fold(0, |seen, i| seen ^ bits(i));
                group.packing.pack(value, row);
            }
            rest = behind;
        }
    }

    /// Returns for each group the number of its values, and the probability that a value agrees between two documents
    /// of this similarity.
    pub fn laws(&self, similarity: f64) -> impl Iterator<Item = (usize, f64)> {
        self.groups.iter().map(move |group| {
            let chance = Chance::sparse(group.bits);
            (group.packing.values(), xor_match_probability(similarity, group.halvings, chance))
        })
    }

    /// Returns the layout of the values of each group.
    pub fn values(&self) -> impl Iterator<Item = ValueLayout> {
        self.groups.iter().scan(0, |begin, group| {
            let values = ValueLayout::new(*begin, group.packing);
            *begin += group.packing.words();
            Some(values)
        })
    }

    /// Returns for each group its first register and the number of registers per value.
    pub fn registers(&self) -> impl Iterator<Item = (usize, usize)> {
        self.groups.iter().map(|group| (group.first, 1 << group.halvings))
    }

    /// Returns the number of agreeing values of each group in two rows.
    pub fn matches<'a>(&'a self, a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        self.groups.iter().scan(0, move |begin, group| {
            let end = *begin + group.packing.words();
            let matches = group.packing.matches(&a[*begin..end], &b[*begin..end]);
            *begin = end;
            Some(matches)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;
    use crate::sketch::Method;

    #[test]
    fn whole_numbers_of_bits() {
        assert_eq!(Bits::whole(8), "8".parse().ok());
        assert_eq!((Bits::whole(0), Bits::whole(17)), (None, None));
    }

    #[test]
    fn text_forms() {
        for form in ["1", "2", "16", "1.5", "2.125", "0.5", "0.25", "0.125"] {
            assert_eq!(form.parse::<Bits>().unwrap().to_string(), form);
        }
        for wrong in ["", "0", "17", "0.3", "1.0005", "-1", "nan", "inf", "two", "0.0625"] {
            assert!(wrong.parse::<Bits>().is_err(), "{wrong}");
        }
    }

    /// Rows are equal to the sketches that keep the same bits.
    #[test]
    fn rows_are_those_of_the_bit_sketches() {
        let shingles: Vec<u64> = (0..300).map(fmix64).collect();
        let mut registers = vec![0; 128];
        Method::minhash(128).build(3).unwrap().sketch_into(&shingles, &mut registers);
        for (bits, form) in [
            ("1", "b-bit:1/minhash:128"),
            ("2", "b-bit:2/minhash:128"),
            ("8", "b-bit:8/minhash:128"),
            ("1.5", "fractional:1x0.5+2x0.5/minhash:128"),
            ("3.25", "fractional:3x0.75+4x0.25/minhash:128"),
            ("0.5", "xor:1/minhash:128"),
            ("0.125", "xor:3/minhash:128"),
        ] {
            let rows = bits.parse::<Bits>().unwrap().rows(128).unwrap();
            let sketcher = form.parse::<Method>().unwrap().build(3).unwrap();
            let (mut found, mut expected) = (vec![0; rows.words()], vec![0; sketcher.words()]);
            rows.pack_into(&registers, &mut found);
            sketcher.sketch_into(&shingles, &mut expected);
            assert_eq!(found, expected, "{form}");
            let total: usize = rows.laws(0.5).map(|(values, _)| values).sum();
            assert_eq!(rows.matches(&found, &found).sum::<usize>(), total);
        }
    }

    #[test]
    fn laws_of_the_groups() {
        let laws = |bits: &str| -> Vec<(usize, f64)> {
            bits.parse::<Bits>().unwrap().rows(128).unwrap().laws(0.8).collect()
        };
        assert_eq!(laws("1"), [(128, 0.9)]);
        assert_eq!(laws("1.5").iter().map(|law| law.0).collect::<Vec<_>>(), [64, 64]);
        // Two exclusive ors agree if both bits agree or both differ: 0.9² + 0.1².
        let [(64, half)] = laws("0.5")[..] else { panic!("one group of 64") };
        assert!((half - 0.82).abs() < 1e-12);
    }

    #[test]
    fn registers_that_cannot_be_halved_are_refused() {
        let error = "0.5".parse::<Bits>().unwrap().rows(127).unwrap_err();
        assert!(error.to_string().contains("a multiple of 2"), "{error}");
    }
}
