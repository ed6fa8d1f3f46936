//! Adds documents in batches, and lists the added, the replaced and the rejected documents.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use minwise_corpus::{ExtractLimits, RejectLine};
use minwise_index::{Index, NewDocument};
use serde::Serialize;
use utoipa::ToSchema;

use super::Archive;
use crate::files::{self, AboutNamed, UploadedFile};
use crate::problem::Problem;

/// Maximum number of documents per batch. A batch is one change of the index, so a later failure does not
/// undo earlier batches.
const BATCH_DOCUMENTS: usize = 500;
/// Number of bytes of text from which a batch is full.
pub(crate) const BATCH_BYTES: usize = 8 << 20;

/// Maximum length of each list of an answer.
const LISTED: usize = 10_000;

/// Code of a reject with an id that is not allowed.
const BAD_ID: &str = "bad_id";
/// Code of a reject with the same id as a later document of the request.
const REPEATED_ID: &str = "repeated_ids";

/// A document or a file to add.
#[derive(Debug)]
pub(crate) enum Item {
    Document(NewDocument),
    File(UploadedFile, AboutNamed),
}

impl Item {
    pub(crate) fn size_bytes(&self) -> usize {
        let content = match self {
            Self::Document(document) => document.id.len() + document.text.len(),
            Self::File(file, _) => file.bytes.len(),
        };
        size_of::<Self>() + content
    }
}

/// Result of adding documents. Each list has up to 10,000 entries; `counts` has the number of all documents per
/// result.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = Added)]
pub(crate) struct AddedAnswer {
    /// Ids of documents that are new in the archive.
    added: Vec<String>,
    /// Ids of documents that replaced an archived document.
    replaced: Vec<String>,
    /// Documents that were not added.
    rejected: Vec<RejectLine>,
    /// Number of documents per result, including the documents that the lists leave out.
    pub(crate) counts: AddedCounts,
}

/// Numbers of documents that were to be added.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = AddedCounts)]
pub(crate) struct AddedCounts {
    /// Number of documents that are new in the archive.
    added: usize,
    /// Number of documents that replaced an archived document.
    replaced: usize,
    /// Number of documents that were not added.
    rejected: usize,
}

impl AddedCounts {
    pub(crate) fn all(&self) -> usize {
        self.added + self.replaced + self.rejected
    }
}

/// Counts an entry, and appends it to the list if the list is not full.
fn push_counted<T>(list: &mut Vec<T>, count: &mut usize, entry: T) {
    *count += 1;
    if list.len() < LISTED {
        list.push(entry);
    }
}

impl AddedAnswer {
    fn reject(&mut self, rejected: RejectLine) {
        push_counted(&mut self.rejected, &mut self.counts.rejected, rejected);
    }
}

/// Checks that a document can have this id. If a document cannot have the id, returns the reason.
// Browsers resolve the segments `.` and `..` of an address even if they are percent-encoded, so the page
// could not ask for a document with such an id.
pub(super) fn check_id(id: &str) -> Result<(), String> {
    if id == "." || id == ".." {
        return Err(format!("no document can have the id `{id}`: it could not stand in an address"));
    }
    Index::check_id(id).map_err(|error| error.to_string())
}

