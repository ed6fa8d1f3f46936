//! Copies of records have the same bytes with any number of threads, even if they are compressed.

use std::fmt::Write as _;
use std::io::Read;

use minwise::hash::SplitMix64;
use minwise_corpus::{
    Corpus, Format, Output, OutputFolder, OutputVerdict, Overwrite, RecordPlace, TableCompression, copy_each,
    copy_records,
};

use crate::support::{Folder, all, places, scan};

/// Makes lines of very different lengths. Some lines are longer than the block that is read at a time.
fn lines(number: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = SplitMix64::new(seed);
    let line = |n: usize| {
        let words = match random.next_u64() % 500 {
            0 => 100_000,
            1..20 => random.next_u64() % 9000,
            _ => random.next_u64() % 40,
        };
        let mut text = String::new();
        for _ in 0..words {
            write!(text, "w{} ", random.next_u64() % 997).unwrap();
        }
        format!("{{\"id\": {n}, \"text\": \"{text}\"}}").into_bytes()
    };
    (0..number).map(line).collect()
}

/// Writes files, some of which do not end their last line, and returns their corpus and the places of their records.
fn corpus(folder: &Folder) -> (Corpus, Vec<RecordPlace>) {
    let names = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"];
    for (name, (number, end)) in names.iter().zip([(4000, "\n"), (1, ""), (3000, ""), (2, "\n")]) {
        let file = lines(number, number as u64).join(&b'\n');
        folder.write(name, [&file[..], end.as_bytes()].concat());
    }
    let corpus = folder.open(&names).unwrap();
    let places = places(&scan(&corpus, 1 << 20));
    assert_eq!(places.len(), 7003);
    (corpus, places)
}

/// Joins the records, with line ends between them.
fn expected(folder: &Folder, corpus: &Corpus, places: &[RecordPlace]) -> Vec<u8> {
    let files: Vec<Vec<u8>> = corpus
        .sources()
        .iter()
        .map(|source| fs_err::read(folder.path(source.name().rsplit('/').next().unwrap())).unwrap())
        .collect();
    let mut out = vec![];
    for place in places {
        if out.last().is_some_and(|&byte| byte != b'\n') {
            out.push(b'\n');
        }
        out.extend_from_slice(&files[place.source as usize][place.offset as usize..][..place.len as usize]);
    }
    out
}

fn copy(folder: &Folder, corpus: &Corpus, places: &[RecordPlace], name: &str, threads: usize) -> Vec<u8> {
    let mut out = Output::create(&folder.path(name), Overwrite::Allow).unwrap();
    out.set_threads(threads).unwrap();
    let (kept, keep) = (OutputVerdict::Kept, TableCompression::Keep);
    // The copy must not move the bytes before and behind the records.
    out.write_bytes(b"before\n").unwrap();
    copy_records(corpus, all(corpus), places.iter().copied(), kept, Format::JSONL, &mut out, keep).unwrap();
    out.write_bytes(b"\nbehind").unwrap();
    out.finish().unwrap();
    folder.bytes(name)
}

/// Returns several choices of records: all, every second, a few, long stretches, and none.
fn choices(places: &[RecordPlace]) -> Vec<Vec<RecordPlace>> {
    let chosen = |keeps: &dyn Fn(usize) -> bool| {
        places.iter().enumerate().filter(|(at, _)| keeps(*at)).map(|(_, place)| *place).collect()
    };
    vec![
        chosen(&|_| true),
        chosen(&|at| at % 2 == 1),
        chosen(&|at| at % 97 == 5),
        chosen(&|at| at / 700 % 2 == 0),
        chosen(&|at| at > 6999),
        chosen(&|_| false),
        // Records may come in any order.
        places.iter().rev().step_by(3).copied().collect(),
    ]
}

