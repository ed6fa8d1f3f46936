//! Measures the build of the README's first command in a fresh clone: CPU seconds, wall-clock seconds, and the seconds in which
//! only one thread ran.
//!
//! The compiler is observed in `/proc`, ten times per second. A thread counts as running if it is on a core or waits
//! for one. Other work on the machine makes the build longer, but does not change which of its threads run. For the
//! same reason, times are CPU times. `cargo build --timings` is not used, because it reports that the last unit runs
//! alone, but not on how many cores.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::run::{cargo, root};

/// Upper bound on the CPU seconds of the build.
const MOST_CPU: f64 = 500.0;
/// Upper bound on the CPU seconds of one unit while no other thread runs, not even a thread of the same unit.
const MOST_ALONE: f64 = 60.0;
const EVERY: Duration = Duration::from_millis(100);
/// Number of units that are listed.
const LISTED: usize = 12;
/// Clock ticks per second in `/proc`, which are the same on every Linux.
const TICKS: f64 = 100.0;

/// CPU seconds of one unit, which is a crate or a build script.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct BuildUnit {
    cpu: f64,
    alone: f64,
}

/// Builds into an empty folder, prints the times, and fails if they exceed the limits.
pub fn run() -> Result<()> {
    ensure!(Path::new("/proc/self/stat").exists(), "the build is measured by `/proc`, which only Linux has");
    // Crates are downloaded first, because downloads are not part of the measurement.
    cargo(&["fetch", "--locked"])?;
    let folder = root().join("target").join(format!("bench-build-{}", std::process::id()));
    let measured = measure(&folder);
    fs_err::remove_dir_all(&folder)?;
    let (units, cpu, wall) = measured?;
    let (longest, alone) = units
        .iter()
        .map(|(name, unit)| (name.as_str(), unit.alone))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .context("no unit was built")?;
    println!("\n| unit | CPU s | of them alone on one core |\n|---|---|---|");
    let mut by_cpu: Vec<(&String, &BuildUnit)> = units.iter().collect();
    by_cpu.sort_by(|a, b| b.1.cpu.total_cmp(&a.1.cpu));
    for (name, unit) in by_cpu.into_iter().take(LISTED) {
        println!("| {name} | {:.1} | {:.1} |", unit.cpu, unit.alone);
    }
    println!("\n| cold build of `minwise` | measured | limit |\n|---|---|---|");
    println!("| CPU seconds | {cpu:.0} | {MOST_CPU:.0} |");
    println!("| seconds of `{longest}` alone on one core | {alone:.0} | {MOST_ALONE:.0} |");
    println!("| wall-clock seconds | {wall:.0} | |");
    ensure!(cpu <= MOST_CPU, "the build takes more than {MOST_CPU:.0} CPU seconds");
    ensure!(alone <= MOST_ALONE, "`{longest}` has one core alone for more than {MOST_ALONE:.0} s");
    Ok(())
}

/// Returns the times per unit, and the CPU seconds and the elapsed seconds of the whole build.
fn measure(folder: &Path) -> Result<(BTreeMap<String, BuildUnit>, f64, f64)> {
    let (begin, before) = (Instant::now(), children_seconds()?);
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    eprintln!("$ cargo build --release");
    let mut build = Command::new(program)
        .current_dir(root())
        .args(["build", "--release", "--locked"])
        .env("CARGO_TARGET_DIR", folder)
        .spawn()?;
    let watched = watch(&mut build);
    if watched.is_err() {
        build.kill()?;
    }
    let status = build.wait()?;
    let units = watched?;
    ensure!(status.success(), "the build failed");
    Ok((units, children_seconds()? - before, begin.elapsed().as_secs_f64()))
}

fn watch(build: &mut Child) -> Result<BTreeMap<String, BuildUnit>> {
    let mut units: BTreeMap<String, BuildUnit> = BTreeMap::new();
    let mut seen: BTreeMap<u32, f64> = BTreeMap::new();
    while build.try_wait()?.is_none() {
        let now = processes(build.id())?;
        let running: usize = now.iter().map(|process| process.running).sum();
        for process in now {
            let before = seen.insert(process.id, process.seconds).unwrap_or(0.0);
            // If a new process has the id of an old one, its seconds start again at 0.
            let taken = (process.seconds - before).max(0.0);
            let unit = units.entry(process.unit).or_default();
            unit.cpu += taken;
            if running == 1 && process.running == 1 {
                unit.alone += taken;
            }
        }
        sleep(EVERY);
    }
    Ok(units)
}

