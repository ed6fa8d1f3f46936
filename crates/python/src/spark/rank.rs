//! Encodes the columns of a row as bytes that sort as the columns do. Rank keys consist of such bytes.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, TimeUnit};

use super::batch::{bytes_at, integer};
use crate::texts::arrow_text;

/// Appends the columns of a row to a rank key, as bytes that sort as the columns do, with nulls first.
///
/// # Errors
/// Returns the type of a column that cannot be encoded.
pub fn push_order(columns: &[&dyn Array], row: usize, out: &mut Vec<u8>) -> Result<(), DataType> {
    fn text(bytes: &[u8], out: &mut Vec<u8>) {
        // Two zero bytes end a text, so that it sorts before any longer text that begins with it. A zero byte within a
        // text is followed by 255, so that it does not end the text.
        for &byte in bytes {
            out.push(byte);
            if byte == 0 {
                out.push(0xff);
            }
        }
        out.extend_from_slice(&[0, 0]);
    }
    fn signed(number: i64, out: &mut Vec<u8>) {
        out.extend_from_slice(&(number.cast_unsigned() ^ 1 << 63).to_be_bytes());
    }
    fn float(number: f64, out: &mut Vec<u8>) {
        // As in Spark, NaN sorts after all numbers, and −0.0 equals 0.0.
        let bits = if number.is_nan() { f64::NAN.to_bits() } else { (number + 0.0).to_bits() };
        let bits = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
        out.extend_from_slice(&bits.to_be_bytes());
    }
    for array in columns {
        if array.is_null(row) || *array.data_type() == DataType::Null {
            out.push(0);
            continue;
        }
        out.push(1);
        match array.data_type() {
            DataType::Boolean => out.push(u8::from(array.as_boolean().value(row))),
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                signed(integer(*array, row).unwrap_or(0), out);
            }
            DataType::UInt8 => out.push(array.as_primitive::<UInt8Type>().value(row)),
            DataType::UInt16 => out.extend(array.as_primitive::<UInt16Type>().value(row).to_be_bytes()),
            DataType::UInt32 => out.extend(array.as_primitive::<UInt32Type>().value(row).to_be_bytes()),
            DataType::UInt64 => out.extend(array.as_primitive::<UInt64Type>().value(row).to_be_bytes()),
            DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row).into(), out),
            DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row), out),
            DataType::Date32 => signed(array.as_primitive::<Date32Type>().value(row).into(), out),
            DataType::Date64 => signed(array.as_primitive::<Date64Type>().value(row), out),
            DataType::Timestamp(unit, _) => signed(
                match unit {
                    TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(row),
                    TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().value(row),
                    TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(row),
                    TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().value(row),
                },
                out,
            ),
            DataType::Decimal128(..) => {
                let number = array.as_primitive::<Decimal128Type>().value(row);
                out.extend_from_slice(&(number.cast_unsigned() ^ 1 << 127).to_be_bytes());
            }
            kind => match (arrow_text(*array, row), bytes_at(*array, row)) {
                (Some(value), _) => text(value.as_bytes(), out),
                (None, Some(value)) => text(value, out),
                (None, None) => return Err(kind.clone()),
            },
        }
    }
    Ok(())
}