#[test]
fn threads_copy_the_same_bytes() {
    let folder = Folder::new();
    let (corpus, places) = corpus(&folder);
    for chosen in choices(&places) {
        let records = expected(&folder, &corpus, &chosen);
        let expected = [b"before\n", &records[..], b"\nbehind"].concat();
        for threads in [1, 2, 7, 16] {
            let found = copy(&folder, &corpus, &chosen, "out.jsonl", threads);
            assert!(found == expected, "{} records with {threads} threads", chosen.len());
        }
    }
}

#[test]
fn threads_compress_the_same_bytes() {
    let folder = Folder::new();
    let (corpus, places) = corpus(&folder);
    for chosen in choices(&places) {
        let records = expected(&folder, &corpus, &chosen);
        let expected = [b"before\n", &records[..], b"\nbehind"].concat();
        for name in ["out.jsonl.gz", "out.jsonl.zst"] {
            let files = [1, 2, 7].map(|threads| copy(&folder, &corpus, &chosen, name, threads));
            let mut content = vec![];
            if name.ends_with("gz") {
                // The file must be one member, so a reader of a single member must return all bytes.
                flate2::read::GzDecoder::new(&files[0][..]).read_to_end(&mut content).unwrap();
            } else {
                let decoder = zstd::stream::read::Decoder::new(&files[0][..]).unwrap();
                decoder.single_frame().read_to_end(&mut content).unwrap();
            }
            assert!(content == expected, "{name}, {} records", chosen.len());
            assert!(files[1] == files[0] && files[2] == files[0], "{name}, {} records", chosen.len());
        }
    }
}

#[test]
fn threads_fill_a_folder_with_the_same_files() {
    let folder = Folder::new();
    let (corpus, places) = corpus(&folder);
    let chosen: Vec<RecordPlace> = places.iter().step_by(2).copied().collect();
    for threads in [1, 7] {
        let path = folder.path(&format!("kept{threads}"));
        let mut out = OutputFolder::create(&path, Overwrite::Refuse).unwrap();
        out.set_threads(threads);
        let keep = TableCompression::Keep;
        copy_each(&corpus, chosen.iter().copied(), OutputVerdict::Kept, None, &out, keep).unwrap();
        out.finish().unwrap();
        for source in 0..4 {
            let of_source: Vec<RecordPlace> =
                chosen.iter().filter(|place| place.source == source).copied().collect();
            let name = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"][source as usize];
            assert!(
                fs_err::read(path.join(name)).unwrap() == expected(&folder, &corpus, &of_source),
                "{name}"
            );
        }
    }
}

/// A place that does not exist ends the copy with an error, and no thread hangs.
#[test]
fn a_failure_of_one_thread_ends_the_copy() {
    let folder = Folder::new();
    let (corpus, mut places) = corpus(&folder);
    places[3500].offset = 1 << 40;
    for threads in [1, 7] {
        let mut out = Output::create(&folder.path("out.jsonl"), Overwrite::Allow).unwrap();
        out.set_threads(threads).unwrap();
        let (kept, keep) = (OutputVerdict::Kept, TableCompression::Keep);
        let places = places.iter().copied();
        let error =
            copy_records(&corpus, all(&corpus), places, kept, Format::JSONL, &mut out, keep).unwrap_err();
        assert!(matches!(error.kind(), minwise_corpus::ErrorKind::NoSuchPlace { .. }), "{error}");
        drop(out);
        assert!(!folder.names().iter().any(|name| name.starts_with("out") || name.starts_with('.')));
    }
}

/// Other programs can read compressed outputs. Programs that are not installed are skipped.
#[test]
fn other_programs_read_compressed_outputs() {
    let folder = Folder::new();
    let (corpus, places) = corpus(&folder);
    let expected = [b"before\n", &expected(&folder, &corpus, &places)[..], b"\nbehind"].concat();
    for (program, name) in [("gzip", "out.jsonl.gz"), ("zstd", "out.jsonl.zst")] {
        copy(&folder, &corpus, &places, name, 3);
        let run = std::process::Command::new(program).arg("-dc").arg(folder.path(name)).output();
        let Ok(run) = run else { continue };
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert!(run.stdout == expected, "{program}");
    }
}
