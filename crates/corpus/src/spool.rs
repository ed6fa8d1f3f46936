//! Keeps the temporary copies of inputs that cannot be read by position.
//!
//! Each thread copies these inputs to *one* unnamed file, source after source. A data set of thousands of compressed
//! files then needs one file handle per thread, and no file is left behind, however the process ends.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use minwise::Observer;

use crate::compression::{Compression, is_damage};
use crate::error::{Error, ErrorKind, Result, SPOOL};

/// Number of bytes that are copied at a time. The [`Observer`] is called once per block.
const BLOCK_BYTES: usize = 256 << 10;

/// Temporary file that is made when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    folder: Option<PathBuf>,
    file: Option<Arc<File>>,
    end: u64,
}

/// Place of a source in the spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spooled {
    pub(crate) base: u64,
    pub(crate) size_bytes: u64,
}

impl Spool {
    /// Makes a spool. Its file will be made in `folder`, or else in the system's folder for temporary files.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, file: None, end: 0 }
    }

    /// Appends all bytes of `reader`. If `compression` is given, `reader` decompresses the source. `name` is used in
    /// messages.
    pub(crate) fn append(
        &mut self,
        name: &str,
        compression: Option<Compression>,
        reader: &mut dyn Read,
        observer: &dyn Observer,
    ) -> Result<Spooled> {
        let base = self.end;
        let mut block = vec![0; BLOCK_BYTES];
        loop {
            if observer.cancelled() {
                return Err(Error::new(ErrorKind::Cancelled));
            }
            let bytes = match reader.read(&mut block) {
                Ok(0) => return Ok(Spooled { base, size_bytes: self.end - base }),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_error(name, compression, self.end - base, error)),
            };
            // A decoder that claims more bytes than the block can hold is broken, so its bytes cannot be trusted.
            let read = block.get(..bytes).ok_or_else(|| {
                let claim = io::Error::other(format!("{bytes} bytes were read into {BLOCK_BYTES}"));
                Error::io("read", name, claim)
            })?;
            self.file()?.write_all(read).map_err(|error| Error::io("write", SPOOL, error))?;
            self.end += bytes as u64;
            observer.advance(bytes as u64);
        }
    }

    /// Returns the file, if anything was spooled so far.
    pub(crate) fn opened(&self) -> Option<&Arc<File>> {
        self.file.as_ref()
    }

    fn file(&mut self) -> Result<&File> {
        match &mut self.file {
            Some(file) => Ok(file),
            empty @ None => {
                let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
                let file = tempfile::tempfile_in(&folder)
                    .map_err(|error| Error::path("make a temporary file in", &folder, error))?;
                Ok(empty.insert(Arc::new(file)))
            }
        }
    }
}

fn read_error(name: &str, compression: Option<Compression>, at: u64, error: io::Error) -> Error {
    match compression {
        Some(compression) if is_damage(&error) => Error::new(ErrorKind::Damaged {
            name: name.to_owned(),
            compression: compression.name(),
            at,
            message: error.to_string(),
        }),
        _ => Error::io("read", name, error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::compression::tests::gzip;
    use crate::positional::read_at;
    use minwise::Unobserved;

    #[derive(Default)]
    struct ByteCount {
        bytes: AtomicU64,
        stop_at: Option<u64>,
    }

    impl Observer for ByteCount {
        fn advance(&self, bytes: u64) {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }

        fn cancelled(&self) -> bool {
            self.stop_at.is_some_and(|stop| self.bytes.load(Ordering::Relaxed) >= stop)
        }
    }

    #[test]
    fn sources_follow_each_other() {
        let (mut spool, count) = (Spool::new(None), ByteCount::default());
        let first = spool.append("a", None, &mut &b"one"[..], &count).unwrap();
        let second = spool.append("b", None, &mut &b"three"[..], &count).unwrap();
        assert_eq!(first, Spooled { base: 0, size_bytes: 3 });
        assert_eq!(second, Spooled { base: 3, size_bytes: 5 });
        assert_eq!(count.bytes.into_inner(), 8);
        let mut out = [0; 5];
        read_at(spool.opened().unwrap(), second.base, &mut out).unwrap();
        assert_eq!(&out, b"three");
    }

    #[test]
    fn an_unused_spool_makes_no_file() {
        let mut spool = Spool::new(Some("no/such/folder".into()));
        spool.append("a", None, &mut io::empty(), &Unobserved).unwrap();
        let error = spool.append("a", None, &mut &b"x"[..], &Unobserved).unwrap_err();
        assert!(
            error.to_string().starts_with("cannot make a temporary file in `no/such/folder`: "),
            "{error}"
        );
    }

    #[test]
    fn the_observer_can_stop_it() {
        let count = ByteCount { stop_at: Some(1), ..ByteCount::default() };
        let error = Spool::new(None).append("a", None, &mut io::repeat(7), &count).unwrap_err();
        assert!(error.is_cancelled());
    }

    /// A reader that claims to have read more than the buffer can hold.
    struct Boaster;

    impl Read for Boaster {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            Ok(out.len() + 1)
        }
    }

    #[test]
    fn a_read_of_more_bytes_than_the_block_holds_is_an_error() {
        let error = Spool::new(None).append("a.gz", None, &mut Boaster, &Unobserved).unwrap_err();
        assert_eq!(error.to_string(), "cannot read `a.gz`: 262145 bytes were read into 262144");
    }

    #[test]
    fn damage_names_the_file_and_the_byte() {
        let whole = gzip(&vec![b'x'; 100_000]);
        let cut = whole.get(..whole.len() - 8).unwrap();
        let mut decoder = Compression::Gzip.decoder(cut).unwrap();
        let error =
            Spool::new(None).append("a.gz", Some(Compression::Gzip), &mut decoder, &Unobserved).unwrap_err();
        assert!(
            error.to_string().starts_with("`a.gz` is damaged: its gzip stream breaks after 100,000 bytes: "),
            "{error}"
        );
    }
}
