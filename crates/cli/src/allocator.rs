//! Reports an allocation that the system refuses as an ordinary error instead of an abort.
//!
//! Rust aborts a process whose allocation fails, and the hook that could change this is not stable. The allocator of
//! this file therefore ends the process itself, with the message, code and exit code of an error. As after `kill -9`,
//! nothing is cleaned up: an archive has all changes that it confirmed, and `--resume` continues a run with `--work`.

#![expect(unsafe_code, reason = "an allocator is unsafe to write; this one passes every call on")]

use std::alloc::{GlobalAlloc, Layout};
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use mimalloc::MiMalloc;

use crate::exit::Exit;
use crate::printer::CommandError;

/// Largest allocation in bytes whose failure ends the process. A decoder may request as much memory as a damaged file
/// claims to need. If an allocation above this size fails, the allocator returns null, and the decoder handles the
/// failure.
const LARGEST: usize = 4 << 30;

/// Whether messages are JSON. This copy of the printer's setting is static, because the allocator has no access to the
/// printer.
static IS_JSON: AtomicBool = AtomicBool::new(false);
/// Whether a thread has begun to end the process.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Sets whether the message is printed as JSON.
pub fn print_as_json(is_json: bool) {
    IS_JSON.store(is_json, Ordering::Relaxed);
}

/// Allocator of the command: `MiMalloc`, with a check of each result. If one thread frees memory of another, the system
/// allocator keeps it for a long time; `MiMalloc` returns it to the system, and the bounds on memory rely on that.
/// `MiMalloc` is also faster if many small sets are allocated and freed.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: every call goes to `MiMalloc` with the arguments of the caller, who keeps to the contract of `GlobalAlloc`.
// `given` ends the process or returns the result of `MiMalloc` unchanged.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the arguments are those of the caller, who keeps to the contract of `GlobalAlloc`.
        given(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the arguments are those of the caller, who keeps to the contract of `GlobalAlloc`.
        given(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the arguments are those of the caller, who keeps to the contract of `GlobalAlloc`.
        given(unsafe { MiMalloc.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the arguments are those of the caller, who keeps to the contract of `GlobalAlloc`.
        unsafe { MiMalloc.dealloc(block, layout) }
    }
}

/// Returns `block`, or ends the process if `block` is null and `size` is at most [`LARGEST`].
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
        // Another thread was the first to set `IS_ENDING`. It prints the message and ends the process, and this thread
        // with it.
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    let mut buffer = [0; 512];
    let mut rest = &mut buffer[..];
    // The buffer is longer than the message. If standard error cannot be written, there is no other way to report the
    // error.
    let _ = write_message(&mut rest, size, IS_JSON.load(Ordering::Relaxed));
    let unused = rest.len();
    let _ = write_unlocked(&buffer[..buffer.len() - unused]);
    std::process::exit(Exit::Error as i32);
}

/// Writes to standard error without its lock. Another thread that holds the lock may be the one that waits for the end of
/// the process, because its allocation failed, too.
#[cfg(any(unix, windows))]
fn write_unlocked(bytes: &[u8]) -> std::io::Result<()> {
    #[cfg(unix)]
    let descriptor = std::os::fd::AsFd::as_fd(&std::io::stderr()).try_clone_to_owned()?;
    #[cfg(windows)]
    let descriptor = std::os::windows::io::AsHandle::as_handle(&std::io::stderr()).try_clone_to_owned()?;
    std::fs::File::from(descriptor).write_all(bytes)
}

/// Writes to standard error with its lock, because systems other than Unix and Windows give no descriptor.
#[cfg(not(any(unix, windows)))]
fn write_unlocked(bytes: &[u8]) -> std::io::Result<()> {
    std::io::stderr().write_all(bytes)
}

/// Number of KiB that is formatted with commas, without an allocation.
struct KibCount(usize);

impl fmt::Display for KibCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            few @ 0..1000 => few.fmt(f),
            more => write!(f, "{},{:03}", Self(more / 1000), more % 1000),
        }
    }
}

fn write_message(out: &mut impl Write, size: usize, is_json: bool) -> std::io::Result<()> {
    let kib = KibCount(size.div_ceil(1 << 10));
    let message = format_args!(
        "the memory of this process is at the limit of the system, which refused {kib} KiB more"
    );
    let hint = "`ulimit -v` and `ulimit -d` print limits of the system; fewer threads need less memory";
    if is_json {
        let code = CommandError::OutOfMemory.code();
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
            assert!(text.contains("which refused 18,014,398,509,481,984 KiB more"), "{text}");
        }
        for (kib, shown) in [(0, "0"), (999, "999"), (1000, "1,000"), (4_194_304, "4,194,304")] {
            assert_eq!(KibCount(kib).to_string(), shown);
        }
    }

    #[test]
    fn the_message_does_not_wait_for_the_lock_of_standard_error() {
        let lock = std::io::stderr().lock();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(write_unlocked(b"")));
        assert!(matches!(receiver.recv_timeout(std::time::Duration::from_secs(10)), Ok(Ok(()))));
        drop(lock);
    }

    #[test]
    fn what_no_system_has_is_refused_without_an_end() {
        let mut block: Vec<u8> = vec![];
        assert!(block.try_reserve_exact(1 << 48).is_err());
    }
}
