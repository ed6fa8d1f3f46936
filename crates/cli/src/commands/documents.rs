//! Reads documents for an archive, with the metadata of their records and files.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use minwise_corpus::{
    Chunk, Corpus, Document, FieldPath, MarkPlace, Nulls, Output, RecordPlace, Reject, RejectLine,
    RejectReason, Scratch, visible, visible_json,
};
use minwise_engine::RejectedRecords;
use minwise_index::{Index, Mark, MarkedPlace, NewDocument};
use serde_json::{Map, Value};

use super::{SHOWN_REJECTS, overwrite};
use crate::printer::{CommandError, Failure, Printer};
use crate::spell::spelled;

/// Number of bytes of a corpus that are scanned together.
pub const CHUNK_BYTES: u64 = 4 << 20;

/// Code of a record that lacks the text field.
const MISSING_FIELD: &str = "missing_field";

/// Documents of a chunk, with its rejects and counts.
#[derive(Debug, Default)]
pub struct ChunkDocuments {
    /// Documents, each with its source and its line, counted from the first line of the chunk. Documents without an id
    /// have an empty id.
    pub documents: Vec<(u32, u64, NewDocument)>,
    /// Records that were rejected, in input order.
    pub rejects: Vec<RejectedDocument>,
    /// Number of records whose text is null. They are not among `documents`.
    pub nulls: u64,
    /// Number of records that are no documents. They are not among `documents`.
    pub skipped: u64,
    /// Number of lines of the chunk.
    pub lines: u64,
    /// First record whose text is null, if such a record ends the run.
    pub null_error: Option<RejectedDocument>,
}

impl ChunkDocuments {
    /// Returns the total size of all texts, in bytes.
    pub fn text_bytes(&self) -> u64 {
        self.documents.iter().map(|(.., document)| document.text.len() as u64).sum()
    }
}

/// Record that was rejected.
#[derive(Debug, Clone)]
pub struct RejectedDocument {
    source: u32,
    /// Line on which the record begins, counted from the first line of the chunk.
    line: u64,
    id: Option<String>,
    pub reason: &'static str,
    message: String,
    place: RecordPlace,
}

impl RejectedDocument {
    fn new(place: &RecordPlace, id: Option<String>, reason: &'static str, message: String) -> Self {
        Self { source: place.source, line: place.line, id, reason, message, place: *place }
    }

    /// Returns the place of the record and the reason for the rejection. `before` is the number of lines of the source
    /// before the chunk.
    pub fn describe(&self, corpus: &Corpus, before: u64) -> String {
        format!("{}: {}", corpus.place_name(self.source, before + self.line), self.message)
    }
}

/// All records that were rejected, in input order.
#[derive(Debug, Default)]
pub struct RejectList {
    /// Descriptions of the first rejected records, at most [`SHOWN_REJECTS`].
    shown: Vec<String>,
    /// Sources of these records.
    sources: Vec<u32>,
    lines: Vec<RejectLine>,
}

impl RejectList {
    /// Appends the rejects of a chunk. `before` is the number of lines of the source before the chunk.
    pub fn extend(&mut self, rejected: Vec<RejectedDocument>, corpus: &Corpus, before: u64) {
        for rejected in rejected {
            if self.shown.len() < SHOWN_REJECTS {
                self.shown.push(rejected.describe(corpus, before));
                self.sources.push(rejected.source);
            }
            let RejectedDocument { source, line, id, reason, message, .. } = rejected;
            let file = corpus.sources().get(source as usize).map(|source| source.name().to_owned());
            let place = file.map(|file| (file, before + line + 1));
            self.lines.push(RejectLine::new(place, id, reason, message));
        }
    }

    pub fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Prints the first rejects, and writes all rejects to the file `list`, if there is one. Returns whether at most
    /// `permitted` records were rejected; without this number, no reject is permitted. `one` is the hint for one
    /// reject, `several` the hint for more. `read` is the number of documents that were read.
    pub fn finish(
        self,
        (corpus, read): (&Corpus, u64),
        list: Option<(&str, Output)>,
        permitted: Option<u64>,
        printer: &Printer,
        [one, several]: [&str; 2],
    ) -> Result<bool, Failure> {
        let is_one = self.lines.len() == 1;
        let mut hint = if is_one { one } else { several }.to_owned();
        if let Some((path, mut list)) = list {
            for reject in &self.lines {
                let line = serde_json::to_string(reject).map_err(std::io::Error::from)?;
                writeln!(list, "{}", visible_json(&line))?;
            }
            list.finish()?;
            let all = if is_one { "it is" } else { "all of them are" };
            hint = format!("{hint}; {all} in `{path}`");
        } else if self.lines.len() > self.shown.len() {
            hint.push_str("; `--rejects FILE` lists all of them");
        }
        let first = &self.lines[..self.shown.len()];
        let reasons = first.iter().map(|reject| &*reject.reason);
        let reasons: Vec<(u32, &str)> = self.sources.iter().copied().zip(reasons).collect();
        if let Some(remedy) = RejectedRecords::hint_for(corpus, &reasons, read == 0) {
            hint = format!("{hint}; {}", spelled(&remedy));
        }
        let count = self.lines.len() as u64;
        let are_permitted = count <= permitted.unwrap_or(0);
        printer.rejects(count, &self.shown, first, are_permitted, &hint);
        Ok(are_permitted)
    }
}

