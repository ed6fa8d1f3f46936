//! Tests of files of lines and of texts: how they are read, and how their records are copied.

#[cfg(unix)]
use std::ffi::OsStr;
#[cfg(unix)]
use std::io::Write;
use std::path::Path;

use minwise_corpus::{
    Corpus, Encoding, ErrorKind, Format, Input, InputFormat, Layout, Output, OutputVerdict, Overwrite,
    ReadOptions, RecordPlace, RejectReason, Scratch, TableCompression, Unobserved, copy_records,
};
use proptest::prelude::*;

use crate::support::{Folder, Record, bz2, format, gzip, scan, xz, zst};

const THREE: &str =
    "{\"id\": 1, \"text\": \"a\"}\n{\"id\": 2, \"text\": \"b\\n\"}\n{\"id\": 3, \"text\": \"c\"}\n";

#[test]
fn every_form_of_a_file_gives_the_same_documents() {
    let folder = Folder::new();
    let halves = THREE.as_bytes().split_at(30);
    folder.write("plain.jsonl", THREE);
    folder.write("one.jsonl.gz", gzip(THREE.as_bytes()));
    folder.write("one.jsonl.zst", zst(THREE.as_bytes()));
    folder.write("one.jsonl.bz2", bz2(THREE.as_bytes()));
    folder.write("one.jsonl.xz", xz(THREE.as_bytes()));
    folder.write("members.jsonl.gz", [gzip(halves.0), gzip(halves.1)].concat());
    folder.write("frames.jsonl.zst", [zst(halves.0), zst(halves.1)].concat());
    folder.write("not-compressed.jsonl.gz", THREE);
    folder.write("unnamed", THREE);
    folder.write("unnamed-compressed", zst(THREE.as_bytes()));
    folder.write("windows.jsonl", THREE.replace('\n', "\r\n"));
    folder.write("marked.jsonl", format!("\u{feff}{THREE}"));
    folder.write("blank-lines.jsonl", format!("\n  \n{}\n\t\n", THREE.replace('\n', "\n\n")));
    folder.write("no-line-end.jsonl", THREE.trim_end());
    for name in folder.names() {
        let corpus = folder.open(&[&name]).unwrap();
        assert_eq!(corpus.layout(), Layout::Records, "{name}");
        let records = scan(&corpus, 16);
        let ids: Vec<&str> = records.iter().map(Record::id).collect();
        let texts: Vec<&str> = records.iter().map(Record::text).collect();
        assert_eq!((ids, texts), (vec!["1", "2", "3"], vec!["a", "b\n", "c"]), "{name}");
    }
}

