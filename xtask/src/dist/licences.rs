//! The licences of everything that the binary contains.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run::{self, cargo_program};

/// What stands above the licences of the crates.
const HEAD: &str = "\
The program `minwise` contains the crates listed below. It also contains the standard library of Rust (MIT or Apache-2.0,
https://www.rust-lang.org) and parts of the GNU C Library (LGPL-2.1-or-later, https://www.gnu.org/software/libc).
`cargo x dist` in the repository of Minwise links the program anew, with another C library too.
";

/// Names of files that hold a licence begin with one of these, in capitals or not.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// The licences of all crates of the command, each text once.
pub fn text(host: &str) -> Result<String> {
    let folders = folders()?;
    let tree = ["tree", "--locked", "--package", "minwise-cli", "--target", host, "--edges", "normal"];
    let tree = [&tree[..], &["--prefix", "none", "--format", "{p}\t{l}"]].concat();
    let tree = run::output(Path::new(&cargo_program()), &tree)?;
    let mut crates = BTreeMap::new();
    for line in tree.lines() {
        let (package, licence) = line.split_once('\t').context("`cargo tree` printed no licence")?;
        let mut words = package.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        // A line that repeats a crate ends with a star. Our own crates have the licence of the archive.
        if !name.starts_with("minwise") {
            crates.insert((name.to_owned(), version.to_owned()), licence.trim_end_matches(" (*)").to_owned());
        }
    }
    let mut out = format!("{HEAD}\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((name, version), licence) in &crates {
        let _ = writeln!(out, "{name} {version}: {licence}");
        let folder = folders.get(&(name.clone(), version.clone()));
        let folder = folder.with_context(|| format!("`cargo metadata` has no {name} {version}"))?;
        for file in licence_files(folder, 2)? {
            let text = String::from_utf8_lossy(&fs_err::read(&file)?).replace("\r\n", "\n");
            let users = texts.entry(text.trim().to_owned()).or_default();
            let user = format!("{name} {version}");
            if users.last() != Some(&user) {
                users.push(user);
            }
        }
    }
    let mut texts: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, users)| (users, text)).collect();
    texts.sort();
    for (users, text) in texts {
        let _ = write!(out, "\n{}\n{}\n\n{text}\n", "=".repeat(80), users.join(", "));
    }
    Ok(out)
}

/// The folders of all packages, by name and version.
fn folders() -> Result<BTreeMap<(String, String), PathBuf>> {
    let metadata = ["metadata", "--locked", "--format-version", "1"];
    let metadata: Value = serde_json::from_str(&run::output(Path::new(&cargo_program()), &metadata)?)?;
    let mut folders = BTreeMap::new();
    for package in metadata["packages"].as_array().context("`cargo metadata` has no packages")? {
        let field = |name: &str| package[name].as_str().with_context(|| format!("a package has no `{name}`"));
        let manifest = Path::new(field("manifest_path")?);
        let folder = manifest.parent().unwrap_or(Path::new(".")).to_owned();
        folders.insert((field("name")?.to_owned(), format!("v{}", field("version")?)), folder);
    }
    Ok(folders)
}

/// The files of a crate that hold licences. Sources in C that a crate brings lie in a folder inside it, with their own.
fn licence_files(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_dir() {
            if depth > 1 || name.starts_with("LICENSE") {
                files.extend(licence_files(&path, depth.saturating_sub(1))?);
            }
        } else if NAMES.iter().any(|start| name.starts_with(start)) {
            // A module of a crate may have such a name.
            if path.extension().is_none_or(|extension| extension != "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_licences_are_found() {
        let files = licence_files(run::root(), 1).unwrap();
        let names: Vec<_> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
        assert_eq!(names, ["LICENSE-APACHE", "LICENSE-MIT"]);
    }
}
