//! Problems: errors as `application/problem+json`, with a stable code for programs and sentences for people.
//!
//! No problem names a file of the server, because clients must not learn its paths.

use std::borrow::Cow;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use minwise_index::Fault;
use serde::Serialize;
use utoipa::ToSchema;

/// A kind of problem of the server itself. Problems of the index have the codes of [`minwise_index::ErrorKind::code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    TokenRequired,
    TokenUnknown,
    WriteTokenRequired,
    ForeignHost,
    ForeignOrigin,
    NoSuchAddress,
    NoSuchJob,
    MethodNotAllowed,
    BodyTooLarge,
    TextTooLong,
    UnsupportedType,
    BadBody,
    BadParameter,
    BadSetting,
    RejectedDocument,
    TooManyRequests,
    TooManyJobs,
    Busy,
    TooSlow,
    Opening,
    Stopping,
    Internal,
}

impl ProblemKind {
    /// Returns the status, the code and the title of the kind.
    fn facts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::TokenRequired => (S::UNAUTHORIZED, "token_required", "A token is needed"),
            Self::TokenUnknown => (S::UNAUTHORIZED, "token_unknown", "This token is not known here"),
            Self::WriteTokenRequired => {
                (S::FORBIDDEN, "write_token_required", "This token may read, but not change the archive")
            }
            Self::ForeignHost => (S::FORBIDDEN, "foreign_host", "This server is not known by that name"),
            Self::ForeignOrigin => {
                (S::FORBIDDEN, "foreign_origin", "Pages of another site may not use this server")
            }
            Self::NoSuchAddress => (S::NOT_FOUND, "no_such_address", "There is nothing at this address"),
            Self::NoSuchJob => (S::NOT_FOUND, "no_such_job", "There is no such job"),
            Self::MethodNotAllowed => {
                (S::METHOD_NOT_ALLOWED, "method_not_allowed", "This address does not take that method")
            }
            Self::BodyTooLarge => (S::PAYLOAD_TOO_LARGE, "body_too_large", "The request is too large"),
            Self::TextTooLong => (S::PAYLOAD_TOO_LARGE, "text_too_long", "The text is too long"),
            Self::UnsupportedType => {
                (S::UNSUPPORTED_MEDIA_TYPE, "unsupported_type", "A body of this type is not read here")
            }
            Self::BadBody => (S::BAD_REQUEST, "bad_body", "The body cannot be read"),
            Self::BadParameter => (S::BAD_REQUEST, "bad_parameter", "A parameter cannot be read"),
            Self::BadSetting => {
                (S::UNPROCESSABLE_ENTITY, "bad_setting", "An option has a value that it cannot have")
            }
            Self::RejectedDocument => {
                (S::UNPROCESSABLE_ENTITY, "rejected_document", "The document cannot be taken")
            }
            Self::TooManyRequests => {
                (S::TOO_MANY_REQUESTS, "too_many_requests", "There were too many requests")
            }
            Self::TooManyJobs => (S::SERVICE_UNAVAILABLE, "too_many_jobs", "There are too many jobs already"),
            Self::Busy => (S::SERVICE_UNAVAILABLE, "busy", "The server is busy"),
            Self::TooSlow => (S::SERVICE_UNAVAILABLE, "too_slow", "The request took too long"),
            Self::Opening => (S::SERVICE_UNAVAILABLE, "opening", "The archive is being opened"),
            Self::Stopping => (S::SERVICE_UNAVAILABLE, "stopping", "The server is being stopped"),
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal", "The server failed"),
        }
    }

    /// Returns advice for the client.
    fn hint(self) -> &'static str {
        match self {
            Self::TokenRequired => "send it as `Authorization: Bearer TOKEN`",
            Self::TokenUnknown => "check that it is complete; whoever runs the server has the tokens",
            Self::WriteTokenRequired => "ask whoever runs the server for a `write` token",
            Self::ForeignHost => "open it as http://localhost or http://127.0.0.1 with its port",
            Self::ForeignOrigin => "open the address in a tab of its own, or start the server with tokens",
            Self::NoSuchAddress => "`/api/v1/openapi.json` lists all addresses",
            Self::NoSuchJob => {
                "the server forgets a job an hour after its end, and when it is restarted; start it again"
            }
            Self::MethodNotAllowed => "`/api/v1/openapi.json` lists the methods of every address",
            Self::BodyTooLarge => "send fewer documents at a time",
            Self::TextTooLong => "send a part of it, or use `minwise check`, which takes longer texts",
            Self::UnsupportedType => "send `application/json` or, with files, `multipart/form-data`",
            Self::BadBody | Self::BadParameter => "`/api/v1/openapi.json` describes what this call takes",
            Self::BadSetting => "change it, or leave it out to use its default",
            Self::RejectedDocument => "mend what `detail` names, or send it in another format",
            Self::TooManyRequests => "wait as long as `Retry-After` says",
            Self::TooManyJobs => "wait until one of them has ended",
            Self::Busy => "ask again in a moment",
            Self::TooSlow => "ask for less at a time; documents that were sent may still be added",
            Self::Opening => "ask again in a few seconds",
            Self::Stopping => "ask again when it has been restarted",
            Self::Internal => "whoever runs the server finds the reason in its log",
        }
    }
}

