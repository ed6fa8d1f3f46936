//! The few that are shown of very many.

/// The least of the items that were offered, in order; the memory does not grow with those that were not among them.
#[derive(Debug)]
pub(super) struct Least<T> {
    items: Vec<T>,
    most: usize,
}

impl<T: Ord> Least<T> {
    /// Keeps at most this many.
    pub(super) fn new(most: usize) -> Self {
        Self { items: vec![], most }
    }

    /// Takes an item in if it is among the least. Of equal ones, those that came first stay.
    pub(super) fn offer(&mut self, item: T) {
        let at = self.items.partition_point(|other| *other <= item);
        if at < self.most {
            self.items.insert(at, item);
            self.items.truncate(self.most);
        }
    }

    /// The least ones, in order.
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
