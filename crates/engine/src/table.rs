//! What a run remembers of each document.

use std::borrow::Cow;
use std::collections::BTreeSet;

use minwise::keep::{Keep, Member};
use minwise_corpus::{Corpus, Layout, Place};
use xxhash_rust::xxh3::xxh3_64;

/// The documents of a run, numbered in input order. 37 bytes a document and the bytes of its id.
#[derive(Debug, Default)]
pub struct Documents {
    places: Vec<Place>,
    characters: Vec<u32>,
    has_shingles: Vec<bool>,
    /// The user's ids one after the other, and where each ends; a document without one has none of the bytes.
    ids: String,
    id_ends: Vec<u64>,
    /// Documents whose id another one has too, in order.
    repeated: Vec<u32>,
}

/// What is known of a document when it is added.
pub(crate) struct New<'a> {
    pub place: Place,
    pub id: Option<&'a str>,
    pub characters: u64,
    pub has_shingles: bool,
}

impl Documents {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Where a document stands in its source.
    ///
    /// # Panics
    /// If there is no such document, as in all methods that take one.
    #[must_use]
    pub fn place(&self, document: u32) -> &Place {
        &self.places[document as usize]
    }

    /// All places, in input order.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Whether the document has shingles; one without equals only texts that are the same.
    #[must_use]
    pub fn has_shingles(&self, document: u32) -> bool {
        self.has_shingles[document as usize]
    }

    /// The document's id: the user's own if it has one that no other document has, else `file:line`.
    #[must_use]
    pub fn id<'a>(&'a self, document: u32, corpus: &'a Corpus) -> Cow<'a, str> {
        match self.user_id(document) {
            Some(id) if self.repeated.binary_search(&document).is_err() => Cow::Borrowed(id),
            _ => self.place_name(document, corpus),
        }
    }

