//! `cargo x test --long` runs the tests that take too long for every change.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::ignored::Choice;
use super::{Tests, targets};
use crate::part::{self, Part, PartOutcome, RunnerReport};
use crate::run::{self, has_nextest, package_name, packages, root, target};
use crate::{dist, features, trace};

/// Package with the statistical tests.
const CORE: &str = "minwise";

/// Number of processes that a test of kills starts and kills.
const KILLS: &str = "300";

/// Runs only the long parts: all long parts, or the long parts whose names have one of the words. Returns whether all
/// passed.
pub fn test(words: &[&str]) -> Result<bool> {
    let choice = Choice::new()?;
    let mut parts = vec![
        Part::new("long tests", "the tests with `#[ignore = \"long: …\"]`, one after the other", || {
            let mut arguments = choice.arguments_for_long(has_nextest(), |package| package != CORE);
            // The tests run one after the other, because they measure memory or keep all cores busy.
            arguments.extend(["--test-threads", "1"].map(str::to_owned));
            Ok(PartOutcome::Ran(Tests { arguments, ..Tests::default() }.run()?))
        }),
        Part::new("kills", format!("processes that are killed {KILLS} times lose nothing"), || {
            let words = &["every_acknowledged", "killed_at_any_moment"];
            let tests = Tests { words, environment: &[("MINWISE_KILLS", KILLS)], ..Tests::default() };
            Ok(PartOutcome::Ran(tests.run()?))
        }),
        Part::new("statistics", "the laws of all sketches, with ten times as many seeds", || {
            let tests = Tests {
                target: Some("statistics"),
                // The long tests of this target run at the same time, because each of them keeps one core busy and
                // needs little memory.
                arguments: if has_nextest() { &["--run-ignored", "all"][..] } else { &["--include-ignored"] }
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
                environment: &[("MINWISE_LONG", "1")],
                ..Tests::default()
            };
            Ok(PartOutcome::Ran(tests.run()?))
        }),
        Part::task("features", "the crates compile with each feature alone", features::check_each),
        Part::new("oldest Rust", "everything compiles with the `rust-version` of the manifest", oldest),
        Part::new(
            "targets",
            "ARM, Windows and macOS: the code compiles, and the kernels of ARM pass their tests in an emulator",
            targets::check,
        ),
        Part::task("packages", "every crate that is published, built from its package", package),
        Part::task("install", "`cargo install` into an empty folder, then the examples", install),
        Part::new("dist", "the archive with a static binary, tried in an empty root", dist::run),
        wheels_part(),
        Part::new("trace", "the files that a record passes through are those of ARCHITECTURE.md", follow),
        Part::new("Spark", "the Spark job on a million copies and a hundred thousand filled forms", || {
            super::spark(&[("MINWISE_LONG", "1")])
        }),
    ];
    if !words.is_empty() {
        let names: Vec<_> = parts.iter().map(Part::name).collect();
        for word in words {
            ensure!(
                names.iter().any(|name| name.contains(word)),
                "no long part has `{word}` in its name: {}",
                names.join(", ")
            );
        }
        parts.retain(|part| words.iter().any(|word| part.name().contains(word)));
    }
    Ok(part::run("cargo x test --long", parts, &[]))
}

pub(super) fn wheels_part() -> Part<'static> {
    Part::new(
        "wheels",
        "manylinux2014 wheels by zig, installed and tested with every Python there is",
        wheels,
    )
}

