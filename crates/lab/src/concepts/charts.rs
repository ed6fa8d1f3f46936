//! The pictures: variance against similarity for every sketch, and a few that say more than that.

use std::thread;

use minwise::Error;
use minwise::candidate::{Banding, Curve};
use minwise::estimate::sectional::Matches;
use minwise::estimate::{self, wilson_interval};
use minwise::sketch::sectional::{Policy, Sectional, Tolerant};
use minwise::sketch::{Base, Method, MinHash, Source};

use crate::measure::{self, Pair, sketch};
use crate::plot::{Axis, Chart, Point, Series};

/// Trials of a point.
const TRIALS: u64 = 400;
/// Where points are measured.
const SIMILARITIES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// The same, and higher ones, which is where bit sketches are used.
const HIGH_SIMILARITIES: [f64; 7] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98];
/// Shingles of two long documents together.
const LONG: usize = 400;
/// Bits that every bit sketch stores, and the `MinHash` beside it.
const BITS: usize = 1024;
/// Registers of the sketches that are registers.
const REGISTERS: usize = 128;
/// Steps of a drawn formula.
const STEPS: u32 = 94;

type Drawing = fn() -> Result<Chart, Error>;

/// Every picture with its name. Each is made on a thread of its own; none depends on another.
pub(super) fn draw() -> Result<Vec<(&'static str, Chart)>, Error> {
    let drawings: [(&str, Drawing); 14] = [
        ("minhash", minhash),
        ("min-max", min_max),
        ("one-permutation", one_permutation),
        ("super-minhash", super_minhash),
        ("fast-similarity", fast_similarity),
        ("bottom-k", bottom_k),
        ("b-bit", b_bit),
        ("fractional-bit", fractional_bit),
        ("xor", xor),
        ("connected-bit", connected_bit),
        ("odd", odd),
        ("sectional", sectional),
        ("sectional-insertion", sectional_insertion),
        ("banding", banding),
    ];
    thread::scope(|scope| {
        let workers = drawings.map(|(name, drawing)| (name, scope.spawn(drawing)));
        workers
            .into_iter()
            .map(|(name, worker)| {
                let chart = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                Ok((name, chart))
            })
            .collect()
    })
}

/// A method by its text form.
fn method(form: &str) -> Result<Method, Error> {
    form.parse()
}

fn registers(base: Base, registers: usize) -> Method {
    Method::Registers(Source { base, registers })
}

/// Bits that a sketch stores.
fn stored_bits(method: Method) -> f64 {
    method.size_bytes() as f64 * 8.0
}

/// The measured variance times the stored bits, near each similarity; `at` is the number of the series.
fn measured(
    method: Method,
    at: usize,
    union: usize,
    similarities: &[f64],
    trials: u64,
) -> Result<Vec<Point>, Error> {
    let bits = stored_bits(method);
    similarities
        .iter()
        .map(|&similarity| {
            // Every series is measured a little to the left of the one before, or points would hide one another; near 1
            // there is no room for that, but curves are steep.
            let similarity = if similarity > 0.9 { similarity } else { similarity - 0.02 * at as f64 };
            let common = (union as f64 * similarity).round().max(1.0) as usize;
            let found = measure::spread(method, &Pair::of(union, common), trials)?;
            let (y, reach) = (found.variance * bits, 2.0 * found.variance_error * bits);
            Ok(Point { x: common as f64 / union as f64, y, error: Some((y - reach, y + reach)) })
        })
        .collect()
}

/// A method's own variance for long documents, with points; `at` is the number of the series.
fn of_method(at: usize, label: &str, method: Method, similarities: &[f64]) -> Result<Series, Error> {
    let bits = stored_bits(method);
    let line = Series::of(label, (0.05, 0.99), STEPS, |similarity| method.variance(similarity) * bits);
    Ok(line.with_points(measured(method, at, LONG, similarities, TRIALS)?))
}

