//! The bytes from which records are read, addressed by their offsets.

use crate::error::Result;
use crate::source::SourceReader;

/// Bytes that can be read at any offset, any number of times.
pub(crate) trait ByteSource {
    /// Returns the number of bytes in the source.
    fn size_bytes(&self) -> u64;

    /// Fills `out` from `offset` on. Callers request only bytes below [`size_bytes`](Self::size_bytes).
    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<()>;
}

impl ByteSource for SourceReader {
    fn size_bytes(&self) -> u64 {
        self.size_bytes()
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.read_exact_at(offset, out)
    }
}

/// Bytes in memory, for tests and for the fuzz target.
impl ByteSource for &[u8] {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let end = offset.saturating_add(out.len() as u64);
        match self.get(offset as usize..end as usize) {
            Some(bytes) => out.copy_from_slice(bytes),
            None => return Err(missing()),
        }
        Ok(())
    }
}

/// Returns the error of a read past the end of bytes in memory.
fn missing() -> crate::error::Error {
    crate::error::Error::io("read", "memory", std::io::ErrorKind::UnexpectedEof.into())
}

/// Fills `window` with `len` bytes from `offset` on, or with fewer if the source ends before.
pub(crate) fn read_window(
    source: &impl ByteSource,
    offset: u64,
    len: usize,
    window: &mut Vec<u8>,
) -> Result<()> {
    let there = source.size_bytes().saturating_sub(offset).min(len as u64) as usize;
    window.clear();
    window.resize(there, 0);
    if there > 0 {
        source.read_exact_at(offset, window)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_with_the_source() {
        let (source, mut window) = (&b"0123456789"[..], vec![]);
        read_window(&source, 3, 4, &mut window).unwrap();
        assert_eq!(window, b"3456");
        read_window(&source, 8, 4, &mut window).unwrap();
        assert_eq!(window, b"89");
        read_window(&source, u64::MAX, 4, &mut window).unwrap();
        assert!(window.is_empty());
        assert!(source.read_exact_at(u64::MAX, &mut [0; 2]).is_err());
    }
}
