//! Charts of sketches made of registers or values, whose variance depends on the number of shingles.

use minwise::Error;
use minwise::estimate;
use minwise::sketch::{Base, Method, RegisterSource};

use super::{
    LONG, REGISTERS, SIMILARITIES, TRIALS, VARIANCE_BY_BITS, chart, measured, method, note, stored_bits,
};
use crate::measure::{self, ShinglePair};
use crate::plot::{Axis, Chart, Point, Series};

fn registers(base: Base, registers: usize) -> Method {
    Method::Registers(RegisterSource { base, registers })
}

/// Draws the variance for documents of `union` shingles together, as a function of the shared shingles.
fn of_union(
    at: usize,
    label: &str,
    method: Method,
    union: usize,
    trials: u64,
    variance: impl Fn(usize) -> f64,
) -> Result<Series, Error> {
    let bits = stored_bits(method);
    // The formulas require whole numbers of shingles.
    let line = (1..union).map(|common| (common as f64 / union as f64, variance(common) * bits)).collect();
    let points = measured(method, at, union, &SIMILARITIES, trials)?;
    Ok(Series { label: label.to_owned(), line, points })
}

/// Draws the variance of independent registers, without points.
fn independent(label: &str, method: Method) -> Series {
    let bits = stored_bits(method);
    Series::of(label, (0.0, 1.0), 100, |similarity| method.variance(similarity) * bits)
}

pub(crate) fn minhash() -> Result<Chart, Error> {
    let mut series = vec![];
    for registers in [32, 128, 512] {
        let method = Method::minhash(registers);
        let label = format!("minhash:{registers}");
        let line = Series::of(&label, (0.0, 1.0), 100, |j| method.variance(j).sqrt());
        let points = SIMILARITIES.iter().map(|&similarity| {
            let common = (LONG as f64 * similarity).round() as usize;
            let found = measure::spread(method, &ShinglePair::of(LONG, common), TRIALS)?;
            let y = found.variance.sqrt();
            // The bar is two standard errors of the square root y, which are the standard error of the variance over y.
            let reach = found.variance_error / y;
            Ok(Point { x: similarity, y, error: Some((y - reach, y + reach)) })
        });
        series.push(line.with_points(points.collect::<Result<_, Error>>()?));
    }
    let note = format!(
        "Lines are √(J(1−J)/k). Points are standard deviations of {TRIALS} seeded estimates from real sketches of documents with \
         {LONG} shingles together, bars two standard errors."
    );
    Ok(chart(
        "Standard error of MinHash",
        "Half circles over the similarity, highest at one half: 0.088 for 32 registers, 0.044 for 128 and 0.022 for 512.",
        note,
        Axis::linear("standard error of the estimate"),
        series,
    ))
}

pub(crate) fn min_max() -> Result<Chart, Error> {
    const UNION: usize = 10;
    const SHORT_TRIALS: u64 = 4000;
    let k = 32;
    let (plain, both) = (Method::minhash(k), registers(Base::MinMax, k));
    Ok(chart(
        "Min-max against MinHash, ten shingles in all",
        "Both curves are arches over the similarity; that of min-max is a ninth lower, and so are its measured points.",
        note(SHORT_TRIALS, "10 shingles together"),
        Axis::linear(VARIANCE_BY_BITS).between(0.0, 9.0),
        vec![
            of_union(0, "minhash:32", plain, UNION, SHORT_TRIALS, |common| {
                estimate::minhash::variance(common as f64 / UNION as f64, k)
            })?,
            of_union(1, "min-max:32", both, UNION, SHORT_TRIALS, |common| {
                estimate::min_max::variance(UNION, common, k)
            })?,
        ],
    ))
}

