//! Finds the names of the columns of a file, and the levels at which their lists begin.
//!
//! Parquet stores a column for each leaf of its schema, and a list takes up to three nodes of the schema. The
//! standard form is `group tags (LIST) { repeated group list { optional binary element; } }`; older writers leave out
//! one or both of the inner nodes. Users name the elements of the list, so all these forms are `tags[]`. The rules
//! for the older forms are in the documentation of the format (`LogicalTypes.md`, "Backward-compatibility rules").

use ::parquet::basic::{ConvertedType, LogicalType, Repetition};
use ::parquet::schema::types::{Type, TypePtr};

use crate::field::FieldPath;

/// A column of the file, which is a leaf of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) path: FieldPath,
    /// Definition level from which on the outermost list of the column exists; at lower levels, the row is null.
    /// `None` if the column is in no list.
    pub(super) listed_from: Option<i16>,
}

/// Returns the columns of a schema, in order; `None` for keys and values of maps, because a map is no list.
pub(super) fn leaves(root: &Type) -> Vec<Option<Leaf>> {
    let mut out = Vec::new();
    for field in root.get_fields() {
        let way =
            LeafPath { path: FieldPath::field(field.name()), level: 0, listed_from: None, is_mapped: false };
        add_field(field, way, &mut out);
    }
    out
}

/// Route from the root of the schema to a node.
#[derive(Clone)]
struct LeafPath {
    path: FieldPath,
    /// Definition level of a value at the node.
    level: i16,
    listed_from: Option<i16>,
    is_mapped: bool,
}

impl LeafPath {
    fn optional(self) -> Self {
        Self { level: self.level + 1, ..self }
    }

    /// Returns the route to the elements of a list.
    fn each(self) -> Self {
        let listed_from = self.listed_from.or(Some(self.level));
        Self { path: self.path.each(), level: self.level + 1, listed_from, ..self }
    }
}

fn repetition(node: &Type) -> Repetition {
    let info = node.get_basic_info();
    if info.has_repetition() { info.repetition() } else { Repetition::REQUIRED }
}

/// Adds the columns of a field. The last name of the route is the name of the field.
fn add_field(field: &TypePtr, way: LeafPath, out: &mut Vec<Option<Leaf>>) {
    let way = match repetition(field) {
        Repetition::REQUIRED => way,
        Repetition::OPTIONAL => way.optional(),
        // A repeated field without annotation is a list, and its values are never null.
        Repetition::REPEATED => way.each(),
    };
    add_value(field, way, out);
}

/// Adds the columns of the node at the end of this route. The route already counts the repetition of the node.
fn add_value(node: &TypePtr, way: LeafPath, out: &mut Vec<Option<Leaf>>) {
    if node.is_primitive() {
        let LeafPath { path, listed_from, is_mapped, .. } = way;
        out.push((!is_mapped).then_some(Leaf { path, listed_from }));
        return;
    }
    let info = node.get_basic_info();
    let (old, logical) = (info.converted_type(), info.logical_type_ref());
    match node.get_fields() {
        [inner]
            if (old == ConvertedType::LIST || matches!(logical, Some(LogicalType::List)))
                && repetition(inner) == Repetition::REPEATED =>
        {
            add_elements(inner, node.name(), way.each(), out);
        }
        fields => {
            let is_map = matches!(old, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE)
                || matches!(logical, Some(LogicalType::Map));
            for field in fields {
                let path = way.path.member(field.name());
                let is_mapped = way.is_mapped || is_map;
                add_field(field, LeafPath { path, is_mapped, ..way.clone() }, out);
            }
        }
    }
}

