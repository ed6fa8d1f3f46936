//! Checks that dependencies have one direction: a crate uses only crates before it, a module uses only modules before
//! it, and no two files use each other. No two scripts of the page import each other.

pub mod order;
mod rules;
mod scripts;
pub mod source;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::run::{self, root};
use order::{CRATES, Crate};
use rules::ORDER;
use source::Tree;

/// Checks every package of the workspace, and the scripts of the page. A package in `crates` must have an order; in other packages, no two files may
/// use each other.
pub fn check() -> Result<()> {
    let mut wrong = vec![];
    for package in run::packages()? {
        let folder = package.strip_prefix(root())?;
        let member = CRATES.iter().find(|member| folder == Path::new("crates").join(member.name));
        match member {
            Some(member) => wrong.extend(packages(member)?),
            None if folder.starts_with("crates") => {
                wrong.push(format!("{}: has no order in {ORDER}", folder.display()));
            }
            None => {}
        }
        // The order applies to the library, or to the command if there is no library.
        let mut rooms = member.map(|member| member.rooms);
        for file in roots(&folder.join("src"))? {
            wrong.extend(rules::check(&modules(&file)?, rooms.take()));
        }
    }
    wrong.extend(scripts::check()?);
    if wrong.is_empty() {
        println!("layers: data flows one way");
        Ok(())
    } else {
        bail!("data flows back:\n  {}", wrong.join("\n  "))
    }
}

/// Returns the packages that a crate uses without permission.
fn packages(member: &Crate) -> Result<Vec<String>> {
    let file = format!("crates/{}/Cargo.toml", member.name);
    let manifest = fs_err::read_to_string(root().join(&file))?;
    let used = manifest.lines().take_while(|line| *line != "[dev-dependencies]").filter_map(|line| {
        let package = line.split(['.', ' ', '=']).next()?;
        (package == "minwise" || package.starts_with("minwise-")).then_some(package)
    });
    Ok(used
        .filter(|package| !member.uses.contains(package))
        .map(|package| format!("{file}: uses {package}"))
        .collect())
}

/// Returns the root files of the crates in a source folder: the library, the command, and further commands in `bin`.
pub fn roots(source: &Path) -> Result<Vec<PathBuf>> {
    let mut roots = vec![source.join("lib.rs"), source.join("main.rs")];
    let folder = source.join("bin");
    if root().join(&folder).exists() {
        for entry in fs_err::read_dir(root().join(&folder))? {
            let path = folder.join(entry?.file_name());
            roots.push(if path.extension().is_some() { path } else { path.join("main.rs") });
        }
    }
    roots.retain(|file| root().join(file).exists());
    Ok(roots)
}

pub fn modules(file: &Path) -> Result<Tree> {
    Tree::read(file, &|file| {
        let file = root().join(file);
        file.exists().then(|| fs_err::read_to_string(file)).transpose().map_err(Into::into)
    })
}
