//! Gathers the types of JSON values over all records.
//!
//! A column of Parquet or Arrow has one type, which is known only when all records have been read. Each chunk
//! therefore notes the types of its values in a [`Shape`], and shapes are merged in the order of the records. For
//! each type, the first record that has it is kept, so that a message can name two records that do not fit together.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use arrow_schema::{DataType, Field, Fields};

/// Place of a record: the number of its source and the offset at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) source: u32,
    pub(crate) offset: u64,
}

/// Types of the values that one field had, each with the first record that has it. If all are `None`, every value was
/// null.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    /// The first record with a boolean.
    pub(crate) boolean: Option<At>,
    pub(crate) integer: Option<At>,
    /// The first record with an integer below 0.
    pub(crate) negative: Option<At>,
    /// The first record with an integer above the largest signed integer of 64 bits.
    pub(crate) large: Option<At>,
    /// The first record with an integer that no float of 64 bits holds exactly.
    pub(crate) inexact: Option<At>,
    pub(crate) float: Option<At>,
    /// The first record with a number that no type of 64 bits holds.
    pub(crate) huge: Option<At>,
    /// The first record with a list or an object that is nested too deep.
    pub(crate) deep: Option<At>,
    pub(crate) text: Option<At>,
    pub(crate) list: Option<(At, Box<Shape>)>,
    pub(crate) object: Option<(At, ObjectMembers)>,
}

/// Maximum number of members of one object that become columns. If an object has more members, their names are data,
/// such as ids, and no column names.
const MOST_MEMBERS: usize = 10_000;

/// Members of objects, in the order in which they were first seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ObjectMembers {
    all: Vec<ObjectMember>,
    numbers: HashMap<String, usize>,
    /// The first record with a member over the limit.
    pub(crate) too_many: Option<At>,
}

#[derive(Clone, Debug, PartialEq)]
struct ObjectMember {
    name: String,
    /// The first record that has the member, even if its value is null there.
    first: At,
    shape: Shape,
}

impl ObjectMembers {
    /// Notes a member of the record at `at`, and returns its shape, which is new if the member was not seen before;
    /// `None` if the member is over the limit.
    pub(crate) fn note(&mut self, name: &str, at: At) -> Option<&mut Shape> {
        if !self.has_room(name) {
            self.note_too_many(at);
            return None;
        }
        Some(self.shape(name, at))
    }

    fn shape(&mut self, name: &str, at: At) -> &mut Shape {
        let found = self.numbers.get(name).copied();
        let number = found.unwrap_or_else(|| {
            self.numbers.insert(name.to_owned(), self.all.len());
            self.all.push(ObjectMember { name: name.to_owned(), first: at, shape: Shape::default() });
            self.all.len() - 1
        });
        &mut self.all[number].shape
    }

    fn has_room(&self, name: &str) -> bool {
        self.all.len() < MOST_MEMBERS || self.numbers.contains_key(name)
    }

    fn note_too_many(&mut self, at: At) {
        self.too_many = Some(self.too_many.map_or(at, |first| first.min(at)));
    }

    /// Iterates over the members, with their shapes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Shape)> {
        self.all.iter().map(|member| (member.name.as_str(), &member.shape))
    }

    /// Adds the members of later records. Records that `self` has already noted change nothing, so `later` may begin
    /// within the records of `self`. It must not begin before them, because each type is kept with its first record.
    pub(crate) fn merge(&mut self, later: Self) {
        if let Some(at) = later.too_many {
            self.note_too_many(at);
        }
        for ObjectMember { name, first, shape } in later.all {
            if self.has_room(&name) {
                self.shape(&name, first).merge(shape);
            } else {
                self.note_too_many(first);
            }
        }
    }
}

/// JSON number, as the 64-bit type of the column that holds the number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// A number that no type of 64 bits holds.
    Huge,
}

impl Number {
    /// Parses a number of JSON. A number with a fraction or an exponent becomes the nearest float, even if its value
    /// is whole, because every reader of JSON rounds such numbers. An integer must be exact.
    pub(crate) fn of(text: &str) -> Self {
        let is_integer = !text.contains(['.', 'e', 'E']);
        if is_integer {
            if let Ok(number) = text.parse() {
                return Self::Signed(number);
            }
            if let Ok(number) = text.parse() {
                return Self::Unsigned(number);
            }
        }
        match text.parse::<f64>() {
            Ok(number) if !number.is_finite() => Self::Huge,
            Ok(number) if is_integer && format!("{number:.0}") != text => Self::Huge,
            // A number that is too small for a float parses as 0, so a nonzero digit shows that the value would be
            // lost.
            Ok(0.0)
                if text
                    .split(['e', 'E'])
                    .next()
                    .is_some_and(|digits| digits.contains(|c| matches!(c, '1'..='9'))) =>
            {
                Self::Huge
            }
            Ok(number) => Self::Float(number),
            Err(_) => Self::Huge,
        }
    }

