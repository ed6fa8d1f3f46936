//! Compression inside tables.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// Compression inside a table that is written. Other outputs are compressed as a whole, by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableCompression {
    /// The compression of the input, column by column.
    #[default]
    Keep,
    /// No compression.
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
    /// All compressions, in the order in which they are offered.
    pub const ALL: [Self; 6] = [Self::Keep, Self::None, Self::Snappy, Self::Gzip, Self::Lz4, Self::Zstd];

    /// Returns the name in options and messages, which `FromStr` parses.
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
}
