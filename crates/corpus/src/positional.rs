//! Reads and writes a file at an offset, without a cursor, so that threads can share the file.

use std::fs::File;
use std::io;

/// Fills `out` with the bytes from `offset` on. Returns the number of bytes that were read, which is less than the
/// length of `out` only at the end of the file.
///
/// # Errors
/// Returns the error of the operating system. An interrupted read is continued instead.
pub fn read_at(file: &File, mut offset: u64, out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = out.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match read_some_at(file, offset, rest) {
            Ok(0) => break,
            Ok(bytes) => {
                filled += bytes;
                offset += bytes as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(unix)]
fn read_some_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, offset)
}

#[cfg(windows)]
fn read_some_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, offset)
}

/// Writes all of `bytes` from `offset` on.
pub(crate) fn write_at(file: &File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match write_some_at(file, offset, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                let more = || io::Error::other("more bytes were written than there are");
                bytes = bytes.get(written..).ok_or_else(more)?;
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn write_some_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_some_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn reads_what_there_is() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let mut out = [0; 4];
        assert_eq!(read_at(&file, 3, &mut out).unwrap(), 4);
        assert_eq!(&out, b"3456");
        assert_eq!(read_at(&file, 8, &mut out).unwrap(), 2);
        assert_eq!(&out, b"8956");
        assert_eq!(read_at(&file, 99, &mut out).unwrap(), 0);
        assert_eq!(read_at(&file, 0, &mut []).unwrap(), 0);
    }

    #[test]
    fn writes_where_it_is_told() {
        let file = tempfile::tempfile().unwrap();
        write_at(&file, 4, b"second").unwrap();
        write_at(&file, 0, b"one ").unwrap();
        let mut out = [0; 10];
        assert_eq!(read_at(&file, 0, &mut out).unwrap(), 10);
        assert_eq!(&out, b"one second");
    }
}
