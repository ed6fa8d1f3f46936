//! Measures the speed of the `minwise` command with all cores of a machine, and prints one table.
//!
//! The program needs only two binaries and a corpus, so it runs on machines without Rust. `cargo x bench sixteen` packs
//! these three files into one archive.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fs_err::File;
use minwise_corpus::{Output, Overwrite};
use minwise_lab::corpus::{self, Made};
use minwise_lab::enlarge;

use crate::args::SixteenArgs;
use crate::messages::{LabFailure, print};

/// Number of cores for which the targets are stated. On fewer cores, the table has ratios and no targets.
const CORES: usize = 16;
/// Number of runs per figure. The fastest run counts, because other work on the machine only ever adds time.
const RUNS: usize = 3;
/// Interval at which the memory of a run is read.
const LOOK: Duration = Duration::from_millis(5);
const GIGABYTE: f64 = 1e9;
/// Name of the thread of the command that commits documents to an archive.
const COMMIT: &str = "commit";

/// Sizes of the corpora.
struct CorpusSizes {
    /// Number of copies of the English corpus, each with its words spelled in other letters.
    english: u64,
    /// Number of short documents.
    short: u64,
    /// Number of short documents in the runs with little memory.
    many: u64,
    /// `--memory` in the runs with little memory.
    memory: [&'static str; 2],
    /// Number of documents of 2 kB that are added to an archive.
    pages: u64,
    /// Number of files that are checked against the archive.
    files: u64,
}

const LARGE: CorpusSizes = CorpusSizes {
    english: 17,
    short: 3_000_000,
    many: 8_000_000,
    memory: ["1GiB", "512MiB"],
    pages: 500_000,
    files: 4000,
};
const SMALL: CorpusSizes = CorpusSizes {
    english: 2,
    short: 300_000,
    many: 400_000,
    memory: ["256MiB", "192MiB"],
    pages: 30_000,
    files: 400,
};

/// Time and peak memory of a finished run of the command.
#[derive(Clone, Copy)]
struct Finished {
    seconds: f64,
    peak_bytes: u64,
    /// CPU time of the thread that commits documents.
    commit_seconds: f64,
}

struct SpeedTable {
    minwise: PathBuf,
    folder: PathBuf,
    cores: usize,
    scale: CorpusSizes,
    missed: usize,
}

pub fn run(args: &SixteenArgs, cores: usize) -> Result<bool, LabFailure> {
    let folder = PathBuf::from(&args.folder);
    fs_err::create_dir_all(&folder)?;
    let scale = if cores < CORES { SMALL } else { LARGE };
    let mut table = SpeedTable { minwise: PathBuf::from(&args.minwise), folder, cores, scale, missed: 0 };
    let folder = fs_err::canonicalize(&table.folder)?;
    let mounts = fs_err::read_to_string("/proc/mounts").unwrap_or_default();
    let kind = if lies_in_memory(&folder, &mounts) { "in memory" } else { "on a disk" };
    print(&format!("{cores} threads, files {kind}\n\n| figure | measured | target |\n|---|---|---|"))?;
    let result = table.measure(&args.english);
    // The folder is deleted, because its many gigabytes may lie in a file system in memory.
    fs_err::remove_dir_all(&table.folder)?;
    result.map(|()| table.missed == 0 || cores < CORES)
}

impl SpeedTable {
    fn measure(&mut self, english: &str) -> Result<(), LabFailure> {
        let text = crate::read_corpus(english)?;
        let english = self.path("english.jsonl");
        let mut out = Output::create(&english, Overwrite::Allow)?;
        enlarge::enlarge(&text, self.scale.english, 1, self.cores, |lines| -> Result<(), LabFailure> {
            Ok(out.write_bytes(lines)?)
        })?;
        out.finish()?;
        drop(text);
        let plain = self.texts("English", &english, 1.6)?;
        self.compressed(&english, plain)?;
        self.audit("English", &english)?;
        self.parquet(&english)?;
        self.many_files()?;
        self.forget(&["english.jsonl", "out.jsonl", "out.jsonl.zst", "out.jsonl.gz", "out.parquet"])?;

        let short = self.made("short.jsonl", self.scale.short, 160)?;
        self.texts("short documents", &short, 1.0)?;
        self.audit("short documents", &short)?;
        self.forget(&["short.jsonl", "out.jsonl"])?;

        let many = self.made("many.jsonl", self.scale.many, 160)?;
        self.memory(&many)?;
        self.forget(&["many.jsonl", "out.jsonl"])?;
        self.archive()
    }

