//! The index itself: insertion, removal, merging and iteration.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use super::band_keys::{BLOCK, BandKeys, for_each_key};
use super::table::{Band, BandTable};
use super::threads::for_each;
use crate::candidate::Banding;
use crate::error::{Error, ErrorKind};
use crate::shingle::{Shingler, Shingles};
use crate::sketch::{Sketcher, Sketches};
use crate::sketch_object::Sketch;
use crate::spec::Spec;
use crate::verify::ShingleSet;

/// Greatest number of slots of an index. Slot numbers have 32 bits, and `u32::MAX` stands for no slot.
const MOST_SLOTS: usize = u32::MAX as usize - 1;
/// Least number of removed documents at which an index is compacted. Fewer removed documents take too little memory to
/// matter.
pub(super) const MANY_REMOVED: usize = 64;

/// An index in memory that finds documents by similarity. Each document has a unique key.
///
/// ```
/// use minwise::{Lsh, Spec};
///
/// let spec: Spec = "nfkc+casefold / words:2 / minhash:128 / seed:1".parse()?;
/// let mut lsh = Lsh::new(spec, 0.7, 0.99)?;
/// lsh.insert("fox", "The quick brown fox jumps over the lazy dog and runs on.")?;
/// lsh.insert("cat", "The cat sat on the mat and looked at the door.")?;
///
/// let found = lsh.query("the quick brown fox jumps over the lazy dog, and runs")?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(*found[0].key, "fox");
/// println!("{}", found[0].estimate);                  // such as 0.914 ± 0.025
///
/// assert!(lsh.remove("fox"));
/// assert!(lsh.query("the quick brown fox jumps over the lazy dog, and runs")?.is_empty());
/// # Ok::<(), minwise::Error>(())
/// ```
///
/// **Keys** are unique. If the index has a key already, [`insert`](Self::insert) refuses it and leaves the index
/// unchanged, and [`replace`](Self::replace) puts the new document in place of the old one. Results depend on the
/// documents and the order in which they were inserted, but not on threads or on the hashes of keys.
///
/// **Documents without shingles**, such as empty texts, are in the index with their keys, but no query finds them. A
/// query without shingles finds no documents.
///
/// | | `Lsh` | gaoya 0.2 `MinHashIndex` |
/// |---|---|---|
/// | input | texts, shingles or sketches | signatures |
/// | bands and rows | chosen for a threshold and a recall, or set | chosen for a threshold, or set |
/// | answer of a query | keys with estimate, standard error and interval, most similar first | keys, or keys with a similarity |
/// | exact similarities | on demand ([`keep_shingles`](super::LshBuilder::keep_shingles)) | no |
/// | remove | yes | yes |
/// | merge, serde | yes | no |
/// | a key that the index has | `insert` refuses it, `replace` replaces the document | replaces the signature; the old band entries stay |
/// | insertion by several threads | [`insert_many`](Self::insert_many), same result for any number | `par_bulk_insert` |
#[derive(Clone)]
pub struct Lsh<K> {
    pub(super) spec: Spec,
    pub(super) banding: Banding,
    pub(super) threshold: f64,
    pub(super) shingler: Shingler,
    pub(super) sketcher: Arc<dyn Sketcher>,
    /// Key of each slot; `None` if the document of the slot was removed.
    pub(super) keys: Vec<Option<K>>,
    /// Number of slots with a key.
    live: usize,
    /// Table of slots by the hash of their key.
    places: BandTable,
    hasher: RandomState,
    /// Sketches, one row per slot.
    pub(super) sketches: Sketches,
    /// Distinct shingles of each slot, if the index keeps shingles.
    pub(super) sets: Option<Vec<ShingleSet>>,
    pub(super) bands: Vec<Band>,
    buffers: Buffers,
}

/// Buffers that are reused from document to document.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffers {
    pub(super) shingles: Shingles,
    pub(super) sort: (Vec<u64>, Vec<u64>),
    pub(super) keys: Vec<u64>,
}

/// A document that can be inserted or looked up: its text, its shingles in document order, or its sketch.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Sketchable<'a> {
    /// The text.
    Text(&'a str),
    /// The shingles of a text, cut by the spec of the index, with repeats.
    Shingles(&'a [u64]),
    /// A sketch by the spec of the index. Its shingles are not known, so an index that keeps shingles refuses it.
    Sketch(&'a Sketch),
}

impl<'a> From<&'a str> for Sketchable<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Sketchable<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u64]> for Sketchable<'a> {
    fn from(shingles: &'a [u64]) -> Self {
        Self::Shingles(shingles)
    }
}

