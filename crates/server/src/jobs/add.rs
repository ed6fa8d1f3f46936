//! Jobs that add documents.

use std::sync::atomic::Ordering;

use minwise::figure::{counted, grouped};
use minwise::{Observer, Stage};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use super::{Job, JobKind, Jobs, WorkResult};
use crate::archive::{AddedAnswer, Archive, Item};
use crate::limits::cores;
use crate::problem::{Problem, ProblemKind};
use crate::shutdown::Phase;

impl Jobs {
    /// Queues a job that adds documents, and returns its id. The job holds `memory` until it ends.
    pub(crate) fn add(&self, items: Vec<Item>, memory: OwnedSemaphorePermit) -> Result<String, Problem> {
        let until = self.archive.shutdown.until(Phase::Over);
        self.begin(JobKind::Add, None, until, move |archive, job| {
            let _memory = memory;
            add(archive, job, items)
        })
    }
}

fn add(archive: &Archive, job: &Job, items: Vec<Item>) -> WorkResult<AddedAnswer> {
    let total = items.len() as u64;
    job.begin(Stage::Add, total);
    let mut answer = AddedAnswer::default();
    let added = archive.add(items, cores(), &mut answer, |done| {
        job.set_progress(done as u64, total);
        if job.cancelled() { Err(ProblemKind::Stopping.into()) } else { Ok(()) }
    });
    let done = answer.counts.all() as u64;
    job.set_progress(done, total);
    let error = added.err().map(|problem| {
        if job.cancelled() {
            archive.not_added.fetch_add(total - done, Ordering::Relaxed);
        }
        archive.log(&json!({"event": "unfinished", "job": job.id, "done": done, "total": total}));
        let (done, total) = (grouped(done), counted(total, "document"));
        problem.detail(format!("{done} of {total} had been added or rejected before."))
    });
    WorkResult { result: Some(answer), error }
}