    /// Measures a corpus with different numbers of threads.
    fn texts(&mut self, name: &str, corpus: &Path, target: f64) -> Result<Finished, LabFailure> {
        let bytes = fs_err::metadata(corpus)?.len() as f64;
        let speed = |run: Finished| bytes / GIGABYTE / run.seconds;
        let one = self.dedup(corpus, "out.jsonl", &["--threads", "1"])?;
        self.row(&format!("{name}, {:.2} GB, 1 thread", bytes / GIGABYTE), &rate(speed(one), one), "", true)?;
        let cores = self.cores;
        for threads in [2, 4, 8].into_iter().filter(|threads| *threads < cores) {
            let run = self.dedup(corpus, "out.jsonl", &["--threads", &threads.to_string()])?;
            self.row(&format!("{name}, {threads} threads"), &rate(speed(run), run), "", true)?;
        }
        let all = self.fastest(corpus, "out.jsonl", &[])?;
        let share = speed(all) / speed(one) / self.cores as f64;
        let measured = format!("{}, {:.0} % of linear", rate(speed(all), all), 100.0 * share);
        let reached = speed(all) >= target;
        self.row(&format!("{name}, all threads"), &measured, &format!("{target} GB/s"), reached)?;
        Ok(all)
    }

    /// Measures compressed outputs and inputs. Speeds count the uncompressed bytes.
    fn compressed(&mut self, corpus: &Path, plain: Finished) -> Result<(), LabFailure> {
        let bytes = fs_err::metadata(corpus)?.len() as f64 / GIGABYTE;
        for (name, target) in [("out.jsonl.zst", 1.0), ("out.jsonl.gz", 0.4)] {
            let run = self.dedup(corpus, name, &[])?;
            let speed = bytes / run.seconds;
            let measured = format!("{}, {:.2} × plain", rate(speed, run), plain.seconds / run.seconds);
            self.row(&format!("output `{name}`"), &measured, &format!("{target} GB/s"), speed >= target)?;
        }
        let kept = fs_err::metadata(self.path("out.jsonl"))?.len() as f64 / GIGABYTE;
        let (packed, unpacked) = (self.path("out.jsonl.gz"), self.path("out.jsonl"));
        let frames = self.path("frames.jsonl.zst");
        write_frames(&unpacked, &frames)?;
        for (name, input) in [
            ("input `.jsonl`, kept documents", &unpacked),
            ("input `.zst`, one frame", &self.path("out.jsonl.zst")),
            ("input `.zst`, frames of 16 MiB", &frames),
        ] {
            let run = self.dedup(input, "again.jsonl", &[])?;
            self.row(name, &rate(kept / run.seconds, run), "", true)?;
        }
        let started = Instant::now();
        let status = Command::new("gzip").arg("-dc").arg(&packed).stdout(Stdio::null()).status();
        let run = self.dedup(&packed, "again.jsonl", &[])?;
        let seconds = started.elapsed().as_secs_f64() - run.seconds;
        if status.is_ok_and(|status| status.success()) {
            let measured = format!("{}; `gzip -dc` takes {seconds:.2} s", rate(kept / run.seconds, run));
            self.row("input `.gz`, one member", &measured, "the time of `gzip -dc`", run.seconds <= seconds)?;
        }
        self.forget(&["again.jsonl", "frames.jsonl.zst"])
    }

    /// Measures the cost of audit and report together.
    fn audit(&mut self, name: &str, corpus: &Path) -> Result<(), LabFailure> {
        for threads in [1, self.cores] {
            let threads_option = threads.to_string();
            let report = self.path("report").to_string_lossy().into_owned();
            let options = ["--threads", &threads_option];
            // Runs without and with audit alternate, so that other work on the machine slows both alike.
            let (mut without, mut with) = (f64::INFINITY, f64::INFINITY);
            for _ in 0..if threads == 1 { 1 } else { RUNS } {
                without = without.min(self.dedup(corpus, "out.jsonl", &options)?.seconds);
                let audited = ["--threads", &threads_option, "--audit", "auto", "--report", &report];
                with = with.min(self.command_for("dedup", corpus, "out.jsonl", &audited)?.seconds);
            }
            let cost = with - without;
            let reached = cost <= 0.3 || cost <= 0.1 * without;
            let measured = format!("{cost:.2} s, {:.0} %", 100.0 * cost / without);
            let name = format!("audit and report of {name}, threads: {threads}");
            self.row(&name, &measured, "10 % or 0.3 s", reached)?;
        }
        fs_err::remove_dir_all(self.path("report"))?;
        Ok(())
    }

