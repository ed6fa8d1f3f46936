//! Tests the memory of a run: sketches, band keys, and 64 MiB per thread.

#![cfg(target_os = "linux")]

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use minwise_lab::corpus::{DocumentMaker, Made};

use crate::support::{Desk, MINWISE, prose, record};

const MIB: u64 = 1 << 20;

/// Returns the peak memory of the command in bytes.
fn peak(desk: &Desk, arguments: &str) -> u64 {
    let mut child = Command::new(MINWISE)
        .current_dir(desk.root())
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // The high-water mark only rises, so the last value before the end is the peak.
    while child.try_wait().unwrap().is_none() {
        let text = fs_err::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        if let Some(kib) = line.and_then(|line| line.trim().strip_suffix(" kB")) {
            peak = peak.max(kib.parse::<u64>().unwrap() * 1024);
        }
        sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    peak
}

fn corpus(documents: u64, text: impl Fn(u64) -> String) -> Desk {
    let desk = Desk::new();
    let mut file = std::io::BufWriter::new(fs_err::File::create(desk.path("in.jsonl")).unwrap());
    for i in 0..documents {
        file.write_all(record(&i.to_string(), &text(i)).as_bytes()).unwrap();
    }
    desk
}

#[test]
fn many_documents_take_their_sketches_and_a_little_more() {
    let documents = 60_000;
    let desk = corpus(documents, |i| prose(i % 40_000, 8));
    let peak = peak(&desk, "dedup in.jsonl -o out.jsonl -q --threads 2");
    // A document takes a sketch of 128 registers, a band key with a number, and a row in the table of documents. While
    // a vector grows, all of this is allocated twice.
    let allowed = 2 * documents * (512 + 12 + 96) + 2 * 64 * MIB;
    assert!(peak > documents * 512, "{peak}");
    assert!(peak < allowed, "{} MiB, allowed are {} MiB", peak / MIB, allowed / MIB);
}

/// Every document of the sample has many near-duplicates.
#[test]
fn a_large_sample_takes_no_more_than_a_small_one() {
    let base = prose(1, 20);
    let desk = corpus(8000, |i| format!("{base} own{i}"));
    let with = |audit: &str| {
        peak(&desk, &format!("dedup in.jsonl --dry-run -q --threads 1 --shingle words:1 --audit {audit}"))
    };
    let [some, all] = ["1000", "8000"].map(with);
    assert!(all < some + 16 * MIB, "{} MiB, and a small one {} MiB", all / MIB, some / MIB);
}

#[test]
fn one_family_of_large_documents_does_not_fill_the_memory() {
    // The neighbourhood has 70 MB of text, and its shingle sets have 90 MB.
    let base = prose(1, 20_000);
    let desk = corpus(300, |i| format!("x{i} {base} y{i}"));
    let peak = peak(&desk, "dedup in.jsonl -o out.jsonl -q --threads 1");
    assert!(peak < 64 * MIB + 24 * MIB, "{} MiB", peak / MIB);
}

/// With several threads, documents of a large neighbourhood are loaded ahead of their comparison.
#[test]
fn one_family_of_large_documents_does_not_fill_the_memory_of_several_threads() {
    let base = prose(1, 150_000);
    let desk = corpus(300, |i| format!("x{i} {base} y{i}"));
    let peak = peak(&desk, "dedup in.jsonl -o out.jsonl -q --threads 2");
    assert!(peak < 2 * 64 * MIB + 24 * MIB, "{} MiB", peak / MIB);
}

/// Eight million candidates are found pair by pair and not by shelves. Stored like shelves, they would take 400 MB.
/// MB.
#[test]
fn many_candidates_do_not_fill_the_memory() {
    let documents = 4000;
    let desk = corpus(documents, |i| prose(i, 8));
    let peak = peak(&desk, "dedup in.jsonl -o out.jsonl -q --candidates all --filter-error off --threads 1");
    // The limit allows 64 MiB per thread for reading and comparing, and 16 MiB for pairs in memory.
    let allowed = 2 * documents * (512 + 96) + 64 * MIB + 16 * MIB;
    assert!(peak < allowed, "{} MiB, allowed are {} MiB", peak / MIB, allowed / MIB);
}

/// If documents share nearly enough frequent shingles, every pair is counted and becomes a candidate.
#[test]
fn many_counts_do_not_fill_the_memory() {
    let form = prose(1, 40);
    let documents = 2000;
    let desk = corpus(documents, |i| format!("{form} {}", prose(i + 2, 15)));
    let peak = peak(
        &desk,
        "dedup in.jsonl -o out.jsonl -q --candidates sort-merge --shingle words:1 --threshold 0.55 --threads 1",
    );
    // Two sorts hold 16 MiB each, while the output of one is the input of the other.
    let allowed = 2 * documents * (512 + 96) + (64 + 2 * 16) * MIB;
    assert!(peak < allowed, "{} MiB, allowed are {} MiB", peak / MIB, allowed / MIB);
}

/// Data that do not fit in memory are written to disk, and the result is the same.
#[test]
fn a_run_keeps_to_its_memory() {
    let made = Made {
        documents: 150_000,
        words: 60,
        copies: 0.3,
        edits: 3,
        families: None,
        form: 0,
        revisions: None,
        seed: 1,
    };
    let mut documents = vec![];
    DocumentMaker::new(made).write(0..made.documents, &mut documents, None::<&mut Vec<u8>>).unwrap();
    let desk = Desk::with("in.jsonl", documents);
    let all = peak(&desk, "dedup in.jsonl -o all.jsonl --report all -q --threads 2");
    let little = peak(&desk, "dedup in.jsonl -o little.jsonl --report little -q --threads 2 --memory 160MiB");
    assert!(all > 150_000 * 512, "the sketches alone are {} MiB", 150_000 * 512 / MIB);
    assert!(little < 160 * MIB * 12 / 10, "{} MiB", little / MIB);
    assert_eq!(desk.bytes("all.jsonl"), desk.bytes("little.jsonl"));
    for file in ["summary.json", "pairs.tsv", "clusters.jsonl"] {
        assert_eq!(desk.bytes(&format!("all/{file}")), desk.bytes(&format!("little/{file}")), "{file}");
    }
}

/// The document is read and cut piece by piece. Loading it would take twice its size; cutting it whole would take seven
/// times its size.
#[test]
fn a_huge_document_keeps_to_the_memory() {
    let text = prose(1, 12_000_000);
    let desk = corpus(2, |i| if i == 0 { text.clone() } else { "a few words, and no more".to_owned() });
    desk.write("texts/huge.txt", &text);
    desk.write("texts/short.txt", "a few words, and no more");
    let bytes = text.len() as u64;
    assert!(bytes > 120_000_000, "{bytes}");
    for input in ["in.jsonl -o out.jsonl", "texts -o out"] {
        let peak = peak(&desk, &format!("dedup {input} -q --threads 2 --registers 16 --memory 160MiB"));
        assert!(peak < 160 * MIB, "{input}: {} MiB", peak / MIB);
    }
    assert!(desk.bytes("out.jsonl") == desk.bytes("in.jsonl"));
    assert!(desk.text("out/huge.txt") == text);
}

/// The shingle sets of these documents alone are sixteen times as large as their texts.
#[test]
fn huge_documents_are_compared_within_the_memory() {
    let base = prose(1, 1_800_000);
    let desk = corpus(2, |i| format!("{base} and one of them ends with {i}"));
    let bytes = base.len() as u64;
    assert!(bytes > 16_000_000, "{bytes}");
    for (candidates, memory) in [("banding", 160), ("sort-merge", 160)] {
        let peak = peak(
            &desk,
            &format!(
                "dedup in.jsonl -o {candidates}.jsonl -q --threads 2 --shingle chars:9 --memory {memory}MiB \
                 --candidates {candidates} --report {candidates}"
            ),
        );
        assert!(peak < memory * MIB, "{candidates}: {} MiB", peak / MIB);
        assert_eq!(desk.ids(&format!("{candidates}.jsonl")), ["0"]);
    }
}

#[test]
#[ignore = "long: minutes, and gigabytes of disk"]
fn documents_of_a_gigabyte_keep_to_the_memory() {
    let base = prose(1, 90_000_000);
    assert!(base.len() > 1_000_000_000, "{}", base.len());
    let desk = corpus(2, |i| format!("{base} and one of them ends with {i}"));
    let peak = peak(&desk, "dedup in.jsonl -o out.jsonl --report report -q --threads 2 --memory 256MiB");
    assert!(peak < 256 * MIB, "{} MiB", peak / MIB);
    assert_eq!(desk.ids("out.jsonl"), ["0"]);
}

/// The documents are just below the size from which on one thread at a time reads a document. Cut whole, each would
/// take forty times its size.
#[test]
fn documents_of_megabytes_keep_to_the_memory() {
    let base = prose(1, 830_000);
    let desk = corpus(4, |i| format!("{base} and one of them ends with {i}"));
    let bytes = base.len() as u64;
    assert!((7 * MIB..8 * MIB).contains(&bytes), "{bytes}");
    for shingling in ["chars:9", "words:5"] {
        let arguments = format!("dedup in.jsonl -o {shingling}.jsonl -q --threads 2 --shingle {shingling}");
        let peak = peak(&desk, &format!("{arguments} --registers 16 --memory 160MiB"));
        assert!(peak < 160 * MIB, "{shingling}: {} MiB", peak / MIB);
        assert_eq!(desk.ids(&format!("{shingling}.jsonl")), ["0"]);
    }
}

/// A text that is not UTF-8 must be loaded. Each takes memory for its bytes and for its decoded text. If every thread
/// loaded one at the same time, these buffers alone would exceed the limit.
#[test]
fn huge_documents_that_are_loaded_are_read_one_at_a_time() {
    let base = prose(1, 1_600_000);
    let desk = Desk::new();
    for i in 0..6 {
        desk.write(&format!("in/{i}.txt"), format!("{i} {base}"));
    }
    let arguments = "dedup in -o out -q --threads 6 --registers 16 --memory 330MiB --encoding latin-1";
    let peak = peak(&desk, arguments);
    let of_all = 6 * 2 * base.len() as u64;
    assert!(peak < of_all, "{} MiB, and those of all threads have {} MiB", peak / MIB, of_all / MIB);
    assert!(peak > 2 * base.len() as u64, "{} MiB", peak / MIB);
}

/// Large documents are gathered in small batches, and huge ones are cut block by block.
#[test]
fn sort_merge_of_large_documents_keeps_to_the_memory() {
    let desk = corpus(6, |i| format!("{} {}", prose(1, 100_000), prose(i, 200_000)));
    let peak = peak(
        &desk,
        "dedup in.jsonl -o out.jsonl -q --candidates sort-merge --shingle chars:9 --registers 16 --threads 1 \
         --memory 128MiB",
    );
    assert!(peak < 128 * MIB, "{} MiB", peak / MIB);
    assert_eq!(desk.ids("out.jsonl").len(), 6);
}

/// Tests near-copies and copies of one document.
fn family(documents: u64) {
    let base = prose(1, 24);
    let desk = corpus(documents, |i| if i % 3 == 0 { base.clone() } else { format!("{base} x{i}") });
    let peak = peak(&desk, "dedup in.jsonl -o out.jsonl --report report -q --threads 2 --memory 192MiB");
    assert!(peak < 192 * MIB, "{} MiB", peak / MIB);
    assert_eq!(desk.ids("out.jsonl"), ["0"]);
    assert_eq!(desk.json("report/summary.json")["removed"], documents - 1);
    let clusters = desk.text("report/clusters.jsonl");
    assert!(clusters.lines().count() == 1 && clusters.contains(&format!("\"size\":{documents},")));
}

/// The sketches of these documents alone take 100 MB, and their shelves another 100 MB.
#[test]
fn a_family_of_many_keeps_to_the_memory() {
    family(200_000);
}

#[test]
#[ignore = "long: a minute"]
fn a_family_of_a_million_keeps_to_the_memory() {
    family(1_000_000);
}

/// A chunk of 2 MiB has 150,000 to 300,000 such records. The sketches of one chunk per thread, or the data about
/// rejected records, would exceed the limit.
#[test]
fn tiny_and_rejected_records_keep_to_the_memory() {
    let desk = Desk::new();
    let tiny: Vec<_> = (0..400_000).map(|i| format!("{{\"text\":\"{i}\"}}\n")).collect();
    desk.write("tiny.jsonl", tiny.concat());
    desk.write("rejected.jsonl", format!("{{\"text\":\"one two three\"}}\n{}", "{}\n".repeat(3_000_000)));
    let rows: Vec<_> = (0..600_000).map(|i| format!("{i}\n")).collect();
    desk.write("tiny.csv", format!("text\n{}", rows.concat()));
    for name in ["tiny.jsonl", "rejected.jsonl", "tiny.csv"] {
        for work in ["", "--work run"] {
            let arguments = format!("dedup {name} -o out-{name} --force -q --audit off --threads 2 {work}");
            let peak = peak(&desk, &format!("{arguments} --memory 192MiB --max-rejects 3000000"));
            assert!(peak < 192 * MIB, "{name} {work}: {} MiB", peak / MIB);
        }
    }
}

/// Columns of a Parquet file take more memory in the output if the first file has another compression or no dictionary.
#[test]
fn a_table_that_unfolds_keeps_to_the_memory() {
    let desk = Desk::new();
    let pad = "x".repeat(3000);
    for (name, ids, codec) in [("a", 0..100u64, "none"), ("b", 100..60_100, "zstd")] {
        let line =
            |n: u64| format!("{{\"id\":\"{n}\",\"title\":\"{n} {pad}\",\"text\":\"{}\"}}\n", prose(n, 8));
        desk.write(&format!("{name}.jsonl"), ids.map(line).collect::<String>());
        desk.run(&format!("dedup {name}.jsonl -o {name}.parquet -q --compression {codec}")).exit(0);
    }
    let peak = peak(&desk, "dedup a.parquet b.parquet -o out.parquet -q --threads 2 --memory 192MiB");
    assert!(peak < 192 * MIB, "{} MiB", peak / MIB);
}

/// Five million pairs would take 80 MB if all were stored in memory.
#[test]
fn pairs_keep_to_the_memory() {
    let base = prose(1, 60);
    let desk = corpus(3200, |i| format!("x{i} {base}"));
    let all = peak(&desk, "pairs in.jsonl -o all.tsv -q --threads 1 --memory 4GiB");
    let little = peak(&desk, "pairs in.jsonl -o little.tsv -q --threads 1 --memory 128MiB");
    assert!(all > 128 * MIB, "{} MiB", all / MIB);
    assert!(little < 128 * MIB, "{} MiB", little / MIB);
    assert!(desk.bytes("all.tsv") == desk.bytes("little.tsv"), "the same pairs");
}

/// If a limit of the system leaves too little memory, the command reports an error and does not abort.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_system_is_an_error() {
    let desk = Desk::with("in.jsonl", record("a", "one two three four five six"));
    for limit in ["-v 300000", "-v 200000"] {
        let shell = format!("ulimit {limit}; exec {MINWISE} dedup in.jsonl --dry-run -j 2");
        let output = Command::new("sh").args(["-c", &shell]).current_dir(desk.root()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{limit}: {message}");
        assert!(message.starts_with("error: the system limits the memory of this process to "), "{message}");
        assert!(message.contains("\nhint: `ulimit -v unlimited`"), "{message}");
    }
    // Commands that read no documents need little memory.
    for (limit, command) in [
        (1_000_000, "dedup in.jsonl --dry-run -j 2 -q"),
        (300_000, "plan"),
        (300_000, "generate completions bash"),
    ] {
        let shell = format!("ulimit -v {limit}; exec {MINWISE} {command}");
        let output = Command::new("sh").args(["-c", &shell]).current_dir(desk.root()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {message}");
    }
}

/// These limits let a command begin, but a later allocation fails: the command reports an error and does not abort. An
/// allocation that fails elsewhere, such as a mapping of a file, is another error.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_system_refuses_is_an_error() {
    let text = |seed: u64| prose(seed, 2000);
    let desk =
        Desk::with("in.jsonl", (0..1500).map(|i| record(&format!("d{i}"), &text(i))).collect::<String>());
    desk.write("long.jsonl", record("a", &text(7).repeat(1200)));
    desk.run("index create archive -q").exit(0);
    let [mut refused_as_text, mut refused_as_json] = [0; 2];
    for (limit, command) in [
        (530_000, "index add archive in.jsonl"),
        (530_000, "index add archive in.jsonl --log json"),
        (560_000, "index add archive in.jsonl --log json"),
        (600_000, "index add archive in.jsonl"),
        (700_000, "index add archive in.jsonl --log json"),
        (1_000_000, "index add archive in.jsonl"),
        (530_000, "weights in.jsonl -o weights --force"),
        (530_000, "compare long.jsonl#a long.jsonl#a"),
        (530_000, "dedup long.jsonl --dry-run --weight count"),
        (600_000, "dedup long.jsonl --dry-run --weight count"),
    ] {
        let shell = format!("ulimit -v {limit}; exec {MINWISE} {command} -q");
        let output = Command::new("sh").args(["-c", &shell]).current_dir(desk.root()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => continue,
            code => assert_eq!(code, Some(2), "{limit} {command}: {message}"),
        }
        let is_json = command.ends_with("json");
        let event =
            message.lines().last().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        assert_eq!(
            event.as_ref().map(|event| event["event"] == "error"),
            is_json.then_some(true),
            "{message}"
        );
        assert!(is_json || message.contains("error: "), "{limit} {command}: {message}");
        refused_as_json += i32::from(event.is_some_and(|event| event["code"] == "out_of_memory"));
        refused_as_text += i32::from(
            message
                .contains("error: the memory of this process is at the limit of the system, which refused "),
        );
    }
    // Both forms of the message are written without an allocation, by code of their own.
    assert!(refused_as_text > 0 && refused_as_json > 0, "{refused_as_text} {refused_as_json}");
    desk.run("index check archive -q").exit(0);
}
