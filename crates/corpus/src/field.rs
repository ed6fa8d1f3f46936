//! The path from the top of a record to a value.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// Path of a field in a record: `text`, `meta.id` for the member `id` of the member `meta`, or `messages[].content`
/// for the member `content` of each element of the list `messages`. `rows[][]` leads into a list of lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath {
    parts: Vec<String>,
    /// Number of lists behind each part; empty if the path leads into no list.
    lists: Vec<usize>,
}

/// Mark in a path that leads to the elements of a list.
const EACH: &str = "[]";

/// Separator between the texts of a list.
pub(crate) const BETWEEN_ELEMENTS: &str = "\n\n";

impl FieldPath {
    /// Returns the names to follow from the top of the record. There is at least one name.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Reports whether the path leads into a list.
    pub fn has_lists(&self) -> bool {
        !self.lists.is_empty()
    }

    /// Refuses a path into a list, for an id or another field that must have one value.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::BadOption`] if the path leads into a list.
    pub fn check_one_value(&self) -> Result<(), Error> {
        if !self.has_lists() {
            return Ok(());
        }
        let (given, expected) = (self.to_string(), "a path without `[]`, which leads into a list");
        Err(Error::new(ErrorKind::BadOption { option: "the path of one value", given, expected }))
    }

    /// Parses several paths, separated by commas.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::BadOption`] if a path is empty or has an empty part, as in `a..b`.
    pub fn list(paths: &str) -> Result<Vec<Self>, Error> {
        paths.split(',').map(|path| path.trim().parse()).collect()
    }

    /// Makes a path of one name, which may contain dots and brackets: `field("a.b")` leads to the member called
    /// `a.b`, and `field("a[]")` to the member called `a[]`.
    pub fn field(name: impl Into<String>) -> Self {
        Self { parts: vec![name.into()], lists: vec![] }
    }

    /// Returns the number of lists behind a part.
    pub(crate) fn lists_behind(&self, part: usize) -> usize {
        self.lists.get(part).copied().unwrap_or(0)
    }

    /// Returns the names up to the first list, or all names if the path leads into no list.
    pub(crate) fn head(&self) -> &[String] {
        let first = self.lists.iter().position(|lists| *lists > 0).map_or(self.parts.len(), |part| part + 1);
        self.parts.get(..first).unwrap_or(&self.parts)
    }

    /// Returns the path with the name of a member added.
    pub(crate) fn member(&self, name: &str) -> Self {
        let mut path = self.clone();
        path.parts.push(name.to_owned());
        if path.has_lists() {
            path.lists.push(0);
        }
        path
    }

    /// Returns the path to the elements of the list to which this path leads.
    pub(crate) fn each(&self) -> Self {
        let mut path = self.clone();
        path.lists.resize(path.parts.len(), 0);
        if let Some(last) = path.lists.last_mut() {
            *last += 1;
        }
        path
    }

    /// Returns the path up to this part and the first `lists` lists behind the part.
    pub(crate) fn up_to(&self, part: usize, lists: usize) -> Self {
        let cut = |count: usize, value: usize| if count == part { lists } else { value };
        let lists: Vec<usize> = (0..=part).map(|number| cut(number, self.lists_behind(number))).collect();
        let parts = self.parts.iter().take(part + 1).cloned().collect();
        Self { parts, lists: if lists.iter().all(|lists| *lists == 0) { vec![] } else { lists } }
    }

    /// Reports whether this path is the beginning of another path, or leads to a list on that path. The caller knows
    /// that all values of this path are null.
    pub(crate) fn begins(&self, other: &Self) -> bool {
        let last = self.parts.len() - 1;
        let has_room = |(part, name): (usize, &String)| {
            let (own, others) = (self.lists_behind(part), other.lists_behind(part));
            other.parts.get(part) == Some(name) && (own == others || part == last && own < others)
        };
        self.parts.iter().enumerate().all(has_room)
    }

    /// Reports whether the other path begins with the names of this path and leads into a list where this path does
    /// not. For example, `messages[].content` does so for `messages.content` and for `messages`.
    pub(crate) fn misses_lists_of(&self, other: &Self) -> bool {
        other.parts.starts_with(&self.parts)
            && (0..self.parts.len()).any(|part| other.lists_behind(part) > self.lists_behind(part))
    }
}

impl FromStr for FieldPath {
    type Err = Error;

