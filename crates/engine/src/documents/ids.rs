//! Ids that several documents have, and documents by their id.

use std::borrow::Cow;
use std::collections::BTreeSet;

use minwise::sort::sort_mixed;
use minwise_corpus::{Corpus, Layout, Source};
use xxhash_rust::xxh3::xxh3_64;

use super::Documents;
use crate::error::Error;
use crate::memory::Room;

/// Bytes that one id takes while ids are sorted by their hashes.
const SORTED_BYTES: u64 = 32;

impl Documents {
    /// Finds ids that several documents have. Gives the first two documents of one of them.
    ///
    /// An id that is the `file:line` by which another document goes counts as repeated too.
    pub(crate) fn find_repeated_ids(
        &mut self,
        corpus: &Corpus,
        room: Room,
    ) -> Result<Option<[u32; 2]>, Error> {
        let mut example: Option<[u32; 2]> = None;
        let mut repeated = vec![];
        let mut hashes: Vec<(u64, u32)> = vec![];
        let mut scratch = vec![];
        let mut looks_like_places = vec![];
        let parts = room.parts(self.len() as u64 * SORTED_BYTES);
        for part in parts.all() {
            hashes.clear();
            self.for_each_raw_id(|document, id| {
                if id.is_empty() {
                    return;
                }
                let hash = xxh3_64(id.as_bytes());
                if parts.has(part, hash) {
                    hashes.push((hash, document));
                    if place_of(id, corpus).is_some() {
                        looks_like_places.push(document);
                    }
                }
            })?;
            sort_mixed(&mut hashes, &mut scratch);
            for group in hashes.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
                // Equal hashes are nearly always equal ids; those that are not must not be told apart by mistake.
                let mut same = vec![];
                for &(_, document) in group {
                    same.push((self.raw_id(document)?, document));
                }
                same.sort_unstable();
                for ids in same.chunk_by(|a, b| a.0 == b.0).filter(|ids| ids.len() > 1) {
                    repeated.extend(ids.iter().map(|(_, document)| *document));
                    let pair = [ids[0].1, ids[1].1];
                    example = Some(example.map_or(pair, |before| before.min(pair)));
                }
            }
        }
        repeated.sort_unstable();
        self.repeated = repeated;
        looks_like_places.sort_unstable();
        loop {
            // A document that goes by its place because of this may in turn have the place that is another one's id.
            let mut clashes = vec![];
            for &document in &looks_like_places {
                clashes.extend(self.clash(document, corpus)?);
            }
            let Some(first) = clashes.first() else { break };
            example = example.or(Some(*first));
            self.repeated.extend(clashes.iter().map(|clash| clash[0]));
            self.repeated.sort_unstable();
        }
        Ok(example)
    }

    /// The document that goes by the place that is this document's id.
    fn clash(&self, document: u32, corpus: &Corpus) -> Result<Option<[u32; 2]>, Error> {
        if self.repeated.binary_search(&document).is_ok() {
            return Ok(None);
        }
        let Some(place) = place_of(&self.raw_id(document)?, corpus) else { return Ok(None) };
        let Some(other) = self.at_place(place)? else { return Ok(None) };
        let goes_by_place = self.repeated.binary_search(&other).is_ok() || self.raw_id(other)?.is_empty();
        Ok(goes_by_place.then_some([document, other]))
    }

    /// The document at a line of a source.
    fn at_place(&self, wanted: (u32, u64)) -> Result<Option<u32>, Error> {
        let at = self.partition_point(|place| (place.source, place.line) < wanted)?;
        if at as usize == self.len() {
            return Ok(None);
        }
        let place = self.place(at)?;
        Ok(((place.source, place.line) == wanted).then_some(at))
    }

    pub(crate) fn repeated_ids(&self) -> u64 {
        self.repeated.len() as u64
    }

    /// The documents with these ids, as [`id`](Self::id) gives them or as the user wrote them; or the first of the ids
    /// that no document has.
    pub(crate) fn find<'i>(
        &self,
        ids: &'i [String],
        corpus: &Corpus,
    ) -> Result<Result<BTreeSet<u32>, &'i str>, Error> {
        let mut missing: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let wanted = missing.clone();
        let mut found = BTreeSet::new();
        for document in 0..self.len() as u32 {
            let raw = Some(self.raw_id(document)?).filter(|id| !id.is_empty());
            let ids: [Option<Cow<'_, str>>; 2] = [raw, Some(self.id(document, corpus)?)];
            for id in ids.into_iter().flatten() {
                if wanted.contains(&*id) {
                    missing.remove(&*id);
                    found.insert(document);
                }
            }
        }
        Ok(match ids.iter().find(|id| missing.contains(id.as_str())) {
            Some(id) => Err(id),
            None => Ok(found),
        })
    }
}

/// The source and the line that an id names, if it names one.
fn place_of(id: &str, corpus: &Corpus) -> Option<(u32, u64)> {
    let (file, line) = id.rsplit_once(':')?;
    let line = line.parse::<u64>().ok()?.checked_sub(1)?;
    let named = |source: &Source| source.name() == file && source.layout() == Layout::Records;
    let source = corpus.sources().iter().position(named)? as u32;
    Some((source, line))
}