#[test]
fn a_bad_record_does_not_stop_the_others() {
    let folder = Folder::new();
    let mut bytes = b"{\"text\": \"first\"}\n{\"text\": \"\xff\"}\nnot json\n[]\n".to_vec();
    bytes.extend_from_slice(b"{\"id\": \"x\"}\n{\"text\": 3}\n{\"text\": \"\\ud800\"}\n{\"text\": \"last\"}");
    folder.write("a.jsonl", bytes);
    let records = scan(&folder.open(&["a.jsonl"]).unwrap(), 1 << 20);
    let codes: Vec<&str> = records.iter().map(Record::code).collect();
    let expected =
        ["ok", "invalid_utf8", "invalid_json", "not_an_object", "missing_field", "wrong_type", "ok", "ok"];
    assert_eq!(codes, expected);
    assert_eq!(records[1].reject().reason, RejectReason::InvalidUtf8 { at: 10 });
    assert_eq!(records[4].reject().id.as_deref(), Some("x"));
    assert!(records[6].repaired());
    assert_eq!(records.iter().map(|record| record.line).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_long_record_is_skipped_and_not_loaded() {
    let folder = Folder::new();
    let long = format!("{{\"text\": \"{}\"}}\n", "x".repeat(3_000_000));
    folder.write("a.jsonl", format!("{{\"text\": \"a\"}}\n{long}{{\"text\": \"b\"}}\n"));
    let options = ReadOptions::default().max_record_bytes(1000);
    for target in [64, 4096, 1 << 20, 1 << 24] {
        let corpus = folder.open_with(&["a.jsonl"], &options).unwrap();
        let records = scan(&corpus, target);
        let codes: Vec<&str> = records.iter().map(Record::code).collect();
        assert_eq!(codes, ["ok", "too_large", "ok"], "{target}");
        assert_eq!(records[1].place.len as usize, long.len());
        assert_eq!(records[2].text(), "b");
    }
    let corpus = folder.open(&["a.jsonl"]).unwrap();
    assert_eq!(scan(&corpus, 4096)[1].text().len(), 3_000_000);
}

#[test]
fn the_limit_is_the_same_wherever_a_chunk_ends() {
    let folder = Folder::new();
    for line_end in ["", "\n"] {
        let line = format!("{{\"text\": \"{}\"}}", "x".repeat(300_000));
        folder.write("a.jsonl", format!("{line}{line_end}"));
        for (limit, code) in [(line.len(), "ok"), (line.len() - 1, "too_large")] {
            let options = ReadOptions::default().max_record_bytes(limit as u64);
            let corpus = folder.open_with(&["a.jsonl"], &options).unwrap();
            for target in [1000, 250_000, 1 << 20] {
                let codes: Vec<&str> = scan(&corpus, target).iter().map(Record::code).collect();
                assert_eq!(codes, [code], "limit {limit}, chunks of {target}");
            }
        }
    }
}

#[test]
fn threads_share_a_corpus() {
    let folder = Folder::new();
    folder.write("a.jsonl", THREE.repeat(500));
    folder.write("b.jsonl.gz", gzip(THREE.repeat(500).as_bytes()));
    let corpus = folder.open(&["a.jsonl", "b.jsonl.gz"]).unwrap();
    let alone = scan(&corpus, 1 << 20);
    std::thread::scope(|threads| {
        for target in [100, 1000, 10_000] {
            let (corpus, alone) = (&corpus, &alone);
            threads.spawn(move || assert_eq!(&scan(corpus, target), alone));
        }
    });
}

/// Several threads decompress a large Zstandard file of several frames. The documents are those of the plain file.
#[test]
fn threads_decompress_frames() {
    let folder = Folder::new();
    let word = |n: u64| format!("{:x} ", n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24);
    let line = |n: u64| format!("{{\"text\":\"{}\"}}\n", (50 * n..50 * n + 50).map(word).collect::<String>());
    let plain: String = (0..20_000).map(line).collect();
    let frames: Vec<u8> = plain.as_bytes().chunks(700_000).flat_map(zst).collect();
    assert!(frames.len() > 5 << 20, "{} bytes", frames.len());
    folder.write("a.jsonl", &plain);
    folder.write("b.jsonl.zst", &frames);
    let texts = |name: &str, threads: usize| -> Vec<String> {
        let corpus = folder.open_with(&[name], &ReadOptions::default().threads(threads)).unwrap();
        scan(&corpus, 1 << 20).iter().map(|record| record.text().to_owned()).collect()
    };
    let expected = texts("a.jsonl", 1);
    assert_eq!(expected.len(), 20_000);
    for threads in [1, 2, 7] {
        assert!(texts("b.jsonl.zst", threads) == expected, "{threads} threads");
    }
    folder.write("cut.jsonl.zst", &frames[..frames.len() - 1]);
    let errors = [1, 3].map(|threads| {
        let error =
            folder.open_with(&["cut.jsonl.zst"], &ReadOptions::default().threads(threads)).unwrap_err();
        error.to_string()
    });
    assert_eq!(errors[0], errors[1]);
}

#[test]
fn many_files_need_not_be_open_at_once() {
    let folder = Folder::new();
    for number in 0..600 {
        folder.write(&format!("data/{number}.jsonl"), THREE);
    }
    let corpus = folder.open(&["data"]).unwrap();
    let records = scan(&corpus, 1 << 20);
    assert_eq!(records.len(), 1800);
    let mut scratch = Scratch::new();
    for record in &records {
        assert_eq!(corpus.read(&record.place, &mut scratch).unwrap().text, record.text());
    }
}

#[test]
fn a_record_is_read_again_by_its_place() {
    let folder = Folder::new();
    folder.write("a.jsonl", THREE.replace('\n', "\r\n"));
    folder.write("b.jsonl.gz", gzip(THREE.trim_end().as_bytes()));
    let corpus = folder.open(&["a.jsonl", "b.jsonl.gz"]).unwrap();
    let mut scratch = Scratch::new();
    for record in scan(&corpus, 32) {
        let document = corpus.read(&record.place, &mut scratch).unwrap();
        assert_eq!((document.id.as_deref(), &*document.text), (Some(record.id()), record.text()));
        let raw = corpus.read_raw(&record.place, &mut scratch).unwrap();
        let line_end = match (record.place.source, record.line) {
            (0, _) => "\r\n",
            (_, 2) => "",
            _ => "\n",
        };
        assert!(raw.starts_with(b"{") && raw.ends_with(format!("}}{line_end}").as_bytes()));
    }
    let nowhere = RecordPlace { source: 9, line: 0, offset: 0, len: 1 };
    assert!(matches!(corpus.read(&nowhere, &mut scratch).unwrap_err().kind(), ErrorKind::NoSuchPlace { .. }));
    let beyond = RecordPlace { source: 0, line: 0, offset: u64::MAX, len: 9 };
    assert!(matches!(
        corpus.read_raw(&beyond, &mut scratch).unwrap_err().kind(),
        ErrorKind::NoSuchPlace { .. }
    ));
    let amid = RecordPlace { source: 0, line: 0, offset: 1, len: 5 };
    let error = corpus.read(&amid, &mut scratch).unwrap_err();
    assert!(error.to_string().contains("is not a document"), "{error}");
}

/// A chunk belongs to the corpus that made it. In another corpus, the chunk may lie beyond the end, which is an error
/// and not an empty chunk.
#[test]
fn a_chunk_of_another_corpus_is_refused() {
    let (small, large) = (Folder::new(), Folder::new());
    small.write("a.jsonl", THREE);
    large.write("a.jsonl", THREE.repeat(9));
    small.write("a.csv", "text\none\n");
    large.write("a.csv", format!("text\n{}", "one\n".repeat(1_000_000)));
    small.write("a.txt", "one");
    (0..9).for_each(|number| large.write(&format!("texts/{number}.txt"), "one"));
    for (names, here, there) in [
        ("lines", small.open(&["a.jsonl"]), large.open(&["a.jsonl"])),
        ("records", small.open(&["a.csv"]), large.open(&["a.csv"])),
        ("texts", small.open(&["a.txt"]), large.open(&["texts"])),
        ("lines of records", small.open(&["a.csv"]), small.open(&["a.jsonl"])),
        ("records of lines", small.open(&["a.jsonl"]), small.open(&["a.csv"])),
    ] {
        let (here, there) = (here.unwrap(), there.unwrap());
        let chunk = there.chunks(1).pop().unwrap();
        let error = here.scan(&chunk, &mut Scratch::new(), &mut |_, _| {}).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NoSuchPlace { .. }), "{names}: {error}");
    }
}

