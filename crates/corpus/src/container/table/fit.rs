//! Merges the schemas of several sources, and makes the columns of each source fit the result.
//!
//! A type fits another if every value stays the same. Null fits every type, an integer fits a wider integer and a
//! float that holds all integers of its width, and a text fits every form in which texts are stored. A member that
//! one struct lacks is null there. Any other type does not fit.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, LargeListArray, LargeStringArray, ListArray,
    MapArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    downcast_integer_array, new_null_array,
};
use arrow_buffer::{ArrowNativeType, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::chosen::taken;
use super::words::many_of;

/// Returns the schema without dictionaries, because dictionaries differ from batch to batch.
pub(crate) fn unfolded(schema: &Schema) -> SchemaRef {
    let fields: Fields =
        schema.fields().iter().map(|field| with_type(field, unfolded_type(field.data_type()))).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn unfolded_type(kind: &DataType) -> DataType {
    let inside = |field: &FieldRef| with_type(field, unfolded_type(field.data_type()));
    match kind {
        DataType::Dictionary(_, values) => unfolded_type(values),
        DataType::List(items) => DataType::List(inside(items)),
        DataType::LargeList(items) => DataType::LargeList(inside(items)),
        DataType::FixedSizeList(items, length) => DataType::FixedSizeList(inside(items), *length),
        DataType::Struct(members) => DataType::Struct(members.iter().map(inside).collect()),
        DataType::Map(entries, sorted) => DataType::Map(inside(entries), *sorted),
        other => other.clone(),
    }
}

fn with_type(field: &Field, kind: DataType) -> FieldRef {
    Arc::new(field.clone().with_data_type(kind))
}

/// A column whose types in two inputs do not fit: the path of the column, and its type in each of the two inputs.
pub(crate) type Misfit = (String, DataType, DataType);

/// Merges the columns of two sources. The columns of the first source come first.
pub(crate) fn merged(first: &Fields, second: &Fields) -> Result<Fields, Misfit> {
    let mut all: Vec<FieldRef> = Vec::with_capacity(first.len());
    for field in first {
        all.push(match second.iter().find(|other| other.name() == field.name()) {
            None => Arc::new(field.as_ref().clone().with_nullable(true)),
            Some(other) => {
                let kind =
                    merged_type(field.data_type(), other.data_type()).map_err(|(way, one, another)| {
                        (format!("{}{}", field.name(), dotted(&way)), one, another)
                    })?;
                let nullable = field.is_nullable() || other.is_nullable() || kind != *field.data_type();
                Arc::new(field.as_ref().clone().with_data_type(kind).with_nullable(nullable))
            }
        });
    }
    for field in second {
        if !first.iter().any(|other| other.name() == field.name()) {
            all.push(Arc::new(field.as_ref().clone().with_nullable(true)));
        }
    }
    Ok(all.into())
}

fn merged_type(first: &DataType, second: &DataType) -> Result<DataType, Misfit> {
    let misfit = || (String::new(), first.clone(), second.clone());
    Ok(match (first, second) {
        (DataType::Null, other) | (other, DataType::Null) => other.clone(),
        (first, second) if first == second => first.clone(),
        (first, second) if first.is_string() && second.is_string() => DataType::LargeUtf8,
        (DataType::Struct(first), DataType::Struct(second)) => DataType::Struct(merged(first, second)?),
        (DataType::List(first), DataType::List(second)) => DataType::List(merged_items(first, second)?),
        (DataType::LargeList(first), DataType::List(second) | DataType::LargeList(second))
        | (DataType::List(first), DataType::LargeList(second)) => {
            DataType::LargeList(merged_items(first, second)?)
        }
        (DataType::Map(first, sorted), DataType::Map(second, also_sorted)) => {
            let entries = merged_type(first.data_type(), second.data_type())?;
            let entries = Arc::new(first.as_ref().clone().with_data_type(entries));
            DataType::Map(entries, *sorted && *also_sorted)
        }
        (first, second) => wider(first, second).ok_or_else(misfit)?,
    })
}

fn merged_items(first: &FieldRef, second: &FieldRef) -> Result<FieldRef, Misfit> {
    let items = merged_type(first.data_type(), second.data_type())
        .map_err(|(way, one, another)| (format!("[]{}", dotted(&way)), one, another))?;
    Ok(Arc::new(first.as_ref().clone().with_data_type(items).with_nullable(true)))
}

/// Returns the rest of a path as it is written behind a name: with a dot, unless it is empty or begins with `[`.
pub(crate) fn dotted(way: &str) -> String {
    if way.is_empty() || way.starts_with('[') { way.to_owned() } else { format!(".{way}") }
}

/// Returns the type that holds every number of two types; `None` if there is no such type.
fn wider(first: &DataType, second: &DataType) -> Option<DataType> {
    let (one, another) = (first, second);
    let both = |fits: fn(&DataType) -> bool| fits(one) && fits(another);
    if both(DataType::is_unsigned_integer) {
        return Some(DataType::UInt64);
    }
    if both(fits_signed) {
        return Some(DataType::Int64);
    }
    both(fits_float).then_some(DataType::Float64)
}

/// Reports whether a signed integer of 64 bits holds every value of a type.
fn fits_signed(kind: &DataType) -> bool {
    kind.is_integer() && *kind != DataType::UInt64
}

/// Reports whether a float of 64 bits holds every value of a type.
fn fits_float(kind: &DataType) -> bool {
    let small = [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
    ];
    small.contains(kind) || [DataType::Float32, DataType::Float64].contains(kind)
}

/// Maximum size of texts that are written out together, in bytes.
const SLICE_BYTES: usize = 64 << 20;

/// Cuts a batch into slices of limited text. A dictionary, or a buffer under views, stores a text once for many rows,
/// so the texts could fill the memory if they were written out once per row.
pub(crate) fn slices(batch: &RecordBatch) -> Vec<Range<usize>> {
    let shared: Vec<&ArrayRef> =
        batch.columns().iter().filter(|column| is_shared(column.data_type())).collect();
    let (mut slices, mut start, mut bytes) = (vec![], 0, 0);
    for row in 0..batch.num_rows() {
        let row_bytes: usize = shared.iter().map(|column| text_at(column, row).map_or(0, str::len)).sum();
        bytes += row_bytes;
        if bytes > SLICE_BYTES && row > start {
            slices.push(start..row);
            (start, bytes) = (row, row_bytes);
        }
    }
    if start < batch.num_rows() {
        slices.push(start..batch.num_rows());
    }
    slices
}

fn is_shared(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => values.is_string(),
        kind => *kind == DataType::Utf8View,
    }
}

/// Borrows the text of a row of an array; `None` for null, and for arrays of other types.
pub(crate) fn text_at(array: &dyn Array, row: usize) -> Option<&str> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Some(array.as_string_view().value(row)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let (keys, values) = (dictionary.keys(), dictionary.values());
            let key: Option<usize> = downcast_integer_array!(
                keys => Some(keys.value(row).as_usize()),
                _ => None,
            );
            // The key is compared with the number of values, because the unchecked constructors of Arrow do not check
            // keys.
            key.filter(|key| *key < values.len()).and_then(|key| text_at(&**values, key))
        }
        _ => None,
    }
}

