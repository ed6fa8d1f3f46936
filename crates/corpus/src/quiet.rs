//! Runs code of libraries that may panic, and turns a panic into an error.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic on this thread will be caught, so that it must not be printed.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`. If `work` panics, returns the message of the panic. The panic is not printed, because the caller
/// reports the message, and a JSON log must have no other lines.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    stay_quiet_while_caught();
    let before = IS_CAUGHT.replace(true);
    // A panic leaves no inconsistent state, because all that `work` has changed is dropped with the closure.
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(before);
    result.map_err(|panic| words_of(&*panic).to_owned())
}

/// Keeps caught panics from being printed. A process has only one panic hook, so ours wraps the existing hook, once.
fn stay_quiet_while_caught() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                before(panic);
            }
        }));
    });
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    let words = panic.downcast_ref::<&str>().copied();
    words.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it cannot be decoded")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_panic_is_words_and_others_are_told_as_before() {
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| -> u32 { panic!("line {}", 7) }), Err("line 7".to_owned()));
        let inner = caught(|| caught(|| -> u32 { panic!("inside") }));
        assert_eq!(inner, Ok(Err("inside".to_owned())));
        assert!(!IS_CAUGHT.get());
    }

    /// The test runner runs each test in a separate process, so no other test sees this hook.
    #[test]
    fn only_a_panic_that_is_caught_is_not_printed() {
        static PRINTED: AtomicUsize = AtomicUsize::new(0);
        std::panic::set_hook(Box::new(|panic| {
            let is_ours = panic.payload_as_str().is_some_and(|words| words.starts_with("quiet test"));
            PRINTED.fetch_add(usize::from(is_ours), Ordering::Relaxed);
        }));
        assert!(caught(|| panic!("quiet test, caught")).is_err());
        assert_eq!(PRINTED.load(Ordering::Relaxed), 0);
        assert!(std::thread::spawn(|| panic!("quiet test, not caught")).join().is_err());
        assert_eq!(PRINTED.load(Ordering::Relaxed), 1);
    }
}