/// Adds the columns of the repeated node in a list.
fn add_elements(inner: &TypePtr, list: &str, way: LeafPath, out: &mut Vec<Option<Leaf>>) {
    let is_element = |inner: &TypePtr| inner.name() == "array" || inner.name() == format!("{list}_tuple");
    match inner.is_group().then(|| inner.get_fields()) {
        // The standard form: the only field of the repeated group is the element.
        Some([only]) if repetition(only) != Repetition::REPEATED && !is_element(inner) => {
            let is_optional = repetition(only) == Repetition::OPTIONAL;
            add_value(only, if is_optional { way.optional() } else { way }, out);
        }
        // An older form: the repeated node is the element.
        _ => add_value(inner, way, out),
    }
}

#[cfg(test)]
mod tests {
    use ::parquet::schema::parser::parse_message_type;
    use ::parquet::schema::types::SchemaDescriptor;
    use std::sync::Arc;

    use super::*;

    /// Returns the names of the columns, each with the level from which on its list exists.
    fn named(schema: &str) -> Vec<String> {
        let schema = parse_message_type(&format!("message m {{ {schema} }}")).unwrap();
        let found = leaves(&schema);
        let columns = SchemaDescriptor::new(Arc::new(schema));
        assert_eq!(found.len(), columns.num_columns());
        let named = found.iter().zip(columns.columns()).map(|(leaf, column)| {
            let Some(Leaf { path, listed_from }) = leaf else { return "-".to_owned() };
            let lists: usize = (0..path.parts().len()).map(|part| path.lists_behind(part)).sum();
            assert_eq!(lists, column.max_rep_level() as usize, "{path}");
            format!("{path}{}", listed_from.map(|level| format!(" {level}")).unwrap_or_default())
        });
        named.collect()
    }

    #[test]
    fn a_list_is_one_in_every_form() {
        for list in [
            "optional group tags (LIST) { repeated group list { optional binary element (UTF8); } }",
            "optional group tags (LIST) { repeated group list { required binary item (UTF8); } }",
            "optional group tags (LIST) { repeated group bag { optional binary array_element (UTF8); } }",
            "optional group tags (LIST) { repeated binary array (UTF8); }",
            "optional group tags (LIST) { repeated binary element (UTF8); }",
        ] {
            assert_eq!(named(list), ["tags[] 1"], "{list}");
        }
        assert_eq!(named("repeated binary tags (UTF8);"), ["tags[] 0"]);
        assert_eq!(
            named("optional group m { repeated group tags { required binary t; } }"),
            ["m.tags[].t 1"]
        );
    }

    #[test]
    fn elements_may_be_groups_and_lists() {
        let messages = "required group messages (LIST) { repeated group list { optional group element {
            required binary role; optional binary content; } } }";
        assert_eq!(named(messages), ["messages[].role 0", "messages[].content 0"]);
        for old in [
            "required group a (LIST) { repeated group array { required binary b; } }",
            "required group a (LIST) { repeated group a_tuple { required binary b; } }",
        ] {
            assert_eq!(named(old), ["a[].b 0"], "{old}");
        }
        let two =
            "required group a (LIST) { repeated group element { required binary b; required binary c; } }";
        assert_eq!(named(two), ["a[].b 0", "a[].c 0"]);
        let nested = "optional group rows (LIST) { repeated group list { optional group element (LIST) {
            repeated group list { optional binary element; } } } }";
        assert_eq!(named(nested), ["rows[][] 1"]);
        let old = "optional group rows (LIST) { repeated group array (LIST) { repeated binary array; } }";
        assert_eq!(named(old), ["rows[][] 1"]);
        let parts = "optional group a (LIST) { repeated group list { optional group element {
            optional group b (LIST) { repeated group list { optional binary element; } } } } }";
        assert_eq!(named(parts), ["a[].b[] 1"]);
    }

    #[test]
    fn a_map_is_no_list() {
        let map = "required binary text; optional group scores (MAP) { repeated group key_value {
            required binary key; optional group value (LIST) { repeated group list { optional int32 element; } } } }
            required binary id;";
        assert_eq!(named(map), ["text", "-", "-", "id"]);
    }
}
