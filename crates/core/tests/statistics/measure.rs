//! Comparisons of measured values with expected values, in standard errors.

use std::fmt;

use crate::law::Law;

/// Greatest distance of a measurement from its expectation, in standard errors. A correct measurement exceeds it with
/// probability 1/16 000.
pub const SIGMAS: f64 = 4.0;

/// Least expected number of trials in a cell of a chi-square test, so that its distribution is near the limit
/// (Cochran's rule).
const CELL: f64 = 5.0;

/// Greatest probability that is too small to change any sum here.
const NEGLIGIBLE: f64 = 1e-25;

/// Reports whether the long mode is on.
pub fn is_long() -> bool {
    std::env::var_os("MINWISE_LONG").is_some_and(|value| value != "0")
}

/// The mean, the variance and the fourth central moment of a quantity.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    pub mean: f64,
    pub variance: f64,
    pub fourth: f64,
}

impl Moments {
    /// Returns the exact moments of `value` under a distribution.
    pub fn of_law(law: &Law, value: impl Fn(usize) -> f64) -> Self {
        let likely = law.iter().enumerate().filter(|&(_, &p)| p > NEGLIGIBLE);
        let likely: Vec<(f64, f64)> = likely.map(|(outcome, &p)| (value(outcome), p)).collect();
        let expect = |of: &dyn Fn(f64) -> f64| likely.iter().map(|&(x, p)| p * of(x)).sum::<f64>();
        let mean = expect(&|x| x);
        Self { mean, variance: expect(&|x| (x - mean).powi(2)), fourth: expect(&|x| (x - mean).powi(4)) }
    }

    /// Returns the moments of a sample. Its variance is the unbiased one.
    pub fn of_sample(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let power = |exponent| values.iter().map(|x| (x - mean).powi(exponent)).sum::<f64>();
        Self { mean, variance: power(2) / (n - 1.0), fourth: power(4) / n }
    }

    /// Returns the moments of a distribution of which only the mean and the variance are known. The fourth moment
    /// follows from the sample's kurtosis. The sample's fourth moment itself would not do, because it is small whenever
    /// the sample variance happens to be small.
    pub fn shaped_like(sample: &Self, mean: f64, variance: f64) -> Self {
        Self { mean, variance, fourth: sample.fourth / sample.variance.powi(2) * variance.powi(2) }
    }

    /// Returns the standard error of the mean of `trials` values.
    pub fn error_of_mean(&self, trials: usize) -> f64 {
        (self.variance / trials as f64).sqrt()
    }

    /// Returns the standard error of the sample variance of `trials` values: √((μ₄ − σ⁴·(n−3)/(n−1))/n).
    pub fn error_of_variance(&self, trials: usize) -> f64 {
        let n = trials as f64;
        ((self.fourth - self.variance.powi(2) * (n - 3.0) / (n - 1.0)) / n).sqrt()
    }
}

/// Returns the distance of the counts of each outcome from their distribution, in standard errors; `None` if the
/// distribution has only one cell. The distance is Pearson's chi-square over cells of neighbouring outcomes, made
/// normal by Wilson and Hilferty's cube root.
pub fn chi_square(counts: &[usize], law: &Law) -> Option<f64> {
    let trials = counts.iter().sum::<usize>() as f64;
    let mut cells: Vec<(f64, f64)> = vec![];
    let (mut expected, mut found) = (0.0, 0.0);
    for (&count, p) in counts.iter().zip(law) {
        expected += p * trials;
        found += count as f64;
        if expected >= CELL {
            cells.push((expected, found));
            (expected, found) = (0.0, 0.0);
        }
    }
    // The outcomes left at the end are added to the last cell.
    let last = cells.last_mut()?;
    *last = (last.0 + expected, last.1 + found);
    if cells.len() < 2 {
        return None;
    }
    let freedom = (cells.len() - 1) as f64;
    let statistic: f64 = cells.iter().map(|(expected, found)| (found - expected).powi(2) / expected).sum();
    let spread = 2.0 / (9.0 * freedom);
    Some(((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt())
}

/// A measurement, and its distance from the expectation in standard errors.
pub struct Measured {
    what: String,
    away: f64,
    seen: String,
}

impl Measured {
    /// Makes a measurement from the value that was found and the value that was expected.
    pub fn new(what: String, found: f64, expected: f64, standard_error: f64) -> Self {
        let away = (found - expected) / standard_error;
        Self { what, away, seen: format!("{found} against {expected}") }
    }

    /// Makes a measurement from a distance that is already in standard errors.
    pub fn standardised(what: String, away: f64) -> Self {
        Self { what, away, seen: "its law".to_owned() }
    }

    /// Reports whether the distance is too large for chance.
    pub fn is_far(&self) -> bool {
        self.away.is_nan() || self.away.abs() > SIGMAS
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:78} {:+.2} standard errors, {}", self.what, self.away, self.seen)
    }
}

/// The failures of a test. A test runs all its cases before it reports them.
#[derive(Default)]
pub struct Findings {
    checks: usize,
    wrong: Vec<String>,
}

impl Findings {
    /// Adds a failure that is not measured again.
    pub fn add(&mut self, what: String) {
        self.wrong.push(what);
    }

    /// Adds a failure if a measurement is too far from its expectation.
    pub fn check(&mut self, what: &str, found: f64, expected: f64, standard_error: f64) {
        self.take(&Measured::new(what.to_owned(), found, expected, standard_error));
    }

    /// Checks the measurements that `measure` makes with `trials` trials and the seeds that belong to `number`. If a
    /// measurement is too far away, all are made again with four times as many trials and other seeds, and only these
    /// count. A real error is then twice as many standard errors away, but a chance result is not.
    pub fn confirm(&mut self, trials: usize, number: u64, measure: impl Fn(usize, u64) -> Vec<Measured>) {
        let mut measured = measure(trials, number);
        if measured.iter().any(Measured::is_far) {
            for far in measured.iter().filter(|measured| measured.is_far()) {
                println!("{far}: once more");
            }
            measured = measure(4 * trials, !number);
        }
        for measured in &measured {
            self.take(measured);
        }
    }

    fn take(&mut self, measured: &Measured) {
        self.checks += 1;
        println!("{measured}");
        if measured.is_far() {
            self.wrong.push(measured.to_string());
        }
    }

    #[track_caller]
    pub fn conclude(self) {
        assert!(self.checks > 0, "something was measured");
        assert!(self.wrong.is_empty(), "{} of {}:\n{}", self.wrong.len(), self.checks, self.wrong.join("\n"));
    }
}
