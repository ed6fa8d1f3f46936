//! Finds the source files that a near-duplicate record passes through until it is removed.
//!
//! Two corpora are deduplicated under `callgrind`; the second has twice as many documents as the first. Code whose cost
//! grows from the first to the second runs per record, because arguments and plans cost the same in both. `corpus` and
//! `engine` are built without optimisation, so that no function is inlined and each cost comes with all its callers.
//!
//! A record *passes through* a file if the file hands the record on to another file, or if it does at least 5 % of the
//! work of a stage. Other files are *helpers*: they are called and return. Of `core`, only functions that other crates
//! call are counted, because a pure function handles no records. Files of settings are helpers, because they are only
//! read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::run::{cargo, output, root, target};

/// Stages, and the functions in which they begin. A stage that runs inside another stage comes before it.
const STAGES: [(&str, &[&str]); 7] = [
    ("audit", &["minwise_engine::audit::AuditedRun::audit"]),
    ("report", &["minwise_engine::output::report::Report::write"]),
    ("read", &["minwise_engine::read::read"]),
    ("candidate", &["minwise_engine::candidate::gather::Equals::find", "minwise_engine::candidate::find"]),
    ("verify", &["minwise_engine::verify::walk::Walk::run"]),
    ("decide", &["minwise_engine::decide::dedup::dedup"]),
    ("output", &["minwise_engine::output::write_kept_as_decided"]),
];
/// Stages after the decisions. They are printed and not counted.
const AFTERWARDS: [&str; 2] = ["audit", "report"];
/// Functions that report progress, and functions in which a thread waits for another. Their cost differs from run to
/// run.
const LEFT_OUT: [&str; 4] =
    ["minwise_engine::run::stopwatch::", "minwise::observe::", "std::sync::mpmc::", "::lock_contended"];
/// Files of settings.
const SETTINGS: &str = "engine/src/settings/";
/// Upper bound on the files that a record may pass through. The rule for crowded shelves added one file to the former
/// 40.
const MOST: usize = 41;
/// Section of ARCHITECTURE.md that lists the files that a record passes through.
const SECTION: &str = "## The way of one record\n";
/// Number of pairs of documents in the smaller corpus.
const PAIRS: u64 = 10;
/// Share of a stage's work from which a file counts even if it hands nothing on.
const MUCH: f64 = 0.05;

/// Work that the code of one source file does for a record in one stage.
#[derive(Debug, Default, PartialEq)]
struct FileVisit {
    /// Instructions per record, in the file and in the functions that it calls.
    instructions: f64,
    hands_on: bool,
}

/// Files of each stage.
type Stages = BTreeMap<&'static str, BTreeMap<String, FileVisit>>;

pub fn run() -> Result<()> {
    cargo(&[
        "build",
        "--package",
        "minwise-engine",
        "--example",
        "dedup",
        "--config",
        "profile.dev.opt-level=0",
    ])?;
    let folder = target().join("trace");
    fs_err::create_dir_all(&folder)?;
    let [few, many] = [PAIRS, 2 * PAIRS].map(|pairs| profile(&folder, pairs));
    let stages = stages(&few?, &many?);
    if let Some((stage, roots)) = STAGES.iter().find(|(stage, _)| !stages.contains_key(stage)) {
        bail!("no record is in `{stage}`: does it still begin in {roots:?}?");
    }
    let way = print(&stages);
    compare(&way, &fs_err::read_to_string(root().join("ARCHITECTURE.md"))?)?;
    if way.len() > MOST {
        bail!("a record passes through {} files, and may pass through {MOST}", way.len());
    }
    Ok(())
}

/// Writes a corpus of pairs of near-duplicates and deduplicates it under `callgrind`. Returns the profile.
fn profile(folder: &Path, pairs: u64) -> Result<String> {
    let folder = folder.join(pairs.to_string());
    if folder.exists() {
        fs_err::remove_dir_all(&folder)?;
    }
    fs_err::create_dir_all(&folder)?;
    let word = |pair: u64, at: u64| {
        let mixed = (pair * 1000 + at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..7).map(|letter| char::from(b'a' + (mixed >> (8 * letter)) as u8 % 26)).collect::<String>()
    };
    let record = |pair: u64, copy: bool| {
        let words: Vec<String> =
            (0..120).map(|at| if copy && at == 60 { "edited".to_owned() } else { word(pair, at) }).collect();
        format!("{{\"id\": \"{pair}-{copy}\", \"text\": \"{}\"}}\n", words.join(" "))
    };
    let records: String = (0..pairs).flat_map(|pair| [record(pair, false), record(pair, true)]).collect();
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (input, profile) = (file("in.jsonl"), file("callgrind.out"));
    fs_err::write(&input, records)?;
    let out_file = format!("--callgrind-out-file={profile}");
    let example = target().join("debug/examples/dedup").to_string_lossy().into_owned();
    let callgrind = ["--tool=callgrind", "--separate-callers=60", &out_file, &example];
    output(Path::new("valgrind"), &[&callgrind[..], &[&input, &file("out.jsonl"), &file("report")]].concat())
        .context("valgrind is needed to follow a record")?;
    Ok(String::from_utf8_lossy(&fs_err::read(&profile)?).into_owned())
}

