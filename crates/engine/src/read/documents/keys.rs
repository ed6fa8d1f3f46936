//! Columns of keys on disk. Entries are grouped by the first bits of their keys, so that the entries of one part of the
//! range of keys are read without the others.
//!
//! ```text
//! end u32 · end u32 · …                   of each bucket, as a number of entries
//! key · document u32 · key · document …   bucket by bucket, in the order of documents within a bucket
//! ```

/// Average number of entries per bucket. With fewer entries, a bucket costs more system calls than bytes; with more, a
/// part that is smaller than a bucket reads entries of other parts.
const BUCKET: usize = 64;
/// Logarithm of the greatest number of buckets. More buckets only make the list of their ends longer.
const MOST_BITS: u32 = 10;

/// Well-mixed key that can be written to disk.
pub(super) trait StoredKey: Copy {
    /// Number of bytes of an entry: the key and the number of its document.
    const ENTRY_BYTES: usize;

    /// Returns the first 64 bits of the key.
    fn first_bits(self) -> u64;

    /// Writes the key to the beginning of an entry.
    fn write(self, entry: &mut [u8]);

    /// Reads the key from the beginning of an entry.
    fn read(entry: &[u8]) -> Self;
}

/// Implements the trait for a type of numbers.
macro_rules! stored_key {
    ($number:ty, $shift:expr) => {
        impl StoredKey for $number {
            const ENTRY_BYTES: usize = size_of::<Self>() + size_of::<u32>();

            #[inline]
            fn first_bits(self) -> u64 {
                (self >> $shift) as u64
            }

            #[inline]
            fn write(self, entry: &mut [u8]) {
                entry[..size_of::<Self>()].copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn read(entry: &[u8]) -> Self {
                let mut bytes = [0; size_of::<Self>()];
                bytes.copy_from_slice(&entry[..size_of::<Self>()]);
                Self::from_le_bytes(bytes)
            }
        }
    };
}

stored_key!(u64, 0);
stored_key!(u128, 64);

/// Returns the logarithm of the number of buckets of a column in a segment of `documents` documents.
pub(super) fn bucket_bits(documents: usize) -> u32 {
    (documents / BUCKET).max(1).ilog2().min(MOST_BITS)
}

/// Returns the number of bytes before the entries of a column.
pub(super) fn ends_bytes(documents: usize) -> usize {
    size_of::<u32>() << bucket_bits(documents)
}

/// Fills `out` with the column of a segment of `documents` documents. `keys` has the entries in the order of their
/// documents, and `ends` is a buffer.
pub(super) fn write_column<K: StoredKey>(
    keys: impl Iterator<Item = (K, u32)> + Clone,
    documents: usize,
    ends: &mut Vec<u32>,
    out: &mut Vec<u8>,
) {
    let bits = bucket_bits(documents);
    let bucket_of = |key: K| key.first_bits().checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
    ends.clear();
    ends.resize(1 << bits, 0);
    let mut entries = 0;
    for (key, _) in keys.clone() {
        ends[bucket_of(key)] += 1;
        entries += 1;
    }
    let mut begin = 0;
    for end in &mut *ends {
        begin += std::mem::replace(end, begin);
    }
    let ends_bytes = ends_bytes(documents);
    out.resize(ends_bytes + entries * K::ENTRY_BYTES, 0);
    let (list, out) = out.split_at_mut(ends_bytes);
    for (key, document) in keys {
        let end = &mut ends[bucket_of(key)];
        let entry = &mut out[*end as usize * K::ENTRY_BYTES..][..K::ENTRY_BYTES];
        key.write(entry);
        entry[K::ENTRY_BYTES - size_of::<u32>()..].copy_from_slice(&document.to_le_bytes());
        *end += 1;
    }
    for (end, out) in ends.iter().zip(list.chunks_exact_mut(size_of::<u32>())) {
        out.copy_from_slice(&end.to_le_bytes());
    }
}

/// Returns the key and the document of an entry.
#[inline]
pub(super) fn entry<K: StoredKey>(entry: &[u8]) -> (K, u32) {
    let mut document = [0; size_of::<u32>()];
    document.copy_from_slice(&entry[K::ENTRY_BYTES - size_of::<u32>()..]);
    (K::read(entry), u32::from_le_bytes(document))
}
