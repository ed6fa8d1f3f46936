//! Systems and processors without a test machine: the code compiles for them, and an emulator runs the tests of the kernels for
//! 64-bit ARM.
//!
//! A target needs its standard library of Rust, which `rustup` installs. Some dependencies contain C code. If there is no C
//! compiler for the target, a script replaces it and C code is not compiled. Nothing is linked except the emulated tests.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use super::cargo;
use crate::part::{PartOutcome, RunnerReport, duration};
use crate::run::{self, find, target};
use crate::runner::TestRunner;

/// A system and a processor.
struct Target {
    triple: &'static str,
    /// The C compiler for it, if everybody can install one.
    compiler: Option<Compiler>,
}

struct Compiler {
    program: &'static str,
    /// The packages of Debian that contain it and the headers of the target.
    packages: &'static str,
}

const ARM: Target = Target {
    triple: "aarch64-unknown-linux-gnu",
    compiler: Some(Compiler {
        program: "aarch64-linux-gnu-gcc",
        packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    }),
};
const WINDOWS: Target = Target {
    triple: "x86_64-pc-windows-gnu",
    compiler: Some(Compiler { program: "x86_64-w64-mingw32-gcc", packages: "gcc-mingw-w64-x86-64" }),
};
/// A C compiler for macOS needs the headers of its SDK, which Apple offers for its own machines only.
const MACOS: Target = Target { triple: "aarch64-apple-darwin", compiler: None };

