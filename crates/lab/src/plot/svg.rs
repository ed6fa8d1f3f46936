//! Lays out a chart and writes it as SVG.

use super::axis::Ruler;
use super::text::{escape, width, wrap};
use super::{Chart, Point, Series};

/// Width of the chart in pixels. Text is large in relation to it, so that it can be read at half the size, too.
const WIDTH: f64 = 640.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 18.0;
const HEIGHT_OF_PLOT: f64 = 320.0;
const PLOT: f64 = WIDTH - LEFT - RIGHT;
/// Font sizes of the title, of most text (`TEXT`), and of the note (`SMALL`), in pixels.
const TITLE: f64 = 17.0;
const TEXT: f64 = 14.0;
const SMALL: f64 = 12.5;
/// Length of the line sample in the legend, in pixels.
const SAMPLE: f64 = 38.0;

/// Styles that the series take in turn: colour on a light background, colour on a dark background, and dashes. The
/// contrast of each colour to its background is at least 4.5, and colour-blind readers can distinguish the colours.
const LOOKS: [(&str, &str, &str); 7] = [
    ("#1b1b1b", "#e8e8e8", ""),
    ("#0067a5", "#62b5f0", "9 4"),
    ("#b84a00", "#ff9457", "2.5 3"),
    ("#00704f", "#4fd1a5", "9 3 2 3"),
    ("#a0397a", "#ec9ccb", "15 4"),
    ("#7a6000", "#e6c34a", "5 2 1.5 2 1.5 2"),
    ("#5a4bb0", "#b3a7ff", "5 5"),
];
const GROUND: (&str, &str) = ("#ffffff", "#0d1117");
const INK: (&str, &str) = ("#1b1b1b", "#e8e8e8");
const GRID: (&str, &str) = ("#dddddd", "#30363d");

impl Chart {
    /// Returns the chart as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        draw(self)
    }
}

fn draw(chart: &Chart) -> String {
    let x = chart.x.fit(&chart.values(|x, _| x, false));
    let y = chart.y.fit(&chart.values(|_, y| y, true));

    let title = wrap(&chart.title, TITLE, WIDTH - 2.0 * RIGHT);
    let top = 16.0 + title.len() as f64 * (TITLE + 4.0);
    let bottom = top + HEIGHT_OF_PLOT;
    let legend = Legend::new(&chart.series, bottom + 66.0);
    let note = wrap(&chart.note, SMALL, WIDTH - 2.0 * RIGHT);
    let note_top = legend.bottom + 4.0;
    let height = (note_top + note.len() as f64 * (SMALL + 4.5) + 6.0).ceil();

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"minwise-plot\" role=\"img\" \
         width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\">\n\
         <title>{}</title>\n<desc>{}</desc>\n{}\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n",
        escape(&chart.title),
        escape(&chart.description),
        style(),
    );
    for (line, at) in title.iter().zip(0_u8..) {
        let y = TITLE + 8.0 + f64::from(at) * (TITLE + 4.0);
        out += &text(WIDTH / 2.0, y, "title", line);
    }
    let frame = PlotFrame { top, x: &x, y: &y };
    out += &frame.axes(chart);
    // The nested `svg` clips lines that run out of the frame. Unlike a clip path, it needs no id.
    out += &format!(
        "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\n",
        px(LEFT),
        px(top),
        px(PLOT),
        px(HEIGHT_OF_PLOT)
    );
    for (at, series) in chart.series.iter().enumerate() {
        out += &frame.line(series, at);
    }
    out += "</svg>\n";
    for (at, series) in chart.series.iter().enumerate() {
        out += &frame.points(series, at);
    }
    out += &legend.draw(&chart.series);
    for (line, at) in note.iter().zip(1_u8..) {
        out += &text(RIGHT, note_top + f64::from(at) * (SMALL + 4.5), "note", line);
    }
    out + "</svg>\n"
}

