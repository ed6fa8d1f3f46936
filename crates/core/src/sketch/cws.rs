//! Consistent weighted sampling.
//!
//! - **Paper.** Manasse, `McSherry` and Talwar, *Consistent weighted sampling*, 2010; [Yuan 2019](crate#sources),
//!   Algorithm 1, which cites another paper for it.
//! - **Idea.** For every shingle a register scatters points on the axis of weights, equally dense in each octave. A
//!   weight lies between two of these points, y below and z above. A shingle with a greater z is more likely to be the
//!   sample. Two documents have the same sample, including the point y, with probability Jw.
//! - **Symbols.** k → `octave` (the axis from 2ᵏ⁻¹ to 2ᵏ), y → `below`, z → `above`, G → `score`.
//! - **Formula.** The points of an octave are 2ᵏ·u₁, 2ᵏ·u₁·u₂, … above 2ᵏ⁻¹. `SplitMix64`, seeded by shingle, register
//!   and octave, draws the uᵢ. The sample is the shingle of least G/z, where G = −ln(U₁U₂) is drawn by shingle and
//!   register: e^(−G/z) has the distribution that the paper inverts.
//! - **Cost.** Some 140 ns per shingle and register, for about four octaves one after the other. A register of
//!   [`MinHash`](super::MinHash) on a vector kernel is over a thousand times cheaper.
//! - **Error.** The estimate is unbiased for Jw, with variance Jw(1−Jw)/k; statistical tests check both.
//! - **Differs.** Every part of the corrected algorithm is needed (E-53): octaves of all integers, not of positive
//!   ones; a fresh u at every step; y and z also from neighbouring octaves; G drawn by shingle and register alone;
//!   samples compared by shingle and point. The tests measure the error that three of the misprints cause.
//! - **Vectors.** Another program computed the inversions of G. The golden values of sketches come from this crate
//!   itself.
//!
//! - **Use when** results are to be compared with those of the paper.
//! - **Do not** use it otherwise: [`icws`](super::icws) has the same error and is many times faster.

use super::minhash::{EMPTY, check_registers};
use super::weighted_sketcher::{WeightedSketcher, register};
use crate::error::Error;
use crate::hash::{SplitMix64, fmix64};
use crate::kernel::{exponent, float, ln, scaled};
use crate::weight::WeightedSet;

/// A constant that separates the draws of scores from the draws of points.
const SCORES: u64 = 0x9e37_79b9_7f4a_7c15;

/// Makes sketches of k samples.
#[derive(Debug, Clone)]
pub struct Cws {
    seed: u64,
    salts: Vec<u64>,
}

/// A point on the axis of weights: `part`·2ᵏ in octave k = `octave`, where `part` is above ½ and at most 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OctavePoint {
    octave: i64,
    part: f64,
}

impl Cws {
    /// Makes a sketcher with `registers` samplers, which `seed` chooses.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536.
    pub fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        check_registers(registers)?;
        let mut random = SplitMix64::new(seed);
        let seed = random.next_u64();
        Ok(Self { seed, salts: (0..registers).map(|_| random.next_u64()).collect() })
    }

    fn sample(&self, set: &WeightedSet, salt: u64) -> Option<u32> {
        // Ranks are relative to the octave of the greatest weight, because no rank overflows a floating-point number
        // that way.
        let greatest = set.weights().iter().copied().reduce(f64::max)?;
        let origin = OctavePoint::of(greatest).octave;
        let mut best: Option<(f64, u64, OctavePoint)> = None;
        for (&shingle, &weight) in set.shingles().iter().zip(set.weights()) {
            let key = fmix64(shingle ^ self.seed);
            let (below, above) = active(key ^ salt, OctavePoint::of(weight));
            let rank = scaled(score(key ^ salt) / above.part, origin - above.octave);
            if best.is_none_or(|(least, ..)| rank < least) {
                best = Some((rank, key, below));
            }
        }
        best.map(|(_, key, below)| register(key, fmix64(below.octave.cast_unsigned()) ^ below.part.to_bits()))
    }
}