/// Costs of chains of callers, and the file of each function. A chain begins with the called function itself.
#[derive(Default)]
struct Profile<'p> {
    costs: HashMap<&'p str, u64>,
    files: HashMap<&'p str, &'p str>,
}

/// Returns a name in a profile. The profile writes it as `(3) name` at first, and later as `(3)`.
fn name<'p>(names: &mut HashMap<&'p str, &'p str>, value: &'p str) -> &'p str {
    match value.split_once(' ') {
        Some((number, name)) => {
            names.insert(number, name);
            name
        }
        None => names.get(value).copied().unwrap_or_default(),
    }
}

impl<'p> Profile<'p> {
    fn parse(text: &'p str) -> Self {
        let mut profile = Self::default();
        let (mut files, mut chains) = (HashMap::new(), HashMap::new());
        let (mut file, mut chain, mut is_call) = ("", "", false);
        for line in text.lines() {
            if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
                // The line after `calls` is skipped, because it repeats the cost of the called function, which has its
                // own line.
                if !std::mem::take(&mut is_call) {
                    let cost = line.rsplit(' ').next().and_then(|cost| cost.parse().ok());
                    *profile.costs.entry(chain).or_default() += cost.unwrap_or(0);
                }
                continue;
            }
            match line.split_once('=') {
                Some(("fl", value)) => file = name(&mut files, value),
                Some(("fi" | "fe" | "cfi" | "cfl", value)) => _ = name(&mut files, value),
                Some(("fn", value)) => {
                    chain = name(&mut chains, value);
                    profile.files.entry(frames(chain).next().unwrap_or_default()).or_insert(file);
                }
                Some(("cfn", value)) => _ = name(&mut chains, value),
                Some(("calls", _)) => is_call = true,
                _ => {}
            }
        }
        profile
    }

    /// Returns the path of the file of a function, beginning with the folder of its crate, or `None` if it is not in a
    /// `src` of this repository.
    fn file(&self, function: &str) -> Option<&'p str> {
        let file = self.files.get(function)?.strip_prefix(&*root().join("crates/").to_string_lossy())?;
        file.split('/').nth(1).filter(|folder| *folder == "src").map(|_| file)
    }
}

/// Returns the functions of a chain.
fn frames(chain: &str) -> impl Iterator<Item = &str> {
    chain.split('\'')
}

fn is_of(function: &str, root: &str) -> bool {
    function.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with("::{"))
}

/// Returns the cost per record in each file of each stage.
fn stages(few: &str, many: &str) -> Stages {
    let (few, many) = (Profile::parse(few), Profile::parse(many));
    let mut stages = Stages::new();
    for (chain, cost) in &many.costs {
        let more = cost.saturating_sub(few.costs.get(chain).copied().unwrap_or(0));
        let is_left_out = |function: &str| LEFT_OUT.iter().any(|part| function.contains(part));
        let begins =
            |roots: &[&str]| frames(chain).any(|function| roots.iter().any(|root| is_of(function, root)));
        let stage = STAGES.iter().find(|(_, roots)| begins(roots));
        let Some((stage, _)) = stage.filter(|_| more > 0 && !frames(chain).any(is_left_out)) else {
            continue;
        };
        let visits = stages.entry(stage).or_default();
        let files: Vec<&str> = frames(chain).filter_map(|function| many.file(function)).collect();
        let is_core = |file: &str| file.starts_with("core/");
        let mut seen = BTreeSet::new();
        for (at, &file) in files.iter().enumerate() {
            let is_inside = is_core(file) && files.get(at + 1).is_some_and(|caller| is_core(caller));
            if is_inside || !seen.insert(file) {
                continue;
            }
            let visit = visits.entry(file.to_owned()).or_default();
            visit.instructions += more as f64 / (2 * PAIRS) as f64;
            let next = at.checked_sub(1).map(|next| files[next]);
            visit.hands_on |= next.is_some_and(|next| next != file && !(is_core(file) && is_core(next)));
        }
    }
    stages
}

