//! `minwise plan` chooses bands and rows for a threshold and a recall, and prints the expected results. On request, it
//! prints the S-curve, the sketches for a standard error, and the outcome of the filter.

mod filter;
mod ranking;

use minwise::candidate::{Banding, Curve, tune};
use minwise::figure::{counted, grouped, probability};
use minwise::sketch::Method;
use serde_json::json;

use crate::Exit;
use crate::args::{PlanArgs, PlanFormat};
use crate::printer::Failure;
use crate::settings::{self, FlagProblems};
use filter::FilterPlan;
use ranking::MethodRanking;

const PLOT_COLUMNS: usize = 61;
const PLOT_ROWS: usize = 13;

pub fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    let mut problems = FlagProblems::default();
    let threshold = settings::threshold(&args.threshold, &mut problems);
    let method = settings::method(&args.registers, &mut problems);
    let banding = settings::banding(&args.bands, method, threshold, &mut problems);
    let error = settings::standard_error(&args.error, &mut problems);
    let filter = args
        .filter
        .then(|| settings::planned_filter(&args.filter_error, method, threshold, &mut problems))
        .flatten()
        .map(|(filter, error)| FilterPlan { filter, threshold, error });
    problems.finish()?;
    let banding = banding.ok_or_else(|| Failure::Options(vec![]))?;

    let plan = PlanSummary { banding, threshold, method, error, filter };
    let out = match args.format {
        PlanFormat::Text => plan.text(args.details),
        PlanFormat::Json => plan.json(),
    };
    super::print(out.as_bytes())?;
    Ok(Exit::Done)
}

struct PlanSummary {
    banding: Banding,
    threshold: f64,
    method: Method,
    error: f64,
    filter: Option<FilterPlan>,
}

impl PlanSummary {
    fn probability(&self, similarity: f64) -> f64 {
        Curve::from(self.banding).probability(similarity)
    }

    /// Returns an upper bound on the number of bytes of memory that a run keeps per document.
    fn memory_bytes(&self) -> usize {
        /// Number of bytes per document for tables, an id of twelve characters, and the overhead of the allocator.
        const TABLES: usize = 220;
        /// Number of bytes per document for the keys of the bands that are sorted together: 16 bytes in each of eight
        /// bands.
        const SORTED: usize = 8 * 16;
        self.method.size_bytes() + TABLES + SORTED
    }

    fn false_candidates(&self) -> f64 {
        tune::expected_false_candidates(self.banding, self.threshold, |similarity| similarity)
    }

    fn json(&self) -> String {
        let curve = Curve::from(self.banding);
        let points: Vec<_> = (0..=20)
            .map(|i| {
                let similarity = f64::from(i) / 20.0;
                json!({"similarity": similarity, "probability": self.probability(similarity)})
            })
            .collect();
        let ranking = MethodRanking::new(self.threshold, self.error);
        let mut plan = json!({
            "sketch": self.method.to_string(),
            "threshold": self.threshold,
            "bands": self.banding.bands(),
            "rows": self.banding.rows(),
            "recall_at_threshold": self.probability(self.threshold),
            "half_point": curve.half_point(),
            "steepest_point": curve.steepest_point(),
            "sketch_bytes": self.method.size_bytes(),
            "memory_bytes": self.memory_bytes(),
            "expected_false_candidates": self.false_candidates(),
            "curve": points,
            "standard_error": self.error,
            "sketches": ranking.sketches_json(),
            "out_of_reach": ranking.out_of_reach_json(),
            "recommended": ranking.recommended_json(),
        });
        if let Some(filter) = &self.filter {
            plan["filter"] = filter.json();
        }
        format!("{plan}\n")
    }

