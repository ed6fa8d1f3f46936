//! Shows progress: bars on a terminal, events in a JSON log, nothing elsewhere.

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use minwise::ProgressUnit;
use minwise::figure::{grouped, size};
use minwise_engine::{Observer, Stage, Warning};
use serde_json::json;

use crate::interrupt;
use crate::printer::Printer;
use crate::spell::spelled;

/// Shows the progress of a run.
pub struct ProgressPrinter {
    printer: Printer,
    bar: Mutex<Option<ProgressBar>>,
    /// Whether `bar` has a bar. Threads that report progress without a bar take no mutex.
    has_bar: AtomicBool,
    started: Instant,
    /// Start time of each stage.
    began: Mutex<Vec<(&'static str, Instant)>>,
}

impl ProgressPrinter {
    pub fn new(printer: &Printer) -> Self {
        Self {
            printer: *printer,
            bar: Mutex::new(None),
            has_bar: AtomicBool::new(false),
            started: Instant::now(),
            began: Mutex::new(vec![]),
        }
    }

    /// Returns the duration of each stage. The duration of the last stage ends now.
    pub fn stages(&self) -> Vec<(&'static str, Duration)> {
        let began = self.began.lock().map_or(vec![], |began| began.clone());
        let ends = began.iter().skip(1).map(|(_, end)| *end).chain([Instant::now()]);
        began.iter().zip(ends).map(|((stage, start), end)| (*stage, end.duration_since(*start))).collect()
    }

    fn bar(&self) -> Option<ProgressBar> {
        if !self.has_bar.load(Ordering::Relaxed) {
            return None;
        }
        self.bar.lock().ok()?.clone()
    }

    fn replace(&self, bar: Option<ProgressBar>) {
        if let Ok(mut held) = self.bar.lock() {
            if let Some(before) = held.take() {
                before.finish_and_clear();
            }
            self.has_bar.store(bar.is_some(), Ordering::Relaxed);
            *held = bar;
        }
    }

    /// Shows that inputs are decompressed.
    fn unpack(&self) {
        if !self.printer.shows_progress() {
            return;
        }
        let bar = ProgressBar::new_spinner().with_prefix(Stage::Unpack.name());
        bar.set_style(
            ProgressStyle::with_template("{prefix:11} {read} {read_per_sec}")
                .map_or_else(|_| ProgressStyle::default_spinner(), with_units),
        );
        self.replace(Some(bar));
    }

    /// Writes to a JSON log that a stage begins.
    fn log(&self, stage: Stage, total: u64) {
        let minwise_index::Progress { stage: name, unit, done, total, .. } =
            minwise_index::Progress::new(Some(stage), 0, total);
        self.printer.event(&json!({
            "event": "stage", "stage": name, "unit": unit, "done": done, "total": total,
            "elapsed_ms": self.started.elapsed().as_millis() as u64,
        }));
    }

    /// Removes the bar, so that the next output is not printed beside it.
    pub fn clear(&self) {
        self.replace(None);
    }
}

/// Formats numbers and sizes in the bar as in the summary.
fn with_units(style: ProgressStyle) -> ProgressStyle {
    /// Adds a key whose text is computed from the state of the bar.
    fn key(style: ProgressStyle, name: &'static str, text: fn(&ProgressState) -> String) -> ProgressStyle {
        style.with_key(name, move |state: &ProgressState, out: &mut dyn Write| {
            // If the bar cannot be drawn, the run continues without it.
            let _ = out.write_str(&text(state));
        })
    }
    let style = key(style, "read", |state| size(state.pos()));
    let style = key(style, "to_read", |state| size(state.len().unwrap_or_default()));
    let style = key(style, "read_per_sec", |state| format!("{}/s", size(state.per_sec() as u64)));
    let style = key(style, "done", |state| grouped(state.pos()));
    let style = key(style, "to_do", |state| grouped(state.len().unwrap_or_default()));
    key(style, "done_per_sec", |state| format!("{}/s", grouped(state.per_sec() as u64)))
}

impl Observer for ProgressPrinter {
    fn begin(&self, stage: Stage, total: u64) {
        match stage {
            // Opening may wait for standard input forever, and leaves only an empty folder for the run. Ctrl-C may end
            // it immediately.
            Stage::Open => {
                self.log(stage, total);
                return interrupt::set_at_once(true);
            }
            Stage::Unpack => {
                self.log(stage, total);
                return self.unpack();
            }
            _ => interrupt::set_at_once(false),
        }
        if let Ok(mut began) = self.began.lock()
            && began.last().is_none_or(|(last, _)| *last != stage.name())
        {
            began.push((stage.name(), Instant::now()));
        }
        self.log(stage, total);
        if !self.printer.shows_progress() {
            return;
        }
        let template = match stage.unit() {
            ProgressUnit::Bytes => "{prefix:11} {wide_bar} {read} of {to_read} {read_per_sec} {eta}",
            _ => "{prefix:11} {wide_bar} {done} of {to_do} {done_per_sec} {eta}",
        };
        let bar = ProgressBar::new(total).with_prefix(stage.name());
        bar.set_style(
            ProgressStyle::with_template(template).map_or_else(|_| ProgressStyle::default_bar(), with_units),
        );
        bar.enable_steady_tick(Duration::from_millis(100));
        self.replace(Some(bar));
    }

    fn advance(&self, amount: u64) {
        if let Some(bar) = self.bar() {
            bar.inc(amount);
        }
    }

    fn end(&self, _stage: Stage) {
        interrupt::set_at_once(false);
        self.clear();
    }

    fn warn(&self, warning: &Warning) {
        let print = || self.printer.warning(warning.code(), &spelled(&warning.message()));
        match self.bar() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn cancelled(&self) -> bool {
        interrupt::asked()
    }
}
