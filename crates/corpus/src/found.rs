//! Keeps texts whose extraction took long, so that they can be read again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use minwise::Unobserved;

use crate::decode::Decoded;
use crate::error::{Error, Result, SPOOL};
use crate::positional::read_at;
use crate::scratch::grown;
use crate::spool::{Spool, Spooled};

/// Extracted texts, by the numbers of their sources and the offsets of their records.
#[derive(Debug)]
pub(crate) struct FoundTexts(Mutex<SharedTexts>);

#[derive(Debug)]
struct SharedTexts {
    spool: Spool,
    places: HashMap<(u32, u64), (Spooled, bool)>,
}

impl FoundTexts {
    /// Makes an empty store. Its file will be created in `folder`, or else in the system's folder for temporary
    /// files.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self(Mutex::new(SharedTexts { spool: Spool::new(folder), places: HashMap::new() }))
    }

    /// Keeps the text of the record at `(source, offset)`.
    pub(crate) fn keep(&self, record: (u32, u64), found: &Decoded<'_>) -> Result<()> {
        let mut shared = self.shared();
        let place = shared.spool.append(SPOOL, None, &mut found.text.as_bytes(), &Unobserved)?;
        shared.places.insert(record, (place, found.repaired));
        Ok(())
    }

    /// Reads the text of the record at `(source, offset)`, if the text was kept.
    pub(crate) fn read<'b>(&self, record: (u32, u64), bytes: &'b mut Vec<u8>) -> Result<Option<Decoded<'b>>> {
        let shared = self.shared();
        let Some((place, repaired)) = shared.places.get(&record).copied() else { return Ok(None) };
        let lost = || Error::io("read", SPOOL, std::io::ErrorKind::UnexpectedEof.into());
        let out = grown(bytes, place.size_bytes as usize);
        if !out.is_empty() {
            let file = shared.spool.opened().ok_or_else(lost)?;
            let read = read_at(file, place.base, out).map_err(|error| Error::io("read", SPOOL, error))?;
            if read < out.len() {
                return Err(lost());
            }
        }
        let text = simdutf8::basic::from_utf8(out).map_err(|_| lost())?;
        Ok(Some(Decoded { text: Cow::Borrowed(text), repaired }))
    }

    fn shared(&self) -> MutexGuard<'_, SharedTexts> {
        // A panic under the lock leaves valid data, because a text gets its place only after it was written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_by_their_records() {
        let texts = FoundTexts::new(None);
        let decoded = |text| Decoded { text: Cow::Borrowed(text), repaired: false };
        for (record, text) in [((7, 0), "one"), ((3, 0), ""), ((7, 9), "naïve")] {
            texts.keep(record, &decoded(text)).unwrap();
        }
        let mut bytes = Vec::new();
        for (record, text) in [((7, 9), "naïve"), ((3, 0), ""), ((7, 0), "one")] {
            assert_eq!(texts.read(record, &mut bytes).unwrap(), Some(decoded(text)));
        }
        assert_eq!(texts.read((3, 9), &mut bytes).unwrap(), None);
    }
}
