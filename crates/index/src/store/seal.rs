//! Checksums of rows.
//!
//! The storage engine compares checksums of its blocks when it reads the blocks from disk. The checksum of a
//! row also detects damage to the value in memory. The checksum covers the key and the keyspace, too, so it
//! detects a value under a wrong key.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::KeyspaceName;

/// Size of a checksum in bytes.
const CHECKSUM: usize = 4;

/// The error of a value that does not match its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damage;

fn checksum(space: KeyspaceName, key: &[u8], payload: &[u8]) -> [u8; CHECKSUM] {
    let seed = xxh3_64(key) ^ (space as u64) << 32;
    (xxh3_64_with_seed(payload, seed) as u32).to_le_bytes()
}

pub(super) fn seal(space: KeyspaceName, key: &[u8], mut payload: Vec<u8>) -> Vec<u8> {
    payload.extend(checksum(space, key, &payload));
    payload
}

pub(super) fn open<'v>(space: KeyspaceName, key: &[u8], value: &'v [u8]) -> Result<&'v [u8], Damage> {
    let (payload, found) = value.split_last_chunk().ok_or(Damage)?;
    if *found == checksum(space, key, payload) { Ok(payload) } else { Err(Damage) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_opens_where_it_was_put_and_nowhere_else() {
        let value = seal(KeyspaceName::Texts, b"key", b"a text".to_vec());
        assert_eq!(open(KeyspaceName::Texts, b"key", &value), Ok(&b"a text"[..]));
        assert_eq!(open(KeyspaceName::Records, b"key", &value), Err(Damage));
        assert_eq!(open(KeyspaceName::Texts, b"kez", &value), Err(Damage));
        assert_eq!(open(KeyspaceName::Texts, b"key", b"abc"), Err(Damage));
        for bit in 0..8 * value.len() {
            let mut flipped = value.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(KeyspaceName::Texts, b"key", &flipped), Err(Damage), "bit {bit}");
        }
    }
}
