//! Finds the columns of a table that hold the text, the id and other wanted values.

use crate::error::{Error, Result};
use crate::field::FieldPath;
use crate::options::ReadOptions;
use crate::problem::FileProblem;

/// Numbers of the columns from which documents are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnNumbers {
    /// Column of each text field, in the order of `ReadOptions::text_fields`.
    pub(crate) text: Vec<usize>,
    pub(crate) id: Option<usize>,
    /// Column of each value field, in the order of `ReadOptions::value_fields`.
    pub(crate) values: Vec<usize>,
}

impl ColumnNumbers {
    /// Lists all columns: the text columns, then the id, then the values.
    pub(crate) fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.text.iter().copied().chain(self.id).chain(self.values.iter().copied())
    }
}

/// A column that a field path can name.
#[derive(Clone, Debug)]
pub(crate) struct KnownColumn {
    pub(crate) path: FieldPath,
    /// Whether the type of the column is null, so that all its values are null. Such a column may stand for any
    /// field, even for a field in a list or a group.
    pub(crate) is_null: bool,
}

impl KnownColumn {
    /// Makes a column whose type is not null.
    pub(crate) fn new(path: FieldPath) -> Self {
        Self { path, is_null: false }
    }
}

/// Finds the wanted columns in `known`, where `None` is a column that cannot be named.
///
/// Columns of texts and of values must exist. If the default id column does not exist, records have no ids. An id
/// column that the user names must exist.
pub(crate) fn find(
    name: &str,
    known: &[Option<KnownColumn>],
    options: &ReadOptions,
) -> Result<ColumnNumbers> {
    let text = |field: &FieldPath| {
        let found = position(name, known, field)?.or_else(|| null_position(known, field));
        found.ok_or_else(|| no_text(name, known, field))
    };
    let text = options.text_fields.iter().map(text).collect::<Result<_>>()?;
    let value = |field| position(name, known, field)?.ok_or_else(|| no_column(name, known, field));
    let values = options.value_fields.iter().map(value).collect::<Result<_>>()?;
    let id = position(name, known, &options.id_field)?;
    if id.is_none() && options.id_field != ReadOptions::default().id_field {
        return Err(no_column(name, known, &options.id_field));
    }
    Ok(ColumnNumbers { text, id, values })
}

/// Finds the column with this path. The whole path is also compared as a single name, because the name of a column
/// may contain dots or brackets. If no column has the name, spaces around the names are ignored, because many headers
/// have a space behind each comma.
fn position(name: &str, known: &[Option<KnownColumn>], field: &FieldPath) -> Result<Option<usize>> {
    let whole = FieldPath::field(field.to_string());
    let exact = only(name, known, field, |path| *path == *field || *path == whole)?;
    if exact.is_some() {
        return Ok(exact);
    }
    let plain = field.to_string();
    let is_name = |path: &FieldPath| matches!(path.parts(), [part] if part.trim() == plain.trim());
    only(name, known, field, |path| !path.has_lists() && is_name(path))
}

/// Returns the only column whose path is wanted, if there is one.
fn only(
    name: &str,
    known: &[Option<KnownColumn>],
    field: &FieldPath,
    is_wanted: impl Fn(&FieldPath) -> bool,
) -> Result<Option<usize>> {
    let is_wanted = |known: &Option<KnownColumn>| known.as_ref().is_some_and(|known| is_wanted(&known.path));
    let mut found = (0..).zip(known).filter(|(_, known)| is_wanted(known));
    let first = found.next();
    if found.next().is_some() {
        return Err(Error::inside(name, FileProblem::RepeatedColumn { column: field.to_string() }));
    }
    Ok(first.map(|(number, _)| number))
}

/// Finds a column of nulls on the path to a field.
fn null_position(known: &[Option<KnownColumn>], field: &FieldPath) -> Option<usize> {
    let leads_there = |known: &KnownColumn| known.is_null && known.path.begins(field);
    known.iter().position(|known| known.as_ref().is_some_and(leads_there))
}

/// Makes the error of a text field for which there is no column: a list lies on its path, or its path leads into lists
/// and the file has none, or the column does not exist.
fn no_text(name: &str, known: &[Option<KnownColumn>], field: &FieldPath) -> Error {
    let paths = || known.iter().flatten().map(|known| &known.path);
    let in_lists: Vec<String> =
        paths().filter(|path| field.misses_lists_of(path)).map(ToString::to_string).collect();
    if !in_lists.is_empty() {
        let (column, found) = (field.to_string(), "lists".to_owned());
        let problem = FileProblem::ColumnType { column, found, expected: "texts", in_lists };
        return Error::inside(name, problem);
    }
    if field.has_lists() && !paths().any(FieldPath::has_lists) {
        let columns = paths().map(ToString::to_string).collect();
        return Error::inside(name, FileProblem::NoLists { field: field.to_string(), columns });
    }
    no_column(name, known, field)
}

