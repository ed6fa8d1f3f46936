//! Connected components as contiguous lists: a list of all members, and where each component ends in it.

use std::ops::Range;

use minwise::cluster::Forest;

/// The slot of a member that is alone in its component.
pub(crate) const NONE: u32 = u32::MAX;

/// The connected components with more than one member, in the order of their first members.
pub(super) struct Components {
    pub(super) extents: Extents,
    /// The members of all components, ascending within each.
    pub(super) members: Vec<u32>,
    /// For each node of the forest, its slot: its index in `members`, or [`NONE`].
    pub(super) slots: Vec<u32>,
}

impl Components {
    /// Lists the components of a forest with this many nodes.
    pub(super) fn new(forest: &mut Forest, nodes: usize) -> Self {
        // The root of a tree is its first node, so this loop meets trees in the order of their first members. The value at a
        // root is the size of its tree at first, and then the first slot of its members.
        let mut slots = vec![0u32; nodes];
        for node in 0..nodes as u32 {
            slots[forest.first(node) as usize] += 1;
        }
        let mut ends = vec![];
        let mut end = 0;
        for slot in &mut slots {
            match *slot {
                0 | 1 => *slot = NONE,
                size => {
                    *slot = end;
                    end += size;
                    ends.push(end);
                }
            }
        }
        let mut next = ends.clone();
        let extents = Extents(ends);
        let mut members = vec![0; end as usize];
        // Backwards, because a root, which comes first, must keep the first slot until all others have theirs.
        for node in (0..nodes as u32).rev() {
            let root = forest.first(node) as usize;
            if slots[root] == NONE {
                continue;
            }
            let component = extents.holding(slots[root]);
            next[component] -= 1;
            members[next[component] as usize] = node;
            slots[node as usize] = next[component];
        }
        Self { extents, members, slots }
    }
}

/// Where each component ends in the list of all members.
#[derive(Debug)]
pub(super) struct Extents(Vec<u32>);

impl Extents {
    /// How many components there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The slots of the members of a component.
    pub(super) fn of(&self, number: usize) -> Range<u32> {
        self.of_all(&(number..number + 1))
    }

    /// The slots of the members of several components that follow each other.
    pub(super) fn of_all(&self, numbers: &Range<usize>) -> Range<u32> {
        let end_before = |number: usize| number.checked_sub(1).map_or(0, |before| self.0[before]);
        end_before(numbers.start)..end_before(numbers.end)
    }

    /// The number of the component that holds a slot.
    pub(super) fn holding(&self, slot: u32) -> usize {
        self.0.partition_point(|&end| end <= slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_listed_by_their_first_members() {
        let mut forest = Forest::new(8);
        for (a, b) in [(4, 5), (2, 6), (4, 1)] {
            forest.join(a, b);
        }
        let Components { extents, members, slots } = Components::new(&mut forest, 8);
        assert_eq!(members, [1, 4, 5, 2, 6]);
        assert_eq!(slots, [NONE, 0, 3, NONE, 1, 2, 4, NONE]);
        assert_eq!((extents.len(), extents.of(0), extents.of(1)), (2, 0..3, 3..5));
        assert_eq!((extents.of_all(&(0..2)), extents.of_all(&(2..2))), (0..5, 5..5));
        assert_eq!([0, 2, 3, 4].map(|slot| extents.holding(slot)), [0, 0, 1, 1]);
    }

    #[test]
    fn a_forest_without_edges_has_no_components() {
        let Components { extents, members, slots } = Components::new(&mut Forest::new(2), 2);
        assert_eq!((extents.len(), members, slots), (0, vec![], vec![NONE; 2]));
    }
}
