//! The end of a server, in phases, so that what was begun is finished and nothing that was acknowledged is lost.

use minwise::Observer;
use tokio::sync::watch;

/// How far the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// There is none.
    Running,
    /// Nothing new is taken on; what was begun goes on, but for what only looks at the archive and can be asked for again.
    Stopping,
    /// The time for that is over: what goes on stops at the next point at which it may.
    Over,
}

/// Tells everybody how far the end has come.
#[derive(Debug)]
pub(crate) struct ShutdownSignal(watch::Sender<Phase>);

impl ShutdownSignal {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(Phase::Running))
    }

    pub(crate) fn reach(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let later = phase > *now;
            *now = phase.max(*now);
            later
        });
    }

    /// Something that ends once a phase is reached.
    pub(crate) fn until(&self, phase: Phase) -> Until {
        Until { phase, now: self.0.subscribe() }
    }
}

/// Goes on until a phase is reached.
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
