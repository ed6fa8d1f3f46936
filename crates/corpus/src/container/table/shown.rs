//! Writes values of arrays as JSON, and as the fields of delimited records. Dictionaries have already been replaced
//! by their values ([`fit`](super::fit)).

use std::borrow::Cow;
use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, StructArray};
use arrow_schema::{DataType, Field, TimeUnit};
use minwise::calendar::{DAY_SECONDS, Date};

/// Returns the path of the first column or member that cannot be written as JSON, and its type.
pub(crate) fn not_json(field: &Field) -> Option<(String, &DataType)> {
    let inside = |name: &str, field| {
        let (way, kind) = not_json(field)?;
        // The name of the list items is left out, because paths write `[]` instead.
        let way = way.split_once('.').map_or(String::new(), |(_, way)| format!(".{way}"));
        Some((format!("{name}[]{way}"), kind))
    };
    let name = field.name();
    match field.data_type() {
        DataType::List(items) | DataType::LargeList(items) | DataType::FixedSizeList(items, _) => {
            inside(name, items)
        }
        DataType::Struct(members) => {
            let (way, kind) = members.iter().find_map(|member| not_json(member))?;
            Some((format!("{name}.{way}"), kind))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(members) => match &members[..] {
                [key, value] if key.data_type().is_string() => {
                    let (_, kind) = not_json(value)?;
                    Some((name.clone(), kind))
                }
                _ => Some((name.clone(), field.data_type())),
            },
            _ => Some((name.clone(), field.data_type())),
        },
        kind if is_scalar(kind) => None,
        kind => Some((name.clone(), kind)),
    }
}

/// Reports whether a value of a type is one text, number or date, so that a field of a delimited record can hold it.
pub(crate) fn is_scalar(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_scalar(values),
        DataType::Null
        | DataType::Boolean
        | DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => true,
        kind => kind.is_integer() || kind.is_floating() || kind.is_string(),
    }
}

/// A value that is neither a list nor an object.
enum Scalar<'a> {
    Null,
    /// A number or a boolean, as JSON writes it.
    Bare(String),
    /// A text, or a date written as a text.
    Text(Cow<'a, str>),
}

/// Writes the value of a row as JSON.
pub(crate) fn push_json(array: &dyn Array, row: usize, out: &mut Vec<u8>) {
    if array.is_null(row) {
        out.extend_from_slice(b"null");
        return;
    }
    match array.data_type() {
        DataType::List(_) => push_items(&*array.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => push_items(&*array.as_list::<i64>().value(row), out),
        DataType::FixedSizeList(..) => push_items(&*array.as_fixed_size_list().value(row), out),
        DataType::Struct(_) => push_object(array.as_struct(), row, out),
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            out.push(b'{');
            if let [keys, values] = entries.columns() {
                for entry in 0..entries.len() {
                    if entry > 0 {
                        out.push(b',');
                    }
                    push_json(&**keys, entry, out);
                    out.push(b':');
                    push_json(&**values, entry, out);
                }
            }
            out.push(b'}');
        }
        _ => match scalar(array, row) {
            Scalar::Null => out.extend_from_slice(b"null"),
            Scalar::Bare(value) => out.extend_from_slice(value.as_bytes()),
            Scalar::Text(text) => push_string(&text, out),
        },
    }
}

/// Writes the members of a row as an object.
fn push_object(array: &StructArray, row: usize, out: &mut Vec<u8>) {
    out.push(b'{');
    for (number, (field, column)) in array.fields().iter().zip(array.columns()).enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push_string(field.name(), out);
        out.push(b':');
        push_json(&**column, row, out);
    }
    out.push(b'}');
}

fn push_items(items: &dyn Array, out: &mut Vec<u8>) {
    out.push(b'[');
    for item in 0..items.len() {
        if item > 0 {
            out.push(b',');
        }
        push_json(items, item, out);
    }
    out.push(b']');
}

/// Writes a string of JSON.
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    // Writing to memory does not fail, and JSON can hold every text.
    let _ = serde_json::to_writer(out, text);
}

