//! `GET /jobs/{id}`: progress and result of a job.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::json_answer;
use super::parameters::Id;
use crate::jobs::JobAnswer;
use crate::lanes::Lane;
use crate::problem::{Problem, ProblemKind};
use crate::state::SharedState;

/// A job that was begun.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobBegun)]
pub(crate) struct StartedJob {
    /// Id of the job, for `GET /jobs/{id}`.
    pub(crate) job: String,
}

/// Get the state of a job.
///
/// The server keeps the result of a job for an hour.
#[utoipa::path(get, path = "/jobs/{id}", operation_id = "get_job", tag = "jobs",
    params(("id" = String, Path, description = "Id of the job.")),
    responses((status = 200, description = "The job.", body = JobAnswer)))]
pub(crate) async fn get(At(state): At<SharedState>, Id(id): Id) -> Result<Response, Problem> {
    let job = state.jobs.get(&id).ok_or(ProblemKind::NoSuchJob)?;
    state.run(Lane::Read, move |_, _| json_answer(StatusCode::OK, &job)).await
}
