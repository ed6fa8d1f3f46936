//! Many small changes make an archive slower to read: each leaves rows of its own behind. Once there were enough of them they are
//! merged, while the archive goes on answering.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::json;

use crate::shutdown::Phase;
use crate::state::Shared;

/// Keeps count of changes.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    changes: AtomicU64,
    merging: AtomicBool,
}

impl Upkeep {
    /// Counts a change.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Merges what was changed, away from whoever calls, if it is time to.
    pub(crate) fn look_after(state: &Shared) {
        let upkeep = &state.upkeep;
        let is_time = upkeep.changes.load(Ordering::Relaxed) >= state.limits.unmerged_changes;
        if !is_time || upkeep.merging.swap(true, Ordering::Relaxed) {
            return;
        }
        upkeep.changes.store(0, Ordering::Relaxed);
        let state = Arc::clone(state);
        tokio::task::spawn_blocking(move || {
            let merged = state.index.compact(&state.end.until(Phase::Stopping));
            // What failed was told, and what was interrupted is done by the next server that has to.
            if state.told(merged).is_ok() {
                state.metrics.merged.inc();
                state.log(&json!({"event": "merged"}));
            }
            state.upkeep.merging.store(false, Ordering::Relaxed);
        });
    }
}