    /// Returns the float that equals this number; `None` if no float does.
    pub(crate) fn to_float(self) -> Option<f64> {
        match self {
            Self::Signed(number) => {
                // The comparison uses `i128`, because the largest numbers round up to 2^63, which `i64` cannot hold.
                let float = number as f64;
                (float as i128 == i128::from(number)).then_some(float)
            }
            Self::Unsigned(number) => {
                let float = number as f64;
                (float as i128 == i128::from(number)).then_some(float)
            }
            Self::Float(number) => Some(number),
            Self::Huge => None,
        }
    }
}

impl Shape {
    /// Notes a number of the record at `at`.
    pub(crate) fn note_number(&mut self, number: Number, at: At) {
        match number {
            Number::Signed(_) | Number::Unsigned(_) => {
                self.integer.get_or_insert(at);
                if number.to_float().is_none() {
                    self.inexact.get_or_insert(at);
                }
                if matches!(number, Number::Unsigned(_)) {
                    self.large.get_or_insert(at);
                }
                if matches!(number, Number::Signed(..0)) {
                    self.negative.get_or_insert(at);
                }
            }
            Number::Float(_) => {
                self.float.get_or_insert(at);
            }
            Number::Huge => {
                self.huge.get_or_insert(at);
            }
        }
    }

    /// Notes that the value is a list in the record at `at`, and returns the shape of the items of such lists.
    pub(crate) fn note_list(&mut self, at: At) -> &mut Self {
        &mut self.list.get_or_insert_with(|| (at, Box::default())).1
    }

    /// Notes that the value is an object in the record at `at`, and returns the members of such objects.
    pub(crate) fn note_object(&mut self, at: At) -> &mut ObjectMembers {
        &mut self.object.get_or_insert_with(|| (at, ObjectMembers::default())).1
    }

    /// Adds the shape of later records.
    pub(crate) fn merge(&mut self, later: Self) {
        let Self { boolean, integer, negative, large, inexact, float, huge, deep, text, list, object } =
            later;
        for (first, second) in [
            (&mut self.boolean, boolean),
            (&mut self.integer, integer),
            (&mut self.negative, negative),
            (&mut self.large, large),
            (&mut self.inexact, inexact),
            (&mut self.float, float),
            (&mut self.huge, huge),
            (&mut self.deep, deep),
            (&mut self.text, text),
        ] {
            *first = first.or(second);
        }
        match (&mut self.list, list) {
            (Some((_, items)), Some((_, later))) => items.merge(*later),
            (list, later) => *list = list.take().or(later),
        }
        match (&mut self.object, object) {
            (Some((_, members)), Some((_, later))) => members.merge(later),
            (object, later) => *object = object.take().or(later),
        }
    }

    /// Returns the column type that holds every value.
    pub(crate) fn data_type(&self) -> Result<DataType, Conflict> {
        let seen = self.seen();
        if let Some(at) = self.huge {
            return Err(Conflict::of([(at, "a number that 64 bits cannot hold")]));
        }
        if let Some(at) = self.deep {
            return Err(Conflict::of([(at, "nested too deep")]));
        }
        if let [first, second, ..] = seen[..] {
            return Err(Conflict::of([first, second]));
        }
        if self.boolean.is_some() {
            return Ok(DataType::Boolean);
        }
        if self.text.is_some() {
            return Ok(DataType::Utf8);
        }
        if let Some((_, items)) = &self.list {
            let items = items.data_type().map_err(|conflict| conflict.inside("[]"))?;
            return Ok(DataType::List(Field::new("element", items, true).into()));
        }
        if let Some((_, members)) = &self.object {
            return Ok(DataType::Struct(members.fields()?));
        }
        self.number_type()
    }

