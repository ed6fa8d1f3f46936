//! Memory that the system refuses: an error like all others, and no abort.
//!
//! Rust aborts a process whose memory is refused, and its hook for that is not stable. So the allocator itself ends the process,
//! with the message, the code and the exit code of an error. Nothing can be cleaned up there, as after `kill -9`: an archive has
//! all changes that it confirmed, and `--resume` continues a run of `--work`.

#![expect(unsafe_code, reason = "an allocator is unsafe to write; this one passes every call on")]

use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use mimalloc::MiMalloc;

use crate::exit::Exit;

/// Larger blocks are refused without an error: a decoder may ask for as much as a damaged file claims to hold, and go on without.
const LARGEST: usize = 4 << 30;

/// Whether messages are JSON. The allocator cannot ask the printer.
static IS_JSON: AtomicBool = AtomicBool::new(false);
/// Whether a thread has begun to end the process.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Chooses the form of the message.
pub fn print_as_json(is_json: bool) {
    IS_JSON.store(is_json, Ordering::Relaxed);
}

/// The system allocator keeps memory that was freed by another thread for long; `MiMalloc` gives it back, which the bounds on
/// memory rely on, and is faster where many small sets come and go.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: every call goes to `MiMalloc` with the arguments of the caller, who keeps to the contract of `GlobalAlloc`. A result
// is passed on unchanged; `given` ends the process or returns.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { MiMalloc.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { MiMalloc.dealloc(block, layout) }
    }
}

/// Passes a block on, or ends the process if there is none.
#[inline]
fn given(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() && size <= LARGEST {
        refused(size);
    }
    block
}

/// Prints the error without allocating, and ends the process.
#[cold]
fn refused(size: usize) -> ! {
    if IS_ENDING.swap(true, Ordering::SeqCst) {
        // Another thread prints the message, and ends this one, too.
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    let mut buffer = [0; 512];
    let mut rest = &mut buffer[..];
    // The buffer is longer than the message, and nobody is left to tell if standard error cannot be written.
    let _ = write_message(&mut rest, size, IS_JSON.load(Ordering::Relaxed));
    let unused = rest.len();
    let _ = std::io::stderr().write_all(&buffer[..buffer.len() - unused]);
    std::process::exit(Exit::Error as i32);
}

fn write_message(out: &mut impl Write, size: usize, is_json: bool) -> std::io::Result<()> {
    let kib = size.div_ceil(1 << 10);
    let message = format_args!("the system refuses this process {kib} KiB more memory");
    let hint = "`ulimit -v` and `ulimit -d` print limits of the system; fewer threads need less memory";
    if is_json {
        let code = "memory_limit";
        return writeln!(out, r#"{{"event":"error","code":"{code}","message":"{message}","hint":"{hint}"}}"#);
    }
    writeln!(out, "error: {message}\n\nhint: {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_fits_and_is_json_if_wanted() {
        for is_json in [false, true] {
            let mut buffer = [0; 512];
            let mut rest = &mut buffer[..];
            write_message(&mut rest, usize::MAX, is_json).unwrap();
            let unused = rest.len();
            let text = String::from_utf8(buffer[..512 - unused].to_vec()).unwrap();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), is_json, "{text}");
            assert!(text.contains("more memory"), "{text}");
        }
    }

    #[test]
    fn what_no_system_has_is_refused_without_an_end() {
        let mut block: Vec<u8> = vec![];
        assert!(block.try_reserve_exact(1 << 48).is_err());
    }
}
