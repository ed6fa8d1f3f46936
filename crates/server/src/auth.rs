//! Access control: decides which client may read, and which may change the archive.
//!
//! A server with tokens admits clients that send a token. A server without tokens admits every process on
//! this machine, and so every web page in a browser on this machine. So a server without tokens checks
//! headers. `Host` must name this machine, because a page of another site could resolve its own name to our
//! address (DNS rebinding). `Origin` and `Sec-Fetch-Site` must not name another site: the browser would hide
//! our answers from a page of that site, but the page could keep the server busy.

use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName};
use subtle::ConstantTimeEq;

use crate::error::{Error, Result};
use crate::problem::{Problem, ProblemKind};

/// Header in which a browser states whether the page that sends a request belongs to the same site.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Minimum number of characters of a token, because shorter tokens could be guessed.
const TOKEN_CHARACTERS: usize = 16;

/// The right that a token gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Right {
    /// The right to read documents, check texts and find clusters.
    Read,
    /// The right to do all that [`Read`](Self::Read) allows, and to change the archive.
    Write,
}

/// The tokens of a server.
#[derive(Clone)]
pub struct Tokens(Vec<(Right, String)>);

impl std::fmt::Debug for Tokens {
    /// Prints only the number of tokens, because printed tokens could stay in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tokens({})", self.0.len())
    }
}

impl Tokens {
    /// Reads tokens from a file that only its owner may read. Each line is `read TOKEN` or `write TOKEN`;
    /// lines that begin with `#` are comments.
    ///
    /// # Errors
    /// - Fails with [`Error::Io`] if the file cannot be read.
    /// - Fails with [`Error::OpenTokens`] if other users than its owner may read the file.
    /// - Fails with [`Error::Tokens`] if a line has another form, a token has fewer than 16 characters, or
    ///   the file has no token.
    pub fn read(path: &Path) -> Result<Self> {
        let wrong = |error| Error::Io { action: "read", path: path.to_owned(), error };
        // The error of `fs_err` is unwrapped because the message already names the path.
        let reason = |error: io::Error| {
            let inside = error.get_ref().and_then(|wrapped| wrapped.source()?.downcast_ref::<io::Error>());
            wrong(inside.and_then(io::Error::raw_os_error).map_or(error, io::Error::from_raw_os_error))
        };
        let text = fs_err::read_to_string(path).map_err(reason)?;
        if is_open_to_others(&fs_err::metadata(path).map_err(wrong)?) {
            return Err(Error::OpenTokens { path: path.to_owned() });
        }
        Self::parse(&text).map_err(|(line, why)| Error::Tokens { path: path.to_owned(), line, why })
    }

    /// Parses the tokens of a text. An error has the number of the wrong line and the reason, but not the
    /// line, which may contain a token.
    fn parse(text: &str) -> std::result::Result<Self, (usize, &'static str)> {
        let mut tokens = vec![];
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let mut words = text.split_ascii_whitespace();
            let (Some(right), Some(token), None) = (words.next(), words.next(), words.next()) else {
                return Err((line, "it is not of the form `read TOKEN` or `write TOKEN`"));
            };
            let right = match right {
                "read" => Right::Read,
                "write" => Right::Write,
                _ => return Err((line, "it begins neither with `read` nor with `write`")),
            };
            if token.len() < TOKEN_CHARACTERS {
                return Err((line, "its token has fewer than 16 characters"));
            }
            if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err((line, "its token has a character that no header can have"));
            }
            tokens.push((right, token.to_owned()));
        }
        if tokens.is_empty() { Err((1, "there is no token in it")) } else { Ok(Self(tokens)) }
    }

    /// Returns the number and the right of a token. All tokens of one length take the same time to compare,
    /// so that the time does not help to guess a token.
    fn find(&self, given: &str) -> Option<(usize, Right)> {
        let mut found = None;
        for (number, (right, token)) in self.0.iter().enumerate() {
            if bool::from(token.as_bytes().ct_eq(given.as_bytes())) {
                found = Some((number, *right));
            }
        }
        found
    }
}

