//! Data flows one way: crates use only crates before them, and so do the rooms of `core`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::run::root;

/// Crates, and the packages of ours that each may use.
const CRATES: [(&str, &[&str]); 7] = [
    ("core", &[]),
    ("corpus", &[]),
    ("engine", &["minwise", "minwise-corpus"]),
    ("index", &["minwise"]),
    ("lab", &["minwise", "minwise-corpus", "minwise-engine"]),
    ("server", &["minwise", "minwise-corpus", "minwise-index"]),
    (
        "cli",
        &["minwise", "minwise-corpus", "minwise-engine", "minwise-index", "minwise-lab", "minwise-server"],
    ),
];

/// The rooms of `core` in the order of the flow; each may use those before it.
const ROOMS: [&str; 15] = [
    "error",
    "hash",
    "kernel",
    "sort",
    "text",
    "shingle",
    "weight",
    "estimate",
    "sketch",
    "candidate",
    "filter",
    "verify",
    "cluster",
    "keep",
    "spec",
];

pub fn check() -> Result<()> {
    let mut wrong = vec![];
    for (name, allowed) in CRATES {
        let manifest = fs_err::read_to_string(root().join("crates").join(name).join("Cargo.toml"))?;
        let used = manifest.lines().take_while(|line| *line != "[dev-dependencies]").filter_map(|line| {
            let package = line.split(['.', ' ', '=']).next()?;
            (package == "minwise" || package.starts_with("minwise-")).then_some(package)
        });
        for package in used {
            if !allowed.contains(&package) {
                wrong.push(format!("crates/{name} uses {package}"));
            }
        }
    }
    for (at, room) in ROOMS.iter().enumerate() {
        for file in files_of(room)? {
            let source = fs_err::read_to_string(&file)?;
            // Tests may look at anything.
            let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            if file.ends_with("tests.rs") {
                continue;
            }
            for used in
                source.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(rooms_named)
            {
                if ROOMS[at + 1..].contains(&used.as_str()) {
                    wrong.push(format!("{} uses `{used}`, which comes after `{room}`", relative(&file)));
                }
            }
        }
    }
    if wrong.is_empty() {
        println!("layers: data flows one way");
        Ok(())
    } else {
        bail!("data flows back:\n  {}", wrong.join("\n  "))
    }
}

/// The rooms that a line of code names.
fn rooms_named(line: &str) -> Vec<String> {
    line.split("crate::")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
        .collect()
}

fn files_of(room: &str) -> Result<Vec<PathBuf>> {
    let source = root().join("crates/core/src");
    let file = source.join(format!("{room}.rs"));
    if file.exists() {
        return Ok(vec![file]);
    }
    let mut files = vec![];
    let mut folders = vec![source.join(room)];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
