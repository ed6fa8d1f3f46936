//! Sketches of the literature that the library does not have. They are written from the definitions of their papers and
//! tested like the sketches of the library: mean and variance over many seeds against theory, and words against a second
//! implementation, `vectors/beyond_reference.py`.
//!
//! | sketch | paper | what it adds |
//! |---|---|---|
//! | [`CMinHash`] | Li and Li 2021 | two permutations for all registers |
//! | [`SetSketch`] | Ertl 2021 | registers of few bits that also count, and merge |
//! | [`HyperMinHash`] | Yu and Weber 2020 | one hash function, registers of few bits that also count, and merge |
//! | [`ProbMinHash`] | Ertl 2020 | weighted sets in one pass over a shingle's process |
//!
//! `docs/concepts/comparison.md` shows them beside the sketches of the library. Their code is plain: it has no vector
//! code, and it uses a word of 32 bits per register, although a packed register may take fewer bits.

mod c_minhash;
mod hyper_minhash;
mod prob_minhash;
mod set_sketch;

pub use c_minhash::CMinHash;
pub use hyper_minhash::HyperMinHash;
pub use prob_minhash::ProbMinHash;
pub use set_sketch::SetSketch;

use minwise::hash::{SplitMix64, fmix64};

/// Sketch that estimates the similarity of two sets.
pub trait BeyondSketch: Send + Sync {
    /// Returns the number of bytes of a packed sketch.
    fn bytes(&self) -> usize;

    /// Returns the sketch of a set. Repeated shingles do not change it.
    fn sketch(&self, shingles: &[u64]) -> Vec<u32>;

    /// Estimates the similarity of two sets, from 0 to 1. Neither set may be empty.
    fn estimate(&self, a: &[u32], b: &[u32]) -> f64;
}

/// Returns the random sequence of a shingle for a seed.
fn sequence(seed: u64, shingle: u64) -> SplitMix64 {
    SplitMix64::new(fmix64(shingle ^ fmix64(seed ^ 0x6265_796f_6e64_2121)))
}

/// Returns the next number in (0, 1].
fn unit(sequence: &mut SplitMix64) -> f64 {
    ((sequence.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Returns the next exponential number with mean 1.
fn exponential(sequence: &mut SplitMix64) -> f64 {
    -unit(sequence).ln()
}

/// Returns a whole number below `bound`.
fn below(sequence: &mut SplitMix64, bound: usize) -> usize {
    ((u128::from(sequence.next_u64()) * bound as u128) >> 64) as usize
}

/// Returns the share of registers that agree.
fn agreement(a: &[u32], b: &[u32]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::measure::{ShinglePair, TrialStatistics};

    /// Content of `vectors/beyond.toml`, which `vectors/reference.py` writes.
    #[derive(Deserialize)]
    pub(super) struct Vectors {
        words: Vec<SketchWords>,
        pub c_minhash_variance: Vec<Permuted>,
    }

    /// Words of a sketch of the shingles from `first` to `until` − 1.
    #[derive(Deserialize)]
    struct SketchWords {
        sketch: String,
        first: u64,
        until: u64,
        registers: usize,
        seed: u64,
        words: Vec<u32>,
    }

    /// Variance of `C-MinHash` over all pairs of permutations of a range of five.
    #[derive(Deserialize)]
    pub(super) struct Permuted {
        pub registers: usize,
        pub a: Vec<usize>,
        pub b: Vec<usize>,
        pub similarity: f64,
        pub variance: f64,
    }

    pub(super) fn vectors() -> Vectors {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/beyond.toml");
        toml::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn words_are_those_of_the_second_implementation() {
        let all = vectors().words;
        assert_eq!(all.len(), 14);
        for SketchWords { sketch, first, until, registers, seed, words } in all {
            let maker: Box<dyn BeyondSketch> = match sketch.as_str() {
                "C-MinHash" => Box::new(CMinHash::new(registers, seed)),
                "ProbMinHash" => Box::new(ProbMinHash::new(registers, seed)),
                "SetSketch, 6 bits" => Box::new(SetSketch::of_6_bits(registers, seed)),
                "SetSketch, 8 bits" => Box::new(SetSketch::of_8_bits(registers, seed)),
                "SetSketch, 16 bits" => Box::new(SetSketch::of_16_bits(registers, seed)),
                "HyperMinHash, 8 bits" => Box::new(HyperMinHash::new(registers, 4, 4, seed)),
                "HyperMinHash, 16 bits" => Box::new(HyperMinHash::new(registers, 6, 10, seed)),
                other => panic!("`{other}` is no sketch"),
            };
            let shingles: Vec<u64> = (first..until).collect();
            assert_eq!(maker.sketch(&shingles), words, "{sketch}, {registers} registers");
        }
    }

    /// Returns the statistics of estimates with many seeds, on two sets of known similarity.
    pub(super) fn trials<S: BeyondSketch>(
        make: impl Fn(u64) -> S,
        union: usize,
        common: usize,
        count: u64,
    ) -> TrialStatistics {
        let pair = ShinglePair::of(union, common);
        let estimates: Vec<f64> = (0..count)
            .map(|seed| {
                let sketch = make(seed);
                sketch.estimate(&sketch.sketch(&pair.a), &sketch.sketch(&pair.b))
            })
            .collect();
        TrialStatistics::of(&estimates)
    }

    /// Asserts that the mean and the variance agree with theory. The mean may deviate by 5 standard errors, the
    /// variance by 5 standard errors plus the share `slack` of `variance`.
    #[track_caller]
    pub(super) fn follows(found: TrialStatistics, count: u64, mean: f64, variance: f64, slack: f64) {
        let error = (found.variance / count as f64).sqrt();
        assert!((found.mean - mean).abs() <= 5.0 * error, "{found:?}: a mean of {mean} ± {error}");
        let reach = 5.0 * found.variance_error + slack * variance;
        assert!((found.variance - variance).abs() <= reach, "{found:?}: a variance of {variance} ± {reach}");
    }

    #[test]
    fn order_and_repeats_change_nothing_and_equal_sets_agree() {
        let sketches: [Box<dyn BeyondSketch>; 7] = [
            Box::new(CMinHash::new(32, 1)),
            Box::new(SetSketch::of_6_bits(32, 1)),
            Box::new(SetSketch::of_8_bits(32, 1)),
            Box::new(SetSketch::of_16_bits(32, 1)),
            Box::new(HyperMinHash::new(32, 4, 4, 1)),
            Box::new(HyperMinHash::new(32, 6, 10, 1)),
            Box::new(ProbMinHash::new(32, 1)),
        ];
        let shingles: Vec<u64> = (0..500).map(fmix64).collect();
        let mut other: Vec<u64> = shingles.iter().rev().copied().collect();
        other.extend_from_slice(&shingles[..100]);
        for sketch in &sketches {
            let (a, b) = (sketch.sketch(&shingles), sketch.sketch(&other));
            assert_eq!(a, b);
            assert!((sketch.estimate(&a, &b) - 1.0).abs() < 1e-6);
        }
    }
}
