//! Reads documents from files, streams and memory, and writes records to outputs.
//!
//! A [`Corpus`] is a list of *sources*, each of one [`Format`]: JSONL, CSV, TSV, Parquet, Arrow IPC, WARC, documents
//! or texts. A source is a plain or compressed file, standard input, or a list of texts or a table [in
//! memory](InMemory). Every source can be read **by position, any number of times**. The rest of Minwise depends on
//! this property. Chunks are scanned in parallel, and a candidate pair is read again to be verified. A kept record is
//! copied to the output byte for byte, or as a table row with its original columns and types.
//!
//! | a source that is | is read |
//! |---|---|
//! | a plain file | in place, by positional reads (a memory map would crash when the file shrinks) |
//! | compressed records, a pipe, standard input | from one unnamed temporary file, filled once by [`Corpus::open`] |
//! | a Parquet file or Arrow IPC | piece by piece (a piece is some adjacent rows); rows that are read again come from a temporary file |
//! | texts or record batches in memory | in place, without decoding or copying |
//! | a record or a text of more than 8 MiB | in place and piece by piece, with [`scan_long`](Corpus::scan_long) or [`read_long`](Corpus::read_long) |
//! | a compressed text file | by decompressing it in memory, up to the record limit |
//! | a Word file, a PDF or another document that is not plain text | first with [`extract`], then from a temporary file that keeps its text |
//!
//! A file of a folder that is no document is [skipped](Corpus::skipped). A file of a folder that cannot be read is a
//! reject; a named file that cannot be read is an error.
//!
//! A bad record never stops a scan; the scan returns it as a [`Reject`] with its reason. An [`Error`] stops the run;
//! its message has a hint where one helps.
//!
//! # Features
//!
//! | feature | reads and writes | default | brings |
//! |---|---|---|---|
//! | `arrow` | Arrow IPC files and streams | yes | arrow-ipc, with a C compiler |
//! | `bzip2` | files and outputs compressed by bzip2 | yes | bzip2 |
//! | `html` | the text of HTML, and of EPUB together with `office` | yes | html5ever |
//! | `office` | the text of Word, OpenDocument and PowerPoint, and of EPUB together with `html` | yes | zip, quick-xml |
//! | `parquet` | Parquet files | yes | parquet, with a C compiler |
//! | `pdf` | the text of PDF files | no | hayro-syntax, hayro-font |
//! | `warc` | WARC and WET files; their pages need `html` | yes | none |
//! | `xz` | files and outputs compressed by xz | yes | liblzma, with a C compiler |
//! | `zstd` | files and outputs compressed by Zstandard | yes | zstd, with a C compiler |
//!
//! JSONL, CSV, TSV, plain text, Markdown, gzip, and texts or Arrow record batches in memory need no feature. All
//! features but `pdf` are on by default, so that every common format can be read. `pdf` is off because its parser is
//! large and panics on bad files; therefore it runs on threads of its own. If a feature is off, the error for such a
//! file names the feature.
//!
//! # Example
//!
//! ```
//! use minwise_corpus::{Corpus, ReadOptions, Scratch, Unobserved};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("notes.jsonl");
//! fs_err::write(&path, "{\"id\": 1, \"text\": \"a rose\"}\n{\"id\": 2, \"text\": \"is a rose\"}\n")?;
//!
//! let corpus = Corpus::open(&[path.into()], &ReadOptions::default(), &Unobserved)?;
//! let mut texts = Vec::new();
//! for chunk in corpus.chunks(1 << 20) {
//!     corpus.scan(&chunk, &mut Scratch::new(), &mut |_place, document| {
//!         texts.push(document.map(|document| document.text.into_owned()));
//!     })?;
//! }
//! assert_eq!(texts, [Ok("a rose".to_owned()), Ok("is a rose".to_owned())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// If the feature of a format is off, its helpers have no caller, so dead code is allowed. With all features on, dead
// code is reported.
#![cfg_attr(
    not(all(
        feature = "arrow",
        feature = "bzip2",
        feature = "html",
        feature = "office",
        feature = "parquet",
        feature = "warc",
        feature = "xz",
        feature = "zstd"
    )),
    allow(dead_code)
)]

mod annotation;
mod column;
mod compression;
mod container;
mod corpus;
mod decode;
mod document;
mod encoding;
mod error;
mod extract;
mod field;
mod format;
mod found;
#[cfg(feature = "zstd")]
mod frames;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod input;
mod members;
mod memory;
mod options;
mod output;
mod positional;
mod problem;
mod quiet;
mod refusal;
mod reject;
mod scratch;
mod setters;
mod shape;
mod source;
mod sources;
mod spool;
mod temporary;
mod unconverted;
mod unescape;
mod unfolded;
mod write;

pub use annotation::Annotation;
pub use compression::{decompressed, has_compressed_name};
pub use container::table::written_values;
pub use corpus::{Chunk, ContentHash, Corpus, annotate_records, copy_records};
pub use document::{Document, DocumentText, LongText, MaybeLong, RecordPlace};
pub use encoding::GuessedEncoding;
pub use error::{Error, ErrorKind};
pub use extract::{
    DocumentFormat, ExtractLimits, Extracted, ExtractedMark, FileProperties, MarkPlace, MistakenInput,
    extract,
};
pub use field::FieldPath;
pub use format::{Format, InputFormat, Layout};
pub use input::{Input, SameId, SkipReason, Skipped};
pub use memory::InMemory;
pub use minwise::{
    Observer, Quotes, Unobserved, escape_control, escape_html, visible, visible_json, visible_lines,
};
pub use options::{Delimiter, Encoding, Nulls, ReadOptions};
pub use output::{
    CompleteOutput, Output, OutputFolder, OutputVerdict, Overwrite, RunTag, TEMPORARY_PREFIX,
    TableCompression, foreign_file, refuse_file,
};
pub use positional::read_at;
pub use problem::FileProblem;
pub use refusal::Refusal;
pub use reject::{Reject, RejectLine, RejectReason};
pub use scratch::Scratch;
pub use source::{Source, open_file, os_error, reason_of};
pub use sources::ScannedLines;
pub use temporary::{Temporary, TemporaryFolder};
pub use unconverted::Unconverted;
pub use write::{
    annotate_each, check_conversion, check_each, convert_annotated, convert_records, converted_name,
    copy_each, refuse_annotation, refuse_conversion, refuse_other_files, refuse_overlap, refuse_same_names,
    refuse_shared, refuse_shared_members, refuse_unlike,
};
/// The types of record batches and their schemas: [`InMemory::batches`] takes them.
pub use {arrow_array, arrow_schema};

/// Holds the example of this crate's README, so that rustdoc tests it.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