/// Compiles the workspace with the oldest compiler that the manifest names, if it is installed.
fn oldest() -> Result<PartOutcome> {
    let manifest = fs_err::read_to_string(root().join("Cargo.toml"))?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    let version = version.context("the manifest has no `rust-version`")?;
    let toolchain = format!("+{version}.0");
    if Command::new("cargo")
        .args([&*toolchain, "--version"])
        .output()
        .is_ok_and(|cargo| cargo.status.success())
    {
        // The old compiler has a separate folder. In a shared folder, each compiler would recompile the outputs of the
        // other.
        let folder = target().join("oldest");
        let mut command = Command::new("cargo");
        command.current_dir(root()).args([&*toolchain, "check", "--workspace", "--locked", "--target-dir"]);
        run::check(command.arg(folder).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN"))?;
        return Ok(PartOutcome::Ran(RunnerReport::of_one()));
    }
    Ok(PartOutcome::Skipped(format!(
        "Rust {version} is not installed: `rustup toolchain install {version}.0`"
    )))
}

/// Traces a record, if `valgrind` is installed.
fn follow() -> Result<PartOutcome> {
    if Command::new("valgrind").arg("--version").output().is_ok_and(|valgrind| valgrind.status.success()) {
        trace::run()?;
        return Ok(PartOutcome::Ran(RunnerReport::of_one()));
    }
    Ok(PartOutcome::Skipped("valgrind is not installed: `apt install valgrind`".to_owned()))
}

/// Packages the published crates, and builds each from its package.
fn package() -> Result<()> {
    // The folder is new in each run, because Cargo identifies the sources of a package by its version and its folder.
    // In an old folder, a crate would be built with the sources of the last run.
    let folder = target().join(format!("packages-{}", std::process::id()));
    let mut arguments = vec!["package".to_owned(), "--workspace".to_owned()];
    arguments.extend(["--target-dir".to_owned(), folder.to_string_lossy().into_owned()]);
    for name in unpublished()? {
        arguments.extend(["--exclude".to_owned(), name]);
    }
    let packaged = run::cargo(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    if folder.exists() {
        fs_err::remove_dir_all(&folder)?;
    }
    packaged
}

/// Returns the packages of the workspace whose manifests have `publish = false`.
fn unpublished() -> Result<Vec<String>> {
    let mut names = vec![];
    for folder in packages()? {
        let manifest = fs_err::read_to_string(folder.join("Cargo.toml"))?;
        if manifest.lines().any(|line| line == "publish = false") {
            names.push(package_name(&manifest)?);
        }
    }
    Ok(names)
}

/// Installs the command as in the README, with no earlier build and no personal settings, and runs it.
fn install() -> Result<()> {
    let folder = target().join("install-test");
    if folder.exists() {
        fs_err::remove_dir_all(&folder)?;
    }
    let home = folder.join("home");
    fs_err::create_dir_all(&home)?;
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let mut command = Command::new(run::cargo_program());
    command.current_dir(root()).args([
        "install",
        "--locked",
        "--path",
        "crates/cli",
        "--root",
        &path("root"),
    ]);
    command.env("HOME", &home).env("CARGO_TARGET_DIR", folder.join("target"));
    // The home folder is replaced, so the registry and the compiler of the machine are given explicitly. Both are
    // usually in the home folder.
    for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        if let (None, Some(home)) = (std::env::var_os(name), std::env::home_dir()) {
            command.env(name, home.join(usual));
        }
    }
    run::check(&mut command)?;
    let minwise = folder.join("root/bin").join(format!("minwise{}", std::env::consts::EXE_SUFFIX));
    let (cleaned, report) = (path("cleaned.jsonl"), path("report"));
    let arguments = ["dedup", "examples/articles.jsonl", "--output", &cleaned, "--report", &report];
    run::check(Command::new(&minwise).current_dir(root()).args(arguments).env("HOME", &home))?;
    for made in [&cleaned, &path("report/index.html")] {
        ensure!(Path::new(made).exists(), "`{}` did not write `{made}`", minwise.display());
    }
    fs_err::remove_dir_all(&folder)?;
    Ok(())
}

/// Interpreters that run the tests of a wheel, if they are installed.
const INTERPRETERS: [&str; 5] = ["python3.10", "python3.11", "python3.12", "python3.13", "python3.14"];
/// Upper bound on the bytes of the wheel of the extension module.
const WHEEL_BYTES: u64 = 12_000_000;

/// Builds both wheels for old systems, and installs them with no earlier build and from a clean home folder.
fn wheels() -> Result<PartOutcome> {
    if let Some(why) = super::no_python() {
        return Ok(PartOutcome::Skipped(why.to_owned()));
    }
    let folder = target().join("python").join("wheels");
    if folder.exists() {
        fs_err::remove_dir_all(&folder)?;
    }
    let builder = run::python_venv_in(&target().join("python").join("maturin"), &["maturin", "ziglang"])?;
    let out = folder.to_string_lossy().into_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = builder.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders)?;
    for source in ["python", "python/cli"] {
        let mut command = Command::new(&builder);
        command.current_dir(root().join(source)).args(["-m", "maturin", "build", "--release", "--zig"]);
        command.args(["--compatibility", "manylinux2014", "--out", &out]);
        // The path is set, because maturin looks for zig through the `python3` in the path.
        run::check(command.env("PATH", &path))?;
    }
    let mut report = RunnerReport::default();
    for entry in fs_err::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let size = fs_err::metadata(folder.join(&name))?.len();
        println!("{name}: {:.1} MB", size as f64 / 1e6);
        if name.starts_with("minwise-") {
            ensure!(size <= WHEEL_BYTES, "{name} has {size} bytes, and may have {WHEEL_BYTES}");
            ensure!(name.contains("abi3-manylinux"), "{name} is not for every Python and old systems");
        }
    }
    for interpreter in INTERPRETERS {
        let has_venv = run::output(Path::new(interpreter), &["-c", "import ensurepip, venv"]).is_ok();
        if !has_venv {
            println!("{interpreter} is not installed");
            report.counts.skipped += 1;
            continue;
        }
        of_wheel(interpreter, &folder)?;
        report.counts.passed += 1;
    }
    Ok(PartOutcome::Ran(report))
}

/// Installs the wheels into an environment of an interpreter, from a home folder without settings, and uses both.
fn of_wheel(interpreter: &str, wheels: &Path) -> Result<()> {
    let venv = target().join("python").join(format!("wheel-{interpreter}"));
    if venv.exists() {
        fs_err::remove_dir_all(&venv)?;
    }
    run::command(Path::new(interpreter), &["-m", "venv", &venv.to_string_lossy()])?;
    let home = venv.join("home");
    fs_err::create_dir_all(&home)?;
    let python = venv.join("bin/python");
    let links = wheels.to_string_lossy().into_owned();
    let install =
        ["-m", "pip", "install", "--quiet", "--find-links", &links, "minwise[cli]", "pytest", "pandas<3"];
    run::check(Command::new(&python).args(install).env("HOME", &home))?;
    // The command comes from the second wheel. `wheel_checks.py` has the tests that hold for wheels only.
    let options = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "wheel_checks.py"];
    let tests = ["test_pandas.py", "test_lsh.py", "test_index.py", "test_vectors.py", "test_module.py"];
    let mut command = Command::new(&python);
    command.args(options).args(tests).current_dir(root().join("python/tests"));
    run::check(command.env("HOME", &home).env("MINWISE", venv.join("bin/minwise")))?;
    run::check(
        Command::new(&python).args(["-m", "minwise", "--version"]).current_dir(&home).env("HOME", &home),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_published_is_packaged() {
        let unpublished = unpublished().unwrap();
        assert!(unpublished.iter().any(|name| name == "xtask"));
        assert!(!unpublished.iter().any(|name| name == "minwise"));
    }
}
