//! Metrics for Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Labels of the counter of requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// Labels of the counter of ended jobs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndedJob {
    kind: &'static str,
    result: &'static str,
}

/// The metrics of a server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    refused: Family<Reason, Counter>,
    jobs: Family<EndedJob, Counter>,
    pub(crate) in_flight: Gauge,
    pub(crate) added: Counter,
    pub(crate) failures: Counter,
    pub(crate) merged: Counter,
    documents: Gauge,
    disk: Gauge<i64>,
    under_way: Gauge,
}

/// Creates a histogram of seconds, with buckets from half a millisecond to half a minute.
fn times() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.0, 17))
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("minwise");
        let requests = Family::default();
        let seconds = Family::new_with_constructor(times as fn() -> Histogram);
        let (refused, jobs) = (Family::default(), Family::default());
        let [in_flight, documents, under_way] = [(); 3].map(|()| Gauge::default());
        let disk = Gauge::default();
        let [added, failures, merged] = [(); 3].map(|()| Counter::<u64, AtomicU64>::default());
        registry.register("requests", "Requests by route, method and status", requests.clone());
        registry.register("request_seconds", "Time of requests by route", seconds.clone());
        registry.register("requests_in_flight", "Requests that are being answered", in_flight.clone());
        registry.register("documents_added", "Documents that were added or replaced", added.clone());
        registry.register("files_refused", "Files that gave no text, by reason", refused.clone());
        registry.register("jobs_ended", "Jobs that ended, by kind and result", jobs.clone());
        registry.register("jobs_under_way", "Jobs that run or wait", under_way.clone());
        registry.register("archive_failures", "Failures of the archive itself", failures.clone());
        registry.register("archive_merges", "Times that changes were merged", merged.clone());
        registry.register("documents", "Documents of the archive", documents.clone());
        registry.register("disk_bytes", "Bytes of the archive on disk", disk.clone());
        Self {
            registry,
            requests,
            seconds,
            refused,
            jobs,
            in_flight,
            added,
            failures,
            merged,
            documents,
            disk,
            under_way,
        }
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, route: &str, method: &str, status: u16, time: Duration) {
        let route = route.to_owned();
        self.seconds.get_or_create(&Route { route: route.clone() }).observe(time.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { route, method: method.to_owned(), status }).inc();
    }

    /// Counts a file from which no text could be extracted.
    pub(crate) fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&Reason { reason }).inc();
    }

    /// Counts a job that ended.
    pub(crate) fn job_ended(&self, kind: &'static str, is_done: bool) {
        let result = if is_done { "done" } else { "failed" };
        self.jobs.get_or_create(&EndedJob { kind, result }).inc();
    }

    /// Returns all metrics in the text format of `OpenMetrics`.
    pub(crate) fn text(&self, documents: u64, disk_bytes: u64, jobs: usize) -> String {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.documents.set(whole(documents));
        self.disk.set(whole(disk_bytes));
        self.under_way.set(whole(jobs as u64));
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
