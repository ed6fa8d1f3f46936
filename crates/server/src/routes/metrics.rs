//! `GET /metrics`: metrics in the formats of Prometheus.

use std::collections::HashSet;

use axum::extract::State as At;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};

use crate::lanes::Lane;
use crate::problem::Problem;
use crate::state::SharedState;

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// The older text format of Prometheus, which other clients show as plain text.
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

pub(crate) async fn metrics(At(state): At<SharedState>, headers: HeaderMap) -> Result<Response, Problem> {
    let named =
        |accept: &HeaderValue| accept.to_str().is_ok_and(|accept| accept.contains("openmetrics-text"));
    let takes_open_metrics = headers.get_all(ACCEPT).iter().any(named);
    let jobs = state.jobs.under_way();
    let text = state
        .run(Lane::Quick, move |archive, _| {
            let numbers = archive.statistics()?;
            Ok(archive.metrics.text(numbers.documents, numbers.disk_bytes, jobs))
        })
        .await?;
    let (kind, text) = if takes_open_metrics { (OPEN_METRICS, text) } else { (PLAIN, plain(&text)) };
    Ok(([(CONTENT_TYPE, kind), (VARY, HeaderValue::from_static("accept"))], text).into_response())
}

/// Converts `OpenMetrics` to the older format. In the older format, the metadata of a counter have the same
/// suffix `_total` as its samples, and no line marks the end.
fn plain(open_metrics: &str) -> String {
    let counters: HashSet<&str> = open_metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut text = String::new();
    for line in open_metrics.lines().filter(|line| *line != "# EOF" && !line.starts_with("# UNIT ")) {
        let about = ["# TYPE ", "# HELP "].into_iter().find_map(|begin| {
            let (name, rest) = line.strip_prefix(begin)?.split_once(' ')?;
            counters.contains(name).then(|| format!("{begin}{name}_total {rest}\n"))
        });
        match about {
            Some(about) => text.push_str(&about),
            None => text.extend([line, "\n"]),
        }
    }
    text
}
