//! How far a job is, and what came of it.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;

use super::parameters::Id;
use super::sent;
use crate::jobs::JobSent;
use crate::problem::{Problem, ProblemKind};
use crate::state::SharedState;

/// Get the state of a job.
///
/// The server keeps the result of a job for an hour.
#[utoipa::path(get, path = "/jobs/{id}", operation_id = "get_job", tag = "jobs",
    params(("id" = String, Path, description = "Id of the job")),
    responses((status = 200, description = "The job", body = JobSent)))]
pub(crate) async fn get(At(state): At<SharedState>, Id(id): Id) -> Result<Response, Problem> {
    let job = state.jobs.get(&id).ok_or(ProblemKind::NoSuchJob)?;
    // Its result may be long to write.
    state.run(move |_| sent(StatusCode::OK, &job)).await
}
