//! Other programs, run with their name in the error when they fail.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Where Cargo builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

pub fn cargo(args: &[&str]) -> Result<()> {
    cargo_with(args, &[])
}

pub fn cargo_with(args: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    eprintln!("$ cargo {}", args.join(" "));
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(args).envs(environment.iter().copied());
    check(&mut command, &format!("cargo {}", args.join(" ")))
}

pub fn command(program: &Path, args: &[&str]) -> Result<()> {
    command_with(program, args, &[])
}

pub fn command_with(program: &Path, args: &[&str], environment: &[(&str, &Path)]) -> Result<()> {
    eprintln!("$ {} {}", program.display(), args.join(" "));
    check(
        Command::new(program).current_dir(root()).args(args).envs(environment.iter().copied()),
        &format!("{} {}", program.display(), args.join(" ")),
    )
}

/// What a program prints.
pub fn output(program: &Path, args: &[&str]) -> Result<String> {
    let shown = format!("{} {}", program.display(), args.join(" "));
    let output = Command::new(program)
        .current_dir(root())
        .args(args)
        .output()
        .with_context(|| format!("`{shown}` could not be started"))?;
    if !output.status.success() {
        bail!("`{shown}` failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn check(command: &mut Command, shown: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    if status.success() { Ok(()) } else { bail!("`{shown}` failed") }
}

pub fn has_nextest() -> bool {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    Command::new(cargo).args(["nextest", "--version"]).output().is_ok_and(|output| output.status.success())
}

/// A Python with these packages, in the repository's own environment.
pub fn python_venv(packages: &[&str]) -> Result<PathBuf> {
    let venv = root().join(".venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        command(Path::new("python3"), &["-m", "venv", &venv.to_string_lossy()])
            .context("a Python with the module `venv` is needed")?;
    }
    let installed = output(&python, &["-m", "pip", "list", "--format", "freeze"])?.to_lowercase();
    let has = |package: &&&str| {
        !installed.lines().any(|line| line.split("==").next() == Some(&package.to_lowercase()))
    };
    let missing: Vec<&str> = packages.iter().filter(has).copied().collect();
    if !missing.is_empty() {
        command(
            &python,
            &[&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], &missing[..]].concat(),
        )?;
    }
    Ok(python)
}
