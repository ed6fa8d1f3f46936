//! Checks of experiments: statements about numbers that hold or do not. The verdict of an experiment follows from them.
//!
//! A simulated value may deviate by [`STANDARD_ERRORS`] of its own standard errors, a printed value by half a unit of
//! its last digit. A counted value may not deviate. If a source says "high", "low" or "about" without a number, we
//! choose a number, and the check states it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Number of standard errors by which a simulated value may deviate from its expected value. A normal value deviates by
/// more in 1 of 1.7 million cases, and a full run has some thousand values.
pub const STANDARD_ERRORS: f64 = 5.0;

/// Subject of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// The measured value equals the value of theory.
    Theory,
    /// The measured values have the shape that the source describes: which is larger, which grows.
    Shape,
    /// A printed number or statement of the source is correct.
    Published,
    /// A printed number of the source contradicts no theorem, so it can have been measured.
    Possible,
    /// A statement of the source about times holds on this machine, in this run.
    Clock,
    /// A stand-in for unavailable data has the properties that it was made to have. This is no evidence for the source.
    StandIn,
}

/// Statement, and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Subject of the check.
    pub kind: CheckKind,
    /// Statement in words.
    pub claim: String,
    /// Value that was found.
    pub found: String,
    /// Value or range with which `found` was compared.
    pub against: String,
    /// Whether the statement holds.
    pub holds: bool,
    /// Erratum that explains why a published statement does not hold.
    pub erratum: Option<String>,
    /// Reason why a statement of the source does not hold here, if no erratum shows that it is wrong.
    #[serde(default)]
    pub reason: Option<String>,
}

impl Check {
    fn new(
        kind: CheckKind,
        claim: &str,
        found: impl fmt::Display,
        against: impl fmt::Display,
        holds: bool,
    ) -> Self {
        let (found, against) = (found.to_string(), against.to_string());
        Self { kind, claim: claim.to_owned(), found, against, holds, erratum: None, reason: None }
    }

    /// Returns a check that a simulated value equals the value of theory within its standard error.
    #[must_use]
    pub fn simulated(claim: &str, found: f64, expected: f64, standard_error: f64) -> Self {
        let mut deviations = Deviations::default();
        deviations.add(found, expected, standard_error);
        Self {
            found: significant(found),
            against: format!("{} ± {}", significant(expected), significant(STANDARD_ERRORS * standard_error)),
            ..deviations.check(claim)
        }
    }

    /// Returns a check that a computed value equals the known value to all digits that are given.
    #[must_use]
    pub fn known(claim: &str, found: f64, expected: &Printed) -> Self {
        Self::new(CheckKind::Theory, claim, significant(found), expected, expected.agrees(found))
    }

    /// Returns a check that two counted or computed values are equal, without tolerance.
    #[must_use]
    pub fn exact<T: fmt::Display + PartialEq>(claim: &str, found: &T, expected: &T) -> Self {
        Self::new(CheckKind::Theory, claim, found, expected, found == expected)
    }

    /// Returns a check that a measured value obeys a law.
    #[must_use]
    pub fn law(claim: &str, found: impl fmt::Display, law: impl fmt::Display, holds: bool) -> Self {
        Self::new(CheckKind::Theory, claim, found, law, holds)
    }

    /// Returns a check that our result has the shape that the source sees in its figure.
    #[must_use]
    pub fn shape(claim: &str, found: impl fmt::Display, wanted: impl fmt::Display, holds: bool) -> Self {
        Self::new(CheckKind::Shape, claim, found, wanted, holds)
    }

    /// Returns a check that a printed number is correct.
    #[must_use]
    pub fn published(claim: &str, found: f64, printed: &Printed) -> Self {
        Self::new(CheckKind::Published, claim, significant(found), printed, printed.agrees(found))
    }

    /// Returns a check that a printed statement is correct.
    #[must_use]
    pub fn stated(claim: &str, found: impl fmt::Display, stated: impl fmt::Display, holds: bool) -> Self {
        Self::new(CheckKind::Published, claim, found, stated, holds)
    }

    /// Returns a check that a printed number lies within the possible range.
    #[must_use]
    pub fn possible(claim: &str, printed: impl fmt::Display, bound: impl fmt::Display, holds: bool) -> Self {
        Self::new(CheckKind::Possible, claim, printed, bound, holds)
    }

    /// Returns a check that a statement of the source about times holds on this machine.
    #[must_use]
    pub fn clock(claim: &str, found: impl fmt::Display, stated: impl fmt::Display, holds: bool) -> Self {
        Self::new(CheckKind::Clock, claim, found, stated, holds)
    }

    /// Returns a check that a stand-in has the property that it was made to have.
    #[must_use]
    pub fn stand_in(claim: &str, found: impl fmt::Display, wanted: impl fmt::Display, holds: bool) -> Self {
        Self::new(CheckKind::StandIn, claim, found, wanted, holds)
    }

