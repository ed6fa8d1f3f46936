//! Tests of files in a folder that are no documents, and of files that cannot be read.

use minwise_corpus::{
    Corpus, Encoding, Format, InputFormat, OutputFolder, OutputVerdict, Overwrite, ReadOptions, SkipReason,
    Skipped, Source, TableCompression, copy_each,
};

use crate::support::{Folder, gzip, places, scan};

/// Returns the names of skipped files relative to a folder, with their codes.
fn skipped(corpus: &Corpus, folder: &Folder) -> Vec<(String, &'static str)> {
    let root = format!("{}/", folder.path("").to_string_lossy().trim_end_matches('/'));
    let shown = |Skipped { name, reason, .. }: &Skipped| (name.replace(&root, ""), reason.code());
    corpus.skipped().iter().map(shown).collect()
}

fn ids(corpus: &Corpus) -> Vec<String> {
    scan(corpus, 1 << 20).iter().map(|record| record.maybe_id().unwrap_or("?").to_owned()).collect()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Makes a folder of documents, with files of other programs beside them.
fn documents() -> Folder {
    let folder = Folder::new();
    folder.write("in/a.txt", "a rose");
    folder.write("in/.DS_Store", b"\0\0\0\x01Bud1\0");
    folder.write("in/sub/THUMBS.DB", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
    folder.write("in/sub/Desktop.ini", "[.ShellClassInfo]\n");
    folder.write("in/~$report.docx", "\u{7}Jane");
    folder.write("in/empty.md", "");
    folder.write("in/empty.txt.gz", "");
    folder.write("in/data.bin", (0..=255).cycle().take(10_000).collect::<Vec<u8>>());
    folder.write("in/utf-16.txt", utf16("a rose is a rose"));
    folder.write("in/z.txt", "is a rose");
    folder
}

#[test]
fn files_that_are_no_documents_are_skipped_and_listed() {
    let folder = documents();
    let corpus = folder.open(&["in"]).unwrap();
    assert_eq!(ids(&corpus), ["a.txt", "z.txt"]);
    let expected = [
        ("in/.DS_Store", "system"),
        ("in/data.bin", "binary"),
        ("in/empty.md", "empty"),
        ("in/empty.txt.gz", "empty"),
        ("in/sub/Desktop.ini", "system"),
        ("in/sub/THUMBS.DB", "system"),
        ("in/utf-16.txt", "binary"),
        ("in/~$report.docx", "office_lock"),
    ];
    assert_eq!(skipped(&corpus, &folder), expected.map(|(name, code)| (name.to_owned(), code)));
    assert_eq!(corpus.skipped()[1].reason.to_string(), "it is binary, and of no known format");
    let corpus = folder.open(&["in/*"]).unwrap();
    assert_eq!(ids(&corpus).len(), 2);
    assert_eq!(corpus.skipped().len(), 6, "those of `sub` do not match");
}

#[test]
fn a_file_of_two_inputs_is_listed_once() {
    let folder = documents();
    for inputs in [["in", "in/sub/../*"], ["in/*", "in"], ["in/**/*", "in/*"]] {
        let corpus = folder.open(&inputs).unwrap();
        assert_eq!((corpus.sources().len(), corpus.skipped().len()), (2, 8), "{inputs:?}");
    }
}

#[test]
fn named_files_are_never_skipped() {
    let folder = documents();
    for name in ["in/empty.md", "in/utf-16.txt", "in/sub/Desktop.ini", "in/~$report.docx"] {
        let corpus = folder.open(&[name]).unwrap();
        let codes: Vec<String> = scan(&corpus, 99).iter().map(|record| record.code().to_owned()).collect();
        // UTF-16 without a byte-order mark is not UTF-8, and `--encoding auto` reads it.
        let code = if name == "in/utf-16.txt" { "invalid_utf8" } else { "ok" };
        assert_eq!((codes, corpus.skipped()), (vec![code.to_owned()], &[][..]), "{name}");
    }
    let corpus = folder.open(&["in", "in/data.bin"]).unwrap();
    assert_eq!(corpus.sources().len(), 3, "a folder that holds it does not hide it");
    let corpus = folder.open(&["in/data.bin", "in"]).unwrap();
    assert_eq!((corpus.sources().len(), corpus.skipped().len()), (3, 7));
    let error = folder.open(&["in", "in/*.bin"]).unwrap_err();
    assert!(error.to_string().ends_with("in/data.bin`, was skipped"), "{error}");
}

#[test]
fn marks_formats_and_single_nul_bytes_make_documents() {
    let folder = Folder::new();
    folder.write("in/marked.txt", [b"\xff\xfe", &*utf16("a rose")].concat());
    folder.write("in/packed.txt.gz", gzip("a rose".repeat(99).as_bytes()));
    folder.write("in/stray.txt", [b"a rose ".repeat(1000), vec![0]].concat());
    folder.write("in/page.html", b"<html>\0\0\0");
    let auto = ReadOptions::default().encoding(Encoding::Auto);
    let corpus = folder.open_with(&["in"], &auto).unwrap();
    assert_eq!((corpus.sources().len(), corpus.skipped().len()), (4, 0));
    assert_eq!(scan(&corpus, 99)[0].text(), "a rose");
    // A file with NUL bytes is not skipped if the caller names the format.
    folder.write("in/nul.txt", b"a\0b\0c");
    let text = auto.format(InputFormat::Only(Format::TEXT));
    assert_eq!(folder.open_with(&["in"], &text).unwrap().sources().len(), 5);
    assert_eq!(folder.open(&["in"]).unwrap().skipped()[0].reason, SkipReason::Binary);
}

#[test]
fn records_stay_and_what_lies_beside_them_is_skipped() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", "{\"id\": 1, \"text\": \"a\"}\n");
    folder.write("in/empty.jsonl", "");
    for beside in ["_SUCCESS", ".a.jsonl.crc", "Thumbs.db", "desktop.ini", "part-0"] {
        folder.write(&format!("in/{beside}"), "");
    }
    folder.write("in/dump", b"\0\0\0\0");
    let corpus = folder.open(&["in"]).unwrap();
    let codes: Vec<&str> = corpus.skipped().iter().map(|skipped| skipped.reason.code()).collect();
    assert_eq!(codes, ["left_beside", "system", "left_beside", "system", "binary", "empty"]);
    let names: Vec<&str> = corpus.sources().iter().map(Source::id).collect();
    assert_eq!(names, ["a.jsonl", "empty.jsonl"]);
    let out = OutputFolder::create(&folder.path("out"), Overwrite::Refuse).unwrap();
    let kept = places(&scan(&corpus, 99)).into_iter();
    copy_each(&corpus, kept, OutputVerdict::Kept, None, &out, TableCompression::Keep).unwrap();
    out.finish().unwrap();
    assert_eq!(folder.bytes("out/empty.jsonl"), b"");
    assert_eq!(fs_err::read_dir(folder.path("out")).unwrap().count(), 2);
    let jsonl = ReadOptions::default().format(InputFormat::Only(Format::JSONL));
    folder.write("in/part-0.txt", "");
    let corpus = folder.open_with(&["in/part-*"], &jsonl).unwrap();
    assert_eq!((corpus.sources().len(), corpus.skipped().len()), (2, 0), "empty files of records");
    // An empty file with the name of a compression or of a binary format is probably left from a failed download. In
    // a folder it is skipped; if it is named, it is damaged.
    folder.write("in/b.jsonl.gz", "");
    folder.write("in/c.parquet", "");
    assert_eq!(folder.open(&["in"]).unwrap().skipped().len(), 9);
    assert_eq!(folder.open(&["in/b.jsonl.gz"]).unwrap_err().code(), "damaged");
}

#[test]
fn a_folder_without_documents_is_refused() {
    let folder = Folder::new();
    folder.write("in/.DS_Store", "");
    let error = folder.open(&["in"]).unwrap_err();
    assert_eq!(error.code(), "only_skipped");
    assert!(error.to_string().ends_with("in/.DS_Store`, was skipped"), "{error}");
    folder.write("in/empty.txt", "");
    folder.write("other/a.txt", "a");
    for inputs in [&["other", "in"][..], &["in", "in"], &["in/*"]] {
        let error = folder.open(inputs).unwrap_err();
        assert!(error.to_string().contains("all 2 files were skipped, "), "{error}");
        assert!(error.hint().unwrap().to_string().contains("name"));
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use minwise_corpus::{Scratch, refuse_same_names, refuse_unlike};

    use super::*;
    use crate::support::{Record, all};

    /// Makes a folder of two files, with a link that leads nowhere between them.
    fn broken(first: &str, last: &str, bytes: impl AsRef<[u8]>) -> Folder {
        let folder = Folder::new();
        folder.write(&format!("in/{first}"), &bytes);
        folder.write(&format!("in/{last}"), &bytes);
        symlink("nowhere", folder.path("in/b")).unwrap();
        folder
    }

    #[test]
    fn an_unreadable_file_is_a_reject_in_its_place() {
        let folder = broken("a.txt", "c.txt", "a rose");
        symlink(".", folder.path("in/back")).unwrap();
        symlink("two", folder.path("in/one")).unwrap();
        symlink("one", folder.path("in/two")).unwrap();
        let corpus = folder.open(&["in"]).unwrap();
        for target in [1, 1 << 20] {
            let records = scan(&corpus, target);
            let codes: Vec<(&str, &str)> = records
                .iter()
                .map(|record| (corpus.sources()[record.place.source as usize].id(), record.code()))
                .collect();
            let bad = "unreadable";
            let expected =
                [("a.txt", "ok"), ("b", bad), ("back", bad), ("c.txt", "ok"), ("one", bad), ("two", bad)];
            assert_eq!(codes, expected);
            let reason = |at: usize| records[at].reject().reason.to_string();
            assert_eq!(reason(1), "cannot be read: it is a link to `nowhere`, which does not exist");
            assert!(
                reason(2).starts_with("cannot be read: it is a link that leads back to `"),
                "{}",
                reason(2)
            );
            assert_eq!(reason(4), "cannot be read: it is a link that leads in a circle");
        }
        assert!(corpus.place_name(1, 0).ends_with("in/b"));
        // A pattern that does not match the link ignores the link.
        assert_eq!(folder.open(&["in/*.txt"]).unwrap().sources().len(), 2);
        let twice = folder.open(&["in", "in/b*"]).unwrap();
        assert_eq!(twice.sources().len(), 6, "a link of two inputs is rejected once");
    }

    #[test]
    fn an_unreadable_file_is_an_error_if_strict_or_alone() {
        let folder = broken("a.txt", "c.txt", "a rose");
        let strict = ReadOptions::default().strict(true);
        let error = folder.open_with(&["in"], &strict).unwrap_err();
        assert_eq!(error.code(), "unreadable");
        assert!(
            error
                .to_string()
                .ends_with("in/b` cannot be read: it is a link to `nowhere`, which does not exist")
        );
        assert!(error.hint().unwrap().to_string().contains("`strict`"));
        symlink("nowhere", folder.path("in/d")).unwrap();
        let error = folder.open_with(&["in"], &strict).unwrap_err();
        assert!(error.to_string().ends_with("; another file cannot be read either"), "{error}");
        let error = folder.open(&["in/[bd]"]).unwrap_err();
        assert_eq!(error.code(), "unreadable");
        assert!(error.hint().unwrap().to_string().contains("check the permissions of the files"));
        let error = folder.open(&["in/b"]).unwrap_err();
        assert_eq!(error.code(), "not_found", "it was named");
        folder.write("out/e.txt", "a rose");
        assert!(folder.open_with(&["out"], &strict).is_ok());
    }

    /// Outputs of every format leave out sources that cannot be read.
    #[test]
    fn outputs_leave_out_unreadable_files() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a rose"]));
        let table = crate::arrow::file(&[RecordBatch::try_from_iter([("text", texts)]).unwrap()], None);
        let parquet = crate::parquet::small(1, 1);
        let warc = b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <x>\r\nContent-Length: 6\r\n\r\na rose\r\n\r\n";
        for (extension, bytes) in [
            ("jsonl", &b"{\"text\": \"a rose\"}\n"[..]),
            ("csv", b"text\na rose\n"),
            ("warc", warc),
            ("arrow", &table),
            ("parquet", &parquet),
        ] {
            let folder = broken(&format!("a.{extension}"), &format!("c.{extension}"), bytes);
            // The first source cannot be read, either.
            symlink("nowhere", folder.path("in/0")).unwrap();
            let corpus = folder.open(&["in"]).unwrap();
            assert_eq!(corpus.sources().len(), 4, "{extension}");
            refuse_unlike(&corpus).unwrap();
            refuse_same_names(&corpus, None).unwrap();
            let records = scan(&corpus, 99);
            let codes: Vec<&str> = records.iter().map(Record::code).collect();
            assert_eq!(codes, ["unreadable", "ok", "unreadable", "ok"], "{extension}");
            let kept: Vec<_> =
                records.iter().filter(|record| record.code() == "ok").map(|record| record.place).collect();
            assert_eq!(all(&corpus), 0..4);
            for kept in [&kept[..], &[]] {
                let name = format!("one-{}.{extension}", kept.len());
                folder.copy(&corpus, kept, &name, TableCompression::Keep);
                let again = folder.open(&[&name]).unwrap();
                assert_eq!(scan(&again, 99).len(), kept.len(), "{extension}");
            }
            if extension != "warc" {
                folder.annotate(&corpus, &kept, &format!("annotated.{extension}"));
            }
            let out = OutputFolder::create(&folder.path("out"), Overwrite::Refuse).unwrap();
            copy_each(&corpus, kept.into_iter(), OutputVerdict::Kept, None, &out, TableCompression::Keep)
                .unwrap();
            out.finish().unwrap();
            assert_eq!(fs_err::read_dir(folder.path("out")).unwrap().count(), 2, "{extension}");
        }
    }

    #[test]
    fn an_unreadable_file_has_a_hash_of_its_own() {
        let folder = broken("a.jsonl", "c.jsonl", "");
        let corpus = folder.open(&["in"]).unwrap();
        let hash = |corpus: &Corpus, source| corpus.content_hash(source, &mut |_| true).unwrap().unwrap();
        assert_eq!(hash(&corpus, 1), hash(&folder.open(&["in"]).unwrap(), 1));
        assert_ne!(hash(&corpus, 1), hash(&corpus, 0));
        let place = scan(&corpus, 9)[0].place;
        assert_eq!(corpus.read(&place, &mut Scratch::new()).unwrap_err().code(), "bad_record");
    }
}
