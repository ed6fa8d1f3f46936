//! The bias of each kind of sketch: the difference between the mean of its estimates and the similarity.
//!
//! Registers are unbiased. Bits are unbiased except where estimates below 0 are raised to 0. The curved estimators of
//! `xor`, `three-quarter`, `connected` and `odd` are also biased by their own variance. If the similarity is too low
//! for the size of such a sketch, raising estimates to 0 dominates the bias (E-22). A mixture weighted by inverse
//! variance is biased because its weights come from the same matches that it weighs.
//!
//! All means are sums over the probability distribution of the matches, not simulations. One step is approximate:
//! estimates of a mixture weighted by inverse variance are clamped as if they were normally distributed.

use super::fractional_bit::ThreeQuarter;
use super::{Method, Mixture};
use crate::estimate::b_bit::Chance;
use crate::estimate::fractional_bit::{self, Combination, WidthGroup};
use crate::estimate::{connected_bit, odd};

/// Least ratio of a probability to the greatest probability; smaller probabilities are left out.
const LEAST: f64 = 1e-18;

impl Method {
    /// Returns the mean of the estimates minus the similarity. The documents are taken to be large, with their shared
    /// shingles at the same places.
    ///
    /// If the bias of a sketch exceeds its standard error, the sketch is too small for this similarity, or its kind has
    /// no information about it. For example, `xor:3` with 1,000 stored bits estimates 0.33 on average at similarity
    /// 0.5.
    #[must_use]
    pub fn bias(self, similarity: f64) -> f64 {
        let one = Chance::sparse(1);
        let mean = match self {
            Self::Registers(_)
            | Self::RawOnePermutation(_)
            | Self::BottomK(_)
            | Self::Sectional { .. }
            | Self::Tolerant { .. }
            | Self::PreTagged { .. }
            | Self::Weighted(_) => return 0.0,
            Self::BBit(bits, source) => of_bits(similarity, source.registers, Chance::sparse(bits)),
            Self::BitHash(source) => of_bits(similarity, source.registers, one),
            Self::Fractional(mixture, combination, source) => {
                of_mixture(similarity, &mixture, combination, source.registers)
            }
            Self::Xor(halvings, source) => {
                let stored = source.registers >> halvings;
                let probability = fractional_bit::xor_match_probability(similarity, halvings, one);
                let estimate = |share| fractional_bit::xor_similarity(share, halvings, one);
                CountLaw::binomial(stored, probability).mean_of_share(stored, estimate)
            }
            Self::ThreeQuarter(form, source) => {
                let pairs = match form {
                    ThreeQuarter::Paper => source.registers / 3,
                    ThreeQuarter::Exact => source.registers / 4,
                };
                let stored = source.registers - pairs;
                let paired = fractional_bit::xor_match_probability(similarity, 1, one);
                let law = CountLaw::binomial(pairs, paired)
                    .plus(&CountLaw::binomial(stored - pairs, one.match_probability(similarity)));
                let share_of_pairs = pairs as f64 / stored as f64;
                law.mean_of_share(stored, |share| {
                    fractional_bit::three_quarter_similarity(share, share_of_pairs, one)
                })
            }
            Self::Connected(connected, bits, source) => {
                let (groups, chance) = (source.registers / connected, Chance::sparse(bits));
                let probability = connected_bit::match_probability(similarity, connected, chance);
                let estimate = |share| connected_bit::similarity(share, connected, chance);
                CountLaw::binomial(groups, probability).mean_of_share(groups, estimate)
            }
            Self::Odd(bits, source) => {
                let estimate =
                    |ones: usize| odd::similarity(ones as f64, source.registers, bits).unwrap_or(0.0);
                CountLaw::odd(similarity, source.registers, bits).mean(estimate)
            }
        };
        mean - similarity
    }

