//! The model of each method: the exact distribution of its count, and the variance that its formula claims.
//!
//! Registers of `MinHash` are independent, and so are the bits taken from them. Most counts are therefore binomial, or
//! sums and mixtures of binomial counts. Sketches that draw without replacement follow hypergeometric distributions.
//! For densified bins, `SuperMinHash` and fast similarity sketching, no distribution is known in closed form, but the
//! variance is known.

use minwise::estimate::b_bit::Chance;
use minwise::estimate::fractional_bit::{self, Combination, WidthGroup};
use minwise::estimate::one_permutation::{self, empty_bins_law, share_optimal, share_raw, share_rotation};
use minwise::estimate::sectional::SectionalMatches;
use minwise::estimate::{self, Estimate, b_bit, bottom_k, connected_bit, odd};
use minwise::sketch::b_bit::BBit;
use minwise::sketch::bottom_k::BottomK;
use minwise::sketch::connected_bit::ConnectedBit;
use minwise::sketch::fractional_bit::{FractionalBit, ThreeQuarter, ThreeQuarterBit, XorBit};
use minwise::sketch::minhash::EMPTY;
use minwise::sketch::odd::Odd;
use minwise::sketch::sectional::{Sectional, Tolerant};
use minwise::sketch::{Base, Method, Mixture, RegisterSource};

use crate::law::{binomial, both, flips, hypergeometric, sum};
use crate::pair::Overlap;

/// Function from two sketches to the outcome of their comparison, a count.
type Outcome = Box<dyn Fn(&[u32], &[u32]) -> usize>;

/// The two steps of an estimate: from two sketches to an outcome, and from the outcome to an estimate.
pub struct Model {
    /// Probability of each outcome.
    pub law: Vec<f64>,
    /// Function from two sketches to their outcome.
    pub outcome: Outcome,
    /// Function from an outcome to its estimate.
    pub estimate: Box<dyn Fn(usize) -> Estimate>,
    /// Function from an outcome to its estimate before clamping, if exact formulas for its mean and variance are known.
    pub unclamped: Option<Box<dyn Fn(usize) -> f64>>,
}

/// Returns the value that a method estimates for two documents with this overlap.
pub fn exact(method: Method, overlap: Overlap) -> f64 {
    match method {
        Method::Sectional { .. } | Method::Tolerant { .. } => overlap.aligned_similarity(),
        Method::PreTagged { .. } => overlap.tagged_similarity(),
        Method::Registers(_)
        | Method::RawOnePermutation(_)
        | Method::BottomK(_)
        | Method::BBit(..)
        | Method::BitHash(_)
        | Method::Fractional(..)
        | Method::Xor(..)
        | Method::ThreeQuarter(..)
        | Method::Connected(..)
        | Method::Odd(..)
        | Method::Weighted(_) => overlap.similarity(),
    }
}

/// Returns the variance that the method's formula claims. It is exact if there is [`Model::unclamped`] or no [`Model`],
/// and otherwise follows from the delta method. `Method::variance` is the variance for large documents; methods that
/// draw without replacement have a formula for every size.
pub fn claimed_variance(method: Method, overlap: Overlap) -> f64 {
    let Overlap { union, shared } = overlap;
    let (similarity, k) = (exact(method, overlap), method.registers());
    match method {
        Method::Registers(RegisterSource { base, .. }) => match base {
            Base::MinHash | Base::FamilyMinHash(_) => method.variance(similarity),
            Base::MinMax => estimate::min_max::variance(union, shared, k),
            Base::OnePermutation => one_permutation::variance(union, shared, k, share_optimal),
            Base::OnePermutationRotation => one_permutation::variance(union, shared, k, share_rotation),
            Base::SuperMinHash => estimate::super_minhash::variance(similarity, union, k),
            Base::FastSimilarity => estimate::fast_similarity::variance(similarity, union, k),
        },
        Method::RawOnePermutation(bins) => one_permutation::variance(union, shared, bins, share_raw),
        Method::BottomK(values) => bottom_k::variance(union, shared, values),
        Method::BBit(..)
        | Method::BitHash(_)
        | Method::Fractional(..)
        | Method::Xor(..)
        | Method::ThreeQuarter(..)
        | Method::Connected(..)
        | Method::Odd(..)
        | Method::Sectional { .. }
        | Method::Tolerant { .. }
        | Method::PreTagged { .. }
        | Method::Weighted(_) => method.variance(similarity),
    }
}

