//! Which columns of a table hold the text, the id and other wanted values.

use crate::error::{Error, Result};
use crate::field::FieldPath;
use crate::options::ReadOptions;
use crate::problem::Problem;

/// The numbers of the columns that documents are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// One for each text field, in the order in which they were asked for.
    pub(crate) text: Vec<usize>,
    pub(crate) id: Option<usize>,
    /// One for each value field.
    pub(crate) values: Vec<usize>,
}

impl Columns {
    /// All of them: the text columns, then the id, then the values.
    pub(crate) fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.text.iter().copied().chain(self.id).chain(self.values.iter().copied())
    }
}

/// Finds the wanted columns among those there are, each given by its path.
///
/// A column of texts or of values must be there. An id column need not be if it is the default one: then there are no ids.
pub(crate) fn find(name: &str, known: &[Vec<String>], options: &ReadOptions) -> Result<Columns> {
    let there = |field| position(name, known, field)?.ok_or_else(|| no_column(name, known, field));
    let text = options.text_fields.iter().map(there).collect::<Result<_>>()?;
    let values = options.value_fields.iter().map(there).collect::<Result<_>>()?;
    let id = position(name, known, &options.id_field)?;
    if id.is_none() && options.id_field != ReadOptions::default().id_field {
        return Err(no_column(name, known, &options.id_field));
    }
    Ok(Columns { text, id, values })
}

/// The column with this path; a column whose own name has dots in it is found too.
fn position(name: &str, known: &[Vec<String>], field: &FieldPath) -> Result<Option<usize>> {
    let whole = [field.to_string()];
    let mut found =
        (0..).zip(known).filter(|(_, path)| path.as_slice() == field.parts() || path.as_slice() == whole);
    let first = found.next();
    if found.next().is_some() {
        return Err(Error::inside(name, Problem::RepeatedColumn { column: field.to_string() }));
    }
    Ok(first.map(|(number, _)| number))
}

fn no_column(name: &str, known: &[Vec<String>], field: &FieldPath) -> Error {
    let columns = known.iter().map(|path| path.join(".")).collect();
    Error::inside(name, Problem::NoColumn { column: field.to_string(), columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(known: &[&[&str]], text: &str, id: &str) -> Result<Columns> {
        let known: Vec<Vec<String>> =
            known.iter().map(|path| path.iter().map(ToString::to_string).collect()).collect();
        let options = ReadOptions {
            text_fields: FieldPath::list(text).unwrap(),
            id_field: id.parse().unwrap(),
            ..ReadOptions::default()
        };
        find("a.csv", &known, &options)
    }

    #[test]
    fn columns_are_found_by_path_and_by_name() {
        let known: &[&[&str]] = &[&["id"], &["meta", "text"], &["a.b"]];
        assert_eq!(
            found(known, "meta.text", "id").unwrap(),
            Columns { text: vec![1], id: Some(0), values: vec![] }
        );
        let both = Columns { text: vec![2, 1], id: Some(2), values: vec![] };
        assert_eq!(found(known, "a.b,meta.text", "a.b").unwrap(), both);
        assert_eq!(
            found(&[&["text"]], "text", "id").unwrap(),
            Columns { text: vec![0], ..Columns::default() }
        );
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let error = found(&[&["title"], &["meta", "text"]], "body", "id").unwrap_err();
        assert_eq!(error.to_string(), "`a.csv` has no column `body`");
        assert_eq!(error.hint().unwrap().to_string(), "its columns are `title` and `meta.text`");
        assert!(found(&[&["text"]], "text", "key").is_err());
        let error = found(&[&["text"], &["text"]], "text", "id").unwrap_err();
        assert_eq!(error.to_string(), "`a.csv` has two columns `text`");
    }
}
