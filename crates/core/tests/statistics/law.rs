//! Discrete probability distributions: the probability of each outcome, numbered from 0.

/// Probability of each outcome.
pub type Law = [f64];

/// Returns the distribution of the number of successes in `trials` independent trials.
pub fn binomial(trials: usize, probability: f64) -> Vec<f64> {
    if probability <= 0.0 || probability >= 1.0 {
        let mut law = vec![0.0; trials + 1];
        law[if probability <= 0.0 { 0 } else { trials }] = 1.0;
        return law;
    }
    let (log_p, log_q) = (probability.ln(), (-probability).ln_1p());
    let mut log_choose = 0.0;
    (0..=trials)
        .map(|m| {
            if m > 0 {
                log_choose += ((trials - m + 1) as f64 / m as f64).ln();
            }
            (log_choose + m as f64 * log_p + (trials - m) as f64 * log_q).exp()
        })
        .collect()
}

/// Returns the distribution of the number of marked items among `drawn` items, drawn without replacement from
/// `population` items, of which `marked` are marked.
pub fn hypergeometric(population: usize, marked: usize, drawn: usize) -> Vec<f64> {
    // The distribution is computed draw by draw. If m of the d drawn items are marked, the next one is marked with
    // probability (marked − m)/(population − d).
    let mut law = vec![0.0; drawn + 1];
    law[0] = 1.0;
    for d in 0..drawn {
        for m in (0..=d).rev() {
            let next = (marked as f64 - m as f64).max(0.0) / (population - d) as f64;
            law[m + 1] += law[m] * next;
            law[m] *= 1.0 - next;
        }
    }
    law
}

/// Returns the distribution of the sum of two independent counts.
pub fn sum(a: &Law, b: &Law) -> Vec<f64> {
    let mut law = vec![0.0; a.len() + b.len() - 1];
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            law[i + j] += p * q;
        }
    }
    law
}

/// Returns the distribution of two independent counts i and j as one outcome, i·(number of outcomes of b) + j.
pub fn both(a: &Law, b: &Law) -> Vec<f64> {
    a.iter().flat_map(|p| b.iter().map(move |q| p * q)).collect()
}

/// Returns the distribution of the number of ones in an array of `bits` zeros after random flips. The flips come in
/// pairs: `pairs` is the distribution of the number of pairs, and each pair flips two random bits.
pub fn flips(bits: usize, pairs: &Law) -> Vec<f64> {
    let n = bits as f64;
    let mut ones = vec![0.0; bits + 1];
    ones[0] = 1.0;
    let mut law = vec![0.0; bits + 1];
    for (number, p) in pairs.iter().enumerate() {
        if number > 0 {
            for _ in 0..2 {
                ones = (0..=bits)
                    .map(|z| {
                        let below = if z > 0 { ones[z - 1] * (n - (z - 1) as f64) / n } else { 0.0 };
                        let above = ones.get(z + 1).map_or(0.0, |p| p * (z + 1) as f64 / n);
                        below + above
                    })
                    .collect();
            }
        }
        law.iter_mut().zip(&ones).for_each(|(sum, one)| *sum += p * one);
    }
    law
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &Law, expected: &Law) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
    }

    #[test]
    fn by_hand() {
        near(&binomial(2, 0.25), &[0.5625, 0.375, 0.0625]);
        near(&binomial(2, 1.0), &[0.0, 0.0, 1.0]);
        near(&hypergeometric(4, 2, 2), &[1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0]);
        near(&hypergeometric(3, 3, 2), &[0.0, 0.0, 1.0]);
        near(&sum(&binomial(3, 0.3), &binomial(2, 0.3)), &binomial(5, 0.3));
        near(&both(&[0.5, 0.5], &[0.25, 0.75]), &[0.125, 0.375, 0.125, 0.375]);
        // Two flips at random places of two bits leave no ones or two ones.
        near(&flips(2, &[0.0, 1.0]), &[0.5, 0.0, 0.5]);
        near(&flips(4, &[0.5, 0.5]), &[0.5 + 0.125, 0.0, 0.375, 0.0, 0.0]);
    }
}
