//! Copies documents with the records that follow them, byte for byte.
//!
//! | input | output | a record is written as |
//! |---|---|---|
//! | plain, piped, or compressed in another way | not gzip | its bytes |
//! | plain, piped, or compressed in another way | gzip | a new gzip member |
//! | gzip | not gzip | its decompressed bytes |
//! | gzip, one member per record | gzip | its member, as it is stored |
//!
//! Records may name later records as well as earlier ones, so a source is written only when all its documents are
//! decided.

use std::collections::HashSet;
use std::ops::Range;

use super::follow::{self, Links, RecordFate};
use super::open::{Role, WarcRecords, kind_of};
use super::record::{RecordKind, parse_at};
use crate::document::RecordPlace;
use crate::error::{Error, Result};
use crate::members::GzipMembers;
use crate::output::{Output, OutputVerdict};
use crate::problem::FileProblem;
use crate::scratch::grown;
use crate::source::SourceReader;
use crate::sources::{SourceHandle, Sources};

/// Number of bytes that are copied at a time.
const BLOCK_BYTES: u64 = 256 << 10;
/// Number of bytes after which written data is synced to the disk, so that the disk works while more is copied.
const SYNC_BYTES: u64 = 16 << 20;
/// Bytes that end a record.
const RECORD_END: &[u8] = b"\r\n\r\n";

/// Writes the documents at these places, and the records that follow the documents. The places are in the order of
/// their sources.
pub(super) fn copy(
    sources: &Sources,
    numbers: Range<u32>,
    places: &mut dyn Iterator<Item = RecordPlace>,
    verdict: OutputVerdict,
    out: &mut Output,
) -> Result<()> {
    let mut places = places.peekable();
    let mut copier = MemberCopier { out, block: Vec::new(), unsynced: 0, open_end: false };
    for number in numbers {
        let (handle, _) = sources.get(number)?;
        if handle.source.unreadable().is_some() {
            continue;
        }
        let archive: &WarcRecords = sources.content_as(number)?;
        let mut documents = HashSet::new();
        while let Some(place) = places.next_if(|place| place.source == number) {
            let document = archive.document_at(place.offset);
            documents.insert(document.ok_or_else(|| handle.no_such_place(place.offset))?);
        }
        let reader = handle.reader()?;
        let chosen = chosen(archive, &reader, &documents, verdict)?;
        copier.copy_source(archive, &handle, &reader, &chosen)?;
    }
    // A place that is left over belongs to another source, or comes too late.
    places.next().map_or(Ok(()), |place| Err(sources.get(place.source)?.0.no_such_place(place.offset)))
}

/// Decides for each record, by its number, whether it is written.
fn chosen(
    archive: &WarcRecords,
    reader: &SourceReader,
    documents: &HashSet<usize>,
    verdict: OutputVerdict,
) -> Result<Vec<bool>> {
    let (mut links, mut numbers) = (Vec::new(), Vec::new());
    for (number, bytes, role) in archive.records() {
        if role == Role::Bad {
            continue;
        }
        // The bytes were a record when the source was opened. If they are no record now, the source has changed.
        let record = parse_at(reader, bytes.start)?.map_err(|_| reader.changed())?;
        links.push(Links::of(kind_of(&record), &record.headers));
        numbers.push(number);
    }
    // Rejected documents are in neither output, because `documents` are the kept documents for one output and the
    // removed documents for the other.
    let fate = |document: bool| match (verdict, document) {
        (OutputVerdict::Kept, true) | (OutputVerdict::Removed, false) => RecordFate::Copied,
        (OutputVerdict::Kept, false) | (OutputVerdict::Removed, true) => RecordFate::Removed,
    };
    let is_named = |at: usize| numbers.get(at).is_some_and(|number| documents.contains(number));
    let fates = follow::decide(&links, |at| fate(is_named(at)));
    let mut chosen: Vec<bool> =
        archive.records().map(|(_, _, role)| role == Role::Companion(RecordKind::Warcinfo)).collect();
    for (number, found) in numbers.into_iter().zip(fates.fates) {
        if let Some(is_chosen) = chosen.get_mut(number) {
            *is_chosen |= found == fate(true);
        }
    }
    Ok(chosen)
}

