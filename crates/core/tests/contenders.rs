//! Sketches that were considered and not adopted, and the measurements that led to this.
//!
//! *C-MinHash* (Li and Li, 2021) replaces k permutations by a single one that is shifted k times, after a first
//! permutation that spreads the ids. Its variance is below that of `MinHash` in proportion to the share of the range of
//! ids that the shifts cover. The variance is much lower for a few hundred ids, and equal for shingles that are hashed
//! to 2³² values. C-MinHash costs one look-up per register and shingle, where `MinHash` costs one multiplication.
//! C-MinHash therefore has no advantage over `MinHash` in any table of this project.

use minwise::hash::SplitMix64;

const REGISTERS: usize = 64;
const TRIALS: u64 = 4000;

fn permutation(ids: usize, random: &mut SplitMix64) -> Vec<u32> {
    let mut permutation: Vec<u32> = (0..ids as u32).collect();
    for left in (1..ids).rev() {
        permutation.swap(left, (random.next_u64() % (left as u64 + 1)) as usize);
    }
    permutation
}

/// Returns the registers of a set of ids: the minima of π(σ(x) − i) for the permutations σ = `spread` and π = `order`.
fn sketch(set: &[usize], spread: &[u32], order: &[u32]) -> Vec<u32> {
    let ids = order.len();
    let least = |shift: usize| {
        set.iter().map(|&id| order[(spread[id] as usize + ids - shift % ids) % ids]).min().unwrap_or(u32::MAX)
    };
    (1..=REGISTERS).map(least).collect()
}

/// Returns the variance of the share of agreeing registers relative to that of `MinHash`, and its standard error. Both
/// sets together have 120 shingles, of which they share 60.
fn variance_ratio(ids: usize) -> (f64, f64) {
    let mut random = SplitMix64::new(ids as u64);
    let similarity = 0.5;
    let shares: Vec<f64> = (0..TRIALS)
        .map(|_| {
            let (spread, order) = (permutation(ids, &mut random), permutation(ids, &mut random));
            let (a, b): (Vec<usize>, Vec<usize>) = ((0..90).collect(), (30..120).collect());
            let (a, b) = (sketch(&a, &spread, &order), sketch(&b, &spread, &order));
            a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / REGISTERS as f64
        })
        .collect();
    let n = TRIALS as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let moment = |power: i32| shares.iter().map(|share| (share - mean).powi(power)).sum::<f64>() / n;
    let claimed = similarity * (1.0 - similarity) / REGISTERS as f64;
    assert!((mean - similarity).abs() < 4.0 * (claimed / n).sqrt(), "it is unbiased: {mean}");
    let variance = moment(2);
    (variance / claimed, ((moment(4) - variance * variance) / n).sqrt() / claimed)
}

#[test]
fn circulant_minhash_gains_among_few_ids_only() {
    let (few, error) = variance_ratio(128);
    assert!(few + 4.0 * error < 0.75, "{few} ± {error} among 128 ids");
    let (many, error) = variance_ratio(1 << 14);
    assert!((many - 1.0).abs() < 4.0 * error, "{many} ± {error} among 16384 ids");
}
