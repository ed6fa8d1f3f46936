//! Complete runs, which the command, the Python package and other programs call.
//!
//! | run | result |
//! |---|---|
//! | [`DedupRun`] | the kept documents of a corpus, written unchanged, with a report |
//! | [`PairsRun`] | the near-duplicate pairs of a corpus |
//! | [`SketchRun`] | the sketches of a corpus, as a file |
//! | [`WeightsRun`] | the document frequencies of a corpus, as a file |
//! | [`EstimateRun`] | similarities estimated from files of sketches |
//! | [`AccuracyRun`] | the errors of sketches on the pairs of a corpus |
//!
//! Each run has options with public fields, `new`, which checks all options at once, and `execute`, which does the
//! work. A run that is refused writes nothing.

mod accuracy;
mod dedup;
mod estimate;
mod inputs;
mod known;
mod outputs;
mod pairs;
mod sketch;
mod stopwatch;
mod weights;

use std::fmt;
use std::path::{Path, PathBuf};

use minwise_corpus::{Output, Overwrite};

pub use accuracy::{AccuracyOptions, AccuracyOutcome, AccuracyRun};
pub use dedup::{DecisionColumns, DedupOptions, DedupOutcome, DedupRun, WorkOptions};
pub use estimate::{EstimateOptions, EstimateOutcome, EstimateRun};
pub use inputs::Inputs;
pub use outputs::Outputs;
pub use pairs::{CandidatesOutcome, PairsOptions, PairsOutcome, PairsRun};
pub use sketch::{SketchOptions, SketchOutcome, SketchRun};
pub use weights::{WeightsOptions, WeightsOutcome, WeightsRun};

use crate::error::{Error, ErrorKind, SettingProblem};

/// Destination of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file. A path is a folder if it ends with a separator, or if a folder exists there.
    Path(PathBuf),
}

impl From<&str> for Destination {
    /// Converts `-` to standard output, and any other text to a path.
    fn from(text: &str) -> Self {
        if text == "-" { Self::Stdout } else { Self::Path(text.into()) }
    }
}

impl From<&Path> for Destination {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("-"),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

impl Destination {
    /// Opens a file for lines.
    fn open(&self, overwrite: Overwrite) -> Result<Output, Error> {
        match self {
            Self::Stdout => Ok(Output::stdout()),
            Self::Path(path) => Ok(Output::create(path, overwrite)?),
        }
    }
}

/// Format in which pairs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PairFormat {
    /// The two ids and the similarity, separated by tabs.
    #[default]
    Tsv,
    /// One JSON object per line.
    Jsonl,
}

fn overwrite(allowed: bool) -> Overwrite {
    if allowed { Overwrite::Allow } else { Overwrite::Refuse }
}

/// Fails with all problems, if there are any.
fn refuse(problems: Vec<SettingProblem>) -> Result<(), Error> {
    if problems.is_empty() { Ok(()) } else { Err(ErrorKind::Settings(problems).into()) }
}