/// Makes the columns of a batch fit a schema.
pub(crate) fn fit(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let rows = batch.num_rows();
    let columns = fitted(batch.schema_ref().fields(), batch.columns(), schema.fields(), rows)?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

fn fitted(
    from: &Fields,
    columns: &[ArrayRef],
    to: &Fields,
    rows: usize,
) -> Result<Vec<ArrayRef>, ArrowError> {
    // A column is first looked up at its old place, because columns mostly keep their places.
    let place = |number: usize, name: &str| {
        let is_there = from.get(number).is_some_and(|field| field.name() == name);
        if is_there { Some(number) } else { from.iter().position(|field| field.name() == name) }
    };
    to.iter()
        .enumerate()
        .map(|(number, field)| match place(number, field.name()).and_then(|place| columns.get(place)) {
            Some(column) => cast(column, field.data_type()),
            None => Ok(new_null_array(field.data_type(), rows)),
        })
        .collect()
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    let nulls = || array.nulls().cloned();
    Ok(match (array.data_type(), to) {
        (DataType::Null, _) => new_null_array(to, array.len()),
        (DataType::Dictionary(..), _) => {
            let dictionary = array.as_any_dictionary();
            if dictionary.values().is_empty() {
                // A dictionary without values has only null rows, and `normalized_keys` would panic.
                return Ok(new_null_array(to, array.len()));
            }
            let nulls = dictionary.keys().nulls();
            let is_there = |row| nulls.is_none_or(|nulls| nulls.is_valid(row));
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            let places = keys.map(|(row, key)| is_there(row).then_some(key));
            cast(&taken(&**dictionary.values(), places)?, to)?
        }
        (DataType::Utf8View, DataType::Utf8) => {
            Arc::new(array.as_string_view().iter().collect::<StringArray>())
        }
        (from, DataType::LargeUtf8) if from.is_string() => Arc::new(match from {
            DataType::Utf8 => array.as_string::<i32>().iter().collect::<LargeStringArray>(),
            DataType::Utf8View => array.as_string_view().iter().collect(),
            _ => array.as_string::<i64>().clone(),
        }),
        (DataType::Struct(from), DataType::Struct(to)) => {
            let object = array.as_struct();
            let members = fitted(from, object.columns(), to, object.len())?;
            Arc::new(StructArray::try_new_with_length(to.clone(), members, nulls(), object.len())?)
        }
        (DataType::List(_), DataType::List(field)) => {
            let list = array.as_list::<i32>();
            let items = cast(list.values(), field.data_type())?;
            Arc::new(ListArray::try_new(Arc::clone(field), list.offsets().clone(), items, nulls())?)
        }
        (DataType::List(_), DataType::LargeList(field)) => {
            let list = array.as_list::<i32>();
            let items = cast(list.values(), field.data_type())?;
            let ends = OffsetBuffer::new(list.offsets().iter().map(|end| i64::from(*end)).collect());
            Arc::new(LargeListArray::try_new(Arc::clone(field), ends, items, nulls())?)
        }
        (DataType::LargeList(_), DataType::LargeList(field)) => {
            let list = array.as_list::<i64>();
            let items = cast(list.values(), field.data_type())?;
            Arc::new(LargeListArray::try_new(Arc::clone(field), list.offsets().clone(), items, nulls())?)
        }
        (DataType::FixedSizeList(..), DataType::FixedSizeList(field, length)) => {
            let items = cast(array.as_fixed_size_list().values(), field.data_type())?;
            Arc::new(FixedSizeListArray::try_new_with_length(
                Arc::clone(field),
                *length,
                items,
                nulls(),
                array.len(),
            )?)
        }
        (DataType::Map(..), DataType::Map(field, sorted)) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = cast(&entries, field.data_type())?.as_struct().clone();
            Arc::new(MapArray::try_new(Arc::clone(field), map.offsets().clone(), entries, nulls(), *sorted)?)
        }
        (_, DataType::Int64) => number::<Int64Type>(array)?,
        (_, DataType::UInt64) => number::<arrow_array::types::UInt64Type>(array)?,
        (_, DataType::Float64) => number::<Float64Type>(array)?,
        (from, to) => {
            return Err(ArrowError::CastError(format!(
                "a column of {} does not fit one of {}",
                many_of(from),
                many_of(to)
            )));
        }
    })
}

