//! Handles Ctrl-C: a run is asked to stop and to remove its temporary files.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static NOTHING_TO_CLEAN: AtomicBool = AtomicBool::new(false);
/// Function that prints the last line of a run that Ctrl-C ends immediately.
static FAREWELL: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);

/// Listens for Ctrl-C and for a request to terminate. A second signal ends the process immediately. In this case,
/// `farewell` prints the line that explains how to continue the run.
pub fn listen(farewell: impl Fn() + Send + 'static) {
    if let Ok(mut held) = FAREWELL.lock() {
        *held = Some(Box::new(farewell));
    }
    // If the handler cannot be set, Ctrl-C still ends the process, but temporary files stay.
    let _ = ctrlc::set_handler(|| {
        let again = ASKED.swap(true, Ordering::Relaxed);
        if again || NOTHING_TO_CLEAN.load(Ordering::Relaxed) {
            if let Ok(farewell) = FAREWELL.lock()
                && let Some(print) = &*farewell
            {
                print();
            }
            std::process::exit(crate::Exit::Interrupted as i32);
        }
    });
}

/// Reports whether the person asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Waits until the person asks to stop.
pub fn wait() {
    while !asked() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Sets whether the current work leaves nothing to clean up. If so, Ctrl-C ends the process immediately.
pub fn set_at_once(nothing_to_clean: bool) {
    NOTHING_TO_CLEAN.store(nothing_to_clean, Ordering::Relaxed);
}

/// Runs `wait`, during which Ctrl-C ends the process immediately. `wait` may block on input forever and leaves nothing
/// to clean up.
pub fn at_once<T>(wait: impl FnOnce() -> T) -> T {
    set_at_once(true);
    let result = wait();
    set_at_once(false);
    result
}