    fn text(&self, has_details: bool) -> String {
        let (bands, rows) = (self.banding.bands(), self.banding.rows());
        let used = bands * rows;
        let (bands, rows) = (counted(bands as u64, "band"), counted(rows as u64, "row"));
        let mut out = format!(
            "bands       {bands} of {rows}: {} of {} registers are used\n\
             recall      a pair at similarity {} is found with a probability of {}\n\
             half point  a pair at similarity {:.2} is found with a probability of 50 %\n\
             memory      up to {} bytes per document, {} of them for its sketch\n",
            grouped(used as u64),
            grouped(self.method.registers() as u64),
            self.threshold,
            probability(self.probability(self.threshold)),
            Curve::from(self.banding).half_point(),
            grouped(self.memory_bytes() as u64),
            grouped(self.method.size_bytes() as u64),
        );
        if has_details {
            out += &self.details();
        }
        if let Some(filter) = &self.filter {
            out += &filter.text();
        }
        if !has_details && self.filter.is_none() {
            out += "\n`--details` shows the S-curve and other sketches.\n";
        }
        out
    }

    /// Returns the details: the S-curve, and the sketches for a standard error.
    fn details(&self) -> String {
        let mut out = String::from("\nDetails\n");
        if let Some(steepest) = Curve::from(self.banding).steepest_point() {
            out += &format!("steepest point    similarity {steepest:.4}\n");
        }
        out += &format!(
            "false candidates  {:.1} of 100 pairs whose similarities are spread evenly from 0 to 1 become candidates, but do not reach {}\n\n\
             probability that a pair becomes a candidate, by similarity\n\n",
            10.0 * self.false_candidates(),
            self.threshold,
        );
        out += &self.plot();
        out += "\nsimilarity  probability\n";
        for i in 1..=20 {
            let similarity = f64::from(i) / 20.0;
            out += &format!("{similarity:>10.2}  {:>11.6}\n", self.probability(similarity));
        }
        out + &MethodRanking::new(self.threshold, self.error).text()
    }

    /// Draws the S-curve with characters. A column of colons marks the threshold.
    fn plot(&self) -> String {
        let similarity = |column: usize| column as f64 / (PLOT_COLUMNS - 1) as f64;
        let row_of =
            |column: usize| (self.probability(similarity(column)) * (PLOT_ROWS - 1) as f64).round() as usize;
        let threshold = (self.threshold * (PLOT_COLUMNS - 1) as f64).round() as usize;
        let mut out = String::new();
        for row in (0..PLOT_ROWS).rev() {
            let label = match row {
                0 => "0.0",
                row if row == PLOT_ROWS - 1 => "1.0",
                row if row == (PLOT_ROWS - 1) / 2 => "0.5",
                _ => "   ",
            };
            let line: String = (0..PLOT_COLUMNS)
                .map(|column| {
                    // Plot rows between the heights of two neighbouring columns are filled, because a steep curve would
                    // otherwise have gaps.
                    let (low, high) = (row_of(column.saturating_sub(1)).min(row_of(column)), row_of(column));
                    if row == high || (low < row && row < high) {
                        '*'
                    } else if column == threshold {
                        ':'
                    } else {
                        ' '
                    }
                })
                .collect();
            out += &format!("  {label} |{}\n", line.trim_end());
        }
        out += &format!("      +{}\n", "-".repeat(PLOT_COLUMNS));
        out += &format!("       0{:>30}{:>30}\n", "0.5", "1");
        out
    }
}

/// Content of the first column of a table.
#[derive(Clone, Copy)]
enum First {
    /// Names, aligned left.
    Names,
    /// Numbers, aligned right.
    Numbers,
}

/// Returns a table with titles. Each column is as wide as its widest cell.
fn table<const N: usize>(first: First, titles: [&str; N], rows: Vec<[String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(titles.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match (column, first) {
            (0, First::Names) => format!("{cell:width$}"),
            (0, First::Numbers) => format!("{cell:>width$}"),
            _ => format!("  {cell:>width$}"),
        });
        cells.collect::<String>() + "\n"
    };
    rows.iter().map(line).collect()
}
