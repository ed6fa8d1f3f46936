//! The pages that the command writes and the one that the server has, in a real browser.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::run::{cargo, command, command_with, root, target};

/// Names of a browser that Playwright can drive, where `CHROMIUM` does not say which.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Runs `tests/browser`, unless there is no browser to run it with and none can be installed.
pub fn test() -> Result<()> {
    let (Some(node), Some(npm), Some(browser)) = (find("node"), find("npm"), browser()?) else {
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
    let run = |tests: &[&str], environment: &[(&str, &Path)]| {
        command_with(&node, &[&["--test", "--test-concurrency=1"], tests].concat(), environment)
    };
    let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
    run(&tests, &[("MINWISE", &minwise), ("CHROMIUM", &browser)])?;
    // The page once more, with the server that it is made for.
    let of_page: Vec<&str> = tests.into_iter().filter(|test| test.contains("/page-")).collect();
    let server = Server::start(&minwise, "open", None)?;
    let guarded = Server::start(&minwise, "guarded", Some(TOKEN))?;
    let urls = [("MINWISE_URL", &server.url), ("MINWISE_TOKEN_URL", &guarded.url)];
    let [open, closed] = urls.map(|(name, url)| (name, Path::new(url)));
    run(&of_page, &[open, closed, ("MINWISE_TOKEN", Path::new(TOKEN)), ("CHROMIUM", &browser)])
}

/// The browser, which is installed on a Debian machine without one if that is allowed.
fn browser() -> Result<Option<PathBuf>> {
    let there = || BROWSERS.into_iter().find_map(find);
    if let Some(browser) = std::env::var_os("CHROMIUM").map(PathBuf::from).or_else(there) {
        return Ok(Some(browser));
    }
    let Some(installer) = find("apt-get").filter(|_| is_root()) else { return Ok(None) };
    command(&installer, &["update", "-qq"])?;
    command(&installer, &["install", "-qq", "--yes", "--no-install-recommends", "chromium"])?;
    Ok(there())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

/// The token of the server that wants one.
const TOKEN: &str = "a-token-of-the-browser-tests";

/// `minwise serve` with an archive that is empty, until it is dropped.
struct Server {
    process: Child,
    url: String,
    archive: PathBuf,
}

impl Server {
    fn start(minwise: &Path, name: &str, token: Option<&str>) -> Result<Self> {
        let archive = target().join(format!("browser-archive-{name}"));
        if archive.exists() {
            fs_err::remove_dir_all(&archive)?;
        }
        command(minwise, &["index", "create", &archive.to_string_lossy(), "--quiet"])?;
        // A browser in a hurry asks more often than people do.
        let mut command = Command::new(minwise);
        command.args(["serve", "--quiet", "--listen", "127.0.0.1:0", "--rate", "off", "--index"]);
        command.arg(&archive).stdout(Stdio::piped());
        if let Some(token) = token {
            command.arg("--tokens").arg(tokens(token)?);
        }
        let mut process = command.spawn().context("`minwise serve` could not be started")?;
        let mut url = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut url)?;
        }
        Ok(Self { process, url: url.trim_end().to_owned(), archive })
    }
}

/// A file with a token, which nobody else may read.
fn tokens(token: &str) -> Result<PathBuf> {
    let file = target().join("browser-tokens");
    fs_err::write(&file, format!("write {token}\n"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

impl Drop for Server {
    fn drop(&mut self) {
        // There is nobody to tell if it has ended already or leaves something behind.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs_err::remove_dir_all(&self.archive);
    }
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
