//! `POST /pair`: compares two documents.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::check::{Submission, SubmissionOptions};
use super::json_answer;
use crate::archive::{PairAnswer, SideRequest};
use crate::lanes::Lane;
use crate::problem::Problem;
use crate::state::SharedState;
use crate::uploads::Received;

/// Two documents to compare.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairRequest {
    /// The left document.
    left: SideRequest,
    /// The right document.
    right: SideRequest,
    /// Options of a check. Text that the options ignore is left out of the comparison, so the answer has the numbers and all passages
    /// of a check of the left text against the right document. Options that only decide which documents of the archive are
    /// matches, such as `threshold`, `since`, `exclude`, `candidates` and `top`, have no effect.
    #[serde(default)]
    #[schema(value_type = SubmissionOptions, required = false)]
    options: Submission,
}

/// Compare two documents.
///
/// A side is a document of the archive, or a text. The answer has all passages that both sides share.
#[utoipa::path(post, path = "/pair", operation_id = "compare_pair", tag = "check",
    request_body(description = "The two documents.", content = PairRequest),
    responses((status = 200, description = "Similarity and shared passages.", body = PairAnswer)))]
pub(crate) async fn pair(At(state): At<SharedState>, received: Received) -> Result<Response, Problem> {
    let Received { content, held } = received;
    let (held, PairRequest { left, right, options }, lane) = state
        .run(Lane::Read, move |archive, _| {
            let request: PairRequest = content.value()?;
            request.options.check_without_text()?;
            let bytes = archive.side_size(&request.left)?.saturating_add(archive.side_size(&request.right)?);
            Ok((held, request, Lane::for_text(bytes)))
        })
        .await?;
    state
        .run(lane, move |archive, _| {
            let _held = held;
            json_answer(StatusCode::OK, &archive.pair(left, right, options.options())?)
        })
        .await
}