/// Formats a coordinate to a tenth of a pixel, in as few characters as possible.
fn px(value: f64) -> String {
    let written = format!("{value:.1}");
    let short = written.strip_suffix(".0").unwrap_or(&written);
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

fn text(x: f64, y: f64, class: &str, content: &str) -> String {
    format!("<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>\n", px(x), px(y), escape(content))
}

fn style() -> String {
    let colours = |side: fn((&'static str, &'static str)) -> &'static str| {
        let mut rules = format!(
            ".minwise-plot .ground,.minwise-plot .hollow{{fill:{}}}\n\
             .minwise-plot text{{fill:{}}}\n.minwise-plot .frame{{stroke:{}}}\n.minwise-plot .grid{{stroke:{}}}\n",
            side(GROUND),
            side(INK),
            side(INK),
            side(GRID),
        );
        for (at, (light, dark, _)) in LOOKS.iter().enumerate() {
            rules += &format!(".minwise-plot .s{at}{{color:{}}}\n", side((light, dark)));
        }
        rules
    };
    let mut style = format!(
        "<style>\n.minwise-plot text{{font-family:sans-serif;font-size:{TEXT}px}}\n\
         .minwise-plot .title{{font-size:{TITLE}px;font-weight:bold;text-anchor:middle}}\n\
         .minwise-plot .note{{font-size:{SMALL}px}}\n\
         .minwise-plot .x{{text-anchor:middle}}\n.minwise-plot .y{{text-anchor:end}}\n\
         .minwise-plot .frame,.minwise-plot .grid,.minwise-plot .line{{fill:none}}\n\
         .minwise-plot .line{{stroke:currentColor;stroke-width:2;stroke-linejoin:round}}\n\
         .minwise-plot .mark{{stroke:currentColor;stroke-width:1.6}}\n.minwise-plot .full{{fill:currentColor}}\n"
    );
    for (at, (_, _, dashes)) in LOOKS.iter().enumerate().filter(|(_, look)| !look.2.is_empty()) {
        style += &format!(".minwise-plot .line.s{at}{{stroke-dasharray:{dashes}}}\n");
    }
    style += &colours(|(light, _)| light);
    style += &format!("@media (prefers-color-scheme:dark){{\n{}}}\n</style>\n", colours(|(_, dark)| dark));
    style
}

/// Frame in which data are drawn.
struct PlotFrame<'a> {
    top: f64,
    x: &'a Ruler,
    y: &'a Ruler,
}

impl PlotFrame<'_> {
    fn bottom(&self) -> f64 {
        self.top + HEIGHT_OF_PLOT
    }

    fn axes(&self, chart: &Chart) -> String {
        let (top, bottom) = (self.top, self.bottom());
        let mut grid = String::new();
        let mut marks = String::new();
        let mut labels = String::new();
        for tick in &self.x.ticks {
            let Some(place) = self.x.inside(tick.value) else { continue };
            let at = px(LEFT + place * PLOT);
            let length = if tick.label.is_some() { 6.0 } else { 3.0 };
            marks += &format!("M{at} {}v{}", px(bottom), px(length));
            if let Some(label) = &tick.label {
                grid += &format!("M{at} {}v{}", px(top), px(HEIGHT_OF_PLOT));
                labels += &text(LEFT + place * PLOT, bottom + 21.0, "x", label);
            }
        }
        for tick in &self.y.ticks {
            let Some(place) = self.y.inside(tick.value) else { continue };
            let at = bottom - place * HEIGHT_OF_PLOT;
            let length = if tick.label.is_some() { 6.0 } else { 3.0 };
            marks += &format!("M{} {}h{}", px(LEFT), px(at), px(-length));
            if let Some(label) = &tick.label {
                grid += &format!("M{} {}h{}", px(LEFT), px(at), px(PLOT));
                labels += &text(LEFT - 10.0, at + 5.0, "y", label);
            }
        }
        format!(
            "<path class=\"grid\" d=\"{grid}\"/>\n\
             <path class=\"frame\" d=\"M{} {}h{}v{}h{}z{marks}\"/>\n{labels}{}\
             <text class=\"x\" transform=\"translate(19 {}) rotate(-90)\">{}</text>\n",
            px(LEFT),
            px(top),
            px(PLOT),
            px(HEIGHT_OF_PLOT),
            px(-PLOT),
            text(LEFT + PLOT / 2.0, bottom + 45.0, "x", &chart.x.label),
            px(top + HEIGHT_OF_PLOT / 2.0),
            escape(&chart.y.label),
        )
    }

    /// Returns the line of a series, in the coordinates of the nested `svg`.
    fn line(&self, series: &Series, at: usize) -> String {
        let mut path = String::new();
        let mut is_down = false;
        for &(x, y) in &series.line {
            // Points more than 100 frames away are left out, because a viewer may not handle unbounded numbers.
            let place =
                self.x.place(x).zip(self.y.place(y)).filter(|(x, y)| x.abs() < 100.0 && y.abs() < 100.0);
            if let Some((x, y)) = place {
                let command = if is_down { 'L' } else { 'M' };
                path += &format!("{command}{} {}", px(x * PLOT), px((1.0 - y) * HEIGHT_OF_PLOT));
            }
            is_down = place.is_some();
        }
        if path.is_empty() {
            return path;
        }
        format!("<path class=\"line s{}\" d=\"{path}\"/>\n", at % LOOKS.len())
    }

    fn points(&self, series: &Series, at: usize) -> String {
        series.points.iter().map(|point| self.point(point, at)).collect()
    }

    fn point(&self, point: &Point, at: usize) -> String {
        let Some((x, y)) = self.x.inside(point.x).zip(self.y.inside(point.y)) else { return String::new() };
        let up = |place: f64| self.bottom() - place * HEIGHT_OF_PLOT;
        let (x, y) = (LEFT + x * PLOT, up(y));
        let mut bar = String::new();
        if let Some((low, high)) = point.error {
            // A value without a place on a logarithmic axis is 0 or negative, so it lies below all others.
            let end = |value: f64| up(self.y.place(value).unwrap_or(0.0).clamp(0.0, 1.0));
            bar = format!(
                "<path class=\"mark s{}\" d=\"M{} {}V{}M{} {}h8M{} {}h8\"/>\n",
                at % LOOKS.len(),
                px(x),
                px(end(low)),
                px(end(high)),
                px(x - 4.0),
                px(end(low)),
                px(x - 4.0),
                px(end(high)),
            );
        }
        bar + &marker(at, x, y)
    }
}

