//! Charts of sectional sketches, for documents in the same order and with inserted text.

use minwise::Error;
use minwise::estimate::sectional::{SectionalMatches, displaced_share};
use minwise::estimate::wilson_interval;
use minwise::sketch::sectional::{Policy, Sectional, Tolerant};

use super::{LONG, REGISTERS, SIMILARITIES, TRIALS, VARIANCE_BY_BITS, chart, method, note, of_method};
use crate::measure::sketch;
use crate::plot::{Axis, Chart, Point, Series};

pub(crate) fn sectional() -> Result<Chart, Error> {
    let of = |at: usize, label: &str, form: String| of_method(at, label, method(&form)?, &SIMILARITIES);
    let k = REGISTERS;
    Ok(chart(
        "Sectional MinHash of documents in the same order",
        "Arches over the similarity, higher than that of MinHash by the bits that sections or positions take.",
        note(TRIALS, &format!("{LONG} shingles together, shared ones in the same places, of 128 registers")),
        Axis::linear(VARIANCE_BY_BITS),
        vec![
            of(0, "minhash", format!("minhash:{k}"))?,
            of(1, "sectional:s=2", format!("sectional:s=2/minhash:{k}"))?,
            of(2, "sectional:s=2,tolerant", format!("sectional:s=2,tolerant/minhash:{k}"))?,
        ],
    ))
}

/// Returns the alignment rates of a document and its copies with more and more text inserted in front. Each rate counts
/// all agreeing registers of several trials.
fn alignment_rates(
    matches: impl Fn(u64, &[u64], &[u64]) -> Result<SectionalMatches, Error>,
) -> Result<Vec<Point>, Error> {
    const LEN: u64 = 1000;
    let document: Vec<u64> = (0..LEN).collect();
    let rate = |inserted: u64| {
        let other: Vec<u64> = (LEN..LEN + inserted).chain(0..LEN).collect();
        let mut all = SectionalMatches::default();
        for seed in 0..RATE_TRIALS {
            let found = matches(seed, &document, &other)?;
            all.minima += found.minima;
            all.aligned += found.aligned;
        }
        let (aligned, trials) = (all.aligned as f64, all.minima as f64);
        let error = Some(wilson_interval(aligned, trials));
        Ok(Point { x: inserted as f64 / LEN as f64, y: aligned / trials, error })
    };
    [0, 40, 80, 120, 160, 200].into_iter().map(rate).collect()
}

/// Number of trials per alignment rate.
const RATE_TRIALS: u64 = 20;

pub(crate) fn insertion() -> Result<Chart, Error> {
    let sections = |sections: usize| {
        let name = format!("sectional:s={sections}");
        let line = Series::of(&name, (0.0, 0.2), 20, |share| {
            1.0 - displaced_share((share * 1e6).round() as usize, 1_000_000, sections)
        });
        let points = alignment_rates(|seed, a, b| {
            let sketcher = Sectional::new(REGISTERS, sections, Policy::First, seed)?;
            Ok(sketcher.matches(&sketch(&sketcher, a), &sketch(&sketcher, b)))
        });
        Ok::<_, Error>(line.with_points(points?))
    };
    let tolerant = alignment_rates(|seed, a, b| {
        let sketcher = Tolerant::new(REGISTERS, Tolerant::tolerance_of_sections(2), seed)?;
        Ok(sketcher.matches(&sketch(&sketcher, a), &sketch(&sketcher, b)))
    })?;
    Ok(Chart {
        title: "What an insertion in front does to sections".to_owned(),
        description: "The alignment rate falls with the share inserted, faster for five sections than for two; that of \
                      the tolerant form stays at one."
            .to_owned(),
        note: format!(
            "Lines are 1 − (L/n)(s−1)/2, and 1. Points are rates over all agreeing registers of {RATE_TRIALS} seeded \
             pairs of sketches, bars 95 % intervals."
        ),
        x: Axis::linear("inserted in front, as a share of the document").between(0.0, 0.2),
        y: Axis::linear("alignment rate q").between(0.5, 1.05),
        series: vec![
            sections(2)?,
            sections(5)?,
            Series::of("sectional:s=2,tolerant", (0.0, 0.2), 1, |_| 1.0).with_points(tolerant),
        ],
    })
}
