//! The pages that the command writes and the one that the server has, in a real browser.

use std::cell::OnceCell;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::run::{self, command, find, is_root, output, root, target};
use crate::test::build_minwise;
use crate::test::part::{Part, PartOutcome, RunnerReport};
use crate::test::runner::TestRunner;

/// Names of a browser that Playwright can drive, where `CHROMIUM` does not say which.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The tests of `tests/browser`, and what they are run with, which is looked for once.
#[derive(Default)]
pub struct BrowserTests(OnceCell<Result<BrowserTools, String>>);

/// What the tests need.
struct BrowserTools {
    node: PathBuf,
    browser: PathBuf,
    minwise: PathBuf,
    /// The files of tests.
    tests: Vec<String>,
}

impl BrowserTests {
    /// Two parts: a server that is slow or wrong can be had only of a stand-in, and only the real one shows that the page fits it.
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

    /// Takes the pictures of README and guides anew.
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

    /// The tools, or why there are none.
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

    /// Runs the files of tests with such names.
    fn run(&self, is_wanted: impl Fn(&str) -> bool, environment: &[(&str, &str)]) -> Result<RunnerReport> {
        let mut command = Command::new(&self.node);
        // One after the other: some of them measure time.
        command.current_dir(root()).args(["--test", "--test-reporter=spec", "--test-concurrency=1"]);
        command.args(self.tests.iter().filter(|test| is_wanted(test)));
        command.env("MINWISE", &self.minwise).env("CHROMIUM", &self.browser);
        TestRunner::Node.run(command.envs(environment.iter().copied()))
    }

    /// The page once more, with the server that it is made for.
    fn against_server(&self) -> Result<RunnerReport> {
        let open = RunningServer::start(&self.minwise, "open", None)?;
        let guarded = RunningServer::start(&self.minwise, "guarded", Some(TOKEN))?;
        self.run(
            |test| test.contains("/page-"),
            &[("MINWISE_URL", &open.url), ("MINWISE_TOKEN_URL", &guarded.url), ("MINWISE_TOKEN", TOKEN)],
        )
    }
}

/// Node, and the program that installs its packages.
pub struct Node {
    pub node: PathBuf,
    pub npm: PathBuf,
}

/// Node in the path, or why there is none that is new enough.
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

/// Installs the packages of a folder, unless those of its lock file are installed.
pub fn install_packages(npm: &Path, folder: &str) -> Result<()> {
    if is_installed(&root().join(folder)) {
        return Ok(());
    }
    command(npm, &["ci", "--prefix", folder, "--no-audit", "--no-fund"])
}

/// Whether a version such as `v20.10.0` of Node is the one in `package.json` or a later one.
fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (20, 10),
        _ => false,
    }
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

/// The token of the server that wants one.
const TOKEN: &str = "a-token-of-the-browser-tests";

/// `minwise serve` with an archive that is empty, until it is dropped.
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
        let server = Self { process, url: url.trim_end().to_owned(), archive };
        // Without an address the tests would take the stand-in for it.
        ensure!(server.url.starts_with("http"), "`minwise serve` ended before it told its address");
        Ok(server)
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

impl Drop for RunningServer {
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
