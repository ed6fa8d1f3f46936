//! Postings: the documents that have a band key or a fingerprint, with the positions of fingerprints.
//!
//! - **Idea.** A change groups its postings by the first 14 bits of the hash and writes one row per group. A
//!   row is sorted by hash and has three columns: the next 32 bits of the hash, the document, and, for
//!   fingerprints, the position. Each column uses the fewest bytes that hold its values. A look-up searches
//!   every row whose key has the first 14 bits of the hash. So large changes write few bytes per posting, and
//!   small changes write few rows.
//! - **Cost.** 7 to 9 bytes per posting in large changes. A look-up reads one row per change, until changes are merged.
//! - **Error.** A row stores 46 bits of each hash. Among 10⁸ postings, one in 7·10⁵ look-ups of an absent
//!   hash finds a false posting, which does no harm, because candidates are compared exactly.

use minwise::hash::fmix64;
use minwise::sort::sort_mixed;

/// A document that has a hash, with the position of the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting {
    /// Number of the document.
    pub(crate) document: u32,
    /// Position of a fingerprint; 0 for a band key.
    pub(crate) at: u32,
}

/// Size of the header of a row in bytes: the lowest document number, and the widths of the columns of
/// documents and positions.
const HEADER: usize = 6;
/// Number of bytes of each hash in a row.
const REST: usize = 4;

/// Number of first bits of a hash that select a row. With fewer bits, look-ups read longer rows; with more
/// bits, changes write more rows.
const PREFIX_BITS: u32 = 14;
/// Number of prefixes, which are the values of the first `PREFIX_BITS` bits.
pub(crate) const PREFIXES: u32 = 1 << PREFIX_BITS;

/// Returns the first bits of a hash, which select a row.
pub(crate) fn prefix(hash: u64) -> [u8; 2] {
    ((hash >> (64 - PREFIX_BITS)) as u16).to_be_bytes()
}

/// Returns the 32 bits of a hash after its prefix.
fn rest(hash: u64) -> u32 {
    (hash >> (32 - PREFIX_BITS)) as u32
}

/// Size of the key of a row in bytes.
pub(crate) const KEY_BYTES: usize = 10;

/// Returns the key of the row that change `sequence` writes for `prefix`.
pub(crate) fn key(prefix: [u8; 2], sequence: u64) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..2].copy_from_slice(&prefix);
    key[2..].copy_from_slice(&sequence.to_be_bytes());
    key
}

impl Posting {
    /// Returns the posting as a number. Numbers sort by document, then by position.
    pub(crate) fn packed(self) -> u64 {
        u64::from(self.document) << 32 | u64::from(self.at)
    }

    fn unpacked(packed: u64) -> Self {
        Self { document: (packed >> 32) as u32, at: packed as u32 }
    }
}

/// Sorts the postings of a change, and calls `write` with the prefix and the payload of each row. Each
/// element of `postings` is a hash and a packed [`Posting`].
pub(crate) fn write_rows(mut postings: Vec<(u64, u64)>, mut write: impl FnMut([u8; 2], Vec<u8>)) {
    sort_mixed(&mut postings, &mut vec![]);
    let mut row = vec![];
    for postings in postings.chunk_by(|a, b| prefix(a.0) == prefix(b.0)) {
        row.clear();
        row.extend(postings.iter().map(|&(hash, packed)| (rest(hash), Posting::unpacked(packed))));
        write(prefix(postings[0].0), encode(&row));
    }
}

/// Encodes a row of postings that are sorted by hash.
pub(crate) fn encode(postings: &[(u32, Posting)]) -> Vec<u8> {
    let least = postings.iter().map(|(_, posting)| posting.document).min().unwrap_or(0);
    let most = postings.iter().map(|(_, posting)| posting.document - least).max().unwrap_or(0);
    let furthest = postings.iter().map(|(_, posting)| posting.at).max().unwrap_or(0);
    let widths = (width(most), width(furthest));
    let mut out = Vec::with_capacity(HEADER + postings.len() * (REST + widths.0 + widths.1));
    out.extend(least.to_le_bytes());
    out.extend([widths.0 as u8, widths.1 as u8]);
    out.extend(postings.iter().flat_map(|(rest, _)| rest.to_le_bytes()));
    for (_, posting) in postings {
        out.extend(&(posting.document - least).to_le_bytes()[..widths.0]);
    }
    for (_, posting) in postings {
        out.extend(&posting.at.to_le_bytes()[..widths.1]);
    }
    out
}

fn width(most: u32) -> usize {
    4 - most.leading_zeros() as usize / 8
}

/// A decoded row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostingRow<'p> {
    least: u32,
    rests: &'p [[u8; REST]],
    documents: &'p [u8],
    ats: &'p [u8],
    widths: (usize, usize),
}

