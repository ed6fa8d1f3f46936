//! Measures the whole command on real corpora, alone and beside other engines.
//!
//! Timings are wall-clock times of one machine. Only ratios within one run can be compared with those of other machines.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::build::children_seconds;
use crate::run::{cargo, command, output, python_venv, python_venv_in, root, target};

/// Number of runs per measurement; the median is reported.
const RUNS: usize = 5;
/// Upper bound on our best time, as a multiple of the best time of the other binary.
const MOST_SLOWER: f64 = 1.05;
/// Corpora of `cargo x bench speed`, with the least speed on two cores in MB/s.
const TWO_CORES: [(&str, f64); 2] = [("english", 400.0), ("throughput", 350.0)];
/// Number of runs per compared binary. It is large, because two runs of one binary differ by more than `MOST_SLOWER`.
const COMPARED_RUNS: usize = 15;
/// Number of runs with an audit, and number of runs without one.
const AUDITED_RUNS: usize = 7;
/// Maximum width of the 95 % interval of the recall that the audit of `english` measures.
const WIDEST: f64 = 0.02;
/// Number of documents on which the engines are compared.
const COMPARED: usize = 20_000;

/// Prints the cost of every sketch per shingle and per comparison, and the speed of every kernel, as Markdown tables.
pub fn sketches() -> Result<()> {
    cargo(&["bench", "--quiet", "--package", "minwise", "--bench", "sketches"])
}

/// Compares the words found in the PDFs of a folder with the words that `pdftotext` finds. Only the feature `pdf` is
/// built.
pub fn pdf(folder: &str) -> Result<()> {
    // The path is absolute, because Cargo runs a benchmark in the folder of its package.
    let folder = path(&fs_err::canonicalize(folder)?);
    let package = ["bench", "--quiet", "--package", "minwise-corpus", "--no-default-features"];
    cargo(&[&package[..], &["--features", "pdf", "--bench", "pdf", "--", &folder]].concat())
}

/// Measures `minwise dedup` from a JSONL file in the page cache to a cleaned JSONL file. If another binary is given,
/// the runs of both alternate, and the measurement fails if ours takes 5 % longer or writes another file. On a machine
/// of two cores, the measurement also fails if the best run is slower than [`TWO_CORES`].
pub fn speed(data: &str, other: Option<&str>) -> Result<()> {
    let ours = build()?;
    println!("{}", output(&ours, &["--version"])?.trim());
    println!("\n| corpus | MB | documents/s | MB/s, median | best | peak MB |\n|---|---|---|---|---|---|");
    let has_two_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 2);
    let (mut ratios, mut slow) = (vec![], vec![]);
    for (name, target) in TWO_CORES {
        let corpus = unpack(data, name)?;
        let (mut runs, mut others) = (BenchRuns::default(), BenchRuns::default());
        for _ in 0..if other.is_some() { COMPARED_RUNS } else { RUNS } {
            runs.add(&ours, &corpus)?;
            if let Some(other) = other {
                others.add(Path::new(other), &corpus)?;
            }
        }
        let size = fs_err::metadata(&corpus)?.len() as f64 / 1e6;
        let documents = fs_err::read(&corpus)?.split(|&byte| byte == b'\n').count() - 1;
        let (median, best) = runs.median_and_best();
        println!(
            "| {name} | {size:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
            documents as f64 / median,
            size / median,
            size / best,
            runs.peak
        );
        if has_two_cores && size / best < target {
            slow.push(format!(
                "{name}: {:.0} MB/s on two cores, the target is {target:.0} MB/s",
                size / best
            ));
        }
        if other.is_some() {
            ensure!(runs.cleaned == others.cleaned, "the binaries write different files from `{name}`");
            let (other_median, other_best) = others.median_and_best();
            ratios.push((name, median / other_median, best / other_best));
        }
    }
    let Some(other) = other else {
        ensure!(slow.is_empty(), "{}", slow.join("\n"));
        return Ok(());
    };
    println!("\n| time beside `{other}` | median | best |\n|---|---|---|");
    for (name, median, best) in &ratios {
        println!("| {name} | {median:.3} | {best:.3} |");
    }
    let slower = ratios.iter().find(|(_, _, best)| *best > MOST_SLOWER);
    ensure!(slower.is_none(), "the best time is more than {MOST_SLOWER} times that of `{other}`");
    ensure!(slow.is_empty(), "{}", slow.join("\n"));
    Ok(())
}