struct MemberCopier<'o> {
    out: &'o mut Output,
    block: Vec<u8>,
    unsynced: u64,
    /// Whether the last record that was written lacks its end, as the last record of some files does.
    open_end: bool,
}

impl MemberCopier<'_> {
    fn copy_source(
        &mut self,
        archive: &WarcRecords,
        handle: &SourceHandle<'_>,
        reader: &SourceReader,
        chosen: &[bool],
    ) -> Result<()> {
        let is_chosen = |number: usize| chosen.get(number).copied().unwrap_or_default();
        let ranges = archive.records().filter(|(number, ..)| is_chosen(*number)).map(|(_, bytes, _)| bytes);
        match (self.out.is_gzip(), handle.source.open_packed()?) {
            (true, Some((file, members))) => self.copy_members(&file, members, ranges),
            (true, None) => self.write_members(reader, ranges),
            (false, _) => self.copy_bytes(reader, ranges),
        }
    }

    /// Copies the gzip members of records as they are stored.
    fn copy_members(
        &mut self,
        file: &SourceReader,
        members: &GzipMembers,
        records: impl Iterator<Item = Range<u64>>,
    ) -> Result<()> {
        let mut run = 0..0;
        for record in records {
            let shared = || Error::inside(file.name(), FileProblem::SharedMember);
            let member = members.of_record(&record).ok_or_else(shared)?.compressed.clone();
            if run.end == member.start {
                run.end = member.end;
            } else {
                self.copy_range(file, run, Output::write_members)?;
                run = member;
            }
        }
        self.copy_range(file, run, Output::write_members)
    }

    /// Writes each record as a new gzip member.
    fn write_members(
        &mut self,
        reader: &SourceReader,
        records: impl Iterator<Item = Range<u64>>,
    ) -> Result<()> {
        for record in records {
            self.end_record()?;
            self.copy_range(reader, record.clone(), Output::write_bytes)?;
            self.note_end(reader, &record)?;
            if !self.open_end {
                self.out.end_member()?;
            }
        }
        Ok(())
    }

    /// Writes the bytes of records without compressing them.
    fn copy_bytes(&mut self, reader: &SourceReader, records: impl Iterator<Item = Range<u64>>) -> Result<()> {
        let mut run = 0..0;
        let mut last = None;
        for record in records {
            last = Some(record.clone());
            if run.end == record.start {
                run.end = record.end;
            } else {
                self.copy_run(reader, run)?;
                run = record;
            }
        }
        self.copy_run(reader, run)?;
        last.map_or(Ok(()), |last| self.note_end(reader, &last))
    }

    fn copy_run(&mut self, reader: &SourceReader, run: Range<u64>) -> Result<()> {
        if !run.is_empty() {
            self.end_record()?;
        }
        self.copy_range(reader, run, Output::write_bytes)
    }

    /// Ends the record that was written last, if it lacks its end.
    fn end_record(&mut self) -> Result<()> {
        if std::mem::take(&mut self.open_end) {
            self.out.write_bytes(RECORD_END)?;
            self.out.end_member()?;
        }
        Ok(())
    }

    /// Notes whether the record that was written last lacks its end. Only the last record of a source may lack it.
    fn note_end(&mut self, reader: &SourceReader, record: &Range<u64>) -> Result<()> {
        if record.end == reader.size_bytes() {
            let record = parse_at(reader, record.start)?.map_err(|_| reader.changed())?;
            let mut tail =
                vec![0; (record.bytes.end - record.block.end).min(RECORD_END.len() as u64) as usize];
            reader.read_exact_at(record.block.end, &mut tail)?;
            self.open_end = memchr::memchr_iter(b'\n', &tail).count() < 2;
        }
        Ok(())
    }

    fn copy_range(
        &mut self,
        reader: &SourceReader,
        range: Range<u64>,
        write: fn(&mut Output, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut offset = range.start;
        while offset < range.end {
            let size = (range.end - offset).min(BLOCK_BYTES);
            let block = grown(&mut self.block, size as usize);
            reader.read_exact_at(offset, block)?;
            write(self.out, block)?;
            offset += size;
            self.unsynced += size;
        }
        if self.unsynced >= SYNC_BYTES {
            self.out.sync()?;
            self.unsynced = 0;
        }
        Ok(())
    }
}
