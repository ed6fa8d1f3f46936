//! Defines experiments: what each varies and holds fixed, the published values, and the expected verdict.
//!
//! A definition is a file in `crates/lab/definitions`, one per experiment, and is embedded into the program. It holds
//! numbers and words but no code. The runner of the same name turns settings into measurements, and measurements into
//! [checks](crate::check::Check). The verdict follows from the checks.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Degree to which an experiment can be repeated: the classes of docs/sources/experiments.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Class {
    /// The result follows from theory.
    A,
    /// The shape of the result can be seen on other data.
    B,
    /// The experiment needs data that are unavailable, or the source's machine.
    C,
    /// The source contradicts itself.
    X,
}

impl Class {
    /// Returns the letter of the class.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
            Self::C => 'C',
            Self::X => 'X',
        }
    }
}

/// Verdict that a definition expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// The numbers of the source are reproduced.
    Reproduced,
    /// The numbers of the source are reproduced once they are corrected.
    Corrected,
    /// Other data show the same shape.
    ShapeReproduced,
    /// A statement of the source does not hold here, for a known reason.
    NotReproduced,
    /// The numbers of the source are impossible.
    NotReproducible,
}

/// Duration on two cores, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seconds {
    /// Duration with fewer trials.
    pub quick: u32,
    /// Duration with all trials.
    pub full: u32,
}

/// Definition of one experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Subject of the experiment, in one line.
    pub title: String,
    /// Place in the source, such as a figure or section.
    pub place: String,
    /// Figures and tables of the source that the experiment repeats, such as `figure 1`.
    #[serde(default)]
    pub shows: Vec<String>,
    /// Degree to which the experiment can be repeated.
    pub class: Class,
    /// Duration of the experiment.
    pub seconds: Seconds,
    /// Files or folders of `--data` that the experiment needs. Without them, it is skipped.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Whether the experiment measures times, so that its output differs from run to run.
    #[serde(default)]
    pub timing: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Expected verdict.
    pub expect: Expectation,
    /// Errata that correct the source, or that explain why its numbers are impossible.
    #[serde(default)]
    pub errata: Vec<String>,
    /// Text about the method, the result and its interpretation.
    pub about: String,
    /// Parameters that are varied and parameters that are fixed.
    #[serde(default)]
    pub settings: toml::Table,
    /// Settings that replace others in a quick run.
    #[serde(default)]
    pub quick: toml::Table,
    /// Values of the source, as printed.
    #[serde(default)]
    pub published: toml::Table,
    /// Values of theory.
    #[serde(default)]
    pub expected: toml::Table,
}

impl Definition {
    /// Parses a definition.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// Returns the settings of a run.
    #[must_use]
    pub fn settings(&self, quick: bool) -> toml::Table {
        let mut settings = self.settings.clone();
        if quick {
            settings.extend(self.quick.clone());
        }
        settings
    }
}

/// Converts a table of a definition to the type of its runner.
pub(crate) fn typed<T: DeserializeOwned>(table: toml::Table, what: &str) -> Result<T> {
    T::deserialize(table).with_context(|| format!("the {what} of the definition"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        title = "t"
        place = "figure 1"
        class = "A"
        seconds = { quick = 1, full = 2 }
        seed = 7
        expect = "corrected"
        errata = ["E-01"]
        about = "a"
        [settings]
        trials = 100
        registers = 8
        [quick]
        trials = 10
    "#;

    #[test]
    fn quick_settings_replace_the_others() {
        let definition = Definition::parse(TEXT).unwrap();
        assert_eq!(definition.settings(false)["trials"].as_integer(), Some(100));
        assert_eq!(definition.settings(true)["trials"].as_integer(), Some(10));
        assert_eq!(definition.settings(true)["registers"].as_integer(), Some(8));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(Definition::parse(&TEXT.replace("place", "plaec")).is_err());
        assert!(Definition::parse(&TEXT.replace("\"A\"", "\"D\"")).is_err());
    }
}
