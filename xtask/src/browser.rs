//! Tests the pages that the command writes and the page of the server in a real browser.

use std::cell::OnceCell;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::part::{Part, PartOutcome, RunnerReport};
use crate::run::{self, build_minwise, command, find, is_root, output, root, target};
use crate::runner::TestRunner;

/// Names of browsers that Playwright can drive. They are searched in the path unless the variable `CHROMIUM` names a
/// browser.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Tests of `tests/browser`, with their tools. The tools are looked up once.
#[derive(Default)]
pub struct BrowserTests(OnceCell<Result<BrowserTools, String>>);

/// Tools of the browser tests.
struct BrowserTools {
    node: PathBuf,
    browser: PathBuf,
    minwise: PathBuf,
    /// Names of the test files.
    tests: Vec<String>,
}

impl BrowserTests {
    /// Returns the two parts of the tests. The stand-in imitates slow and faulty servers, and the real server shows
    /// that the page fits it.
    pub fn parts(&self) -> [Part<'_>; 2] {
        [
            Part::new(
                "pages",
                "reports, and the server's page with a stand-in for the server, in Chromium",
                || self.run(|tools| tools.run(|_| true, &[])),
            ),
            Part::new("pages, server", "the server's page with `minwise serve`, in Chromium", || {
                self.run(BrowserTools::against_server)
            }),
        ]
    }

    /// Takes the pictures of README and guides again.
    pub fn take_pictures(&self) -> Result<()> {
        let tools = self.tools()?.as_ref().map_err(|why| anyhow::anyhow!("{why}"))?;
        let server = RunningServer::start(&tools.minwise, "pictures", None)?;
        let mut command = Command::new(&tools.node);
        command.current_dir(root()).arg("tests/browser/pictures.mjs").env("MINWISE_URL", &server.url);
        run::check(command.env("MINWISE", &tools.minwise).env("CHROMIUM", &tools.browser))
    }

    fn run(&self, test: impl FnOnce(&BrowserTools) -> Result<RunnerReport>) -> Result<PartOutcome> {
        match self.tools()? {
            Ok(tools) => Ok(PartOutcome::Ran(test(tools)?)),
            Err(why) => Ok(PartOutcome::Skipped(why.clone())),
        }
    }

    /// Returns the tools, or the reason why they are missing.
    fn tools(&self) -> Result<&Result<BrowserTools, String>> {
        if let Some(tools) = self.0.get() {
            return Ok(tools);
        }
        let tools = BrowserTools::prepare()?;
        Ok(self.0.get_or_init(|| tools))
    }
}

impl BrowserTools {
    fn prepare() -> Result<Result<Self, String>> {
        let Node { node, npm } = match node()? {
            Ok(node) => node,
            Err(why) => return Ok(Err(why)),
        };
        let browser = match browser() {
            Ok(Some(browser)) => browser,
            Ok(None) => {
                return Ok(Err(
                    "no Chromium is named by `CHROMIUM`, and `chromium` is not in the path".to_owned()
                ));
            }
            Err(error) => return Ok(Err(format!("Chromium could not be installed: {error:#}"))),
        };
        let folder = root().join("tests/browser");
        install_packages(&npm, "tests/browser")?;
        Ok(Ok(Self { node, browser, minwise: build_minwise()?, tests: tests(&folder)? }))
    }

    /// Runs the test files whose names are wanted.
    fn run(&self, is_wanted: impl Fn(&str) -> bool, environment: &[(&str, &str)]) -> Result<RunnerReport> {
        let mut command = Command::new(&self.node);
        // Tests run one after the other, because some of them measure time.
        command.current_dir(root()).args(["--test", "--test-reporter=spec", "--test-concurrency=1"]);
        command.args(self.tests.iter().filter(|test| is_wanted(test)));
        command.env("MINWISE", &self.minwise).env("CHROMIUM", &self.browser);
        TestRunner::Node.run(command.envs(environment.iter().copied()))
    }