/// Reason why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Stable code of the problem, in snake case.
    #[schema(value_type = String, example = "no_such_document")]
    pub(crate) code: &'static str,
    /// Problem in a few words, the same for every problem with this code.
    #[schema(value_type = String)]
    title: Cow<'static, str>,
    /// Facts of this problem, or null.
    #[schema(required = true)]
    pub(crate) detail: Option<String>,
    /// Advice for the caller.
    #[schema(value_type = String)]
    hint: Cow<'static, str>,
    /// HTTP status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Seconds after which to ask again.
    #[serde(skip)]
    pub(crate) retry_after: Option<u64>,
}

impl From<ProblemKind> for Problem {
    fn from(kind: ProblemKind) -> Self {
        let (status, code, title) = kind.facts();
        let status = status.as_u16();
        Self { code, title: title.into(), detail: None, hint: kind.hint().into(), status, retry_after: None }
    }
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..kind.into() }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = hint.into();
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds.max(1));
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns the title, the detail and the hint, for people.
    pub(crate) fn sentences(&self) -> (&str, Option<&str>, &str) {
        (&self.title, self.detail.as_deref(), &self.hint)
    }

    /// Reports whether the operator of the server must know of the problem.
    pub(crate) fn concerns_operator(&self) -> bool {
        self.status == 500 || self.status == 507
    }
}

impl From<&minwise_index::Error> for Problem {
    fn from(error: &minwise_index::Error) -> Self {
        let words = error.to_string();
        let again = "ask again in a moment";
        let look = "whoever runs the server finds the reason in its log";
        let other = "change the request, or use an archive that was created with other settings";
        let list = "`GET /api/v1/documents` lists the documents; this one may have been removed";
        // Problems that only the operator can repair have no message, because such messages name files of the
        // server.
        let (status, title, detail, hint) = match error.kind().fault() {
            Fault::Request => {
                (StatusCode::UNPROCESSABLE_ENTITY, "The archive cannot do this", Some(words), other)
            }
            Fault::Missing => (StatusCode::NOT_FOUND, "There is no such document", Some(words), list),
            Fault::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "The text is too long",
                Some(words),
                "divide it into several documents",
            ),
            Fault::Busy => (StatusCode::SERVICE_UNAVAILABLE, "The archive is busy", None, again),
            Fault::Room => (
                StatusCode::INSUFFICIENT_STORAGE,
                "The archive accepts no changes",
                Some("Its documents can still be read and checked against.".to_owned()),
                "whoever runs the server has to free disk space and restart it",
            ),
            // The other faults are `Fault::Index`, and faults that are added later.
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "The archive cannot be read", None, look),
        };
        Self {
            code: error.kind().code(),
            title: title.into(),
            detail,
            hint: hint.into(),
            status: status.as_u16(),
            retry_after: (error.kind().fault() == Fault::Busy).then_some(1),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        // A problem has only strings and a number, so encoding it cannot fail.
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        response.extensions_mut().insert(self.clone());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use minwise_index::ErrorKind;

    use super::*;

    #[test]
    fn errors_of_the_archive_have_a_status_and_name_no_file() {
        let path = || std::path::PathBuf::from("/srv/archive");
        let id = || "a".to_owned();
        for (kind, status) in [
            (ErrorKind::Io { action: "use", path: path() }, 500),
            (ErrorKind::Damaged { path: path(), what: "all of it".to_owned() }, 500),
            (ErrorKind::DiskFull { path: path() }, 507),
            (ErrorKind::Stopped { path: path() }, 507),
            (ErrorKind::Interrupted, 503),
            (ErrorKind::NoSuchDocument { id: id() }, 404),
            (ErrorKind::BadId { id: id(), why: "it is empty" }, 422),
            (ErrorKind::TextTooLong { id: id(), bytes: 1 << 40 }, 413),
            (ErrorKind::NoTexts { wanted: "this" }, 422),
        ] {
            let code = kind.code();
            let problem = Problem::from(&minwise_index::Error::from(kind));
            assert_eq!((problem.status, problem.code), (status, code));
            let text = serde_json::to_string(&problem).unwrap();
            assert!(!text.contains("/srv"), "{text}");
            assert_eq!(problem.into_response().headers().contains_key(RETRY_AFTER), status == 503);
        }
    }
}
