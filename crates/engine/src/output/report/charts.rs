//! The two charts of the page, as SVG in the colours of the page.
//!
//! The charts are narrow enough to be legible on a phone, where they are drawn at the width of the screen.

use minwise::candidate::Curve;

use super::MeasuredRecall;
use super::html::{escape, grouped, probability};

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 46.0;
/// Number of histogram bars from similarity 0 to 1.
pub(super) const BARS: usize = 100;

/// Number of similarities per hundredth below 1, and number of similarities equal to 1.
#[derive(Debug, Clone)]
pub(super) struct SimilarityCounts {
    pub(super) bars: [u64; BARS],
    pub(super) ones: u64,
}

impl SimilarityCounts {
    pub(super) fn new(similarities: impl Iterator<Item = f64>) -> Self {
        let mut all = Self { bars: [0; BARS], ones: 0 };
        for similarity in similarities {
            match all.bars.get_mut((similarity * BARS as f64) as usize) {
                Some(bar) => *bar += 1,
                None => all.ones += 1,
            }
        }
        all
    }

    /// Returns the number of similarities below 1.
    pub(super) fn below_one(&self) -> u64 {
        self.bars.iter().sum()
    }
}

/// Scale of a chart: x runs from `from` to 1, y from 0 to `most`.
struct ChartFrame {
    from: f64,
    most: f64,
}

impl ChartFrame {
    fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.from) / (1.0 - self.from) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.most * (HEIGHT - TOP - BOTTOM)
    }

    /// Returns the chart without its data: axes, grid and threshold, with a title and a description for screen readers.
    fn open(&self, title: &str, about: &str, y_label: &str, y_step: f64, threshold: f64) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\n\
             <title>{0}</title>\n<desc>{1}</desc>\n",
            escape(title),
            escape(about)
        );
        let (left, right, bottom) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut value = 0.0;
        while value <= self.most {
            let y = self.y(value);
            // Steps of counts are whole numbers; steps of probabilities are below 1.
            let label = if y_step >= 1.0 { grouped(value as u64) } else { format!("{value:.1}") };
            out += &format!(
                "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>\
                 <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>\n",
                left - 6.0,
                y + 4.0
            );
            value += y_step;
        }
        let tenths = if self.from < 0.65 { 2 } else { 1 };
        for tenth in ((self.from * 20.0).ceil() as u32).div_ceil(2)..=10 {
            if (10 - tenth) % tenths == 0 {
                let x = self.x(f64::from(tenth) / 10.0);
                out += &format!(
                    "<path class=\"axis\" d=\"M{x:.1} {bottom}v5\"/>\
                     <text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{:.1}</text>\n",
                    bottom + 18.0,
                    f64::from(tenth) / 10.0
                );
            }
        }
        let x = self.x(threshold);
        // The label stands on the side of the line that has room for it.
        let (side, shift) = if x > WIDTH / 2.0 { ("end", -5.0) } else { ("start", 5.0) };
        out += &format!(
            "<path class=\"axis\" d=\"M{left} {bottom}H{right}\"/>\n\
             <text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">similarity</text>\n\
             <text class=\"start\" x=\"4\" y=\"13\">{}</text>\n\
             <path class=\"threshold\" d=\"M{x:.1} {:.1}V{bottom}\"/>\n\
             <text class=\"{side} threshold\" x=\"{:.1}\" y=\"13\">threshold {threshold}</text>\n",
            f64::midpoint(left, right),
            HEIGHT - 8.0,
            escape(y_label),
            TOP - 6.0,
            x + shift,
        );
        out
    }
}

