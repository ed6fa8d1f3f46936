//! A list of texts as JSONL.

use serde::Serialize;

use super::content::Rows;
use crate::annotation::Annotation;
use crate::document::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;
use crate::sources::Sources;

/// A record as it is written.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    text: Option<&'a str>,
    /// Called like [`MEMBER`](crate::annotation::MEMBER).
    #[serde(skip_serializing_if = "Option::is_none")]
    minwise: Option<Annotation<'a>>,
}

/// Writes records, one JSON object per line.
pub(super) fn write(
    sources: &Sources,
    records: &mut dyn Iterator<Item = (Place, Option<Annotation<'_>>)>,
    out: &mut Output,
) -> Result<()> {
    let mut bytes = vec![];
    for (place, minwise) in records {
        let (handle, _) = sources.at(&place)?;
        let record = sources.content_as::<Rows>(place.source)?.record(place.offset);
        let (id, text) = record.ok_or_else(|| handle.no_such_place(place.offset))?;
        bytes.clear();
        let line = Line { id: id.filter(|id| !id.is_empty()), text, minwise };
        serde_json::to_writer(&mut bytes, &line)
            .map_err(|error| Error::new(ErrorKind::NotAnObject { message: error.to_string() }))?;
        bytes.push(b'\n');
        out.write_bytes(&bytes)?;
    }
    Ok(())
}