impl super::sealed::Sealed for Cws {}

impl WeightedSketcher for Cws {
    fn words(&self) -> usize {
        self.salts.len()
    }

    fn sketch_into(&self, set: &WeightedSet, out: &mut [u32]) {
        assert_eq!(out.len(), self.words(), "one word per register");
        for (word, &salt) in out.iter_mut().zip(&self.salts) {
            *word = self.sample(set, salt).unwrap_or(EMPTY);
        }
    }
}

impl OctavePoint {
    /// Returns the position of a positive finite weight. A power of two 2ᵏ belongs to octave k, of which it is the
    /// upper end.
    fn of(weight: f64) -> Self {
        let exponent = exponent(weight);
        let part = scaled(weight, -exponent - 1);
        if part == 0.5 { Self { octave: exponent, part: 1.0 } } else { Self { octave: exponent + 1, part } }
    }
}

/// Returns a uniform number between 0 and 1: the middle of one of 2⁵² equal intervals.
fn unit(bits: u64) -> f64 {
    (float(bits >> 12) + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// Returns G, which has the distribution Gamma(2, 1).
fn score(entropy: u64) -> f64 {
    let mut random = SplitMix64::new(fmix64(entropy ^ SCORES));
    -ln(unit(random.next_u64()) * unit(random.next_u64()))
}

/// Returns the points of an octave in descending order, as parts of 2ᵏ.
fn points(entropy: u64, octave: i64) -> impl Iterator<Item = f64> {
    let mut random = SplitMix64::new(fmix64(fmix64(entropy).wrapping_add(octave.cast_unsigned())));
    let mut part = 1.0;
    std::iter::from_fn(move || {
        part *= unit(random.next_u64());
        (part > 0.5).then_some(part)
    })
}

/// Returns y and z: the greatest point up to the weight, and the least point above it.
fn active(entropy: u64, weight: OctavePoint) -> (OctavePoint, OctavePoint) {
    let (mut below, mut above) = (None, None);
    for part in points(entropy, weight.octave) {
        if part > weight.part {
            above = Some(OctavePoint { octave: weight.octave, part });
        } else {
            below = Some(OctavePoint { octave: weight.octave, part });
            break;
        }
    }
    // On average every other octave is empty, so the search soon ends.
    let (mut lower, mut upper) = (weight.octave, weight.octave);
    let below = loop {
        if let Some(point) = below {
            break point;
        }
        lower -= 1;
        below = points(entropy, lower).next().map(|part| OctavePoint { octave: lower, part });
    };
    let above = loop {
        if let Some(point) = above {
            break point;
        }
        upper += 1;
        above = points(entropy, upper).last().map(|part| OctavePoint { octave: upper, part });
    };
    (below, above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::WeightedSet;
    use proptest::prelude::*;

    #[test]
    fn octaves_include_their_upper_end() {
        for (weight, octave, part) in [
            (1.0, 0, 1.0),
            (2.0, 1, 1.0),
            (1.5, 1, 0.75),
            (0.75, 0, 0.75),
            (f64::MAX, 1024, 1.0 - f64::EPSILON / 2.0),
            (f64::MIN_POSITIVE, -1022, 1.0),
            (5e-324, -1074, 1.0),
            (1.5e-323, -1072, 0.75),
        ] {
            assert_eq!(OctavePoint::of(weight), OctavePoint { octave, part }, "{weight}");
        }
    }

    #[test]
    fn scaling_is_exact_and_ends_where_numbers_do() {
        assert_eq!(scaled(1.5, 10), 1536.0);
        assert_eq!(scaled(1.5, -1), 0.75);
        assert_eq!(scaled(1.5, 2090), f64::INFINITY);
        assert_eq!(scaled(1.5, -2090), 0.0);
    }

    /// Checks docs/sources/weights.md#consistent-weighted-sampling: the paper inverts the distribution `h^z +
    /// z·h^z·ln(1/h)`, at h = e^(−G/z).
    #[test]
    fn documented_inversions() {
        for (z, beta, g, h) in [
            (1.0, 0.5, 1.678_346_990_0, 0.186_682_308_9),
            (2.0, 0.5, 1.678_346_990_0, 0.432_067_481_8),
            (3.7, 0.25, 2.692_634_528_9, 0.482_999_789_2),
        ] {
            let found = f64::exp(-g / z);
            // The document has ten digits.
            assert!((found - h).abs() <= 0.5e-10, "h {found}, not {h}");
            let cdf = found.powf(z) * (1.0 + z * -found.ln());
            assert!((cdf - beta).abs() <= 1e-10, "β {cdf}, not {beta}");
        }
    }

    /// The points of an octave are a Poisson process of intensity dy/y, so their number has mean and variance ln 2.
    #[test]
    fn octaves_have_as_many_points_as_they_should() {
        const OCTAVES: u64 = 100_000;
        let count = |octave: u64| points(fmix64(octave / 7), (octave % 7).cast_signed() - 3).count() as f64;
        let counts: Vec<f64> = (0..OCTAVES).map(count).collect();
        let (n, rate) = (OCTAVES as f64, std::f64::consts::LN_2);
        let mean = counts.iter().sum::<f64>() / n;
        let spread = counts.iter().map(|count| (count - rate).powi(2)).sum::<f64>() / n;
        assert!((mean - rate).abs() <= 4.0 * (rate / n).sqrt(), "{mean}");
        // The fourth central moment of a Poisson distribution is λ + 3λ².
        assert!((spread - rate).abs() <= 4.0 * ((rate + 2.0 * rate * rate) / n).sqrt(), "{spread}");
    }

    proptest! {
        #[test]
        fn a_weight_stands_between_its_points(entropy: u64, weight in 1e-9..1e9f64) {
            let at = OctavePoint::of(weight);
            let (below, above) = active(entropy, at);
            let value = |point: OctavePoint| scaled(point.part, point.octave);
            prop_assert!(value(below) <= weight && weight < value(above));
            // A weight between the two points has the same two points.
            let middle = OctavePoint::of(f64::midpoint(value(below), value(above)));
            prop_assert_eq!(active(entropy, middle), (below, above));
        }
    }

    /// The misprints of Yuan 2019, Algorithm 1, one at a time (E-53).
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Misprint {
        None,
        /// The score also depends on the point below the weight.
        ScoreByPoint,
        /// One uniform number serves for all steps in an octave.
        OneUniform,
        /// The rank is computed from the point below the weight instead of the point above it.
        RankBelow,
    }

    fn points_as_printed(entropy: u64, octave: i64, misprint: Misprint) -> Vec<f64> {
        if misprint != Misprint::OneUniform {
            return points(entropy, octave).collect();
        }
        let seed = fmix64(fmix64(entropy).wrapping_add(octave.cast_unsigned()));
        let once = unit(SplitMix64::new(seed).next_u64());
        std::iter::successors(Some(once), |part| Some(part * once)).take_while(|&part| part > 0.5).collect()
    }

    /// Returns the shingle and the point that a register samples.
    fn sample_as_printed(set: &[(u64, f64)], salt: u64, misprint: Misprint) -> (u64, f64) {
        let mut best = (f64::INFINITY, 0, 0.0);
        for &(shingle, weight) in set {
            let entropy = fmix64(shingle) ^ salt;
            let octave = OctavePoint::of(weight).octave;
            let all = |octave: i64| {
                points_as_printed(entropy, octave, misprint).into_iter().map(move |part| scaled(part, octave))
            };
            let below = (0..).find_map(|down| all(octave - down).find(|&point| point <= weight)).unwrap();
            let above = (0..).find_map(|up| all(octave + up).rfind(|&point| point > weight)).unwrap();
            let drawn =
                if misprint == Misprint::ScoreByPoint { entropy ^ fmix64(below.to_bits()) } else { entropy };
            let rank = score(drawn) / if misprint == Misprint::RankBelow { below } else { above };
            if rank < best.0 {
                best = (rank, shingle, below);
            }
        }
        (best.1, best.2)
    }

    /// Compares the share of agreeing samples with docs/sources/weights.md#consistent-weighted-sampling. The values
    /// there come from an independent program with 6000 draws. Its first value for `OneUniform` at Jw = 0.1 was 0.071;
    /// over 40 000 draws it is 0.084.
    #[test]
    fn what_each_misprint_costs() {
        const DRAWS: u64 = 120_000;
        const PUBLISHED_DRAWS: f64 = 6000.0;
        let pairs: [[&[(u64, f64)]; 2]; 3] = [
            [&[(1, 1.0), (2, 2.5), (3, 0.3)], &[(1, 1.5), (2, 2.0), (4, 0.4)]],
            [&[(1, 10.0), (2, 1.0)], &[(1, 1.0), (2, 10.0)]],
            [&[(1, 5.0)], &[(1, 4.0)]],
        ];
        let exact = [3.0 / 4.7, 0.1, 0.8];
        for (misprint, table) in [
            (Misprint::None, exact),
            (Misprint::ScoreByPoint, [0.6281, 0.0986, 0.793]),
            (Misprint::OneUniform, [0.549, 0.084, 0.588]),
            (Misprint::RankBelow, [0.574, 0.016, 0.793]),
        ] {
            for (([a, b], expected), exact) in pairs.iter().zip(table).zip(exact) {
                let sample = |set, salt| sample_as_printed(set, fmix64(salt), misprint);
                let agreeing = (0..DRAWS).filter(|&salt| sample(a, salt) == sample(b, salt)).count();
                let found = agreeing as f64 / DRAWS as f64;
                println!("{misprint:?}: {found:.4}, {expected} in docs/sources, Jw {exact:.4}");
                let draws = if misprint == Misprint::None { f64::INFINITY } else { PUBLISHED_DRAWS };
                let error = (expected * (1.0 - expected) * (1.0 / DRAWS as f64 + 1.0 / draws)).sqrt();
                assert!((found - expected).abs() <= 4.0 * error, "{misprint:?}: {found}, not {expected}");
                // A single shingle has no rival, so its rank does not matter.
                let harmless = misprint == Misprint::None || a.len() == 1 && misprint != Misprint::OneUniform;
                let error = (exact * (1.0 - exact) / DRAWS as f64).sqrt();
                let wrong = (found - exact).abs() > 4.0 * error;
                if harmless {
                    assert!(!wrong, "{misprint:?} should not cost anything: {found}");
                } else if !(misprint == Misprint::ScoreByPoint && exact < 0.2) {
                    // At Jw = 0.1 the cost of this misprint is too small to be seen.
                    assert!(wrong, "{misprint:?} should cost something: {found}");
                }
            }
        }
    }

    #[test]
    fn samples_are_those_of_the_definition() {
        let set = WeightedSet::new([(1, 1.0), (2, 2.5), (3, 0.3), (9, 1e-7)]).unwrap();
        let cws = Cws::new(200, 4).unwrap();
        let mut row = vec![0; 200];
        cws.sketch_into(&set, &mut row);
        let members: Vec<(u64, f64)> = set
            .shingles()
            .iter()
            .map(|shingle| shingle ^ cws.seed)
            .zip(set.weights().iter().copied())
            .collect();
        for (&word, &salt) in row.iter().zip(&cws.salts) {
            let (shingle, below) = sample_as_printed(&members, salt, Misprint::None);
            let point = OctavePoint::of(below);
            let expected =
                register(fmix64(shingle), fmix64(point.octave.cast_unsigned()) ^ point.part.to_bits());
            assert_eq!(word, expected);
        }
    }
}
