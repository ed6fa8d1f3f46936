//! Axes: the shown range of numbers, the place of each number, and the numbers that are written beside the axis.

use super::text::power_of_ten;

/// Scale of the numbers along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equal lengths.
    Linear,
    /// Equal ratios are equal lengths. Only numbers above 0 have a place.
    Log,
}

/// Axis as requested.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name of the numbers, with their unit.
    pub label: String,
    /// Scale of the numbers.
    pub scale: Scale,
    /// Ends of the axis. Without them, the axis covers the data.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// Returns a linear axis that covers the data.
    #[must_use]
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear, range: None }
    }

    /// Returns a logarithmic axis that covers the data.
    #[must_use]
    pub fn log(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Log, range: None }
    }

    /// Sets the ends of the axis.
    #[must_use]
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Fits the axis to the values that are drawn.
    pub(super) fn fit(&self, values: &[f64]) -> Ruler {
        let shown = |value: &f64| value.is_finite() && (self.scale == Scale::Linear || *value > 0.0);
        let ends = values.iter().copied().filter(shown).fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let valid = |(low, high): &(f64, f64)| shown(low) && shown(high) && low < high;
        match self.scale {
            Scale::Linear => {
                let (low, high) = self.range.filter(valid).or(ends).unwrap_or((0.0, 1.0));
                // If there is one value, or if the values are nearly equal, the axis is extended, because it must not
                // have length 0.
                let high = if high - low > high.abs().max(low.abs()) * 1e-9 {
                    high
                } else {
                    low + low.abs().max(1.0)
                };
                Ruler::linear((low, high), self.range.is_some_and(|range| valid(&range)))
            }
            Scale::Log => {
                let (low, high) = self.range.filter(valid).or(ends).unwrap_or((1.0, 10.0));
                let high = if high > low * 1.01 { high } else { low * 10.0 };
                Ruler::log((low, high), self.range.is_some_and(|range| valid(&range)))
            }
        }
    }
}

/// Mark beside the axis, with a number or without one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: Option<String>,
}

/// Axis with ends and ticks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ruler {
    scale: Scale,
    low: f64,
    high: f64,
    pub ticks: Vec<Tick>,
}