/// Returns the probability that a register of two dissimilar documents agrees by accident, for methods that compare
/// whole registers. Returns `None` for methods that keep bits, because their distributions include accidents.
///
/// Registers of 32 bits agree with probability n/2³³ if each document has n shingles, as the header of `MinHash`
/// claims. Other kinds of registers agree at most about twice as often. A whole test expects less than one accident, so
/// a factor of two cannot be measured here. The file `minhash` measures the probability itself, on larger documents.
pub fn accident(method: Method, overlap: Overlap) -> Option<f64> {
    let shingles = (overlap.union + overlap.shared) as f64 / 2.0;
    match method {
        Method::Registers(_)
        | Method::RawOnePermutation(_)
        | Method::Sectional { .. }
        | Method::Tolerant { .. }
        | Method::PreTagged { .. }
        | Method::Weighted(_) => Some(shingles / 2f64.powi(33)),
        // The values of bottom-k have 64 bits.
        Method::BottomK(_) => Some(shingles / 2f64.powi(65)),
        Method::BBit(..)
        | Method::BitHash(_)
        | Method::Fractional(..)
        | Method::Xor(..)
        | Method::ThreeQuarter(..)
        | Method::Connected(..)
        | Method::Odd(..) => None,
    }
}

/// Reports whether the method draws without replacement, so that its error is smaller than the error that it reports.
pub fn draws_without_replacement(method: Method) -> bool {
    match method {
        Method::Registers(RegisterSource { base, .. }) => match base {
            Base::MinMax
            | Base::OnePermutation
            | Base::OnePermutationRotation
            | Base::SuperMinHash
            | Base::FastSimilarity => true,
            Base::MinHash | Base::FamilyMinHash(_) => false,
        },
        Method::RawOnePermutation(_) | Method::BottomK(_) => true,
        Method::BBit(..)
        | Method::BitHash(_)
        | Method::Fractional(..)
        | Method::Xor(..)
        | Method::ThreeQuarter(..)
        | Method::Connected(..)
        | Method::Odd(..)
        | Method::Sectional { .. }
        | Method::Tolerant { .. }
        | Method::PreTagged { .. }
        | Method::Weighted(_) => false,
    }
}

