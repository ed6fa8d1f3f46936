//! Draws the errors of sketches, one panel per sketch.

use std::fmt::Write;

use minwise::escape_control;
use minwise::figure::{counted, grouped};

use super::sums::{COLUMNS, ROWS};
use super::{Accuracy, SketchAccuracy};

const PANEL_WIDTH: f64 = 440.0;
const PANEL_HEIGHT: f64 = 300.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;
/// Height of the caption below the panels.
const CAPTION: f64 = 76.0;
/// Number of standard errors on either side of 0 between which 95 % of the pairs are expected.
const Z_95: f64 = 1.96;
/// Number of shades of the cells, from few pairs to many.
const SHADES: usize = 6;

const STYLE: &str = "\
<style>
text{font:12px system-ui,sans-serif;fill:#24292f}
.title{font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}
.back{fill:#fff}.grid{stroke:#d0d7de;stroke-width:1}.zero{stroke:#57606a;stroke-width:1}
.cell{fill:#0969da}.band{fill:none;stroke:#bc4c00;stroke-width:1.5;stroke-dasharray:5 4}
.allowed{fill:none;stroke:#57606a;stroke-width:1;stroke-dasharray:1 3}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.back{fill:#0d1117}.grid{stroke:#30363d}.zero,.allowed{stroke:#9198a1}
.cell{fill:#58a6ff}.band{stroke:#ffa657}
}
</style>
";

/// Draws the errors of all sketches as SVG. The horizontal axis is the exact similarity, the vertical axis is the
/// error, and cells with more pairs are darker. Dashed lines show the error that the formula of each sketch predicts.
#[must_use]
pub fn plot(accuracy: &Accuracy) -> String {
    let columns = accuracy.sketches.len().clamp(1, 2);
    let lines = accuracy.sketches.len().div_ceil(columns);
    let width = (columns as f64 * PANEL_WIDTH).max(560.0);
    let height = lines as f64 * PANEL_HEIGHT + CAPTION;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n<title>Errors of estimated similarities</title>\n{STYLE}\
         <rect class=\"back\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    for (number, sketch) in accuracy.sketches.iter().enumerate() {
        let x = (number % columns) as f64 * PANEL_WIDTH;
        let y = (number / columns) as f64 * PANEL_HEIGHT;
        panel(sketch, accuracy.error, &mut out, (x, y));
    }
    let caption = [
        format!(
            "{} of {}. A cell counts pairs of about the same similarity and error: the darker, the more, on a logarithmic scale.",
            counted(accuracy.pairs, "pair"),
            counted(accuracy.documents, "document")
        ),
        "Dashed: 95 % of the pairs of a similarity are expected between the lines, by the formula of the sketch."
            .to_owned(),
        format!("Dotted: the allowed error of {}.", accuracy.error),
    ];
    for (line, text) in caption.iter().enumerate() {
        let y = height - CAPTION + 22.0 + 18.0 * line as f64;
        let _ = writeln!(out, "<text x=\"16\" y=\"{y}\">{text}</text>");
    }
    out += "</svg>\n";
    out
}

fn panel(sketch: &SketchAccuracy, allowed: f64, out: &mut String, (x0, y0): (f64, f64)) {
    let x = |similarity: f64| x0 + LEFT + similarity * (PANEL_WIDTH - LEFT - RIGHT);
    let middle = y0 + TOP + (PANEL_HEIGHT - TOP - BOTTOM) / 2.0;
    let y = |error: f64| middle - error / sketch.reach * (PANEL_HEIGHT - TOP - BOTTOM) / 2.0;
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{:.1}\" y=\"{:.1}\">{}, {} bytes</text>",
        x(0.0),
        y0 + 20.0,
        escape_control(&sketch.method.to_string()),
        grouped(sketch.bytes as u64)
    );
    let most = sketch.cells.iter().copied().max().unwrap_or(0);
    let cell_width = (x(1.0) - x(0.0)) / COLUMNS as f64;
    let cell_height = (y(-sketch.reach) - y(sketch.reach)) / ROWS as f64;
    for (at, &pairs) in sketch.cells.iter().enumerate().filter(|(_, pairs)| **pairs > 0) {
        let (row, column) = (at / COLUMNS, at % COLUMNS);
        // `ln_1p` is above 0 for a cell of one pair, so the cell has the first shade.
        let share = (pairs as f64).ln_1p() / (most as f64).ln_1p();
        let shade = (share * SHADES as f64).ceil() / SHADES as f64;
        let _ = writeln!(
            out,
            "<rect class=\"cell\" opacity=\"{shade:.2}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            x(column as f64 / COLUMNS as f64),
            y(sketch.reach) + (ROWS - 1 - row) as f64 * cell_height,
            cell_width + 0.1,
            cell_height + 0.1
        );
    }
    for (similarity, label) in [(0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1")] {
        let at = x(similarity);
        let (top, bottom) = (y(sketch.reach), y(-sketch.reach));
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>\
             <text class=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{label}</text>",
            bottom + 17.0
        );
    }
    for error in [-sketch.reach, -sketch.reach / 2.0, 0.0, sketch.reach / 2.0, sketch.reach] {
        let (class, at) = (if error == 0.0 { "zero" } else { "grid" }, y(error));
        let sign = if error > 0.0 { "+" } else { "" };
        let _ = writeln!(
            out,
            "<path class=\"{class}\" d=\"M{:.1} {at:.1}H{:.1}\"/>\
             <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{sign}{error}</text>",
            x(0.0),
            x(1.0),
            x(0.0) - 6.0,
            at + 4.0
        );
    }
    for sign in [-1.0, 1.0] {
        let point = |percent: u32| {
            let similarity = f64::from(percent) / 100.0;
            let error = Z_95 * sketch.method.variance(similarity).max(0.0).sqrt();
            let error = if error.is_finite() { error.min(sketch.reach) } else { sketch.reach };
            format!("{:.1},{:.1}", x(similarity), y(sign * error))
        };
        let points: Vec<String> = (0..=100).map(point).collect();
        let _ = writeln!(out, "<polyline class=\"band\" points=\"{}\"/>", points.join(" "));
        if allowed < sketch.reach {
            let at = y(sign * allowed);
            let _ = writeln!(out, "<path class=\"allowed\" d=\"M{:.1} {at:.1}H{:.1}\"/>", x(0.0), x(1.0));
        }
    }
    let _ = writeln!(
        out,
        "<text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">exact similarity</text>\
         <text class=\"middle\" transform=\"translate({:.1} {middle:.1}) rotate(-90)\">estimate − exact</text>",
        x(0.5),
        y0 + PANEL_HEIGHT - 10.0,
        x0 + 14.0
    );
}