/// Draws the number of removed documents by their similarity to the kept document.
pub(super) fn histogram(similarities: &SimilarityCounts, threshold: f64) -> String {
    let bars = &similarities.bars;
    let hundredth = |at: usize| at as f64 / BARS as f64;
    let first = bars.iter().position(|&count| count > 0).map_or(threshold, hundredth);
    let from = ((first.min(threshold) * 20.0).floor() / 20.0 - 0.05).clamp(0.0, 0.9);
    let highest = bars.iter().copied().max().unwrap_or(0).max(1);
    let step = nice_step(highest);
    let frame = ChartFrame { from, most: (highest.div_ceil(step) * step) as f64 };
    let at_highest = bars.iter().position(|&count| count == highest).map_or(String::new(), |at| {
        format!(
            " Most of them, {}, lie from {:.2} to {:.2}.",
            grouped(highest),
            hundredth(at),
            hundredth(at + 1)
        )
    });
    let about = format!(
        "{} similarities from the threshold {threshold} to 1, in steps of 0.01.{at_highest}",
        grouped(similarities.below_one())
    );
    let mut out = frame.open("Similarities of near-duplicates", &about, "documents", step as f64, threshold);
    let bottom = HEIGHT - BOTTOM;
    for (at, &count) in bars.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (x, end, y) = (frame.x(hundredth(at)), frame.x(hundredth(at + 1)), frame.y(count as f64));
        // A minimum height of 1.5 pixels keeps the smallest counts visible.
        let y = y.min(bottom - 1.5);
        out += &format!(
            "<rect class=\"bar\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\n",
            x + 0.3,
            end - x - 0.6,
            bottom - y
        );
    }
    out + "</svg>\n"
}

