//! What an experiment varies, what it holds fixed, what was published of it and what is expected.
//!
//! A definition is a file below `crates/lab/definitions`, one an experiment, and is embedded into the program. It holds numbers and
//! words but no code; the runner of the same name turns settings into measurements and measurements into
//! [checks](crate::check::Check), and the verdict follows from those.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// How far an experiment can be repeated: the classes of docs/sources/experiments.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Class {
    /// It follows from theory.
    A,
    /// Its shape can be seen on other data.
    B,
    /// It needs data that nobody has, or the very machine.
    C,
    /// It contradicts itself.
    X,
}

impl Class {
    /// Its letter.
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

/// The verdict that a definition expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// Its numbers come out.
    Reproduced,
    /// They come out once they are corrected.
    Corrected,
    /// Other data show the same.
    ShapeReproduced,
    /// A sentence of the source does not hold here, for a reason that is known.
    NotReproduced,
    /// Its numbers cannot come out.
    NotReproducible,
}

/// How long it takes on two cores, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seconds {
    /// With fewer trials.
    pub quick: u32,
    /// As it is meant.
    pub full: u32,
}

/// One experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// What is looked at, in a line.
    pub title: String,
    /// Where it stands in its source.
    pub place: String,
    /// The figures and tables of the source that it repeats, such as `figure 1`.
    #[serde(default)]
    pub shows: Vec<String>,
    /// How far it can be repeated.
    pub class: Class,
    /// How long it takes.
    pub seconds: Seconds,
    /// Files or folders of `--data` without which it is skipped.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Whether something in it is timed, so that its output differs from run to run.
    #[serde(default)]
    pub timing: bool,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The verdict that is expected.
    pub expect: Expectation,
    /// The errata that a correction rests on, or that say why nothing can come out.
    #[serde(default)]
    pub errata: Vec<String>,
    /// What was done, what was found, and how to read it.
    pub about: String,
    /// What is varied and what is fixed.
    #[serde(default)]
    pub settings: toml::Table,
    /// What is different in a quick run.
    #[serde(default)]
    pub quick: toml::Table,
    /// Values of the source, as it prints them.
    #[serde(default)]
    pub published: toml::Table,
    /// Values that theory gives.
    #[serde(default)]
    pub expected: toml::Table,
}

impl Definition {
    /// Reads a definition.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// The settings of a run.
    #[must_use]
    pub fn settings(&self, quick: bool) -> toml::Table {
        let mut settings = self.settings.clone();
        if quick {
            settings.extend(self.quick.clone());
        }
        settings
    }
}

/// A table of a definition as the type that a runner has for it.
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