/// Returns the value of a row as a text; `None` for null. The result is also `None` for lists and objects.
pub(crate) fn plain(array: &dyn Array, row: usize) -> Option<Cow<'_, str>> {
    if array.is_null(row) {
        return None;
    }
    match scalar(array, row) {
        Scalar::Null => None,
        Scalar::Bare(value) => Some(Cow::Owned(value)),
        Scalar::Text(text) => Some(text),
    }
}

fn scalar(array: &dyn Array, row: usize) -> Scalar<'_> {
    let date = |days: i64| Scalar::Text(iso(days).into());
    match array.data_type() {
        DataType::Boolean => Scalar::Bare(array.as_boolean().value(row).to_string()),
        DataType::Utf8 => Scalar::Text(array.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => Scalar::Text(array.as_string::<i64>().value(row).into()),
        DataType::Utf8View => Scalar::Text(array.as_string_view().value(row).into()),
        DataType::Int8 => integer::<Int8Type>(array, row),
        DataType::Int16 => integer::<Int16Type>(array, row),
        DataType::Int32 => integer::<Int32Type>(array, row),
        DataType::Int64 => integer::<Int64Type>(array, row),
        DataType::UInt8 => integer::<UInt8Type>(array, row),
        DataType::UInt16 => integer::<UInt16Type>(array, row),
        DataType::UInt32 => integer::<UInt32Type>(array, row),
        DataType::UInt64 => integer::<UInt64Type>(array, row),
        DataType::Float16 => float(array.as_primitive::<Float16Type>().value(row).to_f32()),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal32(..) => decimal::<Decimal32Type>(array, row),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(array, row),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(array, row),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(array, row),
        DataType::Date32 => date(array.as_primitive::<Date32Type>().value(row).into()),
        DataType::Date64 => {
            date(array.as_primitive::<Date64Type>().value(row).div_euclid(1000 * DAY_SECONDS.cast_signed()))
        }
        DataType::Time32(TimeUnit::Second) => {
            time(array.as_primitive::<Time32SecondType>().value(row).into(), 0)
        }
        DataType::Time32(_) => time(array.as_primitive::<Time32MillisecondType>().value(row).into(), 3),
        DataType::Time64(TimeUnit::Nanosecond) => {
            time(array.as_primitive::<Time64NanosecondType>().value(row), 9)
        }
        DataType::Time64(_) => time(array.as_primitive::<Time64MicrosecondType>().value(row), 6),
        DataType::Timestamp(unit, zone) => {
            let (value, digits) = match unit {
                TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(row), 0),
                TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().value(row), 3),
                TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().value(row), 6),
                TimeUnit::Nanosecond => (array.as_primitive::<TimestampNanosecondType>().value(row), 9),
            };
            timestamp(value, digits, zone.is_some())
        }
        // Columns of other types were refused before anything was read.
        _ => Scalar::Null,
    }
}

fn integer<T: ArrowPrimitiveType<Native: ToString>>(array: &dyn Array, row: usize) -> Scalar<'_> {
    Scalar::Bare(array.as_primitive::<T>().value(row).to_string())
}

/// Writes a number with a fraction. Infinities and NaN become null, because JSON does not have them.
fn float<'a>(value: impl serde::Serialize) -> Scalar<'a> {
    match serde_json::to_string(&value) {
        Ok(text) if text != "null" => Scalar::Bare(text),
        _ => Scalar::Null,
    }
}

fn decimal<T: DecimalType>(array: &dyn Array, row: usize) -> Scalar<'_> {
    Scalar::Bare(array.as_primitive::<T>().value_as_string(row))
}

/// Writes a date in the form of RFC 3339.
fn iso(days: i64) -> String {
    let date = Date::from_days(days);
    format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
}

/// Writes a time of day. A second has 10^`digits` units.
fn time<'a>(units: i64, digits: u32) -> Scalar<'a> {
    let mut out = Vec::new();
    push_time(units, digits, &mut out);
    Scalar::Text(String::from_utf8_lossy(&out).into_owned().into())
}

fn push_time(units: i64, digits: u32, out: &mut Vec<u8>) {
    let second = 10i64.pow(digits);
    let (seconds, rest) = (units.div_euclid(second), units.rem_euclid(second));
    // Writing to memory does not fail.
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if digits > 0 {
        let _ = write!(out, ".{rest:0width$}", width = digits as usize);
    }
}

