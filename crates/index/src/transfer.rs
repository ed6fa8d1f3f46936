//! Export and import of indexes as lines of JSON, and merging of indexes.
//!
//! The first line of an export has the settings. Every other line has a document: its text, or the data that
//! are stored in place of the text. People and programs can read these lines, so exports outlive the format
//! of the store.

use std::io::{BufRead, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minwise::figure::{counted, grouped};
use minwise::text::UNICODE;
use minwise::{Observer, Stage, Unobserved};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::add::{Added, DocumentBatch, DocumentWrite, WriteChoice, words_to_bytes};
use crate::error::{Error, ErrorKind, Result};
use crate::in_place::InPlaceOfText;
use crate::index::Index;
use crate::prepare::PreparedEntry;
use crate::progress::Reached;
use crate::record::{DocumentRow, Mark, NewDocument, metadata_text};
use crate::settings::{IndexSettings, Texts};
use crate::store::KeyspaceName;

/// Version of exported lines. This version differs from the version of the store, because a program must read
/// exports of all earlier versions.
const EXPORT: u32 = 1;

/// Minimum number of bytes of text at which a batch is written as a change.
const BATCH_BYTES: usize = 16 << 20;
/// Minimum number of documents at which a batch is written as a change.
const BATCH_DOCUMENTS: usize = 1 << 13;

/// Counts of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Number of imported documents.
    pub documents: u64,
}

/// Counts of a merge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Number of documents of all merged indexes, without the replaced documents.
    pub documents: u64,
    /// Number of documents that replaced a document with the same id from an earlier index.
    pub replaced: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct ExportLine {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
    #[serde(default)]
    added: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Mark>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_place_of_text: Option<StoredSketch>,
}

/// The data of a document in an export of an index that keeps no texts.
#[derive(Debug, Serialize, Deserialize)]
struct StoredSketch {
    bytes: u64,
    characters: u64,
    units: u32,
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wordless: Option<String>,
    sketch: String,
    set: String,
}

impl Index {
    /// Writes all documents as lines of JSON, in the order in which they were added, and returns their
    /// number.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::Interrupted`] if the observer cancels.
    /// - Fails with [`ErrorKind::DiskFull`] if the disk of the export is full.
    /// - Fails with [`ErrorKind::Io`] if `out` cannot be written for another reason.
    /// - Fails with [`ErrorKind::Damaged`] if stored data are damaged.
    pub fn export(&self, out: &mut dyn Write, observer: &dyn Observer) -> Result<u64> {
        let wrong = |error| Error::io("write", "the export".as_ref(), error);
        let mut about = Map::new();
        about.insert("minwise_index".to_owned(), json!(EXPORT));
        about.insert("unicode".to_owned(), json!(UNICODE));
        about.extend(self.settings.fields().into_iter().map(|(name, value)| (name.to_owned(), json!(value))));
        writeln!(out, "{}", Value::Object(about)).map_err(wrong)?;
        let mut documents = 0;
        self.each_line(Stage::Export, observer, &mut |line| {
            documents += 1;
            let line = serde_json::to_string(&line).map_err(|error| wrong(error.into()))?;
            writeln!(out, "{line}").map_err(wrong)
        })?;
        out.flush().map_err(wrong)?;
        Ok(documents)
    }

    fn each_line(
        &self,
        stage: Stage,
        observer: &dyn Observer,
        take: &mut dyn FnMut(ExportLine) -> Result<()>,
    ) -> Result<()> {
        let view = self.store.view();
        let progress = Reached::begin(observer, stage, view.state()?.documents);
        let mut done = 0;
        view.each_after(KeyspaceName::Records, None, |key, payload| {
            progress.go_on()?;
            let number = self.number_of(key)?;
            let record = self.decoded(payload)?;
            let entry = self.entry(&record)?;
            let text = self.text(&view, number, &record)?;
            let in_place_of_text = if text.is_some() {
                None
            } else {
                let sketch = view
                    .get(KeyspaceName::Sketches, key)?
                    .ok_or_else(|| self.damaged(format!("the sketch of `{}` is missing", record.id)))?;
                let set = self.in_place_of_text(&view, number, &record)?;
                Some(StoredSketch {
                    bytes: record.bytes,
                    characters: record.characters,
                    units: record.units,
                    content: STANDARD.encode(record.content),
                    wordless: record.wordless.map(|key| STANDARD.encode(key.to_le_bytes())),
                    sketch: STANDARD.encode(sketch),
                    set: STANDARD.encode(set.to_bytes()),
                })
            };
            done += 1;
            progress.reach(done);
            take(ExportLine {
                id: entry.id,
                title: entry.title,
                metadata: entry.metadata,
                added: entry.added,
                marks: record.marks,
                text,
                in_place_of_text,
            })?;
            Ok(true)
        })
    }