/// Runs of one binary on one corpus.
#[derive(Default)]
struct BenchRuns {
    seconds: Vec<f64>,
    peak: f64,
    cleaned: Vec<u8>,
}

impl BenchRuns {
    fn add(&mut self, minwise: &Path, corpus: &Path) -> Result<()> {
        let cleaned = work().join("cleaned.jsonl");
        let (corpus, output) = (path(corpus), path(&cleaned));
        let args = ["dedup", &corpus, "--output", &output, "--force", "--quiet", "--threads", "2"];
        let started = Instant::now();
        self.peak = peak_megabytes(minwise, &args)?;
        self.seconds.push(started.elapsed().as_secs_f64());
        self.cleaned = fs_err::read(&cleaned)?;
        Ok(())
    }

    fn median_and_best(&mut self) -> (f64, f64) {
        self.seconds.sort_by(f64::total_cmp);
        (self.seconds[self.seconds.len() / 2], self.seconds[0])
    }
}

/// Measures `Lsh` and the index of another crate. The benchmark is a separate package, so that no other package depends
/// on that crate.
pub fn lsh() -> Result<()> {
    cargo(&["run", "--release", "--quiet", "--manifest-path", "bench/peers-rust/Cargo.toml"])
}

/// Runs many clients against the server at the same time, and checks the answers and the memory of the server.
pub fn serve() -> Result<()> {
    let name = "five_hundred_clients_for_a_minute";
    let test = ["test", "--release", "--package", "minwise-server", "--test", "server", "--"];
    cargo(&[&test[..], &["--ignored", "--nocapture", name]].concat())
}

/// Finds the pairs of many short texts in memory, by one call of the engine and by a loop over the crate `minwise`.
/// Fails if the call takes more than 1.2 times the CPU time of the loop, or finds other pairs.
pub fn library() -> Result<()> {
    cargo(&["bench", "--quiet", "--package", "minwise-engine", "--bench", "library"])
}

/// Compares the expected recall and the measured recall with the true one, on many kinds of corpora with 100 seeds
/// each. Fails if a stated bound is wrong in more than 2 of 100 runs.
pub fn recall() -> Result<()> {
    let name = "recall_is_right_with_a_hundred_seeds";
    let test = ["test", "--release", "--package", "minwise-engine", "--test", "engine", "--"];
    cargo(&[&test[..], &["--ignored", "--nocapture", name]].concat())
}