/// The script that replaces a C compiler.
const CC: &str = "\
#!/bin/sh
while [ $# -gt 0 ]; do
    if [ \"$1\" = -o ]; then : > \"$2\"; fi
    shift
done
";
/// The script that replaces the archiver.
const AR: &str = "\
#!/bin/sh
for word; do
    case $word in *.a) : > \"$word\" ;; esac
done
";

const EMULATOR: &str = "qemu-aarch64";
/// The folder of the libraries for ARM. The packages of the C compiler put them there.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";
/// The emulated tests of `minwise`, beside its unit tests: golden values, laws that all sketches obey, and the filter, which
/// computes with floating-point numbers. The test `weighted` passes, too, but takes four minutes.
const EMULATED: [&str; 3] = ["vectors", "conformance", "filter"];
/// Test cases per property: 32 instead of the usual 256, because emulated code takes about ten times as long.
const CASES: &str = "32";

/// Compiles for each target, and runs tests in the emulator. A step that fails does not stop the others.
pub(super) fn check() -> Result<PartOutcome> {
    let mut report = RunnerReport::default();
    for target in [ARM, WINDOWS, MACOS] {
        compile(&target, &mut report)?;
    }
    emulate(&mut report)?;
    Ok(PartOutcome::Ran(report))
}

/// Compiles all packages and their tests for a target, with warnings as errors.
fn compile(target: &Target, report: &mut RunnerReport) -> Result<()> {
    let triple = target.triple;
    if let Err(error) = install(triple) {
        skip(report, &format!("{triple}: {error:#}"));
        return Ok(());
    }
    let mut command = cargo(&["check", "--locked", "--keep-going", "--target", triple]);
    command.args(["--workspace", "--all-targets"]).env(of_target(triple, "RUSTFLAGS"), "--deny warnings");
    let compiler =
        target.compiler.as_ref().map(|compiler| compiler.program).filter(|name| find(name).is_some());
    if compiler.is_none() {
        let folder = stand_ins()?;
        for (variable, name) in [("CC", "cc"), ("AR", "ar")] {
            command.env(format!("{variable}_{}", triple.replace('-', "_")), folder.join(name));
        }
    }
    let begun = Instant::now();
    let checked = run::check(&mut command);
    let time = duration(begun.elapsed());
    let c_code = compiler.map_or("without C code".to_owned(), |name| format!("C code by {name}"));
    let outcome = if checked.is_ok() { "compiled" } else { "FAILED" };
    report.closing.push(format!("{triple}: {outcome} in {time}, {c_code}"));
    if checked.is_ok() {
        report.counts.passed += 1;
    } else {
        report.counts.failed += 1;
        report.is_failed = true;
    }
    Ok(())
}

/// Writes scripts in the place of a C compiler and its archiver. They write empty files, because nothing is linked.
fn stand_ins() -> Result<PathBuf> {
    let folder = target().join("targets");
    fs_err::create_dir_all(&folder)?;
    for (name, script) in [("cc", CC), ("ar", AR)] {
        let path = folder.join(name);
        fs_err::write(&path, script)?;
        run::command(Path::new("chmod"), &["+x", &path.to_string_lossy()])?;
    }
    Ok(folder)
}

/// The name of a variable with which Cargo is configured for a target.
fn of_target(triple: &str, name: &str) -> String {
    format!("CARGO_TARGET_{}_{name}", triple.to_uppercase().replace('-', "_"))
}

/// Installs the standard library of a target, if it is not there.
fn install(triple: &str) -> Result<()> {
    // Without `rustup`, the library may come from a package of the system.
    let folder = run::output(Path::new("rustc"), &["--print", "target-libdir", "--target", triple])?;
    if Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    run::command(Path::new("rustup"), &["target", "add", triple])
        .context("its standard library cannot be had")
}

/// Runs tests of `minwise` on an emulated processor, if there is an emulator.
fn emulate(report: &mut RunnerReport) -> Result<()> {
    let triple = ARM.triple;
    let Some(Compiler { program: linker, packages }) = ARM.compiler else { return Ok(()) };
    if find(linker).is_none() || find(EMULATOR).is_none() {
        let why = format!("`{linker}` and `{EMULATOR}` are needed: `apt install qemu-user {packages}`");
        skip(report, &format!("{triple}, tests in an emulator: {why}"));
        return Ok(());
    }
    if let Err(error) = install(triple) {
        skip(report, &format!("{triple}, tests in an emulator: {error:#}"));
        return Ok(());
    }
    // Nextest would start the emulator once per test, and the emulator translates the program at each start.
    let mut command =
        cargo(&["test", "--locked", "--target", triple, "--package", "minwise", "--no-fail-fast"]);
    command.arg("--lib").args(EMULATED.iter().flat_map(|name| ["--test", name])).env("PROPTEST_CASES", CASES);
    command
        .env(of_target(triple, "LINKER"), linker)
        .env(of_target(triple, "RUNNER"), format!("{EMULATOR} -L {LIBRARIES}"));
    let begun = Instant::now();
    let emulated = TestRunner::Libtest.run(&mut command)?;
    report.counts.passed += emulated.counts.passed;
    report.counts.failed += emulated.counts.failed;
    report.is_failed |= emulated.is_failed;
    let time = duration(begun.elapsed());
    report.closing.push(format!("{triple}: tests of `minwise` in an emulator, {time} with compiling"));
    report.closing.extend(emulated.closing);
    Ok(())
}

fn skip(report: &mut RunnerReport, why: &str) {
    report.counts.skipped += 1;
    report.closing.push(format!("skipped: {why}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::root;

    #[test]
    fn variables_of_a_target() {
        assert_eq!(of_target(ARM.triple, "LINKER"), "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER");
    }

    #[cfg(unix)]
    #[test]
    fn stand_ins_write_empty_files() {
        let folder = stand_ins().unwrap();
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let files = [path("a.o"), path("a.a")];
        // The shell reads the scripts. A script cannot be executed while another test begins a process that still has the
        // script open for writing.
        let run = |arguments: &[&str]| run::command(Path::new("sh"), arguments).unwrap();
        run(&[&path("cc"), "-O1", "-o", &files[0], "-c", "a.c"]);
        run(&[&path("ar"), "cq", &files[1], &files[0]]);
        for file in files {
            assert_eq!(fs_err::read(&file).unwrap(), b"");
            fs_err::remove_file(&file).unwrap();
        }
    }

    #[test]
    fn contributing_names_every_target_and_what_it_needs() {
        let page = fs_err::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
        for Target { triple, compiler } in [ARM, WINDOWS, MACOS] {
            let packages = compiler.map_or("", |compiler| compiler.packages);
            assert!(page.contains(triple) && page.contains(packages), "{triple}");
        }
    }
}
