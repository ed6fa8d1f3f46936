//! Ids that several documents share, and documents found by their ids.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use minwise::keep::{KeepPolicy, Ties};
use minwise_corpus::{Corpus, Layout, Source};

use super::Documents;
use crate::error::Error;
use crate::gather::{GatheredKeys, gather_in_buckets, gather_in_parts};
use crate::memory::{KeyPart, WorkingMemory};
use crate::parallel;

/// Separator between a repeated id and its number.
const NUMBER_SIGN: char = '#';

impl Documents {
    /// Finds the ids that several documents share, and returns those that deserve a warning.
    ///
    /// An id also counts as repeated if it is the `file:line` that names another document. A document of the inputs
    /// that has the id of a reference causes no warning, because references are often an earlier state of the inputs.
    /// The first `references` documents are references.
    pub(crate) fn find_repeated_ids(
        &mut self,
        corpus: &Corpus,
        room: WorkingMemory,
        threads: usize,
        references: u32,
    ) -> Result<Option<RepeatedIds>, Error> {
        let places = PlaceNames::new(corpus);
        let this = &*self;
        let stretches = this.stretches_for(threads);
        let mut looks_like_places = vec![];
        let look = |(): &mut (), stretch: usize| -> Result<Vec<u32>, Error> {
            let mut found = vec![];
            this.ids(&stretches[stretch], |document, id| found.extend(places.find(id).map(|_| document)))?;
            Ok(found)
        };
        parallel::in_order(
            stretches.len(),
            threads,
            || (),
            look,
            |mut found| {
                looks_like_places.append(&mut found);
                Ok::<(), Error>(())
            },
        )?;
        let mut found = FoundIds::default();
        let find = |groups: &mut Vec<Vec<u32>>, _: usize, documents: &[u32]| groups.push(documents.to_vec());
        let receive = |groups: Vec<Vec<u32>>| {
            groups.iter().try_for_each(|documents| this.add_repeated(documents, references, &mut found))
        };
        let bytes = this.len() as u64 * GatheredKeys::<u64>::ENTRY_BYTES;
        if room.parts(bytes).len() == 1 {
            let collect = |stretch: usize, keys: &mut [Vec<(u64, u32)>]| {
                let visit = |document, hash| keys[0].push((hash, document));
                this.id_hashes(&stretches[stretch], KeyPart::ALL, visit)
            };
            gather_in_buckets(1, this.len(), stretches.len(), threads, collect, find, receive)?;
        } else {
            let collect = |_: usize, part: KeyPart, keys: &mut GatheredKeys<u64>| {
                let mut visit = |document, hash| keys.push(hash, document);
                stretches.iter().try_for_each(|stretch| this.id_hashes(stretch, part, &mut visit))
            };
            let parts = room.parts(threads as u64 * bytes);
            gather_in_parts(1, this.len(), parts, threads, collect, find, receive)?;
        }
        let FoundIds { mut repeated, warned } = found;
        repeated.sort_unstable();
        self.repeated = repeated;
        let repeated_only = self.repeated.len();
        let clash = self.add_clashes(&looks_like_places, &places)?;
        let clashes = (self.repeated.len() - repeated_only) as u64;
        let clash = clash.map(|example| RepeatedIds { documents: clashes, example });
        Ok(match (warned, clash) {
            (Some(RepeatedIds { documents, example }), _) => {
                Some(RepeatedIds { documents: documents + clashes, example })
            }
            (None, clash) => clash,
        })
    }

