//! The overview of the archive: a histogram of the similarities between documents and their nearest
//! documents, and the number of documents per month.
//!
//! A survey of the archive computes the overview on its own thread when a client asks, and the overview is
//! cached until the archive changes. A client waits up to two seconds for the survey. If the survey takes
//! longer, the client gets the previous overview or none, and must ask again for the new overview.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use minwise::Observer;
use minwise_index::{CheckOptions, ErrorKind, Fault};
use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::archive::Archive;
use crate::month::month;
use crate::problem::{Problem, ProblemKind};
use crate::shutdown::{Phase, Until};

/// Maximum number of documents in the sample.
const SAMPLE: usize = 500;
/// Seed of the sample. The seed is constant, so that an unchanged archive always has the same histogram.
const SEED: u64 = 1;
/// Number of buckets of the histogram.
const BUCKETS: usize = 20;
/// Maximum time for which a request waits for a running survey. After that, it gets the previous overview, if there is
/// one.
const WAIT: Duration = Duration::from_secs(2);
/// Pause after a survey, as a multiple of the time that the survey took. So surveys run at most one twentieth
/// of the time, even if the archive changes all the time.
const PAUSE: u32 = 20;
/// Time up to which a survey is short. A short survey is repeated after every change, so that people who add
/// documents to a small archive see these documents.
const SHORT: Duration = Duration::from_millis(100);

/// A bucket of the histogram of similarities.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = SimilarityBucket)]
pub(crate) struct Bucket {
    /// Lower end of the bucket, inclusive.
    #[schema(minimum = 0, maximum = 1)]
    from: f64,
    /// Upper end of the bucket, exclusive; 1 is in the last bucket.
    #[schema(minimum = 0, maximum = 1)]
    to: f64,
    /// Number of sampled documents whose similarity to their nearest document is in the bucket.
    documents: u64,
}

/// Histogram of the similarities between sampled documents and their nearest documents.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Similarities)]
pub(crate) struct SimilarityHistogram {
    /// Buckets of equal width, in ascending order, up to similarity 1.
    buckets: Vec<Bucket>,
    /// Number of documents in the sample, up to 500.
    documents_sampled: usize,
}

/// Documents that were added in a month.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = AddedInMonth)]
pub(crate) struct Month {
    /// The month, such as `2026-03`.
    month: String,
    /// Number of documents that were added in the month.
    documents: u64,
}

/// The result of a survey.
#[derive(Debug, Clone)]
pub(crate) struct OverviewData {
    pub(crate) similarities: SimilarityHistogram,
    pub(crate) added_by_month: Vec<Month>,
}

/// The overview of an archive, and the survey that computes it.
pub(crate) struct Overview {
    archive: Arc<Archive>,
    surveys: Mutex<Surveys>,
}

#[derive(Debug, Default)]
struct Surveys {
    last: Option<FinishedSurvey>,
    /// Receiver of the survey that runs. The value of the receiver changes when the survey ends.
    running: Option<watch::Receiver<()>>,
}

/// A survey that has ended.
#[derive(Debug)]
struct FinishedSurvey {
    /// Number of changes of the archive before the survey.
    changes: u64,
    ended: Instant,
    time: Duration,
    data: Arc<OverviewData>,
}

impl Overview {
    pub(crate) fn new(archive: Arc<Archive>) -> Self {
        Self { archive, surveys: Mutex::default() }
    }

    fn surveys(&self) -> MutexGuard<'_, Surveys> {
        self.surveys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the overview of the archive after this many changes, if it is ready within two seconds;
    /// otherwise returns the previous overview, if there is one.
    pub(crate) async fn after(self: &Arc<Self>, changes: u64) -> Option<Arc<OverviewData>> {
        let mut running = {
            let mut surveys = self.surveys();
            if let Some(last) = &surveys.last
                && (last.changes == changes || is_too_early(last.time, last.ended.elapsed()))
            {
                return Some(Arc::clone(&last.data));
            }
            surveys.running.get_or_insert_with(|| self.begin(changes)).clone()
        };
        // If the survey has ended already, `changed` returns an error immediately.
        let _ = tokio::time::timeout(WAIT, running.changed()).await;
        self.surveys().last.as_ref().map(|last| Arc::clone(&last.data))
    }