    /// Returns the greatest similarity, up to `similarity`, at which the [bias](Self::bias) exceeds `error`. The result
    /// is accurate to 0.001; it is `None` if the bias exceeds `error` nowhere.
    #[must_use]
    pub fn biased_below(self, similarity: f64, error: f64) -> Option<f64> {
        let exceeds = |at: f64| self.bias(at).abs() > error;
        if exceeds(similarity) {
            return Some(similarity);
        }
        if !exceeds(0.0) {
            return None;
        }
        let (mut low, mut high) = (0.0, similarity);
        while high - low > 1e-3 {
            let middle = f64::midpoint(low, high);
            if exceeds(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }
}

fn of_bits(similarity: f64, registers: usize, chance: Chance) -> f64 {
    CountLaw::binomial(registers, chance.match_probability(similarity))
        .mean_of_share(registers, |share| chance.similarity(share))
}

fn of_mixture(similarity: f64, mixture: &Mixture, combination: Combination, registers: usize) -> f64 {
    let mut groups: Vec<WidthGroup> = vec![];
    let (mut sum, mut given) = (0.0, 0);
    // Shares become whole registers by the same rounding as in `FractionalBit`.
    for (bits, share) in mixture.shares() {
        sum += share;
        let end = ((sum * registers as f64).round() as usize).min(registers);
        if end > given {
            groups.push(WidthGroup::sparse(bits, end - given));
            given = end;
        }
    }
    let laws: Vec<CountLaw> = groups
        .iter()
        .map(|group| CountLaw::binomial(group.registers, group.chance.match_probability(similarity)))
        .collect();
    match combination {
        Combination::Pooled => {
            let chance = fractional_bit::pooled_chance(&groups);
            CountLaw::sum(&laws).mean_of_share(registers, |share| chance.similarity(share))
        }
        Combination::InverseVariance => {
            let mean = mean_of_weighted(&groups, &laws);
            clamped_normal(mean, fractional_bit::variance(similarity, &groups, combination).sqrt())
        }
    }
}

/// Returns the mean of the estimate that is weighted by inverse variance, without clamping it.
///
/// The weights depend only on the sum of all matches. For a given sum the weights are fixed, and the estimate is linear
/// in the matches of each group. The mean therefore needs only the mean matches of each group for each sum.
fn mean_of_weighted(groups: &[WidthGroup], laws: &[CountLaw]) -> f64 {
    let all = CountLaw::sum(laws);
    // Sum over all totals of matches: the probability of the total times the weighted estimates of the groups.
    let mut mean = 0.0;
    let others: Vec<CountLaw> = (0..groups.len())
        .map(|group| {
            let rest: Vec<CountLaw> =
                laws.iter().enumerate().filter(|(at, _)| *at != group).map(|(_, law)| law.clone()).collect();
            CountLaw::sum(&rest)
        })
        .collect();
    for (total, probability) in all.iter() {
        if probability == 0.0 {
            continue;
        }
        let weights = fractional_bit::weights(total, groups);
        for (((group, law), rest), weight) in groups.iter().zip(laws).zip(&others).zip(weights) {
            let matches: f64 =
                law.iter().map(|(own, p)| own as f64 * p * rest.probability(total.wrapping_sub(own))).sum();
            let chance = group.chance;
            // For one group, the estimate is (m/k − C₁)/(1 − C₂).
            mean += weight * (matches / group.registers as f64 - chance.c1 * probability) / (1.0 - chance.c2);
        }
    }
    mean
}

/// Returns the mean of a normal variable that is clamped to the range from 0 to 1.
fn clamped_normal(mean: f64, deviation: f64) -> f64 {
    /// Number of steps of Simpson's rule, over eight standard deviations on either side of the mean.
    const STEPS: u32 = 512;
    if deviation == 0.0 {
        return mean.clamp(0.0, 1.0);
    }
    let width = 16.0 / f64::from(STEPS);
    let at = |step: u32| {
        let z = -8.0 + width * f64::from(step);
        let weight = match step {
            0 | STEPS => 1.0,
            step if step % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let density = (-z * z / 2.0).exp();
        (weight * density * (mean + deviation * z).clamp(0.0, 1.0), weight * density)
    };
    let (sum, total) = (0..=STEPS).map(at).fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    sum / total
}

/// Distribution of a count: the probabilities of `first` and the counts after it. All other counts have probability 0.
#[derive(Debug, Clone)]
struct CountLaw {
    first: usize,
    probabilities: Vec<f64>,
}

impl CountLaw {
    /// Returns the distribution of the number of successes in `trials` trials.
    fn binomial(trials: usize, probability: f64) -> Self {
        if probability <= 0.0 || probability >= 1.0 || trials == 0 {
            let count = if probability >= 1.0 { trials } else { 0 };
            return Self { first: count, probabilities: vec![1.0] };
        }
        let mode = (((trials + 1) as f64 * probability) as usize).min(trials);
        let odds = probability / (1.0 - probability);
        let mut above = vec![];
        let mut value = 1.0;
        for x in mode..trials {
            value *= odds * (trials - x) as f64 / (x + 1) as f64;
            if value < LEAST {
                break;
            }
            above.push(value);
        }
        let mut below = vec![];
        value = 1.0;
        for x in (0..mode).rev() {
            value *= (x + 1) as f64 / ((trials - x) as f64 * odds);
            if value < LEAST {
                break;
            }
            below.push(value);
        }
        let first = mode - below.len();
        let probabilities: Vec<f64> = below.into_iter().rev().chain([1.0]).chain(above).collect();
        Self { first, probabilities }.normalised()
    }

    /// Returns the distribution of the number of bits in which two odd sketches differ. Each register that differs
    /// flips two bits at random places.
    fn odd(similarity: f64, registers: usize, bits: usize) -> Self {
        let n = bits as f64;
        let mut law = Self { first: 0, probabilities: vec![1.0] };
        for _ in 0..registers {
            let mut next = vec![0.0; law.probabilities.len() + 4];
            let first = law.first.saturating_sub(2);
            for (ones, p) in law.iter() {
                let z = ones as f64;
                let up = (1.0 - similarity) * (n - z) * (n - z - 1.0) / (n * n);
                let down = (1.0 - similarity) * z * (z - 1.0) / (n * n);
                next[ones + 2 - first] += p * up;
                if ones >= 2 {
                    next[ones - 2 - first] += p * down;
                }
                next[ones - first] += p * (1.0 - up - down);
            }
            law = Self { first, probabilities: next }.trimmed();
        }
        law.normalised()
    }

    fn normalised(mut self) -> Self {
        let total: f64 = self.probabilities.iter().sum();
        for probability in &mut self.probabilities {
            *probability /= total;
        }
        self
    }

    /// Removes from both ends the probabilities that are too small to matter.
    fn trimmed(mut self) -> Self {
        let most = self.probabilities.iter().copied().fold(0.0, f64::max);
        let keeps = |p: &f64| *p >= most * LEAST;
        let begin = self.probabilities.iter().position(keeps).unwrap_or(0);
        let end = self.probabilities.iter().rposition(keeps).map_or(0, |last| last + 1);
        self.first += begin;
        self.probabilities.truncate(end);
        self.probabilities.drain(..begin);
        self
    }

    /// Returns the distribution of the sum of two independent counts.
    fn plus(&self, other: &Self) -> Self {
        let mut sums = vec![0.0; self.probabilities.len() + other.probabilities.len() - 1];
        for (a, p) in self.probabilities.iter().enumerate() {
            for (b, q) in other.probabilities.iter().enumerate() {
                sums[a + b] += p * q;
            }
        }
        Self { first: self.first + other.first, probabilities: sums }.trimmed()
    }

    fn sum(laws: &[Self]) -> Self {
        laws.iter().fold(Self { first: 0, probabilities: vec![1.0] }, |sum, law| sum.plus(law))
    }

    fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        (self.first..).zip(self.probabilities.iter().copied())
    }

    fn probability(&self, count: usize) -> f64 {
        count.checked_sub(self.first).and_then(|at| self.probabilities.get(at)).copied().unwrap_or(0.0)
    }

    /// Returns the mean of `estimate(count)`, clamped to the range from 0 to 1.
    fn mean(&self, estimate: impl Fn(usize) -> f64) -> f64 {
        self.iter().map(|(count, p)| p * estimate(count).clamp(0.0, 1.0)).sum()
    }

    /// Returns the mean of an estimate that depends on the count as a share of `all`.
    fn mean_of_share(&self, all: usize, estimate: impl Fn(f64) -> f64) -> f64 {
        self.mean(|count| estimate(count as f64 / all as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketcher;

    fn method(form: &str) -> Method {
        form.parse().unwrap()
    }

    /// Checks E-22 against exact sums that another program computed with sixty digits.
    #[test]
    fn the_means_of_an_eighth_and_of_a_quarter_of_a_bit() {
        for (form, mean) in [("xor:3/minhash:8000", 0.330_58), ("xor:2/minhash:4000", 0.478_48)] {
            let found = 0.5 + method(form).bias(0.5);
            assert!((found - mean).abs() < 5.1e-6, "{form}: {found}");
        }
    }

    /// The mean estimate of real sketches over many seeds is the similarity plus the bias, within 5 standard errors,
    /// even where estimates are clamped.
    #[test]
    fn biases_are_those_of_real_sketches() {
        const TRIALS: u64 = 1500;
        let (union, common) = (2000_u64, 140_u64);
        let similarity = common as f64 / union as f64;
        let middle = u64::midpoint(common, union);
        let (a, b): (Vec<u64>, Vec<u64>) =
            ((0..middle).collect(), (0..common).chain(middle..union).collect());
        let mut biased = 0;
        for form in [
            "b-bit:1/minhash:256",
            "bit-hash/minhash:256",
            "xor:1/minhash:256",
            "xor:2/minhash:256",
            "three-quarter/minhash:256",
            "three-quarter,paper/minhash:258",
            "connected:2x1/minhash:256",
            "connected:4x1/minhash:256",
            "odd:256/minhash:256",
            "fractional:1x0.5+2x0.5/minhash:256",
            "fractional,pooled:1x0.5+2x0.5/minhash:256",
            "fractional:1x0.2+3x0.5+7x0.3/minhash:1000",
        ] {
            let method = method(form);
            let estimates: Vec<f64> = (0..TRIALS)
                .map(|seed| {
                    let sketcher = method.build(seed).unwrap();
                    let [a, b] = [&a, &b].map(|shingles| row(&*sketcher, shingles));
                    sketcher.estimate(&a, &b).value
                })
                .collect();
            let n = TRIALS as f64;
            let mean = estimates.iter().sum::<f64>() / n;
            let variance = estimates.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let (found, error) = (mean - similarity, (variance / n).sqrt());
            let bias = method.bias(similarity);
            assert!((found - bias).abs() <= 5.0 * error, "{form}: {found} ± {error}, not {bias}");
            biased += usize::from(bias.abs() > 5.0 * error);
        }
        assert!(biased >= 4, "xor, three-quarter and odd are far from unbiased here: {biased}");
    }

    fn row(sketcher: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
        let mut row = vec![0; sketcher.words()];
        sketcher.sketch_into(shingles, &mut row);
        row
    }

    #[test]
    fn the_similarity_below_which_a_sketch_is_off() {
        let quarter = method("xor:2/minhash:1600");
        let below = quarter.biased_below(0.8, 0.02).unwrap();
        assert!(quarter.bias(below).abs() > 0.02 && quarter.bias(below + 0.002).abs() <= 0.02, "{below}");
        assert!((0.3..0.7).contains(&below), "{below}");
        assert_eq!(method("minhash:128").biased_below(0.8, 0.001), None);
        assert_eq!(quarter.biased_below(0.8, 1.0), None);
    }

    /// The formula for the mean of the weighted estimate gives the same value as a sum over all counts.
    #[test]
    fn the_mean_of_a_mixture_is_that_of_all_counts() {
        let groups = [WidthGroup::sparse(1, 12), WidthGroup::sparse(3, 9), WidthGroup::sparse(7, 6)];
        for similarity in [0.07, 0.5, 0.9] {
            let laws: Vec<CountLaw> = groups
                .iter()
                .map(|group| CountLaw::binomial(group.registers, group.chance.match_probability(similarity)))
                .collect();
            let mut expected = 0.0;
            for (a, p) in laws[0].iter() {
                for (b, q) in laws[1].iter() {
                    for (c, r) in laws[2].iter() {
                        let estimate =
                            fractional_bit::similarity(&[a, b, c], &groups, Combination::InverseVariance);
                        expected += p * q * r * estimate;
                    }
                }
            }
            let found = mean_of_weighted(&groups, &laws);
            assert!((found - expected).abs() < 1e-12, "{similarity}: {found} {expected}");
        }
    }

    #[test]
    fn registers_are_unbiased_and_large_sketches_nearly() {
        for method in Method::all(1020) {
            let bias = method.bias(0.9);
            assert!(bias.abs() < 0.005, "{method}: {bias}");
            assert!(method.bandable().is_none() || bias == 0.0);
        }
        // At similarity 1 all registers match, so every count has probability 1.
        assert!(method("xor:2/minhash:400").bias(1.0).abs() < 1e-12);
        assert!(method("odd:128/minhash:128").bias(1.0).abs() < 1e-12);
    }
}
