//! Shutdown in phases, so that requests and jobs end in order and no acknowledged change is lost.

use minwise::Observer;
use tokio::sync::watch;

/// A phase of the shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// The server has not been asked to stop.
    Running,
    /// The server accepts no new connections. Requests and jobs that add documents continue. Work that
    /// changes nothing stops, because it can be repeated.
    Stopping,
    /// The grace period is over. Jobs stop after the batch that they are writing.
    Over,
}

/// The current phase of the shutdown.
#[derive(Debug)]
pub(crate) struct ShutdownSignal(watch::Sender<Phase>);

impl ShutdownSignal {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(Phase::Running))
    }

    /// Sets the phase, unless the current phase is later.
    pub(crate) fn reach(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let later = phase > *now;
            *now = phase.max(*now);
            later
        });
    }

    /// Returns an observer that cancels work once a phase is reached.
    pub(crate) fn until(&self, phase: Phase) -> Until {
        Until { phase, now: self.0.subscribe() }
    }
}

/// An observer that cancels work once a phase is reached.
#[derive(Debug)]
pub(crate) struct Until {
    phase: Phase,
    now: watch::Receiver<Phase>,
}

impl Observer for Until {
    fn cancelled(&self) -> bool {
        *self.now.borrow() >= self.phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_go_one_way() {
        let end = ShutdownSignal::new();
        let [early, late] = [end.until(Phase::Stopping), end.until(Phase::Over)];
        let interrupted = || [early.cancelled(), late.cancelled()];
        assert_eq!(interrupted(), [false, false]);
        end.reach(Phase::Stopping);
        assert_eq!(interrupted(), [true, false]);
        end.reach(Phase::Running);
        assert_eq!(interrupted(), [true, false]);
        end.reach(Phase::Over);
        assert_eq!(interrupted(), [true, true]);
    }
}
