//! Compares outputs byte by byte.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};
use crate::source::os_error;

/// Number of bytes that are compared at a time.
const BLOCK: usize = 1 << 16;

/// Reports whether two files have the same bytes.
pub(super) fn same_files(first: &Path, second: &Path) -> Result<bool> {
    let open = |path: &Path| -> Result<(fs_err::File, u64)> {
        let file = fs_err::File::open(path).map_err(|error| Error::path("open", path, os_error(error)))?;
        let size = file.metadata().map_err(|error| Error::path("open", path, os_error(error)))?.len();
        Ok((file, size))
    };
    let ((mut first_file, first_size), (mut second_file, second_size)) = (open(first)?, open(second)?);
    if first_size != second_size {
        return Ok(false);
    }
    let (mut one, mut other) = (Vec::new(), Vec::new());
    loop {
        for (file, block, path) in
            [(&mut first_file, &mut one, first), (&mut second_file, &mut other, second)]
        {
            block.clear();
            let read = file.by_ref().take(BLOCK as u64).read_to_end(block);
            read.map_err(|error| Error::path("read", path, os_error(error)))?;
        }
        if one != other {
            return Ok(false);
        }
        if one.is_empty() {
            return Ok(true);
        }
    }
}

/// Reports whether two folders have files of the same names with the same bytes.
pub(super) fn same_folders(first: &Path, second: &Path) -> Result<bool> {
    let names = names(first)?;
    if names != self::names(second)? {
        return Ok(false);
    }
    for name in names {
        let (one, other) = (first.join(&name), second.join(&name));
        let is_same = match (one.is_dir(), other.is_dir()) {
            (true, true) => same_folders(&one, &other)?,
            (false, false) => same_files(&one, &other)?,
            _ => false,
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn names(folder: &Path) -> Result<BTreeSet<OsString>> {
    let failed = |error| Error::path("read", folder, os_error(error));
    let entries = fs_err::read_dir(folder).map_err(failed)?;
    entries.map(|entry| Ok(entry.map_err(failed)?.file_name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_compared_byte_by_byte() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let write = |name: &str, bytes: &[u8]| {
            fs_err::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs_err::write(at(name), bytes).unwrap();
        };
        let long = vec![7; 3 * BLOCK];
        for name in ["a/x", "b/x", "c/x"] {
            write(name, &long);
            write(&format!("{name}-deep/y"), b"y");
        }
        assert!(same_files(&at("a/x"), &at("b/x")).unwrap());
        assert!(same_folders(&at("a"), &at("b")).unwrap());
        let mut other = long.clone();
        other[2 * BLOCK + 1] = 8;
        write("b/x", &other);
        assert!(!same_files(&at("a/x"), &at("b/x")).unwrap());
        assert!(!same_folders(&at("a"), &at("b")).unwrap());
        write("c/x-deep/z", b"");
        assert!(!same_folders(&at("a"), &at("c")).unwrap());
    }
}
