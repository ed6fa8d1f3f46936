//! Insertion of many documents by several threads.
//!
//! First, threads sketch blocks of documents, each block into its own rows. Then they put all rows into the bands; a
//! band belongs to one thread. Therefore no two threads write to the same place, and no mutex is needed. The index is
//! equal to the result of inserting the documents one by one.

use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use super::band_keys::{BLOCK, BandKeys};
use super::index::{Buffers, Lsh, check_threads};
use super::threads::for_each_with;
use crate::error::{Error, ErrorKind};
use crate::verify::ShingleSet;

/// A block of documents that one thread sketches.
struct SketchBlock<'a, T> {
    first: usize,
    texts: &'a [T],
    rows: &'a mut [u32],
    keys: &'a mut [u64],
    sets: Option<&'a mut [ShingleSet]>,
}

impl<K: Eq + Hash> Lsh<K> {
    /// Inserts texts by several threads. For any number of threads, the index is the same as if
    /// [`insert`](Self::insert) had inserted the texts one by one.
    ///
    /// All threads end before the call returns.
    ///
    /// ```
    /// use minwise::{Lsh, Spec};
    ///
    /// let mut lsh = Lsh::new(Spec::default(), 0.8, 0.99)?;
    /// lsh.insert_many([(1, "one text of some words"), (2, "another text of some words")], 2)?;
    /// assert_eq!(lsh.len(), 2);
    ///
    /// let error = lsh.insert_many([(3, "a third one"), (2, "a second two")], 2).unwrap_err();
    /// assert_eq!(error.to_string(), "the key of document 1 (counted from 0) is in the index or among the documents before it: keys are unique");
    /// assert_eq!(lsh.len(), 2);
    /// # Ok::<(), minwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::DuplicateKey`] if a key is in the index already or is repeated;
    /// - [`ErrorKind::ShortDocument`] if the spec rejects short texts and a text is short;
    /// - [`ErrorKind::OutOfRange`] if `threads` is 0 or the index would have more than 4,294,967,294 documents.
    ///
    /// The first two kinds contain the position of the first document at fault. On an error the index is unchanged.
    pub fn insert_many<T: AsRef<str> + Sync>(
        &mut self,
        documents: impl IntoIterator<Item = (K, T)>,
        threads: usize,
    ) -> Result<(), Error> {
        check_threads(threads)?;
        let (keys, texts): (Vec<K>, Vec<T>) = documents.into_iter().unzip();
        let first = self.push_keys(keys)?;
        self.sketches.resize(first + texts.len());
        if let Some(sets) = &mut self.sets {
            sets.resize_with(first + texts.len(), ShingleSet::default);
        }
        let mut band_keys = BandKeys::new(texts.len(), self.banding);
        let refused = self.sketch_all(first, &texts, &mut band_keys, threads);
        if let Some((position, units)) = refused {
            self.pop_keys(first);
            self.sketches.resize(first);
            self.sets.iter_mut().for_each(|sets| sets.truncate(first));
            return Err(ErrorKind::ShortDocument { position: Some(position), units }.into());
        }
        self.link(&band_keys, threads);
        Ok(())
    }

    /// Sketches texts into the slots from `first` on. Returns the position and the number of units of the first text
    /// that the spec rejects.
    fn sketch_all<T: AsRef<str> + Sync>(
        &mut self,
        first: usize,
        texts: &[T],
        band_keys: &mut BandKeys,
        threads: usize,
    ) -> Option<(usize, usize)> {
        let words = self.sketches.registers();
        let rows = &mut self.sketches.as_mut_slice()[first * words..];
        let mut sets = self.sets.as_mut().map(|sets| sets[first..].chunks_mut(BLOCK));
        let blocks = texts.chunks(BLOCK).zip(rows.chunks_mut(BLOCK * words)).zip(band_keys.blocks());
        let blocks = blocks.enumerate().map(|(number, ((texts, rows), keys))| {
            let sets = sets.as_mut().and_then(Iterator::next);
            SketchBlock { first: number * BLOCK, texts, rows, keys, sets }
        });
        let refused: Mutex<Option<(usize, usize)>> = Mutex::new(None);
        let (shingler, sketcher, banding) = (&self.shingler, &self.sketcher, self.banding);
        let threads = threads.min(texts.len().div_ceil(BLOCK));
        for_each_with(blocks, threads, Buffers::default, |buffers, mut block| {
            for (at, text) in block.texts.iter().enumerate() {
                shingler.shingle_into(text.as_ref(), &mut buffers.shingles);
                let units = buffers.shingles.units();
                if shingler.refuses(units) {
                    // The other blocks are still processed. Otherwise the reported position would depend on which
                    // thread is first, and not be the least one.
                    let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
                    let found = (block.first + at, units);
                    *refused = Some(refused.map_or(found, |other| other.min(found)));
                    break;
                }
                let shingles = buffers.shingles.hashes();
                sketcher.sketch_into(shingles, &mut block.rows[at * words..][..words]);
                if let Some(sets) = &mut block.sets {
                    sets[at] = ShingleSet::build(shingles, &mut buffers.sort);
                }
            }
            BandKeys::fill(block.keys, banding, block.rows, words);
        });
        refused.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
