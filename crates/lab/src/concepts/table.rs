//! The table of all sketches.

use minwise::Error;
use minwise::sketch::{Base, Method};

/// The standard error that every row reaches.
const ERROR: f64 = 0.02;
/// At this similarity.
const SIMILARITY: f64 = 0.8;
/// Sizes are multiples of this: pairs, fours and thirds of registers come out whole.
const STEP: usize = 12;
/// No sketch needs more steps than this for such an error.
const MOST_STEPS: usize = 10_000;

pub(super) fn page() -> Result<String, Error> {
    let mut out = format!(
        "# Every sketch in one table\n\n\
         <!-- Written by `cargo x docs`. Change `crates/lab/src/concepts/table.rs` instead. -->\n\n\
         Each sketch as large as a standard error of {ERROR} at similarity {SIMILARITY} takes in long documents, and what that costs. The \
         smallest is not the best: a sketch that cannot be banded finds no candidates, and bits are paid for in hashes. \
         `minwise plan` makes this table for other errors and similarities. [README.md](README.md) says which one to take.\n\n\
         | `--sketch` | bytes | hashes a shingle | bands | page |\n|---|---:|---:|---|---|\n"
    );
    for at in 0..Method::all(STEP).len() {
        let method = smallest(at);
        let bands = if method.bandable().is_some() { "yes" } else { "no" };
        let (bytes, hashes, page) = (method.size_bytes(), method.hashes_per_shingle(), page_of(method));
        out += &format!("| `{method}` | {bytes} | {hashes} | {bands} | [{page}]({page}.md) |\n");
        // Whatever cannot be made would have no bytes.
        method.build(1)?;
    }
    Ok(out)
}

/// The smallest sketch of one kind that has the error.
fn smallest(kind: usize) -> Method {
    let method = |steps: usize| Method::all(STEP * steps)[kind];
    let (mut low, mut high) = (1, MOST_STEPS);
    while low < high {
        let middle = usize::midpoint(low, high);
        if method(middle).variance(SIMILARITY) <= ERROR * ERROR {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    method(low)
}

/// The page that explains a sketch.
fn page_of(method: Method) -> &'static str {
    match method {
        Method::Registers(source) => match source.base {
            Base::MinHash | Base::FamilyMinHash(_) => "minhash",
            Base::MinMax => "min-max",
            Base::OnePermutation | Base::OnePermutationRotation => "one-permutation",
            Base::SuperMinHash => "super-minhash",
            Base::FastSimilarity => "fast-similarity",
        },
        Method::RawOnePermutation(_) => "one-permutation",
        Method::BottomK(_) => "bottom-k",
        Method::BBit(..) | Method::BitHash(_) => "b-bit",
        Method::Fractional(..) | Method::Xor(..) | Method::ThreeQuarter(..) => "fractional-bit",
        Method::Connected(..) => "connected-bit",
        Method::Odd(..) => "odd",
        Method::Sectional { .. } | Method::Tolerant { .. } | Method::PreTagged { .. } => "sectional",
        Method::Weighted(_) => "weights",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_error_and_no_smaller_sketch_has() {
        for kind in 0..Method::all(STEP).len() {
            let method = smallest(kind);
            assert!(method.variance(SIMILARITY) <= ERROR * ERROR, "{method}");
            let size = (1..MOST_STEPS).find(|steps| Method::all(STEP * steps)[kind] == method);
            let smaller = Method::all(STEP * (size.unwrap() - 1).max(1))[kind];
            assert!(smaller.variance(SIMILARITY) > ERROR * ERROR, "{smaller}");
        }
    }

    #[test]
    fn the_table_has_a_row_for_every_method() {
        let page = page().unwrap();
        assert_eq!(page.matches("\n| `").count() - 1, Method::all(STEP).len());
        // k = J(1−J)/0.0004 = 400, rounded up to a multiple of 12.
        assert!(page.contains("| `minhash:408` | 1632 | 408 | yes | [minhash](minhash.md) |"), "{page}");
    }
}