/// Returns the marker of a series.
fn marker(at: usize, x: f64, y: f64) -> String {
    // Each path begins relative to the middle of the marker. The sizes differ, so that all markers look equally large.
    let from = |dx: f64, dy: f64| format!("M{} {}", px(x + dx), px(y + dy));
    let (fill, path) = match at % LOOKS.len() {
        0 => ("full", format!("{}a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", from(-3.6, 0.0))),
        1 => ("hollow", format!("{}h7v7h-7z", from(-3.5, -3.5))),
        2 => ("full", format!("{}l4.6 8h-9.2z", from(0.0, -5.0))),
        3 => ("hollow", format!("{}l5 5l-5 5l-5 -5z", from(0.0, -5.0))),
        4 => ("full", format!("{}h6.6v6.6h-6.6z", from(-3.3, -3.3))),
        5 => ("hollow", format!("{}l4.6 -8h-9.2z", from(0.0, 5.0))),
        _ => ("hollow", format!("{}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", from(-4.0, 0.0))),
    };
    format!("<path class=\"mark {fill} s{}\" d=\"{path}\"/>\n", at % LOOKS.len())
}

/// Names of the series below the frame, in as many columns as fit.
struct Legend {
    top: f64,
    bottom: f64,
    columns: usize,
    column: f64,
}

impl Legend {
    const ROW: f64 = 22.0;

    fn new(series: &[Series], top: f64) -> Self {
        let widest = series.iter().map(|series| width(&series.label, TEXT)).fold(0.0, f64::max);
        let column = SAMPLE + 8.0 + widest + 14.0;
        let columns = ((WIDTH - 2.0 * RIGHT + 14.0) / column).floor().max(1.0) as usize;
        let rows = series.len().div_ceil(columns);
        Self { top, bottom: top + rows as f64 * Self::ROW, columns, column }
    }

