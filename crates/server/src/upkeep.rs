//! Many small changes make an archive slower to read: each leaves rows of its own behind. Once there were enough of them they are
//! merged, while the archive goes on answering.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::json;

use crate::limits::ServerLimits;
use crate::shutdown::Phase;
use crate::state::{ServerState, SharedState};

/// Merging writes the archive anew. With a change for every so many documents, that is a bounded part of the work of adding them.
const DOCUMENTS_PER_CHANGE: u64 = 16;

/// Keeps count of changes.
#[derive(Debug)]
pub(crate) struct Upkeep {
    changes: AtomicU64,
    /// With how many changes it is time.
    due: AtomicU64,
    merging: AtomicBool,
}

impl Upkeep {
    pub(crate) fn new(limits: &ServerLimits, documents: u64) -> Self {
        let due = AtomicU64::new(due(limits, documents));
        Self { changes: AtomicU64::new(0), due, merging: AtomicBool::new(false) }
    }

    /// Counts a change.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Merges what was changed, away from whoever calls, if it is time to.
    pub(crate) fn look_after(state: &SharedState) {
        let upkeep = &state.upkeep;
        let is_time = upkeep.changes.load(Ordering::Relaxed) >= upkeep.due.load(Ordering::Relaxed);
        if !is_time || upkeep.merging.swap(true, Ordering::Relaxed) {
            return;
        }
        upkeep.changes.store(0, Ordering::Relaxed);
        let (state, at) = (Arc::clone(state), Arc::clone(state));
        tokio::spawn(async move {
            let merged = tokio::task::spawn_blocking(move || merge(&at)).await;
            // Also after a panic, which must not be the end of upkeep.
            state.upkeep.merging.store(false, Ordering::Relaxed);
            if let Err(panic) = merged {
                state.broken(&panic);
            }
        });
    }
}

/// With how many changes an archive of this many documents is merged.
fn due(limits: &ServerLimits, documents: u64) -> u64 {
    limits.unmerged_changes.max(documents / DOCUMENTS_PER_CHANGE)
}

fn merge(state: &ServerState) {
    let merged = state.index.compact(&state.end.until(Phase::Stopping));
    // What failed was told, and what was interrupted is done by the next server that has to.
    if state.told(merged).is_ok() {
        state.metrics.merged.inc();
        state.log(&json!({"event": "merged"}));
    }
    if let Ok(numbers) = state.index.statistics() {
        state.upkeep.due.store(due(&state.limits, numbers.documents), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_archive_is_merged_after_more_changes() {
        let limits = ServerLimits { unmerged_changes: 10, ..ServerLimits::default() };
        assert_eq!(due(&limits, 0), 10);
        assert_eq!(due(&limits, 1_600_000), 100_000);
    }
}
