//! How far a job is, and what came of it.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;

use super::parameters::Id;
use super::sent;
use crate::jobs::JobSent;
use crate::problem::{Kind, Problem};
use crate::state::Shared;

/// Look at a job. Its result is kept for an hour.
#[utoipa::path(get, path = "/jobs/{id}", tag = "jobs", params(("id" = String, Path, description = "Its id")),
    responses((status = 200, body = JobSent), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn get(At(state): At<Shared>, Id(id): Id) -> Result<Response, Problem> {
    let job = state.jobs.get(&id).ok_or(Kind::NoSuchJob)?;
    // Its result may be long to write.
    state.run(move |_| sent(StatusCode::OK, &job)).await
}