    fn from_str(path: &str) -> Result<Self, Error> {
        let (mut parts, mut lists) = (vec![], vec![]);
        for part in path.split('.') {
            let (mut name, mut count) = (part, 0);
            while let Some(list) = name.strip_suffix(EACH) {
                (name, count) = (list, count + 1);
            }
            parts.push(name.to_owned());
            lists.push(count);
        }
        if parts.iter().any(String::is_empty) {
            return Err(Error::new(ErrorKind::BadOption {
                option: "a field",
                given: path.to_owned(),
                expected: "names separated by single dots, such as `text` or `meta.id`",
            }));
        }
        if lists.iter().all(|count| *count == 0) {
            lists = vec![];
        }
        Ok(Self { parts, lists })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.parts.iter().enumerate() {
            if number > 0 {
                f.write_str(".")?;
            }
            f.write_str(part)?;
            for _ in 0..self.lists_behind(number) {
                f.write_str(EACH)?;
            }
        }
        Ok(())
    }
}

/// Joins the texts of several fields by line breaks; `None` if all texts are missing. If another text exists, a
/// missing text is an empty text.
pub(crate) fn join<'a>(texts: impl Iterator<Item = Option<Cow<'a, str>>>) -> Option<Cow<'a, str>> {
    let texts: Vec<Option<Cow<'a, str>>> = texts.collect();
    if texts.iter().all(Option::is_none) {
        return None;
    }
    let mut texts = texts.into_iter().map(Option::unwrap_or_default);
    let first = texts.next()?;
    Some(texts.fold(first, |mut joined, text| {
        joined.to_mut().push('\n');
        joined.to_mut().push_str(&text);
        joined
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_at_its_dots() {
        let path: FieldPath = "meta.id".parse().unwrap();
        assert_eq!(path.parts(), ["meta", "id"]);
        assert_eq!(path.to_string(), "meta.id");
        assert_eq!(FieldPath::field("a.b").parts(), ["a.b"]);
    }

    #[test]
    fn brackets_lead_into_lists() {
        let path: FieldPath = "meta.rows[][].text".parse().unwrap();
        assert_eq!(
            (path.parts(), path.has_lists()),
            (&["meta", "rows", "text"].map(str::to_owned)[..], true)
        );
        assert_eq!([0, 1, 2].map(|part| path.lists_behind(part)), [0, 2, 0]);
        assert_eq!(
            (path.to_string(), path.head().join(".")),
            ("meta.rows[][].text".into(), "meta.rows".into())
        );
        assert_eq!(path.up_to(1, 1), "meta.rows[]".parse().unwrap());
        assert_eq!(path.up_to(0, 0), "meta".parse().unwrap());
        let built = FieldPath::field("meta").member("rows").each().each().member("text");
        assert_eq!(built, path);
        let plain = FieldPath::field("a[]");
        assert_eq!((plain.parts(), plain.has_lists()), (&["a[]".to_owned()][..], false));
        for name in ["a[0]", "a[]b", "[a"] {
            let path: FieldPath = name.parse().unwrap();
            assert_eq!((path.parts(), path.has_lists()), (&[name.to_owned()][..], false));
        }
    }

    #[test]
    fn paths_are_compared_list_by_list() {
        let path = |path: &str| path.parse::<FieldPath>().unwrap();
        for (null, other) in [("a", "a"), ("a", "a[].b"), ("a", "a.b"), ("a[]", "a[].b"), ("a[]", "a[][]")] {
            assert!(path(null).begins(&path(other)), "{null} {other}");
        }
        for (null, other) in [("a", "b"), ("a[]", "a.b"), ("a.b", "a"), ("a.b", "a[].b")] {
            assert!(!path(null).begins(&path(other)), "{null} {other}");
        }
        for field in ["messages", "messages.content"] {
            assert!(path(field).misses_lists_of(&path("messages[].content")), "{field}");
        }
        for field in ["messages[]", "messages[].content", "content", "other"] {
            assert!(!path(field).misses_lists_of(&path("messages[].content")), "{field}");
        }
    }

    #[test]
    fn a_list_is_split_at_its_commas() {
        let paths = FieldPath::list("title, meta.body").unwrap();
        assert_eq!(paths.iter().map(ToString::to_string).collect::<Vec<_>>(), ["title", "meta.body"]);
        assert!(FieldPath::list("title,").is_err());
    }

    #[test]
    fn empty_parts_are_refused() {
        for path in ["", ".", "a.", ".a", "a..b", "[]", "[].a", "a.[]"] {
            let error = path.parse::<FieldPath>().unwrap_err();
            assert!(error.to_string().contains("names separated by single dots"), "{error}");
        }
    }
}
