//! Converts errors of the library for Parquet.

use ::parquet::errors::ParquetError;

use crate::container::table::{Foreign, ours};

impl From<ParquetError> for Foreign {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inside) => ours(inside),
            ParquetError::General(words) | ParquetError::NYI(words) | ParquetError::EOF(words) => {
                Self::Words(words)
            }
            other => Self::Words(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::error::Error;

    #[test]
    fn our_errors_come_back() {
        let broken = Error::io("write", "out", io::ErrorKind::BrokenPipe.into());
        let wrapped = io::Error::new(io::ErrorKind::BrokenPipe, broken);
        let error = Foreign::from(ParquetError::from(wrapped)).at("a", "row group 0");
        assert!(error.is_broken_pipe(), "{error}");
        let error = Foreign::from(ParquetError::EOF("too short".into())).at("a", "its footer");
        assert_eq!(error.to_string(), "`a` cannot be read: its footer: too short");
    }
}
