//! Adding documents: what each of them becomes, and what has to be said of it.

use std::collections::HashMap;

use minwise_corpus::Limits as FileLimits;
use minwise_index::{Index, NewDocument};
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;
use crate::state::{State, now};
use crate::uploads::{self, File};

/// Documents and bytes that a job adds at a time. What was added stays, whatever becomes of the rest.
const BATCH_DOCUMENTS: usize = 500;
const BATCH_BYTES: usize = 8 << 20;

/// Something to be added.
#[derive(Debug)]
pub(crate) enum Item {
    Document(NewDocument),
    File(File),
}

impl Item {
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Self::Document(document) => document.text.len(),
            Self::File(file) => file.bytes.len(),
        }
    }
}

/// What became of documents that were to be added.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct AddedSent {
    /// Ids that the archive did not have.
    pub(crate) added: Vec<String>,
    /// Ids whose documents were replaced.
    pub(crate) replaced: Vec<String>,
    pub(crate) rejected: Vec<Rejected>,
}

/// A document that was not added, and why.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rejected {
    /// Its id, or the name of its file.
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// Why no document can have an id. Browsers resolve the segments `.` and `..` of an address, in whatever way they are encoded, so
/// that such a document could not be asked for.
pub(crate) fn check_id(id: &str) -> Result<(), String> {
    if id == "." || id == ".." {
        return Err(format!("no document can have the id `{id}`: it could not stand in an address"));
    }
    Index::check_id(id).map_err(|error| error.to_string())
}

impl State {
    /// Adds documents, all of those that are accepted or none.
    pub(crate) fn add(
        &self,
        items: Vec<Item>,
        limits: &FileLimits,
        threads: usize,
    ) -> Result<AddedSent, Problem> {
        let mut told = AddedSent::default();
        let mut documents = vec![];
        for item in items {
            let made = match item {
                Item::Document(document) => Ok(document),
                Item::File(file) => uploads::document(&file, limits).map_err(|refusal| {
                    self.metrics.refused(refusal.code());
                    (file.name, refusal.to_string())
                }),
            };
            let checked = made.and_then(|document| match check_id(&document.id) {
                Ok(()) => Ok(document),
                Err(reason) => Err((document.id, reason)),
            });
            match checked {
                Ok(document) => documents.push(document),
                Err((name, reason)) => told.rejected.push(Rejected { name, reason }),
            }
        }
        let last: HashMap<String, usize> =
            documents.iter().enumerate().map(|(at, document)| (document.id.clone(), at)).collect();
        let mut at = 0..;
        documents.retain(|document| {
            let is_last = at.next() == last.get(&document.id).copied();
            if !is_last {
                let reason = "a later document of this request has the same id".to_owned();
                told.rejected.push(Rejected { name: document.id.clone(), reason });
            }
            is_last
        });
        let batch = self.told(self.index.prepare(&documents, now(), threads))?;
        let _changing = self.changing();
        for document in documents {
            let there = self.told(self.index.has(&document.id))?;
            if there { told.replaced.push(document.id) } else { told.added.push(document.id) }
        }
        self.told(self.index.commit(batch))?;
        self.upkeep.changed();
        self.metrics.added.inc_by((told.added.len() + told.replaced.len()) as u64);
        Ok(told)
    }

    /// Adds many documents, batch by batch. `step` is told how many are done, and says whether to go on.
    pub(crate) fn add_many(
        &self,
        items: Vec<Item>,
        limits: &FileLimits,
        threads: usize,
        mut step: impl FnMut(usize) -> Result<(), Problem>,
    ) -> Result<AddedSent, Problem> {
        let mut told = AddedSent::default();
        let mut items = items.into_iter().peekable();
        let mut done = 0;
        while items.peek().is_some() {
            step(done)?;
            let (mut batch, mut bytes) = (vec![], 0);
            while let Some(item) = items.next_if(|_| batch.len() < BATCH_DOCUMENTS && bytes < BATCH_BYTES) {
                bytes += item.size_bytes();
                batch.push(item);
            }
            done += batch.len();
            let AddedSent { added, replaced, rejected } = self.add(batch, limits, threads)?;
            told.added.extend(added);
            told.replaced.extend(replaced);
            told.rejected.extend(rejected);
        }
        Ok(told)
    }
}
