//! A gzip file of one member or of several.

use std::io::{self, Write};

use flate2::write::GzEncoder;

/// The level of compression: the default of `gzip`.
const LEVEL: u32 = 6;

/// A gzip file that is written member by member. Bytes that are written without ending a member are one member.
pub(super) struct GzipWriter<W: Write> {
    state: State<W>,
    /// Whether a member was begun. A file without members would not be gzip.
    begun: bool,
}

enum State<W: Write> {
    Between(W),
    // An encoder is ten times larger than the other variants.
    Inside(Box<GzEncoder<W>>),
    /// After an error.
    Failed,
}

impl<W: Write> GzipWriter<W> {
    pub(super) fn new(target: W) -> Self {
        Self { state: State::Between(target), begun: false }
    }

    /// Ends the member, if bytes were written to one.
    pub(super) fn end_member(&mut self) -> io::Result<()> {
        self.target().map(drop)
    }

    /// Writes bytes that are members already.
    pub(super) fn write_members(&mut self, members: &[u8]) -> io::Result<()> {
        self.target()?.write_all(members)?;
        self.begun |= !members.is_empty();
        Ok(())
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> io::Result<W> {
        if !self.begun {
            self.begin()?;
        }
        self.end_member()?;
        match self.state {
            State::Between(target) => Ok(target),
            State::Inside(_) | State::Failed => Err(failed()),
        }
    }

    /// The file between two members.
    fn target(&mut self) -> io::Result<&mut W> {
        self.state = match std::mem::replace(&mut self.state, State::Failed) {
            State::Inside(encoder) => State::Between(encoder.finish()?),
            state @ (State::Between(_) | State::Failed) => state,
        };
        match &mut self.state {
            State::Between(target) => Ok(target),
            State::Inside(_) | State::Failed => Err(failed()),
        }
    }

    /// The member that is being written; a new one if there is none.
    fn begin(&mut self) -> io::Result<&mut GzEncoder<W>> {
        self.begun = true;
        self.state = match std::mem::replace(&mut self.state, State::Failed) {
            State::Between(target) => {
                // No time and no name in the header: they would differ from run to run.
                let level = flate2::Compression::new(LEVEL);
                State::Inside(Box::new(flate2::GzBuilder::new().mtime(0).write(target, level)))
            }
            state @ (State::Inside(_) | State::Failed) => state,
        };
        match &mut self.state {
            State::Inside(encoder) => Ok(encoder),
            State::Between(_) | State::Failed => Err(failed()),
        }
    }
}

/// The error of a write after one that failed.
fn failed() -> io::Error {
    io::Error::other("an earlier write failed")
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Between(target) => target.flush(),
            State::Inside(encoder) => encoder.flush(),
            State::Failed => Err(failed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::compression::tests::gzip;
    use crate::members::MemberReader;

    /// The content of a file, and the lengths of its members' contents.
    fn unpack(file: &[u8]) -> (Vec<u8>, Vec<u64>) {
        let (mut reader, mut content) = (MemberReader::new(file), vec![]);
        reader.read_to_end(&mut content).unwrap();
        let members = reader.into_members();
        let lengths = members.as_slice().iter().map(|member| member.content.end - member.content.start);
        (content, lengths.collect())
    }

    #[test]
    fn members_are_written_and_copied() {
        let mut writer = GzipWriter::new(vec![]);
        writer.write_all(b"one").unwrap();
        writer.write_all(b"two").unwrap();
        writer.end_member().unwrap();
        writer.end_member().unwrap();
        writer.write_members(&gzip(b"copied")).unwrap();
        writer.write_all(b"last").unwrap();
        writer.flush().unwrap();
        let file = writer.finish().unwrap();
        assert_eq!(unpack(&file), (b"onetwocopiedlast".to_vec(), vec![6, 6, 4]));
    }

    #[test]
    fn copied_members_are_all_there_is() {
        let mut writer = GzipWriter::new(vec![]);
        writer.write_members(&gzip(b"copied")).unwrap();
        assert_eq!(writer.finish().unwrap(), gzip(b"copied"));
    }

    #[test]
    fn an_empty_file_is_gzip() {
        let file = GzipWriter::new(vec![]).finish().unwrap();
        assert!(!file.is_empty());
        assert_eq!(unpack(&file), (vec![], vec![]));
    }

    struct FullDisk;

    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_stays_an_error() {
        let mut writer = GzipWriter::new(FullDisk);
        writer.write_all(&[0; 1 << 10]).unwrap_or(());
        assert!(writer.end_member().is_err());
        assert!(writer.write_members(b"more").is_err());
        assert!(writer.finish().is_err());
    }
}