/// Prints the files of each stage. Returns the files that a record passes through.
fn print(stages: &Stages) -> BTreeSet<String> {
    let (mut way, mut helpers, mut after) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (stage, _) in STAGES {
        let Some(visits) = stages.get(stage) else { continue };
        let all = visits.values().map(|visit| visit.instructions).fold(0.0, f64::max);
        let mut sorted: Vec<(&String, &FileVisit)> = visits.iter().collect();
        sorted.sort_by(|(_, a), (_, b)| b.instructions.total_cmp(&a.instructions));
        println!("\n{stage}: {all:.0} instructions per record");
        for (file, visit) in sorted {
            let share = visit.instructions / all;
            let passes = (visit.hands_on || share >= MUCH) && !file.starts_with(SETTINGS);
            println!("  {:5.1} % {} {file}", 100.0 * share, if passes { "→" } else { " " });
            let list = match passes {
                _ if AFTERWARDS.contains(&stage) => &mut after,
                true => &mut way,
                false => &mut helpers,
            };
            list.insert(file.clone());
        }
    }
    helpers.retain(|file| !way.contains(file));
    after.retain(|file| !way.contains(file) && !helpers.contains(file));
    println!(
        "\nA record passes through {} files and asks {} helpers. Audit and report look at it in {} more files.",
        way.len(),
        helpers.len(),
        after.len()
    );
    way
}

/// Fails if ARCHITECTURE.md lists other files.
fn compare(way: &BTreeSet<String>, architecture: &str) -> Result<()> {
    let (_, section) = architecture.split_once(SECTION).context("ARCHITECTURE.md does not list them")?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let is_file = |word: &&str| Path::new(word).extension().is_some_and(|extension| extension == "rs");
    let listed: BTreeSet<String> = section.split('`').filter(is_file).map(str::to_owned).collect();
    let names = |files: Vec<&String>| files.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let (missing, extra) =
        (names(way.difference(&listed).collect()), names(listed.difference(way).collect()));
    if missing.is_empty() && extra.is_empty() {
        return Ok(());
    }
    bail!("ARCHITECTURE.md lists other files; it lacks [{missing}] and should not have [{extra}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a profile with one chain of callers and a call in between. `cost` is the cost of the called function.
    fn profile(cost: u64) -> String {
        let file = |file: &str| root().join("crates").join(file).to_string_lossy().into_owned();
        format!(
            "fl=(1) {}\nfn=(1) minwise_engine::read::read'main\n7 5\ncfn=(2) minwise::sort::sort'minwise_engine::read::read'main\ncalls=1 1\n+2 {cost}\n\n\
             fl=(2) {}\nfn=(2)\n3 {cost}\n",
            file("engine/src/read/mod.rs"),
            file("core/src/sort.rs")
        )
    }

    #[test]
    fn costs_belong_to_functions_and_their_callers() {
        let text = profile(40);
        let profile = Profile::parse(&text);
        let costs = BTreeMap::from_iter(profile.costs.clone());
        let (outer, inner) =
            ("minwise_engine::read::read'main", "minwise::sort::sort'minwise_engine::read::read'main");
        assert_eq!(costs, BTreeMap::from([(outer, 5), (inner, 40)]));
        assert_eq!(profile.file("minwise::sort::sort"), Some("core/src/sort.rs"));
        assert_eq!(profile.file("main"), None);
    }

    #[test]
    fn only_costs_that_grow_are_of_a_record() {
        let pairs = (2 * PAIRS) as f64;
        let sort = FileVisit { instructions: 200.0 / pairs, hands_on: false };
        let read = FileVisit { instructions: 200.0 / pairs, hands_on: true };
        let files = [("core/src/sort.rs".to_owned(), sort), ("engine/src/read/mod.rs".to_owned(), read)];
        let stages = stages(&profile(40), &profile(240));
        assert_eq!(stages, BTreeMap::from([("read", BTreeMap::from(files))]));
    }

    #[test]
    fn the_list_must_be_the_measured_one() {
        let way = BTreeSet::from(["engine/src/read/mod.rs".to_owned()]);
        let page =
            |file: &str| format!("# Architecture\n\n{SECTION}\n1. `{file}` reads.\n\n## Next\n`other.rs`\n");
        assert!(compare(&way, &page("engine/src/read/mod.rs")).is_ok());
        let error = compare(&way, &page("core/src/sort.rs")).unwrap_err().to_string();
        assert!(
            error.ends_with("it lacks [engine/src/read/mod.rs] and should not have [core/src/sort.rs]"),
            "{error}"
        );
    }
}
