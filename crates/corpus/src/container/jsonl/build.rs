//! Builds record batches from lines.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, ListArray, NullArray, RecordBatch, StructArray, new_null_array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema, SchemaRef};
use serde_json::value::RawValue;

use super::types::{items_of, text_of};
use super::values::members_of;
use crate::container::table::dotted;
use crate::decode::BOM;
use crate::shape::Number;

/// A record batch that is being built.
pub(super) struct BatchBuilder {
    schema: SchemaRef,
    records: Objects,
}

impl BatchBuilder {
    /// Begins a batch with these columns.
    pub(super) fn new(schema: &SchemaRef) -> Self {
        Self { schema: Arc::clone(schema), records: Objects::new(schema.fields()) }
    }

    /// Adds a line. If a value does not fit its column, fails with the path of the column.
    pub(super) fn push(&mut self, line: &str) -> Result<(), String> {
        self.records.push(Some(line.strip_prefix(BOM).unwrap_or(line)))
    }

    pub(super) fn finish(self) -> Result<RecordBatch, ArrowError> {
        let rows = self.records.rows;
        let columns =
            self.records.members.into_iter().map(ColumnBuilder::finish).collect::<Result<_, _>>()?;
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema, columns, &options)
    }
}

/// Returns the columns that lines are built into: the columns of an output, but with texts as `Utf8` and lists as
/// `List`, because only these forms are built. The caller converts the columns to the forms of the output.
pub(super) fn built(schema: &SchemaRef) -> SchemaRef {
    let fields: Fields = schema.fields().iter().map(built_field).collect();
    Arc::new(Schema::new(fields))
}

fn built_field(field: &FieldRef) -> FieldRef {
    let kind = match field.data_type() {
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::List(items) | DataType::LargeList(items) => DataType::List(built_field(items)),
        DataType::Struct(members) => DataType::Struct(members.iter().map(built_field).collect()),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(kind))
}

/// Builder of a column, by the type of its values.
enum ColumnBuilder {
    /// Nulls of a type that JSON cannot hold, and their number.
    Null(DataType, usize),
    Boolean(BooleanBuilder),
    Signed(Int64Builder),
    Unsigned(UInt64Builder),
    Float(Float64Builder),
    /// Strings. If all columns of the output are texts, a value that is no string is written as its JSON.
    Text(StringBuilder),
    List(Box<ListColumnBuilder>),
    Object(Fields, Objects),
}

impl ColumnBuilder {
    fn new(kind: &DataType) -> Self {
        match kind {
            DataType::Boolean => Self::Boolean(BooleanBuilder::new()),
            DataType::Int64 => Self::Signed(Int64Builder::new()),
            DataType::UInt64 => Self::Unsigned(UInt64Builder::new()),
            DataType::Float64 => Self::Float(Float64Builder::new()),
            DataType::Utf8 => Self::Text(StringBuilder::new()),
            DataType::List(items) => Self::List(Box::new(ListColumnBuilder::new(items))),
            DataType::Struct(members) => Self::Object(members.clone(), Objects::new(members)),
            other => Self::Null(other.clone(), 0),
        }
    }

    /// Adds a value; `None` is null. Fails with the path from this value to the part that does not fit.
    fn push(&mut self, value: Option<&RawValue>) -> Result<(), String> {
        let value = value.filter(|value| value.get() != "null");
        let misfit = String::new;
        match (self, value) {
            (Self::Null(_, rows), None) => *rows += 1,
            (Self::Null(..), Some(_)) => return Err(misfit()),
            (Self::Boolean(builder), value) => builder.append_option(match value.map(RawValue::get) {
                None => None,
                Some("true") => Some(true),
                Some("false") => Some(false),
                Some(_) => return Err(misfit()),
            }),
            (Self::Signed(builder), value) => builder.append_option(match value.map(number) {
                None => None,
                Some(Number::Signed(number)) => Some(number),
                Some(_) => return Err(misfit()),
            }),
            (Self::Unsigned(builder), value) => builder.append_option(match value.map(number) {
                None => None,
                Some(Number::Signed(number)) => Some(u64::try_from(number).map_err(|_| misfit())?),
                Some(Number::Unsigned(number)) => Some(number),
                Some(_) => return Err(misfit()),
            }),
            (Self::Float(builder), value) => {
                builder.append_option(
                    value.map(|value| number(value).to_float().ok_or_else(misfit)).transpose()?,
                );
            }
            (Self::Text(builder), None) => builder.append_null(),
            (Self::Text(builder), Some(value)) => match (text_of(value), value.get().as_bytes().first()) {
                (Some(text), _) => builder.append_value(text),
                (None, Some(b'[' | b'{')) => return Err(misfit()),
                (None, _) => builder.append_value(value.get()),
            },
            (Self::List(lists), value) => lists.push(value)?,
            (Self::Object(_, objects), value) => match value.map(RawValue::get) {
                None => objects.push(None)?,
                Some(object) if object.starts_with('{') => objects.push(Some(object))?,
                Some(_) => return Err(misfit()),
            },
        }
        Ok(())
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Null(DataType::Null, rows) => Arc::new(NullArray::new(rows)),
            Self::Null(kind, rows) => new_null_array(&kind, rows),
            Self::Boolean(mut builder) => Arc::new(builder.finish()),
            Self::Signed(mut builder) => Arc::new(builder.finish()),
            Self::Unsigned(mut builder) => Arc::new(builder.finish()),
            Self::Float(mut builder) => Arc::new(builder.finish()),
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::List(lists) => lists.finish()?,
            Self::Object(fields, objects) => objects.finish(fields)?,
        })
    }
}

