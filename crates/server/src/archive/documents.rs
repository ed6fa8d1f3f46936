//! Reads, lists, replaces and removes documents of the archive.

use std::sync::atomic::Ordering;

use minwise_index::{DocumentPage, ErrorKind, Listing, NewDocument, StoredDocument};

use super::Archive;
use crate::files::{self, UploadedFile};
use crate::problem::{Problem, ProblemKind};

/// Maximum number of documents that a search reads per page. A longer search continues on the next page,
/// because every page must be ready in bounded time.
const SEARCHED_PER_PAGE: usize = 50_000;

impl Archive {
    /// Returns the document with this id.
    pub(crate) fn document(&self, id: &str) -> Result<StoredDocument, Problem> {
        let missing = || Problem::from(&ErrorKind::NoSuchDocument { id: id.to_owned() }.into());
        self.or_problem(self.index.get(id))?.ok_or_else(missing)
    }

    /// Returns the size of the text of a document: in bytes or, if the archive keeps no texts, in characters.
    // Callers choose the lane by the size and read the document again in the lane, so that a request that
    // waits for a lane holds no text.
    pub(crate) fn text_size(&self, id: &str) -> Result<usize, Problem> {
        let StoredDocument { entry, text, .. } = self.document(id)?;
        Ok(text.map_or(usize::try_from(entry.characters).unwrap_or(usize::MAX), |text| text.len()))
    }

    /// Lists documents, the newest first.
    pub(crate) fn list(
        &self,
        search: &str,
        after: Option<u32>,
        limit: usize,
    ) -> Result<DocumentPage, Problem> {
        let listing = Listing::new()
            .search(search)
            .after(after)
            .limit(limit)
            .newest_first(true)
            .looks(Some(SEARCHED_PER_PAGE));
        self.or_problem(self.index.list(&listing))
    }

    /// Adds a document, or replaces the document with its id. Returns the stored document, and whether it
    /// replaced another.
    pub(crate) fn put(&self, document: NewDocument) -> Result<(StoredDocument, bool), Problem> {
        let id = document.id.clone();
        super::add::check_id(&id).map_err(|why| Problem::new(ProblemKind::RejectedDocument, why))?;
        // `write` calls the closure before another thread can remove the document.
        self.write(&[document], 1, |replaced| Ok((self.document(&id)?, replaced.contains(&true))))
    }

    /// Removes a document and returns it.
    pub(crate) fn remove(&self, id: &str) -> Result<StoredDocument, Problem> {
        let _changes = self.lock_changes();
        let document = self.document(id)?;
        self.or_problem(self.index.remove(&[id]))?;
        self.unmerged.fetch_add(1, Ordering::Relaxed);
        Ok(document)
    }

    /// Reads the document of a form that has exactly one file.
    pub(crate) fn read_only_file(&self, files: &[UploadedFile]) -> Result<NewDocument, Problem> {
        let [file] = files else {
            return Err(Problem::new(ProblemKind::BadBody, "The form has to have one part `file`."));
        };
        files::document(file, &self.file_limits()).map_err(|refusal| {
            self.metrics.refused(refusal.code());
            if refusal == minwise_corpus::Refusal::Busy {
                return Problem::from(ProblemKind::Busy).retry_after(5);
            }
            Problem::new(ProblemKind::RejectedDocument, format!("{}: {refusal}", file.name))
        })
    }

    /// Returns the limits for reading one file of a client.
    pub(crate) fn file_limits(&self) -> minwise_corpus::ExtractLimits {
        files::file_limits(self.limits.body_bytes, self.limits.file_time)
    }
}