impl Archive {
    /// Adds documents batch by batch. Before each item, `add` calls `step` with the number of earlier items,
    /// and stops if `step` returns an error. Even after an error, `answer` lists all documents of the batches
    /// that were added.
    pub(crate) fn add(
        &self,
        items: Vec<Item>,
        threads: usize,
        answer: &mut AddedAnswer,
        mut step: impl FnMut(usize) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let limits = self.file_limits();
        let (mut batch, mut bytes) = (vec![], 0);
        for (done, item) in items.into_iter().enumerate() {
            step(done)?;
            match self.document_of(item, &limits) {
                Err(rejected) => answer.reject(rejected),
                Ok(document) => {
                    bytes += document.text.len();
                    batch.push(document);
                }
            }
            // Bytes of texts count and not bytes of files, because a small file may decompress to a long
            // text.
            if batch.len() >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
                self.add_batch(std::mem::take(&mut batch), threads, answer)?;
                bytes = 0;
            }
        }
        self.add_batch(batch, threads, answer)
    }

    /// Returns the document of an item. If the item is a file, extracts the text of the file.
    fn document_of(&self, item: Item, limits: &ExtractLimits) -> Result<NewDocument, RejectLine> {
        let (document, file) = match item {
            Item::Document(document) => (document, None),
            Item::File(file, about) => match files::document(&file, limits) {
                Ok(document) => (about.apply_to(document), Some(file.name)),
                Err(refusal) => {
                    self.metrics.refused(refusal.code());
                    let (place, id) = (Some((file.name, 1)), about.into_id());
                    return Err(RejectLine::new(place, id, refusal.code(), refusal.to_string()));
                }
            },
        };
        match check_id(&document.id) {
            Ok(()) => Ok(document),
            Err(message) => {
                Err(RejectLine::new(file.map(|file| (file, 1)), Some(document.id), BAD_ID, message))
            }
        }
    }

    /// Adds all documents of a batch, or no document if an error occurs.
    fn add_batch(
        &self,
        mut documents: Vec<NewDocument>,
        threads: usize,
        answer: &mut AddedAnswer,
    ) -> Result<(), Problem> {
        let last: HashMap<String, usize> =
            documents.iter().enumerate().map(|(at, document)| (document.id.clone(), at)).collect();
        let mut at = 0..;
        documents.retain(|document| {
            let is_last = at.next() == last.get(&document.id).copied();
            if !is_last {
                let message = "a later document of this request has the same id".to_owned();
                answer.reject(RejectLine::new(None, Some(document.id.clone()), REPEATED_ID, message));
            }
            is_last
        });
        if documents.is_empty() {
            return Ok(());
        }
        let replaced = self.write(&documents, threads, Ok)?;
        for (document, is_replaced) in documents.into_iter().zip(replaced) {
            if is_replaced {
                push_counted(&mut answer.replaced, &mut answer.counts.replaced, document.id);
            } else {
                push_counted(&mut answer.added, &mut answer.counts.added, document.id);
            }
        }
        Ok(())
    }

    /// Writes documents with distinct ids, and calls `then` before any other thread can change the archive.
    /// `then` gets, per document, whether the document replaced another.
    pub(super) fn write<T>(
        &self,
        documents: &[NewDocument],
        threads: usize,
        then: impl FnOnce(Vec<bool>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        // Sketches take most of the time and depend on no other document, so they are made before the lock is taken.
        let batch = self.or_problem(self.index.prepare(documents, unix_time(), threads))?;
        let _changes = self.lock_changes();
        let replaced = documents.iter().map(|document| self.index.has(&document.id)).collect();
        let replaced = self.or_problem(replaced)?;
        self.or_problem(self.index.commit(batch, threads))?;
        self.unmerged.fetch_add(1, Ordering::Relaxed);
        self.metrics.added.inc_by(documents.len() as u64);
        then(replaced)
    }
}

/// Returns the number of seconds since 1970.
fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::empty_archive;
    use crate::problem::ProblemKind;

    #[test]
    fn the_answer_lists_batches_before_an_error() {
        let (_folder, archive) = empty_archive();
        let documents =
            (0..2 * BATCH_DOCUMENTS).map(|at| Item::Document(NewDocument::new(at.to_string(), "a")));
        let mut answer = AddedAnswer::default();
        let failed = archive.add(documents.collect(), 1, &mut answer, |done| {
            if done > BATCH_DOCUMENTS { Err(ProblemKind::Stopping.into()) } else { Ok(()) }
        });
        assert_eq!(failed.unwrap_err().code, "stopping");
        assert_eq!((answer.counts.all(), answer.added.len()), (BATCH_DOCUMENTS, BATCH_DOCUMENTS));
        assert_eq!(archive.index.statistics().unwrap().documents, BATCH_DOCUMENTS as u64);
    }

    #[test]
    fn lists_are_bounded_and_counts_are_not() {
        let (mut list, mut count) = (vec![], 0);
        (0..2 * LISTED).for_each(|entry| push_counted(&mut list, &mut count, entry));
        assert_eq!((list.len(), count), (LISTED, 2 * LISTED));
    }
}
