//! Progress: bars on a terminal, events in a log, nothing elsewhere.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use minwise_corpus::Watch;
use minwise_engine::{Observer, Stage, Warning};
use serde_json::json;

use crate::interrupt;
use crate::printer::Printer;

/// Shows how a run goes.
pub struct Progress {
    printer: Printer,
    given_up: AtomicBool,
    bar: Mutex<Option<ProgressBar>>,
    /// When what began.
    began: Mutex<Vec<(&'static str, Instant)>>,
}

impl Progress {
    pub fn new(printer: &Printer) -> Self {
        Self {
            printer: *printer,
            given_up: AtomicBool::new(false),
            bar: Mutex::new(None),
            began: Mutex::new(vec![("open", Instant::now())]),
        }
    }

    /// Notes that something else begins.
    pub fn turn_to(&self, what: &'static str) {
        if let Ok(mut began) = self.began.lock()
            && began.last().is_none_or(|(last, _)| *last != what)
        {
            began.push((what, Instant::now()));
        }
    }

    /// How long everything took, the last of it until now.
    pub fn times(&self) -> Vec<(&'static str, Duration)> {
        let Ok(began) = self.began.lock() else { return vec![] };
        let ends = began.iter().skip(1).map(|(_, end)| *end).chain([Instant::now()]);
        began.iter().zip(ends).map(|((what, start), end)| (*what, end.duration_since(*start))).collect()
    }

    /// Stops the run as if the person had asked for it.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        interrupt::asked() || self.given_up.load(Ordering::Relaxed)
    }

    fn bar(&self) -> Option<ProgressBar> {
        self.bar.lock().ok()?.clone()
    }

    fn replace(&self, bar: Option<ProgressBar>) {
        if let Ok(mut held) = self.bar.lock() {
            if let Some(before) = held.take() {
                before.finish_and_clear();
            }
            *held = bar;
        }
    }

    /// Takes the bar away, so that what is printed next stands alone.
    pub fn clear(&self) {
        self.replace(None);
    }
}

impl Observer for Progress {
    fn begin(&self, stage: Stage, total: u64) {
        self.turn_to(stage.name());
        self.printer.event(&json!({"event": "stage", "stage": stage.name(), "total": total}));
        if !self.printer.shows_progress() {
            return;
        }
        let template = match stage {
            Stage::Weigh | Stage::Hash | Stage::Read => {
                "{prefix:11} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}"
            }
            Stage::Candidates | Stage::Verify | Stage::Audit | Stage::Write | Stage::Estimate => {
                "{prefix:11} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}"
            }
        };
        let bar = ProgressBar::new(total).with_prefix(stage.name());
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.enable_steady_tick(Duration::from_millis(100));
        self.replace(Some(bar));
    }

    fn advance(&self, amount: u64) {
        if let Some(bar) = self.bar() {
            bar.inc(amount);
        }
    }

    fn warn(&self, warning: &Warning) {
        match self.bar() {
            Some(bar) => bar.suspend(|| self.printer.warning(&warning.to_string())),
            None => self.printer.warning(&warning.to_string()),
        }
    }

    fn cancelled(&self) -> bool {
        self.stopped()
    }
}

impl Watch for Progress {
    fn spooled(&self, bytes: u64) {
        if !self.printer.shows_progress() {
            return;
        }
        if self.bar().is_none() {
            let bar = ProgressBar::new_spinner().with_prefix("unpack");
            bar.set_style(
                ProgressStyle::with_template("{prefix:11} {bytes} {bytes_per_sec}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            self.replace(Some(bar));
        }
        self.advance(bytes);
    }

    fn cancelled(&self) -> bool {
        self.stopped()
    }
}
