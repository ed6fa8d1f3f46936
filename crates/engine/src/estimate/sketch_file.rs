//! Sketch files: sketches are made once, and compared any number of times.
//!
//! A sketch file states its spec, the versions of specs and of Unicode, the number of documents, and the number of
//! words per sketch. The file has a checksum per block, and these sections:
//!
//! | section | content |
//! |---|---|
//! | `present` | one byte per document: 1 if it has shingles, else 0 |
//! | `id_ends` | one 64-bit number per document: the end of its id in `ids` |
//! | `ids` | the ids in UTF-8, one after the other |
//! | `rows` | the sketches, one after the other, in 32-bit words |
//!
//! [`SketchRun`](crate::SketchRun) writes a sketch file, and [`EstimateRun`](crate::EstimateRun) reads it.

use std::ops::Range;
use std::path::Path;

use minwise::figure::{counted, grouped};
use minwise::text::UNICODE;
use minwise::{Sentence, Spec, VERSION};
use minwise_corpus::{Corpus, Overwrite};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, SettingProblem};
use crate::read::Reading;
use crate::read::documents::{RowChoice, RowReader};
use crate::storage::store::{FileKind, Mapped, StoreWriter};

const KIND: FileKind = FileKind { magic: *b"MINWskch", version: 1, name: "sketch file", made_by: "sketch" };

/// Description of a sketch file that is part of the file.
#[derive(Debug, Serialize, Deserialize)]
struct SketchFileHeader {
    spec: String,
    spec_version: u32,
    unicode: String,
    documents: u64,
    words: u64,
}

/// Sketch file that is mapped and read in place.
#[derive(Debug)]
pub struct SketchFile {
    mapped: Mapped,
    spec: Spec,
    documents: usize,
    words: usize,
}

/// Sketch file that was begun.
#[derive(Debug)]
pub struct NewSketchFile(StoreWriter);

/// Creates a sketch file. If the file exists, `overwrite` decides whether it is replaced or refused.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] if the file exists and `overwrite` refuses to replace it, or if the file cannot be
/// written. Fails with [`ErrorKind::File`] if its name is `-` or that of a compressed file, because sketch files are
/// read in place.
pub fn create(path: &Path, overwrite: Overwrite) -> Result<NewSketchFile, Error> {
    StoreWriter::create(path, KIND, overwrite).map(NewSketchFile)
}

/// Writes the sketches of a corpus that was read with `spec`.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] if the file cannot be written. Fails with [`ErrorKind::Corpus`] or
/// [`ErrorKind::File`] if ids or sketches are on disk and cannot be read.
pub fn write(file: NewSketchFile, corpus: &Corpus, reading: &Reading, spec: &Spec) -> Result<(), Error> {
    let documents = &reading.documents;
    let numbers = || (0..documents.len() as u32).filter(|&document| documents.has_text(document));
    let NewSketchFile(mut writer) = file;
    writer.begin("present")?;
    for document in numbers() {
        writer.write(&[u8::from(documents.has_shingles(document))])?;
    }
    writer.begin("id_ends")?;
    let mut end = 0;
    for document in numbers() {
        end += documents.id(document, corpus)?.len() as u64;
        writer.write(&end.to_le_bytes())?;
    }
    writer.begin("ids")?;
    for document in numbers() {
        writer.write(documents.id(document, corpus)?.as_bytes())?;
    }
    writer.begin("rows")?;
    let mut row_bytes = vec![];
    let mut rows = RowReader::new(documents, RowChoice::Sketch);
    for document in numbers() {
        row_bytes.clear();
        row_bytes.extend(rows.row(document)?.iter().flat_map(|word| word.to_le_bytes()));
        writer.write(&row_bytes)?;
    }
    let about = SketchFileHeader {
        spec: spec.to_string(),
        spec_version: VERSION,
        unicode: UNICODE.to_owned(),
        documents: numbers().count() as u64,
        words: documents.shape().words as u64,
    };
    writer.finish(&about)
}

/// Sketch of a document that other code has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SketchRow<'a> {
    /// Id of the document.
    pub id: &'a str,
    /// Whether the document has shingles.
    pub has_shingles: bool,
    /// Words of the sketch.
    pub words: &'a [u32],
}

impl<'a> SketchRow<'a> {
    /// Creates the sketch of the document with this id. If the document has no shingles, `words` must be
    /// [`EMPTY`](minwise::sketch::minhash::EMPTY).
    #[must_use]
    pub fn new(id: &'a str, has_shingles: bool, words: &'a [u32]) -> Self {
        Self { id, has_shingles, words }
    }
}

/// Writes sketches that were made with `spec`.
///
/// # Errors
/// Fails with [`ErrorKind::Settings`] if a row has another length than the spec requires, and with [`ErrorKind::Spec`]
/// if the sketch of the spec cannot be built. Fails with [`ErrorKind::Corpus`] if the file cannot be written.
pub fn write_rows<'a>(
    file: NewSketchFile,
    spec: &Spec,
    rows: impl Iterator<Item = SketchRow<'a>> + Clone,
) -> Result<(), Error> {
    let words = spec.method.build(spec.seed)?.words();
    if let Some(row) = rows.clone().find(|row| row.words.len() != words) {
        let (found, expected) = (grouped(row.words.len() as u64), grouped(words as u64));
        let reason = format!("a sketch has {found} words, and one of `{}` has {expected}", spec.method);
        return Err(SettingProblem::new("sketch", spec.method, reason).into());
    }
    let NewSketchFile(mut writer) = file;
    writer.begin("present")?;
    for row in rows.clone() {
        writer.write(&[u8::from(row.has_shingles)])?;
    }
    writer.begin("id_ends")?;
    let mut end = 0;
    for row in rows.clone() {
        end += row.id.len() as u64;
        writer.write(&end.to_le_bytes())?;
    }
    writer.begin("ids")?;
    for row in rows.clone() {
        writer.write(row.id.as_bytes())?;
    }
    writer.begin("rows")?;
    let (mut row_bytes, mut documents) = (vec![], 0);
    for row in rows {
        row_bytes.clear();
        row_bytes.extend(row.words.iter().flat_map(|word| word.to_le_bytes()));
        writer.write(&row_bytes)?;
        documents += 1;
    }
    let about = SketchFileHeader {
        spec: spec.to_string(),
        spec_version: VERSION,
        unicode: UNICODE.to_owned(),
        documents,
        words: words as u64,
    };
    writer.finish(&about)
}

