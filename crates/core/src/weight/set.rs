//! Sets of shingles in which each shingle has a weight, sorted by shingle.

use std::cmp::Ordering;

use crate::error::Error;

/// The distinct shingles of a document in ascending order, each with a positive finite weight.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WeightedSet {
    shingles: Vec<u64>,
    weights: Vec<f64>,
}

impl WeightedSet {
    /// Makes the set of these shingles and weights, which may come in any order. Shingles of weight 0 are left out.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a weight is negative, infinite or NaN, or
    /// if a shingle is listed twice.
    pub fn new(members: impl IntoIterator<Item = (u64, f64)>) -> Result<Self, Error> {
        let mut members: Vec<(u64, f64)> = members.into_iter().collect();
        members.sort_by_key(|member| member.0);
        if let Some(pair) = members.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let twice = format!("{:016x}", pair[0].0);
            return Err(Error::out_of_range("a shingle of a weighted set", twice, "listed once"));
        }
        let mut set = Self::default();
        for (shingle, weight) in members {
            if !weight.is_finite() || weight < 0.0 {
                let expected = "a finite number that is not negative";
                return Err(Error::out_of_range("a weight", weight, expected));
            }
            if weight > 0.0 {
                set.push(shingle, weight);
            }
        }
        Ok(set)
    }

    /// Appends a shingle. The caller ensures that it is greater than all before, and that its weight is positive and
    /// finite.
    pub(super) fn push(&mut self, shingle: u64, weight: f64) {
        self.shingles.push(shingle);
        self.weights.push(weight);
    }

    pub(super) fn clear(&mut self) {
        self.shingles.clear();
        self.weights.clear();
    }

    /// Returns the shingles, in ascending order.
    #[must_use]
    pub fn shingles(&self) -> &[u64] {
        &self.shingles
    }

    /// Returns the weights, in the order of the shingles.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the number of shingles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shingles.len()
    }

    /// Reports whether the set has no shingles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shingles.is_empty()
    }

    /// Returns the sum of the weights, added in the order of the shingles.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Returns the number of bytes of memory that the set takes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.shingles) + size_of_val(&*self.weights) + size_of::<Self>()
    }
}

/// Returns a pair of weights for every shingle that is in at least one of two sets, in the order of the shingles. The
/// weight is 0 in a set that does not have the shingle.
pub fn merged<'a>(a: &'a WeightedSet, b: &'a WeightedSet) -> impl Iterator<Item = (f64, f64)> + 'a {
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
        assert_eq!((set.shingles(), set.weights()), (&[2, 7][..], &[1.5, 0.5][..]));
        assert_eq!((set.len(), set.total(), set.is_empty()), (2, 2.0, false));
    }

    #[test]
    fn wrong_weights_are_refused() {
        for weight in [-1.0, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let message = WeightedSet::new([(1, weight)]).unwrap_err().to_string();
            assert!(message.contains("a weight cannot be"), "{message}");
            assert!(message.contains("not negative"), "{message}");
        }
    }

    #[test]
    fn shingles_are_distinct() {
        let message = WeightedSet::new([(1, 1.0), (1, 2.0)]).unwrap_err().to_string();
        assert!(message.contains("0000000000000001") && message.contains("listed once"), "{message}");
    }

    #[test]
    fn merging_lines_up_shingles() {
        let a = WeightedSet::new([(1, 1.0), (3, 3.0)]).unwrap();
        let b = WeightedSet::new([(2, 2.0), (3, 4.0), (5, 5.0)]).unwrap();
        let pairs: Vec<(f64, f64)> = merged(&a, &b).collect();
        assert_eq!(pairs, [(1.0, 0.0), (0.0, 2.0), (3.0, 4.0), (0.0, 5.0)]);
        assert_eq!(merged(&WeightedSet::default(), &WeightedSet::default()).count(), 0);
    }
}