    /// Parses the settings of an exported index from its first line.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Import`] if the line is not the first line of an export, or if the export has
    /// a later version.
    pub fn settings_of_export(first: &str) -> Result<IndexSettings> {
        let wrong = |why: String| Error::from(ErrorKind::Import { line: 1, why });
        let about: Map<String, Value> = serde_json::from_str(first)
            .map_err(|_| wrong("it does not begin with the settings of an archive".to_owned()))?;
        match about.get("minwise_index").and_then(Value::as_u64) {
            None => return Err(wrong("it does not begin with the settings of an archive".to_owned())),
            Some(found) if !(1..=u64::from(EXPORT)).contains(&found) => {
                let why =
                    format!("it is an export of version {found}, and this program reads up to {EXPORT}");
                return Err(wrong(why));
            }
            Some(_) => {}
        }
        IndexSettings::from_fields(|name| about.get(name).and_then(Value::as_str)).map_err(wrong)
    }

    /// Adds the documents of an exported index. If the export has texts, this index may have other settings
    /// than the exported index.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::Import`], which has the line and the reason, if a line is no document.
    /// - Fails with [`ErrorKind::Mismatch`] if the export has no texts and other settings than this index.
    /// - Fails with [`ErrorKind::Unicode`] if the export has no texts and another Unicode version than this
    ///   program.
    /// - Fails with the errors of [`add`](Self::add) if a document cannot be added.
    /// - Fails with [`ErrorKind::Interrupted`] if the observer cancels.
    ///
    /// After an error, documents of earlier lines may have been added.
    pub fn import(
        &self,
        lines: &mut dyn BufRead,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Imported> {
        let read = |error| Error::io("read", "the export".as_ref(), error);
        let mut line = String::new();
        lines.read_line(&mut line).map_err(read)?;
        let settings = Self::settings_of_export(&line)?;
        let unicode = serde_json::from_str::<Map<String, Value>>(&line)
            .ok()
            .and_then(|about| about.get("unicode")?.as_str().map(str::to_owned));
        let mut batch = ImportIntake::new(self, threads);
        let progress = Reached::begin(observer, Stage::Import, 0);
        let mut number = 1;
        loop {
            line.clear();
            if lines.read_line(&mut line).map_err(read)? == 0 {
                break;
            }
            number += 1;
            progress.go_on()?;
            let wrong = |why: String| ErrorKind::Import { line: number, why };
            let document: ExportLine =
                serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
            if document.text.is_none() {
                self.settings.compare(&settings)?;
                if self.settings.texts == Texts::Kept {
                    return Err(wrong("it has no text".to_owned()).into());
                }
                if unicode.as_deref() != Some(UNICODE) {
                    let (found, expected) = (unicode.unwrap_or_default(), UNICODE.to_owned());
                    return Err(ErrorKind::Unicode { found, expected }.into());
                }
            }
            batch.push(self.item(document).map_err(wrong)?)?;
            progress.reach(number - 1);
        }
        batch.finish()?;
        Ok(Imported { documents: number - 1 })
    }

    /// Adds the documents of other indexes with the same settings. If several indexes have a document with
    /// the same id, the document of the last of these indexes stays.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::Mismatch`] if the settings differ.
    /// - Fails with [`ErrorKind::Interrupted`] if the observer cancels.
    /// - Fails with [`ErrorKind::DiskFull`] if the disk is full.
    /// - Fails with [`ErrorKind::Io`] if something cannot be written for another reason.
    /// - Fails with [`ErrorKind::Damaged`] if stored data are damaged.
    ///
    /// After an error, some documents may have been added, unless the settings differ.
    pub fn merge(&self, others: &[&Self], threads: usize, observer: &dyn Observer) -> Result<Merged> {
        for other in others {
            self.settings.compare(&other.settings)?;
        }
        let mut batch = ImportIntake::new(self, threads);
        for other in others {
            other.each_line(Stage::Merge, observer, &mut |line| {
                batch.push(self.item(line).map_err(|what| other.damaged(what))?)
            })?;
            // A change has documents of one index only: `Added::replaced` counts documents that a change
            // replaces in the index, but not documents that it replaces within itself.
            batch.flush()?;
        }
        let added = batch.finish()?;
        Ok(Merged { documents: added.new, replaced: added.replaced })
    }
}

/// A document of an import or a merge, with the time at which it was first added.
enum Item {
    /// A document with a text.
    Text(NewDocument, u64),
    /// A document with the data that are stored in place of its text.
    Kept(Box<DocumentWrite>),
}

/// Collects documents into changes (transactions) of the index. Each document keeps the time at which it was
/// first added.
struct ImportIntake<'i> {
    index: &'i Index,
    threads: usize,
    documents: Vec<NewDocument>,
    /// The time of addition of each document.
    times: Vec<u64>,
    kept: Vec<DocumentWrite>,
    bytes: usize,
    so_far: Added,
}

