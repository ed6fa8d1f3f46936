//! Provides a folder to work in, runs of the command in this folder, and documents.

use std::ffi::OsStr;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Path of the command under test.
pub const MINWISE: &str = env!("CARGO_BIN_EXE_minwise");

/// Temporary folder that is deleted when the test ends.
pub struct Desk(TempDir);

impl Desk {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns a desk with one file.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let desk = Self::new();
        desk.write(name, content);
        desk
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and creates its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
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

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// Returns the ids of the records of a JSONL file, in order.
    pub fn ids(&self, name: &str) -> Vec<String> {
        ids(&self.text(name))
    }

    /// Returns the names of all files and folders, including hidden ones.
    pub fn names(&self) -> Vec<String> {
        fn walk(folder: &Path, prefix: &str, names: &mut Vec<String>) {
            for entry in fs_err::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if entry.file_type().unwrap().is_dir() {
                    walk(&entry.path(), &format!("{name}/"), names);
                }
                names.push(name);
            }
        }
        let mut names = vec![];
        walk(self.root(), "", &mut names);
        names.sort_unstable();
        names
    }

    /// Runs the command in this folder. The arguments are separated by white space.
    pub fn run(&self, arguments: &str) -> Run {
        self.run_with(&arguments.split_whitespace().collect::<Vec<_>>(), b"")
    }

    /// Runs the command in this folder, with this standard input.
    pub fn run_with(&self, arguments: &[impl AsRef<OsStr>], stdin: &[u8]) -> Run {
        let output = assert_cmd::Command::new(MINWISE)
            .current_dir(self.root())
            .env_remove("COLUMNS")
            .args(arguments)
            .write_stdin(stdin)
            .timeout(Duration::from_mins(1))
            .output()
            .unwrap();
        Run {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
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

    /// Returns the value of a line of the summary.
    #[track_caller]
    pub fn summary(&self, name: &str) -> &str {
        let line =
            self.err.lines().find_map(|line| line.strip_prefix(name).filter(|rest| rest.starts_with(' ')));
        line.unwrap_or_else(|| panic!("no line `{name}` in\n{}", self.err)).trim_start()
    }
}

impl Run {
    /// Returns the number with which a line of the summary begins.
    #[track_caller]
    pub fn count(&self, name: &str) -> u64 {
        let first = self.summary(name).split(' ').next().unwrap().replace(',', "");
        first.parse().unwrap_or_else(|_| panic!("`{first}` of `{name}` is not a number in\n{}", self.err))
    }
}

/// Formats the run for snapshots, without the parts that differ from run to run.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit {code}")?,
            None => writeln!(f, "ended by a signal")?,
        }
        let out = String::from_utf8_lossy(&self.out);
        for (name, text) in [("stdout", &*out), ("stderr", &*self.err)] {
            if text.is_empty() {
                continue;
            }
            writeln!(f, "--- {name}")?;
            for line in text.lines() {
                match ["time        ", "stages      "].iter().find(|name| line.starts_with(**name)) {
                    Some(name) => writeln!(f, "{name}[time]")?,
                    None => writeln!(f, "{}", line.trim_end())?,
                }
            }
        }
        Ok(())
    }
}

/// Returns the ids of records, in order.
pub fn ids(jsonl: &str) -> Vec<String> {
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
    jsonl.trim_start_matches('\u{feff}').lines().map(id).collect()
}

/// Returns a record with an id and a text, as a line.
pub fn record(id: &str, text: &str) -> String {
    format!("{}\n", serde_json::json!({ "id": id, "text": text }))
}

/// Returns records with ids and texts, as lines.
pub fn records(documents: &[(&str, &str)]) -> String {
    documents.iter().map(|(id, text)| record(id, text)).collect()
}

/// Returns distinct words. The words of two seeds differ, too.
pub fn words(seed: u64, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("w{seed}x{i}")).collect()
}

/// Returns a text of `count` words. It shares no word with the text of another seed.
pub fn prose(seed: u64, count: usize) -> String {
    words(seed, count).join(" ")
}

/// Replaces the word at index `at` of the text. A word in the middle is in five shingles of five words.
pub fn with_word(text: &str, at: usize, word: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    words[at] = word;
    words.join(" ")
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![];
    std::io::copy(&mut flate2::read::GzDecoder::new(bytes), &mut out).unwrap();
    out
}

pub fn unzstd(bytes: &[u8]) -> Vec<u8> {
    zstd::decode_all(bytes).unwrap()
}
