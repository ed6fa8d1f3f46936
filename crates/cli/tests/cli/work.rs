//! Tests `--work` and `--resume`: runs that are killed at any moment and resumed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::Unobserved;
use minwise_engine::work::{Manifest, WorkFolder};

#[cfg(unix)]
use crate::formats::parquet;
use crate::support::{Desk, MINWISE, gzip, prose, record, with_word, zstd};

/// Number of times that runs are killed, unless `MINWISE_KILLS` sets another number.
const KILLS: u32 = 24;

/// Returns a folder with families of near-copies, unique documents, and records that are rejected.
fn desk(documents: u64) -> Desk {
    let lines: String = (0..documents)
        .map(|i| match i % 7 {
            0 => record(&i.to_string(), &prose(i / 70, 100)),
            1 | 2 => record(
                &i.to_string(),
                &with_word(&prose(i / 70, 100), (i % 90) as usize, &format!("changed{i}")),
            ),
            6 if i % 5 == 0 => "{\"id\": 1}\n".to_owned(),
            _ => record(&i.to_string(), &prose(1_000_000 + i, 40)),
        })
        .collect();
    Desk::with("in.jsonl", lines)
}

/// Formats of outputs: each is written by other code.
const FORMATS: [&str; 4] = ["jsonl", "jsonl.zst", "jsonl.gz", "parquet"];

/// Outputs of a run: their format, and whether there is an output of removed records.
#[derive(Debug, Clone, Copy)]
struct KilledOutputs {
    format: &'static str,
    has_removed: bool,
}

impl KilledOutputs {
    /// Returns the outputs of a round. Eight rounds in a row have all formats with and without removed records.
    fn of_round(round: u64) -> Self {
        let format = FORMATS[(round % 4) as usize];
        Self { format, has_removed: (round + round / 4) % 2 == 1 }
    }

    /// Returns the names of the outputs of records.
    fn names(self, name: &str) -> Vec<String> {
        let mut names = vec![format!("{name}.{}", self.format)];
        names.extend(self.has_removed.then(|| format!("{name}-removed.{}", self.format)));
        names
    }

    fn arguments(self, name: &str) -> Vec<String> {
        let names = self.names(name);
        let removed = names.get(1).map_or(String::new(), |removed| format!("--removed {removed}"));
        let output = &names[0];
        format!("dedup in.jsonl -o {output} {removed} --report {name} -q --max-rejects 9999")
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    }

    /// Returns the outputs of a run under their final names.
    fn results(self, desk: &Desk, name: &str) -> Vec<Vec<u8>> {
        let report = ["summary.json", "pairs.tsv", "clusters.jsonl", "rejects.jsonl"];
        let report = report.map(|file| format!("{name}/{file}"));
        report.into_iter().chain(self.names(name)).map(|file| desk.bytes(&file)).collect()
    }
}

/// Runs the command and kills it after a while. Returns whether the command had ended before.
fn killed_after(desk: &Desk, arguments: &[String], after: Duration) -> bool {
    let mut child = Command::new(MINWISE)
        .current_dir(desk.root())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + after;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0), "a run that comes to its end ends well");
            return true;
        }
        sleep(Duration::from_micros(500));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