/// Writes a timestamp in the form of RFC 3339. A timestamp with a zone is written in UTC, because names of zones need
/// a table that changes over time.
fn timestamp<'a>(units: i64, digits: u32, has_zone: bool) -> Scalar<'a> {
    let day = DAY_SECONDS.cast_signed() * 10i64.pow(digits);
    let mut out = iso(units.div_euclid(day)).into_bytes();
    out.push(b'T');
    push_time(units.rem_euclid(day), digits, &mut out);
    if has_zone {
        out.push(b'Z');
    }
    Scalar::Text(String::from_utf8_lossy(&out).into_owned().into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type as I32;
    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, FixedSizeListArray,
        Float32Array, Float64Array, Int64Array, ListArray, StringArray, Time64MicrosecondArray,
        TimestampMillisecondArray, TimestampSecondArray, UInt64Array,
    };

    use super::*;

    fn json(array: impl Array + 'static) -> Vec<String> {
        let array: ArrayRef = Arc::new(array);
        let shown = |row| {
            let mut out = Vec::new();
            push_json(&*array, row, &mut out);
            String::from_utf8(out).unwrap()
        };
        (0..array.len()).map(shown).collect()
    }

    #[test]
    fn scalars() {
        assert_eq!(json(BooleanArray::from(vec![Some(true), None])), ["true", "null"]);
        assert_eq!(json(Int64Array::from(vec![i64::MIN])), ["-9223372036854775808"]);
        assert_eq!(json(UInt64Array::from(vec![u64::MAX])), ["18446744073709551615"]);
        assert_eq!(
            json(Float64Array::from(vec![1.0, 0.1, f64::NAN, f64::INFINITY])),
            ["1.0", "0.1", "null", "null"]
        );
        assert_eq!(json(Float32Array::from(vec![0.1f32])), ["0.1"]);
        assert_eq!(json(StringArray::from(vec!["a\"\n\u{1}漢"])), ["\"a\\\"\\n\\u0001漢\""]);
        let decimals = Decimal128Array::from(vec![-1250, 5]).with_precision_and_scale(10, 2).unwrap();
        assert_eq!(json(decimals), ["-12.50", "0.05"]);
    }

    #[test]
    fn dates_and_times() {
        assert_eq!(
            json(Date32Array::from(vec![0, -1, 19_849])),
            ["\"1970-01-01\"", "\"1969-12-31\"", "\"2024-05-06\""]
        );
        assert_eq!(json(Date64Array::from(vec![-1])), ["\"1969-12-31\""]);
        assert_eq!(json(Time64MicrosecondArray::from(vec![3_723_000_001])), ["\"01:02:03.000001\""]);
        let seconds = TimestampSecondArray::from(vec![1_714_953_600]).with_timezone("Europe/Berlin");
        assert_eq!(json(seconds), ["\"2024-05-06T00:00:00Z\""]);
        assert_eq!(json(TimestampMillisecondArray::from(vec![-1])), ["\"1969-12-31T23:59:59.999\""]);
    }

    #[test]
    fn lists_and_objects() {
        let lists =
            ListArray::from_iter_primitive::<I32, _, _>([Some(vec![Some(1), None]), None, Some(vec![])]);
        assert_eq!(json(lists), ["[1,null]", "null", "[]"]);
        let pairs = FixedSizeListArray::from_iter_primitive::<I32, _, _>([Some(vec![Some(1), Some(2)])], 2);
        assert_eq!(json(pairs), ["[1,2]"]);
    }

    #[test]
    fn bytes_are_no_json() {
        let bytes =
            Arc::new(Field::new("element", BinaryArray::from(vec![&b""[..]]).data_type().clone(), true));
        let inside = DataType::Struct(vec![Field::new("b", DataType::List(bytes), true)].into());
        let field = Field::new("a", inside, true);
        assert_eq!(not_json(&field).map(|(way, _)| way).unwrap(), "a.b[]");
        assert!(not_json(&Field::new("a", DataType::Utf8View, true)).is_none());
    }
}
