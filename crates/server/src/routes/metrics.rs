//! Counts for Prometheus, at the address where it looks for them.

use axum::extract::State as At;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::state::SharedState;

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

pub(crate) async fn metrics(At(state): At<SharedState>) -> Result<Response, Problem> {
    let text = state
        .run_quick(|state| {
            let numbers = state.told(state.index.statistics())?;
            Ok(state.metrics.text(numbers.documents, numbers.disk_bytes, state.jobs.under_way()))
        })
        .await?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}