#[test]
fn a_file_that_changed_is_not_read_as_data() {
    let folder = Folder::new();
    folder.write("a.jsonl", THREE);
    folder.write("a.txt", "text");
    for (name, longer) in [("a.jsonl", format!("{THREE}{THREE}")), ("a.txt", "longer text".to_owned())] {
        let corpus = folder.open(&[name]).unwrap();
        let place = scan(&corpus, 1 << 20)[0].place;
        folder.write(name, longer);
        let error = corpus.read(&place, &mut Scratch::new()).unwrap_err();
        assert!(error.to_string().ends_with("changed while it was being read"), "{error}");
        let chunk = &corpus.chunks(1 << 20)[0];
        assert!(corpus.scan(chunk, &mut Scratch::new(), &mut |_, _| ()).is_err());
    }
}

#[test]
fn texts_are_one_document_per_file() {
    let folder = Folder::new();
    folder.write("texts/b.txt", "second");
    folder.write("texts/a/x.txt", "\u{feff}first");
    folder.write("texts/empty", "");
    folder.write("texts/packed.txt.gz", gzip(b"unpacked"));
    folder.write("texts/latin.txt", b"na\xefve");
    folder.write("texts/damaged.zst", &zst(b"gone, gone, gone")[..12]);
    let corpus = folder.open(&["texts"]).unwrap();
    assert_eq!(corpus.layout(), Layout::Texts);
    let records = scan(&corpus, 4);
    let seen: Vec<(&str, &str)> = records.iter().map(|record| (record.id(), record.code())).collect();
    let expected = [
        ("a/x.txt", "ok"),
        ("b.txt", "ok"),
        ("damaged.zst", "damaged"),
        ("latin.txt", "invalid_utf8"),
        ("packed.txt.gz", "ok"),
    ];
    assert_eq!(seen, expected);
    assert_eq!(records[0].text(), "first");
    assert_eq!(corpus.skipped().len(), 1, "the empty file is no document");
    assert_eq!(records[4].text(), "unpacked");
    let packed = corpus.read_raw(&records[4].place, &mut Scratch::new()).unwrap().to_vec();
    assert_eq!(packed, gzip(b"unpacked"), "a file is passed on as it is stored");
    assert!(corpus.sources()[0].name().ends_with("texts/a/x.txt"));

    let options = ReadOptions::default().encoding(Encoding::Latin1);
    let named = folder.open_with(&["texts/latin.txt"], &options).unwrap();
    let records = scan(&named, 1);
    // If a file is named by an absolute path, its id is only its file name, because an id is a path inside a folder.
    assert_eq!((records[0].id(), records[0].text()), ("latin.txt", "naïve"));
}

