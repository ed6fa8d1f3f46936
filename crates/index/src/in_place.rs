//! The data of a document that an index stores if it keeps no texts.

use minwise::candidate::Fingerprint;
use minwise::verify::ShingleSet;

/// The shingles, bands and fingerprints of a document, stored in place of its text.
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
