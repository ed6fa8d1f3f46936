//! Adding documents: what each of them becomes, and what has to be said of it.

use std::collections::HashMap;

use minwise_corpus::{ExtractLimits as FileLimits, RejectLine};
use minwise_index::{Index, NewDocument};
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;
use crate::state::{ServerState, now};
use crate::uploads::{self, AboutNamed, UploadedFile};

/// Documents, and bytes of their texts, that are added at a time. What was added stays, whatever becomes of the rest.
const BATCH_DOCUMENTS: usize = 500;
pub(crate) const BATCH_BYTES: usize = 8 << 20;

/// Ids, and documents that were rejected, that are told.
const MOST_TOLD: usize = 10_000;

/// Codes of rejects that are no files: those of ids.
const BAD_ID: &str = "bad_id";
const REPEATED_ID: &str = "repeated_ids";

/// Something to be added.
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

/// Result of adding documents. Each list has up to 10 000 entries; `counts` has the numbers of all.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = Added)]
pub(crate) struct AddedSent {
    /// Ids of documents that are new in the archive.
    added: Vec<String>,
    /// Ids of documents that replaced an archived document.
    replaced: Vec<String>,
    /// Documents that were not added.
    rejected: Vec<RejectLine>,
    /// Numbers of documents, also beyond the lists.
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

/// Counts something, and tells it if not too many were told before.
fn tell<T>(list: &mut Vec<T>, count: &mut usize, one: T) {
    *count += 1;
    if list.len() < MOST_TOLD {
        list.push(one);
    }
}

impl AddedSent {
    fn reject(&mut self, rejected: RejectLine) {
        tell(&mut self.rejected, &mut self.counts.rejected, rejected);
    }
}

/// Why no document can have an id. Browsers resolve the segments `.` and `..` of an address, in whatever way they are encoded, so
/// that such a document could not be asked for.
pub(crate) fn check_id(id: &str) -> Result<(), String> {
    if id == "." || id == ".." {
        return Err(format!("no document can have the id `{id}`: it could not stand in an address"));
    }
    Index::check_id(id).map_err(|error| error.to_string())
}

impl ServerState {
    /// Adds documents, batch by batch. `step` is told how many were looked at, and says whether to go on; `told` has what
    /// became of them up to the end, or up to the batch that failed.
    pub(crate) fn add(
        &self,
        items: Vec<Item>,
        limits: &FileLimits,
        threads: usize,
        told: &mut AddedSent,
        mut step: impl FnMut(usize) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let (mut batch, mut bytes) = (vec![], 0);
        for (done, item) in items.into_iter().enumerate() {
            step(done)?;
            match self.made(item, limits) {
                Err(rejected) => told.reject(rejected),
                Ok(document) => {
                    bytes += document.text.len();
                    batch.push(document);
                }
            }
            // A small file may hold a long text, so it is texts that are counted.
            if batch.len() >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
                self.add_batch(std::mem::take(&mut batch), threads, told)?;
                bytes = 0;
            }
        }
        self.add_batch(batch, threads, told)
    }

    /// The document that something is.
    fn made(&self, item: Item, limits: &FileLimits) -> Result<NewDocument, RejectLine> {
        let (document, file) = match item {
            Item::Document(document) => (document, None),
            Item::File(file, about) => match uploads::document(&file, limits) {
                Ok(document) => (about.on(document), Some(file.name)),
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

    /// Adds documents, all of them or none.
    fn add_batch(
        &self,
        mut documents: Vec<NewDocument>,
        threads: usize,
        told: &mut AddedSent,
    ) -> Result<(), Problem> {
        let last: HashMap<String, usize> =
            documents.iter().enumerate().map(|(at, document)| (document.id.clone(), at)).collect();
        let mut at = 0..;
        documents.retain(|document| {
            let is_last = at.next() == last.get(&document.id).copied();
            if !is_last {
                let message = "a later document of this request has the same id".to_owned();
                told.reject(RejectLine::new(None, Some(document.id.clone()), REPEATED_ID, message));
            }
            is_last
        });
        if documents.is_empty() {
            return Ok(());
        }
        let there = self.write(&documents, threads, Ok)?;
        for (document, there) in documents.into_iter().zip(there) {
            if there {
                tell(&mut told.replaced, &mut told.counts.replaced, document.id);
            } else {
                tell(&mut told.added, &mut told.counts.added, document.id);
            }
        }
        Ok(())
    }

    /// Writes documents with different ids. `then` learns which of them were there before, and sees the archive before anybody
    /// else can change it.
    pub(crate) fn write<T>(
        &self,
        documents: &[NewDocument],
        threads: usize,
        then: impl FnOnce(Vec<bool>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let batch = self.told(self.index.prepare(documents, now(), threads))?;
        let _changing = self.changing();
        let there = documents.iter().map(|document| self.index.has(&document.id)).collect();
        let there = self.told(there)?;
        self.told(self.index.commit(batch))?;
        self.upkeep.changed();
        self.metrics.added.inc_by(documents.len() as u64);
        then(there)
    }
}

#[cfg(test)]
mod tests {
    use minwise_index::IndexSettings;

    use super::*;
    use crate::auth::Access;
    use crate::limits::ServerLimits;
    use crate::problem::ProblemKind;

    #[test]
    fn what_was_added_before_it_failed_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
        let state = ServerState::new(index, Access::Local, ServerLimits::default(), Box::new(|_| {}));
        let documents =
            (0..2 * BATCH_DOCUMENTS).map(|at| Item::Document(NewDocument::new(at.to_string(), "a")));
        let mut told = AddedSent::default();
        let failed = state.add(documents.collect(), &FileLimits::default(), 1, &mut told, |done| {
            if done > BATCH_DOCUMENTS { Err(ProblemKind::Stopping.into()) } else { Ok(()) }
        });
        assert_eq!(failed.unwrap_err().code, "stopping");
        assert_eq!((told.counts.all(), told.added.len()), (BATCH_DOCUMENTS, BATCH_DOCUMENTS));
        assert_eq!(state.index.statistics().unwrap().documents, BATCH_DOCUMENTS as u64);
    }

    #[test]
    fn what_is_told_is_bounded_and_what_is_counted_is_not() {
        let (mut list, mut count) = (vec![], 0);
        (0..2 * MOST_TOLD).for_each(|one| tell(&mut list, &mut count, one));
        assert_eq!((list.len(), count), (MOST_TOLD, 2 * MOST_TOLD));
    }
}
