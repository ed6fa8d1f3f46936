//! Progress: bars on a terminal, events in a log, nothing elsewhere.

use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use minwise::ProgressUnit;
use minwise_engine::{Observer, Stage, Warning};
use serde_json::json;

use crate::interrupt;
use crate::printer::Printer;
use crate::spell::spelled;

/// Shows how a run goes.
pub struct ProgressPrinter {
    printer: Printer,
    bar: Mutex<Option<ProgressBar>>,
}

impl ProgressPrinter {
    pub fn new(printer: &Printer) -> Self {
        Self { printer: *printer, bar: Mutex::new(None) }
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

    /// Shows that inputs are decompressed.
    fn unpack(&self) {
        if !self.printer.shows_progress() {
            return;
        }
        let bar = ProgressBar::new_spinner().with_prefix(Stage::Unpack.name());
        bar.set_style(
            ProgressStyle::with_template("{prefix:11} {bytes} {bytes_per_sec}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        self.replace(Some(bar));
    }

    /// Takes the bar away, so that what is printed next stands alone.
    pub fn clear(&self) {
        self.replace(None);
    }
}

impl Observer for ProgressPrinter {
    fn begin(&self, stage: Stage, total: u64) {
        match stage {
            // Opening may wait for standard input for ever, and leaves nothing behind but an empty folder for the run.
            Stage::Open => return interrupt::set_at_once(true),
            Stage::Unpack => return self.unpack(),
            _ => interrupt::set_at_once(false),
        }
        let minwise_index::Progress { stage: name, unit, done, total, .. } =
            minwise_index::Progress::new(Some(stage), 0, total);
        self.printer
            .event(&json!({"event": "stage", "stage": name, "unit": unit, "done": done, "total": total}));
        if !self.printer.shows_progress() {
            return;
        }
        let template = match stage.unit() {
            ProgressUnit::Bytes => "{prefix:11} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            _ => "{prefix:11} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}",
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
