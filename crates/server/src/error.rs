//! Errors of starting a server. `Display` writes a sentence for people, and [`Error::hint`] returns advice.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use minwise::Sentence;

/// Reason why a server could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Reason of the operating system, for example that access is denied.
        error: io::Error,
    },
    /// The server cannot listen on the address.
    Listen {
        /// The address.
        address: SocketAddr,
        /// Reason of the operating system, for example that the address is in use.
        error: io::Error,
    },
    /// Other machines can reach the address, and there are no tokens.
    Unprotected {
        /// The address.
        address: SocketAddr,
    },
    /// Other users may read the file of the tokens.
    OpenTokens {
        /// The file of the tokens.
        path: PathBuf,
    },
    /// A line in the file of the tokens is wrong.
    Tokens {
        /// The file of the tokens.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The reason.
        why: &'static str,
    },
    /// The threads of the server could not be started.
    Threads(io::Error),
}

/// The result of starting a server.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns a stable name of the error, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "io",
            Self::Listen { .. } => "listen",
            Self::Unprotected { .. } => "unprotected",
            Self::OpenTokens { .. } => "open_tokens",
            Self::Tokens { .. } => "tokens",
            Self::Threads(_) => "threads",
        }
    }

    /// Returns the error of the operating system that caused this error, if there is one.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Io { error, .. } | Self::Listen { error, .. } | Self::Threads(error) => Some(error),
            Self::Unprotected { .. } | Self::OpenTokens { .. } | Self::Tokens { .. } => None,
        }
    }

    /// Returns advice for this error.
    #[must_use]
    pub fn hint(&self) -> Option<Sentence> {
        match self {
            Self::Unprotected { .. } => Some(
                Sentence::new()
                    .setting_to("tokens", "FILE")
                    .text(" lets in whoever has a token; without, listen on `127.0.0.1`"),
            ),
            Self::OpenTokens { path } => Some(format!("`chmod 600 {}`", path.display()).into()),
            Self::Tokens { .. } => Some(
                "every line is `read TOKEN` or `write TOKEN`, with tokens such as `openssl rand -hex 24` makes"
                    .into(),
            ),
            Self::Listen { error, .. } if error.kind() == io::ErrorKind::AddrInUse => Some(
                Sentence::from("another server listens there; ")
                    .setting_to("listen", "127.0.0.1:0")
                    .text(" takes a free port"),
            ),
            Self::Io { .. } | Self::Listen { .. } | Self::Threads(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, path, error } => write!(f, "cannot {action} `{}`: {error}", path.display()),
            Self::Listen { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::Unprotected { address } => {
                write!(f, "others can reach {address}, and without tokens everybody may change the archive")
            }
            Self::OpenTokens { path } => {
                write!(f, "others than its owner may read the tokens in `{}`", path.display())
            }
            Self::Tokens { path, line, why } => {
                write!(f, "line {line} of the tokens in `{}` is wrong: {why}", path.display())
            }
            Self::Threads(error) => write!(f, "cannot start threads: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.io_error().map(|error| error as &(dyn std::error::Error + 'static))
    }
}