fn no_column(name: &str, known: &[Option<KnownColumn>], field: &FieldPath) -> Error {
    let columns = known.iter().flatten().map(|known| known.path.to_string()).collect();
    Error::inside(name, FileProblem::NoColumn { column: field.to_string(), columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds columns in `known`, a list of their paths. A `!` before a path means that the column holds only nulls; a
    /// `=` means that the rest is a single name.
    fn found(known: &[&str], text: &str, id: &str) -> Result<ColumnNumbers> {
        let column = |path: &&str| {
            if let Some(name) = path.strip_prefix('=') {
                return Some(KnownColumn::new(FieldPath::field(name)));
            }
            let is_null = path.starts_with('!');
            Some(KnownColumn { path: path.trim_start_matches('!').parse().unwrap(), is_null })
        };
        let known: Vec<Option<KnownColumn>> = known.iter().map(column).chain([None]).collect();
        let options = ReadOptions {
            text_fields: FieldPath::list(text).unwrap(),
            id_field: id.parse().unwrap(),
            ..ReadOptions::default()
        };
        find("a.csv", &known, &options)
    }

    #[test]
    fn columns_are_found_by_path_and_by_name() {
        let known = &["id", "meta.text", "=a.b"];
        assert_eq!(
            found(known, "meta.text", "id").unwrap(),
            ColumnNumbers { text: vec![1], id: Some(0), values: vec![] }
        );
        let both = ColumnNumbers { text: vec![2, 1], id: Some(2), values: vec![] };
        assert_eq!(found(known, "a.b,meta.text", "a.b").unwrap(), both);
        assert_eq!(
            found(&["text"], "text", "id").unwrap(),
            ColumnNumbers { text: vec![0], ..ColumnNumbers::default() }
        );
    }

    #[test]
    fn spaces_around_a_name_are_ignored_if_no_column_has_the_name() {
        let text = |known: &[&str]| found(known, "text", "id").map(|columns| (columns.text, columns.id));
        assert_eq!(text(&["= id", "= text "]).unwrap(), (vec![1], Some(0)));
        assert_eq!(text(&["= text", "=text"]).unwrap(), (vec![1], None));
        assert_eq!(text(&["= text", "=text "]).unwrap_err().code(), "repeated_column");
    }

    #[test]
    fn a_missing_column_is_named_beside_the_existing_ones() {
        let error = found(&["title", "meta.text"], "body", "id").unwrap_err();
        assert_eq!(error.to_string(), "`a.csv` has no column `body`");
        assert_eq!(error.hint().unwrap().to_string(), "its columns are `title` and `meta.text`");
        assert!(found(&["text"], "text", "key").is_err());
        let error = found(&["text", "text"], "text", "id").unwrap_err();
        assert_eq!(error.to_string(), "`a.csv` has two columns `text`");
    }

    #[test]
    fn columns_in_lists_are_found_by_their_paths() {
        let known = &["text", "messages[].role", "messages[].content", "=tags[]", "rows[][]"];
        let text = |field: &str| found(known, field, "id").map(|columns| columns.text);
        assert_eq!(text("messages[].content,rows[][]").unwrap(), [2, 4]);
        assert_eq!(text("tags[]").unwrap(), [3], "the name of a column may have brackets");
        for (field, in_lists) in [
            ("messages", "`messages[].role` and `messages[].content`"),
            ("messages.content", "`messages[].content`"),
            ("rows[]", "`rows[][]`"),
        ] {
            let error = text(field).unwrap_err();
            assert_eq!(error.to_string(), format!("the column `{field}` of `a.csv` holds lists, not texts"));
            assert_eq!(
                error.hint().unwrap().to_string(),
                format!("to read the texts of a list, write `[]` behind its name: {in_lists}")
            );
        }
        let error = text("text[]").unwrap_err();
        assert_eq!(error.to_string(), "`a.csv` has no column `text[]`");
        let error = found(&["text", "title"], "text[]", "id").unwrap_err();
        assert_eq!(error.to_string(), "`text[]` leads into a list, and `a.csv` has no lists");
        assert_eq!(error.hint().unwrap().to_string(), "its columns are `text` and `title`");
    }

    #[test]
    fn a_column_of_nulls_stands_for_everything_below_it() {
        let columns = found(&["id", "!messages", "!tags[]"], "messages[].content,tags[].name", "id").unwrap();
        assert_eq!(columns.text, [1, 2]);
        assert!(found(&["!id"], "text", "id.key").is_err(), "an id is looked for by its own path");
    }
}