/// A variance for documents of `union` shingles together, as a function of the shared ones.
fn of_union(
    at: usize,
    label: &str,
    method: Method,
    union: usize,
    trials: u64,
    variance: impl Fn(usize) -> f64,
) -> Result<Series, Error> {
    let bits = stored_bits(method);
    // The formulas ask for whole shingles.
    let line = (1..union).map(|common| (common as f64 / union as f64, variance(common) * bits)).collect();
    let points = measured(method, at, union, &SIMILARITIES, trials)?;
    Ok(Series { label: label.to_owned(), line, points })
}

/// The variance of independent registers, without points.
fn independent(label: &str, method: Method) -> Series {
    let bits = stored_bits(method);
    Series::of(label, (0.0, 1.0), 100, |similarity| method.variance(similarity) * bits)
}

fn note(trials: u64, documents: &str) -> String {
    format!(
        "Lines are formulas. Points are variances of {trials} seeded estimates from real sketches of documents with {documents}, \
         bars two standard errors."
    )
}

/// Variance times stored bits against similarity.
fn chart(title: &str, description: &str, note: String, y: Axis, series: Vec<Series>) -> Chart {
    let x = Axis::linear("similarity J").between(0.0, 1.0);
    Chart { title: title.to_owned(), description: description.to_owned(), note, x, y, series }
}

const VARIANCE_BY_BITS: &str = "variance × stored bits";

