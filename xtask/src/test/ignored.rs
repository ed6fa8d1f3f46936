//! Finds tests that are not run everywhere, with the reasons.
//!
//! If a test cannot run on every machine, or takes too long for every run, it has `#[ignore = "…"]` with one of the
//! reasons below. Without this attribute, a runner could count the test as passed. `cargo x test` runs the tests whose
//! needs are met, and counts the others as skipped. `cargo x test --long` runs the long tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::run::{is_root, package_name, packages, root};

/// Beginning of the reason of a test that takes too long to be part of every run.
const LONG: &str = "long: ";
/// Beginning of the reason of a test that writes a file, and that runs only if a person starts it.
const BY_HAND: &str = "by hand: ";

/// Requirement of a test that not every machine meets.
struct Need {
    /// Reason in `#[ignore]` of a test with this need.
    reason: &'static str,
    is_met: fn() -> bool,
}

const NEEDS: [Need; 6] = [
    Need { reason: "needs `../shared/data`", is_met: has_data },
    Need { reason: "needs a font", is_met: has_font },
    Need { reason: "needs a mount namespace", is_met: can_mount },
    Need { reason: "needs permissions that bind the user", is_met: permissions_bind },
    Need { reason: "needs a queue of 400 connections", is_met: has_long_queue },
    Need { reason: "needs gzip, zstd and Python", is_met: has_decompressors },
];

/// Test with `#[ignore = "…"]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ignored {
    package: String,
    pub name: String,
    reason: String,
}

/// Runs in which a test is included.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// Every run on a machine that meets the need with this index.
    Needed(usize),
    Long,
    ByHand,
}

impl Ignored {
    fn when(&self) -> Result<When> {
        if let Some(at) = NEEDS.iter().position(|need| need.reason == self.reason) {
            return Ok(When::Needed(at));
        }
        match &self.reason {
            reason if reason.starts_with(LONG) => Ok(When::Long),
            reason if reason.starts_with(BY_HAND) => Ok(When::ByHand),
            reason => bail!("{}: `{reason}` is not a reason that `cargo x test` knows", self.name),
        }
    }
}

/// Ignored tests of the workspace: tests to leave out, and long tests.
pub struct Choice {
    /// Tests that a run leaves out, with the printed reason.
    left_out: Vec<(Ignored, String)>,
    long: Vec<Ignored>,
}

impl Choice {
    /// Finds the ignored tests, and checks their needs on this machine.
    pub fn new() -> Result<Self> {
        Self::of(all()?, |at| (NEEDS[at].is_met)())
    }

    fn of(tests: Vec<Ignored>, is_met: impl Fn(usize) -> bool) -> Result<Self> {
        let met: Vec<bool> = (0..NEEDS.len()).map(is_met).collect();
        let (mut left_out, mut long) = (vec![], vec![]);
        for test in tests {
            match test.when()? {
                When::Needed(at) if met[at] => {}
                When::Needed(_) | When::ByHand => left_out.push((test.clone(), test.reason)),
                When::Long => {
                    long.push(test.clone());
                    left_out.push((test, "long: `cargo x test --long` runs them".to_owned()));
                }
            }
        }
        Ok(Self { left_out, long })
    }

    /// Returns the left-out tests whose name has one of these words, or all left-out tests if there are no words.
    fn left_out_of(&self, words: &[&str]) -> impl Iterator<Item = &(Ignored, String)> {
        self.left_out
            .iter()
            .filter(move |(test, _)| words.is_empty() || words.iter().any(|word| test.name.contains(word)))
    }

    /// Returns the number of skipped tests in a run of the tests whose names have one of these words.
    pub fn skipped(&self, words: &[&str]) -> u64 {
        self.left_out_of(words).count() as u64
    }