impl<'a> From<&'a Vec<u64>> for Sketchable<'a> {
    fn from(shingles: &'a Vec<u64>) -> Self {
        Self::Shingles(shingles)
    }
}

impl<'a> From<&'a Sketch> for Sketchable<'a> {
    fn from(sketch: &'a Sketch) -> Self {
        Self::Sketch(sketch)
    }
}

impl<K> Lsh<K> {
    /// Makes an empty index from settings that were checked before.
    pub(super) fn empty(
        spec: Spec,
        banding: Banding,
        threshold: f64,
        keeps_shingles: bool,
    ) -> Result<Self, Error> {
        let sketcher = spec.sketcher()?;
        Ok(Self {
            shingler: spec.shingler(),
            keys: vec![],
            live: 0,
            places: BandTable::default(),
            hasher: RandomState::new(),
            sketches: Sketches::new(sketcher.words()),
            sets: keeps_shingles.then(Vec::new),
            bands: vec![Band::default(); banding.bands()],
            buffers: Buffers::default(),
            spec,
            banding,
            threshold,
            sketcher,
        })
    }

    /// Returns the spec by which documents are sketched.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the number of bands and of rows per band.
    #[must_use]
    pub fn banding(&self) -> Banding {
        self.banding
    }

    /// Returns the similarity that a document must reach to be found, unless
    /// [`Searcher::at_least`](super::Searcher::at_least) sets another.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Reports whether the index keeps the shingles of documents, so that queries give exact similarities.
    #[must_use]
    pub fn keeps_shingles(&self) -> bool {
        self.sets.is_some()
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live
    }

    /// Reports whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Returns the keys with their sketches, in the order of insertion.
    pub fn iter(&self) -> Iter<'_, K> {
        Iter { keys: self.keys.iter().enumerate(), sketches: &self.sketches, left: self.live }
    }

    /// Returns the keys in the order of insertion.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.keys.iter().flatten()
    }

    /// Removes all documents. The memory of keys and sketches is kept for reuse, and the memory of band tables is
    /// freed.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.sketches.clear();
        self.sets.iter_mut().for_each(Vec::clear);
        self.live = 0;
        self.places = BandTable::default();
        self.bands.fill(Band::default());
    }
}

