//! Filters as text: one machine makes a filter, and many machines use it.
//!
//! The thresholds of a filter come from powers and logarithms, which two mathematical libraries may round differently.
//! If many machines screen the pairs of one corpus, one machine makes the filter and sends its looks, and the other
//! machines rebuild the filter from these integers. Rebuilding computes nothing, so every machine decides alike.

use std::fmt;
use std::str::FromStr;

use super::{Filter, Look, MOST_REGISTERS};
use crate::error::Error;

impl Filter {
    /// Rebuilds a filter from the values that [`registers`](Self::registers), [`needed`](Self::needed),
    /// [`looks`](Self::looks) and [`error_per_look`](Self::error_per_look) return.
    ///
    /// Looks must be in ascending order, and the last one at `registers` or before. Each look must have a threshold. A
    /// threshold is at most the number of compared registers, and `lower` is less than `upper`.
    ///
    /// ```
    /// use minwise::filter::{ErrorBudget, Filter, default_looks};
    ///
    /// let made = Filter::new(0.8, 128, &default_looks(128), ErrorBudget::Exact(1e-6))?;
    /// let rebuilt = Filter::from_looks(made.registers(), made.needed(), made.looks().to_vec(), made.error_per_look())?;
    /// assert_eq!(rebuilt, made);
    /// # Ok::<(), minwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536, `needed` is
    /// at most `registers`, `error_per_look` is from 0 to 0.5, and the looks are as described above.
    pub fn from_looks(
        registers: usize,
        needed: usize,
        looks: Vec<Look>,
        error_per_look: f64,
    ) -> Result<Self, Error> {
        if !(1..=MOST_REGISTERS).contains(&registers) {
            return Err(Error::out_of_range("the number of registers", registers, "from 1 to 65,536"));
        }
        if needed > registers {
            let expected = format!("at most {registers}, the number of registers");
            return Err(Error::out_of_range("the matches needed", needed, &expected));
        }
        // The range does not contain NaN.
        if !(0.0..=0.5).contains(&error_per_look) {
            return Err(Error::out_of_range("the error per look", error_per_look, "from 0 to 0.5"));
        }
        let mut before = 0;
        for look in &looks {
            check(look, before, registers)?;
            before = look.registers;
        }
        Ok(Self { registers, needed, looks, error_per_look })
    }

    /// Returns the smallest number of matches of all registers with which a pair counts as similar.
    #[must_use]
    pub fn needed(&self) -> usize {
        self.needed
    }
}

fn check(look: &Look, before: usize, registers: usize) -> Result<(), Error> {
    let Look { registers: compared, lower, upper } = *look;
    if compared <= before || compared > registers {
        let expected = format!("above {before}, the look before it, and at most {registers}");
        return Err(Error::out_of_range("a look of the filter", compared, &expected));
    }
    let shown = LookText(look);
    match (lower, upper) {
        (None, None) => Err(Error::out_of_range("a look", shown, "one with a threshold")),
        (Some(matches), _) | (_, Some(matches)) if matches > compared => {
            let expected = format!("one of at most {compared} matches");
            Err(Error::out_of_range("a look", shown, &expected))
        }
        (Some(lower), Some(upper)) if lower >= upper => {
            Err(Error::out_of_range("a look", shown, "one that rejects fewer matches than it accepts"))
        }
        _ => Ok(()),
    }
}

/// A look as text: registers, the largest number of matches that it rejects, the smallest number that it accepts.
struct LookText<'a>(&'a Look);

impl fmt::Display for LookText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number =
            |threshold: Option<usize>| threshold.map_or("-".to_owned(), |matches| matches.to_string());
        write!(f, "{}:{}:{}", self.0.registers, number(self.0.lower), number(self.0.upper))
    }
}

/// The text form of a filter: `registers:128 / needed:103 / error:1e-7 / looks:16:2:- 32:12:32`. Each look has its
/// registers, the largest number of matches that it rejects and the smallest number that it accepts.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `{:?}` prints the shortest number that reads back as the same number.
        let (registers, needed, error) = (self.registers, self.needed, self.error_per_look);
        write!(f, "registers:{registers} / needed:{needed} / error:{error:?} / looks:")?;
        for (at, look) in self.looks.iter().enumerate() {
            write!(f, "{}{}", if at == 0 { "" } else { " " }, LookText(look))?;
        }
        Ok(())
    }
}

impl FromStr for Filter {
    type Err = Error;