impl<'p> PostingRow<'p> {
    /// Decodes a row. Returns `None` if the bytes are not a row.
    pub(crate) fn decode(payload: &'p [u8]) -> Option<Self> {
        let (header, columns) = payload.split_first_chunk::<HEADER>()?;
        let least = u32::from_le_bytes(*header.first_chunk()?);
        let widths = (usize::from(header[4]), usize::from(header[5]));
        let each = REST + widths.0 + widths.1;
        if widths.0 > 4 || widths.1 > 4 || columns.is_empty() || !columns.len().is_multiple_of(each) {
            return None;
        }
        let len = columns.len() / each;
        let (rests, columns) = columns.split_at(REST * len);
        let (documents, ats) = columns.split_at(widths.0 * len);
        Some(Self { least, rests: rests.as_chunks().0, documents, ats, widths })
    }

    /// Returns the number of postings.
    pub(crate) fn len(&self) -> usize {
        self.rests.len()
    }

    fn rest(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.rests[at])
    }

    fn posting(&self, at: usize) -> Posting {
        let number = |column: &[u8], width: usize| {
            let mut bytes = [0; 4];
            bytes[..width].copy_from_slice(&column[at * width..][..width]);
            u32::from_le_bytes(bytes)
        };
        Posting {
            document: self.least.wrapping_add(number(self.documents, self.widths.0)),
            at: number(self.ats, self.widths.1),
        }
    }

    /// Returns all postings, each with the 32 bits of its hash that the row stores.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u32, Posting)> + 'p {
        (0..self.len()).map(move |at| (self.rest(at), self.posting(at)))
    }

    /// Returns the postings of a hash. The row must have the prefix of this hash.
    pub(crate) fn find(self, hash: u64) -> impl Iterator<Item = Posting> + 'p {
        let rest = rest(hash);
        let first = self.rests.partition_point(|found| u32::from_le_bytes(*found) < rest);
        (first..self.len()).take_while(move |&at| self.rest(at) == rest).map(move |at| self.posting(at))
    }
}

/// Returns the digest of a posting. The integrity check compares sums of digests, because two different sets
/// of postings hardly ever have the same sum.
pub(crate) fn digest(prefix: [u8; 2], rest: u32, posting: Posting) -> u64 {
    let hash = u64::from(u16::from_be_bytes(prefix)) << 32 | u64::from(rest);
    fmix64(fmix64(posting.packed()).wrapping_add(hash))
}

/// Returns the digest of a posting, given the whole hash.
pub(crate) fn digest_of(hash: u64, posting: Posting) -> u64 {
    digest(prefix(hash), rest(hash), posting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths_are_the_fewest_bytes() {
        for (number, bytes) in [(0, 0), (1, 1), (255, 1), (256, 2), (65535, 2), (65536, 3), (u32::MAX, 4)] {
            assert_eq!(width(number), bytes, "{number}");
        }
    }

    #[test]
    fn a_small_change_has_small_rows() {
        let posting = Posting { document: 1_000_000, at: 0 };
        assert_eq!(encode(&[(7, posting)]).len(), HEADER + REST);
        assert_eq!(
            PostingRow::decode(&encode(&[(7, posting)]))
                .unwrap()
                .find(7 << (32 - PREFIX_BITS))
                .collect::<Vec<_>>(),
            [posting]
        );
    }

    #[test]
    fn other_bytes_are_not_a_row() {
        for bytes in [
            &[][..],
            &[0; 6],
            &[0, 0, 0, 0, 5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
            &[0, 0, 0, 0, 1, 0, 1, 2, 3, 4],
        ] {
            assert!(PostingRow::decode(bytes).is_none(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_found(
            entries in proptest::collection::vec((0u64..40, 0u32..2000, 0u32..100_000), 1..200),
            base in 0u32..5_000_000,
        ) {
            // Few prefixes with few hashes each, so that entries share prefixes and hashes.
            let hash = |number: u64| (number % 4) << (64 - PREFIX_BITS) | (number / 4) << (32 - PREFIX_BITS) | 9;
            let mut entries: Vec<(u64, Posting)> = entries
                .into_iter()
                .map(|(number, document, at)| (hash(number), Posting { document: base + document, at }))
                .collect();
            entries.sort_by_key(|entry| entry.1);
            let mut rows = vec![];
            let packed = entries.iter().map(|(hash, posting)| (*hash, posting.packed())).collect();
            write_rows(packed, |prefix, payload| rows.push((prefix, payload)));
            prop_assert!(rows.is_sorted_by(|a, b| a.0 < b.0));
            for number in 0..40 {
                let expected: Vec<Posting> =
                    entries.iter().filter(|entry| entry.0 == hash(number)).map(|entry| entry.1).collect();
                let found: Vec<Posting> = rows
                    .iter()
                    .filter(|row| row.0 == prefix(hash(number)))
                    .flat_map(|row| PostingRow::decode(&row.1).unwrap().find(hash(number)))
                    .collect();
                prop_assert_eq!(found, expected);
            }
            let all: usize = rows.iter().map(|row| PostingRow::decode(&row.1).unwrap().iter().count()).sum();
            prop_assert_eq!(all, entries.len());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), hash: u64) {
            if let Some(row) = PostingRow::decode(&bytes) {
                prop_assert!(row.find(hash).count() <= row.len());
                prop_assert_eq!(row.iter().count(), row.len());
            }
        }
    }
}
