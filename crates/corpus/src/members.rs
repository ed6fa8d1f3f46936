//! Finds the gzip members of a `.warc.gz`.
//!
//! Common Crawl compresses every record as a separate gzip member, so a record can be cut out of the file as it is.
//! [`MemberReader`] decompresses a file once and notes where each member lies, in the compressed file and in the
//! decompressed stream. [`GzipMembers::alignment`] then compares members and records: kept records can be copied byte
//! for byte only if each record is exactly one member.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use flate2::bufread::GzDecoder;

use crate::compression::has_next_member;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GzipMember {
    /// Range of the member in the file.
    pub(crate) compressed: Range<u64>,
    /// Range of the member's content in the decompressed stream.
    pub(crate) content: Range<u64>,
}

/// Position of records relative to members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    /// Each record is one member, so records can be copied byte for byte.
    OnePerRecord,
    /// One member holds all records. `gzip` makes such files from plain WARC files.
    OneForAll,
    /// Some members begin or end inside records, or hold several records.
    Unaligned,
}

/// Members of a file, in order. Members without content are left out, because they belong to no record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GzipMembers(Vec<GzipMember>);

impl GzipMembers {
    /// Returns the members, in order.
    #[cfg(test)]
    pub(crate) fn as_slice(&self) -> &[GzipMember] {
        &self.0
    }

    /// Returns the member whose content is exactly `record`, a range of the decompressed stream.
    pub(crate) fn of_record(&self, record: &Range<u64>) -> Option<&GzipMember> {
        let after = self.0.partition_point(|member| member.content.start < record.start);
        self.0.get(after).filter(|member| member.content == *record)
    }

    /// Returns the position of `records`, ranges of the decompressed stream, relative to the members.
    pub(crate) fn alignment(&self, records: impl IntoIterator<Item = Range<u64>>) -> Alignment {
        let mut count = 0_u64;
        let mut aligned = true;
        for record in records {
            count += 1;
            aligned &= self.of_record(&record).is_some();
        }
        match (aligned, self.0.len()) {
            (true, _) => Alignment::OnePerRecord,
            (false, 1) if count > 1 => Alignment::OneForAll,
            (false, _) => Alignment::Unaligned,
        }
    }
}

/// Reader of the decompressed stream of gzip members. The reader notes where the members lie.
#[derive(Debug)]
pub(crate) struct MemberReader<R> {
    state: State<R>,
    /// Offset in the file at which the current member begins.
    start: u64,
    /// Offset in the decompressed stream at which the content of the current member begins.
    content_start: u64,
    /// Number of bytes that were decompressed so far.
    content_end: u64,
    members: Vec<GzipMember>,
}

#[derive(Debug)]
enum State<R> {
    /// Before a member, or at the end of the file.
    Between(CountingReader<R>),
    /// Inside a member.
    Inside(Box<GzDecoder<CountingReader<R>>>),
    /// After the end of the file or an error.
    Done,
}

impl<R: BufRead> MemberReader<R> {
    /// Makes a reader of a gzip file. `file` stands at its beginning.
    pub(crate) fn new(file: R) -> Self {
        let state = State::Between(CountingReader { inner: file, consumed: 0 });
        Self { state, start: 0, content_start: 0, content_end: 0, members: Vec::new() }
    }

    /// Returns the members that were read to their ends.
    pub(crate) fn into_members(self) -> GzipMembers {
        GzipMembers(self.members)
    }

    /// Notes the member that has just ended.
    fn end_member(&mut self, end: u64) {
        let content = self.content_start..self.content_end;
        if !content.is_empty() {
            self.members.push(GzipMember { compressed: self.start..end, content });
        }
        self.start = end;
        self.content_start = self.content_end;
    }
}

impl<R: BufRead> Read for MemberReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Ok(0),
                State::Between(mut file) => match has_next_member(&mut file) {
                    Ok(false) => return Ok(0),
                    Ok(true) => self.state = State::Inside(Box::new(GzDecoder::new(file))),
                    Err(error) => {
                        // The caller repeats an interrupted read. After another error, nothing more is read.
                        if error.kind() == io::ErrorKind::Interrupted {
                            self.state = State::Between(file);
                        }
                        return Err(error);
                    }
                },
                State::Inside(mut decoder) => match decoder.read(out) {
                    Ok(0) => {
                        let file = decoder.into_inner();
                        self.end_member(file.consumed);
                        self.state = State::Between(file);
                    }
                    Ok(bytes) => {
                        self.content_end += bytes as u64;
                        self.state = State::Inside(decoder);
                        return Ok(bytes);
                    }
                    Err(error) => {
                        if error.kind() == io::ErrorKind::Interrupted {
                            self.state = State::Inside(decoder);
                        }
                        return Err(error);
                    }
                },
            }
        }
    }
}