    /// Returns notes about the skipped tests, one line per reason.
    pub fn notes(&self, words: &[&str]) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = vec![];
        for (test, reason) in self.left_out_of(words) {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, names)) => names.push(&test.name),
                None => reasons.push((reason, vec![&test.name])),
            }
        }
        let note = |(reason, names): (&str, Vec<&str>)| {
            let plural = if names.len() == 1 { "" } else { "s" };
            format!("skipped, {} Rust test{plural}, {reason}: {}", names.len(), names.join(", "))
        };
        reasons.into_iter().map(note).collect()
    }

    /// Returns arguments with which the runner also runs ignored tests, except the left-out ones.
    pub fn arguments(&self, has_nextest: bool) -> Vec<String> {
        let left_out = self.left_out.iter().map(|(test, _)| test);
        if has_nextest {
            let mut arguments = vec!["--run-ignored".to_owned(), "all".to_owned()];
            if !self.left_out.is_empty() {
                arguments.extend(["-E".to_owned(), format!("not ({})", filter(left_out))]);
            }
            arguments
        } else {
            let skip = left_out.flat_map(|test| ["--skip".to_owned(), test.name.clone()]);
            ["--include-ignored".to_owned()].into_iter().chain(skip).collect()
        }
    }

    /// Returns arguments with which the runner runs only the long tests of some packages.
    pub fn arguments_for_long(&self, has_nextest: bool, is_of: impl Fn(&str) -> bool) -> Vec<String> {
        let long = self.long.iter().filter(|test| is_of(&test.package));
        if has_nextest {
            let filter = filter(long);
            ["--run-ignored", "only", "-E", &filter].map(str::to_owned).to_vec()
        } else {
            ["--ignored".to_owned()].into_iter().chain(long.map(|test| test.name.clone())).collect()
        }
    }
}

/// Returns the filter of nextest for exactly these tests.
fn filter<'a>(tests: impl Iterator<Item = &'a Ignored>) -> String {
    let mut packages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for test in tests {
        packages.entry(&test.package).or_default().push(&test.name);
    }
    let filter = |(package, names): (&str, Vec<&str>)| {
        format!("(package({package}) & test(/(^|::)({})$/))", names.join("|"))
    };
    packages.into_iter().map(filter).collect::<Vec<_>>().join(" | ")
}

/// Returns every ignored test of the workspace.
fn all() -> Result<Vec<Ignored>> {
    let mut tests = vec![];
    for folder in packages()? {
        let package = package_name(&fs_err::read_to_string(folder.join("Cargo.toml"))?)?;
        for path in sources(&folder)? {
            for (name, reason) in of(&fs_err::read_to_string(path)?) {
                tests.push(Ignored { package: package.clone(), name, reason });
            }
        }
    }
    Ok(tests)
}

/// Returns the Rust files of a package.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    let mut folders: Vec<PathBuf> = ["src", "tests"].iter().map(|name| folder.join(name)).collect();
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the names and reasons of the ignored tests of a source. A test without a reason has an empty one.
fn of(source: &str) -> Vec<(String, String)> {
    let mut tests = vec![];
    let mut reason = None;
    for line in source.lines().map(str::trim) {
        if let Some(attribute) = line.strip_prefix("#[ignore") {
            let text = attribute.split_once('"').and_then(|(_, text)| Some(text.rsplit_once('"')?.0));
            reason = Some(text.unwrap_or_default().to_owned());
        } else if let Some((before, after)) = line.split_once("fn ")
            && (before.is_empty() || before == "async ")
            && let Some(reason) = reason.take()
        {
            tests.push((after.split(['(', '<']).next().unwrap_or_default().to_owned(), reason));
        }
    }
    tests
}

fn has_data() -> bool {
    root().join("../shared/data").is_dir()
}

/// Reports whether the usual folders of Linux have a font. Other systems have fonts by default.
fn has_font() -> bool {
    fn is_there(folder: &Path) -> bool {
        let Ok(entries) = fs_err::read_dir(folder) else { return false };
        entries.flatten().map(|entry| entry.path()).any(|path| {
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            ["ttf", "otf", "ttc"].contains(&extension) || (path.is_dir() && is_there(&path))
        })
    }
    let home = std::env::home_dir().unwrap_or_default();
    let folders =
        ["/usr/share/fonts".into(), "/usr/local/share/fonts".into(), home.join(".local/share/fonts")];
    !cfg!(target_os = "linux") || folders.iter().any(|folder: &PathBuf| is_there(folder))
}