impl<K: Eq + Hash> Lsh<K> {
    /// Inserts a document: a text, its shingles, or a sketch by the spec of the index.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::DuplicateKey`] if the key is in the index already;
    /// - [`ErrorKind::ShortDocument`] if the spec rejects short texts and the text is short;
    /// - [`ErrorKind::SpecMismatch`] if a sketch was made by another spec;
    /// - [`ErrorKind::OutOfRange`] if a sketch is given to an index that keeps shingles, or if the index has
    ///   4,294,967,294 documents.
    ///
    /// On an error the index is unchanged.
    pub fn insert<'a>(&mut self, key: K, document: impl Into<Sketchable<'a>>) -> Result<(), Error> {
        let mut buffers = std::mem::take(&mut self.buffers);
        let result = self.insert_by(key, document.into(), &mut buffers);
        self.buffers = buffers;
        result
    }

    /// Inserts a document, and removes the document that had the same key, if any. Returns `true` if a document was
    /// removed. The new document comes last in the order of insertion.
    ///
    /// ```
    /// use minwise::{Lsh, Spec};
    ///
    /// let spec: Spec = "nfkc+casefold / words:2 / minhash:128 / seed:1".parse()?;
    /// let mut lsh = Lsh::new(spec, 0.7, 0.99)?;
    /// assert!(!lsh.replace("page", "the first version of a page about foxes")?);
    /// assert!(lsh.replace("page", "a rewritten page that is about cats instead")?);
    /// assert!(lsh.query("the first version of a page about foxes")?.is_empty());
    /// assert_eq!(lsh.len(), 1);
    /// # Ok::<(), minwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails where [`insert`](Self::insert) does, except for a key that is in the index. On an error the index is
    /// unchanged.
    pub fn replace<'a>(&mut self, key: K, document: impl Into<Sketchable<'a>>) -> Result<bool, Error> {
        let Some(slot) = self.slot(&key) else { return self.insert(key, document).map(|()| false) };
        // The old key is taken out first: no query returns the old document then, and `insert` reports no duplicate
        // key.
        let old = self.keys[slot].take();
        self.live -= 1;
        if let Err(error) = self.insert(key, document) {
            self.keys[slot] = old;
            self.live += 1;
            return Err(error);
        }
        self.forget(slot);
        Ok(true)
    }

    fn insert_by(&mut self, key: K, document: Sketchable<'_>, buffers: &mut Buffers) -> Result<(), Error> {
        self.check_room(1)?;
        let hash = self.hash(&key);
        if self.slot_by(hash, &key).is_some() {
            return Err(ErrorKind::DuplicateKey { position: None }.into());
        }
        let shingles = cut(&self.spec, &self.shingler, document, &mut buffers.shingles)?;
        match (shingles, document) {
            (Some(shingles), _) => self.sketcher.sketch_into(shingles, self.sketches.push()),
            (None, Sketchable::Sketch(_)) if self.keeps_shingles() => return Err(unknown_shingles()),
            (None, Sketchable::Sketch(sketch)) => self.sketches.push().copy_from_slice(sketch.words()),
            (None, Sketchable::Text(_) | Sketchable::Shingles(_)) => unreachable!("these have shingles"),
        }
        if let (Some(sets), Some(shingles)) = (&mut self.sets, shingles) {
            sets.push(ShingleSet::build(shingles, &mut buffers.sort));
        }
        self.link_last(&mut buffers.keys);
        self.push_key(hash, key);
        Ok(())
    }

    /// Inserts documents whose sketches exist already, as rows of one matrix, by several threads. The result does not
    /// depend on the number of threads. The rows must be sketches by the [`spec`](Self::spec) of the index; only their
    /// length can be checked.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::OutOfRange`] if the numbers of keys and rows differ, if rows do not have the length of the spec,
    ///   or if the index keeps shingles;
    /// - [`ErrorKind::OutOfRange`] if `threads` is 0, or if the index would have more than 4,294,967,294 documents;
    /// - [`ErrorKind::DuplicateKey`] if a key is in the index already or is repeated.
    ///
    /// On an error the index is unchanged.
    pub fn insert_sketches(
        &mut self,
        keys: impl IntoIterator<Item = K>,
        mut sketches: Sketches,
        threads: usize,
    ) -> Result<(), Error> {
        check_threads(threads)?;
        if self.keeps_shingles() {
            return Err(unknown_shingles());
        }
        let words = self.sketches.registers();
        if sketches.registers() != words {
            let expected = format!("{words}, the words of `{}`", self.spec.method);
            return Err(Error::out_of_range("the length of a row", sketches.registers(), &expected));
        }
        let keys: Vec<K> = keys.into_iter().collect();
        if keys.len() != sketches.len() {
            let expected = format!("{}, the number of rows", sketches.len());
            return Err(Error::out_of_range("the number of keys", keys.len(), &expected));
        }
        let first = self.push_keys(keys)?;
        self.sketches.append(&mut sketches);
        self.link_rows(first, threads);
        Ok(())
    }

    /// Removes the document with this key. Returns `true` if the index had such a document.
    ///
    /// The slot of the document stays empty. If at least 64 slots are empty and empty slots outnumber documents, the
    /// index is rebuilt without the empty slots. Therefore a removal costs no more than an insertion on average, and
    /// the index takes at most twice the memory of its documents.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        let Some(slot) = self.slot(key) else { return false };
        self.keys[slot] = None;
        self.live -= 1;
        self.forget(slot);
        true
    }

    /// Discards the shingles of a slot whose key was removed, and rebuilds the index if many slots are empty.
    fn forget(&mut self, slot: usize) {
        if let Some(sets) = &mut self.sets {
            sets[slot] = ShingleSet::default();
        }
        let removed = self.keys.len() - self.live;
        if removed >= MANY_REMOVED && removed > self.live {
            self.compact();
        }
    }

    /// Reports whether a document has this key.
    #[must_use]
    pub fn contains_key<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.slot(key).is_some()
    }

    /// Returns the sketch of the document with this key as a row of words; `None` if there is no such document.
    #[must_use]
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&[u32]>
    where
        K: Borrow<Q>,
    {
        self.slot(key).map(|slot| self.sketches.row(slot))
    }

    /// Appends all documents of another index, in their order. Bands, rows and threshold stay those of this index.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::SpecMismatch`] if the specs differ, or if only one of the two indexes keeps shingles;
    /// - [`ErrorKind::DuplicateKey`] if both indexes have the same key;
    /// - [`ErrorKind::OutOfRange`] if the indexes have more than 4,294,967,294 documents together.
    ///
    /// On an error this index is unchanged.
    pub fn merge(&mut self, mut other: Self) -> Result<(), Error> {
        self.spec.check(&other.spec)?;
        if self.keeps_shingles() != other.keeps_shingles() {
            let [left, right] = [&*self, &other].map(|lsh| lsh.keeps_shingles().to_string());
            return Err(ErrorKind::SpecMismatch { field: "keep-shingles", left, right }.into());
        }
        if other.live < other.keys.len() {
            other.compact();
        }
        let first = self.push_keys(other.keys.into_iter().flatten().collect())?;
        self.sketches.append(&mut other.sketches);
        if let (Some(sets), Some(more)) = (&mut self.sets, other.sets) {
            sets.extend(more);
        }
        self.link_rows(first, 1);
        Ok(())
    }

    /// Returns the slot of a key; `None` if the index does not have the key.
    fn slot<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.slot_by(self.hash(key), key)
    }

    fn slot_by<Q: Eq + ?Sized>(&self, hash: u32, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let is_same =
            |slot: u32| self.keys[slot as usize].as_ref().is_some_and(|other| other.borrow() == key);
        self.places.find(hash, is_same).map(|slot| slot as usize)
    }

    fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u32 {
        (self.hasher.hash_one(key) >> 32) as u32
    }

    fn push_key(&mut self, hash: u32, key: K) {
        let slot = self.keys.len() as u32;
        self.keys.push(Some(key));
        self.live += 1;
        self.places.reserve(1);
        self.places.put(hash, slot, |_| false);
    }

    /// Appends all keys and returns the slot of the first one. If a key is repeated or in the index already, it changes
    /// nothing and returns an error with the position of that key.
    pub(super) fn push_keys(&mut self, keys: Vec<K>) -> Result<usize, Error> {
        self.check_room(keys.len())?;
        let first = self.keys.len();
        self.keys.reserve(keys.len());
        self.places.reserve(keys.len());
        for (position, key) in keys.into_iter().enumerate() {
            let hash = self.hash(&key);
            if self.slot_by(hash, &key).is_some() {
                self.pop_keys(first);
                return Err(ErrorKind::DuplicateKey { position: Some(position) }.into());
            }
            self.push_key(hash, key);
        }
        Ok(first)
    }

    /// Removes all keys from slot `first` on.
    pub(super) fn pop_keys(&mut self, first: usize) {
        self.live -= self.keys.len() - first;
        self.keys.truncate(first);
        self.find_places();
    }

    /// Rebuilds the table of slots by key.
    fn find_places(&mut self) {
        let mut places = BandTable::default();
        places.reserve(self.live);
        for (slot, key) in (0..).zip(&self.keys) {
            if let Some(key) = key {
                places.put(self.hash(key), slot, |_| false);
            }
        }
        self.places = places;
    }

    /// Inserts the last row into all bands.
    fn link_last(&mut self, keys: &mut Vec<u64>) {
        let row = self.sketches.row(self.sketches.len() - 1);
        gather_keys(self.banding, row, &self.bands, keys);
        for (band, &key) in self.bands.iter_mut().zip(&*keys) {
            band.push(key);
        }
    }

    /// Inserts the rows from `first` on into all bands.
    pub(super) fn link_rows(&mut self, first: usize, threads: usize) {
        let (banding, words) = (self.banding, self.sketches.registers());
        let mut keys = BandKeys::new(self.sketches.len() - first, banding);
        let rows = self.sketches.as_slice()[first * words..].chunks(BLOCK * words);
        for_each(keys.blocks().zip(rows), threads, |(block, rows)| {
            BandKeys::fill(block, banding, rows, words);
        });
        self.link(&keys, threads);
    }

    /// Inserts the last rows into all bands; `keys` are their band keys. Each band is filled by one thread, so that the
    /// order of the threads does not affect the result.
    pub(super) fn link(&mut self, keys: &BandKeys, threads: usize) {
        let threads = threads.min(self.bands.len());
        for_each(self.bands.iter_mut().enumerate(), threads, |(number, band)| {
            band.reserve(keys.len());
            keys.of_band(number).for_each(|block| band.push_block(block));
        });
    }

    /// Rebuilds the index without the slots of removed documents.
    fn compact(&mut self) {
        let words = self.sketches.registers();
        let values = self.sketches.as_mut_slice();
        let mut kept = 0;
        for (slot, key) in self.keys.iter().enumerate() {
            if key.is_some() {
                values.copy_within(slot * words..(slot + 1) * words, kept * words);
                kept += 1;
            }
        }
        self.sketches.resize(kept);
        if let Some(sets) = &mut self.sets {
            let mut keys = self.keys.iter();
            sets.retain(|_| keys.next().is_some_and(Option::is_some));
        }
        self.keys.retain(Option::is_some);
        self.find_places();
        self.bands.fill(Band::default());
        self.link_rows(0, 1);
    }

    pub(super) fn check_room(&self, more: usize) -> Result<(), Error> {
        let slots = self.keys.len().saturating_add(more);
        if slots > MOST_SLOTS {
            let expected = format!("at most {MOST_SLOTS}");
            return Err(Error::out_of_range("the number of documents", slots, &expected));
        }
        Ok(())
    }
}

