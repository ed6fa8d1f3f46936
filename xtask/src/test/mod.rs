//! `cargo x test` runs every test, part by part.
//!
//! All commands that compile have `--workspace` and build tests. Cargo therefore chooses the same features for all of
//! them, and compiles nothing twice. `cargo build --package minwise-cli`, or even `cargo build --workspace`, leaves out
//! features of shared dependencies that only tests need, and would compile five of our crates again.

mod ignored;
mod java;
mod long;
mod targets;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::browser::{self, BrowserTests};
use crate::part::{self, Part, PartOutcome, RunnerReport};
use crate::run::{self, build_minwise, find, has_nextest, root, target};
use crate::runner::TestRunner;
use ignored::Choice;
pub use long::test as long;

/// Runs all tests except long tests, or the Rust tests whose names have one of the words. Returns whether all passed.
pub fn test(words: &[&str]) -> Result<bool> {
    let choice = Choice::new()?;
    let notes = choice.notes(words);
    let rust = Part::new("Rust tests", "unit and integration tests of every crate", || {
        let tests = Tests { arguments: choice.arguments(has_nextest()), words, ..Tests::default() };
        let mut report = tests.run()?;
        report.counts.skipped = choice.skipped(words);
        Ok(PartOutcome::Ran(report))
    });
    if !words.is_empty() {
        return Ok(part::run("cargo x test", vec![rust], &notes));
    }
    let pages = BrowserTests::default();
    let mut parts = vec![
        rust,
        Part::new("doc tests", "the examples in the documentation of every crate", || {
            let arguments = ["test", "--workspace", "--doc", "--no-fail-fast"];
            Ok(PartOutcome::Ran(TestRunner::Libtest.run(&mut cargo(&arguments))?))
        }),
        Part::new("vectors", "vectors/ against the reference in Python", vectors),
        Part::new("formats", "pyarrow, polars and DuckDB open what is converted", formats),
        api_part(),
        python_part(),
        spark_part(),
    ];
    parts.extend(pages.parts());
    Ok(part::run("cargo x test", parts, &notes))
}

/// Runs the tests of the `OpenAPI` document. Returns whether all passed.
pub fn of_api() -> bool {
    part::run("cargo x test-api", vec![api_part()], &[])
}

fn api_part() -> Part<'static> {
    Part::new("API", "clients that others generate of the OpenAPI document work with the server", api)
}

/// Runs the tests of the Python package. Returns whether all passed.
pub fn of_python() -> bool {
    part::run("cargo x test-python", vec![python_part()], &[])
}

/// Builds, installs and uses the wheels of the Python package. Returns whether all passed.
pub fn of_wheels() -> bool {
    part::run("cargo x test-wheels", vec![long::wheels_part()], &[])
}

fn python_part() -> Part<'static> {
    Part::new("Python", "the Python package: pytest, examples, stubs and types", python)
}

/// Runs the tests of the Spark job. Returns whether all passed.
pub fn of_spark() -> bool {
    part::run("cargo x test-spark", vec![spark_part()], &[])
}

fn spark_part() -> Part<'static> {
    Part::new("Spark", "the Spark job beside the command, on Sail and on classic Spark", || spark(&[]))
}

/// Runs the tests in a browser. Returns whether all passed.
pub fn browser() -> bool {
    let pages = BrowserTests::default();
    part::run("cargo x test-browser", pages.parts().into(), &[])
}

/// Checks the vectors with an implementation that shares no code with ours.
pub fn reference() -> Result<()> {
    let python = run::python_venv(&["regex"])?;
    run::command(&python, &["vectors/reference.py", "--check"])
}

fn vectors() -> Result<PartOutcome> {
    if let Some(why) = no_python() {
        return Ok(PartOutcome::Skipped(why.to_owned()));
    }
    reference()?;
    Ok(PartOutcome::Ran(RunnerReport::of_one()))
}

/// Checks converted outputs with programs that share no code with ours.
fn formats() -> Result<PartOutcome> {
    if let Some(why) = no_python() {
        return Ok(PartOutcome::Skipped(why.to_owned()));
    }
    let python = run::python_venv(&["pyarrow", "polars", "duckdb"])?;
    let minwise = build_minwise()?;
    let mut command = Command::new(python);
    command.current_dir(root()).arg("tests/formats/check.py").arg(minwise);
    Ok(PartOutcome::Ran(TestRunner::Script.run(&mut command)?))
}

/// Checks the `OpenAPI` document, and clients in Python and TypeScript that are generated from it.
fn api() -> Result<PartOutcome> {
    if let Some(why) = no_python() {
        return Ok(PartOutcome::Skipped(why.to_owned()));
    }
    let node = match browser::node()? {
        Ok(node) => node,
        Err(why) => return Ok(PartOutcome::Skipped(why)),
    };
    browser::install_packages(&node.npm, "tests/api")?;
    // Versions are pinned, because another version of the client generator may choose other names in the generated
    // client.
    let python = run::python_venv(&["openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1"])?;
    let minwise = build_minwise()?;
    let mut command = Command::new(python);
    command.current_dir(root()).arg("tests/api/check.py").arg(minwise).arg(node.node);
    Ok(PartOutcome::Ran(TestRunner::Script.run(&mut command)?))
}