/// Returns the smallest step of the form 1, 2 or 5 times a power of ten that divides `most` into at most five parts.
fn nice_step(most: u64) -> u64 {
    let mut power = 1u64;
    loop {
        for digit in [1, 2, 5] {
            let step = power.saturating_mul(digit);
            if most.div_ceil(step) <= 5 {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Draws the probability that a pair is found by its similarity, with the expected and the measured recall.
pub(super) fn s_curve(
    curve: &Curve,
    threshold: f64,
    expected: Option<f64>,
    measured: Option<&MeasuredRecall>,
) -> String {
    let frame = ChartFrame { from: 0.0, most: 1.0 };
    let at_threshold = curve.probability(threshold);
    let mut about = format!(
        "The probability of finding a pair grows with its similarity; it is {} at the threshold {threshold}.",
        probability(at_threshold),
    );
    if let Some(expected) = expected {
        about += &format!(" Expected recall {}.", probability(expected));
    }
    if let Some(measured) = measured {
        about += &format!(" Measured recall {measured}.");
    }
    let mut out = frame.open("The S-curve of the bands", &about, "probability", 0.2, threshold);
    let mut path = String::new();
    for step in 0..=BARS {
        let similarity = step as f64 / BARS as f64;
        let command = if step == 0 { 'M' } else { 'L' };
        let y = frame.y(curve.probability(similarity));
        path += &format!("{command}{:.1} {y:.1}", frame.x(similarity));
    }
    out += &format!("<path class=\"curve\" d=\"{path}\"/>\n");
    if let Some(expected) = expected {
        out += &format!(
            "<path class=\"expected\" d=\"M{:.1} {:.1}H{:.1}\"/>\n",
            frame.x(threshold),
            frame.y(expected),
            frame.x(1.0)
        );
    }
    if let Some(MeasuredRecall { value, low, high }) = measured {
        // The recall is a mean over all similarities above the threshold, so its point stands in the middle of that
        // range.
        let x = frame.x(f64::midpoint(threshold, 1.0));
        out += &format!(
            "<path class=\"measured\" d=\"M{x:.1} {low:.1}V{high:.1}M{0:.1} {low:.1}h8M{0:.1} {high:.1}h8\"/>\n\
             <circle class=\"measured\" cx=\"{x:.1}\" cy=\"{1:.1}\" r=\"3.6\"/>\n",
            x - 4.0,
            frame.y(*value),
            low = frame.y(*low),
            high = frame.y(*high),
        );
    }
    out + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use minwise::candidate::Banding;

    use super::*;

    #[test]
    fn similarities_are_counted_in_hundredths() {
        let all = SimilarityCounts::new([0.8, 0.805, 0.999, 1.0, 1.0].into_iter());
        assert_eq!((all.bars[80], all.bars[99], all.ones, all.below_one()), (2, 1, 2, 3));
    }

    #[test]
    fn steps_are_nice() {
        assert_eq!([1, 5, 6, 10, 11, 30, 99].map(nice_step), [1, 1, 2, 2, 5, 10, 20]);
        assert!(u64::MAX.div_ceil(nice_step(u64::MAX)) <= 5);
    }

    #[test]
    fn bars_stand_where_the_axes_say() {
        let all = SimilarityCounts::new([0.8, 0.8, 0.9].into_iter());
        let svg = histogram(&all, 0.8);
        // The x axis shows 0.75–1 on 372 pixels, and the y axis shows 0–2 on 200 pixels.
        assert!(
            svg.contains("<rect class=\"bar\" x=\"128.7\" y=\"24.0\" width=\"14.3\" height=\"200.0\"/>"),
            "{svg}"
        );
        assert!(svg.contains("x=\"277.5\" y=\"124.0\""), "{svg}");
        assert_eq!(svg.matches("class=\"bar\"").count(), 2);
        assert!(svg.contains(">threshold 0.8</text>"), "{svg}");
        assert!(
            svg.contains("3 similarities") && svg.contains("Most of them, 2, lie from 0.80 to 0.81."),
            "{svg}"
        );
    }

    #[test]
    fn counts_on_the_axis_are_whole_numbers() {
        let svg = histogram(&SimilarityCounts::new([0.8].into_iter()), 0.8);
        assert!(svg.contains("y=\"228.0\">0</text>") && svg.contains("y=\"28.0\">1</text>"), "{svg}");
        let curve = Curve::from(Banding::new(16, 6, 128).unwrap());
        let svg = s_curve(&curve, 0.8, None, None);
        assert!(svg.contains("y=\"228.0\">0.0</text>") && svg.contains("y=\"28.0\">1.0</text>"), "{svg}");
    }

    #[test]
    fn a_histogram_of_nothing_is_a_frame() {
        let svg = histogram(&SimilarityCounts::new(std::iter::empty()), 1.0);
        assert_eq!(svg.matches("class=\"bar\"").count(), 0);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn the_measured_recall_is_drawn_if_there_is_one() {
        let curve = Curve::from(Banding::new(16, 6, 128).unwrap());
        let without = s_curve(&curve, 0.8, None, None);
        assert!(!without.contains("measured") && !without.contains("xpected"), "{without}");
        let measured = MeasuredRecall { value: 0.5, low: 0.25, high: 0.75 };
        let with = s_curve(&curve, 0.8, Some(0.999), Some(&measured));
        assert!(
            with.contains("Measured recall 50.00 % (25.00 % to 75.00 % with 95 % confidence)."),
            "{with}"
        );
        // The point lies at 0.9 of 372 pixels in width, and at half of 200 pixels in height.
        assert!(with.contains("cx=\"388.8\" cy=\"124.0\""), "{with}");
        let near = MeasuredRecall { value: 0.999_97, low: 0.999_96, high: 1.0 };
        let with = s_curve(&curve, 0.8, Some(0.999_97), Some(&near));
        assert!(
            with.contains("Measured recall above 99.99 % (at least 99.99 % with 95 % confidence)."),
            "{with}"
        );
        let exact = MeasuredRecall { value: 1.0, low: 1.0, high: 1.0 };
        let with = s_curve(&curve, 0.8, Some(0.999_97), Some(&exact));
        assert!(with.contains("Expected recall above 99.99 %. Measured recall 100 %."), "{with}");
        assert!(s_curve(&Curve::CERTAIN, 0.8, Some(1.0), None).contains("it is 100 % at the threshold 0.8"));
    }
}
