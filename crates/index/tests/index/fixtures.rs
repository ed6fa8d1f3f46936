//! Tests of stored indexes of released versions, and of damaged indexes. Every later version must read an
//! index of a released version, or reject it with a clear error.
//!
//! `tests/fixtures/v1.tar.zst` was written by format version 1. `tests/fixtures/corrupt` has single damaged
//! files, each of which replaces the intact file of an index.

use std::path::{Path, PathBuf};

use fs_err as fs;
use minwise::text::UNICODE;
use minwise_index::{CheckOptions, ErrorKind, Index, IndexSettings, Query, Unobserved};
use xxhash_rust::xxh3::xxh3_64;

use crate::support::{document, text};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Unpacks a copy of the fixture, so that it can be opened.
fn copy() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let packed = fs::read(fixture("v1.tar.zst")).unwrap();
    tar::Archive::new(&zstd::decode_all(&packed[..]).unwrap()[..]).unpack(&path).unwrap();
    (folder, path)
}

#[test]
fn an_index_of_version_1_is_read() {
    let (_folder, path) = copy();
    let index = Index::open(&path).unwrap();
    assert_eq!(*index.settings(), IndexSettings::default());
    assert_eq!(index.ids().unwrap(), ["a", "b", "中文"]);
    assert_eq!(index.get("b").unwrap().unwrap().text.unwrap(), text(2, 60));
    assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
    let answer = index.check(&Query::new(&text(1, 60)), &CheckOptions::default()).unwrap();
    assert_eq!((answer.matches[0].id.as_str(), answer.matches[0].similarity), ("a", 1.0));
    index.add(&[document("d", &text(4, 60))], 0, 1).unwrap();
    assert_eq!(index.check_integrity(&Unobserved).unwrap().documents, 4);
}

#[test]
fn damaged_files_are_told() {
    for (file, place, says) in [
        ("header-of-version-9", "header", "has format version 9, and this program reads version 1"),
        ("header-changed", "header", "it does not match its checksum"),
        ("header-cut", "header", "it has no checksum"),
        ("header-of-another-unicode", "header", "the archive was made with Unicode 3.0"),
        ("acknowledged-changed", "acknowledged", "it does not match its checksum"),
        ("acknowledged-of-more", "acknowledged", "was acknowledged, but the newest change that is stored is"),
    ] {
        let (_folder, path) = copy();
        fs::copy(fixture("corrupt").join(file), path.join(place)).unwrap();
        let error = Index::open(&path).unwrap_err();
        assert!(error.to_string().contains(says), "{file}: {error}");
        assert!(error.hint().is_some(), "{file}");
        assert!(!matches!(error.kind(), ErrorKind::Io { .. }), "{file}");
    }
}

/// Writes the fixtures anew, which is only needed for a new format version.
#[test]
#[ignore = "by hand: it writes the fixtures"]
fn write_the_fixtures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let index = Index::create(&path, &IndexSettings::default()).unwrap();
    let documents =
        [document("a", &text(1, 60)), document("b", &text(2, 60)), document("中文", "这是一个例子")];
    index.add(&documents, 1_700_000_000, 1).unwrap();
    drop(index);
    fs::write(path.join("lock"), "").unwrap();
    let mut packer = tar::Builder::new(vec![]);
    packer.mode(tar::HeaderMode::Deterministic);
    packer.append_dir_all(".", &path).unwrap();
    let packed = zstd::encode_all(&packer.into_inner().unwrap()[..], 19).unwrap();
    fs::create_dir_all(fixture("corrupt")).unwrap();
    fs::write(fixture("v1.tar.zst"), packed).unwrap();

    let header = fs::read_to_string(path.join("header")).unwrap();
    let (lines, _) = header.split_once("checksum").unwrap();
    let sealed = |lines: String| format!("{lines}checksum = {:016x}\n", xxh3_64(lines.as_bytes()));
    let acknowledged = [99u64.to_le_bytes(), xxh3_64(&99u64.to_le_bytes()).to_le_bytes()].concat();
    for (name, bytes) in [
        ("header-of-version-9", sealed(lines.replace("format = 1", "format = 9")).into_bytes()),
        ("header-changed", header.replace("bands = 42", "bands = 41").into_bytes()),
        ("header-cut", lines.into()),
        ("header-of-another-unicode", sealed(lines.replace(UNICODE, "3.0")).into_bytes()),
        ("acknowledged-changed", vec![7; 16]),
        ("acknowledged-of-more", acknowledged),
    ] {
        fs::write(fixture("corrupt").join(name), bytes).unwrap();
    }
}