    fn number_type(&self) -> Result<DataType, Conflict> {
        match (self.integer, self.float, self.inexact) {
            (None, None, _) => Ok(DataType::Null),
            (None, Some(_), _) | (Some(_), Some(_), None) => Ok(DataType::Float64),
            (Some(_), Some(float), Some(inexact)) => {
                let mut both = [
                    (inexact, "an integer that no float holds exactly"),
                    (float, "a number with a fraction"),
                ];
                both.sort();
                Err(Conflict::of(both))
            }
            (Some(_), None, inexact) => match (self.negative, self.large) {
                (Some(_), Some(_)) if inexact.is_none() => Ok(DataType::Float64),
                (Some(negative), Some(large)) => {
                    let mut both = [(negative, "a negative integer"), (large, "an integer of 2^63 or more")];
                    both.sort();
                    Err(Conflict::of(both))
                }
                (None, Some(_)) => Ok(DataType::UInt64),
                (_, None) => Ok(DataType::Int64),
            },
        }
    }

    /// Returns the kinds of values that were seen, each with its first record, in the order of the first records.
    pub(crate) fn seen(&self) -> Vec<(At, &'static str)> {
        let number = [self.integer, self.float, self.huge].into_iter().flatten().min();
        let mut seen: Vec<(At, &'static str)> = [
            (self.boolean, "true or false"),
            (number, "a number"),
            (self.text, "a string"),
            (self.list.as_ref().map(|list| list.0), "a list"),
            (self.object.as_ref().map(|object| object.0), "an object"),
        ]
        .into_iter()
        .filter_map(|(at, kind)| Some((at?, kind)))
        .collect();
        seen.sort();
        seen
    }
}

impl ObjectMembers {
    /// Returns the columns that hold every value of the members.
    pub(crate) fn fields(&self) -> Result<Fields, Conflict> {
        if let Some(at) = self.too_many {
            return Err(Conflict::of([(at, "more than 10,000 different members")]));
        }
        let field = |(name, shape): (&str, &Shape)| {
            let kind = shape.data_type().map_err(|conflict| conflict.inside(name))?;
            Ok(Field::new(name, kind, true))
        };
        self.iter().map(field).collect()
    }
}

/// Values that cannot be held by one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Names on the path to the values, the innermost first.
    names: Vec<String>,
    /// One or two records that do not fit, each with the kind of its value in the field.
    pub(crate) seen: Vec<(At, &'static str)>,
}

impl Conflict {
    fn of(seen: impl Into<Vec<(At, &'static str)>>) -> Self {
        Self { names: vec![], seen: seen.into() }
    }

    fn inside(mut self, name: &str) -> Self {
        self.names.push(name.to_owned());
        self
    }

    /// Returns the path of the field, as it is written.
    pub(crate) fn field(&self) -> String {
        let mut path = String::new();
        for name in self.names.iter().rev() {
            if !path.is_empty() && name != "[]" {
                path.push('.');
            }
            path.push_str(name);
        }
        path
    }
}

/// Shapes of the records of a corpus. They are noted while the corpus is scanned, if an output needs them.
///
/// Several threads note the chunks of a source, nearly in order. Chunks that touch or overlap are merged into one
/// stretch. A source that is being scanned thus has one long stretch, and a few stretches that wait for a chunk
/// before them.
#[derive(Debug)]
pub(crate) struct Shapes {
    /// Number of the first source whose shapes are needed.
    first_wanted: AtomicU32,
    /// Stretches, by source and offset of the first byte. No two stretches of a source touch.
    noted: Mutex<BTreeMap<(u32, u64), RecordStretch>>,
}

/// Shapes of the records that begin in consecutive bytes of a source.
#[derive(Debug)]
struct RecordStretch {
    end: u64,
    members: ObjectMembers,
}

impl RecordStretch {
    /// Adds a stretch that begins within this stretch or at its end.
    fn merge(&mut self, next: Self) {
        self.members.merge(next.members);
        self.end = self.end.max(next.end);
    }
}

impl Default for Shapes {
    fn default() -> Self {
        // No source has the number `u32::MAX`, so no scan has to note shapes.
        Self { first_wanted: AtomicU32::new(u32::MAX), noted: Mutex::default() }
    }
}

impl Shapes {
    /// Makes every later scan note the shapes of this source and of all sources after it. Callers pass the first
    /// input, because references come before the inputs and are never converted.
    pub(crate) fn want_from(&self, source: u32) {
        self.first_wanted.fetch_min(source, Ordering::Relaxed);
    }

    /// Reports whether a scan of this source has to note shapes.
    pub(crate) fn are_wanted(&self, source: u32) -> bool {
        source >= self.first_wanted.load(Ordering::Relaxed)
    }

