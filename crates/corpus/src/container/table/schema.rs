//! Compares the columns of tables.

/// Returns the first difference between the columns of two tables; `None` if they can be written as one.
pub(crate) fn column_difference<T: PartialEq>(
    first: &[T],
    second: &[T],
    name: impl Fn(&T) -> &str,
) -> Option<String> {
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
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let schema = |fields: &[(&str, DataType)]| {
            let fields = fields.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true));
            Schema::new(fields.collect::<Vec<_>>())
        };
        let difference = |second: &[(&str, DataType)]| {
            let first = schema(&[("a", DataType::Utf8), ("b", DataType::Int8)]);
            column_difference(first.fields(), schema(second).fields(), |field| field.name())
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
