//! What takes a look at the whole archive to say: how similar documents are to their nearest, and when they were added.
//!
//! It is looked for when somebody asks, away from them, and kept until the archive has changed. Whoever asks waits a moment
//! for it; in a large archive they get what was known before, or nothing, and find it there the next time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use minwise::Observer;
use minwise_index::{CheckOptions, ErrorKind, Fault};
use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::date;
use crate::problem::{Problem, ProblemKind};
use crate::shutdown::{Phase, Until};
use crate::state::{ServerState, SharedState};

/// Documents whose nearest are looked for.
const DRAWN: usize = 500;
/// What they are drawn by, so that an archive that has not changed shows the same.
const SEED: u64 = 1;
/// Bars of the histogram.
const BUCKETS: usize = 20;
/// How long whoever asks waits.
const WAIT: Duration = Duration::from_secs(2);
/// How many times as long as it takes to look it is good for, however often the archive changes.
const REST: u32 = 20;
/// A look that takes less than this is taken again after every change: whoever added documents sees them.
const QUICK: Duration = Duration::from_millis(100);

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

/// What was seen.
#[derive(Debug, Clone)]
pub(crate) struct OverviewData {
    pub(crate) similarities: SimilarityHistogram,
    pub(crate) added_by_month: Vec<Month>,
}

/// What was seen last, and whether somebody looks.
#[derive(Debug, Default)]
pub(crate) struct Overview(Mutex<OverviewState>);

#[derive(Debug, Default)]
struct OverviewState {
    /// What was seen at which change, when, and how long it took.
    last: Option<(u64, Instant, Duration, Arc<OverviewData>)>,
    /// Changes when the look that is under way ends.
    looking: Option<watch::Receiver<()>>,
}

impl Overview {
    fn looks(&self) -> MutexGuard<'_, OverviewState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was seen last.
    fn last(&self) -> Option<Arc<OverviewData>> {
        self.looks().last.as_ref().map(|(.., seen)| Arc::clone(seen))
    }

    /// What there is to be seen of an archive after this many changes, if it can be had soon.
    pub(crate) async fn at(state: &SharedState, changes: u64) -> Option<Arc<OverviewData>> {
        let mut looking = {
            let mut looks = state.overview.looks();
            if let Some((at, when, took, seen)) = &looks.last
                && (*at == changes || rests(*took, when.elapsed()))
            {
                return Some(Arc::clone(seen));
            }
            looks.looking.get_or_insert_with(|| begin(Arc::clone(state), changes)).clone()
        };
        // An error is that the look has ended already.
        let _ = tokio::time::timeout(WAIT, looking.changed()).await;
        state.overview.last()
    }
}

/// Whether a look that took this long is good for a changed archive, this long after it.
fn rests(took: Duration, since: Duration) -> bool {
    took > QUICK && since < took * REST
}

/// Begins to look.
fn begin(state: SharedState, changes: u64) -> watch::Receiver<()> {
    let (ended, looking) = watch::channel(());
    tokio::spawn(async move {
        let begun = Instant::now();
        let at = Arc::clone(&state);
        let seen = tokio::task::spawn_blocking(move || look(&at, &at.end.until(Phase::Stopping))).await;
        let seen = seen.unwrap_or_else(|panic| Err(state.broken(&panic)));
        let mut looks = state.overview.looks();
        looks.looking = None;
        // What failed was told where it did, and is tried again when somebody asks.
        if let Ok(seen) = seen {
            looks.last = Some((changes, Instant::now(), begun.elapsed(), Arc::new(seen)));
        }
        drop(looks);
        ended.send_replace(());
    });
    looking
}

fn look(state: &ServerState, until: &Until) -> Result<OverviewData, Problem> {
    let survey = state.told(state.index.survey(DRAWN, SEED, until))?;
    let mut months: BTreeMap<String, u64> = BTreeMap::new();
    for (day, documents) in survey.added {
        *months.entry(date::month(day)).or_default() += documents;
    }
    let added_by_month = months.into_iter().map(|(month, documents)| Month { month, documents }).collect();
    Ok(OverviewData { similarities: similarities(state, &survey.drawn, until)?, added_by_month })
}

fn similarities(
    state: &ServerState,
    drawn: &[String],
    until: &Until,
) -> Result<SimilarityHistogram, Problem> {
    // Every candidate is a match, and one passage of each is enough.
    let options = CheckOptions::default().threshold(0.0).containment(0.0).top(usize::MAX).passages(1);
    let edge = |at: usize| at as f64 / BUCKETS as f64;
    let mut buckets: Vec<Bucket> =
        (0..BUCKETS).map(|at| Bucket { from: edge(at), to: edge(at + 1), documents: 0 }).collect();
    for id in drawn {
        if until.cancelled() {
            return Err(ProblemKind::Stopping.into());
        }
        let answer = match state.index.resembling(id, &options, until) {
            // It was removed meanwhile.
            Err(error) if matches!(error.kind(), ErrorKind::NoSuchDocument { .. }) => continue,
            Err(error) if error.kind().fault() == Fault::Busy => return Err(ProblemKind::Stopping.into()),
            answer => state.told(answer)?,
        };
        let nearest = answer.matches.iter().map(|found| found.similarity).max_by(f64::total_cmp);
        // A document that shares nothing with any other has no nearest one.
        if let Some(nearest) = nearest.filter(|similarity| *similarity > 0.0) {
            let above = buckets.partition_point(|bucket| bucket.from <= nearest);
            buckets[above - 1].documents += 1;
        }
    }
    Ok(SimilarityHistogram { buckets, documents_sampled: drawn.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_looks_rest() {
        let seconds = Duration::from_secs;
        assert!(!rests(Duration::from_millis(99), Duration::ZERO), "whoever adds to a small archive sees it");
        assert!(rests(seconds(3), seconds(59)), "a large one is not looked at all the time");
        assert!(!rests(seconds(3), seconds(60)), "but is again");
    }
}
