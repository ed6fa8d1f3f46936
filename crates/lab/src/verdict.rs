//! Computes the verdict of an experiment from its checks and from nothing else.
//!
//! The first of these conditions that holds decides:
//!
//! 1. A measured value differs from theory or lacks the shape of the source, and no reason is known: *deviates*. A
//!    printed value that is wrong also deviates, unless an erratum explains it.
//! 2. A printed value is impossible: *not reproducible*, for this reason. Statements that do not hold are listed, too.
//! 3. A statement of the source does not hold here: *not reproduced*, with the reasons, and with the errata if there are
//!    any. Data, machine or program may differ, or the statement may be false of any data.
//! 4. A printed value is wrong for a known reason: *corrected*, with the errata.
//! 5. All checks hold: *reproduced*; on other data than the source's (class B), *shape reproduced on other data*.
//!
//! An experiment without checks deviates, too, and so does an experiment whose stand-in for data lacks its intended
//! properties. A correct stand-in decides nothing. Statements about times are checked with the clock of the run. They
//! are part of the verdict, but not of the expected verdict of a definition, because they may fail on another machine.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::check::{Check, CheckKind};
use crate::definition::{Class, Definition, Expectation};

/// Verdict of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum ExperimentVerdict {
    /// The numbers of the source are reproduced.
    Reproduced,
    /// The numbers of the source are reproduced once they are corrected.
    Corrected {
        /// Errata with the corrections.
        errata: Vec<String>,
    },
    /// Other data show the same shape.
    ShapeReproduced,
    /// A statement of the source does not hold here.
    NotReproduced {
        /// Statements of the source that do not hold, with the reasons.
        because: Vec<String>,
        /// Errata that correct wrong values of the source, apart from the statements in `because`.
        errata: Vec<String>,
    },
    /// The numbers of the source are impossible.
    NotReproducible {
        /// Reasons why the numbers are impossible, and then statements of the source that do not hold.
        because: Vec<String>,
        /// Errata that explain the impossible numbers.
        errata: Vec<String>,
    },
    /// A measured value is not the expected one.
    Deviates {
        /// Checks that do not hold.
        because: Vec<String>,
    },
}

impl ExperimentVerdict {
    /// Returns the verdict on an experiment of this class with these checks.
    #[must_use]
    pub fn of(class: Class, checks: &[Check]) -> Self {
        let failed = |kind: CheckKind| checks.iter().filter(move |check| check.kind == kind && !check.holds);
        let sentence = |check: &Check| {
            let reason = check.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
            format!("{}: {}, not {}{reason}", check.claim, check.found, check.against)
        };
        let sentences = || failed(CheckKind::Shape).chain(failed(CheckKind::Published));
        let wrong: Vec<String> = failed(CheckKind::Theory)
            .chain(failed(CheckKind::StandIn))
            .chain(sentences().filter(|check| check.erratum.is_none() && check.reason.is_none()))
            .map(sentence)
            .collect();
        let otherwise: Vec<String> = sentences()
            .chain(failed(CheckKind::Clock))
            .filter(|check| check.erratum.is_none())
            .map(sentence)
            .collect();
        let impossible: Vec<String> = failed(CheckKind::Possible)
            .map(|check| {
                format!("{}: {} is printed, {} is possible", check.claim, check.found, check.against)
            })
            .collect();
        let errata = |kinds: &[CheckKind]| {
            let errata: BTreeSet<&String> = kinds
                .iter()
                .flat_map(|&kind| failed(kind))
                .filter_map(|check| check.erratum.as_ref())
                .collect();
            errata.into_iter().cloned().collect::<Vec<String>>()
        };
        let corrected = errata(&[CheckKind::Published, CheckKind::Clock]);
        if checks.is_empty() {
            Self::Deviates { because: vec!["nothing was checked".to_owned()] }
        } else if !wrong.is_empty() {
            Self::Deviates { because: wrong }
        } else if !impossible.is_empty() {
            // Without the other statements, their failure would be hidden by the impossible values.
            let because = impossible.into_iter().chain(otherwise).collect();
            Self::NotReproducible { because, errata: errata(&[CheckKind::Possible]) }
        } else if !otherwise.is_empty() {
            Self::NotReproduced { because: otherwise, errata: corrected }
        } else if !corrected.is_empty() {
            Self::Corrected { errata: corrected }
        } else if class == Class::B {
            Self::ShapeReproduced
        } else {
            Self::Reproduced
        }
    }

    /// Reports whether these checks give the expected verdict of the definition, including its errata. Checks of times
    /// do not count, because they may fail on another machine.
    #[must_use]
    pub fn is_expected(checks: &[Check], definition: &Definition) -> bool {
        let timeless: Vec<Check> =
            checks.iter().filter(|check| check.kind != CheckKind::Clock).cloned().collect();
        Self::of(definition.class, &timeless).is_the_one_of(definition)
    }

    fn is_the_one_of(&self, definition: &Definition) -> bool {
        match (self, definition.expect) {
            (Self::Reproduced, Expectation::Reproduced)
            | (Self::ShapeReproduced, Expectation::ShapeReproduced) => true,
            (Self::Corrected { errata }, Expectation::Corrected)
            | (Self::NotReproduced { errata, .. }, Expectation::NotReproduced)
            | (Self::NotReproducible { errata, .. }, Expectation::NotReproducible) => {
                *errata == definition.errata
            }
            _ => false,
        }
    }

