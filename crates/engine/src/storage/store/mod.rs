//! Stored files: the format of all binary files of Minwise, with type, version, sections and checksums of every byte.
//!
//! ```text
//! magic 8 · version u32 · zero u32        the body begins with these 16 bytes
//! section · section · …                   each padded with zeros to a multiple of 64 bytes
//! checksum u64 · checksum u64 · …         of every 64 KiB of the body, the last block shorter
//! header                                  JSON: the sections by name, and the description of this kind of file
//! body bytes u64 · header bytes u64       ┐ the trailer
//! checksum u64 · magic 8                  ┘ of checksums, header and both numbers
//! ```
//!
//! All numbers are little-endian, and checksums are 64-bit XXH3. The header stands at the end, so that a file can be
//! written in one pass. A file that was cut short has no trailer. Sections begin at multiples of 64 bytes, and are read
//! in place from a memory map.

mod check;
mod map;
mod read;
mod write;

use std::collections::BTreeMap;
use std::ops::Range;

use minwise::Sentence;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind};

pub(crate) use map::Mapped;
pub(crate) use read::{OpenCheck, StoredFile};
pub(crate) use write::StoreWriter;

/// Number of bytes per checksum.
const BLOCK_BYTES: usize = 64 << 10;
/// Alignment of sections, in bytes.
const ALIGNMENT: usize = 64;
const TRAILER_BYTES: usize = 32;

/// Format of a stored file: its magic, version and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileKind {
    /// The first and the last bytes of the file.
    pub magic: [u8; 8],
    /// The version that is written, and the only version that can be read.
    pub version: u32,
    /// The name of the format, for messages.
    pub name: &'static str,
    /// The command that makes a file of this format.
    pub made_by: &'static str,
}

/// Header of a stored file, written at the end of the file.
#[derive(Debug, Serialize, Deserialize)]
struct StoreFooter {
    sections: BTreeMap<String, Range<u64>>,
    about: serde_json::Value,
}

fn damaged(path: &str, kind: FileKind, reason: String, ours: bool) -> Error {
    let hint = if ours {
        Sentence::from("make it again with ").action(kind.made_by)
    } else {
        Sentence::new().action(kind.made_by).text(format!(" makes a {}", kind.name))
    };
    ErrorKind::File { path: path.to_owned(), action: "read", reason, hint: Some(hint) }.into()
}

