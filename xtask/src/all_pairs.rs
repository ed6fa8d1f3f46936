//! Measures all pairs of documents by the commands that people run: `minwise pairs --candidates all` and `minwise estimate`.
//!
//! The time of `pairs` is that of its stage `candidates`, from the events of `--log json`, because sketching comes before it
//! and verification after it. The pairs must be those of `--candidates sort-merge`, which uses no sketch. `estimate` does no
//! sketching, so its whole time counts. Figures are the best of some runs, with two threads.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::bench::{build, build_lab, command_quietly, path, unpack, work};
use crate::run::output;

/// Number of runs per setting; the best one is reported.
const RUNS: usize = 3;
/// Number of documents of the generated corpus.
const DOCUMENTS: &str = "60000";
/// Number of pairs per second that each form of sketch must reach on two cores.
const FLOOR: f64 = 1e9;
const FLOOR_OF_WIDE_BITS: f64 = 0.2e9;

/// Settings of `pairs`, each with its lower limit in pairs per second.
const PAIRS: [(&[&str], f64); 6] = [
    (&[], FLOOR),
    (&["--bits", "1", "--registers", "1024"], FLOOR),
    (&["--bits", "2"], FLOOR_OF_WIDE_BITS),
    (&["--bits", "8"], FLOOR_OF_WIDE_BITS),
    (&["--bits", "16"], FLOOR_OF_WIDE_BITS),
    (&["--bits", "1.5"], FLOOR_OF_WIDE_BITS),
];

/// Sketches of `estimate`, each with its lower limit in pairs per second.
const SKETCHES: [(&str, f64); 8] = [
    ("minhash:128", FLOOR),
    ("b-bit:1/minhash:1024", FLOOR),
    ("b-bit:2/minhash:128", FLOOR_OF_WIDE_BITS),
    ("b-bit:4/minhash:128", FLOOR_OF_WIDE_BITS),
    ("b-bit:8/minhash:128", FLOOR_OF_WIDE_BITS),
    ("b-bit:16/minhash:128", FLOOR_OF_WIDE_BITS),
    ("fractional:1x0.5+2x0.5/minhash:128", FLOOR_OF_WIDE_BITS),
    ("connected:4x1/minhash:512", FLOOR_OF_WIDE_BITS),
];

/// Number of pairs that are near-duplicates by construction. All other pairs share no shingle.
const PLANTED: u64 = 1000;
/// Number of words per document. They make 56 shingles of five words; if the last word is changed, 55 of 57 are shared.
const WORDS: u64 = 60;

/// Measures all settings on a generated corpus and on the English corpus of a folder. With `floor`, fails if a setting
/// is too slow.
pub fn run(data: &str, floor: bool) -> Result<()> {
    let minwise = build()?;
    fs_err::create_dir_all(work())?;
    println!("{}", output(&minwise, &["--version"])?.trim());
    let made = work().join("all-pairs.jsonl");
    let args = ["corpus", "--output", &path(&made), "--documents", DOCUMENTS, "--force"];
    command_quietly(&build_lab()?, &args)?;
    let mut slow = vec![];
    println!("\n| command | corpus | pairs | seconds | pairs/s |\n|---|---|---|---|---|");
    for corpus in [made, unpack(data, "english")?] {
        let name = corpus.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut row = |command: String, (pairs, seconds): (f64, f64), least: f64| {
            println!("| `{command}` | {name} | {pairs:.2e} | {seconds:.2} | {:.2e} |", pairs / seconds);
            if pairs / seconds < least {
                slow.push(format!("`{command}` on {name}: {:.2e} of {least:.0e} pairs/s", pairs / seconds));
            }
        };
        let exact = pairs_of(&minwise, &corpus, "sort-merge", &[])?.2;
        for (options, least) in PAIRS {
            let mut best = (0.0, f64::INFINITY);
            for _ in 0..RUNS {
                let (pairs, seconds, found) = pairs_of(&minwise, &corpus, "all", options)?;
                ensure!(found == exact, "`{}` finds other pairs than `sort-merge`", options.join(" "));
                best = (pairs, seconds.min(best.1));
            }
            row(format!("pairs --candidates all {}", options.join(" ")).trim_end().to_owned(), best, least);
        }
        let sketches = work().join("all-pairs.sketches");
        for (sketch, least) in SKETCHES {
            let args = ["sketch", &path(&corpus), "-o", &path(&sketches), "--sketch", sketch];
            output(&minwise, &[&args[..], &["--force", "--quiet"]].concat())?;
            let mut best = (0.0, f64::INFINITY);
            for _ in 0..RUNS {
                let summary = estimate(&minwise, &sketches, &work().join("all-pairs.tsv"))?;
                best = (summary.number("compared")?, (summary.number("elapsed_ms")? / 1000.0).min(best.1));
            }
            row(format!("estimate`, `{sketch}"), best, least);
        }
    }
    println!(
        "\n| sketch | documents | pairs | seconds | pairs/s | words compared | found |\n|---|---|---|---|---|---|---|"
    );
    compare(&minwise, "b-bit:1/minhash:1024", 200_000)?;
    let share = compare(&minwise, "minhash:1024", 20_000)?;
    ensure!(share < 0.1, "the filter compared {share} of the registers, not a tenth");
    ensure!(!floor || slow.is_empty(), "too slow:\n{}", slow.join("\n"));
    Ok(())
}

