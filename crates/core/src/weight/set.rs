//! A set of shingles with a weight each, sorted by shingle.

use std::cmp::Ordering;

use crate::error::Error;

/// The distinct shingles of a document in ascending order, each with a positive finite weight.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WeightedSet {
    shingles: Vec<u64>,
    weights: Vec<f64>,
}

/// A weighted set that is kept elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WeightedSlice<'a> {
    shingles: &'a [u64],
    weights: &'a [f64],
}

impl WeightedSet {
    /// The set of these shingles and weights, which may come in any order. A weight of zero is no member.
    ///
    /// Refused are weights that are negative, infinite or no number, and shingles that come twice.
    pub fn new(members: impl IntoIterator<Item = (u64, f64)>) -> Result<Self, Error> {
        let mut members: Vec<(u64, f64)> = members.into_iter().collect();
        members.sort_by_key(|member| member.0);
        let mut set = Self::default();
        for (shingle, weight) in members {
            check(weight)?;
            if weight > 0.0 {
                set.push(shingle, weight);
            }
        }
        set.view().check_order()?;
        Ok(set)
    }

    /// Adds a member behind all others; the caller sees to order and weight.
    pub(super) fn push(&mut self, shingle: u64, weight: f64) {
        self.shingles.push(shingle);
        self.weights.push(weight);
    }

    pub(super) fn clear(&mut self) {
        self.shingles.clear();
        self.weights.clear();
    }

    /// What is in it.
    #[must_use]
    pub fn view(&self) -> WeightedSlice<'_> {
        WeightedSlice { shingles: &self.shingles, weights: &self.weights }
    }

    /// Memory that it takes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.shingles) + size_of_val(&*self.weights) + size_of::<Self>()
    }
}

fn check(weight: f64) -> Result<(), Error> {
    if weight.is_finite() && weight >= 0.0 {
        Ok(())
    } else {
        Err(Error::out_of_range("a weight", weight, "a finite number that is not negative"))
    }
}

impl<'a> WeightedSlice<'a> {
    /// The set of these shingles, which are sorted and distinct, with these weights, which are positive.
    pub fn new(shingles: &'a [u64], weights: &'a [f64]) -> Result<Self, Error> {
        if shingles.len() != weights.len() {
            return Err(Error::out_of_range("the number of weights", weights.len(), "that of the shingles"));
        }
        for &weight in weights {
            check(weight)?;
            if weight == 0.0 {
                return Err(Error::out_of_range("the weight of a member", weight, "positive"));
            }
        }
        let set = Self { shingles, weights };
        set.check_order()?;
        Ok(set)
    }

    fn check_order(self) -> Result<(), Error> {
        match self.shingles.windows(2).find(|pair| pair[0] >= pair[1]) {
            None => Ok(()),
            Some(pair) => Err(Error::out_of_range(
                "the shingle after another",
                format_args!("{:016x}", pair[1]),
                "greater than it: shingles of a weighted set are sorted and distinct",
            )),
        }
    }

    /// The shingles, in ascending order.
    #[must_use]
    pub fn shingles(self) -> &'a [u64] {
        self.shingles
    }

    /// Their weights.
    #[must_use]
    pub fn weights(self) -> &'a [f64] {
        self.weights
    }

    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        self.shingles.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.shingles.is_empty()
    }

    /// The sum of the weights, taken in the order of the shingles.
    #[must_use]
    pub fn total(self) -> f64 {
        self.weights.iter().sum()
    }
}

/// The weights of every shingle of either set, in the order of the shingles; zero where a set does not have it.
pub fn merged<'a>(a: WeightedSlice<'a>, b: WeightedSlice<'a>) -> impl Iterator<Item = (f64, f64)> + 'a {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let order = match (a.shingles.get(i), b.shingles.get(j)) {
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let left = if order.is_le() { a.weights[i] } else { 0.0 };
        let right = if order.is_ge() { b.weights[j] } else { 0.0 };
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
        Some((left, right))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_sorted_and_zeros_left_out() {
        let set = WeightedSet::new([(7, 0.5), (2, 1.5), (9, 0.0)]).unwrap();
        assert_eq!((set.view().shingles(), set.view().weights()), (&[2, 7][..], &[1.5, 0.5][..]));
        assert_eq!(set.view().total(), 2.0);
        assert_eq!(WeightedSlice::new(&[2, 7], &[1.5, 0.5]).unwrap(), set.view());
    }

    #[test]
    fn wrong_weights_are_refused() {
        for weight in [-1.0, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let message = WeightedSet::new([(1, weight)]).unwrap_err().to_string();
            assert!(message.contains("a weight cannot be"), "{message}");
            assert!(message.contains("not negative"), "{message}");
            assert!(WeightedSlice::new(&[1], &[weight]).is_err());
        }
        assert!(WeightedSlice::new(&[1], &[0.0]).is_err());
    }

    #[test]
    fn shingles_are_sorted_and_distinct() {
        assert!(WeightedSet::new([(1, 1.0), (1, 2.0)]).is_err());
        assert!(WeightedSlice::new(&[2, 1], &[1.0, 1.0]).is_err());
        assert!(WeightedSlice::new(&[1], &[]).is_err());
    }

    #[test]
    fn merging_lines_up_shingles() {
        let a = WeightedSet::new([(1, 1.0), (3, 3.0)]).unwrap();
        let b = WeightedSet::new([(2, 2.0), (3, 4.0), (5, 5.0)]).unwrap();
        let pairs: Vec<(f64, f64)> = merged(a.view(), b.view()).collect();
        assert_eq!(pairs, [(1.0, 0.0), (0.0, 2.0), (3.0, 4.0), (0.0, 5.0)]);
        assert_eq!(merged(WeightedSlice::default(), WeightedSlice::default()).count(), 0);
    }
}
