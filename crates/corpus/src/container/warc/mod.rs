//! WARC and WET files, as Common Crawl publishes them.
//!
//! A WARC file is a sequence of records. Each record has named headers and a block of bytes. A `response` record
//! holds an HTTP response, a `conversion` record (WET) holds plain text, and other records describe the crawl.
//!
//! | file | content |
//! |---|---|
//! | `bytes` | the bytes from which records are read |
//! | `headers` | the headers of WARC and of HTTP, with their values |
//! | `record` | where records begin and end |
//! | `http` | the status, media type and body of a response |
//! | `chunked`, `coding` | the bytes that the server encoded |
//! | `document` | the id and the text of a record |
//! | `follow` | the other records that are copied with a document |
//! | `open` | where the records of a source lie, and which of them are documents |
//! | `content` | how a source is scanned, and how a record is read again |
//! | `copy` | the bytes that are written |

pub(crate) mod bytes;
mod chunked;
mod coding;
mod content;
mod copy;
pub(crate) mod document;
pub(crate) mod follow;
pub(crate) mod headers;
pub(crate) mod http;
mod open;
pub(crate) mod record;

use std::ops::Range;

use self::open::WarcRecords;
use super::{Container, Opening, optional};
use crate::annotation::Annotation;
use crate::document::RecordPlace;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::output::{Output, OutputVerdict, TableCompression};
use crate::problem::FileProblem;
use crate::sources::{Content, Sources};

/// Container of WARC and WET.
#[derive(Debug)]
pub(super) struct Warc;

impl Container for Warc {
    fn format(&self) -> Format {
        Format::WARC
    }

    fn extensions(&self) -> &'static [&'static str] {
        optional::WARC.extensions
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        (optional::WARC.has_magic)(head)
    }

    fn notes_members(&self) -> bool {
        true
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>> {
        if let Some(field) = opening.options.text_fields.iter().find(|field| field.has_lists()) {
            let problem = FileProblem::NoLists { field: field.to_string(), columns: vec![] };
            return Err(Error::inside(opening.source.name(), problem));
        }
        let members = opening.source.packed.as_ref().map(|packed| &packed.members);
        Ok(Box::new(WarcRecords::open(&opening.reader()?, members, opening.observer)?))
    }

    fn copy(
        &self,
        sources: &Sources,
        numbers: Range<u32>,
        places: &mut dyn Iterator<Item = RecordPlace>,
        verdict: OutputVerdict,
        out: &mut Output,
        _compression: TableCompression,
    ) -> Result<()> {
        copy::copy(sources, numbers, places, verdict, out)
    }

    fn can_annotate(&self) -> bool {
        false
    }

    fn annotate(
        &self,
        _sources: &Sources,
        _numbers: Range<u32>,
        _annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
        _out: &mut Output,
        _compression: TableCompression,
    ) -> Result<()> {
        Err(Error::new(ErrorKind::NoAnnotation { format: Format::WARC }))
    }
}