/// Runs `minwise pairs`. Returns the number of pairs, the seconds of its stage `candidates`, and the output.
fn pairs_of(
    minwise: &Path,
    corpus: &Path,
    candidates: &str,
    options: &[&str],
) -> Result<(f64, f64, Vec<u8>)> {
    let written = work().join("all-pairs.tsv");
    let mut running = Command::new(minwise)
        .args(["pairs", &path(corpus), "-o", &path(&written), "--force", "--candidates", candidates])
        .args(["--threads", "2", "--log", "json"])
        .args(options)
        .stderr(Stdio::piped())
        .spawn()?;
    let (mut began, mut ended, mut summary) = (None, None, None);
    // Events are written when they happen, so the arrival of its line is the time of an event.
    for line in BufReader::new(running.stderr.take().context("standard error is piped")?).lines() {
        let line = line?;
        if line.contains("\"stage\":\"candidates\"") {
            began = Some(Instant::now());
        } else if line.contains("\"stage\":\"verify\"") {
            ended = Some(Instant::now());
        } else if line.contains("\"event\":\"summary\"") {
            summary = Some(LastEvent(line));
        }
    }
    ensure!(running.wait()?.success(), "`minwise pairs` failed");
    let (began, ended) = (began.context("no candidates")?, ended.context("no verification")?);
    let pairs = summary.context("no summary")?.number("candidates")?;
    Ok((pairs, (ended - began).as_secs_f64(), fs_err::read(&written)?))
}

/// Runs `minwise estimate`, and returns the last event of its log.
fn estimate(minwise: &Path, sketches: &Path, written: &Path) -> Result<LastEvent> {
    let printed = Command::new(minwise)
        .args(["estimate", &path(sketches), "-o", &path(written), "--force", "--threshold", "0.8"])
        .args(["--log", "json", "--threads", "2"])
        .output()?;
    let log = String::from_utf8_lossy(&printed.stderr).into_owned();
    let summary = log.lines().find(|line| line.contains("\"event\":\"summary\""));
    Ok(LastEvent(summary.with_context(|| log.clone())?.to_owned()))
}

/// Last event of a run.
struct LastEvent(String);

impl LastEvent {
    fn number(&self, name: &str) -> Result<f64> {
        let (_, rest) = self.0.split_once(&format!("\"{name}\":")).with_context(|| format!("no `{name}`"))?;
        Ok(rest.split([',', '}']).next().unwrap_or_default().parse()?)
    }
}

/// Sketches a generated corpus, compares all its pairs and checks the found pairs. Returns the share of words that were
/// compared.
fn compare(minwise: &Path, sketch: &str, documents: u64) -> Result<f64> {
    let corpus = work().join(format!("planted-{documents}.jsonl"));
    let mut planted = BTreeSet::new();
    let mut lines = String::new();
    for document in 0..documents {
        // The last documents repeat the first ones, except for the last word.
        let from = documents - PLANTED;
        let original = if document >= from { document - from } else { document };
        let mut words: Vec<String> = (0..WORDS).map(|at| format!("w{original}x{at}")).collect();
        if document >= from {
            planted.insert((format!("d{original}"), format!("d{document}")));
            words.pop();
            words.push("changed".to_owned());
        }
        lines += &format!("{{\"id\": \"d{document}\", \"text\": \"{}\"}}\n", words.join(" "));
    }
    fs_err::write(&corpus, lines)?;
    let (sketches, pairs) = (work().join("planted.sketches"), work().join("planted.tsv"));
    output(
        minwise,
        &["sketch", &path(&corpus), "-o", &path(&sketches), "--sketch", sketch, "--force", "--quiet"],
    )?;
    let summary = estimate(minwise, &sketches, &pairs)?;

    let found: BTreeSet<(String, String)> = fs_err::read_to_string(&pairs)?
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t');
            Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
        })
        .collect();
    ensure!(found == planted, "{} pairs were found, {} were planted", found.len(), planted.len());
    let (compared, seconds) = (summary.number("compared")?, summary.number("elapsed_ms")? / 1000.0);
    ensure!(compared == (documents * (documents - 1) / 2) as f64, "every pair is compared once");
    let share = summary.number("words_compared")? / summary.number("words")?;
    println!(
        "| `{sketch}` | {documents} | {compared:.2e} | {seconds:.1} | {:.2e} | {:.1} % | {} of {} |",
        compared / seconds,
        100.0 * share,
        found.len(),
        planted.len()
    );
    Ok(share)
}