/// Opens the file for the list of rejects before the work begins, so that a wrong path is reported first.
pub fn list_of_rejects(path: Option<&str>, force: bool) -> Result<Option<(&str, Output)>, Failure> {
    let open = |path| Ok((path, Output::create(Path::new(path), overwrite(force))?));
    path.map(open).transpose()
}

/// Looks for the text field in the first records, so that a wrong name ends the run before anything is written.
#[derive(Debug, Default)]
pub struct TextFieldSearch {
    /// Whether a record has the field, or was rejected for another reason than a missing field.
    is_found: bool,
    records: u64,
    /// First record without the field.
    example: Option<RecordPlace>,
}

impl TextFieldSearch {
    /// Number of records of which at least one must have the field.
    const RECORDS: u64 = 1000;

    /// Notes the next chunk. Fails after [`RECORDS`](Self::RECORDS) records without the field.
    pub fn note(
        &mut self,
        has_others: bool,
        rejects: &[RejectedDocument],
        corpus: &Corpus,
    ) -> Result<(), Failure> {
        let lacks = |rejected: &&RejectedDocument| rejected.reason == MISSING_FIELD;
        self.is_found |= has_others || !rejects.iter().all(|rejected| lacks(&rejected));
        self.records += rejects.len() as u64;
        self.example = self.example.or_else(|| rejects.iter().find(lacks).map(|rejected| rejected.place));
        if self.records >= Self::RECORDS { self.finish(corpus) } else { Ok(()) }
    }

    /// Fails if no record has the field.
    pub fn finish(&self, corpus: &Corpus) -> Result<(), Failure> {
        let Some(example) = self.example.filter(|_| !self.is_found) else { return Ok(()) };
        let fields = corpus.options().text_fields.iter().map(ToString::to_string).collect::<Vec<_>>();
        let kind = minwise_engine::ErrorKind::NoTextField {
            field: fields.join(","),
            records: self.records.min(Self::RECORDS),
            fields: corpus.field_names(&example, &mut Scratch::new())?,
        };
        Err(minwise_engine::Error::from(kind).into())
    }
}

/// Ends the run at a record whose text is null, if the options require it. `before` is the number of lines of the
/// source before the chunk, and `hint` names the rules of `--null` with which the command continues.
pub fn refuse_null(
    corpus: &Corpus,
    before: u64,
    found: Option<&RejectedDocument>,
    hint: &str,
) -> Result<(), Failure> {
    let Some(rejected) = found else { return Ok(()) };
    Err(Failure::Error {
        code: rejected.reason,
        message: rejected.describe(corpus, before),
        hint: Some(hint.to_owned()),
    })
}

/// Counts the lines of a source from chunk to chunk.
#[derive(Debug, Default)]
pub struct LineCounter {
    source: u32,
    lines: u64,
}

impl LineCounter {
    /// Returns the number of lines of the source before the next chunk, which has `lines` lines. The chunks must come
    /// in input order.
    pub fn before(&mut self, source: u32, lines: u64) -> u64 {
        if source != self.source {
            (self.source, self.lines) = (source, 0);
        }
        let before = self.lines;
        self.lines += lines;
        before
    }
}

/// Metadata of documents by id.
pub type Sheet = BTreeMap<String, Map<String, Value>>;

/// Reads the documents of a chunk.
pub fn read(
    corpus: &Corpus,
    chunk: &Chunk,
    fields: &[FieldPath],
    scratch: &mut Scratch,
) -> Result<ChunkDocuments, Failure> {
    let mut read = ChunkDocuments::default();
    let nulls = corpus.options().nulls;
    let mut null_error = None;
    let lines = corpus.scan(chunk, scratch, &mut |place, document| match document {
        Ok(document) => {
            let document = new_document(document, fields);
            // A document without an id gets its line as its id later, so it is not checked yet.
            let refused =
                Some(&document).filter(|new| !new.id.is_empty()).map(Index::refuses).unwrap_or_default();
            match refused {
                None => read.documents.push((place.source, place.line, document)),
                Some(error) => {
                    let id = Some(document.id);
                    read.rejects.push(RejectedDocument::new(&place, id, error.code(), error.to_string()));
                }
            }
        }
        Err(Reject { reason: RejectReason::Null { .. }, .. }) if nulls == Nulls::Keep => read.nulls += 1,
        Err(Reject { reason: RejectReason::NotText { .. }, .. }) => read.skipped += 1,
        Err(reject) => {
            let message = reject.reason.to_string();
            let rejected = RejectedDocument::new(&place, reject.id, reject.reason.code(), message);
            if nulls == Nulls::Error && matches!(reject.reason, RejectReason::Null { .. }) {
                null_error.get_or_insert_with(|| rejected.clone());
            }
            read.rejects.push(rejected);
        }
    })?;
    read.lines = lines.0;
    read.null_error = null_error;
    Ok(read)
}

