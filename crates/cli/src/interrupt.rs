//! Ctrl-C: the run is asked to stop, and what is temporary goes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static NOTHING_TO_CLEAN: AtomicBool = AtomicBool::new(false);
/// Prints the last line of a run that is ended at once.
static FAREWELL: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);

/// Listens for Ctrl-C and for a request to terminate. A second one ends the process at once. `farewell` prints the line that
/// tells how to go on, where the process ends here.
pub fn listen(farewell: impl Fn() + Send + 'static) {
    if let Ok(mut held) = FAREWELL.lock() {
        *held = Some(Box::new(farewell));
    }
    // Without a handler Ctrl-C still ends the process, only less tidily.
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

/// Whether the person asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Waits until the person asks to stop.
pub fn wait() {
    while !asked() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Says whether the work in hand leaves nothing behind, so that Ctrl-C may end it at once.
pub fn set_at_once(nothing_to_clean: bool) {
    NOTHING_TO_CLEAN.store(nothing_to_clean, Ordering::Relaxed);
}

/// Does something that may wait for input for ever and leaves nothing behind, so that Ctrl-C may end it at once.
pub fn at_once<T>(wait: impl FnOnce() -> T) -> T {
    set_at_once(true);
    let result = wait();
    set_at_once(false);
    result
}