    /// Adds to `found` the documents of a group that share an id. The ids of a group have the same hash.
    fn add_repeated(&self, group: &[u32], references: u32, found: &mut FoundIds) -> Result<(), Error> {
        // The ids themselves are compared, because different ids can have the same hash. The documents of a group
        // ascend, and each id is stored once, however many documents share it.
        let mut all: BTreeMap<Cow<'_, str>, FirstOfId> = BTreeMap::new();
        let mut sides: [BTreeMap<Cow<'_, str>, FirstOfId>; 2] = Default::default();
        for &document in group {
            let id = self.raw_id(document)?;
            if let Some(side) = sides.get_mut(usize::from(document >= references)) {
                let (_, repeated) = FirstOfId::count(side.entry(id.clone()), document);
                found.warned = RepeatedIds::joined(found.warned, repeated);
            }
            let (first, repeated) = FirstOfId::count(all.entry(id), document);
            if let Some(repeated) = repeated {
                found.repeated.extend((repeated.documents == 2).then_some(first));
                found.repeated.push(document);
            }
        }
        Ok(())
    }

    /// Adds to the repeated ids those that equal the place by which another document is named. Returns the first
    /// document with such an id, and the document at this place.
    ///
    /// A document with a repeated id is named by its place, which may in turn be the id of another document, and so on.
    /// The search follows these chains. If the id of document B equals the place of document A, the search visits B
    /// once, after A.
    fn add_clashes(
        &mut self,
        looks_like_places: &[u32],
        places: &PlaceNames<'_>,
    ) -> Result<Option<[u32; 2]>, Error> {
        // Each pair has the document that an id names, and the document that has the id.
        let mut named: Vec<(u32, u32)> = vec![];
        let mut clashes: Vec<(u32, u32)> = vec![];
        for &document in looks_like_places {
            if self.repeated.binary_search(&document).is_ok() {
                continue;
            }
            let Some(place) = places.find(&self.raw_id(document)?) else { continue };
            let Some(other) = self.at_place(place)? else { continue };
            let goes_by_place = self.repeated.binary_search(&other).is_ok() || self.raw_id(other)?.is_empty();
            if goes_by_place { &mut clashes } else { &mut named }.push((other, document));
        }
        let first = clashes.first().map(|&(other, document)| [document, other]);
        named.sort_unstable();
        let mut next = 0;
        while let Some(&(_, document)) = clashes.get(next) {
            let begin = named.partition_point(|&(other, _)| other < document);
            clashes.extend(named[begin..].iter().take_while(|&&(other, _)| other == document));
            next += 1;
        }
        self.repeated.extend(clashes.iter().map(|&(_, document)| document));
        self.repeated.sort_unstable();
        Ok(first)
    }

    /// Returns the document at a line of a source.
    fn at_place(&self, wanted: (u32, u64)) -> Result<Option<u32>, Error> {
        let at = self.partition_point(|place| (place.source, place.line) < wanted)?;
        if at as usize == self.len() {
            return Ok(None);
        }
        let place = self.place(at)?;
        Ok(((place.source, place.line) == wanted).then_some(at))
    }

    /// Numbers the ids that several documents given in memory share. The first in keeper order keeps its id, and the
    /// others become `id#2`, `id#3` and so on, without ids that documents already have. The first `references`
    /// documents come before all others in keeper order. Returns whether all documents with repeated ids now have
    /// numbers.
    pub(crate) fn number_repeated_ids(
        &mut self,
        corpus: &Corpus,
        keep: &KeepPolicy,
        references: u32,
    ) -> Result<bool, Error> {
        let is_data = |source: u32| corpus.sources().get(source as usize).is_some_and(Source::is_data);
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for &document in &self.repeated {
            if is_data(self.place(document)?.source) {
                groups.entry(self.raw_id(document)?.into_owned()).or_default().push(document);
            }
        }
        if groups.is_empty() {
            return Ok(self.repeated.is_empty());
        }
        let mut taken: HashSet<String> = HashSet::new();
        self.for_each_raw_id(|_, id| {
            if id.contains(NUMBER_SIGN) {
                taken.insert(id.to_owned());
            }
        })?;
        let (words, ranks) = (keep.words(), self.ranks()?);
        let rank = |document: u32| ranks.get(document as usize * words..).and_then(|rest| rest.get(..words));
        let places = PlaceNames::new(corpus);
        let mut numbered = BTreeMap::new();
        for (id, mut documents) in groups {
            let first = documents.partition_point(|&document| document < references);
            let (_, ranked) = documents.split_at_mut(first);
            if keep.ties() == Ties::Last {
                ranked.reverse();
            }
            ranked.sort_by(|&a, &b| rank(a).cmp(&rank(b)));
            // The first document must not keep the id if the id names a place, because a document without an id may be
            // named by that place.
            let keeps_id = documents.len() > 1 && places.find(&id).is_none();
            let mut number = 1;
            for document in documents {
                let name = if keeps_id && number == 1 {
                    number += 1;
                    id.clone()
                } else {
                    loop {
                        number = number.max(2);
                        let name = format!("{id}{NUMBER_SIGN}{number}");
                        number += 1;
                        if taken.insert(name.clone()) {
                            break name;
                        }
                    }
                };
                numbered.insert(document, name);
            }
        }
        self.numbered = numbered;
        Ok(self.numbered.len() == self.repeated.len())
    }

    pub(crate) fn repeated_ids(&self) -> u64 {
        self.repeated.len() as u64
    }

    /// Returns the documents with these ids, which may be given as [`id`](Self::id) returns them or as the user wrote
    /// them. If an id has no document, returns the first such id.
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

/// Documents that share their ids with others.
#[derive(Default)]
struct FoundIds {
    repeated: Vec<u32>,
    /// Documents that share their id within the inputs or within the references.
    warned: Option<RepeatedIds>,
}

/// Number of documents that share ids, with an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RepeatedIds {
    /// Number of documents that share their id with another.
    pub(crate) documents: u64,
    /// The first two documents of one id.
    pub(crate) example: [u32; 2],
}

impl RepeatedIds {
    /// Adds two counts, and keeps the earlier example.
    fn joined(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Self {
                documents: one.documents + other.documents,
                example: one.example.min(other.example),
            }),
            (one, other) => one.or(other),
        }
    }
}

/// First document that has an id.
struct FirstOfId {
    document: u32,
    /// Whether the first document is counted among those that share the id.
    is_counted: bool,
}

impl FirstOfId {
    /// Counts a document of an id. Returns the first document of the id, and the documents that this call newly counts
    /// as sharing it.
    fn count(entry: Entry<'_, Cow<'_, str>, Self>, document: u32) -> (u32, Option<RepeatedIds>) {
        match entry {
            Entry::Vacant(entry) => {
                entry.insert(Self { document, is_counted: false });
                (document, None)
            }
            Entry::Occupied(mut entry) => {
                let first = entry.get_mut();
                let documents = if std::mem::replace(&mut first.is_counted, true) { 1 } else { 2 };
                (first.document, Some(RepeatedIds { documents, example: [first.document, document] }))
            }
        }
    }
}

/// Names of sources whose documents are named by their places.
struct PlaceNames<'a>(HashMap<&'a str, u32>);

impl<'a> PlaceNames<'a> {
    fn new(corpus: &'a Corpus) -> Self {
        let mut names = HashMap::new();
        for (number, source) in (0..).zip(corpus.sources()) {
            if source.layout() == Layout::Records {
                // If several sources have the same name, the first one counts.
                names.entry(source.name()).or_insert(number);
            }
        }
        Self(names)
    }

    /// Returns the source and the line number that an id names, if it names a place.
    fn find(&self, id: &str) -> Option<(u32, u64)> {
        let (file, line) = id.rsplit_once(':')?;
        let source = *self.0.get(file)?;
        Some((source, line.parse::<u64>().ok()?.checked_sub(1)?))
    }
}