/// A reader that counts the bytes that were read.
#[derive(Debug)]
struct CountingReader<R> {
    inner: R,
    consumed: u64,
}

impl<R: BufRead> Read for CountingReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(out)?;
        self.consumed += bytes as u64;
        Ok(bytes)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.inner.consume(bytes);
        self.consumed += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;
    use crate::compression::is_damage;
    use crate::compression::tests::gzip;
    use crate::container::warc::record::tests::{typed, walk};

    /// Returns the decompressed stream and the members of a file.
    fn unpack(file: &[u8], buffer_bytes: usize) -> io::Result<(Vec<u8>, GzipMembers)> {
        let mut reader = MemberReader::new(BufReader::with_capacity(buffer_bytes, file));
        let mut content = Vec::new();
        reader.read_to_end(&mut content)?;
        Ok((content, reader.into_members()))
    }

    fn alignment(file: &[u8]) -> Alignment {
        let (content, members) = unpack(file, 100).unwrap();
        members.alignment(walk(&content).into_iter().map(|record| record.unwrap().bytes))
    }

    fn records() -> [Vec<u8>; 3] {
        [typed("warcinfo", "a", b"i"), typed("response", "b", &[7; 5000]), typed("request", "c", b"")]
    }

    #[test]
    fn each_member_gives_its_record_again() {
        let records = records();
        let packed = records.each_ref().map(|record| gzip(record));
        let file = packed.concat();
        let (content, members) = unpack(&file, 7).unwrap();
        assert_eq!(content, records.concat());
        assert_eq!(members.as_slice().len(), 3);
        for (record, packed) in walk(&content).into_iter().zip(&packed) {
            let member = members.of_record(&record.unwrap().bytes).unwrap();
            assert_eq!(&file[member.compressed.start as usize..member.compressed.end as usize], packed);
        }
        assert_eq!(members.of_record(&(1..2)), None);
        assert_eq!(alignment(&file), Alignment::OnePerRecord);
        assert_eq!(alignment(&packed[1]), Alignment::OnePerRecord);
        assert_eq!(alignment(b""), Alignment::OnePerRecord);
    }

    #[test]
    fn other_forms_cannot_be_cut() {
        let [first, second, third] = records();
        assert_eq!(alignment(&gzip(&[&*first, &second, &third].concat())), Alignment::OneForAll);
        let two = [gzip(&[&*first, &second].concat()), gzip(&third)].concat();
        assert_eq!(alignment(&two), Alignment::Unaligned);
        let torn = [gzip(&first[..9]), gzip(&first[9..])].concat();
        assert_eq!(alignment(&torn), Alignment::Unaligned);
    }

    #[test]
    fn members_without_content_belong_to_no_record() {
        let [first, second, _] = records();
        let file = [gzip(b""), gzip(&first), gzip(b""), gzip(&second), gzip(b"")].concat();
        assert_eq!(alignment(&file), Alignment::OnePerRecord);
    }

    #[test]
    fn damage_is_an_error_and_then_the_end() {
        let file = records().each_ref().map(|record| gzip(record)).concat();
        for (bytes, whole) in [(&file[..file.len() - 3], 2), (&[&*file, b"tail"].concat(), 3)] {
            let mut reader = MemberReader::new(bytes);
            let mut content = Vec::new();
            assert!(is_damage(&reader.read_to_end(&mut content).unwrap_err()));
            assert_eq!(reader.read(&mut [0; 9]).unwrap(), 0);
            assert_eq!(reader.into_members().as_slice().len(), whole);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), at in 0..90_usize) {
            let _ = unpack(&bytes, 10);
            let mut file = [gzip(b"one"), gzip(b"two"), gzip(b"three")].concat();
            file.splice(at.min(file.len()).., bytes);
            let _ = unpack(&file, 10);
        }

        #[test]
        fn members_cover_the_file(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..8)) {
            let file: Vec<u8> = parts.iter().flat_map(|part| gzip(part)).collect();
            let (content, members) = unpack(&file, 11).unwrap();
            prop_assert_eq!(content, parts.concat());
            let (mut compressed, mut start) = (0, 0);
            for member in members.as_slice() {
                prop_assert_eq!((member.compressed.start, member.content.start), (compressed, start));
                (compressed, start) = (member.compressed.end, member.content.end);
            }
            prop_assert_eq!(compressed, file.len() as u64);
        }
    }
}
