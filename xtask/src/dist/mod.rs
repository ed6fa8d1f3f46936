//! `cargo x dist` makes an archive with a binary that needs nothing but the kernel.
//!
//! The binary contains the C library (`+crt-static`), so it runs on any Linux system of its architecture, including an
//! empty container. Equal files give equal archives, because the order, times, owners and modes in an archive are
//! fixed.

mod elf;
mod licences;
mod trial;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::part::{PartOutcome, RunnerReport};
use crate::run::{self, cargo_program, root, target};

/// Time of every file in an archive in Unix seconds: 1980-01-01, because `tar` warns about 1970.
const TIME: u64 = 315_532_800;
/// Files of the repository that are in every archive.
const FILES: [&str; 4] = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Builds the archive, and tries it in an empty root.
pub fn run() -> Result<PartOutcome> {
    let host = host()?;
    ensure!(host.contains("-linux-"), "archives are made on Linux, and this is {host}");
    let binary = fs_err::read(build(&host)?)?;
    if let Some(interpreter) = elf::interpreter(&binary)? {
        bail!("the binary is not static: it needs `{interpreter}`");
    }
    for folder in folders_of_machine()? {
        ensure!(!contains(&binary, &folder), "the binary contains the path `{folder}` of this machine");
    }

    let name = format!("minwise-{}-{host}", env!("CARGO_PKG_VERSION"));
    let folder = target().join("dist");
    fs_err::create_dir_all(&folder)?;
    let files = files(&name, binary, &host)?;
    let archive = archive(&files)?;
    println!("{name}.tar.gz: {:.1} MB, {} files", archive.len() as f64 / 1e6, files.len());
    let skipped = publish(&folder, &name, &archive, || trial::run(&archive, &name))?;
    print!("{}", fs_err::read_to_string(folder.join("SHA256SUMS"))?);
    if let Some(why) = &skipped {
        println!("the archive was not tried in an empty root: {why}");
    }
    let mut report = RunnerReport::of_one();
    match skipped {
        Some(_) => report.counts.skipped += 1,
        None => report.counts.passed += 1,
    }
    Ok(PartOutcome::Ran(report))
}

/// Tries an archive before the archive gets its name and the checksums are written. Returns the result of the trial.
fn publish<T>(folder: &Path, name: &str, archive: &[u8], trial: impl FnOnce() -> Result<T>) -> Result<T> {
    let (path, untried) =
        (folder.join(format!("{name}.tar.gz")), folder.join(format!("{name}.tar.gz.untried")));
    fs_err::write(&untried, archive)?;
    let tried = match trial() {
        Ok(tried) => tried,
        Err(error) => {
            fs_err::remove_file(&untried)?;
            return Err(error);
        }
    };
    fs_err::rename(&untried, &path)?;
    fs_err::write(folder.join("SHA256SUMS"), checksums(folder)?)?;
    Ok(tried)
}

/// Returns the folders of this machine that must not appear in a binary.
fn folders_of_machine() -> Result<Vec<String>> {
    let sysroot = run::output(Path::new("rustc"), &["--print", "sysroot"])?;
    let folders = [root().to_owned(), target(), cargo_home()?, PathBuf::from(sysroot.trim())];
    let folders = folders.into_iter().chain(std::env::home_dir());
    let mut folders: Vec<String> = folders.map(|folder| folder.to_string_lossy().into_owned()).collect();
    // `/` is left out, because it may be the home folder of a system user and every path begins with it.
    folders.retain(|folder| folder.len() > 1);
    Ok(folders)
}

/// Reports whether a binary contains a path inside this folder.
fn contains(binary: &[u8], folder: &str) -> bool {
    let path = format!("{}/", folder.trim_end_matches('/'));
    binary.windows(path.len()).any(|bytes| bytes == path.as_bytes())
}

