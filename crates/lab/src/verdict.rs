//! The verdict of an experiment, computed from its checks and from nothing else.
//!
//! In this order:
//!
//! 1. What was measured is not what theory says, or does not run as it should: *deviates*. So does a printed value that is
//!    wrong without an erratum that says why.
//! 2. A printed value cannot be: *not reproducible*, because of that.
//! 3. A printed value is wrong, for a reason that is known: *corrected*, with the errata.
//! 4. All of it holds: *reproduced*; on other data than the source's (class B), *shape reproduced on other data*.
//!
//! Every experiment ends in one of them: one that checks nothing deviates too.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::check::{Check, CheckKind};
use crate::definition::{Class, Definition, Expectation};

/// What came of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum ExperimentVerdict {
    /// The source's numbers come out.
    Reproduced,
    /// They come out once they are corrected.
    Corrected {
        /// By these errata.
        errata: Vec<String>,
    },
    /// Other data show the same.
    ShapeReproduced,
    /// The source's numbers cannot come out.
    NotReproducible {
        /// Why not.
        because: Vec<String>,
        /// The errata that say so.
        errata: Vec<String>,
    },
    /// What was measured is not what it should be.
    Deviates {
        /// What does not hold.
        because: Vec<String>,
    },
}

impl ExperimentVerdict {
    /// The verdict on an experiment of this class with these checks.
    #[must_use]
    pub fn of(class: Class, checks: &[Check]) -> Self {
        let failed = |kind: CheckKind| checks.iter().filter(move |check| check.kind == kind && !check.holds);
        let sentence = |check: &Check| format!("{}: {}, not {}", check.claim, check.found, check.against);
        let wrong: Vec<String> = failed(CheckKind::Theory)
            .chain(failed(CheckKind::Shape))
            .chain(failed(CheckKind::Published).filter(|check| check.erratum.is_none()))
            .map(sentence)
            .collect();
        let impossible: Vec<String> = failed(CheckKind::Possible)
            .map(|check| {
                format!("{}: {} is printed, {} is possible", check.claim, check.found, check.against)
            })
            .collect();
        let errata = |kind: CheckKind| {
            let errata: BTreeSet<&String> = failed(kind).filter_map(|check| check.erratum.as_ref()).collect();
            errata.into_iter().cloned().collect::<Vec<String>>()
        };
        if checks.is_empty() {
            Self::Deviates { because: vec!["nothing was checked".to_owned()] }
        } else if !wrong.is_empty() {
            Self::Deviates { because: wrong }
        } else if !impossible.is_empty() {
            Self::NotReproducible { because: impossible, errata: errata(CheckKind::Possible) }
        } else if !errata(CheckKind::Published).is_empty() {
            Self::Corrected { errata: errata(CheckKind::Published) }
        } else if class == Class::B {
            Self::ShapeReproduced
        } else {
            Self::Reproduced
        }
    }

    /// Whether it is the one that the definition expects, errata and all.
    #[must_use]
    pub fn is_expected(&self, definition: &Definition) -> bool {
        match (self, definition.expect) {
            (Self::Reproduced, Expectation::Reproduced)
            | (Self::ShapeReproduced, Expectation::ShapeReproduced) => true,
            (Self::Corrected { errata }, Expectation::Corrected)
            | (Self::NotReproducible { errata, .. }, Expectation::NotReproducible) => {
                *errata == definition.errata
            }
            _ => false,
        }
    }

    /// Its reasons, if it has any.
    #[must_use]
    pub fn because(&self) -> &[String] {
        match self {
            Self::NotReproducible { because, .. } | Self::Deviates { because } => because,
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
        Check { kind, claim: "c".to_owned(), found: "f".to_owned(), against: "a".to_owned(), holds, erratum }
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
