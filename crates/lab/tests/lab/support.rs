//! Provides a folder to work in, and runs of the command in this folder.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// Path of the command under test.
pub const LAB: &str = env!("CARGO_BIN_EXE_minwise-lab");

/// Temporary folder that is deleted when the test ends.
pub struct Desk(TempDir);

impl Desk {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and creates its folders.
    pub fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs_err::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the names of all files and folders.
    pub fn names(&self) -> Vec<String> {
        fn walk(root: &Path, folder: &Path, names: &mut Vec<String>) {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                names.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
                if path.is_dir() {
                    walk(root, &path, names);
                }
            }
        }
        let mut names = vec![];
        walk(self.0.path(), self.0.path(), &mut names);
        names.sort_unstable();
        names
    }

    /// Runs the command in this folder. The arguments are separated by white space.
    pub fn run(&self, arguments: &str) -> Run {
        let output = assert_cmd::Command::new(LAB)
            .current_dir(self.0.path())
            .env_remove("COLUMNS")
            .args(arguments.split_whitespace())
            .timeout(Duration::from_mins(10))
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).expect("messages are UTF-8");
        Run { code: output.status.code(), out: output.stdout, err }
    }
}

/// Exit code and output of a command.
pub struct Run {
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: String,
}

impl Run {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exit(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Returns standard output as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("text on standard output")
    }

    pub fn lines(&self) -> Vec<&str> {
        self.text().lines().collect()
    }
}

/// Formats the run for snapshots.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit {:?}", self.code.unwrap_or(-1))?;
        for (name, text) in [("stdout", &*String::from_utf8_lossy(&self.out)), ("stderr", &*self.err)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}\n{}", text.trim_end())?;
            }
        }
        Ok(())
    }
}