/// Returns the number that a value holds. A value that is no number is `Huge`, which fits no column of numbers.
fn number(value: &RawValue) -> Number {
    match value.get().as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => Number::of(value.get()),
        _ => Number::Huge,
    }
}

/// Builder of lists of one type.
struct ListColumnBuilder {
    field: FieldRef,
    items: ColumnBuilder,
    ends: Vec<i32>,
    there: BooleanBufferBuilder,
    count: i32,
}

impl ListColumnBuilder {
    fn new(field: &FieldRef) -> Self {
        Self {
            field: Arc::clone(field),
            items: ColumnBuilder::new(field.data_type()),
            ends: vec![0],
            there: BooleanBufferBuilder::new(0),
            count: 0,
        }
    }

    fn push(&mut self, value: Option<&RawValue>) -> Result<(), String> {
        if let Some(value) = value {
            if !value.get().starts_with('[') {
                return Err(String::new());
            }
            for item in items_of(value) {
                self.items.push(Some(item)).map_err(|way| format!("[]{}", dotted(&way)))?;
                // A batch has some MiB, so the number of its items fits `i32`.
                self.count += 1;
            }
        }
        self.there.append(value.is_some());
        self.ends.push(self.count);
        Ok(())
    }

    fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let ends = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        let nulls = NullBuffer::new(self.there.finish());
        Ok(Arc::new(ListArray::try_new(self.field, ends, self.items.finish()?, Some(nulls))?))
    }
}

/// Builder of objects with the same members.
struct Objects {
    members: Vec<ColumnBuilder>,
    numbers: HashMap<String, usize>,
    there: BooleanBufferBuilder,
    rows: usize,
}

impl Objects {
    fn new(fields: &Fields) -> Self {
        Self {
            members: fields.iter().map(|field| ColumnBuilder::new(field.data_type())).collect(),
            numbers: fields.iter().map(|field| field.name().clone()).zip(0..).collect(),
            there: BooleanBufferBuilder::new(0),
            rows: 0,
        }
    }

    fn push(&mut self, object: Option<&str>) -> Result<(), String> {
        let mut values: Vec<Option<&RawValue>> = vec![None; self.members.len()];
        for (name, value) in object.map(members_of).unwrap_or_default() {
            match self.numbers.get(&*name).and_then(|&number| values.get_mut(number)) {
                // If an object has several members of one name, the last counts, as in most readers.
                Some(found) => *found = Some(value),
                None => return Err(name.into_owned()),
            }
        }
        for (number, (member, value)) in self.members.iter_mut().zip(values).enumerate() {
            member.push(value).map_err(|way| {
                let name = self.numbers.iter().find(|(_, other)| **other == number);
                format!("{}{}", name.map_or("", |(name, _)| name), dotted(&way))
            })?;
        }
        self.there.append(object.is_some());
        self.rows += 1;
        Ok(())
    }

    fn finish(mut self, fields: Fields) -> Result<ArrayRef, ArrowError> {
        let nulls = NullBuffer::new(self.there.finish());
        if fields.is_empty() {
            return Ok(Arc::new(StructArray::new_empty_fields(self.rows, Some(nulls))));
        }
        let members = self.members.into_iter().map(ColumnBuilder::finish).collect::<Result<_, _>>()?;
        Ok(Arc::new(StructArray::try_new(fields, members, Some(nulls))?))
    }
}
