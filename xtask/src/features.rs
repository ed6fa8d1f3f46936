//! Checks the features of the crates: each of them compiles alone, and brings only its own dependencies.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::run::{self, cargo, cargo_program, root};

/// Crates whose features are formats, with their packages. The second crate passes on the features of the first.
const PACKAGES: [(&str, &str); 2] = [("corpus", "minwise-corpus"), ("engine", "minwise-engine")];

/// Crates that only some features may bring. Parquet and Arrow IPC files are compressed inside, so their features bring
/// Zstandard, too.
const OWNERS: [(&str, &[&str]); 11] = [
    ("arrow-ipc", &["arrow", "parquet"]),
    ("arrow-select", &["arrow", "parquet"]),
    ("bzip2", &["bzip2"]),
    ("hayro-font", &["pdf"]),
    ("hayro-syntax", &["pdf"]),
    ("html5ever", &["html"]),
    ("liblzma", &["xz"]),
    ("parquet", &["parquet"]),
    ("quick-xml", &["office"]),
    ("zip", &["office"]),
    ("zstd", &["arrow", "parquet", "zstd"]),
];

/// Unmaintained crates with their security advisories. Cargo.lock must not have them.
const UNMAINTAINED: [(&str, &str); 1] = [("ttf-parser", "RUSTSEC-2026-0192")];

/// Crates that draw pictures as pixels. The command writes SVG, and only the lab needs a rasteriser.
const RASTERISERS: [&str; 6] = ["image", "png", "resvg", "tiny-skia", "usvg", "zeno"];

/// Checks the dependencies of each feature, and that the crates compile without any feature.
pub fn check() -> Result<()> {
    let lock = fs_err::read_to_string(root().join("Cargo.lock"))?;
    for (name, advisory) in UNMAINTAINED {
        let is_there = lock.lines().any(|line| line == format!("name = \"{name}\""));
        ensure!(!is_there, "Cargo.lock has `{name}`, which is not maintained ({advisory})");
    }
    let formats = formats("corpus")?;
    for (folder, package) in PACKAGES {
        ensure!(self::formats(folder)? == formats, "`{package}` has not the features of `minwise-corpus`");
        for feature in std::iter::once(None).chain(formats.iter().map(|feature| Some(feature.as_str()))) {
            let tree = dependencies(package, feature)?;
            for (dependency, owners) in OWNERS {
                let is_owned = feature.is_some_and(|feature| owners.contains(&feature));
                let is_there = tree.contains(dependency);
                let shown = feature.unwrap_or("no feature");
                ensure!(is_owned == is_there, "`{package}` with {shown}: `{dependency}` there: {is_there}");
            }
        }
    }
    ensure!(
        self::formats("cli")? == formats,
        "`minwise-cli` passes on other features than `minwise-corpus` has"
    );
    // `minwise` has its own Unicode data, because another version of ICU must not change a sketch.
    let foreign: Vec<String> =
        dependencies("minwise", None)?.into_iter().filter(|name| name.starts_with("icu")).collect();
    ensure!(foreign.is_empty(), "`minwise` depends on {}", foreign.join(", "));
    let of_command = tree("minwise-cli", &["--all-features"])?;
    let drawing = RASTERISERS.into_iter().find(|name| of_command.contains(*name));
    ensure!(drawing.is_none(), "`minwise-cli` depends on `{}`, a rasteriser", drawing.unwrap_or_default());
    PACKAGES.into_iter().try_for_each(|(_, package)| compile(package, None))
}

/// Compiles the crates with each feature alone, and tests the errors for formats that are not compiled.
pub fn check_each() -> Result<()> {
    for (folder, package) in PACKAGES {
        for feature in formats(folder)? {
            compile(package, Some(&feature))?;
        }
    }
    cargo(&["test", "--package", "minwise-corpus", "--no-default-features", "--test", "features"])
}

/// Compiles a library with at most one feature, and with warnings as errors.
fn compile(package: &str, feature: Option<&str>) -> Result<()> {
    let mut arguments = vec!["clippy", "--lib", "--package", package, "--no-default-features"];
    arguments.extend(feature.into_iter().flat_map(|feature| ["--features", feature]));
    arguments.extend(["--", "--deny", "warnings"]);
    cargo(&arguments)
}

/// Returns the features of a crate that are formats.
fn formats(folder: &str) -> Result<BTreeSet<String>> {
    let manifest = fs_err::read_to_string(root().join("crates").join(folder).join("Cargo.toml"))?;
    let section = manifest.split("[features]\n").nth(1).context("the manifest has no features")?;
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names =
        lines.filter_map(|line| Some(line.split_once(" = ")?.0)).filter(|name| !name.starts_with('#'));
    Ok(names.filter(|name| !matches!(*name, "default" | "fuzzing" | "openapi")).map(str::to_owned).collect())
}

/// Returns the names of all packages with which a package with at most one feature is built.
fn dependencies(package: &str, feature: Option<&str>) -> Result<BTreeSet<String>> {
    let mut features = vec!["--no-default-features"];
    features.extend(feature.into_iter().flat_map(|feature| ["--features", feature]));
    tree(package, &features)
}

/// Returns the names of all packages with which a package is built.
fn tree(package: &str, features: &[&str]) -> Result<BTreeSet<String>> {
    let program = cargo_program();
    let mut arguments = vec!["tree", "--locked", "--package", package];
    arguments.extend(features);
    arguments.extend(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
    let tree = run::output(Path::new(&program), &arguments)?;
    Ok(tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}