/// Converts numbers to a type that holds every number.
fn number<To: ArrowPrimitiveType>(array: &ArrayRef) -> Result<ArrayRef, ArrowError>
where
    To::Native: Wide,
{
    fn all<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(
        array: &ArrayRef,
        widen: impl Fn(From::Native) -> To::Native,
    ) -> ArrayRef {
        let numbers: PrimitiveArray<To> = array.as_primitive::<From>().unary(widen);
        Arc::new(numbers)
    }
    Ok(match array.data_type() {
        DataType::Int8 => all::<Int8Type, To>(array, |number| Wide::signed(number.into())),
        DataType::Int16 => all::<Int16Type, To>(array, |number| Wide::signed(number.into())),
        DataType::Int32 => all::<Int32Type, To>(array, |number| Wide::signed(number.into())),
        DataType::UInt8 => all::<UInt8Type, To>(array, |number| Wide::signed(number.into())),
        DataType::UInt16 => all::<UInt16Type, To>(array, |number| Wide::signed(number.into())),
        DataType::UInt32 => all::<UInt32Type, To>(array, |number| Wide::signed(number.into())),
        DataType::Float32 => all::<Float32Type, To>(array, |number| Wide::float(number.into())),
        other => {
            return Err(ArrowError::CastError(format!(
                "a column of {} does not fit one of {}",
                many_of(other),
                many_of(&To::DATA_TYPE)
            )));
        }
    })
}

/// A number of 64 bits.
trait Wide {
    fn signed(number: i64) -> Self;
    fn float(number: f64) -> Self;
}

impl Wide for i64 {
    fn signed(number: i64) -> Self {
        number
    }

    fn float(number: f64) -> Self {
        number as Self
    }
}

impl Wide for u64 {
    fn signed(number: i64) -> Self {
        number.cast_unsigned()
    }

    fn float(number: f64) -> Self {
        number as Self
    }
}

impl Wide for f64 {
    fn signed(number: i64) -> Self {
        number as Self
    }

