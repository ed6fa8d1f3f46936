//! Chunks, and the records in them.

use super::Corpus;
use super::chunk::{Chunk, Span, cut};
use crate::content::{Part, ScannedLines, Visit};
use crate::document::{Document, MaybeLong, Place};
use crate::error::Result;
use crate::long::{LONG_BYTES, Text};
use crate::reject::Reject;
use crate::scratch::Scratch;
use crate::shared::Turns;

impl Corpus {
    /// Cuts the corpus into chunks of about `target_bytes` that cover it in order, the same way in every run.
    pub fn chunks(&self, target_bytes: u64) -> Vec<Chunk> {
        cut(&self.sources, target_bytes)
    }

    /// Visits every record that starts in the chunk, in order.
    ///
    /// Content never makes it fail: a bad record is handed on as a [`Reject`]. It fails only when the input
    /// cannot be read, is damaged or has changed, or does not have the chunk. Returns how many lines start in the chunk.
    pub fn scan(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Place, Result<Document<'_>, Reject>),
    ) -> Result<ScannedLines> {
        let turns = self.sources.shared().turns();
        let mut failed = None;
        let scanned = self.scan_in_turn(chunk, scratch, &turns, &mut |place, document| {
            if failed.is_some() {
                return;
            }
            if let Ok(Document { text: Text::Long(_), .. }) = document {
                turns.take();
            }
            match document.map(Document::into_whole) {
                Ok(Ok(document)) => visit(place, Ok(document)),
                Ok(Err(error)) => failed = Some(error),
                Err(reject) => visit(place, Err(reject)),
            }
        })?;
        failed.map_or(Ok(scanned), Err)
    }

    /// The same with texts that may be long: a text of more than some MiB is not loaded if it can be read piece by piece.
    pub fn scan_long(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Place, Result<MaybeLong<'_>, Reject>),
    ) -> Result<ScannedLines> {
        self.scan_in_turn(chunk, scratch, &self.sources.shared().turns(), visit)
    }

    fn scan_in_turn(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        turns: &Turns<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ScannedLines> {
        scratch.give_back();
        let scanned = match &chunk.span {
            Span::Part { source, part } => {
                if matches!(part, Part::Pieces(_)) && chunk.size_bytes() > LONG_BYTES {
                    turns.take();
                }
                let (handle, content) = self.sources.get(*source)?;
                content.scan(part, &handle, turns, scratch, visit)?
            }
            Span::Files(files) => {
                for source in files.clone() {
                    let (handle, content) = self.sources.get(source)?;
                    content.scan(&Part::Whole, &handle, turns, scratch, visit)?;
                }
                ScannedLines(0)
            }
        };
        if turns.is_taken() {
            // Before the next one has its turn.
            scratch.give_back();
        }
        Ok(scanned)
    }
}