#[test]
fn a_compressed_text_may_not_unfold_without_end() {
    let folder = Folder::new();
    folder.write("bomb.gz", gzip(&vec![b'x'; 1 << 20]));
    folder.write("large.txt", vec![b'x'; 40_000]);
    let options = ReadOptions::default().max_record_bytes(30_000);
    let records = scan(&folder.open_with(&["*"], &options).unwrap(), 1 << 20);
    assert_eq!(records[0].reject().reason, RejectReason::TooLarge { bytes: 30_001, limit: 30_000 });
    assert_eq!(records[1].reject().reason, RejectReason::TooLarge { bytes: 40_000, limit: 30_000 });
}

#[test]
fn kinds_of_input_are_not_mixed() {
    let folder = Folder::new();
    folder.write("data/a.jsonl", THREE);
    folder.write("data/notes", "text");
    let error = folder.open(&["data"]).unwrap_err();
    assert!(error.to_string().contains("data/a.jsonl` is JSONL and "), "{error}");
    assert!(error.to_string().ends_with("data/notes` is a document"), "{error}");
    assert!(error.hint().unwrap().to_string().contains("`input_format`"));
    assert_eq!(folder.open(&["data/*.jsonl"]).unwrap().sources().len(), 1);
    let options = ReadOptions::default().format(InputFormat::Only(Format::TEXT));
    assert_eq!(folder.open_with(&["data"], &options).unwrap().layout(), Layout::Texts);
    let options = ReadOptions::default().format(InputFormat::Only(Format::JSONL));
    assert_eq!(scan(&folder.open_with(&["data"], &options).unwrap(), 99).len(), 4);
}

