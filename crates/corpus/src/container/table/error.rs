//! Converts errors of the libraries for Parquet and Arrow.

use std::error::Error as StdError;
use std::io;

use arrow_schema::ArrowError;

use crate::error::Error;
use crate::problem::FileProblem;
use crate::quiet::caught;

/// An error that one of the libraries returned.
pub(crate) enum Foreign {
    /// An error of this crate that the library passed on: a disk failed, or a file changed.
    Ours(Error),
    /// The message of the library.
    Words(String),
}

impl Foreign {
    /// Makes an error about a file and a place in it.
    pub(crate) fn at(self, name: &str, place: impl Into<String>) -> Error {
        match self {
            Self::Ours(error) => error,
            Self::Words(message) => {
                Error::inside(name, FileProblem::Content { place: place.into(), message })
            }
        }
    }
}

impl Foreign {
    /// Makes an error about an output and a place in it.
    pub(crate) fn while_writing(self, place: impl Into<String>) -> Error {
        match self {
            Self::Ours(error) => error,
            Self::Words(message) => {
                Error::inside("the output", FileProblem::Unwritten { place: place.into(), message })
            }
        }
    }
}

impl From<ArrowError> for Foreign {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(inside) => ours(inside),
            ArrowError::IoError(_, error) => ours(Box::new(error)),
            ArrowError::IpcError(words)
            | ArrowError::ParseError(words)
            | ArrowError::InvalidArgumentError(words) => Self::Words(words),
            other => Self::Words(other.to_string()),
        }
    }
}

/// Finds our own error, if it is wrapped in other errors.
pub(crate) fn ours(error: Box<dyn StdError + Send + Sync>) -> Foreign {
    let error = match error.downcast::<Error>() {
        Ok(error) => return Foreign::Ours(*error),
        Err(error) => error,
    };
    match error.downcast::<io::Error>() {
        Ok(error) if error.get_ref().is_some() => match error.into_inner() {
            Some(inside) => ours(inside),
            None => Foreign::Words(String::new()),
        },
        Ok(error) => Foreign::Words(error.to_string()),
        Err(error) => Foreign::Words(error.to_string()),
    }
}

/// Runs code of one of the libraries. The libraries return errors for most damage and panic at other damage, so a
/// panic becomes an error, too.
pub(crate) fn guarded<T, E: Into<Foreign>>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, Foreign> {
    match caught(decode) {
        Ok(result) => result.map_err(Into::into),
        Err(words) => Err(Foreign::Words(words)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_errors_come_back() {
        let broken = || Error::io("write", "out", io::ErrorKind::BrokenPipe.into());
        let error = Foreign::from(ArrowError::ExternalError(Box::new(broken()))).at("a", "batch 0");
        assert!(error.is_broken_pipe(), "{error}");
        let error = Foreign::from(ArrowError::IpcError("too short".into())).at("a", "its footer");
        assert_eq!(error.to_string(), "`a` cannot be read: its footer: too short");
    }

    #[test]
    fn a_panic_is_damage() {
        let decode = || -> Result<(), ArrowError> { panic!("index out of bounds") };
        let Err(foreign) = guarded(decode) else { panic!("it did not fail") };
        assert!(foreign.at("a", "page 3").to_string().ends_with("page 3: index out of bounds"));
    }
}