impl<'i> ImportIntake<'i> {
    fn new(index: &'i Index, threads: usize) -> Self {
        let (documents, times, kept) = (vec![], vec![], vec![]);
        Self { index, threads, documents, times, kept, bytes: 0, so_far: Added::default() }
    }

    fn push(&mut self, item: Item) -> Result<()> {
        let is_other = match item {
            Item::Text(..) => !self.kept.is_empty(),
            Item::Kept(_) => !self.documents.is_empty(),
        };
        let full = self.bytes >= BATCH_BYTES || self.documents.len() + self.kept.len() >= BATCH_DOCUMENTS;
        // A batch has documents of one kind. A document of the other kind ends the batch, so that the order
        // of documents does not change.
        if full || is_other {
            self.flush()?;
        }
        match item {
            Item::Text(document, added) => {
                self.bytes += document.text.len();
                self.documents.push(document);
                self.times.push(added);
            }
            Item::Kept(written) => {
                self.bytes += written.set.len();
                self.kept.push(*written);
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.bytes = 0;
        let (documents, times) = (std::mem::take(&mut self.documents), std::mem::take(&mut self.times));
        let mut batch = self.index.prepare(&documents, 0, self.threads)?;
        for (written, added) in batch.0.iter_mut().zip(times) {
            written.record.added = added;
        }
        batch.append(DocumentBatch(std::mem::take(&mut self.kept)));
        self.so_far += self.index.put(batch, WriteChoice::All, self.threads, &Unobserved)?;
        Ok(())
    }

    fn finish(mut self) -> Result<Added> {
        self.flush()?;
        Ok(self.so_far)
    }
}

impl Index {
    /// Returns the document of a line, or the reason why this index cannot add the document.
    fn item(&self, line: ExportLine) -> std::result::Result<Item, String> {
        match (line.text, line.in_place_of_text) {
            (Some(text), _) => {
                let (id, title, metadata, marks) = (line.id, line.title, line.metadata, line.marks);
                let document = NewDocument { id, text, title, metadata, marks };
                match Self::refuses(&document) {
                    None => Ok(Item::Text(document, line.added)),
                    Some(error) => Err(error.to_string()),
                }
            }
            (None, Some(stored)) => {
                Self::check_id(&line.id).map_err(|error| error.to_string())?;
                let unreadable = || "what it has in place of a text cannot be read".to_owned();
                let written =
                    from_stored(line.id, line.title, &line.metadata, line.added, line.marks, &stored)
                        .ok_or_else(unreadable)?;
                self.check_kept(&written)?;
                Ok(Item::Kept(Box::new(written)))
            }
            (None, None) => Err("it has no text".to_owned()),
        }
    }

    /// Checks that the data in place of a text are the data that this index would store. Returns the reason
    /// if they differ.
    fn check_kept(&self, written: &DocumentWrite) -> std::result::Result<(), String> {
        let mut prepared = PreparedEntry::default();
        let set = written.shingles.iter().copied().collect();
        if written.record.wordless.is_none() == written.shingles.is_empty() {
            return Err("it has to have shingles, or the key of a text without words".to_owned());
        }
        self.preparation.prepare_set(set, written.record.wordless, &mut prepared);
        let row = words_to_bytes(&self.preparation.row(&prepared));
        if row.len() != written.sketch.len() {
            let (found, expected) = (written.sketch.len() as u64, grouped(row.len() as u64));
            let found = counted(found, "byte");
            return Err(format!("its sketch has {found}, and one of this archive has {expected}"));
        }
        if row != written.sketch || prepared.bands != written.bands {
            return Err("its sketch is not that of its shingles".to_owned());
        }
        Ok(())
    }
}

fn from_stored(
    id: String,
    title: Option<String>,
    metadata: &Map<String, Value>,
    added: u64,
    marks: Vec<Mark>,
    stored: &StoredSketch,
) -> Option<DocumentWrite> {
    let decode = |text: &str| STANDARD.decode(text).ok();
    let kept = InPlaceOfText::from_bytes(&decode(&stored.set)?)?;
    let wordless = match &stored.wordless {
        None => None,
        Some(key) => Some(u128::from_le_bytes(decode(key)?.try_into().ok()?)),
    };
    Some(DocumentWrite {
        record: DocumentRow {
            id,
            title,
            metadata: metadata_text(metadata),
            added,
            bytes: stored.bytes,
            characters: stored.characters,
            units: stored.units,
            shingles: kept.set.len() as u32,
            content: decode(&stored.content)?.try_into().ok()?,
            wordless,
            postings: Default::default(),
            marks,
        },
        text: vec![],
        sketch: decode(&stored.sketch)?,
        set: kept.to_bytes(),
        bands: kept.bands,
        fingerprints: kept.fingerprints,
        shingles: kept.set.as_slice().to_vec(),
    })
}