impl Ruler {
    /// Returns the place of a value, 0 at the low end and 1 at the high end. A value without a place on the scale gives
    /// `None`.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        match self.scale {
            Scale::Linear => Some((value - self.low) / (self.high - self.low)),
            Scale::Log if value > 0.0 => {
                let [value, low, high] = [value, self.low, self.high].map(f64::log10);
                Some((value - low) / (high - low))
            }
            Scale::Log => None,
        }
    }

    /// Returns the place of a value, if the place lies between the ends.
    pub fn inside(&self, value: f64) -> Option<f64> {
        self.place(value).filter(|place| (-1e-9..=1.0 + 1e-9).contains(place))
    }

    fn linear((low, high): (f64, f64), is_fixed: bool) -> Self {
        /// Upper bound on the numbers beside an axis.
        const MOST: f64 = 8.0;
        let span = high - low;
        // The step is the smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, 10, … that leaves room between the numbers.
        let exponent = (span / MOST).log10().floor() as i32;
        let steps = (exponent..).flat_map(|exponent| [1, 2, 5].map(|digit| (digit, exponent)));
        let size = |(digit, exponent): (i32, i32)| f64::from(digit) * 10_f64.powi(exponent);
        let (digit, exponent) =
            steps.take(12).find(|&step| span / size(step) <= MOST).unwrap_or((1, exponent));
        let step = size((digit, exponent));
        // The tolerance is needed because 0.3/0.1 is not exactly 3.
        let first = (low / step - 1e-9).ceil();
        let last = (high / step + 1e-9).floor();
        let (low, high, first, last) = if is_fixed {
            (low, high, first, last)
        } else {
            let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
            (first * step, last * step, first, last)
        };
        let decimals = usize::try_from(-exponent).unwrap_or(0);
        let ticks = (0..=(last - first) as u32)
            .map(|at| {
                // Adding 0 turns −0 into 0.
                let value = (first + f64::from(at)) * step + 0.0;
                Tick { value, label: Some(format!("{value:.decimals$}")) }
            })
            .collect();
        Self { scale: Scale::Linear, low, high, ticks }
    }

    fn log((low, high): (f64, f64), is_fixed: bool) -> Self {
        /// Largest number of powers of ten with numbers between the powers. On a longer axis, only the powers have
        /// numbers.
        const FEW: i32 = 2;
        /// Largest number of powers of ten that all have numbers. On a longer axis, only some powers have numbers.
        const MANY: i32 = 8;
        let first = (low.log10() + 1e-9).floor() as i32;
        let last = (high.log10() - 1e-9).ceil() as i32;
        let digits: &[i32] = if last - first <= FEW { &[1, 2, 5] } else { &[1] };
        let apart = (last - first) / MANY + 1;
        let value = |digit: i32, exponent: i32| f64::from(digit) * 10_f64.powi(exponent);
        let numbers = || (first..=last).flat_map(|exponent| (1..10).map(move |digit| (digit, exponent)));
        let (low, high) = if is_fixed {
            (low, high)
        } else {
            let mut ends = numbers()
                .filter(|(digit, _)| [1, 2, 5].contains(digit))
                .map(|(digit, exponent)| value(digit, exponent));
            let above = ends.clone().find(|end| *end >= high * (1.0 - 1e-9));
            (ends.rfind(|end| *end <= low * (1.0 + 1e-9)).unwrap_or(low), above.unwrap_or(high))
        };
        let ticks = numbers()
            .map(|(digit, exponent)| {
                let is_named = digits.contains(&digit) && (exponent - first) % apart == 0;
                let label = is_named.then(|| power_of_ten(digit, exponent));
                Tick { value: value(digit, exponent), label }
            })
            .filter(|tick| tick.value >= low * (1.0 - 1e-9) && tick.value <= high * (1.0 + 1e-9))
            .collect();
        Self { scale: Scale::Log, low, high, ticks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ruler: &Ruler) -> Vec<&str> {
        ruler.ticks.iter().filter_map(|tick| tick.label.as_deref()).collect()
    }

    #[test]
    fn linear_axes_have_round_numbers() {
        let ruler = Axis::linear("").fit(&[0.03, 0.97]);
        assert_eq!(labels(&ruler), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!((ruler.place(0.0), ruler.place(0.5), ruler.place(1.0)), (Some(0.0), Some(0.5), Some(1.0)));
        assert_eq!(
            labels(&Axis::linear("").fit(&[-150.0, 420.0])),
            ["-200", "-100", "0", "100", "200", "300", "400", "500"]
        );
        assert_eq!(
            labels(&Axis::linear("").between(0.5, 1.0).fit(&[])),
            ["0.5", "0.6", "0.7", "0.8", "0.9", "1.0"]
        );
    }

    #[test]
    fn logarithmic_axes_have_powers_and_between_few_of_them_more() {
        let ruler = Axis::log("").fit(&[0.003, 70.0]);
        assert_eq!(labels(&ruler), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!((ruler.place(0.002), ruler.place(100.0)), (Some(0.0), Some(1.0)));
        assert_eq!(labels(&Axis::log("").fit(&[3.0, 40.0])), ["2", "5", "10", "20", "50"]);
        let wide = Axis::log("").between(1e-9, 1e9).fit(&[]);
        assert_eq!(labels(&wide), ["10⁻⁹", "10⁻⁶", "0.001", "1", "1000", "10⁶", "10⁹"]);
    }

    #[test]
    fn what_has_no_place_is_told() {
        let ruler = Axis::log("").between(1.0, 100.0).fit(&[]);
        assert_eq!((ruler.place(0.0), ruler.place(-1.0), ruler.place(f64::NAN)), (None, None, None));
        assert_eq!((ruler.inside(0.5), ruler.inside(200.0)), (None, None));
        assert_eq!((ruler.inside(10.0), ruler.place(0.1)), (Some(0.5), Some(-0.5)));
        assert_eq!(Axis::linear("").fit(&[]).place(f64::INFINITY), None);
    }

    #[test]
    fn no_data_breaks_an_axis() {
        for axis in [
            Axis::linear(""),
            Axis::log(""),
            Axis::linear("").between(2.0, 1.0),
            Axis::log("").between(-1.0, 1.0),
        ] {
            for values in [
                &[][..],
                &[0.0],
                &[5.0],
                &[-3.0, -3.0],
                &[f64::NAN, 7.0],
                &[1e-300, 1e300],
                &[1e15, 1e15 + 1.0],
            ] {
                let ruler = axis.fit(values);
                assert!(ruler.low < ruler.high, "{axis:?} {values:?} {ruler:?}");
                assert!(ruler.ticks.len() < 10_000, "{axis:?} {values:?}");
                for &value in values {
                    assert!(ruler.place(value).is_none_or(f64::is_finite), "{axis:?} {values:?}");
                }
            }
        }
    }
}
