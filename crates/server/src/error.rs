//! Why a server could not be started. `Display` is a sentence for a person, and [`Error::hint`] says what to try.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use minwise::Sentence;

/// Why a server could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    Io {
        /// What was being done, as a verb.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// It cannot listen there.
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the operating system said.
        error: io::Error,
    },
    /// Others could reach it, and it would let them do everything.
    Unprotected {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// Others may read the tokens.
    OpenTokens {
        /// Their file.
        path: PathBuf,
    },
    /// A line of the tokens that cannot be read.
    Tokens {
        /// Their file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The threads of the server could not be started.
    Threads(io::Error),
}

/// The result of starting a server.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A stable name, for programs and logs.
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

    /// The error of the operating system behind this one, if there is one.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Io { error, .. } | Self::Listen { error, .. } | Self::Threads(error) => Some(error),
            Self::Unprotected { .. } | Self::OpenTokens { .. } | Self::Tokens { .. } => None,
        }
    }

    /// What to try.
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