/// Process of the build.
struct Process {
    id: u32,
    unit: String,
    /// Number of threads that are on a core or wait for one.
    running: usize,
    /// CPU seconds so far.
    seconds: f64,
}

/// Returns the descendants of Cargo. Processes that end while they are read are left out.
fn processes(cargo: u32) -> Result<Vec<Process>> {
    let mut parents = BTreeMap::new();
    for entry in fs_err::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if let Some(stat) = stat(&process_folder(id)) {
            parents.insert(id, stat);
        }
    }
    let mut found = vec![];
    for (&id, stat) in &parents {
        let mut line = vec![id];
        while let Some(parent) = line.last().and_then(|last| parents.get(last)).map(|stat| stat.parent) {
            line.push(parent);
        }
        let Some(depth) = line.iter().position(|&ancestor| ancestor == cargo).filter(|&depth| depth > 0)
        else {
            continue;
        };
        let unit = line[..depth].iter().find_map(|&ancestor| unit_of(ancestor));
        found.push(Process {
            id,
            unit: unit.unwrap_or_else(|| "other".to_owned()),
            running: running_threads(id),
            seconds: stat.seconds,
        });
    }
    Ok(found)
}

fn process_folder(id: u32) -> PathBuf {
    Path::new("/proc").join(id.to_string())
}

/// Fields of `/proc/…/stat` of a process or a thread.
struct Stat {
    state: char,
    parent: u32,
    seconds: f64,
    /// CPU seconds of children that have ended and were waited for.
    children_seconds: f64,
}

fn stat(folder: &Path) -> Option<Stat> {
    parse_stat(&fs_err::read_to_string(folder.join("stat")).ok()?)
}

fn parse_stat(text: &str) -> Option<Stat> {
    // Fields are counted from the last parenthesis, because the name, in parentheses, may contain any characters.
    let fields: Vec<&str> = text.get(text.rfind(')')? + 1..)?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        seconds: (ticks(11)? + ticks(12)?) / TICKS,
        children_seconds: (ticks(13)? + ticks(14)?) / TICKS,
    })
}

/// Returns the CPU seconds of all processes that this process has started and waited for.
pub fn children_seconds() -> Result<f64> {
    Ok(stat(Path::new("/proc/self")).context("`/proc/self/stat` cannot be read")?.children_seconds)
}

fn running_threads(id: u32) -> usize {
    let Ok(threads) = fs_err::read_dir(process_folder(id).join("task")) else { return 0 };
    threads.filter_map(|thread| stat(&thread.ok()?.path())).filter(|stat| stat.state == 'R').count()
}

/// Returns the crate that a process compiles, or the package whose build script it is.
fn unit_of(id: u32) -> Option<String> {
    let line = fs_err::read(process_folder(id).join("cmdline")).ok()?;
    name_of(&line.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect::<Vec<_>>())
}

fn name_of(words: &[impl AsRef<str>]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    if let Some(at) = words.iter().position(|&word| word == "--crate-name") {
        return words.get(at + 1).map(|name| (*name).to_owned());
    }
    let script = Path::new(words.first()?);
    if script.file_name()?.to_str()?.starts_with("build-script-") {
        let package = script.parent()?.file_name()?.to_str()?;
        let package = package.rsplit_once('-').map_or(package, |(package, _hash)| package);
        return Some(format!("{package} (build script)"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_is_read_whatever_the_name() {
        let stat = parse_stat("42 (a) R 9 (b) S 7 1 1 0 -1 4194560 1 2 3 4 150 50 300 100 20 0 1 0")
            .expect("a line");
        assert_eq!((stat.state, stat.parent), ('S', 7));
        assert_eq!((stat.seconds, stat.children_seconds), (2.0, 4.0));
        assert!(parse_stat("42 (a").is_none());
    }

    #[test]
    fn processes_are_known_by_what_they_build() {
        assert_eq!(name_of(&["rustc", "--crate-name", "minwise", "src/lib.rs"]).as_deref(), Some("minwise"));
        let script = "/t/release/build/zstd-sys-0123456789abcdef/build-script-build";
        assert_eq!(name_of(&[script]).as_deref(), Some("zstd-sys (build script)"));
        assert_eq!(name_of(&["cc", "-O3"]), None);
    }
}