    /// Measures the kept documents in many gzip files, as crawls and data sets are stored.
    fn many_files(&mut self) -> Result<(), LabFailure> {
        const FILES: usize = 64;
        let lines = fs_err::read(self.path("out.jsonl"))?;
        let folder = self.path("files-gz");
        fs_err::create_dir_all(&folder)?;
        let mut rest = &lines[..];
        for number in 0..FILES {
            let least = (lines.len() / FILES).min(rest.len());
            let end =
                rest[least..].iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| least + at + 1);
            let (part, after) = rest.split_at(end);
            let mut out = Output::create(&folder.join(format!("{number:02}.jsonl.gz")), Overwrite::Allow)?;
            out.set_threads(self.cores)?;
            out.write_bytes(part)?;
            out.finish()?;
            rest = after;
        }
        let run = self.dedup(&folder, "again.jsonl", &[])?;
        let speed = lines.len() as f64 / GIGABYTE / run.seconds;
        self.row(&format!("input of {FILES} `.gz` files"), &rate(speed, run), "", true)?;
        fs_err::remove_dir_all(&folder)?;
        self.forget(&["again.jsonl"])
    }

    /// Measures JSONL to Parquet, and Parquet to Parquet and JSONL to JSONL for the same texts: first for documents of which all are kept, so
    /// that pages are copied as they are stored, then for documents of which some are removed.
    fn parquet(&mut self, english: &Path) -> Result<(), LabFailure> {
        let (lines, table) = (self.path("out.jsonl"), self.path("out.parquet"));
        let (by_lines, converted) =
            (self.fastest(&lines, "again.jsonl", &[])?, self.fastest(&lines, "out.parquet", &[])?);
        let share = by_lines.seconds / converted.seconds;
        let measured = format!("{share:.2} × JSONL ({:.2} s)", converted.seconds);
        self.row("JSONL to Parquet", &measured, "0.6 × JSONL", share >= 0.6)?;
        self.parquet_beside("Parquet to Parquet", &lines, &table)?;
        // An annotated output has all documents.
        let table = self.path("all.parquet");
        self.dedup(english, "all.parquet", &["--annotate"])?;
        self.parquet_beside("Parquet to Parquet, with removed rows", english, &table)?;
        self.forget(&["again.jsonl", "again.parquet", "all.parquet"])
    }

    fn parquet_beside(&mut self, name: &str, lines: &Path, table: &Path) -> Result<(), LabFailure> {
        let by_lines = self.fastest(lines, "again.jsonl", &[])?;
        let by_tables = self.fastest(table, "again.parquet", &[])?;
        let share = by_lines.seconds / by_tables.seconds;
        let measured = format!(
            "{share:.2} × JSONL ({:.2} s, {:.2} s), peak {:.0} MB and {:.0} MB",
            by_tables.seconds,
            by_lines.seconds,
            by_tables.peak_bytes as f64 / 1e6,
            by_lines.peak_bytes as f64 / 1e6
        );
        self.row(name, &measured, "0.6 × JSONL", share >= 0.6)
    }

    /// Measures many short documents with little memory.
    fn memory(&mut self, many: &Path) -> Result<(), LabFailure> {
        let bytes = fs_err::metadata(many)?.len() as f64 / GIGABYTE;
        let free = self.dedup(many, "out.jsonl", &[])?;
        let name = format!("{} short documents", self.scale.many);
        self.row(&format!("{name}, default `--memory`"), &rate(bytes / free.seconds, free), "", true)?;
        for (memory, target) in self.scale.memory.into_iter().zip([0.8, 0.0]) {
            let run = self.dedup(many, "out.jsonl", &["--memory", memory]);
            let (measured, reached) = match run {
                Ok(run) => {
                    let share = free.seconds / run.seconds;
                    (format!("{}, {share:.2} × default", rate(bytes / run.seconds, run)), share >= target)
                }
                Err(_) => ("failed".to_owned(), false),
            };
            let target = if target > 0.0 { "0.8 × default" } else { "it ends" };
            self.row(&format!("{name}, `--memory {memory}`"), &measured, target, reached)?;
        }
        Ok(())
    }