pub(crate) fn one_permutation() -> Result<Chart, Error> {
    use estimate::one_permutation::{share_optimal, share_raw, share_rotation, variance};
    const UNION: usize = 100;
    let k = REGISTERS;
    let of = |share: fn(usize, usize) -> f64| move |common| variance(UNION, common, k, share);
    let [raw, optimal, rotation] = ["one-permutation,raw", "one-permutation", "one-permutation,rotation"]
        .map(|name| (name, method(&format!("{name}:{k}"))));
    Ok(chart(
        "One-permutation hashing of short documents",
        "Arches over the similarity. Without densification the variance is lower than that of MinHash, by optimal densification \
         about the same, by rotation higher.",
        note(TRIALS, "100 shingles together, of 128 registers or bins"),
        Axis::linear(VARIANCE_BY_BITS),
        vec![
            independent("minhash", Method::minhash(k)),
            of_union(0, raw.0, raw.1?, UNION, TRIALS, of(share_raw))?,
            of_union(1, optimal.0, optimal.1?, UNION, TRIALS, of(share_optimal))?,
            of_union(2, rotation.0, rotation.1?, UNION, TRIALS, of(share_rotation))?,
        ],
    ))
}

/// Draws a sketch whose registers are drawn nearly without replacement: `SuperMinHash` or fast similarity.
fn without_replacement(base: Base, name: &str) -> Result<Chart, Error> {
    let k = REGISTERS;
    let of = |union: usize| {
        move |common: usize| estimate::super_minhash::variance(common as f64 / union as f64, union, REGISTERS)
    };
    let sketch = registers(base, k);
    Ok(chart(
        &format!("{name} against MinHash"),
        "Arches over the similarity: half as high as that of MinHash for short documents, almost as high for long ones.",
        note(TRIALS, "100 and 1000 shingles together, of 128 registers"),
        Axis::linear(VARIANCE_BY_BITS).between(0.0, 9.0),
        vec![
            independent("minhash", Method::minhash(k)),
            of_union(0, &format!("{base}, 100 shingles"), sketch, 100, TRIALS, of(100))?,
            of_union(1, &format!("{base}, 1000 shingles"), sketch, 1000, TRIALS, of(1000))?,
        ],
    ))
}

pub(crate) fn super_minhash() -> Result<Chart, Error> {
    without_replacement(Base::SuperMinHash, "SuperMinHash")
}

pub(crate) fn fast_similarity() -> Result<Chart, Error> {
    without_replacement(Base::FastSimilarity, "Fast similarity sketching")
}

pub(crate) fn bottom_k() -> Result<Chart, Error> {
    // A value has two words and a register has one, so half as many values as registers need the same storage.
    let values = REGISTERS / 2;
    let sketch = Method::BottomK(values);
    let of = |union: usize| move |common| estimate::bottom_k::variance(union, common, values);
    Ok(chart(
        "Bottom-k against MinHash at equal storage",
        "Arches over the similarity. With values twice as wide, bottom-k is above MinHash for documents of a thousand shingles and \
         below it for documents of a hundred.",
        note(TRIALS, "100 and 1000 shingles together, of 128 registers or 64 values"),
        Axis::linear(VARIANCE_BY_BITS),
        vec![
            independent("minhash", Method::minhash(REGISTERS)),
            of_union(0, "bottom-k, 100 shingles", sketch, 100, TRIALS, of(100))?,
            of_union(1, "bottom-k, 1000 shingles", sketch, 1000, TRIALS, of(1000))?,
        ],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The measured points lie on the drawn lines.
    #[test]
    fn formulas_hold() {
        for draw in [min_max, one_permutation, super_minhash, bottom_k] {
            let chart = draw().unwrap();
            for series in chart.series.iter().filter(|series| !series.points.is_empty()) {
                for point in &series.points {
                    let at = series.line.iter().find(|(x, _)| (x - point.x).abs() < 1e-9).unwrap();
                    let (low, high) = point.error.unwrap();
                    // An error bar extends two standard errors to either side.
                    let away = (point.y - at.1) / ((high - low) / 4.0);
                    assert!(
                        away.abs() <= 4.0,
                        "{}, {}: {point:?} is {away} standard errors away",
                        chart.title,
                        series.label
                    );
                }
            }
        }
    }
}