/// Returns the model of a method for two documents; `None` if only its mean and variance are known.
pub fn model(method: Method, overlap: Overlap) -> Option<Model> {
    let similarity = exact(method, overlap);
    let k = method.registers();
    let one = Chance::sparse(1);
    Some(match method {
        Method::Registers(RegisterSource { base, .. }) => match base {
            Base::MinHash | Base::FamilyMinHash(_) => registers(method, binomial(k, similarity)),
            Base::MinMax => registers(method, min_max_law(overlap, k)),
            Base::OnePermutation
            | Base::OnePermutationRotation
            | Base::SuperMinHash
            | Base::FastSimilarity => return None,
        },
        Method::PreTagged { .. } => registers(method, binomial(k, similarity)),
        Method::Weighted(_) => return None,
        Method::RawOnePermutation(bins) => raw_one_permutation(bins, overlap),
        Method::BottomK(values) => bottom_k_model(values, overlap),
        Method::BBit(bits, source) => {
            let chance = Chance::sparse(bits);
            let sketcher = BBit::new(source.build(1).unwrap(), bits).unwrap();
            Model {
                law: binomial(k, chance.match_probability(similarity)),
                outcome: Box::new(move |a, b| sketcher.matches(a, b)),
                estimate: Box::new(move |m| b_bit::estimate(m, k, chance)),
                unclamped: Some(Box::new(move |m| chance.similarity(m as f64 / k as f64))),
            }
        }
        Method::BitHash(source) => {
            let sketcher = BBit::new(source.build(1).unwrap(), 1).unwrap();
            Model {
                law: binomial(k, (1.0 - similarity) / 2.0),
                outcome: Box::new(move |a, b| k - sketcher.matches(a, b)),
                estimate: Box::new(move |distance| b_bit::hamming_estimate(distance, k)),
                unclamped: Some(Box::new(move |distance| b_bit::hamming_similarity(distance, k))),
            }
        }
        Method::Fractional(mixture, combination, source) => {
            fractional(mixture, combination, source, similarity)
        }
        Method::Xor(halvings, source) => {
            let sketcher = XorBit::new(source.build(1).unwrap(), halvings).unwrap();
            let stored = k >> halvings;
            Model {
                law: binomial(stored, fractional_bit::xor_match_probability(similarity, halvings, one)),
                outcome: Box::new(move |a, b| sketcher.matches(a, b)),
                estimate: Box::new(move |m| fractional_bit::xor_estimate(m, stored, halvings, one)),
                unclamped: None,
            }
        }
        Method::ThreeQuarter(form, source) => {
            let sketcher = ThreeQuarterBit::new(source.build(1).unwrap(), form).unwrap();
            let pairs = match form {
                ThreeQuarter::Paper => k / 3,
                ThreeQuarter::Exact => k / 4,
            };
            let (stored, w) = (k - pairs, pairs as f64 / (k - pairs) as f64);
            let of_pairs = binomial(pairs, fractional_bit::xor_match_probability(similarity, 1, one));
            Model {
                law: sum(&of_pairs, &binomial(k - 2 * pairs, one.match_probability(similarity))),
                outcome: Box::new(move |a, b| sketcher.matches(a, b)),
                estimate: Box::new(move |m| fractional_bit::three_quarter_estimate(m, stored, w, one)),
                unclamped: None,
            }
        }
        Method::Connected(connected, bits, source) => {
            let chance = Chance::sparse(bits);
            let sketcher = ConnectedBit::new(source.build(1).unwrap(), bits, connected).unwrap();
            let groups = k / connected;
            Model {
                law: binomial(groups, connected_bit::match_probability(similarity, connected, chance)),
                outcome: Box::new(move |a, b| sketcher.matches(a, b)),
                estimate: Box::new(move |m| connected_bit::estimate(m, groups, connected, chance)),
                unclamped: None,
            }
        }
        Method::Odd(bits, source) => {
            let sketcher = Odd::new(source.build(1).unwrap(), bits).unwrap();
            Model {
                // A register that differs flips one bit in each of the two documents.
                law: flips(bits, &binomial(k, 1.0 - similarity)),
                outcome: Box::new(move |a, b| sketcher.difference(a, b)),
                estimate: Box::new(move |z| odd::estimate(z, k, bits)),
                unclamped: None,
            }
        }
        Method::Sectional { sections, policy, registers } => {
            let sketcher = Sectional::new(registers, sections, policy, 1).unwrap();
            sectional(registers, similarity, move |a, b| sketcher.matches(a, b))
        }
        Method::Tolerant { sections, registers } => {
            let tolerance = Tolerant::tolerance_of_sections(sections as u32);
            let sketcher = Tolerant::new(registers, tolerance, 1).unwrap();
            sectional(registers, similarity, move |a, b| sketcher.matches(a, b))
        }
    })
}

/// Returns the model of a method whose outcome is the number of agreeing registers.
fn registers(method: Method, law: Vec<f64>) -> Model {
    let k = method.registers();
    let sketcher = method.build(1).unwrap();
    let at = move |m: usize| {
        // Two rows in which exactly m registers agree give the estimate for m.
        let (zeros, mut other) = (vec![0; k], vec![1; k]);
        other[..m].fill(0);
        sketcher.estimate(&zeros, &other)
    };
    Model {
        law,
        outcome: Box::new(estimate::minhash::matches),
        estimate: Box::new(at),
        unclamped: Some(Box::new(move |m| m as f64 / k as f64)),
    }
}

/// Returns the distribution of agreeing registers of min-max hash. The least and the greatest shingle under one
/// function are two different shingles, drawn evenly; there are k/2 functions.
fn min_max_law(overlap: Overlap, k: usize) -> Vec<f64> {
    let one = hypergeometric(overlap.union, overlap.shared, 2);
    (0..k / 2).fold(vec![1.0], |law, _| sum(&law, &one))
}

