//! Finds the columns of a schema from which documents are made.

use arrow_schema::{DataType, Schema};

use super::values::{is_id, is_text, is_value};
use super::way::{ColumnRoute, Step};
use super::written::VALUES;
use crate::column::{self, ColumnNumbers, KnownColumn};
use crate::error::{Error, Result};
use crate::field::FieldPath;
use crate::options::ReadOptions;
use crate::problem::FileProblem;

/// Columns from which documents are made.
#[derive(Debug)]
pub(in crate::container) struct WantedColumns {
    pub(in crate::container) columns: ColumnNumbers,
    /// Route to each column that can be named.
    pub(in crate::container) ways: Vec<ColumnRoute>,
}

/// Finds the wanted columns of a schema. `name` is the name of the source, for errors.
pub(in crate::container) fn wanted(
    name: &str,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<WantedColumns> {
    let named = named(schema);
    let known: Vec<Option<KnownColumn>> = named.iter().map(|named| Some(named.known.clone())).collect();
    let mut columns = column::find(name, &known, options)?;
    // A column of type null is ignored, because it holds no ids.
    columns.id = columns.id.filter(|id| named.get(*id).is_some_and(|named| !named.known.is_null));
    check(name, &named, &columns)?;
    Ok(WantedColumns { columns, ways: named.into_iter().map(|named| named.way).collect() })
}

/// A column that can be named.
struct Named {
    known: KnownColumn,
    way: ColumnRoute,
    kind: DataType,
}

/// Returns the columns that can be named, members of structs and elements of lists included.
fn named(schema: &Schema) -> Vec<Named> {
    fn add(kind: &DataType, path: FieldPath, way: ColumnRoute, out: &mut Vec<Named>) {
        let step = |step: Step| ColumnRoute { root: way.root, steps: [&way.steps[..], &[step]].concat() };
        match kind {
            DataType::Struct(members) => {
                for (number, member) in members.iter().enumerate() {
                    add(member.data_type(), path.member(member.name()), step(Step::Member(number)), out);
                }
            }
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element)
            | DataType::FixedSizeList(element, _) => {
                add(element.data_type(), path.each(), step(Step::Each), out);
            }
            _ => {
                let known = KnownColumn { path, is_null: *kind == DataType::Null };
                out.push(Named { known, way, kind: kind.clone() });
            }
        }
    }
    let mut out = vec![];
    for (root, field) in schema.fields().iter().enumerate() {
        let way = ColumnRoute { root, steps: vec![] };
        add(field.data_type(), FieldPath::field(field.name()), way, &mut out);
    }
    out
}

fn check(name: &str, named: &[Named], columns: &ColumnNumbers) -> Result<()> {
    let is_text_or_null = |kind: &DataType| is_text(kind) || *kind == DataType::Null;
    let wanted = columns.text.iter().map(|text| (*text, is_text_or_null as fn(&DataType) -> bool, "texts"));
    let id = columns.id.map(|id| (id, is_id as fn(&DataType) -> bool, "texts, whole numbers or booleans"));
    let values = columns.values.iter().map(|column| (*column, is_value as fn(&DataType) -> bool, VALUES));
    for (column, fits, expected) in wanted.chain(id).chain(values) {
        let Some(Named { known, kind, .. }) = named.get(column).filter(|named| !fits(&named.kind)) else {
            continue;
        };
        let (column, found) = (known.path.to_string(), kind.to_string());
        let problem = FileProblem::ColumnType { column, found, expected, in_lists: vec![] };
        return Err(Error::inside(name, problem));
    }
    Ok(())
}