#[test]
fn an_empty_file_is_what_its_name_says() {
    let folder = Folder::new();
    folder.write("a.jsonl", "");
    folder.write("a.txt", "");
    assert_eq!(scan(&folder.open(&["a.jsonl"]).unwrap(), 9).len(), 0);
    assert_eq!(scan(&folder.open(&["a.txt"]).unwrap(), 9)[0].text(), "");
    folder.write("empty.jsonl.zst", zst(b""));
    assert_eq!(scan(&folder.open(&["empty.jsonl.zst"]).unwrap(), 9).len(), 0);
}

#[test]
fn inputs_that_lead_nowhere_are_named() {
    let folder = Folder::new();
    fs_err::create_dir_all(folder.path("empty")).unwrap();
    let message = |input: &str| folder.open(&[input]).unwrap_err().to_string();
    assert!(message("missing.jsonl").starts_with("no such file or folder: `"));
    assert!(message("*.jsonl").starts_with("no file matches the pattern `"));
    assert!(message("empty").starts_with("there are no files in the folder `"));
    let error = Corpus::open(&[], &ReadOptions::default(), &Unobserved).unwrap_err();
    assert_eq!(error.to_string(), "no input was given");
}

#[test]
fn a_path_is_only_a_path() {
    let folder = Folder::new();
    folder.write("a.jsonl", THREE);
    let open = |input: Input| Corpus::open(&[input], &ReadOptions::default(), &Unobserved);
    let error = open(folder.path("*.jsonl").into()).unwrap_err();
    assert_eq!(error.code(), "not_found", "a path is never a pattern");
    assert_eq!(
        open(Path::new("-").into()).unwrap_err().code(),
        "not_found",
        "a path is never standard input"
    );
    let pattern = folder.path("[a].jsonl").to_string_lossy().into_owned();
    assert_eq!(open(Input::Pattern(pattern)).unwrap().sources().len(), 1);
    folder.write("[a].jsonl", THREE);
    let pattern = folder.path("[a].jsonl").to_string_lossy().into_owned();
    let found = open(Input::Pattern(pattern)).unwrap();
    assert!(found.sources()[0].name().ends_with("/a.jsonl"), "a pattern is never a path");
}

#[cfg(unix)]
#[test]
fn a_path_need_not_be_utf_8() {
    use minwise_corpus::Source;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    let name = |name: &[u8]| folder.path("").join(OsStr::from_bytes(name));
    fs_err::create_dir_all(name(b"d\xff")).unwrap();
    for path in [name(b"a\xff.jsonl"), name(b"d\xff/b.jsonl")] {
        fs_err::write(path, THREE).unwrap();
    }
    let inputs = [Input::from_word(name(b"a\xff.jsonl")), Input::from_word(name(b"d\xff"))];
    let corpus = Corpus::open(&inputs, &ReadOptions::default(), &Unobserved).unwrap();
    let names: Vec<&str> = corpus.sources().iter().map(Source::id).collect();
    assert_eq!(names, ["a\u{fffd}.jsonl", "b.jsonl"]);
    assert_eq!(scan(&corpus, 1000).len(), 6);
}

#[test]
fn a_file_is_read_once() {
    let folder = Folder::new();
    folder.write("data/a.jsonl", THREE);
    folder.write("data/[1].jsonl", THREE);
    let error = folder.open(&["data/a.jsonl", "data/../data/a.jsonl"]).unwrap_err();
    assert!(error.to_string().ends_with("are the same file"), "{error}");
    let error = folder.open(&["data/a.jsonl", "data/a.jsonl"]).unwrap_err();
    assert!(error.to_string().ends_with("is given twice"), "{error}");
    let names = |inputs: &[&str]| folder.open(inputs).unwrap().sources().len();
    assert_eq!(names(&["data", "data/*.jsonl", "data/a.jsonl"]), 2);
    assert_eq!(names(&["data/[1].jsonl"]), 1, "a file comes before a pattern");
}

