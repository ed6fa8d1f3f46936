//! Reads the values of an array as texts.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

use super::cells::Cells;
use super::written::{days, decimal};

/// Reports whether values of a type are texts.
pub(in crate::container) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        kind => kind.is_string(),
    }
}

/// Reports whether values of a type can be ids.
pub(super) fn is_id(kind: &DataType) -> bool {
    kind.is_integer() || *kind == DataType::Boolean || is_text(kind)
}

/// Reports whether values of a type are dates or numbers, or can be ids.
pub(super) fn is_value(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Float32
            | DataType::Float64
            | DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Decimal128(..)
    ) || is_id(kind)
}

/// Reports whether decoding a type takes dictionaries.
pub(in crate::container) fn has_dictionary(kind: &DataType) -> bool {
    matches!(kind, DataType::Dictionary(..))
}

/// Returns the values of an array. `nulls` are the nulls of the structs around the array.
pub(in crate::container) fn cells(array: &dyn Array, nulls: Option<&NullBuffer>) -> Cells {
    let mut cells = Cells::default();
    let there = |row: usize| array.is_valid(row) && nulls.is_none_or(|nulls| nulls.is_valid(row));
    match array.data_type() {
        DataType::Utf8 => each(array, there, &mut cells, |row| array.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => {
            each(array, there, &mut cells, |row| array.as_string::<i64>().value(row).into());
        }
        DataType::Utf8View => each(array, there, &mut cells, |row| array.as_string_view().value(row).into()),
        DataType::Boolean => {
            each(array, there, &mut cells, |row| array.as_boolean().value(row).to_string().into());
        }
        DataType::Int8 => numbers::<Int8Type>(array, there, &mut cells),
        DataType::Int16 => numbers::<Int16Type>(array, there, &mut cells),
        DataType::Int32 => numbers::<Int32Type>(array, there, &mut cells),
        DataType::Int64 => numbers::<Int64Type>(array, there, &mut cells),
        DataType::UInt8 => numbers::<UInt8Type>(array, there, &mut cells),
        DataType::UInt16 => numbers::<UInt16Type>(array, there, &mut cells),
        DataType::UInt32 => numbers::<UInt32Type>(array, there, &mut cells),
        DataType::UInt64 => numbers::<UInt64Type>(array, there, &mut cells),
        DataType::Float32 => numbers::<Float32Type>(array, there, &mut cells),
        DataType::Float64 => numbers::<Float64Type>(array, there, &mut cells),
        DataType::Date32 => written::<Date32Type>(array, there, &mut cells, |date| days(date.into())),
        DataType::Date64 => written::<Date64Type>(array, there, &mut cells, |date| decimal(date, 3)),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => {
                written::<TimestampSecondType>(array, there, &mut cells, |time| decimal(time, 0));
            }
            TimeUnit::Millisecond => {
                written::<TimestampMillisecondType>(array, there, &mut cells, |time| decimal(time, 3));
            }
            TimeUnit::Microsecond => {
                written::<TimestampMicrosecondType>(array, there, &mut cells, |time| decimal(time, 6));
            }
            TimeUnit::Nanosecond => {
                written::<TimestampNanosecondType>(array, there, &mut cells, |time| decimal(time, 9));
            }
        },
        DataType::Decimal128(..) => {
            let decimals = array.as_primitive::<Decimal128Type>();
            each(array, there, &mut cells, |row| decimals.value_as_string(row).into());
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            let keys = keys.map(|(row, key)| there(row).then_some(key));
            return self::cells(&**dictionary.values(), None).picked(keys);
        }
        // Columns of other types were refused when the file was opened.
        _ => (0..array.len()).for_each(|_| cells.push(None)),
    }
    cells
}

/// Returns the values of a column of a table as texts, as keeper policies read them. Values of types that are neither
/// texts, numbers, dates nor timestamps are `None`.
#[must_use]
pub fn written_values(array: &dyn Array) -> Vec<Option<String>> {
    let cells = cells(array, None);
    let text = |row| cells.get(row).map(|cell| String::from_utf8_lossy(cell).into_owned());
    (0..array.len()).map(text).collect()
}

fn each<'a>(
    array: &dyn Array,
    there: impl Fn(usize) -> bool,
    cells: &mut Cells,
    value: impl Fn(usize) -> std::borrow::Cow<'a, str>,
) {
    for row in 0..array.len() {
        if there(row) {
            cells.push(Some(value(row).as_bytes()));
        } else {
            cells.push(None);
        }
    }
}

fn numbers<T: ArrowPrimitiveType<Native: ToString>>(
    array: &dyn Array,
    there: impl Fn(usize) -> bool,
    cells: &mut Cells,
) {
    written::<T>(array, there, cells, |number| number.to_string());
}

fn written<T: ArrowPrimitiveType>(
    array: &dyn Array,
    there: impl Fn(usize) -> bool,
    cells: &mut Cells,
    write: impl Fn(T::Native) -> String,
) {
    let values = array.as_primitive::<T>();
    each(array, there, cells, |row| write(values.value(row)).into());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        BooleanArray, DictionaryArray, Int64Array, LargeStringArray, StringArray, StringViewArray,
        UInt64Array,
    };

    use super::*;

    #[test]
    fn every_type_that_fits_is_read() {
        let texts = [Some("a"), None, Some("")];
        let arrays: [Arc<dyn Array>; 4] = [
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(LargeStringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>()),
        ];
        let shown = |array: &dyn Array| {
            let cells = cells(array, None);
            (0..array.len())
                .map(|row| cells.get(row).map(|cell| String::from_utf8(cell.to_vec()).unwrap()))
                .collect::<Vec<_>>()
        };
        for array in arrays {
            assert!(is_text(array.data_type()) && is_id(array.data_type()));
            assert_eq!(
                shown(&*array),
                [Some("a".into()), None, Some(String::new())],
                "{}",
                array.data_type()
            );
        }
        assert_eq!(shown(&Int64Array::from(vec![Some(-1), None])), [Some("-1".into()), None]);
        assert_eq!(shown(&UInt64Array::from(vec![u64::MAX])), [Some(u64::MAX.to_string())]);
        assert_eq!(shown(&BooleanArray::from(vec![true])), [Some("true".into())]);
        assert!(!is_id(&DataType::Float64) && !is_text(&DataType::Int64));
    }

    #[test]
    fn a_member_of_nothing_is_nothing() {
        let array = StringArray::from(vec!["a", "b"]);
        let cells = cells(&array, Some(&NullBuffer::from(vec![false, true])));
        assert_eq!((cells.get(0), cells.get(1)), (None, Some(&b"b"[..])));
    }
}