/// Fills `keys` with the keys of all bands of a row, and prefetches the bucket of each key.
///
/// The buckets lie far apart in memory. If all buckets are read before anything depends on their content, the processor
/// loads them at the same time instead of one by one.
pub(super) fn gather_keys(banding: Banding, row: &[u32], bands: &[Band], keys: &mut Vec<u64>) {
    keys.clear();
    for_each_key(banding, row, |_, key| keys.push(key));
    let mut seen = 0;
    for (band, &key) in bands.iter().zip(&*keys) {
        seen ^= band.begin(key);
    }
    std::hint::black_box(seen);
}

/// Returns the shingles of a document, cutting them if it is a text. Returns `None` for a sketch, which must have the
/// same spec.
pub(super) fn cut<'s>(
    spec: &Spec,
    shingler: &Shingler,
    document: Sketchable<'s>,
    buffer: &'s mut Shingles,
) -> Result<Option<&'s [u64]>, Error> {
    match document {
        Sketchable::Text(text) => {
            shingler.shingle_into(text, buffer);
            let units = buffer.units();
            if shingler.refuses(units) {
                return Err(ErrorKind::ShortDocument { position: None, units }.into());
            }
            Ok(Some(buffer.hashes()))
        }
        Sketchable::Shingles(shingles) => Ok(Some(shingles)),
        Sketchable::Sketch(sketch) => spec.check(sketch.spec()).map(|()| None),
    }
}