#[cfg(unix)]
#[test]
fn links_are_the_file_they_lead_to_and_hard_links_are_not() {
    let folder = Folder::new();
    folder.write("data/a.jsonl", THREE);
    std::os::unix::fs::symlink("a.jsonl", folder.path("data/b.jsonl")).unwrap();
    assert_eq!(folder.open(&["data"]).unwrap().sources().len(), 1);
    fs_err::hard_link(folder.path("data/a.jsonl"), folder.path("data/c.jsonl")).unwrap();
    let corpus = folder.open(&["data"]).unwrap();
    let names: Vec<&str> =
        corpus.sources().iter().filter_map(|source| source.name().rsplit('/').next()).collect();
    assert_eq!(names, ["a.jsonl", "c.jsonl"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf8_can_be_read() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = OsStr::from_bytes(b"na\xefve.txt");
    fs_err::create_dir_all(folder.path("texts")).unwrap();
    fs_err::write(folder.path("texts").join(name), "text").unwrap();
    let corpus = folder.open(&["texts"]).unwrap();
    let records = scan(&corpus, 9);
    assert_eq!((records[0].id(), records[0].text()), ("na\u{fffd}ve.txt", "text"));
    assert_eq!(corpus.sources()[0].path().unwrap().file_name(), Some(name));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_spooled() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || {
            let mut pipe = fs_err::OpenOptions::new().write(true).open(pipe).unwrap();
            pipe.write_all(&gzip(THREE.as_bytes())).unwrap();
        }
    });
    let corpus = folder.open(&["pipe"]).unwrap();
    writer.join().unwrap();
    assert_eq!(scan(&corpus, 9).len(), 3);
    assert_eq!(scan(&corpus, 64).len(), 3, "it can be read again");
}

#[test]
fn a_damaged_file_is_named() {
    let folder = Folder::new();
    for (name, whole) in [
        ("a.jsonl.gz", gzip(THREE.as_bytes())),
        ("a.jsonl.zst", zst(THREE.as_bytes())),
        ("a.jsonl.bz2", bz2(THREE.as_bytes())),
        ("a.jsonl.xz", xz(THREE.as_bytes())),
    ] {
        for left in [&whole[..whole.len() - 2], &[]] {
            folder.write(name, left);
            let error = folder.open(&[name]).unwrap_err();
            assert!(error.to_string().contains(&format!("{name}` is damaged: its ")), "{error}");
            assert!(error.hint().is_some());
        }
    }
}

#[test]
fn kept_records_are_copied_byte_for_byte() {
    let folder = Folder::new();
    folder.write("a.jsonl", "\u{feff}{\"text\": \"a\"}\r\n{ \"text\":\"b\" }\n\n{\"text\": \"c\"}");
    folder.write("b.jsonl.zst", zst(b"{\"text\": \"d\"}\n{\"text\": \"e\"}"));
    let corpus = folder.open(&["a.jsonl", "b.jsonl.zst"]).unwrap();
    let places: Vec<RecordPlace> = scan(&corpus, 8).iter().map(|record| record.place).collect();
    let copy = |name: &str, places: &[RecordPlace]| {
        let mut out = Output::create(&folder.path(name), Overwrite::Refuse).unwrap();
        copy_records(
            &corpus,
            0..2,
            places.iter().copied(),
            OutputVerdict::Kept,
            format(&corpus),
            &mut out,
            TableCompression::Keep,
        )
        .unwrap();
        out.finish().unwrap();
        fs_err::read_to_string(folder.path(name)).unwrap()
    };
    assert_eq!(copy("none", &[]), "");
    assert_eq!(copy("some", &[places[0], places[2]]), "\u{feff}{\"text\": \"a\"}\r\n{\"text\": \"c\"}");
    assert_eq!(
        copy("all", &places),
        "\u{feff}{\"text\": \"a\"}\r\n{ \"text\":\"b\" }\n{\"text\": \"c\"}\n{\"text\": \"d\"}\n{\"text\": \"e\"}"
    );
}

