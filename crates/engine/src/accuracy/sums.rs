//! Sums of errors per sketch and per tenth of the similarity, and counts of the cells of the picture.

use minwise::estimate::Estimate;
use minwise::sketch::Method;

/// Number of ranges into which the exact similarity is divided for the sums.
pub(super) const RANGES: usize = 10;
/// Number of columns of the picture. A column is a range of the exact similarity.
pub(super) const COLUMNS: usize = 50;
/// Number of rows of the picture. A row is a range of the error; the first has the most negative errors.
pub(super) const ROWS: usize = 61;
/// Minimum height of the picture above and below 0, in standard errors at the similarity where the standard error is
/// largest.
const REACH: f64 = 4.0;
/// Errors at which the picture may end. Round numbers make a readable axis.
const ENDS: [f64; 7] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// Sums over the pairs whose exact similarity is in a range.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct ErrorSums {
    /// Number of pairs.
    pub pairs: u64,
    /// Number of pairs whose estimate differs from the exact similarity by more than the allowed error.
    pub off: u64,
    /// Number of pairs whose exact similarity is within the 95 % confidence interval of the estimate.
    pub covered: u64,
    error: f64,
    square: f64,
    variance: f64,
}

impl ErrorSums {
    fn add(&mut self, exact: f64, estimate: &Estimate, variance: f64, allowed: f64) {
        let error = estimate.value - exact;
        self.pairs += 1;
        self.off += u64::from(error.abs() > allowed);
        let (low, high) = estimate.interval;
        // A bottom-k sketch that holds all shingles gives the exact similarity, and an interval of this value only.
        // Both are computed in different ways, so they may differ in the last digit.
        self.covered += u64::from(low <= exact + 1e-12 && exact <= high + 1e-12);
        self.error += error;
        self.square += error * error;
        self.variance += variance;
    }

    fn append(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.off += other.off;
        self.covered += other.covered;
        self.error += other.error;
        self.square += other.square;
        self.variance += other.variance;
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.pairs > 0).then(|| sum / self.pairs as f64)
    }

    /// Returns the mean of estimate minus exact similarity, or `None` if there are no pairs.
    #[must_use]
    pub fn mean_error(&self) -> Option<f64> {
        self.mean(self.error)
    }

    /// Returns the mean of the squared errors, or `None` if there are no pairs.
    #[must_use]
    pub fn mean_square(&self) -> Option<f64> {
        self.mean(self.square)
    }

    /// Returns the variance of the errors, or `None` if there are no pairs. Unlike the mean of the squared errors, the
    /// variance does not contain the bias of the sketch, so it compares with [`expected_variance`](Self::expected_variance).
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        let mean = self.mean_error()?;
        // Rounding may take the difference below 0.
        Some((self.mean_square()? - mean * mean).max(0.0))
    }

    /// Returns the mean of the variances that the formula of the sketch gives for the exact similarities, or `None` if
    /// there are no pairs.
    #[must_use]
    pub fn expected_variance(&self) -> Option<f64> {
        self.mean(self.variance)
    }
}

/// Errors of one sketch.
#[derive(Debug, Clone)]
pub(super) struct SketchSums {
    method: Method,
    allowed: f64,
    /// Sums by tenths of the exact similarity.
    pub(super) ranges: [ErrorSums; RANGES],
    /// Number of pairs per cell of the picture, row after row.
    pub(super) cells: Vec<u64>,
    /// Error at the upper edge of the picture.
    pub(super) reach: f64,
}

impl SketchSums {
    pub(super) fn new(method: Method, allowed: f64) -> Self {
        let largest = (0..=100)
            .map(|percent| method.variance(f64::from(percent) / 100.0))
            .filter(|variance| variance.is_finite())
            .fold(0.0, f64::max);
        let reach = ENDS.into_iter().find(|end| *end >= REACH * largest.sqrt()).unwrap_or(1.0);
        Self { method, allowed, ranges: Default::default(), cells: vec![0; ROWS * COLUMNS], reach }
    }

    pub(super) fn add(&mut self, exact: f64, estimate: &Estimate) {
        let range = ((exact * RANGES as f64) as usize).min(RANGES - 1);
        self.ranges[range].add(exact, estimate, self.method.variance(exact), self.allowed);
        let column = ((exact * COLUMNS as f64) as usize).min(COLUMNS - 1);
        let height = f64::midpoint((estimate.value - exact) / self.reach, 1.0);
        let row = ((height * ROWS as f64).max(0.0) as usize).min(ROWS - 1);
        self.cells[row * COLUMNS + column] += 1;
    }

    pub(super) fn append(&mut self, other: &Self) {
        for (sum, more) in self.ranges.iter_mut().zip(&other.ranges) {
            sum.append(more);
        }
        for (count, more) in self.cells.iter_mut().zip(&other.cells) {
            *count += more;
        }
    }

    /// Returns the sums over all similarities.
    pub(super) fn all(&self) -> ErrorSums {
        let mut all = ErrorSums::default();
        self.ranges.iter().for_each(|range| all.append(range));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(equal: usize) -> Estimate {
        let [a, mut b] = [vec![1; 100], vec![1; 100]];
        b[equal..].fill(2);
        minwise::estimate::minhash::estimate(&a, &b)
    }

    #[test]
    fn errors_are_added_where_they_belong() {
        let mut sums = SketchSums::new(Method::minhash(100), 0.05);
        sums.add(0.52, &estimate(50));
        sums.add(0.52, &estimate(58));
        sums.add(1.0, &estimate(100));
        let [middle, last] = [&sums.ranges[5], &sums.ranges[9]];
        assert_eq!((middle.pairs, middle.off, middle.covered), (2, 1, 2));
        assert!((middle.mean_error().unwrap() - 0.02).abs() < 1e-12);
        assert!(
            (middle.mean_square().unwrap() - f64::midpoint(0.02_f64.powi(2), 0.06_f64.powi(2))).abs() < 1e-12
        );
        // The errors are −0.02 and 0.06, both 0.04 from their mean.
        assert!((middle.variance().unwrap() - 0.04_f64.powi(2)).abs() < 1e-12);
        assert!((middle.expected_variance().unwrap() - 0.52 * 0.48 / 100.0).abs() < 1e-12);
        assert_eq!((last.pairs, last.mean_error()), (1, Some(0.0)));
        assert_eq!((ErrorSums::default().mean_error(), ErrorSums::default().variance()), (None, None));
        let mut twice = sums.clone();
        twice.append(&sums);
        assert_eq!((twice.all().pairs, twice.all().off), (6, 2));
        assert_eq!(twice.cells.iter().sum::<u64>(), 6);
    }

    /// An interval that misses the exact similarity is not counted, and an error beyond the picture is counted in a
    /// cell at its edge.
    #[test]
    fn misses_are_not_covered_and_stand_at_the_edge() {
        let mut sums = SketchSums::new(Method::minhash(100), 0.05);
        sums.add(0.1, &estimate(90));
        assert_eq!((sums.all().off, sums.all().covered), (1, 0));
        assert_eq!(sums.cells[(ROWS - 1) * COLUMNS + 5], 1);
        sums.add(0.9, &estimate(0));
        assert_eq!(sums.cells[45], 1);
    }
}
