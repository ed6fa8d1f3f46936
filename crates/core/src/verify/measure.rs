//! The exact number that decides whether two documents are near-duplicates.

use std::fmt;
use std::str::FromStr;

use super::{Overlap, ShingleSet, WeightedOverlap};
use crate::error::Error;
use crate::weight::WeightedSet;

/// An exact measure of similarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Measure {
    /// The share of the shingles of both documents together that are in both.
    #[default]
    Jaccard,
    /// The share of the smaller document that the larger document contains.
    Containment,
}

impl Measure {
    /// Returns the measure of two sets.
    #[must_use]
    pub fn of(self, a: &ShingleSet, b: &ShingleSet) -> f64 {
        self.of_overlap(&Overlap::of(a, b))
    }

    /// Returns the measure of two sets that have this overlap.
    #[must_use]
    pub fn of_overlap(self, overlap: &Overlap) -> f64 {
        match self {
            Self::Jaccard => overlap.jaccard(),
            Self::Containment => overlap.left_in_right().max(overlap.right_in_left()),
        }
    }

    /// Returns the measure of two sets; `None` if it is below `threshold`.
    #[must_use]
    pub fn at_least(self, a: &ShingleSet, b: &ShingleSet, threshold: f64) -> Option<f64> {
        match self {
            Self::Jaccard => Overlap::at_least(a, b, threshold).map(|overlap| overlap.jaccard()),
            Self::Containment => Some(self.of(a, b)).filter(|&share| share >= threshold),
        }
    }

    /// Returns the measure of two weighted sets.
    #[must_use]
    pub fn of_weighted(self, a: &WeightedSet, b: &WeightedSet) -> f64 {
        let overlap = WeightedOverlap::of(a, b);
        match self {
            Self::Jaccard => overlap.jaccard(),
            Self::Containment => {
                let smaller = a.total().min(b.total());
                // Sums of the same weights in another order may round differently, so the share is
                // limited to 1.
                if smaller == 0.0 { 1.0 } else { (overlap.shared / smaller).min(1.0) }
            }
        }
    }

    /// Returns the measure of two weighted sets; `None` if it is below `threshold`.
    #[must_use]
    pub fn at_least_weighted(self, a: &WeightedSet, b: &WeightedSet, threshold: f64) -> Option<f64> {
        match self {
            Self::Jaccard => WeightedOverlap::at_least(a, b, threshold).map(|overlap| overlap.jaccard()),
            Self::Containment => Some(self.of_weighted(a, b)).filter(|&share| share >= threshold),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jaccard => "jaccard",
            Self::Containment => "containment",
        })
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "jaccard" => Ok(Self::Jaccard),
            "containment" => Ok(Self::Containment),
            _ => Err(Error::parse("measure", text, "`jaccard` or `containment`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::WeightedSet;

    #[test]
    fn a_part_of_a_whole() {
        let set = |range: std::ops::Range<u64>| range.collect::<ShingleSet>();
        let (part, whole) = (set(0..20), set(0..100));
        assert_eq!((Measure::Jaccard.of(&part, &whole), Measure::Containment.of(&part, &whole)), (0.2, 1.0));
        assert_eq!(Measure::Containment.of(&whole, &part), 1.0);
        assert_eq!(Measure::Containment.at_least(&set(0..20), &set(10..100), 0.5), Some(0.5));
        assert_eq!(Measure::Containment.at_least(&set(0..20), &set(10..100), 0.51), None);
        assert_eq!(Measure::Jaccard.at_least(&part, &whole, 0.3), None);
    }

    #[test]
    fn a_part_of_a_weighted_whole() {
        let set = |members: &[(u64, f64)]| WeightedSet::new(members.iter().copied()).unwrap();
        let (part, whole) = (set(&[(1, 0.1), (2, 0.2)]), set(&[(1, 0.1), (2, 0.3), (3, 9.0)]));
        assert_eq!(Measure::Containment.of_weighted(&part, &whole), 1.0);
        assert!(Measure::Jaccard.of_weighted(&part, &whole) < 0.04);
        assert_eq!(Measure::Containment.at_least_weighted(&part, &set(&[(1, 0.1)]), 1.0), Some(1.0));
        assert_eq!(Measure::Containment.at_least_weighted(&part, &set(&[(9, 1.0)]), 0.1), None);
        assert_eq!(Measure::Containment.of_weighted(&set(&[]), &whole), 1.0);
    }

    #[test]
    fn text_forms() {
        for measure in [Measure::Jaccard, Measure::Containment] {
            assert_eq!(measure.to_string().parse::<Measure>().unwrap(), measure);
        }
        assert!("cosine".parse::<Measure>().is_err());
    }
}