impl SketchFile {
    /// Opens a file and checks all of it.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`] if the file cannot be opened. Fails with [`ErrorKind::File`] if the file is no
    /// sketch file, is damaged, or was made by another version of specs or of Unicode.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mapped = Mapped::open(path, KIND)?;
        let about = SketchFileHeader::deserialize(mapped.about())
            .map_err(|error| mapped.wrong(format!("its description is incomplete: {error}")))?;
        mapped.check_versions(about.spec_version, &about.unicode)?;
        let spec: Spec =
            about.spec.parse().map_err(|error| mapped.wrong(format!("its spec cannot be read: {error}")))?;
        let words = spec.method.build(spec.seed)?.words();
        if about.words != words as u64 {
            let (found, expected) = (grouped(about.words), grouped(words as u64));
            return Err(mapped.wrong(format!("its rows have {found} words, and its spec has {expected}")));
        }
        let documents = usize::try_from(about.documents)
            .ok()
            .filter(|&documents| u32::try_from(documents).is_ok_and(|documents| documents < u32::MAX))
            .ok_or_else(|| mapped.wrong("it has too many documents".to_owned()))?;
        let file = Self { mapped, spec, documents, words };
        file.check_lengths()?;
        Ok(file)
    }

    /// Returns the spec that made the sketches.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Reports whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Reports whether a document has shingles. The sketch of a document without shingles has no meaning.
    ///
    /// # Panics
    /// Panics if there is no such document, as all methods with a `document` do.
    #[must_use]
    pub fn has_shingles(&self, document: usize) -> bool {
        self.bytes("present")[document] != 0
    }

    /// Returns the id of a document.
    #[must_use]
    pub fn id(&self, document: usize) -> &str {
        let ends: &[u64] = bytemuck::cast_slice(self.bytes("id_ends"));
        let begin = document.checked_sub(1).map_or(0, |before| ends[before]);
        let id = &self.bytes("ids")[begin as usize..ends[document] as usize];
        std::str::from_utf8(id).unwrap_or_else(|_| unreachable!("ids were checked when the file was opened"))
    }

    /// Returns all sketches, one after the other.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        bytemuck::cast_slice(self.bytes("rows"))
    }

    /// Returns the sketches of some documents, one after the other.
    #[must_use]
    pub fn rows_of(&self, documents: Range<usize>) -> &[u32] {
        &self.rows()[documents.start * self.words..documents.end * self.words]
    }

    /// Returns the sketch of a document.
    #[must_use]
    pub fn row(&self, document: usize) -> &[u32] {
        &self.rows()[document * self.words..][..self.words]
    }

    fn bytes(&self, section: &str) -> &[u8] {
        self.mapped
            .section(section)
            .unwrap_or_else(|_| unreachable!("sections were checked when the file was opened"))
    }

    fn check_lengths(&self) -> Result<(), Error> {
        let expected =
            [("present", 1), ("id_ends", size_of::<u64>()), ("rows", self.words * size_of::<u32>())];
        for (section, each) in expected {
            let found = self.mapped.section(section)?.len();
            if Some(found) != each.checked_mul(self.documents) {
                let found = counted(found as u64, "byte");
                let documents = counted(self.documents as u64, "document");
                let reason = format!("its section `{section}` has {found} for {documents}");
                return Err(self.mapped.wrong(reason));
            }
        }
        let ids = self.mapped.section("ids")?;
        let ends: &[u64] = bytemuck::cast_slice(self.bytes("id_ends"));
        let mut begin = 0;
        for (document, &end) in ends.iter().enumerate() {
            let id = usize::try_from(end).ok().and_then(|end| ids.get(begin..end));
            if id.is_none_or(|id| std::str::from_utf8(id).is_err()) {
                return Err(self.mapped.wrong(format!("the id of document {document} cannot be read")));
            }
            begin = end as usize;
        }
        Ok(())
    }
}

/// Checks that the sketches of two files can be compared.
///
/// # Errors
/// Fails with [`ErrorKind::File`] if the files have different specs. The reason names the part that differs.
pub fn check_same(first: &SketchFile, second: &SketchFile) -> Result<(), Error> {
    first.spec.check(&second.spec).map_err(|error| {
        let difference = match error.kind() {
            minwise::ErrorKind::SpecMismatch { field, left, right } => {
                format!("{field} is `{right}`, not `{left}`")
            }
            _ => error.to_string(),
        };
        let other = minwise_corpus::escape_control(first.mapped.path());
        ErrorKind::File {
            path: second.mapped.path().to_owned(),
            action: "compare",
            reason: format!("its settings are not those of `{other}`: {difference}"),
            hint: Some(Sentence::from("make both files with the same options of ").action("sketch")),
        }
        .into()
    })
}