/// Replaces the checksums of a damaged stored file by correct ones, so that a fuzzer reaches the code after the checks.
/// Returns whether the bytes have the layout of a stored file.
#[doc(hidden)]
pub fn seal(bytes: &mut [u8]) -> bool {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    let Some(trailer) = bytes.len().checked_sub(TRAILER_BYTES) else { return false };
    let body_bytes = number(&bytes[trailer..trailer + 8]) as usize;
    let checksums = body_bytes.div_ceil(BLOCK_BYTES);
    if body_bytes > trailer || (trailer - body_bytes) / 8 < checksums {
        return false;
    }
    let (body, end) = bytes.split_at_mut(body_bytes);
    for (block, out) in body.chunks(BLOCK_BYTES).zip(end.chunks_exact_mut(8)) {
        out.copy_from_slice(&xxh3_64(block).to_le_bytes());
    }
    let covered = end.len() - 16;
    let checksum = xxh3_64(&end[..covered]);
    end[covered..covered + 8].copy_from_slice(&checksum.to_le_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use minwise_corpus::Overwrite;
    use proptest::prelude::*;
    use std::path::PathBuf;
    use tempfile::TempDir;

    const KIND: FileKind =
        FileKind { magic: *b"MINWtest", version: 3, name: "test file", made_by: "the test" };

    fn written(sections: &[(&'static str, &[u8])]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut writer = StoreWriter::create(&path, KIND, Overwrite::Refuse).unwrap();
        for (name, bytes) in sections {
            writer.begin(name).unwrap();
            writer.write(bytes).unwrap();
        }
        writer.finish(&serde_json::json!({"answer": 42})).unwrap();
        (folder, path)
    }

    fn reason(path: &std::path::Path) -> String {
        match Mapped::open(path, KIND).unwrap_err().kind() {
            ErrorKind::File { reason, .. } => reason.clone(),
            other => panic!("another error: {other:?}"),
        }
    }

    #[test]
    fn sections_come_back_aligned() {
        let long: Vec<u8> = (0..200_000u32).map(|i| (i * 7) as u8).collect();
        let (_folder, path) = written(&[("one", b"abc"), ("none", b""), ("long", &long)]);
        let mapped = Mapped::open(&path, KIND).unwrap();
        assert_eq!(mapped.section("one").unwrap(), b"abc");
        assert_eq!(mapped.section("none").unwrap(), b"");
        assert_eq!(mapped.section("long").unwrap(), long);
        assert_eq!(mapped.section("long").unwrap().as_ptr().addr() % ALIGNMENT, 0);
        assert_eq!(mapped.about()["answer"], 42);
        assert!(mapped.section("more").is_err());
    }

    #[test]
    fn the_same_content_gives_the_same_bytes() {
        let (_a, first) = written(&[("one", b"abc")]);
        let (_b, second) = written(&[("one", b"abc")]);
        assert_eq!(fs_err::read(first).unwrap(), fs_err::read(second).unwrap());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let (_folder, path) = written(&[("one", b"some bytes"), ("two", &[7; 100])]);
        let whole = fs_err::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs_err::write(&path, &bytes).unwrap();
            assert!(Mapped::open(&path, KIND).is_err(), "byte {at} was flipped");
            fs_err::write(&path, &whole[..at]).unwrap();
            assert!(Mapped::open(&path, KIND).is_err(), "cut at {at}");
        }
        fs_err::write(&path, [&whole[..], b"\n"].concat()).unwrap();
        assert!(Mapped::open(&path, KIND).is_err());
        fs_err::write(&path, &whole).unwrap();
        assert!(Mapped::open(&path, KIND).is_ok());
    }

    #[test]
    fn the_reason_and_the_place_are_named() {
        let (_folder, path) = written(&[("one", &vec![1; 100_000]), ("two", &vec![2; 100_000])]);
        let whole = fs_err::read(&path).unwrap();
        let changed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = whole.clone();
            change(&mut bytes);
            fs_err::write(&path, bytes).unwrap();
            reason(&path)
        };
        assert_eq!(changed(&|bytes| bytes.clear()), "it is empty");
        assert_eq!(changed(&|bytes| bytes[0] = b'X'), "it is no test file");
        assert_eq!(
            changed(&|bytes| bytes[8] = 9),
            "it has format version 9, and this program reads version 3"
        );
        assert_eq!(
            changed(&|bytes| bytes.truncate(150_000)),
            "it ends after 150,000 bytes: it is cut short, or was never finished"
        );
        assert_eq!(
            changed(&|bytes| bytes[70_000] ^= 4),
            "bytes 65,536 to 131,071, in the sections `one` and `two`, are not what was written"
        );
        assert_eq!(
            changed(&|bytes| {
                let end = bytes.len();
                bytes[end - 60] ^= 1;
            }),
            "the description at its end is not what was written"
        );
    }

    /// A sealed file can be opened, whatever was changed in its sections.
    #[test]
    fn a_changed_file_can_be_sealed_again() {
        let (_folder, path) = written(&[("one", &vec![1; 100_000])]);
        let mut bytes = fs_err::read(&path).unwrap();
        bytes[90_000] = 7;
        assert!(seal(&mut bytes));
        fs_err::write(&path, &bytes).unwrap();
        assert_eq!(Mapped::open(&path, KIND).unwrap().section("one").unwrap()[90_000 - 64], 7);
        assert!(!seal(&mut [0; 20]));
    }

    /// A header with a correct checksum can still be wrong: sections must lie in the body and be aligned.
    #[test]
    fn sections_that_are_out_of_place_are_refused() {
        let (_folder, path) = written(&[]);
        for range in [64..200_000, 65..128] {
            let mut writer = StoreWriter::create(&path, KIND, Overwrite::Allow).unwrap();
            writer.begin("one").unwrap();
            writer.write(&[1; 64]).unwrap();
            writer.finish_with_section("two", range).unwrap();
            assert_eq!(reason(&path), "the description at its end is not what was written");
        }
    }

    proptest! {
        /// Opening never panics, whatever the bytes are, and refuses all bytes that no writer has made.
        #[test]
        fn strange_files_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), head: bool, tail: bool) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            let mut file = vec![];
            if head {
                file.extend_from_slice(&KIND.magic);
                file.extend_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
            }
            file.extend_from_slice(&bytes);
            if tail {
                file.extend_from_slice(&KIND.magic);
            }
            fs_err::write(&path, file).unwrap();
            prop_assert!(Mapped::open(&path, KIND).is_err());
        }
    }
}
