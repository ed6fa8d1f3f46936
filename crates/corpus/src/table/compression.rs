//! How tables are compressed inside.

use std::fmt;
use std::str::FromStr;

use ::parquet::basic::{Compression, GzipLevel, ZstdLevel};
use arrow_ipc::CompressionType;

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;

/// How a table that is written is compressed inside. Other outputs are compressed as a whole, by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableCompression {
    /// As the input is, column by column.
    #[default]
    Keep,
    /// Not at all.
    None,
    /// Snappy; Parquet only.
    Snappy,
    /// Gzip; Parquet only.
    Gzip,
    /// LZ4.
    Lz4,
    /// Zstandard.
    Zstd,
}

impl TableCompression {
    /// Every compression, in the order in which they are offered.
    pub const ALL: [Self; 6] = [Self::Keep, Self::None, Self::Snappy, Self::Gzip, Self::Lz4, Self::Zstd];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::None => "none",
            Self::Snappy => "snappy",
            Self::Gzip => "gzip",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// Refuses a compression that a format does not have.
    pub fn check(self, format: Format) -> Result<()> {
        let fits = match format {
            Format::Parquet => true,
            Format::Arrow => !matches!(self, Self::Snappy | Self::Gzip),
            _ => self == Self::Keep,
        };
        if fits {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NoSuchCompression { compression: self.name(), format }))
    }

    /// The compression of a column that has been compressed by `before`.
    pub(super) fn of_column(self, before: Compression) -> Compression {
        match self {
            Self::Keep => before,
            Self::None => Compression::UNCOMPRESSED,
            Self::Snappy => Compression::SNAPPY,
            Self::Gzip => Compression::GZIP(GzipLevel::default()),
            Self::Lz4 => Compression::LZ4_RAW,
            Self::Zstd => Compression::ZSTD(ZstdLevel::default()),
        }
    }

    /// The compression of record batches that have been compressed by `before`.
    pub(super) fn of_batches(self, before: Option<CompressionType>) -> Option<CompressionType> {
        match self {
            Self::Lz4 => Some(CompressionType::LZ4_FRAME),
            Self::Zstd => Some(CompressionType::ZSTD),
            Self::None => None,
            Self::Keep | Self::Snappy | Self::Gzip => before,
        }
    }
}

impl fmt::Display for TableCompression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TableCompression {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|compression| compression.name() == name).ok_or_else(|| {
            let expected = "`keep`, `none`, `snappy`, `gzip`, `lz4` or `zstd`";
            Error::new(ErrorKind::BadOption { option: "a compression", given: name.to_owned(), expected })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for compression in TableCompression::ALL {
            assert_eq!(compression.to_string().parse::<TableCompression>().unwrap(), compression);
        }
        assert!("brotli".parse::<TableCompression>().is_err());
    }

    #[test]
    fn a_format_has_its_own() {
        assert!(TableCompression::Snappy.check(Format::Parquet).is_ok());
        let error = TableCompression::Snappy.check(Format::Arrow).unwrap_err();
        assert_eq!(error.to_string(), "Arrow IPC cannot be written with the compression `snappy`");
        assert!(TableCompression::Zstd.check(Format::Arrow).is_ok());
        assert!(
            TableCompression::Zstd
                .check(Format::Jsonl)
                .unwrap_err()
                .hint()
                .unwrap()
                .to_string()
                .contains(".zst")
        );
        assert!(TableCompression::Keep.check(Format::Text).is_ok());
    }
}
