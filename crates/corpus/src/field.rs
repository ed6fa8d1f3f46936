//! Where in a record a value is found.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// The path of a field in a JSON object: `text`, or `meta.id` for the member `id` of the member `meta`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath {
    parts: Vec<String>,
}

impl FieldPath {
    /// The names to follow from the top of the record, at least one.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Several paths, separated by commas.
    pub fn list(paths: &str) -> Result<Vec<Self>, Error> {
        paths.split(',').map(|path| path.trim().parse()).collect()
    }

    /// A path of one name, which may itself contain dots: `field("a.b")` is the member called `a.b`.
    pub fn field(name: impl Into<String>) -> Self {
        Self { parts: vec![name.into()] }
    }
}

impl FromStr for FieldPath {
    type Err = Error;

    fn from_str(path: &str) -> Result<Self, Error> {
        let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
        if parts.iter().any(String::is_empty) {
            return Err(Error::new(ErrorKind::BadOption {
                option: "a field",
                given: path.to_owned(),
                expected: "names separated by single dots, such as `text` or `meta.id`",
            }));
        }
        Ok(Self { parts })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.join("."))
    }
}

/// The texts of several fields as one, a line break between each two; `None` if all of them are missing.
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
    fn a_list_is_split_at_its_commas() {
        let paths = FieldPath::list("title, meta.body").unwrap();
        assert_eq!(paths.iter().map(ToString::to_string).collect::<Vec<_>>(), ["title", "meta.body"]);
        assert!(FieldPath::list("title,").is_err());
    }

    #[test]
    fn empty_parts_are_refused() {
        for path in ["", ".", "a.", ".a", "a..b"] {
            let error = path.parse::<FieldPath>().unwrap_err();
            assert!(error.to_string().contains("names separated by single dots"), "{error}");
        }
    }
}