    fn draw(&self, series: &[Series]) -> String {
        let mut out = String::new();
        for (at, series) in series.iter().enumerate() {
            let x = RIGHT + (at % self.columns) as f64 * self.column;
            let y = self.top + (at / self.columns) as f64 * Self::ROW + 11.0;
            if !series.line.is_empty() {
                let look = at % LOOKS.len();
                out += &format!("<path class=\"line s{look}\" d=\"M{} {}h{}\"/>\n", px(x), px(y), px(SAMPLE));
            }
            if !series.points.is_empty() {
                out += &marker(at, x + SAMPLE / 2.0, y);
            }
            out += &text(x + SAMPLE + 8.0, y + 5.0, "name", &series.label);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Chart, Point, Series};

    fn chart() -> Chart {
        let line = Series::of("a line & <its> points", (0.0, 1.0), 4, |x| x * x);
        let points =
            vec![Point { x: 0.5, y: 0.25, error: Some((0.2, 0.3)) }, Point { x: 0.9, y: 0.8, error: None }];
        Chart {
            title: "A square".to_owned(),
            description: "Grows faster and faster.".to_owned(),
            note: "Bars are two standard errors.".to_owned(),
            x: Axis::linear("side, m"),
            y: Axis::linear("area, m²"),
            series: vec![line.with_points(points), Series::of("half", (0.0, 1.0), 4, |x| x / 2.0)],
        }
    }

    fn count(svg: &str, what: &str) -> usize {
        svg.matches(what).count()
    }

    #[test]
    fn everything_asked_for_is_there() {
        let svg = chart().svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        for part in [
            "<title>A square</title>",
            "<desc>Grows faster and faster.</desc>",
            ">side, m</text>",
            ">area, m²</text>",
            ">a line &amp; &lt;its&gt; points</text>",
            ">half</text>",
            ">Bars are two standard errors.</text>",
            "prefers-color-scheme:dark",
            "stroke-dasharray",
        ] {
            assert!(svg.contains(part), "{part} is not in\n{svg}");
        }
        // There are two lines, each in the frame and in the legend, two markers and one in the legend, and one error
        // bar.
        assert_eq!(count(&svg, "class=\"line s"), 4);
        assert_eq!(count(&svg, "class=\"mark full s0\""), 3);
        assert_eq!(count(&svg, "class=\"mark s0\""), 1);
        assert_eq!(count(&svg, " id="), 0, "ids would clash on a page with several charts");
    }

    #[test]
    fn places_are_where_the_axes_say() {
        let svg = chart().svg();
        // The line runs from (0, 0) to (1, 1) over a frame of 546 × 320, whose y axis points down.
        assert!(svg.contains("d=\"M0 320L136.5 300L273 240L409.5 140L546 0\""), "{svg}");
    }

    #[test]
    fn the_same_chart_is_the_same_bytes() {
        assert_eq!(chart().svg(), chart().svg());
    }

    #[test]
    fn lines_are_broken_where_there_is_no_value() {
        let mut chart = chart();
        chart.series = vec![Series {
            label: "gap".to_owned(),
            line: vec![(0.0, 0.0), (0.25, 1.0), (0.5, f64::NAN), (0.75, 1.0), (1.0, 0.0)],
            points: vec![],
        }];
        let svg = chart.svg();
        assert!(svg.contains("d=\"M0 320L136.5 0M409.5 0L546 320\""), "{svg}");
    }

    #[test]
    fn what_is_outside_of_the_axes_is_not_marked() {
        let mut chart = chart();
        chart.x = Axis::linear("side, m").between(0.0, 0.7);
        assert_eq!(count(&chart.svg(), "class=\"mark full s0\""), 2);
    }

    #[test]
    fn a_chart_of_nothing_is_a_frame() {
        let mut chart = chart();
        chart.series = vec![];
        chart.note = String::new();
        assert_eq!(count(&chart.svg(), "class=\"line"), 0);
        for (x, y) in [(f64::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, 0.0)] {
            let points = vec![Point { x, y, error: Some((f64::NAN, f64::INFINITY)) }];
            chart.series = vec![Series { label: "odd".to_owned(), line: vec![(x, y)], points }];
            for axis in [Axis::linear("n"), Axis::log("n")] {
                chart.y = axis;
                let svg = chart.svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }

    #[test]
    fn many_series_have_names_of_their_own_places() {
        let mut chart = chart();
        chart.series = (0..9).map(|at| Series::of(&format!("series {at}"), (0.0, 1.0), 2, |x| x)).collect();
        let svg = chart.svg();
        let mut places: Vec<&str> = svg
            .lines()
            .filter(|line| line.starts_with("<text class=\"name\""))
            .map(|line| line.split('>').next().unwrap_or(""))
            .collect();
        assert_eq!(places.len(), 9);
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 9);
    }
}