/// Packages that the tests of the Python package use. A version is pinned if other versions report other type errors.
const PYTHON_PACKAGES: [&str; 15] = [
    "pytest",
    "numpy",
    "pandas==3.1.1",
    "polars",
    "pyarrow",
    "duckdb",
    "datasets",
    "datasketch==2.0.0",
    "datatrove",
    "orjson",
    "tqdm",
    "zstandard",
    "mypy==2.4.1",
    "pyright==1.1.414",
    "typing_extensions",
];

/// Tests the Python package and its types, and runs the tests of pandas again with the previous version of pandas.
fn python() -> Result<PartOutcome> {
    if let Some(why) = no_python() {
        return Ok(PartOutcome::Skipped(why.to_owned()));
    }
    let folder = target().join("python");
    let python = run::python_venv_in(&folder.join("venv"), &PYTHON_PACKAGES)?;
    let minwise = build_minwise()?;
    let library = build_extension()?;
    let tests = |python: PathBuf, only: &[&str]| {
        let mut command = Command::new(python);
        command.current_dir(root()).arg("python/check.py").arg(&library).arg(&minwise).args(only);
        TestRunner::Script.run(&mut command)
    };
    let mut report = tests(python, &[])?;
    // This environment has no pyarrow, because pandas 2 does not need it.
    let older = run::python_venv_in(&folder.join("pandas-2"), &["pytest", "numpy", "pandas==2.3.3"])?;
    let of_older = tests(older, &["test_pandas.py"])?;
    report.counts.passed += of_older.counts.passed;
    report.counts.failed += of_older.counts.failed;
    report.closing.extend(of_older.closing);
    report.is_failed |= of_older.is_failed;
    Ok(PartOutcome::Ran(report))
}

/// Packages that the tests of the Spark job use. Spark Connect needs pandas and the packages of gRPC.
const SPARK_PACKAGES: [&str; 11] = [
    "pytest",
    "numpy",
    "pandas==2.3.3",
    "pyarrow",
    "pyspark==4.2.1",
    "pysail==0.7.2",
    "grpcio",
    "grpcio-status",
    "protobuf",
    "googleapis-common-protos",
    "zstandard",
];

/// Tests the Spark job on Sail, and a part of it on classic Spark. Without Java, only the tests on Sail run.
fn spark(environment: &[(&str, &str)]) -> Result<PartOutcome> {
    if let Some(why) = no_python() {
        return Ok(PartOutcome::Skipped(why.to_owned()));
    }
    let java = java::java();
    let python = run::python_venv_in(&target().join("python").join("spark"), &SPARK_PACKAGES)?;
    let minwise = build_minwise()?;
    let library = build_extension()?;
    let mut command = Command::new(python);
    command.current_dir(root()).arg("python/check.py").arg(library).arg(minwise).arg("spark");
    command.envs(environment.iter().copied()).env("RUST_LOG", "error");
    if let Some(java) = &java {
        java::choose(&mut command, java);
    } else {
        println!("{}", java::MISSING);
        command.env("MINWISE_WITHOUT_JAVA", "1");
    }
    Ok(PartOutcome::Ran(TestRunner::Script.run(&mut command)?))
}

/// Builds the extension module with the features of the tests, so that nothing is compiled twice, and returns its path.
pub fn build_extension() -> Result<PathBuf> {
    // Naming a test makes Cargo choose the features of the tests. This test has been built before.
    run::cargo(&["build", "--workspace", "--lib", "--test", "cli"])?;
    let (before, after) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Ok(target().join("debug").join(format!("{before}_minwise{after}")))
}

/// Returns the reason why there is no Python with packages, if there is none.
fn no_python() -> Option<&'static str> {
    if find("python3").is_none() {
        return Some("`python3` is not in the path");
    }
    let has_venv = run::output(Path::new("python3"), &["-c", "import ensurepip, venv"]).is_ok();
    (!has_venv).then_some("`python3` has no module `venv`")
}

/// Rust tests of the workspace.
#[derive(Default)]
struct Tests<'a> {
    /// Target to which the tests are restricted.
    target: Option<&'a str>,
    /// Arguments of the runner.
    arguments: Vec<String>,
    /// Words of which each test has one in its name. If there are no words, all tests are run.
    words: &'a [&'a str],
    environment: &'a [(&'a str, &'a str)],
}

impl Tests<'_> {
    /// Runs the tests. Left-out tests are not counted.
    fn run(&self) -> Result<RunnerReport> {
        let has_nextest = has_nextest();
        let mut command = if has_nextest { cargo(&["nextest", "run"]) } else { cargo(&["test"]) };
        command.args(["--workspace", "--no-fail-fast"]);
        match self.target {
            Some(target) => command.args(["--test", target]),
            None if has_nextest => &mut command,
            // Doc tests are left out, because they are a separate part.
            None => command.args(["--lib", "--bins", "--tests"]),
        };
        if !has_nextest {
            command.arg("--");
        }
        command.args(&self.arguments).args(self.words).envs(self.environment.iter().copied());
        let runner = if has_nextest { TestRunner::Nextest } else { TestRunner::Libtest };
        let mut report = runner.run(&mut command)?;
        report.counts.skipped = 0;
        Ok(report)
    }
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(run::cargo_program());
    command.current_dir(root()).args(arguments);
    command
}