    fn float(number: f64) -> Self {
        number
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{DictionaryArray, Int32Array, StringArray, StringViewArray};

    use super::*;

    fn schema(fields: Vec<Field>) -> SchemaRef {
        Arc::new(Schema::new(fields))
    }

    fn field(name: &str, kind: DataType) -> Field {
        Field::new(name, kind, true)
    }

    #[test]
    fn types_that_lose_nothing_fit() {
        let items = |kind| Arc::new(field("element", kind));
        let list = |kind| DataType::List(items(kind));
        for (first, second, both) in [
            (DataType::Null, DataType::Date32, DataType::Date32),
            (DataType::Int8, DataType::UInt32, DataType::Int64),
            (DataType::UInt8, DataType::UInt64, DataType::UInt64),
            (DataType::Int32, DataType::Float64, DataType::Float64),
            (DataType::Utf8, DataType::Utf8View, DataType::LargeUtf8),
            (
                list(DataType::Utf8),
                DataType::LargeList(items(DataType::Utf8)),
                DataType::LargeList(items(DataType::Utf8)),
            ),
        ] {
            assert_eq!(merged_type(&first, &second).unwrap(), both);
            assert_eq!(merged_type(&second, &first).unwrap(), both);
        }
        for (first, second) in [
            (DataType::Int64, DataType::Float64),
            (DataType::Int64, DataType::UInt64),
            (DataType::Utf8, DataType::Int64),
            (DataType::Date32, DataType::Utf8),
        ] {
            assert!(merged_type(&first, &second).is_err(), "{first} {second}");
        }
        let inside = |kind| {
            DataType::List(Arc::new(field("element", DataType::Struct(vec![field("x", kind)].into()))))
        };
        let fields = |kind| Fields::from(vec![field("a", inside(kind))]);
        let (way, ..) = merged(&fields(DataType::Utf8), &fields(DataType::Boolean)).unwrap_err();
        assert_eq!(way, "a[].x");
    }

    #[test]
    fn a_batch_is_made_to_fit() {
        let words: DictionaryArray<Int8Type> = ["x", "y", "x"].into_iter().collect();
        let from = schema(vec![field("n", DataType::Int32), field("w", words.data_type().clone())]);
        let numbers = Int32Array::from(vec![Some(1), None, Some(-3)]);
        let batch =
            RecordBatch::try_new(Arc::clone(&from), vec![Arc::new(numbers), Arc::new(words)]).unwrap();
        assert_eq!(*unfolded(&from).field(1).data_type(), DataType::Utf8);
        let to = schema(vec![
            field("w", DataType::LargeUtf8),
            field("new", DataType::Boolean),
            field("n", DataType::Float64),
        ]);
        let fitted = fit(&batch, &to).unwrap();
        assert_eq!(fitted.column(0).as_string::<i64>().iter().flatten().collect::<Vec<_>>(), ["x", "y", "x"]);
        assert_eq!(fitted.column(1).null_count(), 3);
        assert_eq!(
            fitted.column(2).as_primitive::<Float64Type>().iter().collect::<Vec<_>>(),
            [Some(1.0), None, Some(-3.0)]
        );
    }

    #[test]
    fn texts_that_rows_share_are_written_out_in_slices() {
        let long = "x".repeat(20 << 20);
        let texts: DictionaryArray<Int8Type> = std::iter::repeat_n(long.as_str(), 8).collect();
        let batch = RecordBatch::try_from_iter([("t", Arc::new(texts) as ArrayRef)]).unwrap();
        assert_eq!(slices(&batch), [0..3, 3..6, 6..8]);
        let views = StringViewArray::from(vec!["a"; 9]);
        let batch = RecordBatch::try_from_iter([("t", Arc::new(views) as ArrayRef)]).unwrap();
        assert_eq!(slices(&batch).len(), 1);
        assert_eq!(slices(&batch.slice(0, 0)), Vec::<Range<usize>>::new());
    }

    #[test]
    fn members_are_matched_by_name() {
        let texts: ArrayRef = Arc::new(StringViewArray::from(vec!["a"]));
        let from: Fields = vec![field("x", DataType::Utf8View)].into();
        let object: ArrayRef = Arc::new(StructArray::new(from.clone(), vec![texts], None));
        let to = DataType::Struct(vec![field("y", DataType::Int64), field("x", DataType::LargeUtf8)].into());
        let cast = cast(&object, &to).unwrap();
        assert_eq!(cast.as_struct().column(1).as_string::<i64>().value(0), "a");
        assert!(cast.as_struct().column(0).is_null(0));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        assert!(super::cast(&texts, &DataType::Int64).is_err());
    }
}