    /// Returns the reasons of the verdict, if it has any.
    #[must_use]
    pub fn because(&self) -> &[String] {
        match self {
            Self::NotReproducible { because, .. }
            | Self::NotReproduced { because, .. }
            | Self::Deviates { because } => because,
            Self::Reproduced | Self::Corrected { .. } | Self::ShapeReproduced => &[],
        }
    }
}

impl fmt::Display for ExperimentVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reproduced => f.write_str("reproduced"),
            Self::Corrected { errata } => write!(f, "corrected ({})", errata.join(", ")),
            Self::ShapeReproduced => f.write_str("shape reproduced on other data"),
            Self::NotReproduced { errata, .. } if errata.is_empty() => f.write_str("not reproduced"),
            Self::NotReproduced { errata, .. } => {
                write!(f, "not reproduced; corrected ({})", errata.join(", "))
            }
            Self::NotReproducible { errata, .. } => write!(f, "not reproducible ({})", errata.join(", ")),
            Self::Deviates { .. } => f.write_str("deviates"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: CheckKind, holds: bool, erratum: Option<&str>) -> Check {
        let erratum = erratum.map(str::to_owned);
        Check {
            kind,
            claim: "c".to_owned(),
            found: "f".to_owned(),
            against: "a".to_owned(),
            holds,
            erratum,
            reason: None,
        }
    }

    #[test]
    fn nothing_wrong_is_reproduced() {
        let checks = [check(CheckKind::Theory, true, None), check(CheckKind::Published, true, Some("E-01"))];
        assert_eq!(ExperimentVerdict::of(Class::A, &checks), ExperimentVerdict::Reproduced);
        assert_eq!(ExperimentVerdict::of(Class::B, &checks), ExperimentVerdict::ShapeReproduced);
    }

    #[test]
    fn nothing_checked_is_nothing_shown() {
        for class in [Class::A, Class::B, Class::C, Class::X] {
            assert!(matches!(ExperimentVerdict::of(class, &[]), ExperimentVerdict::Deviates { .. }));
        }
    }

    #[test]
    fn wrong_print_is_corrected_once_for_each_erratum() {
        let checks = [
            check(CheckKind::Published, false, Some("E-17")),
            check(CheckKind::Published, false, Some("E-16")),
            check(CheckKind::Published, false, Some("E-16")),
        ];
        let errata = vec!["E-16".to_owned(), "E-17".to_owned()];
        assert_eq!(ExperimentVerdict::of(Class::A, &checks), ExperimentVerdict::Corrected { errata });
    }

    #[test]
    fn a_sentence_that_does_not_hold_for_a_known_reason_is_not_reproduced() {
        let mut checks =
            vec![check(CheckKind::Theory, true, None), check(CheckKind::Published, false, Some("E-16"))];
        checks.push(check(CheckKind::Shape, false, None).because("r"));
        let not_reproduced = ExperimentVerdict::NotReproduced {
            because: vec!["c: f, not a (r)".to_owned()],
            errata: vec!["E-16".to_owned()],
        };
        assert_eq!(ExperimentVerdict::of(Class::B, &checks), not_reproduced);
        assert_eq!(not_reproduced.to_string(), "not reproduced; corrected (E-16)");
        // A reason does not excuse a deviation from theory.
        checks.push(check(CheckKind::Theory, false, None).because("r"));
        assert!(matches!(ExperimentVerdict::of(Class::B, &checks), ExperimentVerdict::Deviates { .. }));
    }

    #[test]
    fn the_clock_is_part_of_the_verdict_and_not_of_what_is_expected() {
        let text = "title = 't'\nplace = 'p'\nclass = 'B'\nseconds = { quick = 1, full = 1 }\nseed = 1\n\
                    expect = 'shape-reproduced'\nabout = 'a'";
        let definition = Definition::parse(text).unwrap();
        for holds in [true, false] {
            let checks = [check(CheckKind::Shape, true, None), check(CheckKind::Clock, holds, None)];
            let verdict = ExperimentVerdict::of(Class::B, &checks);
            assert_eq!(verdict == ExperimentVerdict::ShapeReproduced, holds, "{verdict}");
            assert!(ExperimentVerdict::is_expected(&checks, &definition));
        }
        let checks = [check(CheckKind::Shape, false, None), check(CheckKind::Clock, true, None)];
        assert!(!ExperimentVerdict::is_expected(&checks, &definition));
    }

    #[test]
    fn the_impossible_comes_before_the_wrong_and_our_own_errors_before_all() {
        let mut checks = vec![
            check(CheckKind::Published, false, Some("E-16")),
            check(CheckKind::Possible, false, Some("E-06")),
        ];
        let because = vec!["c: f is printed, a is possible".to_owned()];
        let errata = vec!["E-06".to_owned()];
        assert_eq!(
            ExperimentVerdict::of(Class::X, &checks),
            ExperimentVerdict::NotReproducible { because, errata }
        );
        checks.push(check(CheckKind::Shape, false, None).because("r"));
        let verdict = ExperimentVerdict::of(Class::X, &checks);
        assert_eq!(verdict.because(), ["c: f is printed, a is possible", "c: f, not a (r)"]);
        for kind in [CheckKind::Theory, CheckKind::Shape, CheckKind::Published] {
            checks.push(check(kind, false, None));
            assert_eq!(
                ExperimentVerdict::of(Class::X, &checks),
                ExperimentVerdict::Deviates { because: vec!["c: f, not a".to_owned()] }
            );
            checks.pop();
        }
    }
}