    /// Adds the reason that is reported if the check does not hold: other data, another machine, another program, or a
    /// law that the statement leaves out.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Self {
        self.reason = Some(reason.to_owned());
        self
    }

    /// Adds the erratum that explains why the check does not hold.
    #[must_use]
    pub fn erratum(mut self, erratum: &str) -> Self {
        self.erratum = Some(erratum.to_owned());
        self
    }
}

/// Deviations of many simulated values from theory. The largest deviation decides the check.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deviations {
    points: usize,
    worst: f64,
}

impl Deviations {
    /// Adds a simulated value.
    pub fn add(&mut self, found: f64, expected: f64, standard_error: f64) {
        let difference = (found - expected).abs();
        // A standard error of 0 leaves no room for chance, so the two values must be equal up to the rounding of sums.
        let deviation = if standard_error > 0.0 {
            difference / standard_error
        } else if difference <= expected.abs() * 1e3 * f64::EPSILON {
            0.0
        } else {
            f64::INFINITY
        };
        self.points += 1;
        // A value that is not a number counts as an infinite deviation.
        self.worst = if deviation >= 0.0 { self.worst.max(deviation) } else { f64::INFINITY };
    }

    /// Returns a check that no value deviates by more than [`STANDARD_ERRORS`].
    #[must_use]
    pub fn check(&self, claim: &str) -> Check {
        let found = format!("at most {:.2} standard errors apart at {} points", self.worst, self.points);
        let holds = self.points > 0 && self.worst <= STANDARD_ERRORS;
        Check::new(CheckKind::Theory, claim, found, format!("at most {STANDARD_ERRORS}"), holds)
    }
}

/// Number as it is printed, with its number of digits.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Printed {
    text: String,
    /// Numeric value.
    pub value: f64,
    half_unit: f64,
}

impl Printed {
    /// Reports whether `found`, rounded to the digits of this number, equals it.
    ///
    /// A value exactly between two roundings agrees with both.
    #[must_use]
    pub fn agrees(&self, found: f64) -> bool {
        (found - self.value).abs() <= self.half_unit + self.value.abs() * 4.0 * f64::EPSILON
    }
}

impl TryFrom<String> for Printed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let decimals: i32 =
            mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.chars().map(|_| 1).sum());
        let exponent: i32 = exponent.parse().map_err(|_| format!("`{text}` has no whole exponent"))?;
        Ok(Self { half_unit: 0.5 * 10_f64.powi(exponent - decimals), value, text })
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Formats a number with five significant digits, without an exponent if it is short.
#[must_use]
pub fn significant(value: f64) -> String {
    let digits = |value: f64, decimals: usize| {
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    if value == 0.0 || !value.is_finite() {
        return format!("{value}").replace("-0", "0");
    }
    let exponent = value.abs().log10().floor() as i32;
    if (-4..=8).contains(&exponent) {
        digits(value, (4 - exponent).max(0) as usize)
    } else {
        let text = format!("{value:.4e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Printed {
        Printed::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn printed_numbers_agree_up_to_their_last_digit() {
        assert!(printed("0.544").agrees(0.5444) && !printed("0.544").agrees(0.5446));
        assert!(printed("6.48E-53").agrees(6.479e-53) && !printed("6.48E-53").agrees(6.49e-53));
        assert!(printed("61").agrees(61.0) && !printed("61").agrees(60.0));
        assert!(!printed("1").agrees(f64::NAN));
        assert!(Printed::try_from("1.2.3".to_owned()).is_err() && Printed::try_from(String::new()).is_err());
    }

    #[test]
    fn simulations_may_deviate_by_their_standard_errors() {
        assert!(Check::simulated("", 1.49, 1.0, 0.1).holds);
        assert!(!Check::simulated("", 1.51, 1.0, 0.1).holds);
        assert!(!Check::simulated("", f64::NAN, 1.0, 0.1).holds);
        assert!(
            Check::simulated("", 0.3, 0.1 + 0.2, 0.0).holds && !Check::simulated("", 0.3, 0.2, 0.0).holds
        );
    }

    #[test]
    fn the_worst_point_stands_for_all_and_none_is_no_proof() {
        let mut deviations = Deviations::default();
        assert!(!deviations.check("").holds);
        deviations.add(1.0, 1.0, 1.0);
        assert!(deviations.check("").holds);
        deviations.add(7.0, 1.0, 1.0);
        deviations.add(1.0, 1.0, 1.0);
        assert!(!deviations.check("").holds);
    }

    #[test]
    fn numbers_have_five_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.123_456, "0.12346"),
            (12_345.678, "12346"),
            (500_500.0, "500500"),
            (1.5e-61, "1.5e-61"),
            (-0.000_25, "-0.00025"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
