//! `minwise plan`: bands and rows for a threshold and a recall, and what to expect of them.

use std::io::Write;

use minwise::candidate::{Banding, Curve, tune};
use minwise::sketch::Method;
use serde_json::json;

use crate::Exit;
use crate::args::{PlanArgs, PlanFormat};
use crate::printer::Failure;
use crate::settings::{self, Problems};

const PLOT_COLUMNS: usize = 61;
const PLOT_ROWS: usize = 13;

pub fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    let mut problems = Problems::default();
    let threshold = settings::threshold(&args.threshold, &mut problems);
    let method = settings::method(&args.registers, &mut problems);
    let banding = settings::banding(&args.bands, method, threshold, &mut problems);
    let error = settings::standard_error(&args.error, &mut problems);
    problems.finish()?;
    let banding = banding.ok_or_else(|| Failure::Options(vec![]))?;

    let plan = Plan { banding, threshold, method, error };
    let out = match args.format {
        PlanFormat::Text => plan.text(),
        PlanFormat::Json => plan.json(),
    };
    std::io::stdout().lock().write_all(out.as_bytes())?;
    Ok(Exit::Done)
}

struct Plan {
    banding: Banding,
    threshold: f64,
    method: Method,
    error: f64,
}

/// A sketch as large as the wanted error asks for.
struct Ranked {
    /// Its kind, without a size.
    name: String,
    bytes: f64,
    hashes: f64,
    bandable: bool,
}

/// Sketches of this size are scaled: a variance falls with the size, and bytes grow with it.
const MODEL: usize = 4096;

impl Plan {
    fn probability(&self, similarity: f64) -> f64 {
        Curve::from(self.banding).probability(similarity)
    }

    /// Bytes that a run keeps in memory for each document, at most.
    fn memory_bytes(&self) -> usize {
        /// Tables, an id of a dozen characters, and what the allocator needs beside them.
        const TABLES: usize = 220;
        /// Four bands at a time, each with its keys and room to sort them.
        const SORTED: usize = 4 * 32;
        self.method.size_bytes() + TABLES + SORTED
    }

    fn false_candidates(&self) -> f64 {
        tune::expected_false_candidates(self.banding, self.threshold, |similarity| similarity)
    }

    /// Every sketch, by the bytes that it needs for the wanted error at the threshold.
    fn ranking(&self) -> Vec<Ranked> {
        let mut ranked: Vec<Ranked> = Method::all(MODEL)
            .into_iter()
            .map(|method| {
                let scale = method.variance(self.threshold) / (self.error * self.error);
                let hashes = method.hashes_per_shingle() as f64;
                Ranked {
                    name: method.to_string().replace(&format!(":{}", method.registers()), ""),
                    bytes: method.size_bytes() as f64 * scale,
                    hashes: if hashes > 1.0 { hashes * scale } else { 1.0 },
                    bandable: method.bandable().is_some(),
                }
            })
            .filter(|ranked| ranked.bytes.is_finite())
            .collect();
        ranked.sort_by(|a, b| a.bytes.total_cmp(&b.bytes).then_with(|| a.name.cmp(&b.name)));
        ranked
    }

    fn json(&self) -> String {
        let curve = Curve::from(self.banding);
        let points: Vec<_> = (0..=20)
            .map(|i| {
                let similarity = f64::from(i) / 20.0;
                json!({"similarity": similarity, "probability": self.probability(similarity)})
            })
            .collect();
        let sketches: Vec<_> = self
            .ranking()
            .into_iter()
            .map(|Ranked { name, bytes, hashes, bandable }| {
                json!({
                    "sketch": name,
                    "bytes": bytes.ceil(),
                    "hashes_per_shingle": hashes.ceil(),
                    "bandable": bandable,
                })
            })
            .collect();
        let plan = json!({
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
            "sketches": sketches,
        });
        format!("{plan}\n")
    }

    fn text(&self) -> String {
        let curve = Curve::from(self.banding);
        let (bands, rows) = (self.banding.bands(), self.banding.rows());
        let registers = self.method.registers();
        let mut out = format!(
            "{bands} bands of {rows} rows, {} of {registers} registers\n\n\
             recall            {:.4} at similarity {}\n\
             half point        {:.4}, where every other pair is found\n",
            bands * rows,
            self.probability(self.threshold),
            self.threshold,
            curve.half_point(),
        );
        if let Some(steepest) = curve.steepest_point() {
            out += &format!("steepest point    {steepest:.4}\n");
        }
        out += &format!(
            "memory            up to {} bytes a document, {} of them its sketch\n\
             false candidates  {:.2} a document, if it has ten neighbours at similarities spread evenly from 0 to 1\n\n\
             probability that a pair becomes a candidate, by similarity\n\n",
            self.memory_bytes(),
            self.method.size_bytes(),
            self.false_candidates(),
        );
        out += &self.plot();
        out += "\nsimilarity  probability\n";
        for i in 1..=20 {
            let similarity = f64::from(i) / 20.0;
            out += &format!("{similarity:>10.2}  {:>11.6}\n", self.probability(similarity));
        }
        out + &self.ranking_text()
    }

    fn ranking_text(&self) -> String {
        let ranking = self.ranking();
        let mut out = format!(
            "\nsketches for a standard error of {} at similarity {}, in long documents\n\n\
             sketch                                    bytes  hashes a shingle  bands\n",
            self.error, self.threshold
        );
        for Ranked { name, bytes, hashes, bandable } in &ranking {
            let bands = if *bandable { "yes" } else { "no" };
            out += &format!("{name:38}  {:>7.0}  {:>16.0}  {bands:>5}\n", bytes.ceil(), hashes.ceil());
        }
        if let Some(least) = ranking.first() {
            out += &format!(
                "\nto find candidates, take `minhash`, or `fast-similarity` where hashing takes the time: both can be banded\n\
                 to keep sketches for comparison only, take `{}`: no other needs fewer bytes at this similarity\n",
                least.name
            );
        }
        out
    }

    /// The curve, drawn with characters; the threshold is a column of colons.
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
                    // The curve is joined between columns, or it would have gaps where it is steep.
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
