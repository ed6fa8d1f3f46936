//! Checks `docs/`: generated files are current, and links lead to existing places.

mod errata;
mod evidence;
mod links;
mod parts;
mod readme;
mod sources;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::run::{self, cargo, cargo_program, cargo_with, root};

/// Folders whose files may refer to the works, to `docs/sources` and to errata. Stored records of the lab are not
/// checked.
const REFERRING: [&str; 10] = [
    "bench",
    "crates",
    "docs",
    "examples",
    "fuzz",
    "python/minwise",
    "python/tests",
    "tests",
    "vectors",
    "xtask",
];
/// File whose references are examples, so they are not checked.
const NOT_REFERRING: &str = "xtask/src/docs/sources.rs";

/// Page of errata.
const ERRATA: &str = "docs/concepts/errata.md";
/// List of errata that the documentation of `minwise` includes.
const ERRATA_OF_RUSTDOC: &str = "crates/core/src/errata.md";
/// Reference of all commands.
const COMMANDS: &str = "docs/reference/commands.md";

/// Writes the generated files, then checks all pages.
pub fn write() -> Result<()> {
    generate(&root().join("docs/concepts"))?;
    for (name, content) in written_texts()? {
        fs_err::write(root().join(name), content)?;
    }
    // A test of the server checks that this file is current; with the variable, the test writes it.
    let openapi = ["test", "--package", "minwise-server", "--test", "server", "openapi"];
    cargo_with(&openapi, &[("MINWISE_WRITE_OPENAPI", "1")])?;
    check_pages()
}

/// Fails if a generated file is not current, or if a link of a page leads nowhere.
pub fn check() -> Result<()> {
    let fresh = root().join("target/docs-check");
    if fresh.exists() {
        fs_err::remove_dir_all(&fresh)?;
    }
    generate(&fresh)?;
    let committed = root().join("docs/concepts");
    let mut wrong = vec![];
    let generated = files_below(&fresh, &["svg", "md"])?;
    for path in &generated {
        let name = path.strip_prefix(&fresh)?;
        let current = fs_err::read(committed.join(name)).unwrap_or_default();
        if current != fs_err::read(path)? {
            wrong.push(format!("docs/concepts/{} is not current", name.display()));
        }
    }
    for path in files_below(&committed.join("plots"), &["svg"])? {
        let name = path.strip_prefix(&committed)?;
        if !generated.contains(&fresh.join(name)) {
            wrong.push(format!("docs/concepts/{} is drawn by nothing", name.display()));
        }
    }
    for (name, content) in written_texts()? {
        if fs_err::read_to_string(root().join(name)).unwrap_or_default() != content {
            wrong.push(format!("{name} is not current"));
        }
    }
    if !wrong.is_empty() {
        bail!("`cargo x docs` is needed:\n  {}", wrong.join("\n  "));
    }
    check_pages()
}