fn unknown_shingles() -> Error {
    let expected = "a text or shingles, because the index keeps shingles";
    Error::out_of_range("the document", "a sketch", expected)
}

pub(super) fn check_threads(threads: usize) -> Result<(), Error> {
    if threads == 0 {
        return Err(Error::out_of_range("the number of threads", threads, "at least 1"));
    }
    Ok(())
}

impl<K> fmt::Debug for Lsh<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Printing the rows of a million documents would make the output useless.
        f.debug_struct("Lsh")
            .field("spec", &self.spec.to_string())
            .field("bands", &self.banding.bands())
            .field("rows", &self.banding.rows())
            .field("threshold", &self.threshold)
            .field("keeps_shingles", &self.keeps_shingles())
            .field("len", &self.live)
            .finish_non_exhaustive()
    }
}

/// Iterator over the keys of an [`Lsh`] with their sketches, in the order of insertion.
#[derive(Debug, Clone)]
pub struct Iter<'a, K> {
    keys: std::iter::Enumerate<std::slice::Iter<'a, Option<K>>>,
    sketches: &'a Sketches,
    left: usize,
}

impl<'a, K> Iterator for Iter<'a, K> {
    type Item = (&'a K, &'a [u32]);

    fn next(&mut self) -> Option<Self::Item> {
        let sketches = self.sketches;
        let next = self.keys.find_map(|(slot, key)| Some((key.as_ref()?, sketches.row(slot))))?;
        self.left -= 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K> ExactSizeIterator for Iter<'_, K> {}

impl<'a, K> IntoIterator for &'a Lsh<K> {
    type Item = (&'a K, &'a [u32]);
    type IntoIter = Iter<'a, K>;

    fn into_iter(self) -> Iter<'a, K> {
        self.iter()
    }
}
