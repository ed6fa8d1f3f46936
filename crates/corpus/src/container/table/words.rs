//! Names the types of columns in words, for messages.
//!
//! The names that Arrow prints, such as `List(Utf8, field: 'element')`, are known only to people who program with
//! Arrow. The words distinguish sizes, units and encodings, because a message may name two types that do not fit
//! together.

use arrow_schema::{DataType, FieldRef, IntervalUnit, TimeUnit};
use minwise::escape_control;

/// Returns the words for one value of a type: `a list of strings`.
pub(crate) fn one_of(kind: &DataType) -> String {
    let noun = noun(kind, false);
    let article = match kind {
        DataType::Null => "",
        _ if noun.starts_with(['a', 'e', 'i', 'o', '8']) || noun.starts_with("unsigned") => "an ",
        _ => "a ",
    };
    format!("{article}{noun}")
}

/// Returns the words for several values of a type: `lists of strings`.
pub(crate) fn many_of(kind: &DataType) -> String {
    noun(kind, true)
}

fn noun(kind: &DataType, is_plural: bool) -> String {
    let s = if is_plural { "s" } else { "" };
    let bits = 8 * kind.primitive_width().unwrap_or(0);
    match kind {
        DataType::Null => format!("null{s}"),
        DataType::Boolean => format!("boolean{s}"),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            format!("{bits}-bit integer{s}")
        }
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            format!("unsigned {bits}-bit integer{s}")
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => format!("{bits}-bit float{s}"),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            format!("{bits}-bit decimal{s} of precision {precision} and scale {scale}")
        }
        // One word suffices for these three types, because their columns fit together.
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => format!("string{s}"),
        DataType::Binary => format!("byte string{s}"),
        DataType::LargeBinary => format!("large byte string{s}"),
        DataType::BinaryView => format!("byte string view{s}"),
        DataType::FixedSizeBinary(length) => format!("byte string{s} of length {length}"),
        DataType::Date32 => format!("date{s}"),
        DataType::Date64 => format!("date{s} in milliseconds"),
        DataType::Time32(unit) | DataType::Time64(unit) => format!("time{s} of day in {}", plural(*unit)),
        DataType::Timestamp(unit, None) => format!("timestamp{s} in {}", plural(*unit)),
        DataType::Timestamp(unit, Some(zone)) => {
            format!("timestamp{s} in {} with the time zone `{}`", plural(*unit), escape_control(zone))
        }
        DataType::Duration(unit) => format!("duration{s} in {}", plural(*unit)),
        DataType::Interval(IntervalUnit::YearMonth) => format!("interval{s} of months"),
        DataType::Interval(IntervalUnit::DayTime) => format!("interval{s} of days and milliseconds"),
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            format!("interval{s} of months, days and nanoseconds")
        }
        DataType::List(items) | DataType::LargeList(items) => {
            format!("list{s} of {}", many_of(items.data_type()))
        }
        DataType::FixedSizeList(items, length) => {
            format!("list{s} of {length} {}", many_of(items.data_type()))
        }
        DataType::ListView(items) | DataType::LargeListView(items) => {
            format!("list view{s} of {}", many_of(items.data_type()))
        }
        DataType::Struct(members) if members.is_empty() => format!("object{s} without members"),
        DataType::Struct(_) => format!("object{s}"),
        DataType::Map(entries, _) => match key_and_value(entries) {
            Some([key, value]) => format!("map{s} from {} to {}", many_of(key), many_of(value)),
            None => format!("map{s}"),
        },
        DataType::Union(..) => format!("union{s}"),
        DataType::Dictionary(_, values) => noun(values, is_plural),
        DataType::RunEndEncoded(_, values) => {
            format!("run-end encoded {}", noun(values.data_type(), is_plural))
        }
    }
}

fn key_and_value(entries: &FieldRef) -> Option<[&DataType; 2]> {
    match entries.data_type() {
        DataType::Struct(members) => match &members[..] {
            [key, value] => Some([key.data_type(), value.data_type()]),
            _ => None,
        },
        _ => None,
    }
}

fn plural(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, Fields};

    use super::*;

    fn field(name: &str, kind: DataType) -> Field {
        Field::new(name, kind, true)
    }

    #[test]
    fn a_type_is_named_in_words() {
        let list = |kind| DataType::List(Arc::new(field("element", kind)));
        let object = DataType::Struct(vec![field("a", DataType::Int8)].into());
        let entries =
            DataType::Struct(vec![field("key", DataType::Utf8), field("value", object.clone())].into());
        for (kind, one, many) in [
            (DataType::Null, "null", "nulls"),
            (DataType::Int8, "an 8-bit integer", "8-bit integers"),
            (DataType::UInt64, "an unsigned 64-bit integer", "unsigned 64-bit integers"),
            (DataType::Float64, "a 64-bit float", "64-bit floats"),
            (DataType::Utf8View, "a string", "strings"),
            (list(DataType::Utf8), "a list of strings", "lists of strings"),
            (list(list(DataType::Boolean)), "a list of lists of booleans", "lists of lists of booleans"),
            (list(object.clone()), "a list of objects", "lists of objects"),
            (object, "an object", "objects"),
            (DataType::Struct(Fields::empty()), "an object without members", "objects without members"),
            (
                DataType::FixedSizeList(Arc::new(field("item", DataType::Float32)), 3),
                "a list of 3 32-bit floats",
                "lists of 3 32-bit floats",
            ),
            (
                DataType::Map(Arc::new(field("entries", entries)), false),
                "a map from strings to objects",
                "maps from strings to objects",
            ),
            (DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)), "a string", "strings"),
            (DataType::Date32, "a date", "dates"),
            (
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
                "a timestamp in microseconds with the time zone `UTC`",
                "timestamps in microseconds with the time zone `UTC`",
            ),
            (DataType::Duration(TimeUnit::Second), "a duration in seconds", "durations in seconds"),
            (DataType::Interval(IntervalUnit::YearMonth), "an interval of months", "intervals of months"),
            (
                DataType::Decimal128(10, 2),
                "a 128-bit decimal of precision 10 and scale 2",
                "128-bit decimals of precision 10 and scale 2",
            ),
            (DataType::FixedSizeBinary(16), "a byte string of length 16", "byte strings of length 16"),
        ] {
            assert_eq!((one_of(&kind).as_str(), many_of(&kind).as_str()), (one, many));
        }
    }
}