    /// Begins a survey. The value of the receiver changes when the survey ends.
    fn begin(self: &Arc<Self>, changes: u64) -> watch::Receiver<()> {
        let (ended, running) = watch::channel(());
        let overview = Arc::clone(self);
        tokio::spawn(async move {
            let begun = Instant::now();
            let archive = Arc::clone(&overview.archive);
            let survey = move || survey(&archive, &archive.shutdown.until(Phase::Stopping));
            let data = tokio::task::spawn_blocking(survey).await;
            let data = data.unwrap_or_else(|panic| Err(overview.archive.panicked(&panic)));
            let mut surveys = overview.surveys();
            surveys.running = None;
            // The log already has an error of the survey, and the next request begins another survey.
            if let Ok(data) = data {
                let data = Arc::new(data);
                surveys.last =
                    Some(FinishedSurvey { changes, ended: Instant::now(), time: begun.elapsed(), data });
            }
            drop(surveys);
            ended.send_replace(());
        });
        running
    }
}

/// Reports whether it is too early for the next survey, given that the last survey took `time` and ended
/// `since` ago.
fn is_too_early(time: Duration, since: Duration) -> bool {
    time > SHORT && since < time * PAUSE
}

fn survey(archive: &Archive, until: &Until) -> Result<OverviewData, Problem> {
    let survey = archive.or_problem(archive.index.survey(SAMPLE, SEED, until))?;
    let mut months: BTreeMap<String, u64> = BTreeMap::new();
    for (day, documents) in survey.added {
        *months.entry(month(day)).or_default() += documents;
    }
    let added_by_month = months.into_iter().map(|(month, documents)| Month { month, documents }).collect();
    Ok(OverviewData { similarities: similarities(archive, &survey.drawn, until)?, added_by_month })
}

fn similarities(archive: &Archive, sample: &[String], until: &Until) -> Result<SimilarityHistogram, Problem> {
    // With these options every candidate is a match. One passage per match is enough, because only the
    // similarities are read.
    let options = CheckOptions::default().threshold(0.0).containment(0.0).top(usize::MAX).passages(1);
    let edge = |at: usize| at as f64 / BUCKETS as f64;
    let mut buckets: Vec<Bucket> =
        (0..BUCKETS).map(|at| Bucket { from: edge(at), to: edge(at + 1), documents: 0 }).collect();
    for id in sample {
        if until.cancelled() {
            return Err(ProblemKind::Stopping.into());
        }
        let answer = match archive.index.resembling(id, &options, until) {
            // Another request removed the document after the survey.
            Err(error) if matches!(error.kind(), ErrorKind::NoSuchDocument { .. }) => continue,
            Err(error) if error.kind().fault() == Fault::Busy => return Err(ProblemKind::Stopping.into()),
            answer => archive.or_problem(answer)?,
        };
        let nearest = answer.matches.iter().map(|found| found.similarity).max_by(f64::total_cmp);
        // A document that shares no shingle with another has no nearest document.
        if let Some(nearest) = nearest.filter(|similarity| *similarity > 0.0) {
            let above = buckets.partition_point(|bucket| bucket.from <= nearest);
            buckets[above - 1].documents += 1;
        }
    }
    Ok(SimilarityHistogram { buckets, documents_sampled: sample.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_surveys_pause() {
        let seconds = Duration::from_secs;
        assert!(
            !is_too_early(Duration::from_millis(99), Duration::ZERO),
            "a small archive is surveyed at once"
        );
        assert!(is_too_early(seconds(3), seconds(59)), "a large archive is not surveyed all the time");
        assert!(!is_too_early(seconds(3), seconds(60)), "a large archive is surveyed again");
    }
}
