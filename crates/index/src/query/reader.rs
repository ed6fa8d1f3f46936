//! Documents of an index, read to be compared.

use minwise::candidate::Fingerprint;
use minwise::shingle::{Places, Shingles};
use minwise::verify::ShingleSet;

use super::evidence::{self, Evidence};
use crate::error::Result;
use crate::index::Index;
use crate::record::Record;
use crate::store::{Space, View};

/// Reads documents, one after the other, into the same buffers.
pub(crate) struct Reader<'i, 'v> {
    index: &'i Index,
    view: &'v View<'i>,
    shingles: Shingles,
    masked: Vec<u64>,
    places: Option<Places>,
    set: ShingleSet,
    work: (Vec<u64>, Vec<u64>),
}

/// A document of the index beside the query.
pub(crate) struct Other<'r> {
    /// Its shingles in order, if its text is kept, and in ascending order otherwise; without those that are no evidence.
    pub(crate) shingles: &'r [u64],
    /// Where its units stand, if its text is kept.
    pub(crate) places: Option<&'r Places>,
    /// Its distinct shingles.
    pub(crate) set: ShingleSet,
}

impl Index {
    pub(crate) fn reader<'i, 'v>(&'i self, view: &'v View<'i>) -> Reader<'i, 'v> {
        Reader {
            index: self,
            view,
            shingles: Shingles::new(),
            masked: vec![],
            places: None,
            set: ShingleSet::default(),
            work: Default::default(),
        }
    }
}

impl Reader<'_, '_> {
    /// The distinct shingles of the document that was read last.
    pub(crate) fn set(&self) -> &ShingleSet {
        &self.set
    }

    /// Reads the distinct shingles of a document.
    pub(crate) fn read_set(&mut self, number: u32, record: &Record) -> Result<()> {
        match self.index.text(self.view, number, record)? {
            Some(text) => {
                self.index.preparation.shingles(&text, &mut self.shingles);
                self.set = ShingleSet::build(self.shingles.hashes(), &mut self.work);
            }
            None => self.set = self.stored(number, record)?.set,
        }
        Ok(())
    }

    /// What is stored of a document in place of its text.
    pub(crate) fn stored(&self, number: u32, record: &Record) -> Result<InPlaceOfText> {
        let bytes = self.view.get(Space::Sets, &number.to_be_bytes())?;
        bytes
            .and_then(|bytes| InPlaceOfText::from_bytes(&bytes))
            .ok_or_else(|| self.index.damaged(format!("the shingles of `{}` cannot be read", record.id)))
    }

    /// Reads a document and takes out what is no evidence.
    pub(crate) fn read(&mut self, number: u32, record: &Record, evidence: &Evidence) -> Result<Other<'_>> {
        if let Some(text) = self.index.text(self.view, number, record)? {
            let places = self.index.preparation.shingles_with_places(&text, &mut self.shingles);
            self.masked = evidence.of_document(&text, self.shingles.hashes(), Some(&places));
            self.places = Some(places);
        } else {
            let set = self.stored(number, record)?.set;
            self.masked = evidence.of_document("", set.as_slice(), None);
            self.places = None;
        }
        let remaining: Vec<u64> = evidence::remaining(&self.masked).collect();
        let set = ShingleSet::build(&remaining, &mut self.work);
        Ok(Other { shingles: &self.masked, places: self.places.as_ref(), set })
    }
}

/// What is stored of a document in place of its text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InPlaceOfText {
    pub(crate) set: ShingleSet,
    pub(crate) bands: Vec<u64>,
    pub(crate) fingerprints: Vec<Fingerprint>,
}

impl InPlaceOfText {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![];
        for part in [self.set.as_slice(), &self.bands] {
            bytes.extend((part.len() as u32).to_le_bytes());
            bytes.extend(part.iter().flat_map(|hash| hash.to_le_bytes()));
        }
        for fingerprint in &self.fingerprints {
            bytes.extend(fingerprint.shingle.to_le_bytes());
            bytes.extend(fingerprint.at.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let part = |bytes: &[u8]| -> Option<(Vec<u64>, usize)> {
            let (len, rest) = bytes.split_first_chunk()?;
            let len = u32::from_le_bytes(*len) as usize;
            let hashes = rest.get(..len.checked_mul(8)?)?.as_chunks().0;
            Some((hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect(), 4 + 8 * len))
        };
        let (set, first) = part(bytes)?;
        let (bands, second) = part(&bytes[first..])?;
        let (chunks, []) = bytes[first + second..].as_chunks::<12>() else { return None };
        let fingerprint = |bytes: &[u8; 12]| {
            let (shingle, at) = bytes.split_first_chunk()?;
            let at = u32::from_le_bytes(at.try_into().ok()?);
            Some(Fingerprint { shingle: u64::from_le_bytes(*shingle), at })
        };
        Some(Self {
            set: set.into_iter().collect(),
            bands,
            fingerprints: chunks.iter().map(fingerprint).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            set in proptest::collection::vec(any::<u64>(), 0..9),
            bands in proptest::collection::vec(any::<u64>(), 0..9),
            fingerprints in proptest::collection::vec((any::<u64>(), any::<u32>()), 0..9),
        ) {
            let fingerprints = fingerprints.into_iter().map(|(shingle, at)| Fingerprint { shingle, at }).collect();
            let stored = InPlaceOfText { set: set.into_iter().collect(), bands, fingerprints };
            prop_assert_eq!(InPlaceOfText::from_bytes(&stored.to_bytes()), Some(stored));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Some(stored) = InPlaceOfText::from_bytes(&bytes) {
                prop_assert!(stored.to_bytes().len() <= bytes.len());
            }
        }
    }
}
