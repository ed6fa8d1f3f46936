//! Finds the meaning of the whole numbers of a column.

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use ::parquet::schema::types::ColumnDescriptor;

use crate::container::table::{days, decimal};

/// Meaning of the whole numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Signed numbers.
    Signed,
    /// Unsigned numbers, stored in a signed type, so that the highest bit is the sign bit.
    Unsigned,
    /// Days since 1970.
    Days,
    /// Decimal numbers with this many digits behind the point. Timestamps are such numbers, in seconds since 1970.
    Decimal(u32),
}

impl Meaning {
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
        if let Some(LogicalType::Timestamp(time)) = column.logical_type_ref() {
            return Self::Decimal(match time.unit {
                TimeUnit::MILLIS => 3,
                TimeUnit::MICROS => 6,
                TimeUnit::NANOS => 9,
            });
        }
        // The converted type decides about all other columns, because a column with another logical type also has a
        // converted type.
        match column.converted_type() {
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Self::Unsigned,
            ConvertedType::DATE => Self::Days,
            ConvertedType::TIMESTAMP_MILLIS => Self::Decimal(3),
            ConvertedType::TIMESTAMP_MICROS => Self::Decimal(6),
            ConvertedType::DECIMAL => Self::Decimal(column.type_scale().try_into().unwrap_or(0)),
            _ => Self::Signed,
        }
    }

    pub(super) fn write_32(self, value: i32) -> String {
        match self {
            Self::Unsigned => value.cast_unsigned().to_string(),
            _ => self.write_64(value.into()),
        }
    }

    pub(super) fn write_64(self, value: i64) -> String {
        match self {
            Self::Signed => value.to_string(),
            Self::Unsigned => value.cast_unsigned().to_string(),
            Self::Days => days(value),
            Self::Decimal(digits) => decimal(value, digits),
        }
    }
}