    /// Reads the text form and checks the filter as [`Filter::from_looks`] does.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let expected = "the form `registers:128 / needed:103 / error:1e-7 / looks:16:2:- 32:12:32`";
            Error::parse("filter", text, expected)
        };
        let parts: Vec<&str> = text.split(" / ").collect();
        let [registers, needed, error, looks] = parts[..] else { return Err(wrong()) };
        let number = |text: &str, name| -> Option<usize> { text.strip_prefix(name)?.parse().ok() };
        let registers = number(registers, "registers:").ok_or_else(wrong)?;
        let needed = number(needed, "needed:").ok_or_else(wrong)?;
        let error = error.strip_prefix("error:").and_then(|error| error.parse().ok()).ok_or_else(wrong)?;
        let looks = looks.strip_prefix("looks:").ok_or_else(wrong)?;
        let looks: Option<Vec<Look>> = looks.split_terminator(' ').map(look).collect();
        Self::from_looks(registers, needed, looks.ok_or_else(wrong)?, error)
    }
}

fn look(text: &str) -> Option<Look> {
    let mut parts = text.split(':');
    let (registers, lower, upper) = (parts.next()?, parts.next()?, parts.next()?);
    let threshold = |text: &str| if text == "-" { Some(None) } else { text.parse().ok().map(Some) };
    let look =
        Look { registers: registers.parse().ok()?, lower: threshold(lower)?, upper: threshold(upper)? };
    parts.next().is_none().then_some(look)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{ErrorBudget, default_looks};
    use crate::hash::SplitMix64;
    use crate::sketch::Method;

    fn filters() -> Vec<Filter> {
        let mut filters = vec![];
        for form in ["minhash:128", "b-bit:1/minhash:512", "one-permutation:64", "minhash:7"] {
            let method: Method = form.parse().unwrap();
            let looks = default_looks(method.registers());
            for (threshold, error) in [(0.8, 1e-6), (0.3, 1e-2), (0.99, 1e-9)] {
                filters.extend(Filter::of(method, threshold, 1, &looks, ErrorBudget::Exact(error)).unwrap());
            }
        }
        filters
    }

    #[test]
    fn a_filter_of_stored_looks_decides_like_the_one_that_was_made() {
        for made in filters() {
            let text = made.to_string();
            let rebuilt: Filter = text.parse().unwrap();
            assert_eq!(rebuilt, made, "{text}");
            assert_eq!(rebuilt.to_string(), text);
            let mut random = SplitMix64::new(made.registers() as u64);
            for share in 0..=20 {
                let agrees: Vec<bool> =
                    (0..made.registers()).map(|_| random.next_u64() % 20 < share).collect();
                let count =
                    |range: std::ops::Range<usize>| agrees[range].iter().filter(|&&agrees| agrees).count();
                assert_eq!(rebuilt.screen_by(count), made.screen_by(count));
                assert_eq!(rebuilt.decide_by(count), made.decide_by(count));
            }
        }
    }

    #[test]
    fn a_filter_without_looks_has_a_form_too() {
        let made = Filter::new(0.5, 4, &[1], ErrorBudget::Exact(1e-9)).unwrap();
        assert!(made.looks().is_empty());
        assert_eq!(made.to_string().parse::<Filter>().unwrap(), made);
    }

    #[test]
    fn looks_that_cannot_be_are_refused() {
        let head = "registers:128 / needed:103 / error:1e-7 / looks:";
        for (looks, part) in [
            ("16:2:- 16:3:-", "above 16"),
            ("16:2:- 129:3:-", "at most 128"),
            ("0:0:-", "above 0"),
            ("16:-:-", "one with a threshold"),
            ("16:17:-", "at most 16 matches"),
            ("16:-:17", "at most 16 matches"),
            ("16:9:9", "rejects fewer matches than it accepts"),
            ("16:2:17", "at most 16 matches"),
            ("16:2", "not a filter"),
            ("16:2:3:4", "not a filter"),
            ("16:x:-", "not a filter"),
            (" 16:2:-", "not a filter"),
        ] {
            let message = format!("{head}{looks}").parse::<Filter>().unwrap_err().to_string();
            assert!(message.contains(part), "{looks}: {message}");
        }
        for text in [
            "",
            "registers:128 / needed:103 / error:1e-7",
            "registers:0 / needed:0 / error:0.0 / looks:",
            "registers:65537 / needed:0 / error:0.0 / looks:",
            "registers:8 / needed:9 / error:0.0 / looks:",
            "registers:8 / needed:8 / error:NaN / looks:",
            "registers:8 / needed:8 / error:0.6 / looks:",
        ] {
            assert!(text.parse::<Filter>().is_err(), "{text}");
        }
    }
}
