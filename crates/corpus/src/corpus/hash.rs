//! Hashes the content of a source, so that the source can be recognised later.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use super::Corpus;
use crate::error::Result;
use crate::scratch::grown;

/// Size and hash by which the content of a source is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentHash {
    /// Size of the content in bytes. For compressed files of records, this is the size after decompression; for all
    /// other files, the size of the file. For documents in memory, the size of their texts.
    pub bytes: u64,
    /// XXH3 hash of the content, with 128 bits. For documents in memory, the hash of their texts, ids and values.
    pub hash: u128,
}

/// Number of bytes that are hashed at a time.
const HASHED_BYTES: usize = 1 << 20;

impl Corpus {
    /// Hashes the content of a source, so that the source can be recognised later. `go_on` receives the number of
    /// bytes whenever some were read; if it returns `false`, the result is `None`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchPlace`](crate::ErrorKind::NoSuchPlace) if there is no such source, with
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the source cannot be read, and with
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the source has changed since the corpus was opened.
    pub fn content_hash(
        &self,
        source: u32,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<ContentHash>> {
        let (handle, content) = self.sources.get(source)?;
        if let Some(message) = handle.source.unreadable() {
            // The reason is hashed, because a hash of no bytes would be the hash of an empty file, which has no
            // records at all.
            return Ok(Some(ContentHash { bytes: 0, hash: xxh3_128(message.as_bytes()) }));
        }
        let mut hash = Xxh3Default::new();
        let records = content.hash_records(&mut |records, bytes| {
            hash.update(records);
            go_on(bytes)
        });
        if let Some(is_complete) = records {
            let (bytes, hash) = (handle.source.size_bytes(), hash.digest128());
            return Ok(is_complete.then_some(ContentHash { bytes, hash }));
        }
        let reader = handle.reader()?;
        let (mut block, mut at) = (Vec::new(), 0);
        while at < reader.size_bytes() {
            let bytes = (HASHED_BYTES as u64).min(reader.size_bytes() - at);
            let block = grown(&mut block, bytes as usize);
            reader.read_exact_at(at, block)?;
            hash.update(block);
            at += bytes;
            if !go_on(bytes) {
                return Ok(None);
            }
        }
        Ok(Some(ContentHash { bytes: reader.size_bytes(), hash: hash.digest128() }))
    }
}
