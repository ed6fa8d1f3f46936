//! Exact containment: the share of a document that another document contains.
//!
//! C(A in B) = |A∩B| / |A|. It is 1 if B contains all of A, even if B is much longer. Jaccard
//! similarity cannot show this.

use super::Overlap;

impl Overlap {
    /// Returns the share of the left set that the right set contains. Every set contains the empty
    /// set, so its share is 1.
    #[must_use]
    pub fn left_in_right(&self) -> f64 {
        share(self.shared, self.left)
    }

    /// Returns the share of the right set that the left set contains.
    #[must_use]
    pub fn right_in_left(&self) -> f64 {
        share(self.shared, self.right)
    }
}

fn share(shared: usize, of: usize) -> f64 {
    if of == 0 { 1.0 } else { shared as f64 / of as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_contained_in_the_whole() {
        let overlap = Overlap { shared: 20, left: 20, right: 100 };
        assert_eq!(overlap.left_in_right(), 1.0);
        assert_eq!(overlap.right_in_left(), 0.2);
        assert_eq!(overlap.jaccard(), 0.2);
    }

    #[test]
    fn nothing_is_contained_in_everything() {
        let overlap = Overlap { shared: 0, left: 0, right: 3 };
        assert_eq!((overlap.left_in_right(), overlap.right_in_left()), (1.0, 0.0));
    }
}
