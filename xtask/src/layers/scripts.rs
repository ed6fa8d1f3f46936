//! Checks the scripts of the page: no two of them import each other, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use anyhow::Result;

use crate::run::root;

/// Folder of the scripts.
const FOLDER: &str = "crates/server/web";

/// Imports of each script, as paths below the folder.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Returns a message per script that imports itself through others.
pub fn check() -> Result<Vec<String>> {
    let mut imports = Imports::new();
    for folder in [FOLDER.to_owned(), format!("{FOLDER}/routes")] {
        for entry in fs_err::read_dir(root().join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "js") {
                let name = path.strip_prefix(root().join(FOLDER))?.to_string_lossy().replace('\\', "/");
                let used = imports_of(&name, &fs_err::read_to_string(&path)?);
                imports.insert(name, used);
            }
        }
    }
    let cycles = cycles(&imports).into_iter();
    Ok(cycles.map(|names| format!("{FOLDER}: {} import each other", names.join(", "))).collect())
}

/// Returns the scripts that a script imports. Types that a comment imports are left out, because they are not loaded.
fn imports_of(name: &str, script: &str) -> BTreeSet<String> {
    let code = script.lines().map(str::trim_start).filter(|line| !line.starts_with(['/', '*']));
    let mut used = BTreeSet::new();
    for line in code {
        let target = ["import '", " from '", "import('"].iter().find_map(|before| line.split_once(before));
        let Some((target, _)) = target.and_then(|(_, rest)| rest.split_once('\'')) else { continue };
        if target.starts_with('.') {
            used.insert(resolved(name, target));
        }
    }
    used
}

/// Returns the path of a target that is given relative to a script.
fn resolved(name: &str, target: &str) -> String {
    let mut parts: Vec<String> = name.split('/').map(str::to_owned).collect();
    parts.pop();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

/// Returns the scripts of each cycle of imports.
fn cycles(imports: &Imports) -> BTreeSet<Vec<String>> {
    let reached = |from: &String| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(name) = open.pop() {
            open.extend(
                imports.get(name).into_iter().flatten().filter(|used| reached.insert((*used).clone())),
            );
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|name| (name, reached(name))).collect();
    // Scripts of one cycle reach each other, so each of them gives the same list.
    reached
        .iter()
        .filter(|(name, to)| to.contains(**name))
        .map(|(name, to)| {
            to.iter()
                .filter(|other| reached.get(other).is_some_and(|to| to.contains(*name)))
                .cloned()
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(scripts: &[(&str, &str)]) -> Imports {
        scripts.iter().map(|(name, script)| ((*name).to_owned(), imports_of(name, script))).collect()
    }

    #[test]
    fn imports_are_found() {
        let script = "import './a.js';\nimport {\n  b,\n} from '../b.js';\nimport fs from 'fs';\n\
                      /** @typedef {import('./types.js').T} T */\nexport { c } from './c/d.js';\nawait import('./e.js');\n";
        let expected = ["b.js", "routes/a.js", "routes/c/d.js", "routes/e.js"];
        assert_eq!(imports_of("routes/x.js", script).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn cycles_are_refused() {
        let (a, b) = (("a.js", "import { b } from './r/b.js';"), ("r/b.js", "import { c } from '../c.js';"));
        assert!(cycles(&imports(&[a, b, ("c.js", "")])).is_empty());
        let found =
            cycles(&imports(&[a, b, ("c.js", "import { a } from './a.js';"), ("d.js", "import './a.js';")]));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [["a.js", "c.js", "r/b.js"]]);
    }

    #[test]
    fn the_page_has_no_cycle() {
        assert_eq!(check().unwrap(), Vec::<String>::new());
    }
}
