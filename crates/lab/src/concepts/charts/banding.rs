//! Charts of the probability that a pair becomes a candidate.

use minwise::Error;
use minwise::candidate::{Banding, Curve};
use minwise::estimate::wilson_interval;
use minwise::sketch::MinHash;

use super::{LONG, REGISTERS, SIMILARITIES, TRIALS, chart};
use crate::measure::{ShinglePair, sketch};
use crate::plot::{Axis, Chart, Point, Series};

pub(crate) fn banding() -> Result<Chart, Error> {
    let mut series = vec![];
    for (bands, rows) in [(32, 4), (16, 6), (9, 13)] {
        let banding = Banding::new(bands, rows, REGISTERS)?;
        let curve = Curve::from(banding);
        let label = format!("{bands} bands of {rows} rows");
        let line = Series::of(&label, (0.0, 1.0), 200, |similarity| curve.probability(similarity));
        let points = SIMILARITIES.iter().map(|&similarity| {
            let common = (LONG as f64 * similarity).round() as usize;
            let pair = ShinglePair::of(LONG, common);
            let mut found = 0;
            for seed in 0..TRIALS {
                let minhash = MinHash::new(REGISTERS, seed)?;
                let (a, b) = (sketch(&minhash, &pair.a), sketch(&minhash, &pair.b));
                found += u32::from((0..bands).any(|band| banding.key(band, &a) == banding.key(band, &b)));
            }
            let (found, trials) = (f64::from(found), TRIALS as f64);
            Ok(Point { x: similarity, y: found / trials, error: Some(wilson_interval(found, trials)) })
        });
        series.push(line.with_points(points.collect::<Result<_, Error>>()?));
    }
    let note = format!(
        "Lines are 1 − (1 − sʳ)ᵇ. Points are shares of {TRIALS} seeded pairs of sketches that share a band, bars 95 % intervals."
    );
    Ok(chart(
        "S-curves: which pairs become candidates",
        "Three rising curves. 32 bands of 4 rows are half way up at similarity 0.38, 16 of 6 at 0.59, 9 of 13 at 0.82.",
        note,
        Axis::linear("probability of sharing a band").between(0.0, 1.0),
        series,
    ))
}