/// Measures the memory of `minwise dedup` in bytes per document, from the peaks of a small and a large corpus. Fails if a
/// run takes more than `minwise plan` prints, or differs by more than [`MEMORY_TOLERANCE`] from docs/reference/memory.md.
pub fn memory() -> Result<()> {
    let minwise = build()?;
    fs_err::create_dir_all(work())?;
    let plan: serde_json::Value = serde_json::from_str(&output(&minwise, &["plan", "--format", "json"])?)?;
    let planned = |name: &str| plan[name].as_f64().with_context(|| format!("`minwise plan` has no `{name}`"));
    let (bound, sketch) = (planned("memory_bytes")?, planned("sketch_bytes")?);
    let page = fs_err::read_to_string(root().join("docs/reference/memory.md"))?;
    let documented = documented_bytes(&page)?;
    let mut failures = vec![];
    for (threads, documented) in ["2", "16"].into_iter().zip(documented) {
        let mut peaks = vec![];
        for documents in [200_000, 1_000_000] {
            let corpus = path(&tiny(documents)?);
            let args = ["dedup", &corpus, "--dry-run", "--quiet", "--threads", threads];
            let peak = peak_megabytes(&minwise, &args)?;
            println!("{threads} threads, {documents} documents of 12 words: peak {peak:.0} MB");
            peaks.push((documents as f64, peak));
        }
        let slope = (peaks[1].1 - peaks[0].1) / (peaks[1].0 - peaks[0].0) * 1e6;
        let expected = sketch + documented;
        println!(
            "{threads} threads: {slope:.0} bytes per document, {:.0} of them beside the sketch; documented {expected:.0}, \
             planned at most {bound:.0}",
            slope - sketch
        );
        failures
            .extend(memory_failure(slope, expected, bound).map(|why| format!("{threads} threads: {why}")));
    }
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

/// Maximum difference of the measured bytes per document from the documented ones, as a share of them. Runs of one binary
/// differ by a few percent, because threads hold buffers of different sizes when the peak is reached.
const MEMORY_TOLERANCE: f64 = 0.1;

/// Returns the bytes per document beside the sketch that docs/reference/memory.md states, for two and for sixteen threads.
fn documented_bytes(page: &str) -> Result<[f64; 2]> {
    let row = page.lines().find_map(|line| line.strip_prefix("| everything else in memory | "));
    let row = row.context("docs/reference/memory.md has no row `everything else in memory`")?;
    let numbers: Vec<f64> = row.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [two, sixteen] = numbers[..] else { bail!("`{row}` does not have two numbers") };
    Ok([two, sixteen])
}

/// Returns the target that the measured bytes per document miss, if any.
fn memory_failure(measured: f64, documented: f64, bound: f64) -> Option<String> {
    if measured.is_nan() {
        Some("`/usr/bin/time` is needed to measure the peak".to_owned())
    } else if measured > bound {
        Some(format!(
            "{measured:.0} bytes per document are more than the {bound:.0} that `minwise plan` prints"
        ))
    } else if (measured - documented).abs() > MEMORY_TOLERANCE * documented {
        Some(format!("{measured:.0} bytes per document are documented as {documented:.0}"))
    } else {
        None
    }
}

/// Deduplicates a corpus far larger than `--memory` in four ways: in memory, with `--memory`, with `--memory` and
/// `--work`, and with `--memory`, audit and report. Fails if outputs differ, if a run takes 20 % more than its memory,
/// or if the run with only `--memory` has less than half of the speed of the run in memory.
pub fn beyond(documents: &str) -> Result<()> {
    let minwise = build()?;
    fs_err::create_dir_all(work())?;
    let corpus = path(&work().join("beyond.jsonl"));
    let made = ["corpus", "--output", &corpus, "--documents", documents, "--words", "200", "--force"];
    command_quietly(&build_lab()?, &made)?;
    let size = fs_err::metadata(&corpus)?.len() as f64 / 1e6;
    println!("{documents} documents, {size:.0} MB, two threads");
    let folder = path(&work().join("beyond.work"));
    let report = path(&work().join("beyond.report"));
    let limit = ["--memory", "1GiB", "--audit", "0"];
    let ways: [(&str, &[&str]); 4] = [
        ("in memory", &["--audit", "0"]),
        ("--memory 1GiB", &limit),
        ("--memory 1GiB --work", &[&limit[..], &["--work", &folder]].concat()),
        ("--memory 1GiB, audit, report", &["--memory", "1GiB", "--report", &report]),
    ];
    let mut first: Option<(f64, String)> = None;
    for (name, options) in ways {
        let out = path(&work().join("beyond.out"));
        let plain = ["dedup", &corpus, "--output", &out, "--force", "--quiet", "--threads", "2"];
        let started = Instant::now();
        let peak = peak_megabytes(&minwise, &[&plain[..], options].concat())?;
        let seconds = started.elapsed().as_secs_f64();
        let hash = output(Path::new("sha256sum"), &[&out])?;
        let (unbounded, same) = first.get_or_insert((seconds, hash.clone()));
        ensure!(hash == *same, "`{name}` gives another output");
        let share = *unbounded / seconds;
        println!("{name:28} {:6.1} MB/s, {share:.2} of in memory, peak {peak:.0} MB", size / seconds);
        ensure!(options.len() == 2 || peak < 1.2 * 1074.0, "`{name}` takes more than 1.2 GiB");
        ensure!(options != limit || share >= 0.5, "`{name}` has less than half of the speed in memory");
    }
    Ok(())
}

/// Returns the path of a corpus of many small documents without near-duplicates, which is written on first use.
fn tiny(documents: u64) -> Result<PathBuf> {
    let corpus = work().join(format!("tiny-{documents}.jsonl"));
    if !corpus.exists() {
        let word = |document: u64, at: u64| (document * 12 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        let lines = (0..documents).map(|document| {
            let words: Vec<String> = (0..12).map(|at| format!("w{}", word(document, at))).collect();
            format!("{{\"id\": \"doc-{document:07}\", \"text\": \"{}\"}}\n", words.join(" "))
        });
        fs_err::write(&corpus, lines.collect::<Vec<_>>().concat())?;
    }
    Ok(corpus)
}

/// Measures the cost of the audit that every run has by default, and prints its recall. Fails if the audit takes more
/// than 5 % of the run and more than 0.2 s, or if the interval of the recall of `english` is wider than [`WIDEST`]. Costs are CPU seconds, because other programs hardly change them, and
/// because they are never below the elapsed seconds. Half of the third corpus is one family, so sketches distinguish
/// few of its documents; the documents of the fourth corpus are short.
pub fn audit(data: &str) -> Result<()> {
    let minwise = build()?;
    let family = work().join("family.jsonl");
    fs_err::create_dir_all(work())?;
    let made = ["corpus", "--documents", "100000", "--families", "1", "--copies", "0.5", "--edits", "2"];
    command_quietly(&build_lab()?, &[&made[..], &["--force", "--output", &path(&family)]].concat())?;
    println!(
        "\n| corpus | threads | CPU s without | audit, CPU s | share | audit, s | recall |\n|---|---|---|---|---|---|---|"
    );
    let mut failed = vec![];
    for (name, corpus) in [
        ("english", unpack(data, "english")?),
        ("throughput", unpack(data, "throughput")?),
        ("family", family),
        ("short", tiny(1_000_000)?),
    ] {
        let corpus = path(&corpus);
        let cleaned = path(&work().join("cleaned.jsonl"));
        for threads in ["1", "2"] {
            let plain = ["dedup", &corpus, "--output", &cleaned, "--force", "--threads", threads];
            let mut seconds = [vec![], vec![]];
            let mut cpu = [0.0; 2];
            let mut recall = String::new();
            // The two kinds of run alternate, so that other work of the machine slows both alike.
            for _ in 0..AUDITED_RUNS {
                for (at, options) in [&["--audit", "0"][..], &[]].into_iter().enumerate() {
                    let (started, before) = (Instant::now(), children_seconds()?);
                    let run = Command::new(&minwise).args([&plain[..], options].concat()).output()?;
                    seconds[at].push(started.elapsed().as_secs_f64());
                    cpu[at] += (children_seconds()? - before) / AUDITED_RUNS as f64;
                    ensure!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
                    let printed = String::from_utf8_lossy(&run.stderr).into_owned();
                    let line = printed.lines().find_map(|line| line.strip_prefix("recall"));
                    line.unwrap_or("").trim().clone_into(&mut recall);
                }
            }
            let [without, with] = seconds.map(|mut seconds| {
                seconds.sort_by(f64::total_cmp);
                seconds[AUDITED_RUNS / 2]
            });
            let audit = cpu[1] - cpu[0];
            let share = audit / cpu[0];
            println!(
                "| {name} | {threads} | {:.2} | {audit:.3} | {:.1} % | {:.3} | {recall} |",
                cpu[0],
                100.0 * share,
                with - without,
            );
            if share > 0.05 && audit > 0.2 {
                failed
                    .push(format!("{name}, {threads} threads: more than 5 % of the run and more than 0.2 s"));
            }
        }
    }
    let width = audited_width(&minwise, &unpack(data, "english")?)?;
    println!("\nenglish: the interval is {width:.4} wide");
    if width > WIDEST {
        failed.push(format!("english: the interval is {width:.4} wide, more than {WIDEST}"));
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// Returns the width of the interval of the measured recall.
fn audited_width(minwise: &Path, corpus: &Path) -> Result<f64> {
    let report = work().join("audited");
    let run = ["dedup", &path(corpus), "--dry-run", "--quiet", "--force", "--report", &path(&report)];
    command_quietly(minwise, &run)?;
    let summary: serde_json::Value =
        serde_json::from_str(&fs_err::read_to_string(report.join("summary.json"))?)?;
    let end = |name: &str| {
        summary["audit"][name].as_f64().with_context(|| format!("`summary.json` has no `{name}` of an audit"))
    };
    Ok(end("high")? - end("low")?)
}

/// Names and options of the jobs on corpora with crowds.
const CROWD_JOBS: [(&str, &[&str]); 3] =
    [("star", &[]), ("components", &["--cluster", "components"]), ("star, 192 MiB", &["--memory", "192MiB"])];

/// Measures `minwise dedup` on corpora in which many documents share a band: time, memory, and expected and measured
/// recall. If another binary is given, the runs of both alternate, and the measurement fails if ours takes more than
/// twice as long. The measurement also fails if a job takes more memory than `--memory` allows.
pub fn crowds(other: Option<&str>) -> Result<()> {
    const RUNS: usize = 3;
    const MEGABYTES: f64 = (192 << 20) as f64 / 1e6;
    let minwise = build()?;
    let lab = build_lab()?;
    fs_err::create_dir_all(work())?;
    let near_copies = ["--words", "30", "--edits", "2", "--families", "1", "--copies", "0.999"];
    let corpora: [(&str, &str, &[&str]); 7] = [
        ("near-copies", "25000", &near_copies),
        ("near-copies", "100000", &near_copies),
        ("form, half", "100000", &["--words", "100", "--form", "100", "--edits", "2", "--copies", "0.1"]),
        (
            "form, two thirds",
            "100000",
            &["--words", "100", "--form", "200", "--edits", "2", "--copies", "0.1"],
        ),
        // The time of this corpus has no limit, because the older binary with its other rule for full shelves finds
        // only a hundredth of the pairs.
        ("form, seven eighths", "20000", &["--words", "100", "--form", "700"]),
        ("revisions", "100000", &["--words", "100", "--edits", "4", "--revisions", "50"]),
        ("revisions, short", "100000", &["--words", "30", "--edits", "2", "--revisions", "1000"]),
    ];
    println!(
        "\n| corpus | documents | job | seconds | times the other | peak MB | recall |\n|---|---|---|---|---|---|---|"
    );
    let mut failed = vec![];
    for (name, documents, options) in corpora {
        let corpus = path(&work().join("crowd.jsonl"));
        let made = ["corpus", "--output", &corpus, "--documents", documents, "--force"];
        command_quietly(&lab, &[&made[..], options].concat())?;
        for (job, options) in CROWD_JOBS {
            let args = ["dedup", &corpus, "--dry-run", "--quiet", "--audit", "0", "--threads", "2"];
            let args = [&args[..], options].concat();
            let (mut seconds, mut others, mut peak) = (vec![], vec![], 0.0_f64);
            for _ in 0..RUNS {
                let started = Instant::now();
                peak = peak.max(peak_megabytes(&minwise, &args)?);
                seconds.push(started.elapsed().as_secs_f64());
                if let Some(other) = other {
                    let started = Instant::now();
                    command_quietly(Path::new(other), &args)?;
                    others.push(started.elapsed().as_secs_f64());
                }
            }
            let audited = ["dedup", &corpus, "--dry-run", "--audit", "300", "--threads", "2"];
            let printed = Command::new(&minwise).args([&audited[..], options].concat()).output()?;
            let printed = String::from_utf8_lossy(&printed.stderr).into_owned();
            let recall = printed.lines().find_map(|line| line.strip_prefix("recall")).unwrap_or("").trim();
            let best = |seconds: &[f64]| seconds.iter().copied().fold(f64::INFINITY, f64::min);
            let ratio = best(&seconds) / best(&others);
            let shown = if other.is_some() { format!("{ratio:.2}") } else { "–".to_owned() };
            println!(
                "| {name} | {documents} | {job} | {:.2} | {shown} | {peak:.0} | {recall} |",
                best(&seconds)
            );
            if other.is_some() && ratio > 2.0 && name != "form, seven eighths" {
                failed.push(format!("{name}, {documents}, {job}: more than twice the time of the other"));
            }
            if options.contains(&"--memory") && peak > MEGABYTES {
                failed.push(format!("{name}, {documents}, {job}: more memory than it may take"));
            }
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// Counts the instructions per byte of `minwise dedup` with valgrind. The number is the same in every run, because
/// other work of the machine does not change it. There is no audit, because its share depends on the size of the
/// corpus. The kernel is AVX2, because valgrind has no AVX-512.
pub fn instructions(data: &str) -> Result<()> {
    /// Number of documents that valgrind processes in a minute.
    const COUNTED: usize = 4_000;
    let minwise = build()?;
    for name in ["english", "throughput"] {
        let corpus = first_lines(&unpack(data, name)?, COUNTED)?;
        let size = fs_err::metadata(&corpus)?.len() as f64;
        let counts = path(&work().join("callgrind.out"));
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", &format!("--callgrind-out-file={counts}")])
            .arg(&minwise)
            .args(["dedup", &path(&corpus), "--dry-run", "--quiet", "--threads", "1", "--audit", "0"])
            .output()
            .context("valgrind is needed to count instructions")?;
        let printed = String::from_utf8_lossy(&output.stderr);
        let refs = printed.lines().find_map(|line| line.split_once("Collected :"));
        let instructions: f64 = refs
            .and_then(|(_, count)| count.trim().parse().ok())
            .with_context(|| format!("no count in what valgrind printed:\n{printed}"))?;
        println!("{name}: {:.2} instructions a byte over {:.1} MB", instructions / size, size / 1e6);
    }
    Ok(())
}

/// Measures `minwise pairs` and other engines on one corpus, with recall and precision against exact pairs.
pub fn peers(shared: &str) -> Result<()> {
    let minwise = build()?;
    let python = python_venv(&["datasketch", "rensa", "gaoya", "scipy", "regex"])?;
    let scripts = root().join(shared).join("bench");
    let script = |name: &str| path(&scripts.join(name));

    let english = unpack(&format!("{shared}/data"), "english")?;
    let corpus = first_lines(&english, COMPARED)?;
    let size = fs_err::metadata(&corpus)?.len() as f64 / 1e6;
    println!("{COMPARED} documents, {size:.1} MB");

    let oracle = work().join("oracle.tsv");
    if !oracle.exists() {
        let pairs = output(&python, &[&script("exact_pairs.py"), &path(&corpus), "words:5", "0.5"])?;
        fs_err::write(&oracle, pairs)?;
    }
    let score = |found: &Path| output(&python, &[&script("score.py"), &path(&oracle), &path(found), "0.8"]);

    let found = work().join("minwise.tsv");
    let mut seconds = vec![];
    for _ in 0..RUNS {
        let started = Instant::now();
        let args =
            ["pairs", &path(&corpus), "--output", &path(&found), "--force", "--quiet", "--threads", "2"];
        command_quietly(&minwise, &args)?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let ours = seconds[RUNS / 2];
    println!("\n| engine | seconds | MB/s | times minwise | against the oracle |\n|---|---|---|---|---|");
    println!("| minwise | {ours:.2} | {:.0} | 1 | {} |", size / ours, score(&found)?.trim());
    for engine in ["gaoya", "rensa", "datasketch"] {
        let found = work().join(format!("{engine}.tsv"));
        let printed = output(&python, &[&script("peers.py"), engine, &path(&corpus), &path(&found), "0.8"])?;
        let seconds: f64 = printed
            .split_whitespace()
            .nth(1)
            .and_then(|word| word.parse().ok())
            .with_context(|| format!("no time in `{printed}`"))?;
        println!(
            "| {engine} | {seconds:.2} | {:.1} | {:.1} | {} |",
            size / seconds,
            seconds / ours,
            score(&found)?.trim(),
        );
    }
    Ok(())
}

/// Measures the Python package, datasketch, rensa and gaoya, and the command. Fails if a stated ratio is missed.
pub fn python(data: &str) -> Result<()> {
    let minwise = build()?;
    cargo(&["build", "--release", "--package", "minwise-python"])?;
    let (before, after) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = target().join("release").join(format!("{before}_minwise{after}"));
    let packages = ["numpy", "pyarrow", "datasketch==2.0.0", "rensa==0.5.0", "gaoya==0.2.2"];
    let python = python_venv_in(&target().join("python").join("bench"), &packages)?;
    command(&python, &["python/tools/install.py", &path(&library)])?;
    let english = unpack(data, "english")?;
    command(&python, &["python/tools/bench.py", &path(&minwise), &path(&english), "--check"])
}

/// Measures the Spark job, the command, Spark ML's `MinHashLSH`, and a typical hand-written Spark job. Fails if a
/// stated ratio is missed.
pub fn spark(documents: &str) -> Result<()> {
    let minwise = build()?;
    cargo(&["build", "--release", "--package", "minwise-python"])?;
    let (before, after) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = target().join("release").join(format!("{before}_minwise{after}"));
    let packages = ["numpy", "pandas==2.3.3", "pyarrow", "pyspark==4.2.1"];
    let python = python_venv_in(&target().join("python").join("bench-spark"), &packages)?;
    command(&python, &["python/tools/install.py", &path(&library)])?;
    command(&python, &["python/tools/bench_spark.py", &path(&minwise), documents, "--check"])
}

pub fn build() -> Result<PathBuf> {
    built("minwise-cli", "minwise", &[])
}

/// Builds the lab without PNG, because the benchmarks only use it to generate corpora.
pub fn build_lab() -> Result<PathBuf> {
    built("minwise-lab", "minwise-lab", &["--no-default-features"])
}

fn built(package: &str, name: &str, options: &[&str]) -> Result<PathBuf> {
    cargo(&[&["build", "--release", "--package", package], options].concat())?;
    Ok(target().join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

pub fn work() -> PathBuf {
    root().join("target").join("bench-data")
}

pub fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the path of a corpus of the shared data. The corpus is decompressed on first use.
pub fn unpack(data: &str, name: &str) -> Result<PathBuf> {
    let unpacked = work().join(format!("{name}.jsonl"));
    if !unpacked.exists() {
        let packed = root().join(data).join(format!("{name}.jsonl.zst"));
        if !packed.exists() {
            bail!("`{}` is not there: name the folder that has it", packed.display());
        }
        fs_err::create_dir_all(work())?;
        let mut out = fs_err::File::create(&unpacked)?;
        zstd::stream::copy_decode(fs_err::File::open(&packed)?, &mut out)?;
    }
    // Reading the file puts it into the page cache.
    fs_err::read(&unpacked)?;
    Ok(unpacked)
}

/// Writes the first lines of a corpus as a separate corpus, and returns its path.
fn first_lines(corpus: &Path, count: usize) -> Result<PathBuf> {
    let first = corpus.with_extension(format!("first-{count}.jsonl"));
    let text = fs_err::read(corpus)?;
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').take(count).collect();
    fs_err::write(&first, lines.concat())?;
    Ok(first)
}

pub fn command_quietly(program: &Path, args: &[&str]) -> Result<()> {
    let status = Command::new(program).args(args).status()?;
    if status.success() { Ok(()) } else { bail!("`{} {}` failed", program.display(), args.join(" ")) }
}

/// Runs a program and returns its peak memory in megabytes, or NaN if there is no `/usr/bin/time` to measure it.
fn peak_megabytes(program: &Path, args: &[&str]) -> Result<f64> {
    let time = Path::new("/usr/bin/time");
    if !time.exists() {
        command_quietly(program, args)?;
        return Ok(f64::NAN);
    }
    let output = Command::new(time).args(["-f", "%M"]).arg(program).args(args).output()?;
    let printed = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("`{} {}` failed:\n{printed}", program.display(), args.join(" "));
    }
    // `%M` is a number of KiB, although the manual of `time` calls it kilobytes.
    let kib: f64 = printed.trim().lines().last().and_then(|line| line.parse().ok()).unwrap_or(f64::NAN);
    Ok(kib * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_compared_with_the_page_and_the_plan() {
        let page = fs_err::read_to_string(root().join("docs/reference/memory.md")).unwrap();
        let [two, sixteen] = documented_bytes(&page).unwrap();
        assert!(two > 50.0 && two <= sixteen && sixteen < 500.0, "{two} {sixteen}");
        assert!(documented_bytes("| everything else in memory | 220 with two threads |").is_err());
        let fails = |measured: f64| memory_failure(measured, 700.0, 800.0);
        assert_eq!((fails(700.0), fails(765.0), fails(640.0)), (None, None, None));
        assert!(fails(600.0).unwrap().contains("600 bytes per document are documented as 700"));
        assert!(fails(801.0).unwrap().contains("801 bytes per document are more than the 800"));
        assert!(fails(f64::NAN).unwrap().contains("/usr/bin/time"));
        assert!(fails(790.0).unwrap().contains("documented as 700"));
    }
}
