//! Runs other engines, each in a separate process: `lab/peers.py` runs an engine in the Python that `--peers` names.
//!
//! The results are shown beside ours and do not affect a verdict, because they depend on the versions of the engines.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, bail};
use minwise::candidate::Banding;
use minwise::verify::ShingleSet;

const SCRIPT: &str = include_str!("../../../peers.py");
/// Engines that the script can run.
const ENGINES: [&str; 3] = ["datasketch", "gaoya", "rensa"];

/// Engines of a Python interpreter.
#[derive(Debug)]
pub(super) struct Peers {
    python: PathBuf,
    engines: Vec<Peer>,
}

/// Engine that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Peer {
    pub name: String,
    pub version: String,
}

impl Peers {
    /// Returns the engines that this Python has.
    pub(super) fn of(python: &Path) -> Result<Self> {
        let mut peers = Self { python: python.to_owned(), engines: vec![] };
        let printed = peers.run(&["versions"])?;
        for line in printed.lines() {
            let (name, version) = two(line)?;
            peers.engines.push(Peer { name: name.to_owned(), version: version.to_owned() });
        }
        Ok(peers)
    }

    pub(super) fn engines(&self) -> &[Peer] {
        &self.engines
    }

    /// Returns the names of the engines that this Python does not have.
    pub(super) fn missing(&self) -> impl Iterator<Item = &'static str> {
        ENGINES.into_iter().filter(|name| !self.engines.iter().any(|peer| peer.name == *name))
    }

    /// Returns the pairs that an engine reports as near-duplicates, the earlier document first. `sets` is a file that
    /// [`write`] wrote.
    pub(super) fn pairs(
        &self,
        peer: &Peer,
        sets: &Path,
        threshold: f64,
        banding: Banding,
    ) -> Result<Vec<(u32, u32)>> {
        let sets = sets.to_str().context("a temporary folder has a name in Unicode")?;
        let numbers = [threshold.to_string(), banding.bands().to_string(), banding.rows().to_string()];
        let printed = self.run(&[&peer.name, sets, &numbers[0], &numbers[1], &numbers[2]])?;
        let pair = |line: &str| {
            let (first, second) = two(line)?;
            Ok((first.parse()?, second.parse()?))
        };
        printed.lines().map(pair).collect()
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        let Output { status, stdout, stderr } = Command::new(&self.python)
            .args(["-c", SCRIPT])
            .args(arguments)
            .output()
            .with_context(|| format!("`{}` could not be started", self.python.display()))?;
        if !status.success() {
            let said = String::from_utf8_lossy(&stderr);
            let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
            bail!("`{}` ended with {status}: {}", self.python.display(), last.trim());
        }
        String::from_utf8(stdout).context("what a peer prints is no UTF-8")
    }
}

/// Splits a line into two words.
fn two(line: &str) -> Result<(&str, &str)> {
    line.split_once(' ').with_context(|| format!("`{line}` is not what a peer should print"))
}

/// Writes shingle sets in the format of `peers.py`: one line per document.
pub(super) fn write(sets: &[ShingleSet], path: &Path) -> Result<()> {
    let mut file = BufWriter::new(fs_err::File::create(path)?);
    for set in sets {
        for shingle in set.as_slice() {
            write!(file, "{shingle} ")?;
        }
        writeln!(file)?;
    }
    Ok(file.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_lines_of_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sets");
        let sets: Vec<ShingleSet> =
            vec![[3, 1, u64::MAX].into_iter().collect(), std::iter::empty().collect()];
        write(&sets, &path).unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "1 3 18446744073709551615 \n\n");
    }

    #[test]
    fn the_script_knows_the_engines() {
        for engine in ENGINES {
            assert!(SCRIPT.contains(&format!("\ndef {engine}(documents, threshold, bands, rows):\n")));
        }
    }

    #[test]
    fn a_python_that_is_not_there_is_told() {
        let error = Peers::of(Path::new("no-such-python")).unwrap_err();
        assert_eq!(error.to_string(), "`no-such-python` could not be started");
    }
}