/// Returns the model of one-permutation hashing with empty bins. Each occupied bin shows one shingle, and the shingles
/// are drawn without replacement. The outcome is the pair of the number of bins that are empty in both documents, and
/// the number of matches.
fn raw_one_permutation(bins: usize, Overlap { union, shared }: Overlap) -> Model {
    let row = bins + 1;
    let empty_law = empty_bins_law(union, bins);
    let mut law = vec![0.0; row * row];
    for empty in 0..bins {
        // The number of occupied bins is at most the number of shingles.
        if bins - empty <= union {
            let matches = hypergeometric(union, shared, bins - empty);
            for (m, p) in matches.into_iter().enumerate() {
                law[empty * row + m] = empty_law[empty] * p;
            }
        }
    }
    Model {
        law,
        outcome: Box::new(move |a, b| {
            let empty = a.iter().zip(b).filter(|&(&a, &b)| a == EMPTY && b == EMPTY).count();
            empty * row + estimate::minhash::matches(a, b) - empty
        }),
        // Impossible outcomes have probability 0. They are limited to possible values, because they have no estimate.
        estimate: Box::new(move |at| {
            one_permutation::estimate_raw((at % row).min(bins - at / row), (at / row).min(bins - 1), bins)
        }),
        unclamped: Some(Box::new(move |at| one_permutation::raw(at % row, at / row, bins).unwrap_or(0.0))),
    }
}

/// Returns the model of bottom-k, in which the k least values of the union are a sample of the union.
fn bottom_k_model(values: usize, Overlap { union, shared }: Overlap) -> Model {
    let looked_at = values.min(union);
    // Both documents then have fewer shingles than k, because each has fewer than the union.
    let is_whole = union <= values;
    Model {
        law: hypergeometric(union, shared, looked_at),
        outcome: Box::new(move |a, b| {
            bottom_k::count(BottomK::values(a), BottomK::values(b), values).matches
        }),
        estimate: Box::new(move |matches| {
            bottom_k::estimate(bottom_k::BottomKCounts { matches, looked_at, is_whole })
        }),
        unclamped: Some(Box::new(move |matches| matches as f64 / looked_at as f64)),
    }
}

/// Returns the model of a mixture of two widths. Its outcome is the sum of the two groups' matches if they are pooled,
/// and both numbers if each group has its own weight.
fn fractional(mixture: Mixture, combination: Combination, source: RegisterSource, similarity: f64) -> Model {
    let text = mixture.to_string();
    let shares: Vec<(u32, f64)> = text
        .split('+')
        .filter_map(|part| part.split_once('x'))
        .map(|(bits, share)| (bits.parse().unwrap(), share.parse().unwrap()))
        .collect();
    let sketcher = FractionalBit::new(source.build(1).unwrap(), &shares, combination).unwrap();
    let groups: [WidthGroup; 2] = sketcher.groups().try_into().expect("mixtures of two widths are modelled");
    let laws = groups.map(|group| binomial(group.registers, group.chance.match_probability(similarity)));
    let second = groups[1].registers + 1;
    let counts = move |at: usize| [at / second, at % second];
    let unclamped = move |at| fractional_bit::similarity(&counts(at), &groups, Combination::Pooled);
    Model {
        law: both(&laws[0], &laws[1]),
        outcome: Box::new(move |a, b| {
            let matches = sketcher.matches(a, b);
            matches[0] * second + matches[1]
        }),
        estimate: Box::new(move |at| fractional_bit::estimate(&counts(at), &groups, combination)),
        unclamped: (combination == Combination::Pooled)
            .then(|| Box::new(unclamped) as Box<dyn Fn(usize) -> f64>),
    }
}

/// Returns the model of registers that agree in their minima and places.
fn sectional(
    k: usize,
    similarity: f64,
    matches: impl Fn(&[u32], &[u32]) -> SectionalMatches + 'static,
) -> Model {
    Model {
        law: binomial(k, similarity),
        outcome: Box::new(move |a, b| matches(a, b).aligned),
        estimate: Box::new(move |aligned| {
            SectionalMatches { registers: k, minima: k, aligned }.aligned_similarity()
        }),
        unclamped: Some(Box::new(move |aligned| aligned as f64 / k as f64)),
    }
}