fn new_document(document: Document<'_>, fields: &[FieldPath]) -> NewDocument {
    let mut new = NewDocument::new(document.id.unwrap_or_default(), document.text);
    for (field, value) in fields.iter().zip(document.values) {
        if let Some(value) = value {
            new.metadata.insert(field.to_string(), Value::from(value.into_owned()));
        }
    }
    if let Some(about) = document.about {
        new.title = about.title;
        new.metadata.extend(about.metadata.into_iter().map(|(name, value)| (name, Value::from(value))));
        let mark = |mark: &minwise_corpus::ExtractedMark| Some(Mark::new(mark.offset, place(mark.place)?));
        new.marks = about.marks.iter().filter_map(mark).collect();
    }
    if new.marks.is_empty() {
        new.marks = Mark::pages(&new.text);
    }
    new
}

/// Converts a place of the corpus to a place of the archive.
fn place(place: MarkPlace) -> Option<MarkedPlace> {
    Some(match place {
        MarkPlace::Page(number) => MarkedPlace::Page(number),
        MarkPlace::Paragraph(number) => MarkedPlace::Paragraph(number),
        MarkPlace::Slide(number) => MarkedPlace::Slide(number),
        MarkPlace::Chapter(number) => MarkedPlace::Chapter(number),
        _ => return None,
    })
}

/// Reads a CSV file that has a column `id`.
pub fn sheet(path: &str) -> Result<Sheet, Failure> {
    let wrong = |reason: String| {
        let hint = "its first line names the columns, and one of them is `id`";
        CommandError::BadSheet.with(format!("`--meta`: `{path}`: {reason}"), Some(hint))
    };
    let bytes = fs_err::read(path).map_err(|error| wrong(minwise_corpus::reason_of(error)))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let (delimiter, bytes) = delimiter_of(bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(bytes);
    let headers = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let headers: csv::StringRecord = headers.iter().map(str::trim).collect();
    let id = headers.iter().position(|header| header == "id");
    let id = id.ok_or_else(|| {
        let names: Vec<String> = headers.iter().map(|header| format!("`{}`", visible(header))).collect();
        wrong(format!("it has no column `id` among {}", names.join(", ")))
    })?;
    let mut sheet = Sheet::new();
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        let fields =
            headers.iter().zip(&record).enumerate().filter(|(at, (_, value))| *at != id && !value.is_empty());
        let row = fields.map(|(_, (header, value))| (header.to_owned(), Value::from(value))).collect();
        let name = record.get(id).unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(wrong("a line has no id".to_owned()));
        }
        if sheet.insert(name.clone(), row).is_some() {
            return Err(wrong(format!("the id `{}` is there twice", visible(&name))));
        }
    }
    Ok(sheet)
}

/// Returns the delimiter of a CSV file, and its bytes from the header on. The delimiter is the one that the line `sep=;`
/// of Excel states, or else the first of comma, semicolon and tab with which the header has a column `id`.
fn delimiter_of(bytes: &[u8]) -> (u8, &[u8]) {
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if let [b's', b'e', b'p', b'=', delimiter] | [b's', b'e', b'p', b'=', delimiter, b'\r'] = *header {
        return (delimiter, bytes.get(header.len() + 1..).unwrap_or_default());
    }
    let has_id = |delimiter: &u8| {
        let mut names = header.split(|byte| byte == delimiter);
        names.any(|name| matches!(name.trim_ascii(), b"id" | b"\"id\""))
    };
    (b",;\t".iter().copied().find(|delimiter| has_id(delimiter)).unwrap_or(b','), bytes)
}

/// Adds the metadata of a sheet to a document. Returns whether the sheet has the document.
pub fn annotate(document: &mut NewDocument, sheet: &Sheet) -> bool {
    let Some(row) = sheet.get(&document.id) else { return false };
    for (field, value) in row {
        match (field.as_str(), value) {
            ("title", Value::String(title)) => document.title = Some(title.clone()),
            _ => {
                document.metadata.insert(field.clone(), value.clone());
            }
        }
    }
    true
}