/// Returns the target for which the compiler builds, such as `x86_64-unknown-linux-gnu`.
fn host() -> Result<String> {
    let about = run::output(Path::new("rustc"), &["--version", "--verbose"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc --version --verbose` names no host")?.to_owned())
}

fn cargo_home() -> Result<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = || std::env::home_dir().map(|home| home.join(".cargo"));
    named.or_else(usual).context("there is no home folder")
}

/// Builds the binary in a separate folder, because its flags would rebuild everything in the usual folder.
fn build(host: &str) -> Result<PathBuf> {
    let folder = target().join("dist-build");
    // Paths of this machine are replaced, so that another machine builds the same bytes.
    let places = [(root().to_owned(), "/minwise"), (cargo_home()?, "/cargo")];
    let places = places.map(|(from, to)| format!("{}={to}", from.display()));
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
    flags.extend(places.iter().map(|place| format!("--remap-path-prefix={place}")));
    let c_flags: Vec<String> = places.iter().map(|place| format!("-ffile-prefix-map={place}")).collect();
    let mut command = Command::new(cargo_program());
    command.current_dir(root()).args(["build", "--locked", "--package", "minwise-cli", "--profile", "dist"]);
    // With an explicit target, Cargo builds procedural macros without these flags. A static macro could not be loaded.
    command.args(["--target", host, "--target-dir"]).arg(&folder);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")).env("CFLAGS", c_flags.join(" "));
    run::check(&mut command)?;
    Ok(folder.join(host).join("dist").join("minwise"))
}

/// File of an archive.
pub struct ArchivedFile {
    pub path: String,
    pub content: Vec<u8>,
    pub is_program: bool,
}

/// Returns all files of an archive, in the order of their paths.
fn files(name: &str, binary: Vec<u8>, host: &str) -> Result<Vec<ArchivedFile>> {
    let file =
        |path: &str, content| ArchivedFile { path: format!("{name}/{path}"), content, is_program: false };
    let mut files = vec![];
    for name in FILES {
        files.push(file(name, fs_err::read(root().join(name))?));
    }
    files.push(file("LICENSES-OF-DEPENDENCIES", licences::text(host)?.into_bytes()));
    let sysroot = run::output(Path::new("rustc"), &["--print", "sysroot"])?;
    let notice = Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    files.push(file("COPYRIGHT-OF-THE-RUST-LIBRARY.html", fs_err::read(notice)?));
    let generated = target().join("dist-build").join("share");
    if generated.exists() {
        fs_err::remove_dir_all(&generated)?;
    }
    let program = target().join("dist-build").join(host).join("dist").join("minwise");
    run::check(Command::new(program).args(["generate", "all"]).arg(&generated))?;
    for path in files_below(&generated)? {
        let inside = path.strip_prefix(&generated)?.to_string_lossy().into_owned();
        files.push(file(&inside, fs_err::read(&path)?));
    }
    files.push(ArchivedFile { is_program: true, ..file("minwise", binary) });
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

/// Returns the bytes of an archive with these files.
pub fn archive(files: &[ArchivedFile]) -> Result<Vec<u8>> {
    // The encoder writes neither a name nor a time, so the bytes depend on the files alone.
    let mut archive = tar::Builder::new(GzEncoder::new(vec![], Compression::best()));
    for file in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(file.content.len() as u64);
        header.set_mode(if file.is_program { 0o755 } else { 0o644 });
        header.set_mtime(TIME);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, &file.path, &*file.content)?;
    }
    Ok(archive.into_inner()?.finish()?)
}

/// Returns lines in the form of `sha256sum` for all archives in a folder.
fn checksums(folder: &Path) -> Result<String> {
    let mut lines = vec![];
    for path in files_below(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.parent() == Some(folder) && name.ends_with(".tar.gz") {
            lines.push(format!("{}  {name}\n", sha256(&fs_err::read(&path)?)));
        }
    }
    lines.sort_by(|one, other| one[64..].cmp(&other[64..]));
    Ok(lines.concat())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Vec<ArchivedFile> {
        let file = |path: &str, is_program| ArchivedFile {
            path: path.to_owned(),
            content: path.as_bytes().to_vec(),
            is_program,
        };
        vec![file("minwise-1/README.md", false), file("minwise-1/minwise", true)]
    }

    #[test]
    fn an_archive_has_the_same_bytes_whenever_it_is_made() {
        let first = archive(&example()).unwrap();
        assert_eq!(archive(&example()).unwrap(), first);
        let mut entries = vec![];
        for entry in tar::Archive::new(flate2::read::GzDecoder::new(&*first)).entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let owner = (header.uid().unwrap(), header.gid().unwrap());
            entries.push((path, header.mode().unwrap(), header.mtime().unwrap(), owner));
        }
        let expected = [("minwise-1/README.md", 0o644), ("minwise-1/minwise", 0o755)];
        assert_eq!(entries, expected.map(|(path, mode)| (path.to_owned(), mode, TIME, (0, 0))));
    }

    #[test]
    fn an_archive_that_fails_its_trial_is_not_left() {
        let folder = target().join("tmp").join(format!("dist-{}", std::process::id()));
        fs_err::create_dir_all(&folder).unwrap();
        let names = || -> Vec<String> {
            let mut names: Vec<String> =
                files_below(&folder).unwrap().iter().map(|path| crate::bench::path(path)).collect();
            names.sort();
            names.iter().map(|name| name.rsplit('/').next().unwrap().to_owned()).collect()
        };
        let failed = publish(&folder, "a", b"abc", || -> Result<()> {
            assert_eq!(names(), ["a.tar.gz.untried"]);
            bail!("it does not start")
        });
        assert_eq!(failed.unwrap_err().to_string(), "it does not start");
        assert!(names().is_empty());
        assert_eq!(publish(&folder, "a", b"abc", || Ok(7)).unwrap(), 7);
        assert_eq!(names(), ["SHA256SUMS", "a.tar.gz"]);
        let sums = fs_err::read_to_string(folder.join("SHA256SUMS")).unwrap();
        assert_eq!(sums, format!("{}  a.tar.gz\n", sha256(b"abc")));
        fs_err::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn paths_of_the_machine_are_found_in_a_binary() {
        assert!(contains(b"\0/home/a/b.rs\0", "/home/a"));
        assert!(!contains(b"\0/home/ab/b.rs\0", "/home/a"));
        assert!(folders_of_machine().unwrap().iter().all(|folder| folder.starts_with('/')));
    }

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
    }
}
