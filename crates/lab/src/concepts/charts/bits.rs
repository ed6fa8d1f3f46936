//! Charts of bit sketches, all with the same number of stored bits.

use minwise::Error;
use minwise::sketch::Method;

use super::{LONG, TRIALS, VARIANCE_BY_BITS, chart, method, note, of_method};
use crate::plot::{Axis, Chart};

/// Number of stored bits of every bit sketch, and of the `MinHash` beside them.
const BITS: usize = 1024;
/// Measured similarities. Most are high, because bit sketches are used there.
const SIMILARITIES: [f64; 7] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98];

/// Draws `MinHash` and some bit sketches with the same number of stored bits. `least` is the lower end of the y axis.
fn bit_chart(title: &str, description: &str, least: f64, forms: &[(&str, String)]) -> Result<Chart, Error> {
    let mut series = vec![of_method(0, "minhash (32 bits)", Method::minhash(BITS / 32), &SIMILARITIES)?];
    for (at, (label, form)) in (1..).zip(forms) {
        series.push(of_method(at, label, method(form)?, &SIMILARITIES)?);
    }
    let documents = format!("{LONG} shingles together, about {BITS} stored bits each");
    let y = Axis::log(VARIANCE_BY_BITS).between(least, 20.0);
    Ok(chart(title, description, note(TRIALS, &documents), y, series))
}

pub(crate) fn b_bit() -> Result<Chart, Error> {
    bit_chart(
        "b-bit minwise hashing at equal storage",
        "Every halving of the bits per register lowers the curve, down to one bit, which is lowest above one third.",
        0.01,
        &[
            ("b-bit:8", format!("b-bit:8/minhash:{}", BITS / 8)),
            ("b-bit:2", format!("b-bit:2/minhash:{}", BITS / 2)),
            ("b-bit:1", format!("b-bit:1/minhash:{BITS}")),
        ],
    )
}

pub(crate) fn fractional_bit() -> Result<Chart, Error> {
    // The registers are two thirds of the bits: half of them have one bit per register, the other half two.
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

pub(crate) fn xor() -> Result<Chart, Error> {
    bit_chart(
        "Less than a bit per register, at equal storage",
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

pub(crate) fn connected_bit() -> Result<Chart, Error> {
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

pub(crate) fn odd() -> Result<Chart, Error> {
    bit_chart(
        "The odd sketch at equal storage",
        "With four registers per bit the odd sketch is lowest of all near similarity 1, and useless below 0.7.",
        0.002,
        &[
            ("b-bit:1", format!("b-bit:1/minhash:{BITS}")),
            ("xor:2", format!("xor:2/minhash:{}", BITS * 4)),
            ("odd, 1 register per bit", format!("odd:{BITS}/minhash:{BITS}")),
            ("odd, 4 registers per bit", format!("odd:{BITS}/minhash:{}", BITS * 4)),
        ],
    )
}
