//! Finds the dictionaries that a record batch needs.
//!
//! A stream may replace or extend the dictionary of a column before each batch. A batch needs the last dictionary
//! before it that is no extension, and all extensions between that dictionary and the batch. Earlier dictionaries are
//! never read.

use std::collections::{BTreeMap, HashMap};

use arrow_ipc::Block;
use arrow_schema::{DataType, Field, Schema};

/// The dictionaries of a file or stream.
#[derive(Debug, Default)]
pub(super) struct Dictionaries {
    /// The messages of the dictionaries, in the order in which they came.
    pub(super) blocks: Vec<Block>,
    /// The dictionaries of each id.
    by_id: BTreeMap<i64, Vec<Version>>,
    /// Whether values of a dictionary may have dictionaries of their own, so that a dictionary may depend on every
    /// dictionary before it.
    nested: bool,
}

/// A dictionary, or an extension of one.
#[derive(Clone, Copy, Debug)]
struct Version {
    number: usize,
    /// The number of the dictionary that this version extends, or its own number if it extends no dictionary.
    begun: usize,
}

/// Record of the dictionaries that were read.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownDictionaries {
    /// The number of the last dictionary that was read, for each id.
    by_id: HashMap<i64, usize>,
    /// The number of dictionaries before the batch for which dictionaries were read last.
    before: usize,
}

impl Dictionaries {
    /// Makes an empty list of the dictionaries of a schema.
    pub(super) fn new(schema: &Schema) -> Self {
        let has_nested = |field: &&Field| match field.data_type() {
            DataType::Dictionary(_, values) => {
                values.is_nested() || matches!(**values, DataType::Dictionary(..))
            }
            _ => false,
        };
        Self { nested: schema.flattened_fields().iter().any(has_nested), ..Self::default() }
    }

    /// Adds a dictionary; `None` if it extends a dictionary that does not exist.
    pub(super) fn add(&mut self, block: Block, id: i64, extends: bool) -> Option<()> {
        let number = self.blocks.len();
        let versions = self.by_id.entry(id).or_default();
        let begun = if extends { versions.last()?.begun } else { number };
        versions.push(Version { number, begun });
        self.blocks.push(block);
        Some(())
    }

    /// Returns the numbers of the dictionaries to read for a batch that follows the first `before` dictionaries, in
    /// ascending order. `known` counts these dictionaries as read from then on.
    pub(super) fn missing(&self, known: &mut KnownDictionaries, before: usize) -> Vec<usize> {
        if self.nested {
            // A nested dictionary may depend on every dictionary before it, so all dictionaries are read, in order.
            let first = if known.before <= before { known.before } else { 0 };
            known.before = before;
            return (first..before).collect();
        }
        let mut missing = vec![];
        for (id, versions) in &self.by_id {
            let earlier = versions.partition_point(|version| version.number < before);
            let (versions, _) = versions.split_at(earlier);
            let Some(last) = versions.last() else { continue };
            let read = known.by_id.get(id).copied();
            // A dictionary that was read with later extensions is good enough, because extensions do not move the
            // values before them.
            let read = read.filter(|read| self.begun(*id, *read) == Some(last.begun));
            if read.is_some_and(|read| read >= last.number) {
                continue;
            }
            let wanted = |version: &&Version| {
                version.number >= last.begun && read.is_none_or(|read| version.number > read)
            };
            missing.extend(versions.iter().rev().take_while(wanted).map(|version| version.number));
            known.by_id.insert(*id, last.number);
        }
        missing.sort_unstable();
        missing
    }

    /// Returns the number of the dictionary that the dictionary `number` of an id extends.
    fn begun(&self, id: i64, number: usize) -> Option<usize> {
        let versions = self.by_id.get(&id)?;
        let at = versions.binary_search_by_key(&number, |version| version.number).ok()?;
        versions.get(at).map(|version| version.begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes dictionaries, each from an id and whether it extends the dictionary before.
    fn dictionaries(schema: &Schema, all: impl IntoIterator<Item = (i64, bool)>) -> Dictionaries {
        let mut found = Dictionaries::new(schema);
        for (id, extends) in all {
            found.add(Block::new(0, 0, 0), id, extends).unwrap();
        }
        found
    }

    #[test]
    fn replaced_dictionaries_are_not_read() {
        // The first column keeps its dictionary, and the second has another one before each of a hundred batches.
        let all = [(7, false)].into_iter().chain((0..100).map(|_| (3, false)));
        let found = dictionaries(&Schema::empty(), all);
        let mut known = KnownDictionaries::default();
        assert_eq!(found.missing(&mut known, 2), [0, 1]);
        for before in 3..=101 {
            assert_eq!(found.missing(&mut known, before), [before - 1], "only what is new");
            assert_eq!(found.missing(&mut known, before), [0; 0]);
        }
        assert_eq!(found.missing(&mut known, 40), [39], "nor when it goes back");
        assert_eq!(
            found.missing(&mut KnownDictionaries::default(), 101),
            [0, 100],
            "nor when it begins there"
        );
    }

    #[test]
    fn extensions_of_dictionaries_are_read_once() {
        let all = [(3, false), (3, true), (3, true), (3, false), (3, true), (3, true)];
        let found = dictionaries(&Schema::empty(), all);
        let mut known = KnownDictionaries::default();
        let mut missing = |before| found.missing(&mut known, before);
        assert_eq!([missing(1), missing(3), missing(2)], [vec![0], vec![1, 2], vec![]]);
        assert_eq!([missing(6), missing(4), missing(6)], [vec![3, 4, 5], vec![], vec![]]);
        assert_eq!([missing(2), missing(5)], [vec![0, 1], vec![3, 4]]);
        assert_eq!(Dictionaries::default().add(Block::new(0, 0, 0), 3, true), None);
    }

    #[test]
    fn dictionaries_of_dictionaries_are_read_as_they_came() {
        let text = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        let texts = DataType::new_list(text, true);
        let kind = DataType::Dictionary(Box::new(DataType::Int8), Box::new(texts));
        let schema = Schema::new(vec![Field::new("kind", kind, true)]);
        let found = dictionaries(&schema, [(1, false), (2, false), (1, false), (2, false)]);
        let mut known = KnownDictionaries::default();
        let mut missing = |before| found.missing(&mut known, before);
        assert_eq!([missing(3), missing(4), missing(2)], [vec![0, 1, 2], vec![3], vec![0, 1]]);
    }
}
