//! Runs other programs. If a program fails, the error names it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Returns the folder of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Returns the folder in which Cargo builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

pub fn cargo(args: &[&str]) -> Result<()> {
    cargo_with(args, &[])
}

/// Returns the Cargo that runs this task.
pub fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

pub fn cargo_with(args: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let mut command = Command::new(cargo_program());
    check(command.current_dir(root()).args(args).envs(environment.iter().copied()))
}

pub fn command(program: &Path, args: &[&str]) -> Result<()> {
    check(Command::new(program).current_dir(root()).args(args))
}

/// Runs a program and returns its output.
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

/// Returns a command in the form in which a person would type it.
pub fn shown(command: &Command) -> String {
    let mut words = vec![];
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", name.to_string_lossy(), value.to_string_lossy()));
        }
    }
    let program = Path::new(command.get_program());
    words.push(program.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    let quote = |word: String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
        if word.chars().all(is_plain) { word } else { format!("'{word}'") }
    };
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Runs a command, and returns an error if it fails.
pub fn check(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    eprintln!("$ {shown}");
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    if status.success() { Ok(()) } else { bail!("`{shown}` failed: {status}") }
}

pub fn has_nextest() -> bool {
    Command::new(cargo_program())
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Finds a program in the path.
pub fn find(program: &str) -> Option<PathBuf> {
    // On Windows, `npm` is a script with the extension `.cmd`.
    let names = if cfg!(windows) { [".exe", ".cmd"].as_slice() } else { &[""] };
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path);
    folders.find_map(|folder| {
        let mut files = names.iter().map(|ending| folder.join(format!("{program}{ending}")));
        files.find(|file| file.is_file())
    })
}

/// Reports whether the user is `root`.
pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

/// Builds the command with the features of the Rust tests, so that nothing is compiled again after them, and returns
/// its path.
pub fn build_minwise() -> Result<PathBuf> {
    cargo(&["test", "--workspace", "--no-run", "--test", "cli"])?;
    Ok(target().join("debug").join(format!("minwise{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the folders of the packages of the workspace.
pub fn packages() -> Result<Vec<PathBuf>> {
    let mut folders = vec![root().join("fuzz"), root().join("xtask")];
    for entry in fs_err::read_dir(root().join("crates"))? {
        folders.push(entry?.path());
    }
    folders.sort();
    Ok(folders)
}

/// Returns the name of the package that a manifest describes.
pub fn package_name(manifest: &str) -> Result<String> {
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    Ok(name.context("the manifest has no name")?.to_owned())
}

/// Returns a Python with these packages, in the environment `.venv` of the repository. A package may have a version:
/// `name==1.2.3`.
pub fn python_venv(packages: &[&str]) -> Result<PathBuf> {
    python_venv_in(&root().join(".venv"), packages)
}

/// Returns a Python with these packages, in an environment in this folder.
pub fn python_venv_in(venv: &Path, packages: &[&str]) -> Result<PathBuf> {
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        command(Path::new("python3"), &["-m", "venv", &venv.to_string_lossy()])
            .context("a Python with the module `venv` is needed")?;
    }
    let installed = output(&python, &["-m", "pip", "list", "--format", "freeze"])?.to_lowercase();
    let is_missing = |package: &&&str| !is_installed(&installed, package);
    let missing: Vec<&str> = packages.iter().filter(is_missing).copied().collect();
    if !missing.is_empty() {
        command(
            &python,
            &[&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], &missing[..]].concat(),
        )?;
    }
    Ok(python)
}

/// Reports whether a list of lines such as `name==1.2.3` has a package, in its version if the package names one.
fn is_installed(list: &str, package: &str) -> bool {
    let package = package.to_lowercase();
    let is_it = |line: &str| {
        line == package || (!package.contains("==") && line.split("==").next() == Some(package.as_str()))
    };
    list.lines().any(|line| is_it(line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_installed_in_the_version_that_is_named() {
        let list = "regex==2026.1\nopenapi-python-client==0.29.1\n";
        assert!(is_installed(list, "regex") && is_installed(list, "openapi-python-client==0.29.1"));
        assert!(!is_installed(list, "openapi-python-client==0.29.0") && !is_installed(list, "reg"));
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["nextest", "run", "-E", "test(a) | test(b)"]).env("MINWISE_LONG", "1");
        assert_eq!(shown(&command), "MINWISE_LONG=1 cargo nextest run -E 'test(a) | test(b)'");
    }
}
