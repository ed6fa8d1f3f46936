//! The findings of a run, from which its outputs and its report are written.

use std::borrow::Cow;

use minwise_corpus::{Corpus, Scratch};

use super::summary::Summary;
use crate::decide::Decisions;
use crate::error::Error;
use crate::read::Reading;
use crate::settings::Plan;

/// Length in bytes above which a record is not read again to show a part of its text.
pub(super) const SHORT_BYTES: u32 = 1 << 20;

/// Everything that a run found, by reference.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Findings<'a> {
    /// The corpus that was read.
    pub corpus: &'a Corpus,
    /// The documents of the corpus, as the read stage left them.
    pub reading: &'a Reading,
    /// The decisions about the documents.
    pub decisions: &'a Decisions,
    /// The plan that the run followed.
    pub plan: &'a Plan,
    /// The counts of the run.
    pub summary: &'a Summary,
}

impl<'a> Findings<'a> {
    /// Collects the findings of a run whose stages the caller ran one by one.
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

    pub(super) fn id(&self, document: u32) -> Result<Cow<'a, str>, Error> {
        self.reading.documents.id(document, self.corpus)
    }

    /// Returns the text of a document, or `None` if its record is longer than [`SHORT_BYTES`].
    pub(super) fn short_text(&self, document: u32) -> Result<Option<String>, Error> {
        let place = self.reading.documents.place(document)?;
        if place.len > SHORT_BYTES {
            return Ok(None);
        }
        Ok(Some(self.corpus.read(&place, &mut Scratch::new())?.text.into_owned()))
    }
}