fn a_run_that_is_killed_at_any_moment_comes_to_the_same() {
    let desk = desk(12_000);
    let plain = FORMATS.map(|format| {
        let outputs = KilledOutputs { format, has_removed: true };
        let name = format!("plain-{}", format.replace('.', "-"));
        let started = Instant::now();
        desk.run_with(&outputs.arguments(&name), b"").exit(0);
        (started.elapsed(), outputs.results(&desk, &name))
    });
    let wanted = std::env::var("MINWISE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let mut kills = 0;
    // Time after which a run is killed, as a share of the duration of a whole run. It is reduced if runs end before
    // they are killed.
    let mut patience = 1.0;
    for round in 0u64.. {
        let outputs = KilledOutputs::of_round(round);
        let (whole, expected) = &plain[(round % 4) as usize];
        // The removed records are the last result of a plain run.
        let expected = &expected[..expected.len() - usize::from(!outputs.has_removed)];
        let name = format!("killed{round}");
        let mut arguments = outputs.arguments(&name);
        arguments.extend(["--work".to_owned(), format!("{name}.work"), "--resume".to_owned()]);
        let before = kills;
        // In every round, runs are killed at other moments. Later attempts of a round get more time, so that the round
        // ends.
        for attempt in 0.. {
            let share = minwise::hash::fmix64(round * 100 + attempt) as f64 / u64::MAX as f64;
            let after = whole.mul_f64(patience * share * (1.0 + attempt as f64 / 3.0));
            if killed_after(&desk, &arguments, after) {
                break;
            }
            kills += 1;
            // A file under a final name is complete.
            for (file, expected) in outputs.names(&name).iter().zip(&expected[4..]) {
                assert!(!desk.path(file).exists() || desk.bytes(file) == *expected, "round {round}: {file}");
            }
        }
        assert!(outputs.results(&desk, &name) == expected, "round {round} differs: {outputs:?}");
        assert!(!desk.path(&format!("{name}.work")).exists(), "the folder of the run is removed");
        let left: Vec<String> = desk.names().into_iter().filter(|name| name.contains(".minwise-")).collect();
        assert!(left.is_empty(), "round {round} left {left:?}");
        if kills >= wanted && round >= 7 {
            break;
        }
        if kills == before {
            patience *= 0.8;
        }
    }
}

#[test]
fn the_folder_stays_only_when_asked_for_and_is_used_only_when_asked_for() {
    let desk = desk(400);
    desk.run("dedup in.jsonl -o one.jsonl --work work -q --keep-work").exit(2);
    assert!(desk.path("work/manifest").exists());
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o two.jsonl --work work"), @"
    exit 2
    --- stderr
    error: cannot begin a run in `work`: it is not empty

    hint: `--resume` continues the run that was begun there
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o two.jsonl --work work --resume --threshold 0.7"), @"
    exit 2
    --- stderr
    error: the run cannot be continued: `--threshold` was `0.8` then and is `0.7` now

    hint: repeat the options and inputs of the first start, or begin anew with another `--work`
    ");
    desk.run("dedup in.jsonl -o two.jsonl --work work -q --resume").exit(2);
    assert_eq!(desk.bytes("one.jsonl"), desk.bytes("two.jsonl"));
    assert!(!desk.path("work").exists());

    desk.run("dedup in.jsonl -o three.jsonl --work work -q --keep-work").exit(2);
    let mut text = desk.text("in.jsonl");
    text.push_str(&record("new", &prose(5, 50)));
    desk.write("in.jsonl", text);
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o four.jsonl --work work --resume"), @"
    exit 2
    --- stderr
    error: the run cannot be continued: `in.jsonl` had 212,581 bytes then and has 212,893 now

    hint: repeat the options and inputs of the first start, or begin anew with another `--work`
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o four.jsonl --resume"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --work <DIR>

    Usage: minwise dedup --work <DIR> --output <OUT> --resume <INPUT>...

    hint: `--help` lists all options
    ");
    desk.write("letters/letter.txt", "mine");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o four.jsonl --work letters --resume"), @"
    exit 2
    --- stderr
    error: cannot continue a run in `letters`: it holds no run, but other files, such as `letter.txt`

    hint: name the folder that `--work` was given before
    ");
    assert_eq!(fs_err::read_dir(desk.path("letters")).unwrap().count(), 1);
}

/// A resumed run does not replace the outputs of a finished run.
#[test]
fn outputs_that_are_in_place_are_replaced_only_on_demand() {
    let desk = desk(400);
    desk.run("dedup in.jsonl -o out.jsonl --work work -q --keep-work").exit(2);
    assert!(!desk.path("work/finishing").exists());
    // Outputs with the same bytes do not stop the run: the exit code is 2 because records are rejected.
    let written = desk.bytes("out.jsonl");
    let again = desk.run("dedup in.jsonl -o out.jsonl --work work --resume --keep-work").exit(2);
    assert!(!again.to_string().contains("exists already"), "{again}");
    assert_eq!(desk.bytes("out.jsonl"), written);
    // An output with other bytes is not replaced, however often the command is repeated.
    desk.write("out.jsonl", "precious");
    for _ in 0..2 {
        let again = desk.run("dedup in.jsonl -o out.jsonl --work work --resume").exit(2);
        assert!(again.to_string().contains("`out.jsonl` exists already"), "{again}");
        assert_eq!(desk.text("out.jsonl"), "precious");
    }
}

/// Covers documents that are compared on disk, inputs that are decompressed, and shingles that are counted.
#[cfg(unix)]
#[test]
fn temporary_files_are_where_there_is_room_for_the_run() {
    let base = prose(1, 100_000);
    let long = record("a", &base) + &record("b", &format!("{base} and more"));
    let short = record("a", &prose(1, 50)) + &record("b", &with_word(&prose(1, 50), 49, "more"));
    let desk = Desk::with("long.jsonl", long);
    desk.write("short.jsonl.gz", gzip(short.as_bytes()));
    desk.write("short.jsonl.zst", zstd(short.as_bytes()));
    desk.write("short.jsonl", short);
    desk.write("short.parquet", parquet(&[(1, Some(&prose(1, 50))), (2, Some(&prose(1, 51)))]));
    desk.write("pages/a.html", format!("<p>{}", prose(1, 50)));
    let run = |arguments: &str| {
        let mut command = Command::new(MINWISE);
        command.current_dir(desk.root()).env("TMPDIR", desk.path("not-there"));
        let all = format!("dedup -q --threads 1 --memory 128MiB {arguments}");
        let output = command.args(all.split_whitespace()).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    // Some temporary files are created before the run begins.
    for (input, begun) in [
        ("long.jsonl --shingle chars:9", true),
        ("short.jsonl.gz", false),
        ("short.jsonl.zst", false),
        ("short.parquet", true),
        ("short.jsonl --weight tf-idf", false),
        ("short.jsonl --against pages", true),
    ] {
        let (done, said) = run(&format!("{input} -o without"));
        assert!(!done && said.contains("cannot make a temporary f"), "{input}: {said}");
        assert_eq!(run(&format!("{input} -o with --work work")), (true, String::new()), "{input}");
        assert!(!desk.path("work").exists(), "{input}");
        // `--temp-dir` takes precedence over the folder of the run.
        let (done, said) = run(&format!("{input} -o without --work work --temp-dir nor-there"));
        assert!(!done && said.contains("in `nor-there`"), "{input}: {said}");
        // A run that has begun can be resumed. Otherwise the folder does not exist.
        assert_eq!(desk.path("work").exists(), begun, "{input}");
        let left = run(&format!("{input} -o without --work work --resume"));
        assert_eq!(left, (true, String::new()), "{input}");
        for output in ["with", "without"] {
            fs_err::remove_file(desk.path(output)).unwrap();
        }
    }
}

/// If a process that counts shingles is killed, it leaves its table in the folder of the run.
#[test]
fn what_a_killed_process_left_in_the_folder_goes() {
    let desk = desk(400);
    desk.run("dedup in.jsonl -o plain.jsonl -q --weight tf-idf").exit(2);
    for begun in [false, true] {
        if begun {
            desk.run("dedup in.jsonl -o first.jsonl -q --weight tf-idf --work work --keep-work").exit(2);
        }
        desk.write("work/.minwise-Ab12/frequencies", "half");
        desk.write("work/.minwise-Cd34.tmp", "half");
        let resume = if begun { "--resume" } else { "" };
        desk.run(&format!("dedup in.jsonl -o out.jsonl -q --weight tf-idf --work work {resume}")).exit(2);
        assert_eq!(desk.bytes("out.jsonl"), desk.bytes("plain.jsonl"));
        assert!(!desk.path("work").exists());
        fs_err::remove_file(desk.path("out.jsonl")).unwrap();
    }
}

/// References may have another format than the inputs; one option sets the format of both.
#[test]
fn references_are_read_as_they_were() {
    let desk = desk(40);
    desk.write("seen/a.txt", record("a", &prose(1, 100)));
    desk.run("dedup in.jsonl --against seen -o one.jsonl --work work -q --keep-work").exit(2);
    let again = "dedup in.jsonl --against seen -o two.jsonl --work work --resume";
    insta::assert_snapshot!(desk.run(&format!("{again} --input-format jsonl")), @"
    exit 2
    --- stderr
    error: the run cannot be continued: `--input-format` was `auto` then and is `jsonl` now

    hint: repeat the options and inputs of the first start, or begin anew with another `--work`
    ");
    desk.run(&format!("{again} -q")).exit(2);
    assert_eq!(desk.bytes("one.jsonl"), desk.bytes("two.jsonl"));
}

/// Returns the content of the file `finishing`, in which a run lists its outputs before it renames them.
fn finishing(desk: &Desk, output: &str) -> Vec<u8> {
    let corpus = Corpus::open(&[desk.path("in.jsonl").into()], &ReadOptions::default(), &Unobserved).unwrap();
    let manifest = Manifest::new(vec![], &corpus, 1, &Unobserved).unwrap();
    let work = WorkFolder::open(&desk.path("finishing"), &manifest, false).unwrap();
    let output = fs_err::canonicalize(desk.path(output)).unwrap().to_string_lossy().into_owned();
    let outputs = [output, String::new(), String::new()].map(|name| (name, false));
    work.note_outputs(&outputs).unwrap();
    desk.bytes("finishing/finishing")
}

/// A process may be killed while it removes the folder of a finished run. The remaining files must not affect another
/// run.
#[test]
fn the_rest_of_a_folder_is_not_another_run() {
    let desk = desk(400);
    desk.run("dedup in.jsonl -o out.jsonl -q").exit(2);
    let finishing = finishing(&desk, "out.jsonl");
    let before = desk.bytes("out.jsonl");
    desk.write("other.jsonl", record("a", &prose(1, 100)));
    for left in [&["lock", "finishing"][..], &["finishing"], &[]] {
        let leave = || {
            fs_err::create_dir(desk.path("work")).unwrap();
            for file in left {
                desk.write(&format!("work/{file}"), if *file == "lock" { &[][..] } else { &finishing });
            }
        };
        leave();
        let run = desk.run("dedup other.jsonl -o out.jsonl --work work --resume").exit(2);
        assert!(run.to_string().contains("`out.jsonl` exists already"), "{run}");
        assert_eq!(desk.bytes("out.jsonl"), before);
        assert!(!desk.path("work").exists(), "what was to go has gone: {left:?}");
        for resume in ["", "--resume"] {
            leave();
            desk.run(&format!("dedup other.jsonl -o next.jsonl --work work -q {resume}")).exit(0);
            assert!(!desk.path("work").exists(), "{left:?}");
            fs_err::remove_file(desk.path("next.jsonl")).unwrap();
        }
    }
    // The remaining list does not affect a new run in this folder either.
    desk.write("work/finishing", &finishing);
    desk.run("dedup other.jsonl -o new.jsonl --work work --keep-work -q").exit(0);
    assert!(!desk.path("work/finishing").exists());
}

/// If a run is killed after it has removed its folder, only its outputs are left. The same command then succeeds.
#[test]
fn a_run_that_was_done_is_done_again() {
    let desk = desk(400);
    let command = "dedup in.jsonl -o out.jsonl --removed gone.jsonl --report report --work work --resume --max-rejects 99 -q";
    desk.run(command).exit(0);
    let files = || -> Vec<Vec<u8>> {
        ["out.jsonl", "gone.jsonl", "report/summary.json", "report/pairs.tsv"]
            .map(|name| desk.bytes(name))
            .to_vec()
    };
    let (names, before) = (desk.names(), files());
    desk.run(command).exit(0);
    assert_eq!(desk.names(), names);
    assert!(files() == before);
    // If one of the outputs is missing, the command writes it again.
    fs_err::remove_file(desk.path("gone.jsonl")).unwrap();
    desk.run(command).exit(0);
    assert!(files() == before);
    // If an output has other bytes, it is not replaced, and no other output is written.
    desk.write("out.jsonl", "precious");
    fs_err::remove_file(desk.path("gone.jsonl")).unwrap();
    // A second try, as by a script that repeats a failed command, is refused, too.
    for _ in 0..2 {
        let run = desk.run(command).exit(2);
        assert!(run.err.contains("`out.jsonl` exists already"), "{run}");
        assert_eq!(desk.text("out.jsonl"), "precious");
        assert!(!desk.path("gone.jsonl").exists());
    }
}

/// Files that a killed process leaves beside the outputs are removed by the next process of the same run, and by no
/// other run.
#[test]
fn leftovers_of_the_same_run_are_removed() {
    let desk = desk(12_000);
    let left = || -> Vec<String> {
        desk.names()
            .into_iter()
            .filter(|name| {
                name.contains(".minwise-") && !name.starts_with("work/") && !name.starts_with("other/")
            })
            .collect()
    };
    for work in ["work", "other"] {
        let command = format!("dedup in.jsonl -o {work}.jsonl --report report-{work} --work {work} -j 1 -q");
        let command: Vec<&str> = command.split(' ').collect();
        let mut child = Command::new(MINWISE).current_dir(desk.root()).args(&command).spawn().unwrap();
        let begun = Instant::now();
        while !left().iter().any(|name| name.starts_with(&format!("report-{work}/"))) {
            assert!(begun.elapsed() < Duration::from_secs(30), "no output was opened");
            sleep(Duration::from_micros(200));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    desk.write(".minwise-zzz.tmp", "of another program");
    let before = left();
    assert!(before.iter().filter(|name| name.starts_with("report-work/")).count() > 0, "{before:?}");
    desk.run("dedup in.jsonl -o work.jsonl --report report-work --work work --resume --max-rejects 9999 -q")
        .exit(0);
    let after = left();
    assert!(!after.iter().any(|name| name.starts_with("report-work/")), "{after:?}");
    assert!(after.contains(&".minwise-zzz.tmp".to_owned()), "{after:?}");
    // Temporary files of another run stay until that run is resumed.
    let of_other = |names: &[String]| names.iter().filter(|name| name.starts_with("report-other/")).count();
    assert_eq!(of_other(&after), of_other(&before));
    desk.run(
        "dedup in.jsonl -o other.jsonl --report report-other --work other --resume --max-rejects 9999 -q",
    )
    .exit(0);
    assert_eq!(left(), [".minwise-zzz.tmp"]);
}

/// All outputs are written before any of them gets its final name.
#[cfg(target_os = "linux")]
#[test]
fn no_output_is_in_place_before_all_are_written() {
    let desk = desk(400);
    let run = desk.run("dedup in.jsonl -o out.jsonl --removed /dev/full --report report").exit(2);
    assert!(run.to_string().contains("cannot write `/dev/full`"), "{run}");
    assert_eq!(desk.names(), ["in.jsonl"]);
}

#[test]
fn memory_is_an_amount() {
    let desk = desk(10);
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.jsonl --memory much"), @"
    exit 2
    --- stderr
    error: `--memory`: `much` is not a size such as `4GiB`
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.jsonl --memory 1MiB"), @"
    exit 2
    --- stderr
    error: `--memory`: the memory of a run cannot be 1 MiB: it must be at least 128 MiB
    ");
    // The threads exceed the limit, not the ten documents, so the hint proposes fewer threads.
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.jsonl --memory 512MiB --threads 16"), @"
    exit 2
    --- stderr
    error: the program needs 48 MiB of memory, 16 threads 640 MiB, and 10 documents 1 MiB or more; with a reserve of an eighth, the run needs 775 MiB, but only 512 MiB are allowed

    hint: `--threads 10` or `--memory 775MiB` would be enough
    ");
    desk.run("dedup in.jsonl -o out.jsonl --memory 512MiB --threads 10 -q").exit(0);
    desk.run("dedup in.jsonl -o out.jsonl --memory 775MiB --threads 16 -q --force").exit(0);
}

/// An input that ends in the middle of its compressed stream is reported, and no file is left.
#[test]
fn truncated_input_leaves_nothing() {
    let desk = desk(2000);
    desk.run("dedup in.jsonl -o whole.jsonl.gz -q --dry-run").exit(2);
    let whole = desk.bytes("in.jsonl");
    for (file, compressed) in [("in.jsonl.gz", gzip(&whole)), ("in.jsonl.zst", zstd(&whole))] {
        desk.write(file, &compressed[..compressed.len() / 2]);
        let run = desk.run(&format!("dedup {file} -o out.jsonl --report report --work work")).exit(2);
        assert!(run.to_string().contains("is damaged"), "{run}");
        for name in ["out.jsonl", "report", "work"] {
            assert!(!Path::new(&desk.path(name)).exists(), "{name}");
        }
    }
}
