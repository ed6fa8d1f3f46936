//! Parameters in the address of a request.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::{Problem, ProblemKind};
use crate::state::SharedState;

/// Parameters of the query string of a request.
#[derive(Debug)]
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<SharedState> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &SharedState) -> Result<Self, Problem> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(parameters)) => Ok(Self(parameters)),
            Err(refused) => Err(Problem::new(ProblemKind::BadParameter, refused.body_text())),
        }
    }
}

/// Id in the path of a request.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) String);

impl FromRequestParts<SharedState> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &SharedState) -> Result<Self, Problem> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(refused) => Err(Problem::new(ProblemKind::BadParameter, refused.body_text())),
        }
    }
}
