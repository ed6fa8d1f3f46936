//! What a run found, for everything that is written about it.

use std::borrow::Cow;

use minwise_corpus::{Corpus, Scratch};

use super::summary::Summary;
use crate::decide::Decisions;
use crate::error::Error;
use crate::read::Reading;
use crate::settings::Plan;

/// Records longer than this, in bytes, are not read again to show a part of them.
pub(super) const SHORT_BYTES: u32 = 1 << 20;

/// What a run found.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Findings<'a> {
    /// The corpus that was read.
    pub corpus: &'a Corpus,
    /// Its documents.
    pub reading: &'a Reading,
    /// What was decided about them.
    pub decisions: &'a Decisions,
    /// The plan that the run followed.
    pub plan: &'a Plan,
    /// The counts of the run.
    pub summary: &'a Summary,
}

impl<'a> Findings<'a> {
    /// The findings of a run that was done stage by stage.
    #[must_use]
    pub fn new(
        corpus: &'a Corpus,
        reading: &'a Reading,
        decisions: &'a Decisions,
        plan: &'a Plan,
        summary: &'a Summary,
    ) -> Self {
        Self { corpus, reading, decisions, plan, summary }
    }

    /// The id of a document.
    pub(super) fn id(&self, document: u32) -> Result<Cow<'a, str>, Error> {
        self.reading.documents.id(document, self.corpus)
    }

    /// The text of a document, unless its record is longer than [`SHORT_BYTES`].
    pub(super) fn short_text(&self, document: u32) -> Result<Option<String>, Error> {
        let place = self.reading.documents.place(document)?;
        if place.len > SHORT_BYTES {
            return Ok(None);
        }
        Ok(Some(self.corpus.read(&place, &mut Scratch::new())?.text.into_owned()))
    }
}