fn minhash() -> Result<Chart, Error> {
    let mut series = vec![];
    for registers in [32, 128, 512] {
        let method = Method::minhash(registers);
        let label = format!("minhash:{registers}");
        let line = Series::of(&label, (0.0, 1.0), 100, |j| method.variance(j).sqrt());
        let points = SIMILARITIES.iter().map(|&similarity| {
            let common = (LONG as f64 * similarity).round() as usize;
            let found = measure::spread(method, &Pair::of(LONG, common), TRIALS)?;
            let y = found.variance.sqrt();
            // The error of a square root.
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

fn min_max() -> Result<Chart, Error> {
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

fn one_permutation() -> Result<Chart, Error> {
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

/// The two sketches whose registers are drawn nearly without replacement.
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

fn super_minhash() -> Result<Chart, Error> {
    without_replacement(Base::SuperMinHash, "SuperMinHash")
}

fn fast_similarity() -> Result<Chart, Error> {
    without_replacement(Base::FastSimilarity, "Fast similarity sketching")
}

fn bottom_k() -> Result<Chart, Error> {
    // Values have two words, so half as many take the room of the registers.
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

/// `MinHash` and some bit sketches, all with the same number of stored bits; `least` is where the picture ends below.
fn bit_chart(title: &str, description: &str, least: f64, forms: &[(&str, String)]) -> Result<Chart, Error> {
    let mut series = vec![of_method(0, "minhash (32 bits)", Method::minhash(BITS / 32), &HIGH_SIMILARITIES)?];
    for (at, (label, form)) in (1..).zip(forms) {
        series.push(of_method(at, label, method(form)?, &HIGH_SIMILARITIES)?);
    }
    let documents = format!("{LONG} shingles together, {BITS} stored bits each");
    let y = Axis::log(VARIANCE_BY_BITS).between(least, 20.0);
    Ok(chart(title, description, note(TRIALS, &documents), y, series))
}

fn b_bit() -> Result<Chart, Error> {
    bit_chart(
        "b-bit minwise hashing at equal storage",
        "Every halving of the bits a register lowers the curve, down to one bit, which is lowest above one third.",
        0.01,
        &[
            ("b-bit:8", format!("b-bit:8/minhash:{}", BITS / 8)),
            ("b-bit:2", format!("b-bit:2/minhash:{}", BITS / 2)),
            ("b-bit:1", format!("b-bit:1/minhash:{BITS}")),
        ],
    )
}

fn fractional_bit() -> Result<Chart, Error> {
    // Two thirds of the bits, half of them with one bit a register and half with two.
    let k = BITS * 2 / 3 / 64 * 64;
    bit_chart(
        "Mixtures of widths at equal storage",
        "The curve of one and a half bits lies between those of one bit and of two, everywhere.",
        0.01,
        &[
            ("b-bit:2", format!("b-bit:2/minhash:{}", BITS / 2)),
            ("fractional:1x0.5+2x0.5", format!("fractional:1x0.5+2x0.5/minhash:{k}")),
            ("b-bit:1", format!("b-bit:1/minhash:{BITS}")),
        ],
    )
}

fn xor() -> Result<Chart, Error> {
    bit_chart(
        "Less than a bit a register, at equal storage",
        "Each halving lowers the curve at high similarities and raises it at low ones; the curves cross at 0.58, 0.76 and 0.87. \
         Points of an eighth of a bit leave their curve below 0.8, where estimates are clamped.",
        0.002,
        &[
            ("b-bit:1", format!("b-bit:1/minhash:{BITS}")),
            ("three-quarter", format!("three-quarter/minhash:{}", BITS * 4 / 3 / 4 * 4)),
            ("xor:1", format!("xor:1/minhash:{}", BITS << 1)),
            ("xor:2", format!("xor:2/minhash:{}", BITS << 2)),
            ("xor:3", format!("xor:3/minhash:{}", BITS << 3)),
        ],
    )
}

fn connected_bit() -> Result<Chart, Error> {
    bit_chart(
        "Connected bits at equal storage",
        "The more registers are connected, the higher the curve; at high similarities they come together.",
        0.01,
        &[
            ("b-bit:1", format!("b-bit:1/minhash:{BITS}")),
            ("connected:2x1", format!("connected:2x1/minhash:{BITS}")),
            ("connected:4x1", format!("connected:4x1/minhash:{BITS}")),
        ],
    )
}

fn odd() -> Result<Chart, Error> {
    bit_chart(
        "The odd sketch at equal storage",
        "With four registers a bit the odd sketch is lowest of all near similarity 1, and useless below 0.7.",
        0.002,
        &[
            ("b-bit:1", format!("b-bit:1/minhash:{BITS}")),
            ("xor:2", format!("xor:2/minhash:{}", BITS * 4)),
            ("odd, 1 register a bit", format!("odd:{BITS}/minhash:{BITS}")),
            ("odd, 4 registers a bit", format!("odd:{BITS}/minhash:{}", BITS * 4)),
        ],
    )
}

fn sectional() -> Result<Chart, Error> {
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

/// Alignment rates of a document and the same one with more and more inserted in front: those over all agreeing
/// registers of a number of trials.
fn alignment_rates(
    matches: impl Fn(u64, &[u64], &[u64]) -> Result<Matches, Error>,
) -> Result<Vec<Point>, Error> {
    const LEN: u64 = 1000;
    let document: Vec<u64> = (0..LEN).collect();
    let rate = |inserted: u64| {
        let other: Vec<u64> = (LEN..LEN + inserted).chain(0..LEN).collect();
        let mut all = Matches::default();
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

/// Trials of an alignment rate, each of as many registers as agree.
const RATE_TRIALS: u64 = 20;

fn sectional_insertion() -> Result<Chart, Error> {
    let sections = |sections: usize| {
        let name = format!("sectional:s={sections}");
        let line = Series::of(&name, (0.0, 0.2), 20, |share| {
            1.0 - estimate::sectional::displaced_share((share * 1e6).round() as usize, 1_000_000, sections)
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

fn banding() -> Result<Chart, Error> {
    let mut series = vec![];
    for (bands, rows) in [(32, 4), (16, 6), (9, 13)] {
        let banding = Banding::new(bands, rows, REGISTERS)?;
        let curve = Curve::from(banding);
        let label = format!("{bands} bands of {rows} rows");
        let line = Series::of(&label, (0.0, 1.0), 200, |similarity| curve.probability(similarity));
        let points = SIMILARITIES.iter().map(|&similarity| {
            let common = (LONG as f64 * similarity).round() as usize;
            let pair = Pair::of(LONG, common);
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