#[cfg(unix)]
fn is_open_to_others(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &std::fs::Metadata) -> bool {
    false
}

/// A client whose requests and connections are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// The client that sends the token with this number.
    Token(usize),
    /// The client at this address.
    Address(IpAddr),
}

impl Client {
    /// Returns the client at an address. IPv6 addresses with the same first 64 bits are one client, because
    /// one subscriber has all of them.
    pub(crate) fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                let mut octets = address.octets();
                octets[8..].fill(0);
                Ipv6Addr::from(octets).into()
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// The clients that a server admits.
#[derive(Debug)]
pub(crate) enum Access {
    /// All clients on this machine.
    Local,
    /// Clients with a token.
    Tokens(Tokens),
}

impl Access {
    /// Returns the client of a request, and whether it has the right that the request needs.
    pub(crate) fn judge(
        &self,
        headers: &HeaderMap,
        needed: Right,
        address: IpAddr,
    ) -> (Client, Result<(), Problem>) {
        let client = Client::at(address);
        let tokens = match self {
            Self::Local => return (client, Ok(())),
            Self::Tokens(tokens) => tokens,
        };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(given) = given.and_then(bearer) else {
            return (client, Err(ProblemKind::TokenRequired.into()));
        };
        match tokens.find(given) {
            None => (client, Err(ProblemKind::TokenUnknown.into())),
            Some((number, right)) if right < needed => {
                (Client::Token(number), Err(ProblemKind::WriteTokenRequired.into()))
            }
            Some((number, _)) => (Client::Token(number), Ok(())),
        }
    }

    /// Returns a problem if `Host` does not name this machine. A server with tokens accepts every host.
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        match self {
            Self::Local if !host(headers).is_some_and(|host| is_loopback(name_of(host))) => {
                Err(ProblemKind::ForeignHost.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns a problem if a page of another site sent the request. A server with tokens accepts every site,
    /// because browsers do not add tokens by themselves.
    pub(crate) fn check_site(&self, headers: &HeaderMap) -> Result<(), Problem> {
        if matches!(self, Self::Tokens(_)) {
            return Ok(());
        }
        let is_host =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|it| Some(it) == host(headers));
        // Browsers send `Origin` with requests that may change something, and `Sec-Fetch-Site` with all requests.
        let origin = headers.get(ORIGIN).is_none_or(|origin| origin.to_str().is_ok_and(is_host));
        let site = headers.get(FETCH_SITE).is_none_or(|site| site == "same-origin" || site == "none");
        if origin && site { Ok(()) } else { Err(ProblemKind::ForeignOrigin.into()) }
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

/// Returns a host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_loopback(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_and_errors_name_the_line() {
        let tokens = Tokens::parse("# ours\n\nread  0123456789abcdef\n write fedcba9876543210\n").unwrap();
        assert_eq!(tokens.find("0123456789abcdef"), Some((0, Right::Read)));
        assert_eq!(tokens.find("fedcba9876543210"), Some((1, Right::Write)));
        assert_eq!(tokens.find("fedcba9876543211"), None);
        assert_eq!(tokens.find(""), None);
        for (text, line) in [
            ("", 1),
            ("# nothing\n", 1),
            ("read short", 1),
            ("\nadmin 0123456789abcdef", 2),
            ("read", 1),
            ("read 0123456789abcdef 0123456789abcdef", 1),
            ("read 0123456789abcdé", 1),
        ] {
            assert_eq!(Tokens::parse(text).map_err(|wrong| wrong.0).unwrap_err(), line, "{text}");
        }
        assert_eq!(format!("{tokens:?}"), "Tokens(2)");
    }

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:8080"] {
            assert!(is_loopback(name_of(host)), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com:80",
            "10.0.0.1:8080",
            "127.0.0.1.example.com",
            "[::2]:1",
        ] {
            assert!(!is_loopback(name_of(host)), "{host}");
        }
    }

    #[test]
    fn addresses_of_one_subscriber_are_one_client() {
        let at = |address: &str| Client::at(address.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("10.0.0.2"), at("10.0.0.1"));
    }
}