/// Returns the texts that are generated as a whole, with the names of their files.
fn written_texts() -> Result<[(&'static str, String); 2]> {
    let reference = ["run", "--quiet", "--package", "minwise-cli", "--", "generate", "reference"];
    let reference = run::output(Path::new(&cargo_program()), &reference)?;
    Ok([(ERRATA_OF_RUSTDOC, errata_of_rustdoc()?), (COMMANDS, reference)])
}

fn errata_of_rustdoc() -> Result<String> {
    Ok(errata::for_rustdoc(&fs_err::read_to_string(root().join(ERRATA))?))
}

fn generate(folder: &Path) -> Result<()> {
    let folder = folder.to_string_lossy();
    cargo(&["run", "--quiet", "--package", "minwise-lab", "--example", "concepts", "--", &folder])
}

/// Fails if a link or reference leads nowhere, or if a page lacks a required part.
pub fn check_pages() -> Result<()> {
    let pages = pages()?;
    let mut wrong = vec![];
    let mut links = 0;
    for page in &pages {
        let text = fs_err::read_to_string(page)?;
        for link in links::of(&text) {
            links += 1;
            let problem = links::problem(page, &link)?.or(evidence::problem(page, &link)?);
            wrong.extend(problem.map(|problem| format!("{}:{}: {problem}", relative(page), link.line)));
        }
    }
    let citation = fs_err::read_to_string(root().join("CITATION.cff"))?;
    wrong.extend(readme::citation_problem(&citation, env!("CARGO_PKG_VERSION")));
    wrong.extend(readme::problems(&fs_err::read_to_string(root().join("README.md"))?));
    let architecture = fs_err::read_to_string(root().join("ARCHITECTURE.md"))?;
    let missing = parts::missing_paths(&architecture).into_iter();
    wrong.extend(missing.map(|problem| format!("ARCHITECTURE.md, {problem}")));
    wrong.extend(concepts_problems(&pages)?);
    wrong.extend(errata::problems(&fs_err::read_to_string(root().join(ERRATA))?));
    wrong.extend(reference_problems(&pages)?);
    if wrong.is_empty() {
        println!("docs: {links} links of {} pages lead somewhere", pages.len());
        Ok(())
    } else {
        bail!("pages point to what is not there, or lack what they must have:\n  {}", wrong.join("\n  "))
    }
}

/// Returns the pages of concepts that do not begin with their idea and an example. Generated tables and lists have no
/// example.
fn concepts_problems(pages: &[PathBuf]) -> Result<Vec<String>> {
    const LISTS: [&str; 4] = ["README.md", "comparison.md", "errata.md", "sketches.md"];
    let mut wrong = vec![];
    for page in pages {
        let name = relative(page);
        let Some(file) = name.strip_prefix("docs/concepts/") else { continue };
        if !LISTS.contains(&file) && !parts::begins_with_an_example(&fs_err::read_to_string(page)?) {
            wrong.push(format!("{name}: the page must begin with its idea, and then an example"));
        }
    }
    Ok(wrong)
}

/// Returns all pages of the repository, except records of the lab and pages in folders of builds.
fn pages() -> Result<Vec<PathBuf>> {
    let mut pages = vec![];
    for entry in fs_err::read_dir(root())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    for folder in ["docs", "crates", "examples", "python"] {
        pages.extend(files_below(&root().join(folder), &["md"])?);
    }
    pages.retain(|page| !is_built(&relative(page)));
    pages.sort();
    Ok(pages)
}

/// Reports whether a file lies in a folder of builds, downloads or installed packages.
fn is_built(name: &str) -> bool {
    ["target", "node_modules", ".venv", "build", "dist"]
        .iter()
        .any(|folder| name.split('/').any(|part| part == *folder))
}

/// Returns the references that lead nowhere: to works, to places in works, to pages of `docs/sources`, and to errata.
/// Reads the pages and all other files.
fn reference_problems(pages: &[PathBuf]) -> Result<Vec<String>> {
    let sources = sources::Sources::read()?;
    let mut files: Vec<PathBuf> = pages.to_vec();
    for folder in REFERRING {
        files.extend(files_below(&root().join(folder), &["rs", "md", "toml", "py", "js", "mjs"])?);
    }
    files.sort();
    files.dedup();
    let errata = sources.errata_problems(&fs_err::read_to_string(root().join(ERRATA))?).into_iter();
    let mut wrong: Vec<String> = errata.map(|problem| format!("{ERRATA}, {problem}")).collect();
    for file in files {
        let name = relative(&file);
        if name == NOT_REFERRING || is_built(&name) {
            continue;
        }
        let found = sources.problems(Path::new(&name), &fs_err::read_to_string(&file)?);
        wrong.extend(found.into_iter().map(|(line, problem)| format!("{name}:{line}: {problem}")));
    }
    Ok(wrong)
}

/// Returns the files with one of these extensions, in a folder and its subfolders.
fn files_below(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
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