/// Makes lines of every sort: documents, blank lines, broken lines, and lines with bytes that are not UTF-8.
fn lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let line = prop_oneof![
        4 => "[a-zé\\\\n ]{0,40}".prop_map(|text| serde_json::json!({ "id": text.len(), "text": text }).to_string().into_bytes()),
        1 => Just(Vec::new()),
        1 => Just(b" \r".to_vec()),
        1 => Just(b"{\"text\": \"\xff\"}".to_vec()),
        1 => Just(b"{\"text\"".to_vec()),
        1 => (0usize..400).prop_map(|len| format!("{{\"text\": \"{}\"}}", "y".repeat(len)).into_bytes()),
    ];
    prop::collection::vec(line, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// However a file is cut, the scan returns the same records, at the same places and on the same lines.
    #[test]
    fn chunks_do_not_matter(lines in lines(), line_end in any::<bool>(), target in 1u64..200, limit in 50u64..500) {
        let mut bytes = lines.join(&b'\n');
        if line_end {
            bytes.push(b'\n');
        }
        let folder = Folder::new();
        folder.write("a.jsonl", &bytes);
        let options = ReadOptions::default().max_record_bytes(limit);
        let corpus = folder.open_with(&["a.jsonl"], &options).unwrap();
        let whole = scan(&corpus, u64::MAX);
        prop_assert_eq!(&scan(&corpus, target), &whole);

        let expected = bytes.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>();
        let mut scratch = Scratch::new();
        for record in &whole {
            prop_assert_eq!(corpus.read_raw(&record.place, &mut scratch).unwrap(), expected[record.line as usize]);
        }
        let blank = |line: &[u8]| line.trim_ascii().is_empty();
        prop_assert_eq!(whole.len(), expected.iter().filter(|line| !blank(line)).count());
    }
}

/// Several threads decompress several files at the same time. Neither the threads nor the number of files that wait
/// together show.
#[test]
fn many_compressed_files_are_one_corpus_with_any_number_of_threads() {
    let folder = Folder::new();
    let name =
        |number: u32| format!("{number:03}.jsonl.{}", if number.is_multiple_of(3) { "zst" } else { "gz" });
    let names: Vec<String> = (0..300).map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (number, name) in names.iter().enumerate() {
        // Some files are empty, and every 50th is much larger than the others.
        let records = if number % 50 == 0 { 5000 } else { number % 4 };
        let lines: Vec<String> = (0..records).map(|i| format!("{{\"text\":\"{number} {i}\"}}\n")).collect();
        let pack = if name.ends_with("zst") { zst } else { gzip };
        folder.write(name, pack(lines.concat().as_bytes()));
    }
    let with = |threads: usize| ReadOptions::default().threads(threads);
    let texts = |threads: usize| -> Vec<(u32, String)> {
        let corpus = folder.open_with(&names, &with(threads)).unwrap();
        scan(&corpus, 1 << 20).iter().map(|record| (record.place.source, record.text().to_owned())).collect()
    };
    let one = texts(1);
    assert_eq!(
        one.len(),
        6 * 5000 + (0..300).filter(|number| number % 50 != 0).map(|number| number % 4).sum::<usize>()
    );
    for threads in [2, 7] {
        assert!(texts(threads) == one, "{threads} threads");
    }
    // Of several damaged files, the first one is reported. A file that is missing comes after it.
    for name in [names[200], names[51], names[50]] {
        let bytes = folder.bytes(name);
        folder.write(name, &bytes[..bytes.len() - 5]);
    }
    for threads in [1, 2, 7] {
        for inputs in [names.clone(), [&names[..], &["missing.jsonl"]].concat()] {
            let error = folder.open_with(&inputs, &with(threads)).unwrap_err();
            assert!(error.to_string().contains("050.jsonl.gz` is damaged: "), "{threads} threads: {error}");
        }
    }
}
