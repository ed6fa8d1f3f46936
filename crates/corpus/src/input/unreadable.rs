//! Represents files that were found and cannot be read.
//!
//! Such a file is a source without bytes, and its only record is a reject. The source keeps its place in the list of
//! sources, so that every command counts and lists the reject like any other.

use std::io;
use std::path::Path;

use minwise::escape_control;

use crate::document::{Document, RecordPlace};
use crate::error::Result;
use crate::reject::{Reject, RejectReason};
use crate::scratch::Scratch;
use crate::source::{Source, os_error};
use crate::sources::{Content, CutPoints, LoadTurns, RecordVisitor, ScannedLines, SourceHandle, SourcePart};

/// Content of a file that cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    /// Reason in words.
    pub(super) message: String,
}

impl Unreadable {
    fn reject(&self, source: &Source) -> Reject {
        let reason = RejectReason::Unreadable { message: self.message.clone() };
        Reject { reason, id: Some(source.id().to_owned()) }
    }
}

impl Content for Unreadable {
    fn cuts(&self, _source: &Source) -> CutPoints {
        CutPoints::Nowhere
    }

    fn scan(
        &self,
        _part: &SourcePart,
        handle: &SourceHandle<'_>,
        _turns: &LoadTurns<'_>,
        _scratch: &mut Scratch,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines> {
        let place = RecordPlace { source: handle.number, line: 0, offset: 0, len: 0 };
        visit(place, Err(self.reject(handle.source)));
        Ok(ScannedLines(0))
    }

    fn read<'s>(
        &'s self,
        _place: &RecordPlace,
        handle: &SourceHandle<'s>,
        _scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>> {
        Ok(Err(self.reject(handle.source)))
    }
}

/// Returns the reason why a path that was found cannot be read. `None` if the fault is not in the path, because the
/// process ran out of a resource.
pub(super) fn reason(path: &Path, error: io::Error) -> Option<String> {
    let error = os_error(error);
    if is_exhaustion(&error) {
        return None;
    }
    if error.kind() == io::ErrorKind::NotFound
        && let Ok(target) = fs_err::read_link(path)
    {
        let target = target.to_string_lossy();
        return Some(format!("it is a link to `{}`, which does not exist", escape_control(&target)));
    }
    // Links that lead to each other give ELOOP, for which `io::ErrorKind` has no stable name.
    if path.is_symlink() && is_loop(&error) {
        return Some("it is a link that leads in a circle".to_owned());
    }
    Some(error.to_string())
}

/// Returns the reason why a link to a folder that contains the link is not followed.
pub(super) fn loop_reason(above: &Path) -> String {
    format!("it is a link that leads back to `{}`, which holds it", escape_control(&above.to_string_lossy()))
}

/// Reports whether the process has too many open files or too little memory. The next file would fail for the same
/// reason.
fn is_exhaustion(error: &io::Error) -> bool {
    // The codes are ENFILE and EMFILE, and on Windows ERROR_TOO_MANY_OPEN_FILES.
    let codes: &[i32] = if cfg!(windows) { &[4] } else { &[23, 24] };
    error.kind() == io::ErrorKind::OutOfMemory
        || error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

/// Reports whether an error is ELOOP, which has the number 40 on Linux and 62 on macOS and the BSDs.
fn is_loop(error: &io::Error) -> bool {
    let code = if cfg!(target_os = "linux") { 40 } else { 62 };
    cfg!(unix) && error.raw_os_error() == Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_out_of_files_is_not_the_fault_of_one() {
        let path = Path::new("a");
        let code = if cfg!(windows) { 4 } else { 24 };
        assert_eq!(reason(path, io::Error::from_raw_os_error(code)), None);
        assert_eq!(reason(path, io::ErrorKind::OutOfMemory.into()), None);
        let message = reason(path, io::ErrorKind::PermissionDenied.into()).unwrap();
        assert_eq!(message, "permission denied");
    }
}