    /// Measures an archive: adding documents, and checking files.
    fn archive(&mut self) -> Result<(), LabFailure> {
        let pages = self.made("pages.jsonl", self.scale.pages, 400)?;
        let archive = self.path("archive");
        self.timed(&["index", "create", &archive.to_string_lossy()], &[0])?;
        let added =
            self.timed(&["index", "add", &archive.to_string_lossy(), &pages.to_string_lossy(), "-q"], &[0])?;
        let speed = self.scale.pages as f64 / added.seconds;
        let serial = 1e6 * added.commit_seconds / self.scale.pages as f64;
        let measured = format!(
            "{speed:.0} documents/s, {:.2} s, peak {:.0} MB; the committing thread takes {serial:.1} µs per document",
            added.seconds,
            added.peak_bytes as f64 / 1e6
        );
        self.row("`index add`, documents of 2 kB", &measured, "100000 documents/s", speed >= 1e5)?;
        let files = self.path("files");
        fs_err::create_dir_all(&files)?;
        let text = fs_err::read_to_string(&pages)?;
        for (number, line) in text.lines().take(self.scale.files as usize).enumerate() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            fs_err::write(files.join(format!("{number}.txt")), record["text"].as_str().unwrap_or(""))?;
        }
        let mut seconds = vec![];
        for threads in [1, self.cores] {
            let (archive, files) = (archive.to_string_lossy(), files.to_string_lossy());
            let run = self.timed(
                &["check", "--index", &archive, &files, "-q", "--threads", &threads.to_string()],
                &[0, 1],
            )?;
            seconds.push(run.seconds);
        }
        let speed = self.scale.files as f64 / seconds[1];
        let measured = format!("{speed:.0} files/s, {:.1} × one thread", seconds[0] / seconds[1]);
        self.row(&format!("`check` of {} files", self.scale.files), &measured, "", true)
    }

    fn fastest(&self, corpus: &Path, out: &str, options: &[&str]) -> Result<Finished, LabFailure> {
        let mut best = self.dedup(corpus, out, options)?;
        for _ in 1..RUNS {
            let run = self.dedup(corpus, out, options)?;
            if run.seconds < best.seconds {
                best = run;
            }
        }
        Ok(best)
    }

    fn dedup(&self, corpus: &Path, out: &str, options: &[&str]) -> Result<Finished, LabFailure> {
        self.command_for("dedup", corpus, out, &[&["--audit", "0"], options].concat())
    }

    fn command_for(
        &self,
        command: &str,
        corpus: &Path,
        out: &str,
        options: &[&str],
    ) -> Result<Finished, LabFailure> {
        let (corpus, out) = (corpus.to_string_lossy(), self.path(out));
        let args = [command, &corpus, "--output", &out.to_string_lossy(), "--force", "--quiet"];
        self.timed(&[&args[..], options].concat(), &[0])
    }

    /// Runs the command, and returns its time and peak memory.
    fn timed(&self, args: &[&str], codes: &[i32]) -> Result<Finished, LabFailure> {
        let log = self.path("log");
        let failed = |error: &dyn std::fmt::Display| {
            LabFailure::new(format!("`{} {}` failed: {error}", self.minwise.display(), args.join(" ")))
        };
        let started = Instant::now();
        let mut child = Command::new(&self.minwise)
            .args(args)
            .stdout(Stdio::null())
            .stderr(File::create(&log)?.into_file())
            .spawn()
            .map_err(|error| failed(&error))?;
        let process = PathBuf::from(format!("/proc/{}", child.id()));
        let (status, mut peak_bytes, mut commit_seconds) = (process.join("status"), 0, 0.0);
        let code = loop {
            if let Some(code) = child.try_wait()? {
                break code;
            }
            // `VmHWM` is the peak so far, so a late look misses only the last milliseconds.
            if let Ok(status) = fs_err::read_to_string(&status) {
                peak_bytes = peak_bytes.max(peak_of(&status).unwrap_or(0));
            }
            if let Some(seconds) = seconds_of_thread(&process, COMMIT) {
                commit_seconds = seconds;
            }
            std::thread::sleep(LOOK);
        };
        let seconds = started.elapsed().as_secs_f64();
        if !code.code().is_some_and(|code| codes.contains(&code)) {
            return Err(failed(&fs_err::read_to_string(&log)?));
        }
        Ok(Finished { seconds, peak_bytes, commit_seconds })
    }

    fn made(&self, name: &str, documents: u64, words: u64) -> Result<PathBuf, LabFailure> {
        let path = self.path(name);
        let made = Made {
            documents,
            words,
            copies: 0.2,
            edits: 6,
            families: None,
            form: 0,
            revisions: None,
            seed: 1,
        };
        let mut out = Output::create(&path, Overwrite::Allow)?;
        corpus::make(made, false, self.cores, |lines, _| -> Result<(), LabFailure> {
            Ok(out.write_bytes(lines)?)
        })?;
        out.finish()?;
        Ok(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn forget(&self, names: &[&str]) -> Result<(), LabFailure> {
        for name in names {
            fs_err::remove_file(self.path(name))?;
        }
        Ok(())
    }

    /// Prints a row immediately, because the next row takes a while.
    fn row(&mut self, figure: &str, measured: &str, target: &str, reached: bool) -> Result<(), LabFailure> {
        let targets = self.cores >= CORES && !target.is_empty();
        self.missed += usize::from(targets && !reached);
        let mark = match (targets, reached) {
            (false, _) => String::new(),
            (true, true) => format!("at least {target}: reached").replace("at least it ends", "it ends"),
            (true, false) => format!("{target}: **missed**"),
        };
        print(&format!("| {figure} | {measured} | {mark} |"))
    }
}

fn rate(gigabytes_per_second: f64, run: Finished) -> String {
    format!(
        "{:.0} MB/s, {:.2} s, peak {:.0} MB",
        1000.0 * gigabytes_per_second,
        run.seconds,
        run.peak_bytes as f64 / 1e6
    )
}

/// Reports whether a folder lies in a file system in memory. `mounts` is the text of `/proc/mounts`.
fn lies_in_memory(folder: &Path, mounts: &str) -> bool {
    let mounted = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    // Of several file systems at one place, the last one is visible.
    let around = mounted.filter(|(place, _)| folder.starts_with(place));
    let nearest = around.max_by_key(|(place, _)| place.components().count());
    nearest.is_some_and(|(_, kind)| ["tmpfs", "ramfs"].contains(&kind))
}

/// Returns the peak memory from the text of `/proc/PID/status`.
fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Returns the CPU time of a thread of a process, given the folder of the process in `/proc` and the name of the thread.
fn seconds_of_thread(process: &Path, name: &str) -> Option<f64> {
    let threads = fs_err::read_dir(process.join("task")).ok()?;
    let is_named =
        |folder: &Path| fs_err::read_to_string(folder.join("comm")).is_ok_and(|comm| comm.trim() == name);
    let folder = threads.flatten().map(|thread| thread.path()).find(|folder| is_named(folder))?;
    // The first number is the CPU time in nanoseconds.
    let nanoseconds =
        fs_err::read_to_string(folder.join("schedstat")).ok()?.split(' ').next()?.parse::<u64>().ok()?;
    Some(nanoseconds as f64 / 1e9)
}

/// Compresses a file as frames of 16 MiB each, as pipelines of `pzstd` and `split` do.
fn write_frames(from: &Path, to: &Path) -> Result<(), LabFailure> {
    let bytes = fs_err::read(from)?;
    let mut out = File::create(to)?;
    for part in bytes.chunks(16 << 20) {
        out.write_all(&zstd::stream::encode_all(part, 1)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_thread_is_read_by_its_name() {
        let working = || {
            let started = Instant::now();
            while started.elapsed() < 2 * LOOK {
                std::hint::black_box(0);
            }
            seconds_of_thread(Path::new("/proc/self"), "a worker")
        };
        let worker = std::thread::Builder::new().name("a worker".to_owned()).spawn(working).unwrap();
        let seconds = worker.join().unwrap();
        if cfg!(target_os = "linux") {
            assert!(seconds.is_some_and(|seconds| seconds > 0.0 && seconds < 60.0), "{seconds:?}");
        }
        assert_eq!(seconds_of_thread(Path::new("/proc/self"), "no such worker"), None);
    }

    #[test]
    fn the_file_system_of_a_folder_decides_whether_it_lies_in_memory() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /dev/shm tmpfs rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/vdb /tmp/disk xfs rw 0 0\n";
        for (folder, expected) in [
            ("/dev/shm/a", true),
            ("/home/a", false),
            ("/tmp/a", true),
            ("/tmp/disk/a", false),
            ("/tmpa", false),
        ] {
            assert_eq!(lies_in_memory(Path::new(folder), mounts), expected, "{folder}");
        }
        assert!(!lies_in_memory(Path::new("/a"), ""));
    }

    #[test]
    fn the_peak_is_read_from_the_status_of_a_process() {
        assert_eq!(peak_of("Name:\tminwise\nVmPeak:\t 9 kB\nVmHWM:\t    2048 kB\n"), Some(2 << 20));
        assert_eq!(peak_of("Name:\tminwise\n"), None);
    }
}