    /// Runs the tests of the page again, with the real server.
    fn against_server(&self) -> Result<RunnerReport> {
        let open = RunningServer::start(&self.minwise, "open", None)?;
        let guarded = RunningServer::start(&self.minwise, "guarded", Some(TOKEN))?;
        self.run(
            |test| test.contains("/page-"),
            &[("MINWISE_URL", &open.url), ("MINWISE_TOKEN_URL", &guarded.url), ("MINWISE_TOKEN", TOKEN)],
        )
    }
}

/// Paths of Node and of npm.
pub struct Node {
    pub node: PathBuf,
    pub npm: PathBuf,
}

/// Finds Node in the path, or returns the reason why there is none that is new enough.
pub fn node() -> Result<Result<Node, String>> {
    let missing = |what: &str| Ok(Err(format!("{what} is not in the path")));
    let Some(node) = find("node") else { return missing("`node`") };
    let Some(npm) = find("npm") else { return missing("`npm`") };
    let version = output(&node, &["--version"])?;
    if !is_new_enough(&version) {
        return Ok(Err(format!("`node` has version {}; 20.10 or later is needed", version.trim())));
    }
    Ok(Ok(Node { node, npm }))
}

/// Installs the packages of a folder, unless the packages of its lock file are installed.
pub fn install_packages(npm: &Path, folder: &str) -> Result<()> {
    if is_installed(&root().join(folder)) {
        return Ok(());
    }
    command(npm, &["ci", "--prefix", folder, "--no-audit", "--no-fund"])
}

/// Reports whether a version such as `v20.10.0` of Node is at least the version in `package.json`.
fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (20, 10),
        _ => false,
    }
}

/// Returns the path of a browser. If there is none, and the user is `root` on a Debian machine, installs Chromium.
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

/// Token of the server that requires one.
const TOKEN: &str = "a-token-of-the-browser-tests";

/// Process of `minwise serve` with an empty archive. The process ends when this value is dropped.
struct RunningServer {
    process: Child,
    url: String,
    archive: PathBuf,
}

impl RunningServer {
    fn start(minwise: &Path, name: &str, token: Option<&str>) -> Result<Self> {
        let archive = target().join(format!("browser-archive-{name}"));
        if archive.exists() {
            fs_err::remove_dir_all(&archive)?;
        }
        command(minwise, &["index", "create", &archive.to_string_lossy(), "--quiet"])?;
        // There is no rate limit, because the tests send more requests than people do.
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
        let server = Self { process, url: url.trim_end().to_owned(), archive };
        // The address is checked, because the tests would use the stand-in if it were empty.
        ensure!(server.url.starts_with("http"), "`minwise serve` ended before it told its address");
        Ok(server)
    }
}

/// Writes a file with a token, readable by its owner only.
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

impl Drop for RunningServer {
    fn drop(&mut self) {
        // `drop` cannot return errors, so they are ignored.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs_err::remove_dir_all(&self.archive);
    }
}

/// Returns the test files in order. They are listed here, because versions of `node --test` treat a folder differently.
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

/// Reports whether the installed packages are the packages of the lock file. If so, the copy of the lock file that npm
/// writes is newer.
fn is_installed(folder: &Path) -> bool {
    let changed = |name: &str| fs_err::metadata(folder.join(name)).and_then(|file| file.modified()).ok();
    let installed = changed("node_modules/.package-lock.json");
    installed.is_some() && installed >= changed("package-lock.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_are_compared_by_number() {
        assert!(is_new_enough("v20.10.0\n") && is_new_enough("v22.1.0") && is_new_enough("v100.0.0"));
        assert!(!is_new_enough("v20.9.0") && !is_new_enough("v18.19.0") && !is_new_enough("none"));
    }

    #[test]
    fn all_files_of_tests_are_found() {
        let tests = tests(&root().join("tests/browser")).unwrap();
        assert!(
            tests.iter().any(|test| test.contains("/page-"))
                && tests.iter().any(|test| test.contains("/report"))
        );
    }
}
