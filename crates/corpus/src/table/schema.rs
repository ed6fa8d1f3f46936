//! Whether tables are alike, and what they have.

use ::parquet::schema::types::Type;
use arrow_schema::Schema;

use super::{Form, Table, arrow};
use crate::error::{Error, ErrorKind, Result};
use crate::problem::Problem;
use crate::source::Source;

/// Refuses tables that cannot be written as one, naming the first difference.
pub(crate) fn refuse_unlike(sources: &[Source]) -> Result<()> {
    let Some((first, rest)) = sources.split_first() else { return Ok(()) };
    let Some(table) = first.table() else { return Ok(()) };
    for second in rest {
        if let Some(difference) = second.table().and_then(|other| difference(table, other)) {
            return Err(Error::new(ErrorKind::SchemasDiffer {
                first: first.name().to_owned(),
                second: second.name().to_owned(),
                difference,
            }));
        }
    }
    Ok(())
}

/// Refuses tables that have a column of this name.
pub(crate) fn refuse_column(sources: &[Source], column: &str) -> Result<()> {
    for source in sources {
        if source.table().is_some_and(|table| names(table).contains(&column)) {
            return Err(Error::inside(source.name(), Problem::ColumnExists { column: column.to_owned() }));
        }
    }
    Ok(())
}

fn names(table: &Table) -> Vec<&str> {
    match &table.form {
        Form::Parquet(file) => file.schema().get_fields().iter().map(|field| field.name()).collect(),
        Form::Arrow(file) => file.schema().fields().iter().map(|field| field.name().as_str()).collect(),
    }
}

fn difference(first: &Table, second: &Table) -> Option<String> {
    match (&first.form, &second.form) {
        (Form::Parquet(first), Form::Parquet(second)) => parquet_difference(first.schema(), second.schema()),
        (Form::Arrow(first), Form::Arrow(second)) => {
            arrow_difference(first.schema(), second.schema()).or_else(|| dictionary(first, second))
        }
        _ => Some("one is Parquet and the other Arrow IPC".to_owned()),
    }
}

fn parquet_difference(first: &Type, second: &Type) -> Option<String> {
    column_difference(first.get_fields(), second.get_fields(), |field| field.name())
}

fn arrow_difference(first: &Schema, second: &Schema) -> Option<String> {
    column_difference(first.fields(), second.fields(), |field| field.name().as_str())
}

/// A file has one dictionary for a column, and those of different files are seldom the same.
fn dictionary(first: &arrow::File, second: &arrow::File) -> Option<String> {
    let column = first.of_one_dictionary().filter(|_| second.of_one_dictionary().is_some())?;
    Some(format!("each has a dictionary for the column `{column}`, and one Arrow file cannot have two"))
}

fn column_difference<T: PartialEq>(first: &[T], second: &[T], name: impl Fn(&T) -> &str) -> Option<String> {
    if first.len() != second.len() {
        return Some(format!("they have {} and {} columns", first.len(), second.len()));
    }
    let (first, second) = first.iter().zip(second).find(|(first, second)| first != second)?;
    Some(match (name(first), name(second)) {
        (first, second) if first == second => format!("the column `{first}` has different types"),
        (first, second) => format!("where one has the column `{first}`, the other has `{second}`"),
    })
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let schema = |fields: &[(&str, DataType)]| {
            let fields = fields.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true));
            Schema::new(fields.collect::<Vec<_>>())
        };
        let difference = |second: &[(&str, DataType)]| {
            let first = schema(&[("a", DataType::Utf8), ("b", DataType::Int8)]);
            arrow_difference(&first, &schema(second))
        };
        assert_eq!(difference(&[("a", DataType::Utf8), ("b", DataType::Int8)]), None);
        assert_eq!(difference(&[("a", DataType::Utf8)]).unwrap(), "they have 2 and 1 columns");
        assert_eq!(
            difference(&[("a", DataType::Utf8), ("b", DataType::Utf8)]).unwrap(),
            "the column `b` has different types"
        );
        assert_eq!(
            difference(&[("c", DataType::Utf8), ("b", DataType::Int8)]).unwrap(),
            "where one has the column `a`, the other has `c`"
        );
    }
}