    /// Notes the shape of the records that begin in these bytes of a source.
    pub(crate) fn note(&self, source: u32, bytes: Range<u64>, members: ObjectMembers) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut start, mut stretch) = (bytes.start, RecordStretch { end: bytes.end, members });
        let before = noted.range((source, 0)..=(source, start)).next_back();
        if let Some((&key, before)) = before.filter(|(_, before)| before.end >= start) {
            // All these bytes were already noted, and a second scan finds the same shapes.
            if before.end >= stretch.end {
                return;
            }
            if let Some(mut before) = noted.remove(&key) {
                before.merge(stretch);
                (start, stretch) = (key.1, before);
            }
        }
        while let Some((&key, _)) = noted.range((source, start)..=(source, stretch.end)).next()
            && let Some(next) = noted.remove(&key)
        {
            stretch.merge(next);
        }
        noted.insert((source, start), stretch);
    }

    /// Returns the shape of all records of a source of `size_bytes` bytes; `None` if some of its records were not
    /// scanned.
    pub(crate) fn of(&self, source: u32, size_bytes: u64) -> Option<ObjectMembers> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        match noted.get(&(source, 0)) {
            Some(stretch) => (stretch.end >= size_bytes).then(|| stretch.members.clone()),
            None => (size_bytes == 0).then(ObjectMembers::default),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(offset: u64) -> At {
        At { source: 0, offset }
    }

    fn numbers(texts: &[&str]) -> Result<DataType, Conflict> {
        let mut shape = Shape::default();
        for (offset, text) in (0..).zip(texts) {
            shape.note_number(Number::of(text), at(offset));
        }
        shape.data_type()
    }

    #[test]
    fn a_number_has_the_smallest_type_that_holds_it() {
        assert_eq!(Number::of("-0"), Number::Signed(0));
        assert_eq!(Number::of("9223372036854775807"), Number::Signed(i64::MAX));
        assert_eq!(Number::of("9223372036854775808"), Number::Unsigned(1 << 63));
        assert_eq!(Number::of("1e3"), Number::Float(1000.0));
        assert_eq!(Number::of("36893488147419103232"), Number::Float(2f64.powi(65)));
        assert_eq!(Number::of("36893488147419103233"), Number::Huge);
        assert_eq!(Number::of("9007199254740993.0"), Number::Float(9_007_199_254_740_992.0));
        assert_eq!(Number::of("9007199254740993e0"), Number::Float(9_007_199_254_740_992.0));
        assert_eq!(Number::of("1e999"), Number::Huge);
        assert_eq!(Number::of("1e-400"), Number::Huge);
        assert_eq!(Number::of("-0.0e5"), Number::Float(-0.0));
        assert_eq!(Number::Signed(i64::MAX).to_float(), None);
        assert_eq!(Number::Signed(i64::MIN).to_float(), Some(-(2f64.powi(63))));
        assert_eq!(Number::Unsigned(u64::MAX).to_float(), None);
        assert_eq!(Number::Signed((1 << 53) + 1).to_float(), None);
    }

    #[test]
    fn integers_become_floats_if_every_one_is_exact() {
        assert_eq!(numbers(&["1", "-2"]), Ok(DataType::Int64));
        assert_eq!(numbers(&["1", "9223372036854775808"]), Ok(DataType::UInt64));
        assert_eq!(numbers(&["1", "0.5"]), Ok(DataType::Float64));
        assert_eq!(numbers(&["-1", "9223372036854775808"]), Ok(DataType::Float64));
        assert_eq!(numbers(&["36893488147419103232", "1"]), Ok(DataType::Float64));
        let conflict = numbers(&["1", "0.5", "9007199254740993"]).unwrap_err();
        assert_eq!(conflict.seen.iter().map(|seen| seen.0.offset).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(numbers(&["1", "36893488147419103233"]).unwrap_err().seen.len(), 1);
        assert!(numbers(&["-1", "18446744073709551615"]).is_err());
    }

    #[test]
    fn a_conflict_names_the_way_to_it() {
        let mut members = ObjectMembers::default();
        let objects = members.shape("a", at(0)).note_object(at(0));
        let items = objects.shape("b", at(0)).note_list(at(0)).note_object(at(0)).shape("c", at(0));
        items.text = Some(at(3));
        items.boolean = Some(at(2));
        let conflict = members.fields().unwrap_err();
        assert_eq!(conflict.field(), "a.b[].c");
        assert_eq!(conflict.seen, [(at(2), "true or false"), (at(3), "a string")]);
    }

    #[test]
    fn parts_that_do_not_cover_a_source_tell_nothing() {
        let shapes = Shapes::default();
        let member = |name: &str| {
            let mut members = ObjectMembers::default();
            members.shape(name, at(0)).text = Some(at(0));
            members
        };
        shapes.note(1, 5..9, member("b"));
        assert!(shapes.of(1, 9).is_none());
        shapes.note(1, 0..5, member("a"));
        assert!(shapes.of(1, 10).is_none());
        let names =
            |members: ObjectMembers| members.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(shapes.of(1, 9).unwrap()), ["a", "b"]);
        assert_eq!(names(shapes.of(2, 0).unwrap()), Vec::<String>::new());
    }

    /// Makes the members of records. One record begins at each byte, and has one of seven members, with one of
    /// several kinds of values.
    fn seen(records: Range<u64>) -> ObjectMembers {
        let mut members = ObjectMembers::default();
        for record in records {
            let mixed = minwise::hash::fmix64(record + 1);
            let shape = members.note(&format!("m{}", mixed % 7), at(record)).unwrap();
            match mixed >> 8 & 3 {
                0 => {}
                1 => shape.text = shape.text.or(Some(at(record))),
                2 => shape.note_number(Number::Signed(1), at(record)),
                _ => {
                    let name = format!("n{}", mixed >> 16 & 3);
                    shape.note_object(at(record)).note(&name, at(record)).unwrap();
                }
            }
        }
        members
    }

    #[test]
    fn chunks_that_touch_are_kept_as_one() {
        let shapes = Shapes::default();
        let kept = || shapes.noted.lock().unwrap().len();
        // Two threads note chunks, and one of them is a chunk behind.
        for chunk in (0..100).step_by(2) {
            for chunk in [chunk + 1, chunk] {
                shapes.note(3, chunk * 10..chunk * 10 + 10, seen(chunk * 10..chunk * 10 + 10));
                assert!(kept() <= 2);
            }
        }
        assert_eq!(kept(), 1);
        assert_eq!(shapes.of(3, 1000), Some(seen(0..1000)));
        // If the source is scanned again in other chunks, nothing changes.
        shapes.note(3, 995..1000, seen(995..1000));
        shapes.note(3, 0..7, seen(0..7));
        assert_eq!((kept(), shapes.of(3, 1000)), (1, Some(seen(0..1000))));
        // Each source has its own stretches.
        shapes.note(4, 0..10, seen(0..10));
        shapes.note(2, 0..10, seen(0..10));
        assert_eq!((kept(), shapes.of(4, 10)), (3, Some(seen(0..10))));
    }

    /// The order in which chunks are noted depends on the threads, so the result must not depend on the order.
    #[test]
    fn members_over_the_limit_are_the_same_in_any_order() {
        let part = |number: u64| {
            let mut members = ObjectMembers::default();
            for member in 0..6_000 {
                // The shapes stay empty, so all values are null.
                members.note(&format!("{number}-{member}"), at(number * 6_000 + member));
            }
            members
        };
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let shapes = Shapes::default();
            for number in order {
                shapes.note(0, number * 6_000..(number + 1) * 6_000, part(number));
            }
            let all = shapes.of(0, 18_000).unwrap();
            assert_eq!((all.all.len(), all.too_many), (MOST_MEMBERS, Some(at(10_000))), "{order:?}");
        }
    }

    #[test]
    fn shapes_of_references_are_not_noted() {
        let shapes = Shapes::default();
        assert!(!shapes.are_wanted(0) && !shapes.are_wanted(7));
        shapes.want_from(5);
        assert!(!shapes.are_wanted(4) && shapes.are_wanted(5) && shapes.are_wanted(7));
        shapes.want_from(6);
        assert!(shapes.are_wanted(5));
    }

    proptest! {
        #[test]
        fn chunks_in_any_order_are_the_whole(chunks in prop::collection::vec((0u64..90, 1u64..30), 0..20)) {
            let shapes = Shapes::default();
            for (start, len) in chunks {
                let end = (start + len).min(90);
                shapes.note(1, start..end, seen(start..end));
            }
            for start in [40, 0, 60, 20] {
                shapes.note(1, start..start + 30, seen(start..start + 30));
            }
            prop_assert_eq!(shapes.of(1, 90), Some(seen(0..90)));
        }
    }
}
