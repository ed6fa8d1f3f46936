//! The pages that the command writes and the one that the server has, in a real browser.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::run::{cargo, command, command_with, root, target};

/// Names of a browser that Playwright can drive, where `CHROMIUM` does not say which.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Runs `tests/browser`, unless there is no browser to run it with.
pub fn test() -> Result<()> {
    let browser =
        std::env::var_os("CHROMIUM").map(PathBuf::from).or_else(|| BROWSERS.into_iter().find_map(find));
    let (Some(node), Some(npm), Some(browser)) = (find("node"), find("npm"), browser) else {
        eprintln!(
            "tests/browser is skipped: it needs `node`, `npm` and Chromium (in the path, or as CHROMIUM=…)"
        );
        return Ok(());
    };
    let folder = root().join("tests/browser");
    if !is_installed(&folder) {
        command(&npm, &["ci", "--prefix", "tests/browser", "--no-audit", "--no-fund"])?;
    }
    cargo(&["build", "--package", "minwise-cli"])?;
    let minwise = target().join("debug").join(format!("minwise{}", std::env::consts::EXE_SUFFIX));
    let tests = tests(&folder)?;
    // One after the other: some of them measure time.
    let mut arguments = vec!["--test", "--test-concurrency=1"];
    arguments.extend(tests.iter().map(String::as_str));
    command_with(&node, &arguments, &[("MINWISE", &minwise), ("CHROMIUM", &browser)])
}

/// The files of tests, in order. What a folder means to `node --test` differs between its versions.
fn tests(folder: &Path) -> Result<Vec<String>> {
    let mut files = vec![];
    for entry in fs_err::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".test.mjs") {
            files.push(format!("tests/browser/{name}"));
        }
    }
    files.sort();
    Ok(files)
}

/// Whether the packages are those of the lock file: npm leaves a copy of it behind, which is newer then.
fn is_installed(folder: &Path) -> bool {
    let changed = |name: &str| fs_err::metadata(folder.join(name)).and_then(|file| file.modified()).ok();
    let installed = changed("node_modules/.package-lock.json");
    installed.is_some() && installed >= changed("package-lock.json")
}

/// A program in the path.
fn find(program: &str) -> Option<PathBuf> {
    // On Windows npm is a script.
    let names = if cfg!(windows) { [".exe", ".cmd"].as_slice() } else { &[""] };
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path);
    folders.find_map(|folder| {
        let mut files = names.iter().map(|ending| folder.join(format!("{program}{ending}")));
        files.find(|file| file.is_file())
    })
}
