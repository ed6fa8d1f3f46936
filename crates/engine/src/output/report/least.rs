//! A bounded list of the least items among very many.

/// Least items among those that were offered, in ascending order. Memory is bounded by `most` items.
#[derive(Debug)]
pub(super) struct Least<T> {
    items: Vec<T>,
    most: usize,
}

impl<T: Ord> Least<T> {
    /// Makes an empty list that keeps at most `most` items.
    pub(super) fn new(most: usize) -> Self {
        Self { items: vec![], most }
    }

    /// Inserts an item if it is among the least. Of equal items, the list keeps those that came first.
    pub(super) fn offer(&mut self, item: T) {
        // Nearly all of very many items end here, after one comparison.
        if self.items.len() == self.most && self.items.last().is_none_or(|last| item >= *last) {
            return;
        }
        let at = self.items.partition_point(|other| *other <= item);
        if at < self.most {
            self.items.insert(at, item);
            self.items.truncate(self.most);
        }
    }

    /// Returns the least items, in ascending order.
    pub(super) fn into_items(self) -> Vec<T> {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_the_first_of_all_in_order(all in proptest::collection::vec(0u8..20, 0..60), most in 0usize..9) {
            let mut least = Least::new(most);
            for &item in &all {
                least.offer(item);
            }
            let mut sorted = all;
            sorted.sort_unstable();
            sorted.truncate(most);
            prop_assert_eq!(least.into_items(), sorted);
        }
    }
}
