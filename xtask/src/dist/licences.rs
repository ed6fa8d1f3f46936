//! Collects the licences of everything in the binary: crates, the C code of crates, the C library, and the standard
//! library of Rust.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run::{self, cargo_program, root};

/// Text above the licences of the crates.
const HEAD: &str = "\
The program `minwise` contains the crates listed below and the C code that some of them bring. It also contains the standard
library of Rust (see COPYRIGHT-OF-THE-RUST-LIBRARY.html), parts of the GNU C Library (LGPL-2.1-or-later, whose text is at the end;
https://www.gnu.org/software/libc) and of the support library of GCC (GPL-3.0-or-later with the GCC Runtime Library Exception).
`cargo x dist` in the repository of Minwise links the program anew, with another C library too.
";

/// Beginnings of the names of files with a licence, in any case.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Extensions of program files, which have no licence text.
const PROGRAMS: [&str; 5] = ["rs", "c", "h", "sh", "py"];

/// Licence of the C library.
const OF_C_LIBRARY: &str = include_str!("texts/LGPL-2.1");

/// Texts of licences for crates that name a licence and have no text. The text of Apache-2.0 is in the repository.
const TEXTS: [(&str, &str); 3] = [
    ("MIT", include_str!("texts/MIT")),
    ("BSD-3-Clause", include_str!("texts/BSD-3-Clause")),
    ("0BSD", include_str!("texts/0BSD")),
];

/// Crate of the binary, as `cargo metadata` describes it.
struct Package {
    folder: PathBuf,
    authors: String,
}

/// Returns the licences of all crates of the command and of the C library, each text once.
pub fn text(host: &str) -> Result<String> {
    let packages = packages()?;
    let tree = ["tree", "--locked", "--package", "minwise-cli", "--target", host, "--edges", "normal"];
    let tree = [&tree[..], &["--prefix", "none", "--format", "{p}\t{l}"]].concat();
    let tree = run::output(Path::new(&cargo_program()), &tree)?;
    let mut crates = BTreeMap::new();
    for line in tree.lines() {
        let (package, licence) = line.split_once('\t').context("`cargo tree` printed no licence")?;
        let mut words = package.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        // Our own crates are left out, because they have the licence of the archive. If a line repeats a crate, it ends
        // with a star.
        if !name.starts_with("minwise") {
            crates.insert((name.to_owned(), version.to_owned()), licence.trim_end_matches(" (*)").to_owned());
        }
    }
    let mut out = format!("{HEAD}\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((name, version), licence) in &crates {
        let _ = writeln!(out, "{name} {version}: {licence}");
        let package = packages.get(&(name.clone(), version.clone()));
        let package = package.with_context(|| format!("`cargo metadata` has no {name} {version}"))?;
        for text in texts_of(name, licence, package)? {
            let users = texts.entry(text).or_default();
            let user = format!("{name} {version}");
            if users.last() != Some(&user) {
                users.push(user);
            }
        }
    }
    let mut texts: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, users)| (users, text)).collect();
    texts.sort();
    texts.push((vec!["GNU C Library".to_owned()], OF_C_LIBRARY.trim().to_owned()));
    for (users, text) in texts {
        let _ = write!(out, "\n{}\n{}\n\n{text}\n", "=".repeat(80), users.join(", "));
    }
    Ok(out)
}

/// Returns the licence texts in a crate. A crate without any gets the text of the licence that it names, with its
/// authors.
fn texts_of(name: &str, licence: &str, package: &Package) -> Result<Vec<String>> {
    let mut texts = vec![];
    for file in licence_files(&package.folder)? {
        let text = String::from_utf8_lossy(&fs_err::read(&file)?).replace("\r\n", "\n");
        texts.push(text.trim().to_owned());
    }
    if texts.is_empty() {
        let named = |id: &str| licence.split(' ').any(|word| word.trim_matches(['(', ')']) == id);
        let text = match TEXTS.iter().find(|(id, _)| named(id)) {
            Some((_, text)) => format!("Copyright (c) {}\n\n{text}", package.authors),
            None if named("Apache-2.0") => fs_err::read_to_string(root().join("LICENSE-APACHE"))?,
            None => anyhow::bail!("{name} has no text of its licence, {licence}, and there is none here"),
        };
        texts.push(text.trim().to_owned());
    }
    Ok(texts)
}

/// Returns all packages by name and version.
fn packages() -> Result<BTreeMap<(String, String), Package>> {
    let metadata = ["metadata", "--locked", "--format-version", "1"];
    let metadata: Value = serde_json::from_str(&run::output(Path::new(&cargo_program()), &metadata)?)?;
    let mut packages = BTreeMap::new();
    for package in metadata["packages"].as_array().context("`cargo metadata` has no packages")? {
        let field = |name: &str| package[name].as_str().with_context(|| format!("a package has no `{name}`"));
        let manifest = Path::new(field("manifest_path")?);
        let folder = manifest.parent().unwrap_or(Path::new(".")).to_owned();
        let authors = package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let authors: Vec<&str> = authors.collect();
        let authors = if authors.is_empty() {
            format!("the authors of {}", field("name")?)
        } else {
            authors.join(", ")
        };
        packages.insert(
            (field("name")?.to_owned(), format!("v{}", field("version")?)),
            Package { folder, authors },
        );
    }
    Ok(packages)
}

/// Returns the files with licences in a folder, in the order of their paths. Subfolders are searched, because C code
/// lies deep in a crate.
fn licence_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    for path in super::files_below(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_program = path.extension().is_some_and(|ending| PROGRAMS.iter().any(|known| ending == *known));
        if NAMES.iter().any(|start| name.starts_with(start)) && !is_program {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a folder with these files, which are empty.
    fn folder(name: &str, files: &[&str]) -> PathBuf {
        let folder = run::target().join("tmp").join(format!("licences-{name}-{}", std::process::id()));
        for file in files {
            let path = folder.join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, file).unwrap();
        }
        folder
    }

    #[test]
    fn licences_of_c_code_deep_in_a_crate_are_found() {
        let files = ["src/license.rs", "c/license-check.sh", "c/a/v2/LICENSE", "COPYING.0BSD", "src/lib.rs"];
        let folder = folder("deep", &files);
        let package = Package { folder: folder.clone(), authors: String::new() };
        assert_eq!(texts_of("a", "MIT", &package).unwrap(), ["COPYING.0BSD", "c/a/v2/LICENSE"]);
        fs_err::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_crate_without_a_text_gets_that_of_its_licence() {
        let folder = folder("none", &["src/lib.rs"]);
        let package = Package { folder: folder.clone(), authors: "A. B.".to_owned() };
        let [text] = &*texts_of("a", "(MIT OR Apache-2.0)", &package).unwrap() else { panic!("one text") };
        assert!(text.starts_with("Copyright (c) A. B.\n\nPermission is hereby granted"), "{text}");
        assert!(texts_of("a", "Apache-2.0", &package).unwrap()[0].contains("Version 2.0, January 2004"));
        assert!(texts_of("a", "Zlib", &package).is_err());
        fs_err::remove_dir_all(folder).unwrap();
    }

    /// Each of these parts belongs to a crate that contains C code or data of other authors.
    #[test]
    fn all_crates_of_the_command_have_texts() {
        let text = text("x86_64-unknown-linux-gnu").unwrap();
        for part in [
            "Microsoft Corporation, Daan Leijen",
            "Meta Platforms, Inc. and affiliates",
            "XZ Utils",
            "GNU LESSER GENERAL PUBLIC LICENSE",
        ] {
            assert!(text.contains(part), "no {part}");
        }
    }
}