/// Reports whether a file system in memory can be mounted in a separate mount namespace.
fn can_mount() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs \"$0\""]);
    succeeds(command.arg(std::env::temp_dir()))
}

/// Reports whether a test can run a program that obeys file permissions. A program of `root` may read every file,
/// unless `setpriv` removes this right.
fn permissions_bind() -> bool {
    !cfg!(unix) || !is_root() || {
        // `setpriv` removes all rights that only `root` has.
        let mut command = Command::new("setpriv");
        succeeds(command.args(["--bounding-set", "-all", "--inh-caps", "-all", "true"]))
    }
}

/// Reports whether the system lets at least 400 connections wait for a server. The usual limit is 128.
fn has_long_queue() -> bool {
    let most = fs_err::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    most.trim().parse::<u32>().is_ok_and(|most| most >= 400)
}

/// Reports whether the programs are installed with which users decompress outputs.
fn has_decompressors() -> bool {
    ["gzip", "zstd", "python3"].iter().all(|program| succeeds(Command::new(program).arg("--version")))
}

fn succeeds(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, reason: &str) -> Ignored {
        Ignored { package: "minwise-cli".to_owned(), name: name.to_owned(), reason: reason.to_owned() }
    }

    fn choice(is_met: bool) -> Choice {
        let tests = vec![
            test("with_data", NEEDS[0].reason),
            test("on_a_disk", NEEDS[2].reason),
            test("on_another", NEEDS[2].reason),
            test("a_gigabyte", "long: it takes minutes"),
        ];
        Choice::of(tests, |_| is_met).unwrap()
    }

    /// Every reason must be known, because `cargo x test` uses the reason to decide when to run the test.
    #[test]
    fn every_ignored_test_has_a_known_reason() {
        let tests = all().unwrap();
        assert!(tests.iter().any(|test| test.when().is_ok_and(|when| when == When::Long)));
        for test in tests {
            test.when().unwrap();
        }
        assert!(test("a", "").when().is_err() && test("a", "it is slow").when().is_err());
    }

    #[test]
    fn ignored_tests_are_found_with_their_reasons() {
        let source = "#[test]\nfn run() {}\n\n#[test]\n#[ignore = \"needs `../shared/data`\"]\n#[allow(dead_code)]\n\
                      fn one() {\n    fn inner() {}\n}\n\n    #[ignore]\n    #[test]\n    async fn two<'a>() {}\n";
        let reasons = [("one", "needs `../shared/data`"), ("two", "")];
        assert_eq!(of(source), reasons.map(|(name, reason)| (name.to_owned(), reason.to_owned())));
    }

    #[test]
    fn tests_whose_need_is_not_met_are_skipped_with_the_reason() {
        let choice = choice(false);
        assert_eq!(choice.skipped(&[]), 4);
        assert_eq!(choice.skipped(&["another", "data"]), 2);
        assert_eq!(
            choice.notes(&[]),
            [
                "skipped, 1 Rust test, needs `../shared/data`: with_data",
                "skipped, 2 Rust tests, needs a mount namespace: on_a_disk, on_another",
                "skipped, 1 Rust test, long: `cargo x test --long` runs them: a_gigabyte",
            ]
        );
        let arguments = choice.arguments(false);
        assert_eq!(arguments[..3], ["--include-ignored", "--skip", "with_data"]);
    }

    #[test]
    fn tests_whose_need_is_met_are_run() {
        let choice = choice(true);
        assert_eq!(choice.skipped(&[]), 1);
        assert_eq!(
            choice.arguments(true),
            ["--run-ignored", "all", "-E", "not ((package(minwise-cli) & test(/(^|::)(a_gigabyte)$/)))"]
        );
        assert_eq!(choice.arguments_for_long(false, |_| true), ["--ignored", "a_gigabyte"]);
        assert_eq!(choice.arguments_for_long(false, |package| package == "xtask"), ["--ignored"]);
        assert_eq!(
            choice.arguments_for_long(true, |_| true)[3],
            "(package(minwise-cli) & test(/(^|::)(a_gigabyte)$/))"
        );
    }
}
