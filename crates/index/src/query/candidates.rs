//! Candidates: the documents of an index that are compared with a query.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use minwise::Observer;
use minwise::weight::MostDocuments;

use super::{CheckOptions, PreparedQuery};
use crate::error::Result;
use crate::index::Index;
use crate::postings::{self, Posting, PostingRow};
use crate::prepare::posted;
use crate::progress::go_on;
use crate::store::{KeyspaceName, View};

/// A document that shares a band key or a fingerprint with the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatchCandidate {
    pub(crate) document: u32,
    /// Number of shared band keys.
    pub(crate) bands: u32,
    /// Number of shared distinct fingerprints.
    pub(crate) fingerprints: u32,
}

pub(crate) struct FoundCandidates {
    /// Candidates, best first. Removed documents are candidates until the index is compacted.
    pub(crate) candidates: Vec<MatchCandidate>,
    pub(crate) passed_over: usize,
}

pub(crate) fn find(
    index: &Index,
    view: &View<'_>,
    asked: &PreparedQuery,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Result<FoundCandidates> {
    let mut hits: HashMap<u32, MatchCandidate> = HashMap::new();
    let mut passed_over = 0;
    let mut postings = vec![];
    let mut note = |documents: &[Posting], count: fn(&mut MatchCandidate)| {
        let mut last = None;
        for posting in documents {
            // Postings of one change are sorted by document, and a document belongs to one change, so equal
            // documents are neighbours.
            if last != Some(posting.document) && Some(posting.document) != asked.itself {
                let new = MatchCandidate { document: posting.document, bands: 0, fingerprints: 0 };
                count(hits.entry(posting.document).or_insert(new));
            }
            last = Some(posting.document);
        }
    };
    for &key in &asked.prepared.bands {
        go_on(observer)?;
        look_up(index, view, KeyspaceName::Bands, key, &mut postings)?;
        note(&postings, |candidate| candidate.bands += 1);
    }
    let mut common = Common { view, documents: view.state()?.documents, there: HashMap::new() };
    let mut fingerprints: Vec<u64> = asked
        .prepared
        .fingerprints
        .iter()
        // A fingerprint of a shingle that is no evidence must not make a document a candidate.
        .filter(|fingerprint| asked.has(fingerprint))
        .map(posted)
        .collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    for hash in fingerprints {
        go_on(observer)?;
        look_up(index, view, KeyspaceName::Fingerprints, hash, &mut postings)?;
        let exceed = options.max_df.map(|most| common.exceed(most, &postings)).transpose()?;
        if exceed == Some(true) {
            passed_over += 1;
        } else {
            note(&postings, |candidate| candidate.fingerprints += 1);
        }
    }
    let mut candidates: Vec<MatchCandidate> = hits.into_values().collect();
    candidates.sort_unstable_by_key(|candidate| {
        (Reverse(candidate.bands + candidate.fingerprints), candidate.document)
    });
    Ok(FoundCandidates { candidates, passed_over })
}

/// Counts the existing documents among postings.
struct Common<'v, 'i> {
    view: &'v View<'i>,
    documents: u64,
    /// Cache of the documents that were looked up, with whether each exists.
    there: HashMap<u32, bool>,
}

impl Common<'_, '_> {
    /// Reports whether postings belong to more documents than the limit allows. Removed and replaced
    /// documents do not count, although they have postings until the index is compacted. Documents are looked
    /// up only if the limit is exceeded when removed documents are counted.
    fn exceed(&mut self, most: MostDocuments, postings: &[Posting]) -> Result<bool> {
        let distinct = postings.chunk_by(|a, b| a.document == b.document);
        if most.allows(distinct.clone().count() as u64, self.documents) {
            return Ok(false);
        }
        let mut count = 0;
        for posting in distinct.filter_map(<[Posting]>::first) {
            let is_there = match self.there.entry(posting.document) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => {
                    let record = self.view.get(KeyspaceName::Records, &posting.document.to_be_bytes())?;
                    *unknown.insert(record.is_some())
                }
            };
            count += u64::from(is_there);
            if !most.allows(count, self.documents) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn look_up(
    index: &Index,
    view: &View<'_>,
    space: KeyspaceName,
    hash: u64,
    out: &mut Vec<Posting>,
) -> Result<()> {
    out.clear();
    view.each(space, &postings::prefix(hash), |_, payload| {
        let row = PostingRow::decode(payload)
            .ok_or_else(|| index.damaged(format!("a row of `{}` cannot be read", space.name())))?;
        out.extend(row.find(hash));
        Ok(true)
    })
}