    /// `file:line` for a line of a file, the file's name for a whole file.
    #[must_use]
    pub fn place_name<'a>(&self, document: u32, corpus: &'a Corpus) -> Cow<'a, str> {
        let place = self.place(document);
        match (corpus.layout(), corpus.sources().get(place.source as usize)) {
            (_, None) => Cow::Borrowed("?"),
            (Layout::Texts, Some(source)) => Cow::Borrowed(source.id()),
            (Layout::Records, Some(source)) => Cow::Owned(format!("{}:{}", source.name(), place.line + 1)),
        }
    }

    /// The user's own id, whether others have it or not; empty if there is none.
    pub(crate) fn raw_id(&self, document: u32) -> &str {
        self.user_id(document).unwrap_or_default()
    }

    fn user_id(&self, document: u32) -> Option<&str> {
        let document = document as usize;
        let begin = document.checked_sub(1).map_or(0, |before| self.id_ends[before]) as usize;
        let id = &self.ids[begin..self.id_ends[document] as usize];
        (!id.is_empty()).then_some(id)
    }

    pub(crate) fn add(&mut self, new: &New<'_>) {
        self.places.push(new.place);
        self.characters.push(u32::try_from(new.characters).unwrap_or(u32::MAX));
        self.has_shingles.push(new.has_shingles);
        self.ids.push_str(new.id.unwrap_or_default());
        self.id_ends.push(self.ids.len() as u64);
    }

    /// Makes room for this many more documents.
    pub(crate) fn reserve(&mut self, documents: usize) {
        // Without room they grow as they need to.
        let _ = self.places.try_reserve(documents);
        let _ = self.characters.try_reserve(documents);
        let _ = self.has_shingles.try_reserve(documents);
        let _ = self.id_ends.try_reserve(documents);
    }

    /// Adds the documents of a part behind these; its lines are numbered from `first_line`.
    pub(crate) fn append(&mut self, part: &mut Self, first_line: u64) {
        for place in &mut part.places {
            place.line += first_line;
        }
        self.places.append(&mut part.places);
        self.characters.append(&mut part.characters);
        self.has_shingles.append(&mut part.has_shingles);
        let ids = self.ids.len() as u64;
        self.ids.push_str(&part.ids);
        self.id_ends.extend(part.id_ends.iter().map(|end| end + ids));
    }

    /// Finds ids that several documents have. Gives the first two documents of one of them.
    ///
    /// An id that is the `file:line` by which another document goes counts as repeated too.
    pub(crate) fn find_repeated_ids(&mut self, corpus: &Corpus) -> Option<[u32; 2]> {
        let mut hashes: Vec<(u64, u32)> = (0..self.len() as u32)
            .filter_map(|document| Some((xxh3_64(self.user_id(document)?.as_bytes()), document)))
            .collect();
        minwise::sort::sort_mixed(&mut hashes, &mut vec![]);
        let mut example: Option<[u32; 2]> = None;
        let mut repeated = vec![];
        for group in hashes.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            // Equal hashes are nearly always equal ids; those that are not must not be told apart by mistake.
            let mut same: Vec<(&str, u32)> =
                group.iter().filter_map(|&(_, document)| Some((self.user_id(document)?, document))).collect();
            same.sort_unstable();
            for ids in same.chunk_by(|a, b| a.0 == b.0).filter(|ids| ids.len() > 1) {
                repeated.extend(ids.iter().map(|&(_, document)| document));
                let pair = [ids[0].1, ids[1].1];
                example = Some(example.map_or(pair, |before| before.min(pair)));
            }
        }
        repeated.sort_unstable();
        self.repeated = repeated;
        loop {
            // A document that goes by its place because of this may in turn have the place that is another one's id.
            let clashes: Vec<[u32; 2]> =
                (0..self.len() as u32).filter_map(|document| self.clash(document, corpus)).collect();
            let Some(first) = clashes.first() else { break };
            example = example.or(Some(*first));
            self.repeated.extend(clashes.iter().map(|clash| clash[0]));
            self.repeated.sort_unstable();
        }
        example
    }

    /// The document that goes by the place that is this document's id.
    fn clash(&self, document: u32, corpus: &Corpus) -> Option<[u32; 2]> {
        let goes_by_id = |document: u32| {
            self.user_id(document).filter(|_| self.repeated.binary_search(&document).is_err())
        };
        let (file, line) = goes_by_id(document)?.rsplit_once(':')?;
        let line = line.parse::<u64>().ok()?.checked_sub(1)?;
        let source = corpus.sources().iter().position(|source| source.name() == file)? as u32;
        let at =
            self.places.binary_search_by_key(&(source, line), |place| (place.source, place.line)).ok()?;
        let other = at as u32;
        (goes_by_id(other).is_none() && corpus.layout() == Layout::Records).then_some([document, other])
    }

    pub(crate) fn repeated_ids(&self) -> u64 {
        self.repeated.len() as u64
    }

    /// The documents with these ids, as [`id`](Self::id) gives them or as the user wrote them; or the first of the ids
    /// that no document has.
    pub(crate) fn find<'i>(&self, ids: &'i [String], corpus: &Corpus) -> Result<BTreeSet<u32>, &'i str> {
        let mut missing: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let wanted = missing.clone();
        let mut found = BTreeSet::new();
        for document in 0..self.len() as u32 {
            let ids = [self.user_id(document).map(Cow::Borrowed), Some(self.id(document, corpus))];
            for id in ids.into_iter().flatten() {
                if wanted.contains(&*id) {
                    missing.remove(&*id);
                    found.insert(document);
                }
            }
        }
        match ids.iter().find(|id| missing.contains(id.as_str())) {
            Some(id) => Err(id),
            None => Ok(found),
        }
    }

    /// The documents in keeper order.
    pub(crate) fn order(&self, keep: Keep) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        if keep != Keep::First {
            let rank = |document: &u32| {
                keep.rank(Member { characters: u64::from(self.characters[*document as usize]) })
            };
            order.sort_by_key(rank);
        }
        order
    }
}
