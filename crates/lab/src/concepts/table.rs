//! Writes the table of all sketches.

use minwise::sketch::{Base, Method};

/// Standard error that every row reaches.
const ERROR: f64 = 0.02;
/// Similarity at which every row reaches the standard error.
const SIMILARITY: f64 = 0.8;

pub(super) fn page() -> String {
    let mut out = format!(
        "# Every sketch in one table\n\n\
         <!-- Written by `cargo x docs`. Change `crates/lab/src/concepts/table.rs` instead. -->\n\n\
         Each sketch as large as a standard error of {ERROR} at similarity {SIMILARITY} takes in long documents, and what that costs. The \
         smallest is not the best: a sketch that cannot be banded finds no candidates, and bits are paid for in hashes. \
         `minwise plan` makes this table for other errors and similarities. [README.md](README.md) says which one to take.\n\n\
         | `--sketch` | bytes | hashes per shingle | bands | page |\n|---|---:|---:|---|---|\n"
    );
    for method in Method::kinds().filter_map(|kind| Method::smallest(kind, SIMILARITY, ERROR)) {
        let bands = if method.bandable().is_some() { "yes" } else { "no" };
        let (bytes, hashes, page) = (method.size_bytes(), method.hashes_per_shingle(), page_of(method));
        out += &format!("| `{method}` | {bytes} | {hashes} | {bands} | [{page}]({page}.md) |\n");
    }
    out
}

/// Returns the name of the page that explains a sketch.
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
    fn the_table_has_a_row_for_every_method() {
        let page = page();
        assert_eq!(page.matches("\n| `").count() - 1, Method::kinds().len());
        // k = J(1−J)/0.0004 = 400, rounded up to a multiple of 12.
        assert!(page.contains("| `minhash:408` | 1632 | 408 | yes | [minhash](minhash.md) |"), "{page}");
    }
}
